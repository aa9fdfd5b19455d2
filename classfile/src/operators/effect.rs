//! The effect of an instruction on the operand stack.

/// Kinds of values, as the stack has them (JVMS table 2.11.1-B).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// `int`, also for `boolean`, `byte`, `char` and `short`.
    Int,
    /// `long`, in two slots.
    Long,
    /// `float`.
    Float,
    /// `double`, in two slots.
    Double,
    /// A reference.
    Reference,
    /// The null reference.
    Null,
}

/// How a method is called (JVMS 6.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// `invokevirtual`.
    Virtual,
    /// `invokespecial`.
    Special,
    /// `invokestatic`.
    Static,
    /// `invokeinterface`.
    Interface,
    /// `invokedynamic`.
    Dynamic,
}

/// The effect of an instruction on the operand stack ("Operand Stack" in JVMS 6.5) and on the local
/// variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Takes values and gives values, the topmost last.
    Values {
        /// The values that it takes.
        takes: &'static [ValueKind],
        /// The values that it gives.
        gives: &'static [ValueKind],
    },
    /// Gives a constant of the constant pool.
    Constant,
    /// Gives a local variable.
    Load(ValueKind),
    /// Takes a value into a local variable.
    Store(ValueKind),
    /// Takes an array of references and an index, gives the element.
    Element,
    /// Takes this many slots.
    Drop(u8),
    /// Copies this many slots below this many further slots: all forms of `dup`.
    Copy(u8, u8),
    /// Exchanges two values.
    Swap,
    /// Gives a static field.
    GetStatic,
    /// Takes a value into a static field.
    PutStatic,
    /// Takes an object, gives its field.
    GetField,
    /// Takes an object, and a value into its field.
    PutField,
    /// Takes arguments, gives what the method returns.
    Invoke(Call),
    /// Gives an object that is not initialised.
    New,
    /// Takes a length, gives an array of a primitive type.
    NewPrimitiveArray,
    /// Takes a length, gives an array of references.
    NewArray,
    /// Takes lengths, gives an array of arrays.
    NewNestedArray,
    /// Takes a reference, gives the reference as another class: `checkcast`.
    Cast,
    /// Gives or uses the return address of a subroutine.
    Subroutine,
    /// No effect of its own: `wide` changes the operands of another opcode.
    Prefix,
}
