//! What no honest HotSpot can answer: claims for the gate, each with its reason from HotSpot's source.

use oracle::gate::{Answered, Claim};
use oracle::{Layer, When};

/// Error codes of AsyncGetCallTrace (`share/prims/forte.cpp`).
mod code {
    pub const NO_JAVA_FRAME: i32 = 0;
    pub const UNKNOWN_NOT_JAVA: i32 = -3;
    pub const NOT_WALKABLE_NOT_JAVA: i32 = -4;
    pub const UNKNOWN_JAVA: i32 = -5;
    pub const NOT_WALKABLE_JAVA: i32 = -6;
    pub const UNKNOWN_STATE: i32 = -7;
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

/// All claims.
pub static CLAIMS: [Claim; 4] = [
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
        is_broken_by: |answered| {
            is_of_asgct(answered)
                && [code::UNKNOWN_JAVA, code::NOT_WALKABLE_JAVA].contains(&answered.code)
                && answered
                    .state
                    .is_some_and(|state| NOT_IN_JAVA.contains(&state))
        },
    },
    Claim {
        never: "error -3 or -4 (\"not in Java\") for a thread that is in Java",
        why: "AsyncGetCallTrace gives these codes only in the states of native code and of the VM \
              (share/prims/forte.cpp), and a thread that walks itself does not change its state",
        is_broken_by: |answered| {
            is_of_asgct(answered)
                && [code::UNKNOWN_NOT_JAVA, code::NOT_WALKABLE_NOT_JAVA].contains(&answered.code)
                && answered.state.is_some_and(|state| IN_JAVA.contains(&state))
        },
    },
    // In a hook and in an event the thread has called native code of the agent, and its stack has Java frames. The
    // native wrapper, or the transition of the event, has set the anchor: `has_last_Java_frame()` holds, so that
    // `pd_get_top_frame_for_signal_handler` answers `pd_last_frame()` and cannot fail. What remains are
    // ticks_GC_active and ticks_deopt, which come before the switch, and ticks_not_walkable_not_Java: an anchor
    // without a program counter, or an interpreted frame that a collector is just changing, which the comment
    // in forte.cpp grants.
    Claim {
        never: "error 0, -3, -5 or -6 for a thread that is in native code of the agent",
        why: "the thread's anchor leads to its Java frames there: has_last_Java_frame() holds, and \
              pd_get_top_frame_for_signal_handler answers pd_last_frame() (share/prims/forte.cpp)",
        is_broken_by: |answered| {
            let impossible = [
                code::NO_JAVA_FRAME,
                code::UNKNOWN_NOT_JAVA,
                code::UNKNOWN_JAVA,
                code::NOT_WALKABLE_JAVA,
            ];
            is_of_asgct(answered)
                && matches!(answered.layer.row().when, When::Check | When::Event)
                && impossible.contains(&answered.code)
        },
    },
    Claim {
        never: "an error code that AsyncGetCallTrace does not have for a living thread",
        why: "each state of a thread has its case in share/prims/forte.cpp, so that ticks_unknown_state (-7) cannot be \
              reached; ticks_safepoint (-10) is not used, and there are no lower codes",
        is_broken_by: |answered| {
            let is_unknown = answered.code == code::UNKNOWN_STATE || answered.code <= code::LOWEST;
            is_of_asgct(answered) && is_unknown && answered.code != code::CRASHED
        },
    },
];

fn is_of_asgct(answered: &Answered<'_>) -> bool {
    is_asgct(answered.layer)
}

fn is_asgct(layer: Layer) -> bool {
    layer.row().walker == Some("asgct")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(layer: Layer, code: i32, state: Option<&str>) -> usize {
        let answered = Answered { layer, code, state };
        let claims = CLAIMS.iter();
        claims
            .filter(|claim| (claim.is_broken_by)(&answered))
            .count()
    }

    #[test]
    fn codes_belong_to_states() {
        let layer = Layer::AsgctAsync;
        for state in IN_JAVA {
            let codes = [-3, -4, -5, -6].map(|code| broken(layer, code, Some(state)));
            assert_eq!(codes, [1, 1, 0, 0], "{state}");
        }
        for state in NOT_IN_JAVA {
            let codes = [-3, -4, -5, -6].map(|code| broken(layer, code, Some(state)));
            assert_eq!(codes, [0, 0, 1, 1], "{state}");
        }
        assert_eq!(broken(layer, -5, Some("starting or ending")), 0);
        assert_eq!(broken(layer, -5, None), 0);
    }

    #[test]
    fn in_native_code_of_the_agent_there_is_a_stack() {
        let codes =
            [0, -2, -3, -4, -5, -6, -9].map(|code| broken(Layer::AsgctSafepoint, code, None));
        assert_eq!(codes, [1, 0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn other_walkers_have_other_codes() {
        let codes: Vec<i32> = (-15..=0).collect();
        for layer in [Layer::AsgstAsync, Layer::GstAll, Layer::Mxbean] {
            assert!(
                codes
                    .iter()
                    .all(|&code| broken(layer, code, Some("in native")) == 0)
            );
        }
    }
}
