use super::*;
use crate::arch::toy::{CODE, Fixed, STACK};

const CALLER: usize = 0x2222;
const HANDLER: usize = 0x3333;

/// The caller's code, and what looks like return addresses in it.
struct Caller {
    returns: &'static [usize],
}

const CODE_OF_CALLER: Caller = Caller { returns: &[CALLER] };

impl Landings for Caller {
    fn is_return(&self, word: usize) -> bool {
        self.returns.contains(&word)
    }

    fn is_behind_own_call(&self, _: usize) -> bool {
        false
    }

    fn returns_to(&self, word: usize) -> bool {
        self.is_return(word)
    }

    fn origin(&self) -> Option<usize> {
        Some(CALLER)
    }

    fn goes_on_at(&self, pc: usize, origin: usize) -> bool {
        pc == HANDLER && origin != HANDLER && self.is_return(origin)
    }
}

fn exit(code: &'static [u8], stack: &'static [usize], rbx: usize) -> Option<(usize, usize, usize)> {
    let mut registers = Registers::UNKNOWN;
    registers.set(Register::RSP, Some(STACK));
    registers.set(Register::RBP, Some(0x7777));
    registers.set(Register::RBX, Some(rbx));
    let memory = Fixed { code, stack };
    let found = find(&memory, CODE, &registers, 16, Calls::Stop, &CODE_OF_CALLER)?;
    assert_eq!(found.registers.get(Register::RSP), Some(found.sp));
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
fn the_stub_of_an_entry_barrier_returns_to_the_method_or_removes_its_frame() {
    // leave; add rsp, 8; ret
    let goes_on = &[0xc9, 0x48, 0x83, 0xc4, 0x08, 0xc3];
    // pop rdi; test [rsp], rsp; mov rsp, [rsp]; jmp [rsp - 8]
    let removes = &[
        0x5f, 0x48, 0x85, 0x24, 0x24, 0x48, 0x8b, 0x24, 0x24, 0xff, 0x64, 0x24, 0xf8,
    ];
    let method = Some((CALLER, STACK + 24, 0x7777));
    let found = exit(removes, &[0x1111, STACK + 48, CALLER, 0, 0, 0x4444], 0);
    assert_eq!(found, method);
    let mut registers = Registers::UNKNOWN;
    registers.set(Register::RSP, Some(STACK));
    registers.set(Register::RBP, Some(STACK));
    let memory = Fixed {
        code: goes_on,
        stack: &[0x7777, usize::MAX, CALLER],
    };
    let found = find(&memory, CODE, &registers, 16, Calls::Stop, &CODE_OF_CALLER);
    let found = found.map(|found| (found.pc, found.sp, found.fp));
    assert_eq!(found, method);
}

#[test]
fn an_adapter_leaves_the_return_address_on_the_stack() {
    // pop rax; sub rsp, 16; push rax; jmp rcx
    let code = &[0x58, 0x48, 0x83, 0xec, 0x10, 0x50, 0xff, 0xe1];
    let found = exit(code, &[CALLER], 0);
    assert_eq!(found, Some((CALLER, STACK + 8, 0x7777)));
}

#[test]
fn an_interpreted_method_leaves_a_frame_that_an_adapter_made_larger() {
    // pop rcx; mov rsp, rbx; and rsp, -16; push rcx; jmp [rbx + 0x90]
    let code = &[
        0x59, 0x48, 0x8b, 0xe3, 0x48, 0x83, 0xe4, 0xf0, 0x51, 0xff, 0xa3, 0x90, 0, 0, 0,
    ];
    let found = exit(code, &[CALLER], STACK + 32);
    assert_eq!(found, Some((CALLER, STACK + 32, 0x7777)));
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
        fn word(&self, address: usize) -> Option<usize> {
            (address < STACK).then_some(CALLER)
        }
    }
    let mut registers = Registers::all([0; 16]);
    registers.set(Register::RSP, Some(STACK));
    let found = find(&Below, CODE, &registers, 16, Calls::Stop, &CODE_OF_CALLER);
    assert_eq!(found, None);
}

#[test]
fn an_exception_goes_on_at_the_handler_of_the_caller() {
    // pop rdx; pop rax; jmp rbx
    let found = exit(&[0x5a, 0x58, 0xff, 0xe3], &[CALLER, 0x5555], HANDLER);
    assert_eq!(found, Some((CALLER, STACK + 16, 0x7777)));
    // jmp rbx: rdx is not loaded yet.
    assert_eq!(
        exit(&[0xff, 0xe3], &[], HANDLER),
        Some((CALLER, STACK, 0x7777))
    );
    // pop rbp; pop rdx; jmp rax: the handler is not known yet.
    let found = exit(&[0x5d, 0x5a, 0xff, 0xe0], &[0x5555, CALLER, 0x4444], 0);
    assert_eq!(found, Some((CALLER, STACK + 16, 0x5555)));
}

#[test]
fn a_handler_may_look_like_a_return_address() {
    let at_record = Caller {
        returns: &[CALLER, HANDLER],
    };
    // pop rdx; jmp rbx
    let memory = Fixed {
        code: &[0x5a, 0xff, 0xe3],
        stack: &[CALLER],
    };
    let mut registers = Registers::UNKNOWN;
    registers.set(Register::RSP, Some(STACK));
    registers.set(Register::RBP, Some(0x7777));
    registers.set(Register::RBX, Some(HANDLER));
    let found = find(&memory, CODE, &registers, 16, Calls::Stop, &at_record);
    assert_eq!(found.map(|exit| exit.pc), Some(CALLER));
    // jmp rbx: the return address was popped before, and rdx has it.
    let mut from_jump = |told| {
        registers.set(Register::RDX, Some(told));
        let found = find(&memory, CODE + 1, &registers, 16, Calls::Stop, &at_record);
        found.map(|exit| exit.pc)
    };
    assert_eq!(from_jump(CALLER), Some(CALLER));
    // rdx has something else: the code may jump to a return address.
    assert_eq!(from_jump(0x4444), Some(HANDLER));
    // mov rdx, [r15 + 8]; jmp rbx: rdx will have it.
    let memory = Fixed {
        code: &[0x49, 0x8b, 0x57, 0x08, 0xff, 0xe3],
        stack: &[0, CALLER],
    };
    registers.set(Register::R15, Some(STACK));
    let found = find(&memory, CODE, &registers, 16, Calls::Stop, &at_record);
    assert_eq!(found.map(|exit| exit.pc), Some(CALLER));
}

#[test]
fn a_stub_pops_a_handler_that_the_vm_has_put_there() {
    const OTHER: usize = 0x2288;
    let two_calls = Caller {
        returns: &[CALLER, OTHER],
    };
    // pop rcx; jmp rcx, and pop r9; jmp r9. rdx has a return address of an earlier call.
    for (code, jump, register) in [
        (&[0x59, 0xff, 0xe1][..], 1, 1),
        (&[0x41, 0x59, 0x41, 0xff, 0xe1][..], 2, 9),
    ] {
        let memory = Fixed {
            code,
            stack: &[HANDLER],
        };
        let mut registers = Registers::UNKNOWN;
        registers.set(Register::RSP, Some(STACK));
        registers.set(Register::RBP, Some(0x7777));
        registers.set(Register::RDX, Some(OTHER));
        let find = |at, registers: &Registers| {
            let found = find(&memory, CODE + at, registers, 16, Calls::Stop, &two_calls);
            found.map(|exit| (exit.pc, exit.sp))
        };
        assert_eq!(find(0, &registers), Some((CALLER, STACK + 8)));
        registers.set(Register::RSP, Some(STACK + 8));
        registers.set(Register::new(register), Some(HANDLER));
        assert_eq!(find(jump, &registers), Some((CALLER, STACK + 8)));
    }
}

#[test]
fn a_way_writes_the_register() {
    // je over the move; mov r13, rsp; jmp [rcx]
    let code = &[0x74, 0x03, 0x4c, 0x8b, 0xec, 0xff, 0x21];
    let memory = Fixed {
        code,
        stack: &[CALLER],
    };
    let mut registers = Registers::all([0x9999; 16]);
    registers.set(Register::RSP, Some(STACK));
    let find = |at| {
        find_writing(
            &memory,
            CODE + at,
            &registers,
            16,
            &CODE_OF_CALLER,
            Register::R13,
        )
    };
    let kept = find(0).and_then(|exit| exit.registers.get(Register::R13));
    assert_eq!(kept, Some(STACK));
    assert_eq!(find(5), None);
}

#[test]
fn code_that_uses_its_frame_has_one() {
    let without_frame = |code| {
        let mut registers = Registers::UNKNOWN;
        registers.set(Register::RSP, Some(STACK));
        registers.set(Register::RBP, Some(0x7777));
        let memory = Fixed {
            code,
            stack: &[CALLER, CALLER],
        };
        match find_without_frame(&memory, CODE, &registers, 16, &CODE_OF_CALLER) {
            Framing::Removed(exit) => Some(exit.pc),
            Framing::There => None,
        }
    };
    // pop rdx; jmp rdx
    assert_eq!(without_frame(&[0x5a, 0xff, 0xe2]), Some(CALLER));
    // mov rax, [rbp-8]; pop rdx; jmp rdx
    assert_eq!(
        without_frame(&[0x48, 0x8b, 0x45, 0xf8, 0x5a, 0xff, 0xe2]),
        None
    );
    // leave; pop rdx; jmp rdx
    assert_eq!(without_frame(&[0xc9, 0x5a, 0xff, 0xe2]), None);
    // jmp [r10 + rbx * 8]: the code of the next bytecode. A word of the frame looks like a return address.
    assert_eq!(without_frame(&[0x41, 0xff, 0x24, 0xda]), None);
    // jmp [rbx + 0x90]: a method that is entered, whose return address is on top.
    assert_eq!(without_frame(&[0xff, 0xa3, 0x90, 0, 0, 0]), Some(CALLER));
}

#[test]
fn behind_a_call_nothing_is_known() {
    assert_eq!(exit(&[0xe8, 0, 0, 0, 0, 0xc3], &[CALLER], 0), None);
}
