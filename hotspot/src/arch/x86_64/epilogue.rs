//! The end of a method: its frame is removed, and the return address is on top of the stack.

use super::patterns::{Pattern, skip_all};

/// `ret`.
const RET: &[u8] = &[0xc3];

/// Whether `code` is behind the removal of a compiled frame.
pub(super) fn is_frame_removed(code: &[u8]) -> bool {
    // Both compilers end a method so (`LIR_Assembler::return_op`, `MachEpilogNode::emit` in `x86_64.ad`):
    //
    //         add  rsp, N
    //         pop  rbp                  5d
    //         cmp  rsp, [r15 + poll]    49 3b a7 …, or 49 3b 67 …    the return poll, since JDK 16
    //         ja   stub                 0f 87 …    (`MacroAssembler::safepoint_poll`)
    //         ret                       c3
    //
    // At `pop rbp` the frame is removed but for the saved frame pointer. Each instruction may be the first.
    const RETURN: [Pattern; 4] = [
        Pattern(&[0x5d], 0),
        Pattern(&[0x49, 0x3b, 0xa7], 4),
        Pattern(&[0x49, 0x3b, 0x67], 1),
        Pattern(&[0x0f, 0x87], 4),
    ];
    // An exception leaves a method with `pop rbp`, `jmp stub` (`LIR_Assembler::emit_unwind_handler`, C2's `Rethrow`). The
    // jump alone could be any jump.
    const UNWIND: &[u8] = &[0x5d, 0xe9];
    code.starts_with(UNWIND) || skip_all(&RETURN, code).starts_with(RET)
}

/// Whether `code` is behind the removal of a native wrapper's frame.
pub(super) fn is_wrapper_frame_removed(code: &[u8]) -> bool {
    // `SharedRuntime::generate_native_wrapper`:
    //
    //         leave                              c9
    //         cmp   qword [r15 + exception], 0   49 83 bf … 00, or 49 83 7f … 00
    //         jne   forward                      0f 85 …
    //         ret                                c3
    const RETURN: [Pattern; 4] = [
        Pattern(&[0xc9], 0),
        Pattern(&[0x49, 0x83, 0xbf], 5),
        Pattern(&[0x49, 0x83, 0x7f], 2),
        Pattern(&[0x0f, 0x85], 4),
    ];
    skip_all(&RETURN, code).starts_with(RET)
}

/// Whether `code` is behind the removal of the frame of an interpreted method that returns.
pub(super) fn is_interpreter_frame_removed(code: &[u8]) -> bool {
    // `InterpreterMacroAssembler::remove_activation`, and the jump of `TemplateTable::_return`. What JDK 25 adds is marked:
    //
    //         mov   rbx, [rbp - 8]               the caller's stack pointer
    //         leave
    //         mov   byte [r15 + …], 0            41 c6 87 … 00         25
    //         pop   r13                          41 5d, or 59 with rcx
    //         mov   rsp, rbx                     48 8b e3
    //         cmp   rsp, [r15 + watermark]       49 3b a7 …            21 and later
    //         jb    …                            72 …                  25
    //         mov   qword [r15 + …], 0           49 c7 87 … 00000000   25
    //         jmp   r13                          41 ff e5, or ff e1
    //
    // A store, a comparison or a branch alone proves nothing: one of `pop` with `mov rsp`, `mov rsp`, and `jmp` must follow.
    const AROUND: [Pattern; 4] = [
        Pattern(&[0x41, 0xc6, 0x87], 5),
        Pattern(&[0x49, 0x3b, 0xa7], 4),
        Pattern(&[0x72], 1),
        Pattern(&[0x49, 0xc7, 0x87], 8),
    ];
    let code = skip_all(&AROUND, code);
    let popped = match strip_rex(code) {
        [0x58..=0x5f, rest @ ..] => rest,
        _ => code,
    };
    let gives_stack_back = matches!(popped, [0x48 | 0x49, 0x8b, 0xe0..=0xe7, ..]);
    gives_stack_back || matches!(strip_rex(popped), [0xff, 0xe0..=0xe7, ..])
}

/// The code behind the prefix that selects one of the registers r8 to r15.
fn strip_rex(code: &[u8]) -> &[u8] {
    code.strip_prefix(&[0x41]).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use crate::arch::{Arch, X86_64};

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
    fn the_interpreter_returns_without_a_frame() {
        // `leave`, `pop rcx`, `mov rsp, rbx`, `jmp rcx`.
        let code = [0xc9, 0x59, 0x48, 0x8b, 0xe3, 0xff, 0xe1];
        let is_removed = |code: &[u8]| X86_64::is_interpreter_frame_removed(code) == Ok(true);
        assert!(!is_removed(&code));
        for start in [1, 2, 5] {
            assert!(is_removed(&code[start..]), "{start}");
        }
        // `pop r13`, `mov rsp, rbx`, `cmp rsp, [r15 + …]`.
        let watermark = [0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x49, 0x3b, 0xa7];
        assert!(is_removed(&watermark));
        // JDK 25: `mov byte [r15 + …], 0`, `pop r13`, `mov rsp, rbx`, `cmp rsp, [r15 + …]`, `jb …`,
        // `mov qword [r15 + …], 0`, `jmp r13`.
        let code = [
            0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0, 0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x49, 0x3b, 0xa7,
            0x20, 6, 0, 0, 0x72, 0x0b, 0x49, 0xc7, 0x87, 0x20, 6, 0, 0, 0, 0, 0, 0, 0x41, 0xff,
            0xe5,
        ];
        for start in [0, 8, 10, 13, 20, 22, 33] {
            assert!(is_removed(&code[start..]), "{start}");
        }
        // A store alone is no return.
        assert!(!is_removed(&[0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0, 0x90]));
        // `jmp [r10 + rbx * 8]`, which goes to the next bytecode.
        assert!(!is_removed(&[0x41, 0xff, 0x24, 0xda]));
        assert!(!is_removed(&[0x59, 0x90]));
    }
}
