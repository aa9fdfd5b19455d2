//! Functions of HotSpot's own (`jvmtiExtensions.cpp`).

use super::env::Jvmti;
use crate::jvm::jni::{Env, Local, Ref};

/// GetVirtualThread of a VM that has the function: JDK 21 and later.
#[derive(Copy, Clone)]
pub struct GetVirtualThread(vm::jvmti::GetVirtualThread);

impl Jvmti {
    /// GetVirtualThread, if the VM has it.
    pub fn get_virtual_thread(self) -> Option<GetVirtualThread> {
        self.0.get_virtual_thread().map(GetVirtualThread)
    }
}

impl GetVirtualThread {
    /// The virtual thread that the platform thread `carrier` carries, if it carries one. The caller must
    /// not be a thread that is mounting or unmounting a virtual thread: the VM waits for all that do.
    pub fn carried_by<'e>(self, jvmti: Jvmti, env: Env<'e>, carrier: Ref<'_>) -> Option<Local<'e>> {
        // SAFETY: a reference to a thread; the answer is null, or a local reference that the VM has just made.
        unsafe { env.adopt(self.0.carried_by(jvmti.0, carrier.raw())) }
    }
}
