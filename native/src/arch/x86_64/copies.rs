//! Runs the instructions of an interrupted thread by copies of them, on the registers of a signal's context.
//!
//! A copy has the registers and the memory of the instruction ([`hotspot::arch::x86_64::copies`]). The copies stay in
//! memory of their own, and each is made anew if the bytes of its instruction have changed: the VM patches
//! code. If a copy faults, nothing has happened, and the thread runs the instruction itself.

use hotspot::arch::x86_64::copies::{Copied, Copy, copied};
use oracle::random::GOLDEN;
use std::arch::global_asm;
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::{io, ptr};

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

/// The general registers, in the order of a context, from r8 to rsp.
const REGISTERS: usize = 16;

/// The registers of the copy and of the caller.
#[repr(C)]
struct State {
    registers: [i64; REGISTERS],
    flags: i64,
    /// The copy.
    copy: usize,
    /// Where the context has the state of vectors and of the x87 unit; 0 if the copy does not need it.
    extended: usize,
    /// The parts of this state (XCR0).
    parts: u32,
    /// The control register of vectors, as the calling convention has it.
    mxcsr: u32,
    /// The caller's stack pointer.
    caller: usize,
}

// The copy runs with all registers of the context, so the state has a fixed address. `push` and `pop` of the
// flags use the caller's stack.
global_asm!(
    ".pushsection .data.stackwitness_copy,\"aw\",@progbits",
    ".p2align 6",
    ".globl stackwitness_copy_state",
    ".hidden stackwitness_copy_state",
    "stackwitness_copy_state: .zero {size}",
    ".popsection",
    ".pushsection .text.stackwitness_copy,\"ax\",@progbits",
    ".p2align 4",
    ".globl stackwitness_run_copy",
    ".hidden stackwitness_run_copy",
    "stackwitness_run_copy:",
    "pushq %rbx",
    "pushq %rbp",
    "pushq %r12",
    "pushq %r13",
    "pushq %r14",
    "pushq %r15",
    "subq $8, %rsp",
    "movq %rsp, stackwitness_copy_state+{caller}(%rip)",
    "movq stackwitness_copy_state+{extended}(%rip), %rsi",
    "testq %rsi, %rsi",
    "jz 1f",
    "movl stackwitness_copy_state+{parts}(%rip), %eax",
    "xorl %edx, %edx",
    "xrstor64 (%rsi)",
    "1:",
    "pushq stackwitness_copy_state+{flags}(%rip)",
    "popfq",
    "movq stackwitness_copy_state+0(%rip), %r8",
    "movq stackwitness_copy_state+8(%rip), %r9",
    "movq stackwitness_copy_state+16(%rip), %r10",
    "movq stackwitness_copy_state+24(%rip), %r11",
    "movq stackwitness_copy_state+32(%rip), %r12",
    "movq stackwitness_copy_state+40(%rip), %r13",
    "movq stackwitness_copy_state+48(%rip), %r14",
    "movq stackwitness_copy_state+56(%rip), %r15",
    "movq stackwitness_copy_state+64(%rip), %rdi",
    "movq stackwitness_copy_state+72(%rip), %rsi",
    "movq stackwitness_copy_state+80(%rip), %rbp",
    "movq stackwitness_copy_state+88(%rip), %rbx",
    "movq stackwitness_copy_state+96(%rip), %rdx",
    "movq stackwitness_copy_state+104(%rip), %rax",
    "movq stackwitness_copy_state+112(%rip), %rcx",
    "movq stackwitness_copy_state+120(%rip), %rsp",
    "jmpq *stackwitness_copy_state+{copy}(%rip)",
    ".globl stackwitness_copy_ran",
    ".hidden stackwitness_copy_ran",
    "stackwitness_copy_ran:",
    "movq %r8, stackwitness_copy_state+0(%rip)",
    "movq %r9, stackwitness_copy_state+8(%rip)",
    "movq %r10, stackwitness_copy_state+16(%rip)",
    "movq %r11, stackwitness_copy_state+24(%rip)",
    "movq %r12, stackwitness_copy_state+32(%rip)",
    "movq %r13, stackwitness_copy_state+40(%rip)",
    "movq %r14, stackwitness_copy_state+48(%rip)",
    "movq %r15, stackwitness_copy_state+56(%rip)",
    "movq %rdi, stackwitness_copy_state+64(%rip)",
    "movq %rsi, stackwitness_copy_state+72(%rip)",
    "movq %rbp, stackwitness_copy_state+80(%rip)",
    "movq %rbx, stackwitness_copy_state+88(%rip)",
    "movq %rdx, stackwitness_copy_state+96(%rip)",
    "movq %rax, stackwitness_copy_state+104(%rip)",
    "movq %rcx, stackwitness_copy_state+112(%rip)",
    "movq %rsp, stackwitness_copy_state+120(%rip)",
    "movq stackwitness_copy_state+{caller}(%rip), %rsp",
    "pushfq",
    "popq stackwitness_copy_state+{flags}(%rip)",
    "cld",
    "movq stackwitness_copy_state+{extended}(%rip), %rsi",
    "testq %rsi, %rsi",
    "jz 2f",
    "movl stackwitness_copy_state+{parts}(%rip), %eax",
    "xorl %edx, %edx",
    "xsave64 (%rsi)",
    "fninit",
    "ldmxcsr stackwitness_copy_state+{mxcsr}(%rip)",
    "2:",
    "addq $8, %rsp",
    "popq %r15",
    "popq %r14",
    "popq %r13",
    "popq %r12",
    "popq %rbp",
    "popq %rbx",
    "ret",
    ".popsection",
    size = const size_of::<State>(),
    flags = const offset_of!(State, flags),
    copy = const offset_of!(State, copy),
    extended = const offset_of!(State, extended),
    parts = const offset_of!(State, parts),
    mxcsr = const offset_of!(State, mxcsr),
    caller = const offset_of!(State, caller),
    options(att_syntax),
);

unsafe extern "C" {
    static mut stackwitness_copy_state: State;
    fn stackwitness_run_copy();
    fn stackwitness_copy_ran();
}

/// The flags of arithmetic and of the direction (Intel SDM, volume 1, 3.4.3).
const FLAGS: i64 = 0xcd5;

/// The bit of the flags that is always set.
const ALWAYS: i64 = 2;

/// Where copies go on when they have run.
pub fn behind_copy() -> usize {
    stackwitness_copy_ran as *const () as usize
}

/// Runs the copy of one instruction at the address `copy`, which jumps to [`behind_copy`] then. False if the
/// context does not have all registers that an extended instruction needs.
///
/// # Safety
/// The registers of `context`, whose handler the calling thread runs on another stack, must be those that
/// the instruction is to run with. Only one thread at a time may run copies.
pub unsafe fn run_copy(context: &mut libc::ucontext_t, copy: usize, is_extended: bool) -> bool {
    let extended = if is_extended {
        match extended(context) {
            Some(found) => found,
            None => return false,
        }
    } else {
        (0, 0)
    };
    let registers = &mut context.uc_mcontext.gregs;
    let state = &raw mut stackwitness_copy_state;
    let flags = libc::REG_EFL as usize;
    // SAFETY: only this thread uses the state. The copy has the registers that the instruction has, and runs
    // on the stack of the interrupted code, as the instruction does.
    unsafe {
        let own = (&raw mut (*state).registers).cast::<i64>();
        ptr::copy_nonoverlapping(registers.as_ptr(), own, REGISTERS);
        (*state).flags = registers[flags] & FLAGS | ALWAYS;
        (*state).copy = copy;
        ((*state).extended, (*state).parts) = extended;
        (*state).mxcsr = 0x1f80;
        stackwitness_run_copy();
        ptr::copy_nonoverlapping(own, registers.as_mut_ptr(), REGISTERS);
        registers[flags] = registers[flags] & !FLAGS | (*state).flags & FLAGS;
    }
    true
}

/// Where the context has the state of vectors and of the x87 unit, and which parts (`struct _fpx_sw_bytes`
/// of the kernel's `asm/sigcontext.h`).
fn extended(context: &libc::ucontext_t) -> Option<(usize, u32)> {
    const SOFTWARE_BYTES: usize = 464;
    const MAGIC: u32 = 0x4650_5853;
    /// x87, SSE, AVX and AVX-512.
    const KNOWN: u32 = 0xe7;
    let state = context.uc_mcontext.fpregs as usize;
    if state == 0 || !state.is_multiple_of(64) {
        return None;
    }
    let words = (state + SOFTWARE_BYTES) as *const u32;
    // SAFETY: the kernel has written the whole area.
    let (magic, parts) = unsafe { (words.read(), words.add(2).read()) };
    (magic == MAGIC).then_some((state, parts & KNOWN))
}

/// The value of general register `number` of the instruction set, in the context.
pub fn register(context: &mut libc::ucontext_t, number: u8) -> &mut i64 {
    let at = match number {
        0 => libc::REG_RAX,
        3 => libc::REG_RBX,
        6 => libc::REG_RSI,
        _ => libc::REG_RDI,
    };
    &mut context.uc_mcontext.gregs[at as usize]
}
