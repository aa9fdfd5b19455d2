//! The stack walkers that the agent asks.
//!
//! To add a walker, add its file, which implements [`walker::Walker`], and a row to `ROWS` here. [`here`] asks some of
//! them for the calling thread. [`turn_order`] says whose turn it is. A function of the user's may stand in place of a
//! walker (`stackwitness run --walker`).

pub mod asgct;
mod asgst;
mod asgst_queue;
pub mod buffer;
pub mod gst;
pub mod here;
pub mod java;
pub mod turn_order;
pub mod walker;

use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::truth::thread_state::ThreadState;
use oracle::Layer;
use oracle::record::{Signature, WalkerFunction};
use vm::library::Library;
use walker::{Walker, WalksInJava};

/// Finds a walker in the VM, if the VM has it.
type Find = fn(&'static Jvm) -> Option<Box<dyn Walker>>;

/// The walkers of the agent: how each is found in the VM.
const ROWS: &[Find] = &[
    asgct::find,
    gst::find,
    gst::find_list,
    gst::find_all,
    java::find::<java::thread::JavaThread>,
    java::find::<java::thread::JavaAll>,
    java::find::<java::mxbean::Mxbean>,
    java::find::<java::mxbean::MxbeanAll>,
    java::find::<java::thread_print::ThreadPrint>,
    asgst::find,
    asgst_queue::find,
];

/// The walkers that the VM has.
pub struct Walkers(Vec<Box<dyn Walker>>);

impl Walkers {
    /// Looks for each walker. `given` takes the place of the walker of its signature; an error says why it cannot.
    pub fn find(jvm: &'static Jvm, given: Option<&WalkerFunction>) -> Result<Walkers, String> {
        let mut walkers: Vec<_> = ROWS.iter().filter_map(|find| find(jvm)).collect();
        if let Some(given) = given {
            walkers.retain(|walker| walker.name() != given.signature.walker());
            walkers.push(of_function(jvm, given)?);
        }
        Ok(Walkers(walkers))
    }

    /// Prepares the walkers of these layers. To be called once, in the event VMInit.
    pub fn begin(&self, layers: &[Layer], env: Env<'_>) {
        self.asked(layers).for_each(|walker| walker.begin(env));
    }

    /// Whether one of the walkers of these layers suspends threads.
    pub fn suspend(&self, layers: &[Layer]) -> bool {
        self.asked(layers).any(Walker::suspends)
    }

    /// Whether one of the walkers of these layers shows the stacks of virtual threads by running Java code.
    pub fn show_virtual_in_java(&self, layers: &[Layer]) -> bool {
        let mut in_java = self.asked(layers).filter_map(Walker::in_java);
        in_java.any(WalksInJava::walks_virtual)
    }

    /// The calling thread, of this state, begins to run Java code, and a walker of these layers may be asked for it.
    pub fn enter(&self, layers: &[Layer], env: Env<'_>, state: &ThreadState) {
        self.asked(layers)
            .for_each(|walker| walker.enter(env, state));
    }

    /// The calling thread, of this state, ends.
    pub fn leave(&self, layers: &[Layer], env: Env<'_>, state: &ThreadState) {
        self.asked(layers)
            .for_each(|walker| walker.leave(env, state));
    }

    fn asked(&self, layers: &[Layer]) -> impl Iterator<Item = &dyn Walker> {
        let walkers = self.0.iter().map(|walker| &**walker);
        walkers.filter(move |walker| {
            let mut names = layers.iter().map(|layer| layer.row().walker);
            names.any(|name| name == Some(walker.name()))
        })
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

/// The walker that asks `function`.
fn of_function(jvm: &'static Jvm, function: &WalkerFunction) -> Result<Box<dyn Walker>, String> {
    let library = match &function.library {
        Some(file) => Library::load(file)?,
        None => Library::find().ok_or("the JVM's own library cannot be found")?,
    };
    let missing = || format!("there is no {function}: is the symbol exported?");
    let symbol = library.symbol(&function.symbol).ok_or_else(missing)?;
    match function.signature {
        // SAFETY: the user says that the function has this signature.
        Signature::Asgct => Ok(unsafe { asgct::at(jvm, symbol) }),
        Signature::Asgst => {
            let initialize = library.symbol("ASGST_Initialize");
            // SAFETY: as above; the other function is part of the same interface (`profile2.h`).
            Ok(unsafe { asgst::at(symbol, initialize) })
        }
    }
}
