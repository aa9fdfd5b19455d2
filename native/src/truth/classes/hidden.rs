//! Class files of hidden classes. No event shows them, but the VM returns their parts.

use crate::jvm::jni::{Env, Local};
use crate::jvm::jvmti::{Error, JMethodId, Jvmti, MethodName, class_name};
use classfile::parts::{ClassParts, MethodParts};

/// A class file of the hidden class that declares `method`, with the calls of its methods; `None`
/// if the VM does not return its parts.
pub fn class_file(jvmti: Jvmti, env: Env<'_>, method: JMethodId) -> Option<Vec<u8>> {
    let class = jvmti.declaring_class(env, method).ok()?;
    parts(jvmti, &class).ok()?.class_file()
}

fn parts(jvmti: Jvmti, class: &Local<'_>) -> Result<ClassParts, Error> {
    let (pool_count, pool) = jvmti.constant_pool(class.get())?;
    let interfaces = jvmti.interfaces(class.env(), class.get())?;
    let names = interfaces.iter().map(|interface| name(jvmti, interface));
    let methods = jvmti.create_method_ids(class.get())?.into_iter();
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
