//! Capabilities.

use super::env::ok;
use super::interface::{Capabilities, Env, Error};

/// Capabilities, with their bits in `jvmtiCapabilities`.
#[derive(Copy, Clone, Debug)]
#[repr(usize)]
pub enum Capability {
    /// `can_tag_objects`
    TagObjects = 0,
    /// `can_get_bytecodes`
    GetBytecodes = 3,
    /// `can_get_line_numbers`
    GetLineNumbers = 12,
    /// `can_suspend`
    Suspend = 20,
    /// `can_generate_all_class_hook_events`
    AllClassHookEvents = 26,
    /// `can_generate_monitor_events`
    MonitorEvents = 28,
    /// `can_generate_vm_object_alloc_events`
    VmObjectAllocEvents = 29,
    /// `can_generate_native_method_bind_events`
    NativeMethodBindEvents = 30,
    /// `can_generate_object_free_events`
    ObjectFreeEvents = 32,
    /// `can_get_constant_pool`
    GetConstantPool = 35,
    /// `can_generate_early_vmstart`
    EarlyVmStart = 41,
    /// `can_generate_early_class_hook_events`
    EarlyClassHookEvents = 42,
    /// `can_generate_sampled_object_alloc_events`
    SampledObjectAllocEvents = 43,
    /// `can_support_virtual_threads`
    SupportVirtualThreads = 44,
}

impl Env {
    /// AddCapabilities: all, or none if the VM lacks one, or gives one to one environment only.
    pub fn add_capabilities(self, capabilities: &[Capability]) -> Result<(), Error> {
        let mut bits: Capabilities = [0; 4];
        for &capability in capabilities {
            bits[capability as usize / 32] |= 1 << (capability as usize % 32);
        }
        // SAFETY: the VM reads the bits during the call.
        ok(unsafe { (self.functions().AddCapabilities)(self, &bits) })
    }
}
