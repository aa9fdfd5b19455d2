//! The environment, and how its functions are called.

use crate::jvm::jni::Vm;
use vm::jvmti::Capability;
pub use vm::jvmti::{Error, JMethodId, ok};

/// A JVMTI environment, `jvmtiEnv*`; usable from any attached thread.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Jvmti(pub(super) vm::jvmti::Env);

/// Calls a function by its name.
macro_rules! call {
    ($jvmti:expr, $function:ident, $($argument:expr),* $(,)?) => {{
        // SAFETY: the arguments have the types of JVMTI; pointers are valid for the call.
        unsafe { ($jvmti.0.functions().$function)($jvmti.0, $($argument),*) }
    }};
}
pub(super) use call;

impl Jvmti {
    /// Asks the VM for an environment.
    pub fn new(vm: Vm) -> Option<Jvmti> {
        // SAFETY: the VM of this process, which calls the agent on an attached thread.
        unsafe { vm::jvmti::Env::new(vm.raw()) }.map(Jvmti)
    }

    /// AddCapabilities.
    pub fn add_capabilities(self, capabilities: &[Capability]) -> Result<(), Error> {
        self.0.add_capabilities(capabilities)
    }
}
