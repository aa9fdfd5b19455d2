//! Runs the instructions of an interrupted thread by copies of them.
//!
//! A copy has the registers and the memory of the instruction ([`hotspot::arch::x86_64::copies`]). The copies stay in
//! memory of their own, and each is made anew if the bytes of its instruction have changed: the VM patches
//! code. If a copy faults, nothing has happened, and the thread runs the instruction itself.

use super::copy::{behind_copy, register, run_copy};
use hotspot::arch::x86_64::copies::{Copied, Copy, copied};
use oracle::random::GOLDEN;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Room for so many copies: a power of two.
const PLACES: usize = 1 << 17;

/// The room for a copy in bytes: an instruction of up to 15 bytes, and a jump.
const SIZE: usize = 32;

/// The copies begin behind the page with the address to which they jump.
const PAGE: usize = 4096;

const WORD: usize = size_of::<usize>();

/// Where the copies are.
static MEMORY: AtomicUsize = AtomicUsize::new(0);

/// Whether a copy has faulted.
static HAS_FAULTED: AtomicBool = AtomicBool::new(false);

/// Copies of instructions.
pub struct Copies {
    memory: usize,
    known: Box<[Known]>,
}

/// An instruction whose copy is there.
#[derive(Clone)]
struct Known {
    pc: usize,
    /// Its bytes, and a mask of them.
    code: u128,
    mask: u128,
    length: usize,
    copied: Copied,
}

impl Copies {
    /// Makes room for copies. To be called once.
    pub fn new() -> io::Result<Copies> {
        let size = PAGE + PLACES * SIZE;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping touches no existing memory. Its first word is within.
        let memory = unsafe {
            let memory = libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0);
            if memory == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            memory.cast::<usize>().write(behind_copy());
            memory as usize
        };
        MEMORY.store(memory, Relaxed);
        let none = Known {
            pc: 0,
            code: 0,
            mask: 0,
            length: 0,
            copied: Copied::Jump(0),
        };
        Ok(Copies {
            memory,
            known: vec![none; PLACES].into_boxed_slice(),
        })
    }

    /// Runs the instruction at the program counter of `context`. False if the thread must run the
    /// instruction itself. Async-signal-safe.
    ///
    /// # Safety
    /// The calling thread must run the handler of the signal of `context`, on another stack than the
    /// interrupted code. The interrupted code's stack must have room for a word.
    pub unsafe fn run(&mut self, context: &mut libc::ucontext_t) -> bool {
        const PC: usize = libc::REG_RIP as usize;
        const SP: usize = libc::REG_RSP as usize;
        let pc = context.uc_mcontext.gregs[PC] as usize;
        let Some(place) = self.place(pc) else {
            return false;
        };
        let Known { length, copied, .. } = self.known[place];
        let next = pc + length;
        let from_next = |distance: i32| next.wrapping_add_signed(distance as isize) as i64;
        // SAFETY: as the caller promised. A word at the stack pointer is that of the thread, which runs a
        // call or a return.
        unsafe {
            let sp = context.uc_mcontext.gregs[SP] as usize;
            let push = |context: &mut libc::ucontext_t| {
                ((sp - WORD) as *mut usize).write_unaligned(next);
                context.uc_mcontext.gregs[SP] -= WORD as i64;
            };
            let to = match copied {
                Copied::Whole(copy) => {
                    if self.run_at(place, copy, next, context) {
                        next as i64
                    } else {
                        return false;
                    }
                }
                Copied::Jump(distance) => from_next(distance),
                Copied::Branch(condition, distance) => {
                    let flags = context.uc_mcontext.gregs[libc::REG_EFL as usize];
                    if condition.holds(flags.cast_unsigned()) {
                        from_next(distance)
                    } else {
                        next as i64
                    }
                }
                Copied::Call(distance) => {
                    push(context);
                    from_next(distance)
                }
                Copied::JumpTo(copy) | Copied::CallTo(copy) => {
                    let kept = *register(context, 0);
                    if !self.run_at(place, copy, next, context) {
                        return false;
                    }
                    let to = std::mem::replace(register(context, 0), kept);
                    if matches!(copied, Copied::CallTo(_)) {
                        push(context);
                    }
                    to
                }
                Copied::Return(arguments) => {
                    context.uc_mcontext.gregs[SP] += (WORD + usize::from(arguments)) as i64;
                    (sp as *const i64).read_unaligned()
                }
            };
            context.uc_mcontext.gregs[PC] = to;
        }
        true
    }

    /// Runs the copy at `place`. False if it has faulted.
    ///
    /// # Safety
    /// As for [`Copies::run`].
    unsafe fn run_at(
        &self,
        place: usize,
        copy: Copy,
        next: usize,
        context: &mut libc::ucontext_t,
    ) -> bool {
        let start = self.start(place);
        let based = copy.base.map(|base| {
            let address = next.wrapping_add_signed(base.distance as isize);
            let register = register(context, base.register);
            (base.register, std::mem::replace(register, address as i64))
        });
        // SAFETY: as the caller promised; the copy ends with a jump behind.
        let has_run = unsafe { run_copy(context, start, copy.is_extended) };
        if let Some((number, kept)) = based {
            *register(context, number) = kept;
        }
        has_run && !HAS_FAULTED.swap(false, Relaxed)
    }

    fn start(&self, place: usize) -> usize {
        self.memory + PAGE + place * SIZE
    }

    /// The place of the instruction at `pc`, whose copy is made if it is not there.
    fn place(&mut self, pc: usize) -> Option<usize> {
        let place = pc.wrapping_mul(GOLDEN as usize) >> (usize::BITS - PLACES.ilog2());
        let (code, readable) = bytes_at(pc);
        let known = &self.known[place];
        if known.pc != pc || (known.code ^ code) & known.mask != 0 {
            let (length, copied) =
                copied(&code.to_le_bytes()).filter(|&(length, _)| length <= readable)?;
            self.known[place] = Known {
                pc,
                code,
                mask: u128::MAX >> (8 * (16 - length)),
                length,
                copied,
            };
            if let Copied::Whole(copy) | Copied::JumpTo(copy) | Copied::CallTo(copy) = copied {
                self.write(place, copy.bytes());
            }
        }
        Some(place)
    }

    /// Writes a copy, and behind it the jump.
    fn write(&self, place: usize, bytes: &[u8]) {
        const JUMP: [u8; 2] = [0xff, 0x25];
        let start = self.start(place);
        let end = start + bytes.len() + JUMP.len() + 4;
        let distance = (self.memory.wrapping_sub(end) as u32).to_le_bytes();
        let copy = bytes.iter().chain(&JUMP).chain(&distance);
        for (at, &byte) in copy.enumerate() {
            // SAFETY: an instruction of up to 15 bytes and a jump are shorter than a place.
            unsafe { ((start + at) as *mut u8).write(byte) };
        }
    }
}

/// The bytes at `pc`, where an instruction is about to run, and how many of them can be read.
fn bytes_at(pc: usize) -> (u128, usize) {
    let readable = (PAGE - pc % PAGE).min(16);
    let mut bytes = [0; 16];
    // SAFETY: the first byte can be read, and so can all bytes of its page.
    unsafe { ptr::copy_nonoverlapping(pc as *const u8, bytes.as_mut_ptr(), readable) };
    (u128::from_le_bytes(bytes), readable)
}

/// If a copy has faulted in `context`: the thread goes on behind the copy. Async-signal-safe.
pub fn resume_behind_copy(context: &mut libc::ucontext_t) -> bool {
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    let memory = MEMORY.load(Relaxed);
    let is_copy = memory != 0 && (memory..memory + PAGE + PLACES * SIZE).contains(&(*pc as usize));
    if is_copy {
        *pc = behind_copy() as i64;
        HAS_FAULTED.store(true, Relaxed);
    }
    is_copy
}
