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

/// Whether `code` takes back a register that it has pushed, perhaps behind a call.
pub(super) fn is_stack_pointer_moved(code: &[u8]) -> bool {
    // Compiled code addresses its frame from the stack pointer, and pushes only within its body. C1 does so for a type check
    // (`LIR_Assembler::emit_typecheck_helper`):
    //
    //         push  rbx                 53
    //         push  rdx                 52
    //         call  slow_subtype_check  e8 …
    //         pop   rbx                 5b
    //         pop   rbx                 5b
    //         test  ebx, ebx
    //
    // `pop rbp` is that of the epilogue. C2 moves a value between two places of the frame (`impl_vec_stack` and its kin in
    // `cpu/x86/x86_64.ad`):
    //
    //         push  [rsp + 8]           ff 74 24 08
    //         pop   [rsp + 24]          8f 44 24 18, with 48 before it as some assemblers write it
    let code = skip_all(&[Pattern(&[0xe8], 4)], code);
    const POP: u8 = 0x8f;
    const ON_STACK: u8 = 0x24;
    match code {
        [POP, mode, ON_STACK, ..] | [0x48, POP, mode, ON_STACK, ..] => mode & 0x3f == 4,
        [0x41, 0x58..=0x5f, ..] => true,
        [first, ..] => (0x58..=0x5f).contains(first) && *first != 0x5d,
        [] => false,
    }
}

/// Of a compiled method that may extend its frame: the distance of the word from the stack pointer that has the frame's size
/// in bytes, without the return address and the saved frame pointer.
pub(super) fn frame_size_word(code: &[u8]) -> Option<usize> {
    // Code that unpacks value objects into its own frame cannot know the size at its end (`MacroAssembler::remove_frame` with
    // `needs_stack_repair`):
    //
    //         add  rsp, [rsp + N]       48 03 64 24 …, or 48 03 a4 24 … … … …
    //         pop  rbp                  5d
    const POP: u8 = 0x5d;
    code.windows(9).find_map(|at| match *at {
        [0x48, 0x03, 0x64, 0x24, near, POP, ..] => Some(near.into()),
        [0x48, 0x03, 0xa4, 0x24, a, b, c, d, POP] => {
            usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()
        }
        _ => None,
    })
}

/// Whether `code` is behind the removal of a native wrapper's frame.
pub(super) fn is_wrapper_frame_removed(code: &[u8]) -> bool {
    // `SharedRuntime::generate_native_wrapper`:
    //
    //         leave                              c9
    //         cmp   qword [r15 + exception], 0   49 83 bf … 00, or 49 83 7f … 00
    //         jne   forward                      0f 85 …
    //         ret                                c3
    //
    // `gen_continuation_yield` and `gen_continuation_enter` of `sharedRuntime_x86_64.cpp`: behind a yield `doYield` sets the
    // stack pointer to the frame of `enterSpecial`, and both return to its caller:
    //
    //         mov   rsp, [r15 + cont_entry]
    //         …                                  continuation_enter_cleanup
    //         pop   rbp                          5d
    //         ret                                c3
    const RETURN: [Pattern; 5] = [
        Pattern(&[0x5d], 0),
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
    gives_stack_back
        || matches!(strip_rex(popped), [0xff, 0xe0..=0xe7, ..])
        || is_between_activations(code)
}

/// Whether `code` is behind the removal of the frame of an interpreted method that an exception leaves.
fn is_between_activations(code: &[u8]) -> bool {
    // `TemplateInterpreterGenerator::generate_throw_exception`, "in between activations - previous activation type unknown
    // yet". The frame pointer is that of the caller already, or of an older frame if the caller is compiled code:
    //
    //         mov   rax, [r15 + vm_result]       49 8b 87 …
    //         mov   qword [r15 + …], 0           49 c7 87 … 00000000
    //         push  rax                          50                    the exception
    //         push  rdx                          52                    the return address
    //         mov   rsi, rdx                     48 8b f2
    //         mov   rdi, r15                     49 8b ff
    //         test  esp, 15                      f7 c4 …, or 40 f6 c4 … of spl
    //         je    …                            0f 84 …
    //         sub   rsp, 8                       48 83 ec 08
    //         call  SharedRuntime::exception_handler_for_return_address   e8 …
    //         add   rsp, 8                       48 83 c4 08
    //         jmp   …                            e9 …
    //         call  SharedRuntime::exception_handler_for_return_address   e8 …
    //         mov   rbx, rax                     48 8b d8
    //         pop   rdx                          5a
    //         pop   rax                          58
    //         jmp   rbx                          ff e3
    const THROWS: [Pattern; 17] = [
        Pattern(&[0x49, 0x8b, 0x87], 4),
        Pattern(&[0x49, 0xc7, 0x87], 8),
        Pattern(&[0x50], 0),
        Pattern(&[0x52], 0),
        Pattern(&[0x48, 0x8b, 0xf2], 0),
        Pattern(&[0x49, 0x8b, 0xff], 0),
        Pattern(&[0xf7, 0xc4], 4),
        Pattern(&[0x40, 0xf6, 0xc4], 1),
        Pattern(&[0x0f, 0x84], 4),
        Pattern(&[0x48, 0x83, 0xec], 1),
        Pattern(&[0xe8], 4),
        Pattern(&[0x48, 0x83, 0xc4], 1),
        Pattern(&[0xe9], 4),
        Pattern(&[0xe8], 4),
        Pattern(&[0x48, 0x8b, 0xd8], 0),
        Pattern(&[0x5a], 0),
        Pattern(&[0x58], 0),
    ];
    skip_all(&THROWS, code).starts_with(&[0xff, 0xe3])
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
        // Behind the `ret` of `doYield` is the way of a thread that cannot yield.
        let yielded = [0x5d, 0xc3, 0x49, 0x83, 0x7f, 8, 0, 0x0f, 0x84];
        assert!(X86_64::is_wrapper_frame_removed(&yielded));
        assert!(!X86_64::is_wrapper_frame_removed(&yielded[2..]));
    }

    #[test]
    fn a_frame_that_may_be_extended_has_its_size_in_a_word() {
        let near = [
            0x90, 0x48, 0x03, 0x64, 0x24, 8, 0x5d, 0x49, 0x3b, 0x67, 0x28,
        ];
        assert_eq!(X86_64::frame_size_word(&near), Some(8));
        let far = [0x48, 0x03, 0xa4, 0x24, 0xd8, 0, 0, 0, 0x5d, 0xc3];
        assert_eq!(X86_64::frame_size_word(&far), Some(0xd8));
        // A frame of one size: `add rsp, N`.
        let usual = [0x48, 0x81, 0xc4, 0xe0, 0, 0, 0, 0x5d, 0xc3, 0x90];
        assert_eq!(X86_64::frame_size_word(&usual), None);
    }

    #[test]
    fn compiled_code_pops_what_it_has_pushed() {
        let check = [0xe8, 1, 2, 3, 4, 0x5b, 0x5b, 0x85, 0xdb, 0x0f, 0x84];
        for start in [0, 5, 6] {
            assert!(X86_64::is_stack_pointer_moved(&check[start..]));
        }
        assert!(X86_64::is_stack_pointer_moved(&[0x41, 0x5d]));
        let moves = [0xff, 0x74, 0x24, 8, 0x48, 0x8f, 0x44, 0x24, 24, 0x66, 0x90];
        for start in [4, 5] {
            assert!(X86_64::is_stack_pointer_moved(&moves[start..]));
        }
        // The epilogue, a push, memory that is not on the stack, and a call that is no type check's.
        for other in [
            &[0x5d, 0xc3][..],
            &moves,
            &[0x8f, 0x43, 8],
            &[0xe8, 1, 2, 3, 4, 0x5d],
            &check[7..],
            &[],
        ] {
            assert!(!X86_64::is_stack_pointer_moved(other));
        }
    }

    #[test]
    fn only_a_jump_behind_the_removal_leaves_for_a_handler() {
        assert!(X86_64::is_frame_removed(&[0x5d, 0xe9, 1]));
        assert!(!X86_64::is_frame_removed(&[0xe9, 1]));
    }

    #[test]
    fn the_interpreter_throws_on_without_a_frame() {
        // JDK 28, behind `leave`; the last instructions are those behind the call.
        let code = "41c6879e03000000 5a 488be3 493ba7b8050000 720b 49c787b805000000000000 \
            498b87b8040000 49c787b804000000000000 50 52 488bf2 498bff 40f6c40f 0f8412000000 4883ec08 e8f821ed18 \
            4883c408 e905000000 e8ea21ed18 488bd8 5a 58 ffe3";
        let bytes = |digits: &str| -> Vec<u8> {
            let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits");
            (0..digits.len()).step_by(2).map(byte).collect()
        };
        let instructions: Vec<_> = code.split_whitespace().map(bytes).collect();
        let is_removed = |code: &[u8]| X86_64::is_interpreter_frame_removed(code) == Ok(true);
        for at in 0..instructions.len() {
            assert!(is_removed(&instructions[at..].concat()), "{at}");
        }
        // Without the jump they may be anything.
        let last = instructions.len() - 1;
        for at in 6..last {
            assert!(!is_removed(&instructions[at..last].concat()), "{at}");
        }
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
