//! What an instruction does to the stack pointer and to registers, in words that all architectures share.

/// A general register by its number in the instruction set. The architectures name those that have a part
/// in frames: [`Follow::SP`](super::Follow::SP) and its kin.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Register(u8);

impl Register {
    /// The register with this number. The lowest five bits of `number` count.
    pub const fn new(number: u8) -> Register {
        Register(number & 31)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// The values of `N` general registers, as far as they are known.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Values<const N: usize> {
    /// 0 where a value is not known.
    values: [usize; N],
    /// A bit for each register.
    known: u32,
}

impl<const N: usize> Values<N> {
    /// Nothing is known.
    pub const UNKNOWN: Values<N> = Values {
        values: [0; N],
        known: 0,
    };

    /// All are known, in the order of their numbers.
    pub const fn all(values: [usize; N]) -> Values<N> {
        Values {
            values,
            known: u32::MAX,
        }
    }

    /// The value of `register`.
    #[inline]
    pub fn get(&self, register: Register) -> Option<usize> {
        let at = index::<N>(register);
        (self.known >> at & 1 == 1).then_some(self.values[at])
    }

    /// Sets the value of `register`.
    #[inline]
    pub fn set(&mut self, register: Register, value: Option<usize>) {
        let at = index::<N>(register);
        self.values[at] = value.unwrap_or(0);
        self.known = self.known & !(1 << at) | u32::from(value.is_some()) << at;
    }
}

/// The place of `register` among `N` registers, a power of two.
#[inline]
fn index<const N: usize>(register: Register) -> usize {
    const { assert!(N.is_power_of_two() && N <= 32) };
    usize::from(register.0) & (N - 1)
}

/// One instruction.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Instruction {
    /// Its length in bytes.
    pub length: usize,
    /// Its effect.
    pub effect: Effect,
}

/// The effect of an instruction, as far as frames depend on it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Effect {
    /// It pushes a register, or something else.
    Push(Option<Register>),
    /// It pops a word to a register, or elsewhere.
    Pop(Option<Register>),
    /// It adds to a register.
    Add(Register, i32),
    /// It clears bits of a register.
    And(Register, i32),
    /// It puts the sum of a register and a number into a register.
    Lea(Register, Register, i32),
    /// It copies the second register to the first.
    Move(Register, Register),
    /// It loads the first register from the second plus a number.
    Load(Register, Register, i32),
    /// It stores the last register at the first plus a number.
    Store(Register, i32, Register),
    /// `leave`: the stack pointer becomes the frame pointer, which is popped.
    Leave,
    /// `ret`.
    Return,
    /// A call.
    Call,
    /// A jump by this many bytes from its end.
    Jump(i32),
    /// A jump to the address in a register.
    JumpRegister(Register),
    /// A jump to an address in memory.
    JumpMemory,
    /// A jump by this many bytes from its end, if a condition holds.
    Branch(i32),
    /// It changes a register in a way that is not followed.
    Write(Register),
    /// It changes two registers in ways that are not followed.
    WriteBoth(Register, Register),
    /// It changes registers in a way that is not followed: of those that C functions keep for their callers, at most the
    /// one that passes methods to the interpreter.
    Clobber,
    /// No effect on the general registers.
    Nothing,
    /// The instruction behind is not executed.
    Trap,
}

/// What an instruction does to a thread that steps and to its calls, as far as its first two bytes say.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Flow {
    /// It pushes a word that is not a return address of its own.
    Push,
    /// It calls a fixed address.
    DirectCall,
    /// It may lead to other code: a jump, a return, or a call of another kind.
    Leave,
    /// It enters the kernel.
    SystemCall,
    /// It loads the flags from the stack.
    LoadFlags,
    /// None of these.
    #[default]
    Other,
}

impl Flow {
    /// Whether the instruction may lead to other code.
    pub fn leaves(self) -> bool {
        matches!(self, Flow::DirectCall | Flow::Leave)
    }
}
