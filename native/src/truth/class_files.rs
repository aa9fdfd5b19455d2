//! Class files that were loaded, until the sampler reads them, and in a file for judges after the run. Those of classes that
//! no event has shown, hidden ones and those that were loaded before the agent listened, are made of what the VM tells.

use crate::jvm::jni::{Env, Local};
use crate::jvm::jvmti::{Error, JMethodId, Jvmti, MethodName, class_name};
use crate::locks::lock;
use classfile::parts::{ClassParts, MethodParts};
use hotspot::runtime::has_address;
use oracle::record::Config;
use oracle::requests::CLASSES_FILE;
use oracle::{Layer, TruthKind};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Mutex;

/// The queue of class files. The program's threads only add to it.
#[derive(Default)]
pub struct ClassFiles {
    waiting: Mutex<Vec<Box<[u8]>>>,
    kept: Option<Mutex<BufWriter<File>>>,
}

impl ClassFiles {
    /// The class files of a run with these settings; `None` if it needs none.
    pub fn new(config: &Config) -> Option<ClassFiles> {
        let is_judged_later = |layer: &Layer| layer.is_recorded() && layer.uses(TruthKind::Classes);
        let is_kept = config.edges && config.layers.iter().any(is_judged_later);
        // Without the file the layers have no class files, and say less.
        let file = is_kept.then(|| File::create(config.run_dir.join(CLASSES_FILE)).ok());
        let kept = file.flatten().map(BufWriter::new).map(Mutex::new);
        config.edges.then(|| ClassFiles {
            kept,
            ..ClassFiles::default()
        })
    }

    /// The VM is about to load this class.
    pub fn loaded(&self, class_file: &[u8]) {
        if let Some(kept) = &self.kept {
            // A file that ends within a class file is read up to there.
            _ = keep(&mut *lock(kept), class_file);
        }
        let class_file = class_file.into();
        self.waiting(|waiting| waiting.push(class_file));
    }

    /// The class files that were loaded since the last call.
    pub fn take(&self) -> Vec<Box<[u8]>> {
        self.waiting(std::mem::take)
    }

    /// Writes the class files so far to the disk.
    pub fn flush(&self) -> io::Result<()> {
        self.kept.as_ref().map_or(Ok(()), |kept| lock(kept).flush())
    }

    fn waiting<T>(&self, change: impl FnOnce(&mut Vec<Box<[u8]>>) -> T) -> T {
        change(&mut lock(&self.waiting))
    }
}

fn keep(file: &mut impl Write, class_file: &[u8]) -> io::Result<()> {
    let length = u32::try_from(class_file.len()).map_err(io::Error::other)?;
    file.write_all(&length.to_le_bytes())?;
    file.write_all(class_file)
}

/// `JVMTI_ERROR_CLASS_NOT_PREPARED`: the methods of the class have no ids yet.
const NOT_LINKED: Error = 22;

/// A class file of the class that declares `method`, with what its methods call; none if the VM does
/// not tell.
pub fn declaring(jvmti: Jvmti, env: Env<'_>, method: JMethodId) -> Option<Vec<u8>> {
    let class = jvmti.declaring_class(env, method).ok()?;
    class_file(jvmti, &class).ok()?
}

/// A class file of `class`, with what its methods call; none if there is no room for all names. Fails
/// if the class is not linked yet.
fn class_file(jvmti: Jvmti, class: &Local<'_>) -> Result<Option<Vec<u8>>, Error> {
    parts(jvmti, class).map(|parts| parts.class_file())
}

/// The classes that were loaded when the agent began to listen, as far as they were not read yet. Hidden classes
/// are not among them: many have one name, so a hidden class is read when a walk shows the class itself.
pub struct Earlier<'e>(Vec<Local<'e>>);

impl<'e> Earlier<'e> {
    /// None.
    pub fn none() -> Earlier<'e> {
        Earlier(vec![])
    }

    /// All that are loaded now.
    pub fn all(jvmti: Jvmti, env: Env<'e>) -> Earlier<'e> {
        let mut classes = jvmti.loaded_classes(env).unwrap_or_default();
        classes.retain(|class| !name(jvmti, class).is_ok_and(|name| has_address(&name)));
        Earlier(classes)
    }

    /// Reads those that are linked by now.
    pub fn read(&mut self, jvmti: Jvmti, into: &ClassFiles) {
        self.0.retain(|class| match class_file(jvmti, class) {
            Err(error) => error == NOT_LINKED,
            Ok(class_file) => {
                class_file.iter().for_each(|bytes| into.loaded(bytes));
                false
            }
        });
    }
}

fn parts(jvmti: Jvmti, class: &Local<'_>) -> Result<ClassParts, Error> {
    // First of all, because the VM refuses this where a class is not linked.
    let methods = jvmti.create_method_ids(class.get())?.into_iter();
    let (pool_count, pool) = jvmti.constant_pool(class.get())?;
    let interfaces = jvmti.interfaces(class.env(), class.get())?;
    let names = interfaces.iter().map(|interface| name(jvmti, interface));
    let above = class.env().superclass(class.get());
    Ok(ClassParts {
        name: name(jvmti, class)?,
        super_name: above.map(|above| name(jvmti, &above)).transpose()?,
        interfaces: names.collect::<Result<_, _>>()?,
        access_flags: jvmti.class_modifiers(class.get())?,
        pool_count,
        pool,
        methods: methods.map(|m| of(jvmti, m)).collect::<Result<_, _>>()?,
    })
}

fn of(jvmti: Jvmti, method: JMethodId) -> Result<MethodParts, Error> {
    let MethodName { name, descriptor } = jvmti.method_name(method)?;
    Ok(MethodParts {
        access_flags: jvmti.method_modifiers(method)?,
        name: name.into(),
        descriptor: descriptor.into(),
        // Native and abstract methods have no code.
        code: jvmti.bytecodes(method, <[u8]>::to_vec).ok(),
    })
}

fn name(jvmti: Jvmti, class: &Local<'_>) -> Result<Vec<u8>, Error> {
    let signature = jvmti.class_signature(class.get())?;
    Ok(class_name(&signature).into())
}
