//! Debug info records of compiled code (`PcDesc`), and the rule for samples between two of them.
//!
//! HotSpot records the inlined frames at calls, polls and implicit checks only. For a thread
//! between two records the walker reports the frames of the record behind the program counter
//! (`is_decipherable_compiled_frame` in `share/prims/forte.cpp`). The thread came from the record
//! before the program counter, unless it jumped. Where the truth agrees with the record before, the
//! sample is `imprecise`: the physical frames are right, and the inlined ones are a neighbour's.
//!
//! Compilers inline much code without a record of its own: there both records show frames
//! that are not there. Where the truth agrees from the compiled method's own frame on, the sample
//! is `imprecise` too, and its reason says so. The same holds behind the last record, in the slow
//! paths at the code's end, where the walker reports the method at BCI 0.

use oracle::judge::agrees_outside;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, Truth};
use oracle::{Judgement, Reason, Verdict};

/// How integers are compressed in debug info (`share/code/compressedStream.hpp`).
#[derive(Copy, Clone, Debug)]
pub struct Compression {
    /// What is added to each byte, so that none is zero: 0 up to JDK 18, then 1.
    excluded: u32,
}

impl Compression {
    /// The compression of a JDK, by its feature release.
    pub fn of(feature: u32) -> Compression {
        Compression {
            excluded: u32::from(feature >= 19),
        }
    }

    /// Reads an integer of one to five bytes, and leaves `bytes` behind it: a byte above the limit
    /// says that another byte follows, whose weight is 64 times higher.
    fn read(self, bytes: &mut &[u8]) -> Option<u32> {
        let limit = 192 - self.excluded;
        let mut sum = 0u32;
        for i in 0..5 {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            let digit = u32::from(byte).checked_sub(self.excluded)?;
            sum = sum.wrapping_add(digit << (6 * i));
            if digit < limit {
                break;
            }
        }
        Some(sum)
    }
}

/// One scope of a debug info record, as it is stored (`share/code/scopeDesc.cpp`).
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ScopeDesc {
    /// Where the scope of the caller is stored; 0 without one.
    pub sender: u32,
    /// The place of the method among the metadata of the compiled code, from 1.
    pub method: u32,
    /// The BCI; negative where the record has none.
    pub bci: i32,
}

impl ScopeDesc {
    /// A scope starts with three integers of at most five bytes.
    pub const MOST_BYTES: usize = 3 * 5;

    /// Reads the scope that starts with `bytes`; `None` if bytes are missing, or are no such scope.
    pub fn read(mut bytes: &[u8], compression: Compression) -> Option<ScopeDesc> {
        let bytes = &mut bytes;
        Some(ScopeDesc {
            sender: compression.read(bytes)?,
            method: compression.read(bytes)?,
            bci: compression.read(bytes)?.cast_signed().wrapping_sub(1),
        })
    }
}

/// One frame of a record.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// The VM's address of the method.
    pub method: usize,
    /// The hook in the method's bytecode, if it has one.
    pub hook: Option<HookId>,
    /// The BCI; negative where the record has none.
    pub bci: i32,
}

/// The records on both sides of a program counter, innermost frames first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Around {
    /// The last record at or before it, if there is one: where the thread came from, unless it
    /// jumped.
    pub before: Option<Vec<Scope>>,
    /// The first record behind it, which AsyncGetCallTrace reports; empty without one.
    pub behind: Vec<Scope>,
}

/// Judges a mismatch again, of a `walk` whose top is compiled Java code with the records `around`:
/// with the record before the program counter, by `judge`; then with what is inlined there left
/// open, for which it needs the `truth` of the whole walk.
///
/// `key_of` gives the walkers' key of a hook's method, if a walk has shown the method. The result is
/// `None` if the records explain nothing.
pub fn judge_between(
    around: &Around,
    methods: &impl Methods,
    key_of: impl Fn(HookId) -> Option<MethodKey>,
    mismatch: Judgement,
    walk: &[Frame],
    truth: Option<&Truth<'_>>,
    judge: impl Fn(&[Frame]) -> Judgement,
) -> Option<Judgement> {
    if around.behind.is_empty() {
        // Without a record HotSpot fills the frame in as that of a native method: BCI 0
        // (`vframeStreamCommon::fill_from_compiled_frame`).
        let explained = walk.first()?.location.0 == 0 && agrees_outside(walk, truth?, methods);
        return explained.then_some(Judgement::at(Verdict::Imprecise, 0, Reason::StartOfMethod));
    }
    // What the walker reported must be the record behind, or we misread the tables.
    let (inlined, below) = walk.split_at_checked(around.behind.len())?;
    let hook_at = |frame: &Frame| Some(methods.hook(frame.method, frame.location)?.0);
    let agrees = |(scope, frame): (&Scope, &Frame)| {
        scope.bci == frame.location.0 && scope.hook == hook_at(frame)
    };
    if !around.behind.iter().zip(inlined).all(agrees) {
        return None;
    }
    if let Some(before) = &around.before {
        let key = |scope: &Scope| {
            let mut known = around.behind.iter().zip(inlined);
            match known.find(|(behind, _)| behind.method == scope.method) {
                Some((_, frame)) => Some(frame.method),
                None => key_of(scope.hook?),
            }
        };
        let mut other: Vec<Frame> = before
            .iter()
            .map(|scope| Frame {
                // A method that no hook has and the walk does not show matters to no entry.
                method: key(scope).unwrap_or(MethodKey(0)),
                location: Location(scope.bci),
            })
            .collect();
        if let Some(top) = other.first_mut() {
            *top = after_call(methods, *top);
        }
        other.extend_from_slice(below);
        if matches!(judge(&other).verdict, Verdict::Match | Verdict::Window) {
            return Some(Judgement::at(Verdict::Imprecise, 0, Reason::BetweenRecords));
        }
    }
    // The compiled method's own frame and all below.
    let outer = &walk[inlined.len().checked_sub(1)?..];
    agrees_outside(outer, truth?, methods).then_some(Judgement {
        verdict: Verdict::Imprecise,
        reason: Reason::NextRecord,
        ..mismatch
    })
}

/// The frame behind the call that its record stands for: a hook that was called has run.
fn after_call(methods: &impl Methods, frame: Frame) -> Frame {
    const INVOKESTATIC: i32 = 3;
    match methods.hook(frame.method, frame.location) {
        Some((_, Presence::Pushing | Presence::Popping | Presence::Unwinding)) => Frame {
            location: Location(frame.location.0 + INVOKESTATIC),
            ..frame
        },
        _ => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(feature: u32, mut bytes: &[u8]) -> Option<(u32, usize)> {
        let before = bytes.len();
        let value = Compression::of(feature).read(&mut bytes)?;
        Some((value, before - bytes.len()))
    }

    #[test]
    fn integers_are_read_as_the_vm_writes_them() {
        // The values are those of the comments in HotSpot's own tests of both formats.
        assert_eq!(read(17, &[0]), Some((0, 1)));
        assert_eq!(read(17, &[191]), Some((191, 1)));
        assert_eq!(read(17, &[192, 0]), Some((192, 2)));
        assert_eq!(read(17, &[193, 1]), Some((257, 2)));
        assert_eq!(read(21, &[1]), Some((0, 1)));
        assert_eq!(read(21, &[191]), Some((190, 1)));
        assert_eq!(read(21, &[192, 1]), Some((191, 2)));
        assert_eq!(read(21, &[0]), None);
        assert_eq!(read(17, &[192]), None, "the second byte is missing");
    }

    #[test]
    fn a_scope_is_three_integers() {
        let bytes = [0, 3, 27, 99];
        let scope = ScopeDesc::read(&bytes, Compression::of(17));
        let expected = ScopeDesc {
            sender: 0,
            method: 3,
            bci: 26,
        };
        assert_eq!(scope, Some(expected));
        assert_eq!(ScopeDesc::read(&bytes[..2], Compression::of(17)), None);
    }
}
