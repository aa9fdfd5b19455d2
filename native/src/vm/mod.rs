//! What the agent uses of the VM: JVMTI, JNI and AsyncGetCallTrace.

pub mod asgct;
pub mod jvmti;
