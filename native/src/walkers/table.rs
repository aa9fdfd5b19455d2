//! All stack walkers: one row each.

use super::walker::Walker;
use super::{asgct, gst, gst_all, gst_list, java};
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use oracle::Layer;

/// Finds a walker in the VM, if the VM has it.
type Find = fn(&'static Jvm) -> Option<Box<dyn Walker>>;

/// To add a walker, add a row.
const ROWS: &[Find] = &[
    asgct::find,
    gst::find,
    gst_list::find,
    gst_all::find,
    java::find::<java::thread::JavaThread>,
    java::find::<java::all::JavaAll>,
    java::find::<java::mxbean::Mxbean>,
    java::find::<java::mxbean_all::MxbeanAll>,
    java::find::<java::thread_print::ThreadPrint>,
    #[cfg(target_arch = "x86_64")]
    super::asgst::find,
];

/// The walkers that the VM has.
pub struct Walkers(Vec<Box<dyn Walker>>);

impl Walkers {
    /// Looks for each walker.
    pub fn find(jvm: &'static Jvm) -> Walkers {
        Walkers(ROWS.iter().filter_map(|find| find(jvm)).collect())
    }

    /// Prepares the walkers of these layers. To be called once, in the event VMInit.
    pub fn begin(&self, layers: &[Layer], env: Env<'_>) {
        let walkers = self.0.iter();
        let asked = walkers.filter(|walker| {
            let mut names = layers.iter().map(|layer| layer.row().walker);
            names.any(|name| name == Some(walker.name()))
        });
        asked.for_each(|walker| walker.begin(env));
    }

    /// The walker of this name, if the VM has it.
    pub fn get(&self, name: &str) -> Option<&dyn Walker> {
        let walker = self.0.iter().find(|walker| walker.name() == name);
        walker.map(|walker| &**walker)
    }

    /// The walker that `layer` judges, if it judges one and the VM has it.
    pub fn of(&self, layer: Layer) -> Option<&dyn Walker> {
        self.get(layer.row().walker?)
    }
}
