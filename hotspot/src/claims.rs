//! What no honest HotSpot can answer: claims for the gate, each with its reason from HotSpot's source.

use oracle::gate::{Answered, Breach, Claim};
use oracle::{Layer, Reason, When};

/// Error codes of AsyncGetCallTrace (`share/prims/forte.cpp`).
mod code {
    pub const NO_JAVA_FRAME: i32 = 0;
    pub const UNKNOWN_NOT_JAVA: i32 = -3;
    pub const NOT_WALKABLE_NOT_JAVA: i32 = -4;
    pub const UNKNOWN_JAVA: i32 = -5;
    pub const NOT_WALKABLE_JAVA: i32 = -6;
    pub const UNKNOWN_STATE: i32 = -7;
    pub const THREAD_EXIT: i32 = -8;
    pub const LOWEST: i32 = -10;
    /// The agent's own, for a walk that has crashed.
    pub const CRASHED: i32 = crate::walkers::CRASHED;
}

/// The names of the states in which AsyncGetCallTrace takes the thread to run Java code.
const IN_JAVA: [&str; 2] = ["in Java", "in Java, leaving"];

/// The names of the other states of a thread that is neither starting nor ending.
const NOT_IN_JAVA: [&str; 6] = [
    "in native",
    "in native, leaving",
    "in the VM",
    "in the VM, leaving",
    "blocked",
    "blocked, leaving",
];

/// The names of the states in which AsyncGetCallTrace trusts an interpreted frame without a look at it.
const TRUSTED: [&str; 3] = ["in native", "in the VM", "blocked"];

/// All claims.
pub static CLAIMS: [Claim; 7] = [
    // AsyncGetCallTrace decides by `thread->thread_state()`, and the thread that it walks is the thread that calls it.
    // So its state cannot change between the agent's look at it and the walker's:
    //     case _thread_in_native: ... case _thread_in_vm_trans:
    //       ... ticks_unknown_not_Java, 0, ticks_not_walkable_not_Java, or frames
    //     case _thread_in_Java: case _thread_in_Java_trans:
    //       ... ticks_unknown_Java, ticks_not_walkable_Java, or frames
    Claim {
        never: "error -5 or -6 (\"in Java\") for a thread that is not in Java",
        why: "AsyncGetCallTrace gives these codes only in the states _thread_in_Java and _thread_in_Java_trans \
              (share/prims/forte.cpp), and a thread that walks itself does not change its state",
        breach: Breach::Error(|answered| {
            is_of_asgct(answered)
                && [code::UNKNOWN_JAVA, code::NOT_WALKABLE_JAVA].contains(&answered.code)
                && is_in(answered, &NOT_IN_JAVA)
        }),
    },
    Claim {
        never: "error -3 or -4 (\"not in Java\") for a thread that is in Java",
        why: "AsyncGetCallTrace gives these codes only in the states of native code and of the VM \
              (share/prims/forte.cpp), and a thread that walks itself does not change its state",
        breach: Breach::Error(|answered| {
            is_of_asgct(answered)
                && [code::UNKNOWN_NOT_JAVA, code::NOT_WALKABLE_NOT_JAVA].contains(&answered.code)
                && is_in(answered, &IN_JAVA)
        }),
    },
    // `pd_get_top_frame` answers `pd_last_frame()` where the thread has an anchor, and `find_initial_Java_frame` looks at the
    // code of this frame first:
    //     if (candidate.is_interpreted_frame()) {
    //       if (is_decipherable_interpreted_frame(...)) { ... return true; }
    //     if (candidate.cb()->is_nmethod()) { ... *method_p = nm->method(); ...
    // A method is enough for a stack. An interpreted frame is decipherable without a look at it in these states:
    //     bool known_valid = (state == _thread_in_native || state == _thread_in_vm || state == _thread_blocked);
    // An nmethod is of a method always. Only a stub at the anchor's program counter can be a frame that nobody can leave.
    Claim {
        never: "error -4 for a thread whose anchor leads to a Java frame",
        why: "in the states _thread_in_native, _thread_in_vm and _thread_blocked find_initial_Java_frame \
              (share/prims/forte.cpp) finds the method of the anchor's interpreted frame or nmethod, and a method is a stack",
        breach: Breach::Error(|answered| {
            is_of_asgct(answered)
                && answered.code == code::NOT_WALKABLE_NOT_JAVA
                && answered.is_intact
                && is_in(answered, &TRUSTED)
        }),
    },
    // In an event the thread has called native code of the agent, and its stack has Java frames. The transition of the event
    // has set the anchor: `has_last_Java_frame()` holds, so that `pd_get_top_frame_for_signal_handler` answers
    // `pd_last_frame()` and cannot fail. What remains are ticks_GC_active and ticks_deopt, which come before the switch,
    // and ticks_not_walkable_not_Java: the anchor may lead to a stub of the VM.
    Claim {
        never: "error 0, -3, -5 or -6 for a thread that is in an event of the agent",
        why: "the thread's anchor leads to its frames there: has_last_Java_frame() holds, and \
              pd_get_top_frame_for_signal_handler answers pd_last_frame() (share/prims/forte.cpp)",
        breach: Breach::Error(|answered| {
            let impossible = [
                code::NO_JAVA_FRAME,
                code::UNKNOWN_NOT_JAVA,
                code::UNKNOWN_JAVA,
                code::NOT_WALKABLE_JAVA,
            ];
            is_of_asgct(answered)
                && answered.layer.row().when == When::Event
                && impossible.contains(&answered.code)
        }),
    },
    // A hook has called a native method of the agent. Its native wrapper or its interpreted frame has set the anchor, and the
    // thread is `_thread_in_native`, so that none of the codes of the switch is left (see above). Before the switch come
    // ticks_thread_exit (`is_exiting()`: `JavaThread::exit` runs the last Java code, `Thread.exit`, before it calls
    // `set_terminated`) and three codes that say what the VM does meanwhile: ticks_GC_active, ticks_deopt (the handler may
    // load classes, and class loaders have hooks), and ticks_no_class_load (at the VM's end all events are switched off).
    Claim {
        never: "an error other than -1, -2 and -9 in a hook",
        why: "the thread is in native code that a Java frame has called: its anchor leads to a native method, whose frame \
              find_initial_Java_frame always finds (share/prims/forte.cpp), and it is not exiting (JavaThread::exit in \
              share/runtime/javaThread.cpp)",
        breach: Breach::Error(|answered| {
            let impossible = [
                code::NO_JAVA_FRAME,
                code::UNKNOWN_NOT_JAVA,
                code::NOT_WALKABLE_NOT_JAVA,
                code::UNKNOWN_JAVA,
                code::NOT_WALKABLE_JAVA,
                code::THREAD_EXIT,
            ];
            is_of_asgct(answered)
                && answered.layer.row().when == When::Check
                && impossible.contains(&answered.code)
        }),
    },
    Claim {
        never: "an error code that AsyncGetCallTrace does not have for a living thread",
        why: "each state of a thread has its case in share/prims/forte.cpp, so that ticks_unknown_state (-7) cannot be \
              reached; ticks_safepoint (-10) is not used, and there are no lower codes",
        breach: Breach::Error(|answered| {
            let is_unknown = answered.code == code::UNKNOWN_STATE || answered.code <= code::LOWEST;
            is_of_asgct(answered) && is_unknown && answered.code != code::CRASHED
        }),
    },
    // See above: while the thread has an anchor, the walk begins with the anchor's frame, and a native method is shown with
    // its own ID and -3:
    //     if (!method->is_native()) { trace->frames[count].lineno = bci; } else { trace->frames[count].lineno = -3; }
    Claim {
        never: "a stack without the native method that the thread is in at the top",
        why: "AsyncGetCallTrace begins with the frame of the thread's anchor (pd_get_top_frame), and gives native methods \
              frames of their own (share/prims/forte.cpp)",
        breach: Breach::Mismatch(|layer, reason| {
            is_asgct(layer) && reason == Reason::OtherNativeTop.to_string()
        }),
    },
];

/// An error code that the layer's walker has, and never gives in this state of the thread, for faults that are injected;
/// `None` if the walker's codes do not depend on states. `state` is not known in hooks and events, where the thread is in native code.
pub fn code_of_other_state(layer: Layer, state: Option<&str>) -> Option<i32> {
    let is_in_java = state.is_some_and(|state| IN_JAVA.contains(&state));
    let is_elsewhere = state.is_none_or(|state| NOT_IN_JAVA.contains(&state));
    match (is_asgct(layer), is_in_java, is_elsewhere) {
        (true, true, _) => Some(code::UNKNOWN_NOT_JAVA),
        (true, _, true) => Some(code::UNKNOWN_JAVA),
        _ => None,
    }
}

fn is_in(answered: &Answered<'_>, states: &[&str]) -> bool {
    answered.state.is_some_and(|state| states.contains(&state))
}

fn is_of_asgct(answered: &Answered<'_>) -> bool {
    is_asgct(answered.layer)
}

fn is_asgct(layer: Layer) -> bool {
    layer.row().walker == Some("asgct")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(layer: Layer, code: i32, state: Option<&str>, is_intact: bool) -> usize {
        let answered = Answered {
            layer,
            code,
            state,
            is_intact,
        };
        let claims = CLAIMS.iter();
        claims.filter(|claim| claim.breach.is_by(&answered)).count()
    }

    #[test]
    fn codes_belong_to_states() {
        let layer = Layer::AsgctAsync;
        let codes = |state| [-3, -4, -5, -6].map(|code| broken(layer, code, Some(state), false));
        for state in IN_JAVA {
            assert_eq!(codes(state), [1, 1, 0, 0], "{state}");
        }
        for state in NOT_IN_JAVA {
            assert_eq!(codes(state), [0, 0, 1, 1], "{state}");
        }
        assert_eq!(broken(layer, -5, Some("starting or ending"), false), 0);
        assert_eq!(broken(layer, -5, None, false), 0);
    }

    #[test]
    fn an_anchor_that_leads_to_a_java_frame_is_a_stack() {
        let refused = |state| broken(Layer::CallEdge, -4, Some(state), true);
        assert_eq!(NOT_IN_JAVA.map(refused), [1, 0, 1, 0, 1, 0]);
        // The anchor may be half written, or may lead to a stub.
        assert_eq!(broken(Layer::CallEdge, -3, Some("in the VM"), true), 0);
        assert_eq!(broken(Layer::CallEdge, -4, Some("in the VM"), false), 0);
    }

    #[test]
    fn in_native_code_of_the_agent_there_is_a_stack() {
        let all = [0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10];
        let codes = |layer| all.map(|code| broken(layer, code, None, false));
        assert_eq!(
            codes(Layer::AsgctSafepoint),
            [1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1]
        );
        assert_eq!(codes(Layer::AsgctEvent), [1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn a_code_of_another_state_contradicts() {
        for layer in [Layer::AsgctSafepoint, Layer::AsgctEvent] {
            let code = code_of_other_state(layer, None);
            assert_eq!(code.map(|code| broken(layer, code, None, false)), Some(1));
        }
        for state in IN_JAVA.into_iter().chain(NOT_IN_JAVA) {
            let code = code_of_other_state(Layer::CallEdge, Some(state));
            let broken = code.map(|code| broken(Layer::CallEdge, code, Some(state), false));
            assert_eq!(broken, Some(1), "{state}");
        }
        let starting = code_of_other_state(Layer::CallEdge, Some("starting or ending"));
        assert_eq!(starting, None);
        assert_eq!(code_of_other_state(Layer::Gst, None), None);
    }

    #[test]
    fn a_native_method_that_is_lost_contradicts() {
        let lost = Reason::OtherNativeTop.to_string();
        let broken = |layer, reason: &str| {
            let mut claims = CLAIMS.iter();
            claims.any(|claim| claim.breach.is_by_mismatch(layer, reason))
        };
        assert!(broken(Layer::AsgctAsync, &lost));
        assert!(broken(Layer::AsgctSafepoint, &lost));
        assert!(!broken(Layer::AsgstAsync, &lost));
        assert!(!broken(Layer::AsgctAsync, &Reason::OtherMethod.to_string()));
    }

    #[test]
    fn other_walkers_have_other_codes() {
        let codes: Vec<i32> = (-15..=0).collect();
        for layer in [Layer::AsgstAsync, Layer::GstAll, Layer::Mxbean] {
            assert!(
                codes
                    .iter()
                    .all(|&code| broken(layer, code, Some("in native"), true) == 0)
            );
        }
    }
}
