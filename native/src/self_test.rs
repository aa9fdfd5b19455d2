//! The self-test: can the agent read this VM's stacks?
//!
//! Verdicts and causes rest on the agent's own reading of the VM: its code cache, the debug info of compiled code, and the
//! frames of its interpreter. Where a hook makes a check, the thread stands still, and GetStackTrace and the trace stack
//! agree on what is on its stack. There the agent reads the newest frames by itself. If it often reads others, the VM keeps its
//! data in another way than the agent knows: the run is worthless, and says so.

use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::jni::Env;
use crate::records::Records;
use crate::truth::methods::registry::Registry;
use hotspot::arch::{Arch, InterpretedFrame, Native, RETURN_ADDRESS};
use hotspot::code::{Blob, CodeKind, CodeMemory};
use oracle::trace::Frame;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use vm::memory::kernel::peek;

const WORD: usize = size_of::<usize>();

/// How a frame lies on the stack.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Kind {
    Native,
    Compiled,
    Inlined,
    Interpreted,
}

/// All kinds, with their names in messages.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Native, "native"),
    (Kind::Compiled, "compiled"),
    (Kind::Inlined, "inlined"),
    (Kind::Interpreted, "interpreted"),
];

/// How often the frames of a kind were read.
#[derive(Debug, Default)]
struct Reads {
    right: AtomicU32,
    wrong: AtomicU32,
}

/// What was read so far.
#[derive(Debug, Default)]
pub struct SelfTest {
    reads: [Reads; KINDS.len()],
    looks: AtomicU32,
}

/// A frame as the agent reads it: its method as `package.Class.name`.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Read {
    kind: Kind,
    method: String,
}

impl SelfTest {
    /// Reads the stack of the calling thread, which is in a native method, and whose frames are `frames`, newest first.
    pub fn look(
        &self,
        records: &Records,
        jvm: &Jvm,
        methods: &Registry,
        env: Env<'_>,
        frames: &[Frame],
    ) {
        /// Enough to meet all kinds, and no burden.
        const LOOKS: u32 = 400;
        /// One frame may be special; a layout that is not understood gives many.
        const WRONG: u32 = 3;
        if self.looks.fetch_add(1, Relaxed) >= LOOKS {
            return;
        }
        let named = frames.iter().map_while(|frame| {
            methods
                .dotted(env, frame.method)
                .filter(|name| is_comparable(name))
        });
        for (read, known) in read(jvm, env).into_iter().zip(named) {
            let at = KINDS.iter().position(|(kind, _)| *kind == read.kind);
            let reads = &self.reads[at.unwrap_or(0)];
            if read.method == known {
                reads.right.fetch_add(1, Relaxed);
                continue;
            }
            // What follows a frame that was read wrongly is not of the same stack.
            let wrong = reads.wrong.fetch_add(1, Relaxed) + 1;
            if wrong == WRONG && reads.right.load(Relaxed) < WRONG {
                let kind = at.map_or("", |at| KINDS[at].1);
                records.invalid(format!(
                    "the self-test failed: {kind} frames of this VM are not read as it keeps them (read {}, but it was {known}); \
                     another version of Stackwitness may know this VM",
                    read.method
                ));
            }
            break;
        }
    }
}

/// Whether the VM and JVMTI spell the name of a method alike: not those of hidden classes.
fn is_comparable(name: &str) -> bool {
    !name.contains(".0x") && !name.contains('/')
}

/// The newest frames of the calling thread, newest first, as far as they are Java frames without stubs between them.
fn read(jvm: &Jvm, env: Env<'_>) -> Vec<Read> {
    const MOST: usize = 8;
    let mut all = vec![];
    if !Native::CALLS_PUSH {
        // Below, the newest return address is looked for where the last call has pushed it.
        return all;
    }
    // What the VM does not publish is lost by name; here counts what it publishes and keeps otherwise.
    let (Ok(cache), Ok(threads)) = (jvm.code_cache(), &jvm.java_threads) else {
        return all;
    };
    if cache.names().is_err() {
        return all;
    }
    let Some(anchor) = threads.last_frame(env.address()) else {
        return all;
    };
    // The call that left Java code has pushed its return address.
    let pushed = || peek::<usize>(anchor.sp.wrapping_sub(WORD));
    let pc = if anchor.pc == 0 {
        pushed()
    } else {
        Some(anchor.pc)
    };
    let mut place = pc.map(|pc| Place {
        pc,
        sp: anchor.sp,
        fp: anchor.fp,
    });
    while let Some(at) = place.filter(|_| all.len() < MOST) {
        place = at.step(jvm, cache, &mut all);
    }
    all
}

/// Where a frame goes on.
#[derive(Copy, Clone)]
struct Place {
    pc: usize,
    /// The end of the frame's callee.
    sp: usize,
    fp: usize,
}

impl Place {
    /// Adds the frames here to `all`, and finds the caller.
    fn step(self, jvm: &Jvm, cache: &CodeCache, all: &mut Vec<Read>) -> Option<Place> {
        let blob = cache.blob(self.pc)?;
        match blob.kind() {
            CodeKind::NativeWrapper => {
                all.push(Read::of(Kind::Native, cache.method(&blob)));
                self.behind(cache, &blob)
            }
            CodeKind::Compiled => {
                let records = jvm.debug_info.as_ref().ok()?;
                if records.is_deopt_handler(&blob, self.pc) {
                    return None;
                }
                // A call of Java code has a record of its own.
                let around = records.around(&blob, self.pc).filter(|it| it.is_exact);
                let scopes = around.and_then(|it| it.before).unwrap_or_default();
                let Some((_, inlined)) = scopes.split_last() else {
                    all.push(Read::of(Kind::Compiled, None));
                    return None;
                };
                for (at, scope) in scopes.iter().enumerate() {
                    let kind = if at < inlined.len() {
                        Kind::Inlined
                    } else {
                        Kind::Compiled
                    };
                    all.push(Read::of(kind, cache.method_name(scope.method)));
                }
                self.behind(cache, &blob)
            }
            CodeKind::Interpreter => {
                const FRAME: InterpretedFrame = Native::INTERPRETED;
                let word = |at: usize| peek::<usize>(at);
                let method = word(self.fp.wrapping_sub(FRAME.method));
                let name = method.and_then(|method| cache.method_name(method));
                all.push(Read::of(Kind::Interpreted, name));
                Some(Place {
                    pc: word(self.fp.wrapping_add(RETURN_ADDRESS))?,
                    sp: word(self.fp.wrapping_sub(FRAME.sender_sp))?,
                    fp: word(self.fp)?,
                })
            }
            _ => None,
        }
    }

    /// The caller of code whose frames all have one size: below the return address is the caller's frame pointer.
    fn behind(self, cache: &CodeCache, blob: &Blob) -> Option<Place> {
        let end = self.sp.wrapping_add(cache.frame_words(blob.start)? * WORD);
        Some(Place {
            pc: peek(end.wrapping_sub(WORD))?,
            sp: end,
            fp: peek(end.wrapping_sub(2 * WORD))?,
        })
    }
}

impl Read {
    /// A frame whose method cannot be read is read wrongly.
    fn of(kind: Kind, method: Option<String>) -> Read {
        let method = method.unwrap_or_else(|| "nothing that makes sense".into());
        Read { kind, method }
    }
}
