//! Simulates code up to its return, from the real registers.
//!
//! Along each path of generated code the stack pointer is balanced, so any path to a `ret`, or to a
//! jump to the return address, leads to the caller. Branches are not taken, so the simulation
//! leaves loops and passes the return poll.

use crate::memory::Memory;
use crate::unwind::instruction::{Effect, decode};
use crate::unwind::{Register, Registers};

const WORD: usize = size_of::<usize>();

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
    /// Whether the code still had a frame that `leave` removed.
    pub left_frame: bool,
}

/// Simulates at most `steps` instructions from `pc` on. `is_return` says whether a word is a return
/// address: an indirect jump goes to the caller, or leaves the return address on the stack for
/// other code. `None` if no return was reached.
pub fn find(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    calls: Calls,
    is_return: impl Fn(usize) -> bool,
) -> Option<Exit> {
    let mut machine = Machine {
        memory,
        top: registers.get(Register::RSP)?,
        registers: *registers,
        stack: Overlay::default(),
        left_frame: false,
        popped: None,
    };
    let mut pc = pc;
    for _ in 0..steps {
        let instruction = decode(&memory.code(pc))?;
        let next = pc.wrapping_add(instruction.length);
        pc = match instruction.effect {
            Effect::Return => {
                let pc = machine.pop()?;
                return machine.exit(pc);
            }
            Effect::Jump(distance) => next.wrapping_add_signed(distance as isize),
            Effect::JumpRegister(register) => {
                return machine.jump(machine.registers.get(register), is_return);
            }
            Effect::JumpMemory => return machine.jump(None, is_return),
            Effect::Call if calls == Calls::Stop => return None,
            Effect::Trap => return None,
            effect => {
                machine.run(effect)?;
                next
            }
        };
    }
    None
}

struct Machine<'a, M> {
    memory: &'a M,
    /// The top of the stack that is in use. Words below were left by calls that have returned.
    top: usize,
    registers: Registers,
    stack: Overlay,
    left_frame: bool,
    /// The word that was popped first, and the stack pointer behind it.
    popped: Option<(usize, usize)>,
}

impl<M: Memory> Machine<'_, M> {
    /// Simulates an instruction after which the next instruction runs.
    fn run(&mut self, effect: Effect) -> Option<()> {
        let registers = &mut self.registers;
        match effect {
            Effect::Push(register) => {
                let value = register.and_then(|register| registers.get(register));
                let sp = registers.get(Register::RSP)?.wrapping_sub(WORD);
                registers.set(Register::RSP, Some(sp));
                self.stack.store(sp, value);
            }
            Effect::Pop(register) => {
                let value = self.pop();
                if let (None, Some(value)) = (self.popped, value) {
                    self.popped = Some((value, self.registers.get(Register::RSP)?));
                }
                if let Some(register) = register {
                    self.registers.set(register, value);
                }
            }
            Effect::Add(register, number) => {
                let sum = registers.get(register).map(|value| offset(value, number));
                registers.set(register, sum);
            }
            Effect::And(register, number) => {
                let masked = registers
                    .get(register)
                    .map(|value| value & number as isize as usize);
                registers.set(register, masked);
            }
            Effect::Lea(to, base, number) => {
                let sum = registers.get(base).map(|value| offset(value, number));
                registers.set(to, sum);
            }
            Effect::Move(to, from) => registers.set(to, registers.get(from)),
            Effect::Load(to, base, number) => {
                let address = registers.get(base).map(|value| offset(value, number));
                let is_on_stack = base == Register::RSP || base == Register::RBP;
                let value = address
                    .filter(|_| is_on_stack)
                    .and_then(|address| self.load(address));
                self.registers.set(to, value);
            }
            Effect::Store(base, number, from) => {
                if let (Register::RSP | Register::RBP, Some(address)) = (base, registers.get(base))
                {
                    let value = registers.get(from);
                    self.stack.store(offset(address, number), value);
                }
            }
            Effect::Leave => {
                let fp = registers.get(Register::RBP)?;
                registers.set(Register::RSP, Some(fp));
                let fp = self.pop();
                self.registers.set(Register::RBP, fp);
                self.left_frame = true;
            }
            Effect::Write(register) => registers.set(register, None),
            Effect::Call | Effect::Clobber => {
                // The C calling convention does not preserve rax, rcx, rdx, rsi, rdi, r8 to r11.
                for number in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
                    registers.set(Register::new(number), None);
                }
            }
            Effect::Branch(_) | Effect::Nothing => {}
            Effect::Return
            | Effect::Jump(_)
            | Effect::JumpRegister(_)
            | Effect::JumpMemory
            | Effect::Trap => return None,
        }
        Some(())
    }

    fn load(&self, address: usize) -> Option<usize> {
        match self.stack.load(address) {
            Some(written) => written,
            None if address < self.top => None,
            None => self.memory.word(address),
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let sp = self.registers.get(Register::RSP)?;
        self.registers
            .set(Register::RSP, Some(sp.wrapping_add(WORD)));
        self.load(sp)
    }

    fn exit(&self, pc: usize) -> Option<Exit> {
        Some(Exit {
            pc,
            sp: self.registers.get(Register::RSP)?,
            fp: self.registers.get(Register::RBP)?,
            registers: self.registers,
            left_frame: self.left_frame,
        })
    }

    /// An indirect jump: to the caller, or to other code that returns to the caller.
    fn jump(&mut self, target: Option<usize>, is_return: impl Fn(usize) -> bool) -> Option<Exit> {
        if let Some(target) = target.filter(|&target| is_return(target)) {
            return self.exit(target);
        }
        let sp = self.registers.get(Register::RSP)?;
        if let Some(top) = self.load(sp).filter(|&top| is_return(top)) {
            let exit = self.exit(top)?;
            // If the return address was popped, the words above are the caller's arguments, in
            // another order.
            let behind = match self.popped {
                Some((popped, behind)) if popped == top => behind,
                _ => sp.wrapping_add(WORD),
            };
            return Some(Exit { sp: behind, ..exit });
        }
        // The return address was popped to find the target of the jump.
        let (popped, _) = self.popped.filter(|&(popped, _)| is_return(popped))?;
        self.exit(popped)
    }
}

fn offset(address: usize, number: i32) -> usize {
    address.wrapping_add_signed(number as isize)
}

/// The newest words that the simulation wrote.
#[derive(Default)]
struct Overlay {
    words: [(usize, Option<usize>); 8],
    count: usize,
}

impl Overlay {
    fn store(&mut self, address: usize, value: Option<usize>) {
        let at = self.count % self.words.len();
        self.words[at] = (address, value);
        self.count += 1;
    }

    /// The value that was written to `address`, if any was written.
    fn load(&self, address: usize) -> Option<Option<usize>> {
        let kept = self.count.min(self.words.len());
        let newest = (0..kept).map(|back| self.words[(self.count - 1 - back) % self.words.len()]);
        newest
            .into_iter()
            .find_map(|(at, value)| (at == address).then_some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: usize = 0x1000;
    const STACK: usize = 0x8000;
    const CALLER: usize = 0x2222;

    /// Code and a few words of stack.
    struct Fixed {
        code: &'static [u8],
        stack: &'static [usize],
    }

    impl Memory for Fixed {
        fn u8(&self, address: usize) -> Option<u8> {
            self.code.get(address.checked_sub(CODE)?).copied()
        }

        fn u16(&self, _: usize) -> Option<u16> {
            None
        }

        fn u32(&self, _: usize) -> Option<u32> {
            None
        }

        fn word(&self, address: usize) -> Option<usize> {
            self.stack.get(address.checked_sub(STACK)? / WORD).copied()
        }

        fn code(&self, address: usize) -> [u8; 16] {
            std::array::from_fn(|at| self.u8(address + at).unwrap_or(0))
        }
    }

    fn exit(
        code: &'static [u8],
        stack: &'static [usize],
        rbx: usize,
    ) -> Option<(usize, usize, usize)> {
        let mut registers = Registers([None; 16]);
        registers.set(Register::RSP, Some(STACK));
        registers.set(Register::RBP, Some(0x7777));
        registers.set(Register::RBX, Some(rbx));
        let memory = Fixed { code, stack };
        let is_return = |word| word == CALLER;
        let found = find(&memory, CODE, &registers, 16, Calls::Stop, is_return)?;
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
        let mut registers = Registers([Some(0); 16]);
        registers.set(Register::RSP, Some(STACK));
        let is_return = |word| word == CALLER;
        assert_eq!(
            find(&Below, CODE, &registers, 16, Calls::Stop, is_return),
            None
        );
    }

    #[test]
    fn behind_a_call_nothing_is_known() {
        assert_eq!(exit(&[0xe8, 0, 0, 0, 0, 0xc3], &[CALLER], 0), None);
    }
}
