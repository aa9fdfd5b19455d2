//! Runs the copy of one instruction on the registers of a signal's context.

use std::arch::global_asm;
use std::mem::offset_of;
use std::ptr;

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
