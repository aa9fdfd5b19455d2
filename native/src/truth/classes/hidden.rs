//! Class files of hidden classes: no event shows them, but the VM tells what they are made of.

use crate::jvm::jvmti::{Error, JMethodId, Jvmti};
use classfile::parts::{ClassParts, MethodParts};
use jni_sys::{JNIEnv, jclass};

/// A class file of the hidden class that declares `method`, with what its methods call; none if
/// the VM does not tell.
pub fn class_file(jvmti: Jvmti, env: *mut JNIEnv, method: JMethodId) -> Option<Vec<u8>> {
    let class = Local::new(env, jvmti.declaring_class(method).ok()?);
    parts(jvmti, &class).ok()?.class_file()
}

fn parts(jvmti: Jvmti, class: &Local) -> Result<ClassParts, Error> {
    let (pool_count, pool) = jvmti.constant_pool(class.class)?;
    let interfaces = jvmti.interfaces(class.class)?.into_iter();
    let interfaces: Vec<_> = interfaces.map(|i| Local::new(class.env, i)).collect();
    let names = interfaces.iter().map(|interface| name(jvmti, interface));
    let methods = jvmti.create_method_ids(class.class)?.into_iter();
    let above = class.above();
    Ok(ClassParts {
        name: name(jvmti, class)?,
        super_name: above.map(|above| name(jvmti, &above)).transpose()?,
        interfaces: names.collect::<Result<_, _>>()?,
        access_flags: jvmti.class_modifiers(class.class)?,
        pool_count,
        pool,
        methods: methods.map(|m| of(jvmti, m)).collect::<Result<_, _>>()?,
    })
}

fn of(jvmti: Jvmti, method: JMethodId) -> Result<MethodParts, Error> {
    let (name, descriptor) = jvmti.method_name(method)?;
    Ok(MethodParts {
        access_flags: jvmti.method_modifiers(method)?,
        name: name.into(),
        descriptor: descriptor.into(),
        // Native and abstract methods have none.
        code: jvmti.bytecodes(method, <[u8]>::to_vec).ok(),
    })
}

fn name(jvmti: Jvmti, class: &Local) -> Result<Vec<u8>, Error> {
    let signature = jvmti.class_signature(class.class)?;
    let name = signature
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    Ok(name.unwrap_or(&signature).into())
}

/// A local reference to a class.
struct Local {
    env: *mut JNIEnv,
    class: jclass,
}

impl Local {
    fn new(env: *mut JNIEnv, class: jclass) -> Local {
        Local { env, class }
    }

    fn above(&self) -> Option<Local> {
        // SAFETY: `env` is that of this thread, the class one of its local references.
        let above = unsafe { ((**self.env).v1_1.GetSuperclass)(self.env, self.class) };
        (!above.is_null()).then(|| Local::new(self.env, above))
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: a local reference of this thread, not used again.
        unsafe { ((**self.env).v1_1.DeleteLocalRef)(self.env, self.class) };
    }
}
