//! The caller of interrupted x86-64 code, found by the code itself.
//!
//! HotSpot's tables describe complete frames. At a method's start and end, and where code moves the
//! stack pointer in between, only the instructions show where the frame is.
//!
//! * [`instruction`]: the effect of one instruction on the stack pointer and on registers;
//! * [`exit`]: simulates the code up to its return;
//! * [`settled`]: simulates the code up to a place where its frame is as the tables say;
//! * [`entry`]: follows the code from its start, or from another place where the stack pointer is
//!   known;
//! * [`interpreted`]: the places in an interpreted frame;
//! * [`poll`]: the stub to which a poll in a loop leads.

pub mod entry;
pub mod exit;
pub mod instruction;
pub mod interpreted;
mod machine;
mod met;
pub mod poll;
pub mod settled;
#[cfg(test)]
mod toy;

/// A general register by its number in the instruction set (Intel SDM, volume 2, table 3-1).
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Register(u8);

impl Register {
    /// In code that handles an exception, the return address of the callee that threw
    /// (`StubRoutines::forward_exception_entry`).
    pub const RDX: Register = Register(2);
    /// The stack pointer.
    pub const RSP: Register = Register(4);
    /// The frame pointer.
    pub const RBP: Register = Register(5);
    /// The register of the first argument in C's calling convention.
    pub const RDI: Register = Register(7);
    /// The register in which HotSpot passes the method to its interpreter.
    pub const RBX: Register = Register(3);
    /// The interpreter's pointer to the bytecode; at a call, the stack pointer of the caller.
    pub const R13: Register = Register(13);
    /// In Java code, the thread.
    pub const R15: Register = Register(15);

    /// The register with this number. The lowest four bits of `number` count.
    pub const fn new(number: u8) -> Register {
        Register(number & 15)
    }

    /// Its index in [`Registers`].
    pub fn index(self) -> usize {
        usize::from(self.0 & 15)
    }
}

/// The values of the general registers, as far as they are known.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Registers {
    /// 0 where a value is not known.
    values: [usize; 16],
    /// A bit for each register.
    known: u16,
}

impl Registers {
    /// Nothing is known.
    pub const UNKNOWN: Registers = Registers {
        values: [0; 16],
        known: 0,
    };

    /// All are known, in the order of their numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub const fn all(values: [usize; 16]) -> Registers {
        Registers {
            values,
            known: u16::MAX,
        }
    }

    /// The value of `register`.
    pub fn get(&self, register: Register) -> Option<usize> {
        let at = register.index();
        (self.known >> at & 1 == 1).then_some(self.values[at])
    }

    /// Sets the value of `register`.
    pub fn set(&mut self, register: Register, value: Option<usize>) {
        let at = register.index();
        self.values[at] = value.unwrap_or(0);
        self.known = self.known & !(1 << at) | u16::from(value.is_some()) << at;
    }
}
