//! Makes faulty answers of GetStackTrace for parts of a stack.

use super::fault::FaultKind;
use crate::judge::Slice;
use crate::trace::Frame;

/// The faulty answer of `kind` for this `slice` of `stack`: frames, or JVMTI_ERROR_ILLEGAL_ARGUMENT if there are `None`. No
/// fault if the answer would be right, or if `kind` is a fault of whole stacks.
pub fn inject_slice(kind: FaultKind, slice: Slice, stack: &[Frame]) -> Option<Option<&[Frame]>> {
    let right = slice.of(stack);
    let faulty = match kind {
        FaultKind::StartDepth => {
            let deeper = Slice {
                start_depth: slice.start_depth + 1,
                ..slice
            };
            deeper.of(stack)
        }
        FaultKind::FrameCount => {
            let (_, fewer) = right?.split_last()?;
            Some(fewer)
        }
        FaultKind::AnyDepth if right.is_none() => {
            let depth = stack.len() as i32;
            let nearest = Slice {
                start_depth: slice.start_depth.clamp(-depth, (depth - 1).max(0)),
                ..slice
            };
            nearest.of(stack)
        }
        _ => return None,
    };
    (faulty != right).then_some(faulty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::judge::SliceTruth;
    use crate::trace::{Location, MethodKey};

    /// Frames that are all different: each fault can be seen.
    #[test]
    fn each_fault_of_a_part_is_wrong() {
        let frame = |at| Frame {
            method: MethodKey(at),
            location: Location(1),
        };
        let stack: Vec<Frame> = (0..5).map(frame).collect();
        let mut injected = FaultKind::ALL.map(|kind| (kind, 0));
        for start_depth in -7..=7 {
            for max_frame_count in 0..=7 {
                let slice = Slice {
                    start_depth,
                    max_frame_count,
                };
                let part = slice.of(&stack);
                for (kind, n) in &mut injected {
                    let Some(faulty) = inject_slice(*kind, slice, &stack) else {
                        continue;
                    };
                    let judged = SliceTruth { part }.judge_part(faulty);
                    assert_eq!(judged.verdict, Verdict::Wrong, "{kind} {slice}");
                    *n += 1;
                }
            }
        }
        for (kind, n) in injected {
            let is_of_slices = matches!(
                kind,
                FaultKind::StartDepth | FaultKind::FrameCount | FaultKind::AnyDepth
            );
            assert_eq!(n > 0, is_of_slices, "{kind}");
        }
    }
}
