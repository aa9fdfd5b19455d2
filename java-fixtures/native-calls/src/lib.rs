//! Native methods of `stackwitness.fixtures.NativeCalls`, which call back into Java.
//!
//! The fixture loads this library from the path in the system property
//! [`PROPERTY`]. JDK 24 and later warn about it on standard error, unless the JVM
//! is started with `--enable-native-access=ALL-UNNAMED`.
//!
//! Every native method ends in a policy that turns a panic or an error into a Java
//! exception and lets a pending exception pass: nothing unwinds into the JVM.

use std::thread;

use jni::errors::{Error, Result, ThrowRuntimeExAndDefault};
use jni::objects::{JClass, JObject};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned, JValue, jni_mangle, jni_sig, jni_str};

/// The system property with the path of this library, for the fixture.
pub const PROPERTY: &str = "stackwitness.fixture.natives";

/// The class whose methods these are.
type Owner<'local> = JClass<'local>;

fn twice(env: &mut Env, owner: &Owner, x: jlong) -> Result<jlong> {
    env.call_static_method(
        owner,
        jni_str!("twice"),
        jni_sig!("(J)J"),
        &[JValue::Long(x)],
    )?
    .j()
}

fn risky(env: &mut Env, owner: &Owner, x: jlong) -> Result<jlong> {
    env.call_static_method(
        owner,
        jni_str!("risky"),
        jni_sig!("(J)J"),
        &[JValue::Long(x)],
    )?
    .j()
}

fn from_outside(env: &mut Env, owner: &Owner, x: jlong) -> Result<jlong> {
    let args = [JValue::Long(x)];
    env.call_static_method(owner, jni_str!("fromOutside"), jni_sig!("(J)J"), &args)?
        .j()
}

/// Calls a static method of the class.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn call_static<'local>(mut env: EnvUnowned<'local>, owner: Owner<'local>, x: jlong) -> jlong {
    env.with_env(|env| twice(env, &owner, x))
        .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls a virtual method of `object`.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn call_virtual<'local>(
    mut env: EnvUnowned<'local>,
    _owner: Owner<'local>,
    object: JObject<'local>,
    x: jlong,
) -> jlong {
    env.with_env(|env| {
        env.call_method(
            &object,
            jni_str!("bump"),
            jni_sig!("(J)J"),
            &[JValue::Long(x)],
        )?
        .j()
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Makes a `Box`.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn construct<'local>(
    mut env: EnvUnowned<'local>,
    _owner: Owner<'local>,
    x: jlong,
) -> JObject<'local> {
    env.with_env(|env| {
        let class = jni_str!("stackwitness/fixtures/NativeCalls$Box");
        env.new_object(class, jni_sig!("(J)V"), &[JValue::Long(x)])
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls a method that may throw; clears the exception and returns -1 if the method throws.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn swallow<'local>(mut env: EnvUnowned<'local>, owner: Owner<'local>, x: jlong) -> jlong {
    env.with_env(|env| match risky(env, &owner, x) {
        Err(Error::JavaException) => {
            env.exception_clear();
            Ok(-1)
        }
        other => other,
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls a method that may throw, and lets the exception pass.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn pass<'local>(mut env: EnvUnowned<'local>, owner: Owner<'local>, x: jlong) -> jlong {
    env.with_env(|env| risky(env, &owner, x))
        .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls a method that may throw, and throws another exception in its place.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn replace<'local>(mut env: EnvUnowned<'local>, owner: Owner<'local>, x: jlong) -> jlong {
    env.with_env(|env| match risky(env, &owner, x) {
        Err(Error::JavaException) => {
            env.exception_clear();
            let class = jni_str!("java/lang/IllegalStateException");
            env.throw_new(class, jni_str!("replaced"))?;
            Ok(0)
        }
        other => other,
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls `pong`, which calls `ping` again.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn ping<'local>(
    mut env: EnvUnowned<'local>,
    owner: Owner<'local>,
    depth: jint,
    x: jlong,
) -> jlong {
    env.with_env(|env| {
        let args = [JValue::Int(depth), JValue::Long(x)];
        env.call_static_method(&owner, jni_str!("pong"), jni_sig!("(IJ)J"), &args)?
            .j()
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Calls into Java from a thread that native code attaches.
#[jni_mangle("stackwitness.fixtures.NativeCalls")]
pub fn on_native_thread<'local>(
    mut env: EnvUnowned<'local>,
    owner: Owner<'local>,
    x: jlong,
) -> jlong {
    env.with_env(|env| {
        let vm = env.get_java_vm()?;
        let owner = env.new_global_ref(&owner)?;
        let call = move || {
            if x % 2 == 0 {
                // Detaches right after the call,
                vm.attach_current_thread_for_scope(|env| from_outside(env, &owner, x))
            } else {
                // or when the thread ends, after a second call.
                vm.attach_current_thread(|env| from_outside(env, &owner, x))?;
                vm.attach_current_thread(|env| from_outside(env, &owner, x))
            }
        };
        thread::spawn(call)
            .join()
            .expect("the native thread panicked")
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
