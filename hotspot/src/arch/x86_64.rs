//! x86-64.

use super::processor::Arch;

/// x86-64, as HotSpot generates code for it since JDK 16.
#[derive(Copy, Clone, Debug)]
pub enum X86_64 {}

impl Arch for X86_64 {
    // `pop rbp` may not have run yet.
    const WORDS_AT_RETURN: usize = 2;

    // The intrinsic of `String.indexOf` pushes both strings and two words
    // (`C2_MacroAssembler::string_indexof`), array copies of C1 push their five arguments, and
    // barriers of ZGC push all registers in use (`ZSaveLiveRegisters`).
    const MOST_PUSHED: usize = 44;

    const CALL_SIZE: usize = 5;

    const TRAMPOLINES: bool = false;

    fn is_prologue(code: &[u8]) -> bool {
        let rest = skip_all(&PROLOGUE, code);
        SUB_RSP.iter().any(|sub| rest.starts_with(sub))
    }

    fn is_frame_removed(code: &[u8]) -> bool {
        code.starts_with(UNWIND) || skip_all(&COMPILED_RETURN, code).starts_with(RET)
    }

    fn is_wrapper_frame_removed(code: &[u8]) -> bool {
        skip_all(&WRAPPER_RETURN, code).starts_with(RET)
    }

    fn is_interpreter_frame_removed(code: &[u8]) -> bool {
        // `pop`, `mov rsp, …`, from JDK 21 on a check of the stack watermark, and `jmp …` of
        // registers (`InterpreterMacroAssembler::remove_activation`, `TemplateTable::_return`).
        let code = skip_all(&INTERPRETER_RETURN, code);
        let popped = match strip_rex(code) {
            [0x58..=0x5f, rest @ ..] => rest,
            _ => code,
        };
        let gives_stack_back = matches!(popped, [0x48 | 0x49, 0x8b, 0xe0..=0xe7, ..]);
        gives_stack_back || matches!(strip_rex(popped), [0xff, 0xe0..=0xe7, ..])
    }

    fn is_register_call(before: &[u8]) -> bool {
        matches!(before, [.., 0xff, 0xd0..=0xd7])
    }

    fn call_target(call: &[u8], return_address: usize) -> Option<usize> {
        // `NativeCall`: the last four bytes are the distance.
        let (&CALL, distance) = call.split_first()? else {
            return None;
        };
        let distance = i32::from_le_bytes(distance.try_into().ok()?);
        Some(return_address.wrapping_add_signed(distance as isize))
    }
}

/// The code behind the prefix that selects one of the registers r8 to r15.
fn strip_rex(code: &[u8]) -> &[u8] {
    code.strip_prefix(&[0x41]).unwrap_or(code)
}

/// `call rel32`.
const CALL: u8 = 0xe8;

/// `ret`.
const RET: &[u8] = &[0xc3];

/// `sub rsp, …` with an operand of one byte or of four.
const SUB_RSP: [&[u8]; 2] = [&[0x48, 0x83, 0xec], &[0x48, 0x81, 0xec]];

/// `pop rbp`, `jmp …`: an exception leaves a compiled method (`LIR_Assembler::emit_unwind_handler`,
/// C2's `Rethrow`). The jump alone could be any jump.
const UNWIND: &[u8] = &[0x5d, 0xe9];

/// The instructions before `sub rsp, …` in a prologue: the stack bang `mov [rsp - …], eax`, `push
/// rbp`, `mov rbp, rsp` (`MacroAssembler::verified_entry`, `C1_MacroAssembler::build_frame`).
const PROLOGUE: [Instruction; 3] = [
    Instruction(&[0x89, 0x84, 0x24], 4),
    Instruction(&[0x55], 0),
    Instruction(&[0x48, 0x8b, 0xec], 0),
];

/// The instructions before the `ret` of a compiled method: `pop rbp`, the return poll `cmp rsp,
/// [r15 + …]` with a displacement of four bytes or of one byte, `ja …`
/// (`MacroAssembler::safepoint_poll`).
const COMPILED_RETURN: [Instruction; 4] = [
    Instruction(&[0x5d], 0),
    Instruction(&[0x49, 0x3b, 0xa7], 4),
    Instruction(&[0x49, 0x3b, 0x67], 1),
    Instruction(&[0x0f, 0x87], 4),
];

/// The instructions before the `ret` of a native wrapper: `leave`, the check for an exception `cmp
/// qword [r15 + …], 0`, `jne …` (`SharedRuntime::generate_native_wrapper`).
const WRAPPER_RETURN: [Instruction; 4] = [
    Instruction(&[0xc9], 0),
    Instruction(&[0x49, 0x83, 0xbf], 5),
    Instruction(&[0x49, 0x83, 0x7f], 2),
    Instruction(&[0x0f, 0x85], 4),
];

/// The instructions around the `pop` and the `mov rsp, …` with which the interpreter returns, on JDK 25: `mov byte
/// [r15 + …], 0` before, `cmp rsp, [r15 + …]`, `jb …` and `mov qword [r15 + …], 0` behind.
const INTERPRETER_RETURN: [Instruction; 4] = [
    Instruction(&[0x41, 0xc6, 0x87], 5),
    Instruction(&[0x49, 0x3b, 0xa7], 4),
    Instruction(&[0x72], 1),
    Instruction(&[0x49, 0xc7, 0x87], 8),
];

/// An instruction: its first bytes, and the number of its other bytes.
struct Instruction(&'static [u8], usize);

impl Instruction {
    /// The code behind the instruction, if `code` starts with the instruction.
    fn skip<'a>(&self, code: &'a [u8]) -> Option<&'a [u8]> {
        code.strip_prefix(self.0)?.get(self.1..)
    }
}

/// The code behind the `instructions`, in order. Instructions that `code` does not have are
/// skipped.
fn skip_all<'a>(instructions: &[Instruction], code: &'a [u8]) -> &'a [u8] {
    let skip = |rest, instruction: &Instruction| instruction.skip(rest).unwrap_or(rest);
    instructions.iter().fold(code, skip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epilogue_is_recognised_at_each_of_its_instructions() {
        let far = [
            0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x0f, 0x87, 5, 6, 7, 8, 0xc3,
        ];
        let near = [0x5d, 0x49, 0x3b, 0x67, 1, 0x0f, 0x87, 5, 6, 7, 8, 0xc3];
        let wrapper = [
            0xc9, 0x49, 0x83, 0x7f, 8, 0, 0x0f, 0x85, 1, 0, 0, 0, 0xc3, 0x90,
        ];
        for start in [0, 1, 8, 14] {
            assert!(X86_64::is_frame_removed(&far[start..]));
        }
        for start in [0, 1, 5, 11] {
            assert!(X86_64::is_frame_removed(&near[start..]));
        }
        for start in [0, 1, 6, 12] {
            assert!(X86_64::is_wrapper_frame_removed(&wrapper[start..]));
        }
        for other in [&far[2..], &far[..9], &wrapper, &[]] {
            assert!(!X86_64::is_frame_removed(other));
        }
        assert!(!X86_64::is_wrapper_frame_removed(&far));
    }

    #[test]
    fn only_a_jump_behind_the_removal_leaves_for_a_handler() {
        assert!(X86_64::is_frame_removed(&[0x5d, 0xe9, 1]));
        assert!(!X86_64::is_frame_removed(&[0xe9, 1]));
    }

    #[test]
    fn a_prologue_ends_with_its_frame() {
        let code = [
            0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20, 0x90,
        ];
        for start in [0, 7, 8] {
            assert!(X86_64::is_prologue(&code[start..]), "{start}");
        }
        assert!(!X86_64::is_prologue(&code[12..]));
        assert!(X86_64::is_prologue(&[0x48, 0x81, 0xec, 0, 1, 0, 0]));
        assert!(!X86_64::is_prologue(&[0x48, 0x89, 0xc8]));
    }

    #[test]
    fn the_interpreter_returns_without_a_frame() {
        // `leave`, `pop rcx`, `mov rsp, rbx`, `jmp rcx`.
        let code = [0xc9, 0x59, 0x48, 0x8b, 0xe3, 0xff, 0xe1];
        assert!(!X86_64::is_interpreter_frame_removed(&code));
        for start in [1, 2, 5] {
            assert!(
                X86_64::is_interpreter_frame_removed(&code[start..]),
                "{start}"
            );
        }
        // `pop r13`, `mov rsp, rbx`, `cmp rsp, [r15 + …]`.
        let watermark = [0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x49, 0x3b, 0xa7];
        assert!(X86_64::is_interpreter_frame_removed(&watermark));
        // JDK 25: `mov byte [r15 + …], 0`, `pop r13`, `mov rsp, rbx`, `cmp rsp, [r15 + …]`, `jb …`,
        // `mov qword [r15 + …], 0`, `jmp r13`.
        let code = [
            0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x49, 0x3b, 0xa7,
            0x20, 6, 0, 0, 0x72, 0x0b, 0x49, 0xc7, 0x87, 0x20, 6, 0, 0, 0, 0, 0, 0, 0x41, 0xff,
            0xe5,
        ];
        for start in [0, 8, 10, 13, 20, 22, 33] {
            assert!(
                X86_64::is_interpreter_frame_removed(&code[start..]),
                "{start}"
            );
        }
        // A store alone is no return.
        assert!(!X86_64::is_interpreter_frame_removed(&[
            0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0, 0x90
        ]));
        // `jmp [r10 + rbx * 8]`, which goes to the next bytecode.
        assert!(!X86_64::is_interpreter_frame_removed(&[
            0x41, 0xff, 0x24, 0xda
        ]));
        assert!(!X86_64::is_interpreter_frame_removed(&[0x59, 0x90]));
    }

    #[test]
    fn calls_through_registers_are_recognised_from_their_ends() {
        assert!(X86_64::is_register_call(&[1, 2, 3, 0xff, 0xd0]));
        assert!(X86_64::is_register_call(&[1, 2, 0x41, 0xff, 0xd2]));
        assert!(!X86_64::is_register_call(&[0xe8, 1, 2, 3, 4]));
    }

    #[test]
    fn a_direct_call_shows_its_target() {
        let call = [0xe8, 0xfb, 0xff, 0xff, 0xff];
        assert_eq!(X86_64::call_target(&call, 0x1005), Some(0x1000));
        assert_eq!(X86_64::call_target(&[0xff, 0xd0, 0, 0, 0], 0x1005), None);
        assert_eq!(X86_64::call_target(&call[..3], 0x1005), None);
    }
}
