//! Simulates code up to its return, from the real registers.
//!
//! Along each path of generated code the stack pointer is balanced, so any path to a `ret`, or to a
//! jump to the return address, leads to the caller. A branch is not taken when it is met first, so the
//! simulation passes the return poll. Where this leads nowhere, the first branches are taken.

use crate::memory::Memory;
use crate::unwind::instruction::{Effect, decode};
use crate::unwind::machine::Machine;
use crate::unwind::met::{Met, on_ways};
use crate::unwind::{Register, Registers};

const WORD: usize = size_of::<usize>();

/// rdx: the register that tells a handler of exceptions which call threw (`StubRoutines::forward_exception_entry`).
const ORIGIN: Register = Register::new(2);

/// What the simulation does at a call.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Calls {
    /// The code cannot be followed behind a call.
    Stop,
    /// A call returns, and leaves the stack pointer and the frame pointer as they were.
    Return,
}

/// The state at the caller.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Exit {
    /// Where the caller continues.
    pub pc: usize,
    /// The caller's stack pointer, behind the return address.
    pub sp: usize,
    /// The caller's frame pointer.
    pub fp: usize,
    /// The registers of the caller, as far as they are known.
    pub registers: Registers,
}

/// What a simulation came to.
enum Found {
    Exit(Exit),
    /// A frame that is still there.
    Frame,
}

impl Found {
    fn exit(self) -> Option<Exit> {
        match self {
            Found::Exit(exit) => Some(exit),
            Found::Frame => None,
        }
    }
}

/// What a simulation may do.
#[derive(Copy, Clone)]
struct Limits {
    steps: usize,
    calls: Calls,
    /// Whether the code may have a frame, which it removes.
    frame: bool,
}

/// The code to which a simulation leads.
pub trait Landings {
    /// Whether `word` is a return address of a Java frame.
    fn is_return(&self, word: usize) -> bool;
    /// Whether `word` is behind a call of the interpreter's own, whose frame goes on there.
    fn is_behind_own_call(&self, word: usize) -> bool;
    /// The return address of the callee whose exception the thread is about to handle, if the VM has kept the address.
    fn origin(&self) -> Option<usize>;
    /// Whether code may handle at `pc` an exception that the callee threw whose return address is `origin`.
    fn goes_on_at(&self, pc: usize, origin: usize) -> bool;
}

/// Simulates at most `steps` instructions from `pc` on. An indirect jump goes to the caller, or leaves the return address
/// on the stack for other code. `None` if no return was reached.
pub fn find(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    calls: Calls,
    landings: &impl Landings,
) -> Option<Exit> {
    let limits = Limits {
        steps,
        calls,
        frame: true,
    };
    on_ways(2, |met| {
        follow(memory, pc, registers, limits, landings, met)
    })?
    .exit()
}

/// As [`find`], in code that has removed its frame. `None` if the code removes a frame, or uses one: the frame is still
/// there.
pub fn find_without_frame(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    landings: &impl Landings,
) -> Option<Exit> {
    let limits = Limits {
        steps,
        calls: Calls::Return,
        frame: false,
    };
    on_ways(2, |met| {
        follow(memory, pc, registers, limits, landings, met)
    })?
    .exit()
}

/// As [`find`], on a way on which the code itself writes `register`: other ways lead to other code.
pub fn find_writing(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    landings: &impl Landings,
    register: Register,
) -> Option<Exit> {
    let mut unknown = *registers;
    unknown.set(register, None);
    let limits = Limits {
        steps,
        calls: Calls::Stop,
        frame: true,
    };
    on_ways(4, |met| {
        let exit = follow(memory, pc, &unknown, limits, landings, met)?.exit()?;
        exit.registers.get(register).map(|_| exit)
    })
}

fn follow(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    limits: Limits,
    landings: &impl Landings,
    met: &mut Met,
) -> Option<Found> {
    let mut machine = Machine::new(memory, registers)?;
    let mut pc = pc;
    for _ in 0..limits.steps {
        let instruction = decode(&memory.code(pc))?;
        let next = pc.wrapping_add(instruction.length);
        pc = match instruction.effect {
            Effect::Return => {
                let pc = machine.pop()?;
                return exit(&machine, pc).map(Found::Exit);
            }
            effect if !limits.frame && needs_frame(effect) => return Some(Found::Frame),
            Effect::Jump(distance) => next.wrapping_add_signed(distance as isize),
            Effect::Branch(distance) if met.takes(pc) => {
                next.wrapping_add_signed(distance as isize)
            }
            Effect::JumpRegister(register) => {
                return jump(&machine, machine.registers.get(register), landings).map(Found::Exit);
            }
            Effect::JumpMemory => return jump(&machine, None, landings).map(Found::Exit),
            Effect::Call if limits.calls == Calls::Stop => return None,
            Effect::Trap => return None,
            effect => {
                machine.run(effect)?;
                next
            }
        };
    }
    None
}

/// Whether an instruction removes a linked frame, or uses it: behind `leave` the frame pointer is the caller's.
fn needs_frame(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Leave
            | Effect::Load(_, Register::RBP, _)
            | Effect::Store(Register::RBP, ..)
            | Effect::Lea(_, Register::RBP, _)
    )
}

/// The caller, which continues at `pc`.
pub(super) fn exit(machine: &Machine<'_, impl Memory>, pc: usize) -> Option<Exit> {
    Some(Exit {
        pc,
        sp: machine.registers.get(Register::RSP)?,
        fp: machine.registers.get(Register::RBP)?,
        registers: machine.registers,
    })
}

/// An indirect jump: to the caller, or to other code that returns to the caller.
fn jump(
    machine: &Machine<'_, impl Memory>,
    target: Option<usize>,
    landings: &impl Landings,
) -> Option<Exit> {
    let is_return = |word| landings.is_return(word);
    if let Some(target) = target {
        if is_return(target) {
            return exit(machine, target);
        }
        // Handlers are told in rdx where the exception came from. Until then the VM has this address.
        let origins = [machine.registers.get(ORIGIN), landings.origin()];
        let mut origins = origins.into_iter().flatten();
        if let Some(origin) = origins.find(|&origin| landings.goes_on_at(target, origin)) {
            return exit(machine, origin);
        }
    }
    let sp = machine.registers.get(Register::RSP)?;
    let returns = |word| is_return(word) || landings.is_behind_own_call(word);
    let top = machine.load(sp).filter(|&top| returns(top));
    let (pc, behind) = match (machine.popped.find(returns), top) {
        // What was popped was pushed again. The words between are the caller's arguments, in another order.
        (Some((popped, behind)), Some(top)) if popped == top => (top, behind),
        // The return address was popped to find the target of the jump.
        (Some((popped, _)), _) => (popped, sp),
        (None, top) => (top?, sp.wrapping_add(WORD)),
    };
    let mut exit = exit(machine, pc)?;
    exit.sp = behind;
    exit.registers.set(Register::RSP, Some(behind));
    Some(exit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwind::toy::{CODE, Fixed, STACK};

    const CALLER: usize = 0x2222;
    const HANDLER: usize = 0x3333;

    /// The caller's code.
    struct Caller;

    impl Landings for Caller {
        fn is_return(&self, word: usize) -> bool {
            word == CALLER
        }

        fn is_behind_own_call(&self, _: usize) -> bool {
            false
        }

        fn origin(&self) -> Option<usize> {
            Some(CALLER)
        }

        fn goes_on_at(&self, pc: usize, origin: usize) -> bool {
            pc == HANDLER && origin == CALLER
        }
    }

    fn exit(
        code: &'static [u8],
        stack: &'static [usize],
        rbx: usize,
    ) -> Option<(usize, usize, usize)> {
        let mut registers = Registers::UNKNOWN;
        registers.set(Register::RSP, Some(STACK));
        registers.set(Register::RBP, Some(0x7777));
        registers.set(Register::RBX, Some(rbx));
        let memory = Fixed { code, stack };
        let found = find(&memory, CODE, &registers, 16, Calls::Stop, &Caller)?;
        assert_eq!(found.registers.get(Register::RSP), Some(found.sp));
        Some((found.pc, found.sp, found.fp))
    }

    #[test]
    fn a_method_returns() {
        // pop rbp; ret
        let found = exit(&[0x5d, 0xc3], &[0x5555, CALLER], 0);
        assert_eq!(found, Some((CALLER, STACK + 16, 0x5555)));
    }

    #[test]
    fn the_interpreter_jumps_to_what_it_popped() {
        // pop r13; mov rsp, rbx; jmp r13
        let code = &[0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5];
        let found = exit(code, &[CALLER], 0x9000);
        assert_eq!(found, Some((CALLER, 0x9000, 0x7777)));
    }

    #[test]
    fn an_adapter_leaves_the_return_address_on_the_stack() {
        // pop rax; sub rsp, 16; push rax; jmp rcx
        let code = &[0x58, 0x48, 0x83, 0xec, 0x10, 0x50, 0xff, 0xe1];
        let found = exit(code, &[CALLER], 0);
        assert_eq!(found, Some((CALLER, STACK + 8, 0x7777)));
    }

    #[test]
    fn what_lies_below_the_top_of_the_stack_is_no_return_address() {
        // sub rsp, 16; jmp [rcx]: an earlier call left `CALLER` there.
        struct Below;
        impl Memory for Below {
            fn u8(&self, address: usize) -> Option<u8> {
                let code = [0x48, 0x83, 0xec, 0x10, 0xff, 0x21];
                code.get(address.checked_sub(CODE)?).copied()
            }
            fn u16(&self, _: usize) -> Option<u16> {
                None
            }
            fn u32(&self, _: usize) -> Option<u32> {
                None
            }
            fn word(&self, address: usize) -> Option<usize> {
                (address < STACK).then_some(CALLER)
            }
            fn code(&self, address: usize) -> [u8; 16] {
                std::array::from_fn(|at| self.u8(address + at).unwrap_or(0))
            }
        }
        let mut registers = Registers::all([0; 16]);
        registers.set(Register::RSP, Some(STACK));
        let found = find(&Below, CODE, &registers, 16, Calls::Stop, &Caller);
        assert_eq!(found, None);
    }

    #[test]
    fn an_exception_goes_on_at_the_handler_of_the_caller() {
        // pop rdx; pop rax; jmp rbx
        let found = exit(&[0x5a, 0x58, 0xff, 0xe3], &[CALLER, 0x5555], HANDLER);
        assert_eq!(found, Some((CALLER, STACK + 16, 0x7777)));
        // jmp rbx: rdx is not loaded yet.
        assert_eq!(
            exit(&[0xff, 0xe3], &[], HANDLER),
            Some((CALLER, STACK, 0x7777))
        );
        // pop rbp; pop rdx; jmp rax: the handler is not known yet.
        let found = exit(&[0x5d, 0x5a, 0xff, 0xe0], &[0x5555, CALLER, 0x4444], 0);
        assert_eq!(found, Some((CALLER, STACK + 16, 0x5555)));
    }

    #[test]
    fn a_way_writes_the_register() {
        // je over the move; mov r13, rsp; jmp [rcx]
        let code = &[0x74, 0x03, 0x4c, 0x8b, 0xec, 0xff, 0x21];
        let memory = Fixed {
            code,
            stack: &[CALLER],
        };
        let mut registers = Registers::all([0x9999; 16]);
        registers.set(Register::RSP, Some(STACK));
        let find = |at| find_writing(&memory, CODE + at, &registers, 16, &Caller, Register::R13);
        let kept = find(0).and_then(|exit| exit.registers.get(Register::R13));
        assert_eq!(kept, Some(STACK));
        assert_eq!(find(5), None);
    }

    #[test]
    fn code_that_uses_its_frame_has_one() {
        let without_frame = |code| {
            let mut registers = Registers::UNKNOWN;
            registers.set(Register::RSP, Some(STACK));
            registers.set(Register::RBP, Some(0x7777));
            let memory = Fixed {
                code,
                stack: &[CALLER, CALLER],
            };
            find_without_frame(&memory, CODE, &registers, 16, &Caller).map(|exit| exit.pc)
        };
        // pop rdx; jmp rdx
        assert_eq!(without_frame(&[0x5a, 0xff, 0xe2]), Some(CALLER));
        // mov rax, [rbp-8]; pop rdx; jmp rdx
        assert_eq!(
            without_frame(&[0x48, 0x8b, 0x45, 0xf8, 0x5a, 0xff, 0xe2]),
            None
        );
        // leave; pop rdx; jmp rdx
        assert_eq!(without_frame(&[0xc9, 0x5a, 0xff, 0xe2]), None);
    }

    #[test]
    fn behind_a_call_nothing_is_known() {
        assert_eq!(exit(&[0xe8, 0, 0, 0, 0, 0xc3], &[CALLER], 0), None);
    }
}
