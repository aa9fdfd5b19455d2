//! x86-64: what HotSpot's compilers write at the end of a method.

/// Whether compiled code stands between the removal of its frame and its `ret`.
pub fn leaves_compiled(bytes: &[u8]) -> bool {
    bytes.starts_with(UNWIND) || returns(&COMPILED_RETURN, bytes)
}

/// Whether the wrapper of a native method stands between the removal of its frame and its `ret`.
pub fn leaves_native_wrapper(bytes: &[u8]) -> bool {
    returns(&NATIVE_RETURN, bytes)
}

fn returns(sequence: &[Instruction], bytes: &[u8]) -> bool {
    let skip = |rest, instruction: &Instruction| instruction.skip(rest).unwrap_or(rest);
    let rest = sequence.iter().fold(bytes, skip);
    rest.starts_with(RETURN)
}

/// `ret`.
const RETURN: &[u8] = &[0xc3];

/// `pop rbp`, `jmp …`: an exception leaves a compiled method (`LIR_Assembler::emit_unwind_handler`,
/// C2's `Rethrow`). The jump alone could be any.
const UNWIND: &[u8] = &[0x5d, 0xe9];

/// What stands before the `ret` of a compiled method on x86-64 since JDK 16: `pop rbp`, the poll
/// `cmp rsp, [r15 + …]` with a displacement of four bytes or of one, `ja …`
/// (`MacroAssembler::safepoint_poll`).
const COMPILED_RETURN: [Instruction; 4] = [
    Instruction(&[0x5d], 0),
    Instruction(&[0x49, 0x3b, 0xa7], 4),
    Instruction(&[0x49, 0x3b, 0x67], 1),
    Instruction(&[0x0f, 0x87], 4),
];

/// The same of a native method's wrapper: `leave`, the look for an exception
/// `cmp qword [r15 + …], 0`, `jne …` (`SharedRuntime::generate_native_wrapper`).
const NATIVE_RETURN: [Instruction; 4] = [
    Instruction(&[0xc9], 0),
    Instruction(&[0x49, 0x83, 0xbf], 5),
    Instruction(&[0x49, 0x83, 0x7f], 2),
    Instruction(&[0x0f, 0x85], 4),
];

/// An instruction: its first bytes, and how many others it has.
struct Instruction(&'static [u8], usize);

impl Instruction {
    /// What follows it, if `bytes` start with it.
    fn skip<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.strip_prefix(self.0)?.get(self.1..)
    }
}
