//! Runs instructions on registers that are only partly known.

use crate::arch::overlay::Overlay;
use crate::arch::x86_64::Registers;
use crate::arch::{Effect, Register};
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();

/// The register that generated code keeps the VM's structure of the thread in (`r15_thread`, `cpu/x86/register_x86.hpp`).
const THREAD: Register = Register::R15;

/// Registers, and the words that the simulation wrote.
pub(super) struct Machine<'a, M> {
    memory: &'a M,
    /// The top of the stack that is in use. Words below were left by calls that have returned.
    top: usize,
    /// The registers.
    pub registers: Registers,
    stack: Overlay,
    /// Whether the stack pointer has only moved by numbers in the code, whatever the registers and the stack have.
    pub is_relative: bool,
    /// The words that were popped first, and the stack pointer behind each.
    pub popped: Popped,
}

impl<'a, M: Memory> Machine<'a, M> {
    /// These registers, in code that runs on the stack of `memory`; `None` without a stack pointer.
    pub fn new(memory: &'a M, registers: &Registers) -> Option<Machine<'a, M>> {
        Some(Machine {
            memory,
            top: registers.get(Register::RSP)?,
            registers: *registers,
            stack: Overlay::default(),
            is_relative: true,
            popped: Popped::default(),
        })
    }

    /// Simulates an instruction after which the next instruction runs.
    pub fn run(&mut self, effect: Effect) -> Option<()> {
        self.is_relative &= !loads_sp(effect);
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
                if let Some(value) = value {
                    self.popped.add(value, self.registers.get(Register::RSP)?);
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
                let value = address.and_then(|address| match base {
                    Register::RSP | Register::RBP => self.load(address),
                    THREAD => self.load_of_thread(address),
                    _ => None,
                });
                self.registers.set(to, value);
            }
            Effect::Store(base, number, from) => {
                if let (Register::RSP | Register::RBP | THREAD, Some(address)) =
                    (base, registers.get(base))
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
            }
            Effect::Write(register) => registers.set(register, None),
            Effect::WriteBoth(first, second) => {
                registers.set(first, None);
                registers.set(second, None);
            }
            Effect::Call | Effect::Clobber => {
                // The C calling convention does not preserve rax, rcx, rdx, rsi, rdi, r8 to r11. `cpuid` writes rbx too.
                for number in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
                    registers.set(Register::new(number), None);
                }
                if effect == Effect::Clobber {
                    registers.set(Register::RBX, None);
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

    /// The word at `address`, if it is known.
    pub fn load(&self, address: usize) -> Option<usize> {
        match self.stack.load(address) {
            Some(written) => written,
            None if address < self.top => None,
            None => self.memory.word(address),
        }
    }

    /// The word at `address` in the VM's structure of the thread. Only the thread itself changes the fields that
    /// generated code reads there to find its way.
    fn load_of_thread(&self, address: usize) -> Option<usize> {
        let written = self.stack.load(address);
        written.unwrap_or_else(|| self.memory.word(address))
    }

    /// Pops a word; `None` if it is not known.
    pub fn pop(&mut self) -> Option<usize> {
        let sp = self.registers.get(Register::RSP)?;
        self.registers
            .set(Register::RSP, Some(sp.wrapping_add(WORD)));
        self.load(sp)
    }
}

/// Whether an instruction gives the stack pointer a value that does not follow from the stack pointer and the code alone.
fn loads_sp(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Leave
            | Effect::Pop(Some(Register::RSP))
            | Effect::And(Register::RSP, _)
            | Effect::Move(Register::RSP, _)
            | Effect::Load(Register::RSP, ..)
            | Effect::Write(Register::RSP)
            | Effect::WriteBoth(Register::RSP, _)
            | Effect::WriteBoth(_, Register::RSP)
    ) || matches!(effect, Effect::Lea(Register::RSP, base, _) if base != Register::RSP)
}

fn offset(address: usize, number: i32) -> usize {
    address.wrapping_add_signed(number as isize)
}

/// The words that were popped first.
#[derive(Default)]
pub(super) struct Popped {
    words: [(usize, usize); 4],
    count: usize,
}

impl Popped {
    fn add(&mut self, word: usize, behind: usize) {
        if let Some(free) = self.words.get_mut(self.count) {
            *free = (word, behind);
            self.count += 1;
        }
    }

    /// The first word that `is_it`, and the stack pointer behind it.
    pub fn find(&self, is_it: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let mut words = self.words[..self.count].iter();
        words.find(|&&(word, _)| is_it(word)).copied()
    }
}
