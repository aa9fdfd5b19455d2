//! What of this VM cannot be read, and what that costs.

use crate::jvm::Jvm;
use hotspot::capability::Capability;
use hotspot::causes::CAUSES;
use hotspot::layout::fields::Missing;
use hotspot::needs::needs_of;
use oracle::Layer;
use oracle::record::{CauseName, Lost};
use std::collections::BTreeMap;
use vm::memory::kernel::OwnMemory;
use walker::layout::call_stub::CallStub;

/// What cannot be read, by reason. To be called in the live phase, when the VM's own structures are complete.
pub fn lost(jvm: &Jvm, has_asgct: bool) -> Vec<Lost> {
    let mut by_reason = BTreeMap::<String, Vec<Capability>>::new();
    for capability in Capability::ALL {
        if let Some(why) = why(jvm, capability, has_asgct) {
            by_reason.entry(why).or_default().push(capability);
        }
    }
    let lost = by_reason.into_iter();
    let mut lost: Vec<Lost> = lost.map(|(why, lost)| of(&lost, why)).collect();
    // What costs most comes first.
    lost.sort_by_key(|lost| std::cmp::Reverse(lost.layers.len()));
    lost
}

/// Why the VM's threads cannot be read although the VM describes them: their states are not what it says.
pub fn contradicted(why: String) -> Lost {
    of(&[Capability::ThreadStates], why)
}

fn why(jvm: &Jvm, capability: Capability, has_asgct: bool) -> Option<String> {
    let missing = match capability {
        Capability::AsyncGetCallTrace => {
            return (!has_asgct).then(|| "libjvm does not export the function".to_owned());
        }
        Capability::CodeCache => jvm.code_cache().err(),
        Capability::CompiledMethods => jvm.code_cache().and_then(|code| code.nmethods()).err(),
        Capability::DebugInfo => jvm.debug_info.as_ref().err(),
        Capability::ThreadStates => jvm.java_threads.as_ref().err(),
        Capability::JavaCalls => return java_calls(jvm).err().map(|why| why.to_string()),
        Capability::Interpreter => jvm.interpreter().err(),
        Capability::MethodNames => jvm.code_cache().and_then(|code| code.names()).err(),
        Capability::Flags => jvm.flags.as_ref().err(),
        Capability::OwnWalker => jvm.own_walker.as_ref().err(),
        Capability::FramesInHeap => jvm.frames_in_heap.as_ref().err(),
    };
    missing.map(ToString::to_string)
}

/// Whether the frames of JavaCalls entries are as the VM says, as far as the code of their stub shows.
fn java_calls(jvm: &Jvm) -> Result<(), Missing> {
    match CallStub::of(jvm.java_calls.clone()?, &OwnMemory) {
        // The VM's word stands where the code of the stub is not understood.
        Ok(_) | Err(Missing::NotKnown(_)) => Ok(()),
        Err(why) => Err(why),
    }
}

/// What AsyncGetStackTrace cannot read of this VM, once a layer has asked for it.
pub fn lost_by_own_walker() -> Option<Lost> {
    use walker::layout::Vm;
    let lost = |capability, why: &Missing| of(&[capability], why.to_string());
    let whole = Vm::why_not().map(|why| lost(Capability::OwnWalker, why));
    let in_heap = || Some(lost(Capability::FramesInHeap, Vm::get()?.lost_in_heap()?));
    whole.or_else(in_heap)
}

fn of(lost: &[Capability], why: String) -> Lost {
    let is_lost = |needed: &Capability| lost.contains(needed);
    let causes = CAUSES
        .iter()
        .filter(|cause| cause.needs.iter().any(is_lost));
    let layers = Layer::ALL.into_iter();
    Lost {
        what: lost.iter().map(|lost| lost.name().to_owned()).collect(),
        why,
        imprecise: lost.iter().any(|lost| lost.tells_imprecise()),
        causes: causes.map(CauseName::from).collect(),
        layers: layers
            .filter(|&layer| needs_of(layer).iter().any(is_lost))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_names_who_needs_it() {
        let lost = of(
            &[Capability::DebugInfo],
            "field nmethod::x is missing".into(),
        );
        assert!(lost.imprecise);
        let causes: Vec<_> = lost.causes.iter().map(ToString::to_string).collect();
        assert!(causes.contains(&"no-record".to_owned()), "{causes:?}");
        assert!(
            !causes.contains(&"interpreter-frame".to_owned()),
            "{causes:?}"
        );
        for (layer, needs_it) in [
            (Layer::AsgctAsync, true),
            (Layer::AsgctStep, true),
            (Layer::GstStep, true),
            (Layer::Gst, false),
            (Layer::Ground, false),
            (Layer::JavaThread, false),
        ] {
            assert_eq!(lost.layers.contains(&layer), needs_it, "{layer}");
        }
        // Layers that never ask AsyncGetCallTrace do not miss it.
        let lost = of(&[Capability::AsyncGetCallTrace], String::new());
        assert!(lost.layers.contains(&Layer::CallEdge));
        assert!(!lost.layers.contains(&Layer::AsgstAsync) && !lost.imprecise);
    }
}
