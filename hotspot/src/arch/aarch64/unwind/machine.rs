//! Runs instructions on registers that are only partly known.

use crate::arch::Register;
use crate::arch::aarch64::Registers;
use crate::arch::aarch64::instructions::{Access, Op};
use crate::arch::aarch64::registers::address;
use crate::arch::overlay::Overlay;
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();
const SP: Register = Register::STACK_POINTER;
const FP: Register = Register::RFP;
const LINK: Register = Register::LR;
const THREAD: Register = Register::RTHREAD;

/// Where the return address of this code is.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) enum Link {
    /// In the link register since the start.
    Untouched,
    /// The simulation has loaded it from the frame.
    Loaded,
    /// A call has written the link register.
    Called,
}

/// Registers, and the words that the simulation wrote.
pub(super) struct Machine<'a, M> {
    memory: &'a M,
    /// The top of the stack that is in use. What is below belongs to nobody: a signal's frame may be there.
    top: usize,
    /// The registers.
    pub registers: Registers,
    stack: Overlay,
    /// Whether the stack pointer has only moved by numbers in the code, whatever the registers and the stack have.
    pub is_relative: bool,
    /// Where the return address is.
    pub link: Link,
    /// Where the simulation has saved the frame pointer and an untouched link register, and the two.
    pub saved: Option<(usize, usize, usize)>,
}

impl<'a, M: Memory> Machine<'a, M> {
    /// These registers, in code that runs on the stack of `memory`; `None` without a stack pointer.
    pub fn new(memory: &'a M, registers: &Registers) -> Option<Machine<'a, M>> {
        Some(Machine {
            memory,
            top: registers.get(SP)?,
            registers: *registers,
            stack: Overlay::default(),
            is_relative: true,
            link: Link::Untouched,
            saved: None,
        })
    }

    /// Simulates the instruction at `pc`, after which the next instruction runs. `None` if the stack pointer is lost.
    pub fn run(&mut self, op: Op, pc: usize) -> Option<()> {
        let registers = &mut self.registers;
        match op {
            Op::Add(to, from, number) => {
                let sum = registers.get(from).map(|value| offset(value, number));
                self.write(to, sum);
                self.is_relative &= to != SP || from == SP;
            }
            Op::Align(to, from) => {
                let aligned = registers.get(from).map(|value| value & !0xf);
                self.write(to, aligned);
                self.is_relative &= to != SP;
            }
            Op::Set(to, value) => self.write(to, Some(value)),
            Op::Insert(to, bits, shift) => {
                let mask = 0xffff_usize << shift;
                let bits = usize::from(bits) << shift;
                let value = registers.get(to).map(|value| value & !mask | bits);
                self.write(to, value);
            }
            Op::Access(access) => self.access(&access),
            Op::Write(written) => {
                for register in written.into_iter().flatten() {
                    self.write(register, None);
                }
            }
            Op::Call(_) | Op::CallRegister => {
                // AAPCS64: x19 to x28 and the frame pointer are kept.
                for number in 0..=18 {
                    registers.set(Register::new(number), None);
                }
                registers.set(LINK, Some(pc.wrapping_add(4)));
                self.link = Link::Called;
            }
            Op::Branch(_) | Op::Nothing => {}
            Op::Return(_) | Op::Jump(_) | Op::JumpRegister(_) | Op::Trap => return None,
        }
        self.registers.get(SP).map(drop)
    }

    fn write(&mut self, to: Register, value: Option<usize>) {
        self.registers.set(to, value);
        if to == LINK {
            // Not from the frame: nothing is known of it.
            self.link = Link::Called;
        }
    }

    fn access(&mut self, access: &Access) {
        let base = self.registers.get(access.base);
        let address = base.map(|base| offset(base, access.offset));
        let is_known = matches!(access.base, SP | FP | THREAD);
        if access.loads {
            for (register, at) in access.registers.into_iter().zip([0, WORD]) {
                let Some(register) = register else { continue };
                let slot = address.filter(|_| is_known && access.is_words);
                let value = slot.and_then(|slot| self.load(slot.wrapping_add(at), access.base));
                self.write(register, value);
                if register == LINK && value.is_some() && access.base != THREAD {
                    self.link = Link::Loaded;
                }
            }
        } else if let Some(address) = address {
            self.store(access, address);
        }
        if access.moves != 0 {
            let moved = base.map(|base| offset(base, access.moves));
            self.write(access.base, moved);
        }
    }

    fn store(&mut self, access: &Access, address: usize) {
        if let [Some(FP), Some(LINK)] = access.registers
            && access.is_words
            && self.link == Link::Untouched
            && let (Some(fp), Some(link)) = (self.registers.get(FP), self.registers.get(LINK))
        {
            self.saved = Some((address, fp, link));
        }
        if access.is_words {
            let words = access.bytes / WORD;
            for (register, at) in access.registers.into_iter().zip(0..words) {
                // Without a register zero is stored.
                let value = register.map_or(Some(0), |register| self.registers.get(register));
                self.stack.store(address.wrapping_add(at * WORD), value);
            }
        } else {
            let first = address & !(WORD - 1);
            for slot in (first..address.saturating_add(access.bytes)).step_by(WORD) {
                self.stack.store(slot, None);
            }
        }
    }

    /// The word at `address`, which `base` leads to.
    fn load(&self, address: usize, base: Register) -> Option<usize> {
        match self.stack.load(address) {
            Some(written) => written,
            // Only the thread itself changes the fields that generated code reads there to find its way.
            None if base == THREAD => self.memory.word(address),
            None if address < self.top => None,
            None => self.memory.word(address),
        }
    }

    /// The caller that continues at the address in `register`.
    pub fn caller(&self, register: Register) -> Option<[usize; 3]> {
        let get = |register| self.registers.get(register);
        let pc = address(get(register)?);
        Some([pc, get(SP)?, get(FP)?])
    }
}

fn offset(address: usize, number: i64) -> usize {
    address.wrapping_add_signed(number as isize)
}
