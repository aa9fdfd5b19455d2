//! The shadow stack against a model that knows its calls.

use super::*;
use crate::arch::{Follow, X86_64};
use proptest::prelude::*;
use std::collections::HashMap;

const STACK: usize = 0x10_0000;
const CODE: usize = 0x100_0000;

#[test]
fn compiled_code_that_throws_by_a_stub_stands_where_it_throws() {
    let pc = function(3) + 0x47;
    let ret = pc + 5;
    let stands_at = |code, throwing| {
        let mut shadow = Shadow::new(8);
        let memory = HashMap::from([(STACK - WORD, ret), (REGISTER, throwing)]);
        let before = at(pc, STACK);
        let after = Place {
            code,
            ..at(function(9), STACK - WORD)
        };
        shadow.step(&before, &after, &memory).expect("followed");
        shadow.calls().last().map(Call::stands_at)
    };
    let throwing = pc - 7;
    assert_eq!(stands_at(Code::Throw, throwing), Some(throwing));
    // The register has any value at other calls.
    assert_eq!(stands_at(Code::Throw, pc - 0x40), Some(ret));
    assert_eq!(stands_at(Code::Throw, ret), Some(ret));
    assert_eq!(stands_at(Code::Stub, throwing), Some(ret));
}

/// What a thread does.
#[derive(Clone, Debug)]
enum Act {
    /// It calls the function of this number, by an instruction of this length.
    Call(usize, usize),
    /// It returns by `ret`.
    Return,
    /// It returns as the interpreter does: the return address is popped, the stack pointer rises to the end
    /// of the arguments, and a jump follows.
    JumpBack,
    /// An adapter moves its return address down by some words, and jumps to another function.
    Adapt(usize, usize),
    /// It pushes a word that is no return address.
    Push(usize),
    /// It pops such a word.
    Pop,
    /// An exception handler of the caller continues, at an address behind the call.
    Throw,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..50_usize, 1..=15_usize).prop_map(|(to, length)| Act::Call(to, length)),
        3 => Just(Act::Return),
        2 => Just(Act::JumpBack),
        2 => (0..50_usize, 0..4_usize).prop_map(|(to, words)| Act::Adapt(to, words)),
        3 => any::<usize>().prop_map(|word| Act::Push(word & 0xfff)),
        3 => Just(Act::Pop),
        1 => Just(Act::Throw),
    ]
}

/// A call, as the model knows it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Known {
    ret: usize,
    slot: usize,
    /// The stack pointer before the call: an adapter may have put words between.
    sp: usize,
}

struct Machine {
    place: Place,
    memory: HashMap<usize, usize>,
    known: Vec<Known>,
    shadow: Shadow,
    acts: usize,
}

impl Stack for HashMap<usize, usize> {
    fn word(&self, address: usize) -> usize {
        self.get(&address).copied().unwrap_or(0)
    }

    /// The word that no slot can have as its address.
    fn throwing(&self) -> usize {
        self.word(REGISTER)
    }

    /// The functions from [`INTERPRETER`] on are the interpreter.
    fn is_invoke_return(&self, pc: usize) -> bool {
        pc >= function(INTERPRETER)
    }

    /// The stubs of all code begin there.
    fn is_in_stubs(&self, _: Piece, pc: usize) -> bool {
        pc & 0xffff >= STUBS
    }
}

/// Where the memory has the register of [`Stack::throwing`].
const REGISTER: usize = 1;

/// The first function that is the interpreter.
const INTERPRETER: usize = 1000;

/// Where the stubs of a function begin.
const STUBS: usize = 0xf000;

fn function(number: usize) -> usize {
    CODE + number * 0x1_0000
}

impl Machine {
    fn new() -> Machine {
        Machine {
            place: at(function(0), STACK),
            memory: HashMap::new(),
            known: vec![],
            shadow: Shadow::new(1000),
            acts: 0,
        }
    }

    /// One instruction.
    fn step(&mut self, pc: usize, sp: usize) {
        let after = at(pc, sp);
        self.shadow
            .step(&self.place, &after, &self.memory)
            .expect("all code is followed");
        self.place = after;
    }

    fn push(&mut self, word: usize, pc: usize) {
        self.place.flow = Flow::Push;
        let sp = self.place.sp - WORD;
        self.memory.insert(sp, word);
        self.step(pc, sp);
    }

    /// The newest call, if nothing lies above its return address.
    fn at_return(&self) -> Option<Known> {
        let newest = self.known.last()?;
        (newest.slot == self.place.sp).then(|| newest.clone())
    }

    fn run(&mut self, act: &Act) {
        // No two acts have an instruction in common: an instruction that calls does not pop.
        self.acts += 1;
        let Place { pc, sp, .. } = self.place;
        self.step(blob(pc) + 0x20 * self.acts, sp);
        let pc = self.place.pc;
        match *act {
            Act::Call(to, length) => {
                let ret = pc + length;
                self.known.push(Known {
                    ret,
                    slot: sp - WORD,
                    sp,
                });
                self.push(ret, function(to));
            }
            Act::Push(word) => self.push(word, pc + 2),
            Act::Pop => {
                let end = self.known.last().map_or(STACK, |newest| newest.slot);
                if sp < end {
                    self.step(pc + 1, sp + WORD);
                }
            }
            Act::Return => {
                if let Some(newest) = self.at_return() {
                    self.known.pop();
                    self.step(newest.ret, sp + WORD);
                    self.drop_arguments(&newest);
                }
            }
            Act::JumpBack => {
                if let Some(newest) = self.at_return() {
                    self.step(pc + 2, sp + WORD);
                    self.step(pc + 5, newest.sp);
                    self.known.pop();
                    self.step(newest.ret, newest.sp);
                }
            }
            Act::Adapt(to, words) => {
                if let Some(newest) = self.at_return() {
                    match words % 2 {
                        0 => {
                            self.step(pc + 1, sp + WORD);
                            self.step(pc + 5, sp + WORD - words * WORD);
                        }
                        // The first copy stays where it is.
                        _ => self.step(pc + 5, sp - words * WORD),
                    }
                    self.place.code = Code::Stub;
                    self.push(newest.ret, pc + 6);
                    let sp = self.place.sp;
                    self.known.last_mut().expect("it is there").slot = sp;
                    self.step(function(to), sp);
                }
            }
            Act::Throw => {
                let in_another = |newest: &Known| blob(newest.ret) != blob(pc);
                if let Some(newest) = self.at_return().filter(in_another) {
                    self.step(pc + 1, sp + WORD);
                    self.known.pop();
                    self.step(newest.ret + 64, newest.sp);
                }
            }
        }
    }

    /// The caller removes what adapters have left.
    fn drop_arguments(&mut self, newest: &Known) {
        if self.place.sp < newest.sp {
            self.step(self.place.pc + 4, newest.sp);
        }
    }
}

fn blob(pc: usize) -> usize {
    pc & !0xffff
}

fn at(pc: usize, sp: usize) -> Place {
    Place {
        pc,
        sp,
        fp: 0,
        code: Code::Compiled,
        piece: Piece {
            blob: blob(pc),
            id: 0,
        },
        flow: Flow::Other,
    }
}

proptest! {
    #[test]
    fn the_calls_are_those_of_the_model(acts in prop::collection::vec(act(), 0..300)) {
        let mut machine = Machine::new();
        for act in &acts {
            machine.run(act);
            let calls = machine.shadow.calls().iter().map(|call| (call.ret, call.slot));
            let known = machine.known.iter().map(|known| (known.ret, known.slot));
            prop_assert_eq!(calls.collect::<Vec<_>>(), known.collect::<Vec<_>>(), "after {:?}", act);
        }
    }
}

#[test]
fn a_call_stays_while_a_register_has_its_return_address() {
    let mut machine = Machine::new();
    machine.run(&Act::Call(1, 5));
    let (sp, ret) = (machine.place.sp, machine.known[0].ret);
    machine.step(function(1) + 1, sp + WORD);
    let newest = machine.shadow.calls().last().copied();
    assert_eq!(newest.map(|call| (call.ret, call.slot)), Some((ret, 0)));
    machine.step(ret, sp + WORD);
    assert!(machine.shadow.calls().is_empty());
}

/// The steps begin in the VM, which the interpreter has called behind a word that looks like the return address.
#[test]
fn a_word_that_the_interpreter_pops_was_no_call_of_its_own() {
    let (fp, word, sp) = (STACK - 0x100, function(0) + 0x90, STACK - 0x200);
    let calls_after = |is_invoke: bool| {
        let mut shadow = Shadow::new(8);
        let call = Call {
            slot: sp,
            ret: word,
            fp,
            code: Code::Interpreter,
            is_invoke,
            ..Call::default()
        };
        shadow.push(call).expect("there is room");
        let interpreter = |pc, sp| Place {
            code: Code::Interpreter,
            fp,
            ..at(pc, sp)
        };
        let memory = HashMap::from([(sp, word)]);
        let (before, after) = (
            interpreter(function(0) + 0x40, sp),
            interpreter(function(0) + 0x42, sp + WORD),
        );
        shadow.step(&before, &after, &memory).expect("followed");
        shadow.calls().len()
    };
    assert_eq!(calls_after(false), 0);
    // The interpreter pops the return address of a method that it leaves, and jumps there.
    assert_eq!(calls_after(true), 1);
}

#[test]
fn a_call_of_a_handler_tells_where_the_exception_came_from() {
    let origin_of_next_call = |instructions: usize| {
        let mut machine = Machine::new();
        machine.run(&Act::Call(1, 5));
        let thrower = machine.known[0].ret;
        machine.run(&Act::Throw);
        for _ in 0..instructions {
            machine.step(machine.place.pc + 16, machine.place.sp);
        }
        let pc = machine.place.pc;
        machine.push(pc + 5, function(9));
        let newest = machine.shadow.calls().last().copied();
        (newest.map(|call| call.origin), thrower)
    };
    let (origin, thrower) = origin_of_next_call(0);
    assert_eq!(origin, Some(thrower));
    // Later calls are those of other code.
    let (origin, _) = origin_of_next_call(4);
    assert_eq!(origin, Some(0));
}

#[test]
fn equal_calls_at_other_places_have_equal_hashes() {
    let hash = |words: usize| {
        let mut machine = Machine::new();
        for _ in 0..words {
            machine.run(&Act::Push(0));
        }
        machine.acts = 100;
        machine.run(&Act::Call(1, 5));
        machine.shadow.hash()
    };
    assert_eq!(hash(0), hash(7));
    assert_ne!(hash(0), 0);
}

#[test]
fn code_that_moves_frames_is_not_followed() {
    let mut machine = Machine::new();
    let after = Place {
        code: Code::NotFollowed,
        ..at(function(9), STACK)
    };
    let followed = machine.shadow.step(&machine.place, &after, &machine.memory);
    assert_eq!(followed, Err(Lost::Code));
    for (name, code) in [
        ("StubRoutines (continuation stubs)", Code::NotFollowed),
        ("DeoptimizationBlob", Code::Deoptimization),
        ("Shared Runtime deopt_blob", Code::Deoptimization),
        ("UncommonTrapBlob", Code::Deoptimization),
        ("C2 Runtime uncommon_trap_blob", Code::Deoptimization),
        ("C1 Runtime deoptimize_blob", Code::Stub),
        ("C1 Runtime handle_exception_nofpu_blob", Code::Throw),
        ("handle_exception Runtime1 stub", Code::Throw),
        ("handle_exception_from_callee Runtime1 stub", Code::Stub),
        ("handle_exception_nofpu_blob (C1 runtime)", Code::Throw),
        ("unwind_exception_blob (C1 runtime)", Code::Stub),
        ("deoptimize_blob (C1 runtime)", Code::Stub),
        ("rethrow_blob (C2 runtime)", Code::Stub),
        ("exception_blob (C2 runtime)", Code::Exception),
        ("uncommon_trap_blob (C2 runtime)", Code::Deoptimization),
        (
            "polling_page_return_handler_blob (shared runtime)",
            Code::Poll,
        ),
        ("SafepointBlob", Code::Poll),
        (
            "Shared Runtime polling_page_return_handler_blob",
            Code::Poll,
        ),
        ("ExceptionBlob", Code::Exception),
        ("nmethod", Code::Compiled),
        ("native nmethod", Code::NativeWrapper),
        ("I2C/C2I adapters", Code::Stub),
    ] {
        assert_eq!(Code::of(name.as_bytes()), code, "{name}");
    }
}

/// The machine calls a compiled function, which is about to run its instruction at 0x10.
fn in_callee() -> Machine {
    let mut machine = Machine::new();
    machine.run(&Act::Call(1, 5));
    machine.step(function(1) + 0x10, machine.place.sp - 4 * WORD);
    machine
}

impl Machine {
    /// One instruction with these bytes, to code of another kind.
    fn step_to(&mut self, bytes: [u8; 2], code: Code, pc: usize, sp: usize) {
        self.step_with_fp(0, bytes, code, pc, sp);
    }

    /// As [`Machine::step_to`], with this frame pointer.
    fn step_with_fp(&mut self, fp: usize, bytes: [u8; 2], code: Code, pc: usize, sp: usize) {
        self.place.flow = X86_64::flow(bytes);
        let after = Place {
            fp,
            code,
            ..at(pc, sp)
        };
        self.shadow
            .step(&self.place, &after, &self.memory)
            .expect("the code is followed");
        self.place = after;
    }

    fn rets(&self) -> Vec<(usize, usize)> {
        let calls = self.shadow.calls().iter();
        calls.map(|call| (call.ret, call.slot)).collect()
    }
}

const TEST: [u8; 2] = [0x85, 0];
const JUMP: [u8; 2] = [0xe9, 0];
const PUSH: [u8; 2] = [0x53, 0];
const POP: [u8; 2] = [0x5b, 0];

#[test]
fn a_poll_that_faults_is_a_call_that_returns_behind_the_poll() {
    let mut machine = in_callee();
    let Place { pc, sp, .. } = machine.place;
    let callers = machine.rets();
    machine.step_to(TEST, Code::Poll, function(9), sp);
    assert_eq!(machine.rets(), [callers.clone(), vec![(pc, 0)]].concat());
    machine.step_to(PUSH, Code::Poll, function(9) + 1, sp - WORD);
    assert_eq!(machine.rets().last(), Some(&(pc, sp - WORD)));
    // The stub lets the method go on behind its poll.
    machine.memory.insert(sp - WORD, pc + 2);
    machine.step_to([0xc3, 0], Code::Compiled, pc + 2, sp);
    assert_eq!(machine.rets(), callers);
    // A poll at a return jumps to the stub. The frame is gone, and the caller's call is there.
    machine.step_to(JUMP, Code::Poll, function(9), sp);
    assert_eq!(machine.rets(), callers);
}

#[test]
fn the_stub_for_exceptions_has_the_frame_of_the_method_that_looks_for_its_handler() {
    let mut machine = in_callee();
    let callers = machine.rets();
    let caller = machine.known[0].clone();
    machine.run(&Act::Call(2, 5));
    let thrower = machine.known[1].clone();
    // The callee ends by a jump to the handler stub of function 1, which jumps on.
    machine.step(machine.place.pc + 1, thrower.sp);
    machine.step(function(1) + STUBS, thrower.sp);
    assert_eq!(machine.rets(), callers);
    machine.step_to(JUMP, Code::Exception, function(9), thrower.sp);
    assert_eq!(machine.rets().last(), Some(&(thrower.ret, 0)));
    machine.memory.insert(thrower.sp - WORD, thrower.ret);
    machine.step_to(PUSH, Code::Exception, function(9) + 1, thrower.sp - WORD);
    assert_eq!(
        machine.rets().last(),
        Some(&(thrower.ret, thrower.sp - WORD))
    );
    machine.step_to([0x5a, 0], Code::Exception, function(9) + 2, thrower.sp);
    machine.step_to(
        [0x41, 0xff],
        Code::Compiled,
        function(1) + 0x100,
        thrower.sp,
    );
    assert_eq!(machine.rets(), [(caller.ret, caller.slot)]);
}

/// A compiled method is deoptimised where its callee returns. Two interpreter frames take the place of its frame.
#[test]
fn interpreter_frames_take_the_place_of_a_compiled_frame() {
    let mut machine = in_callee();
    let caller = machine.known[0].clone();
    machine.run(&Act::Call(2, 5));
    let callee = machine.known[1].clone();
    // The VM has changed the return address.
    let handler = function(1) + STUBS;
    machine.memory.insert(callee.slot, handler);
    machine.step_to([0xc3, 0], Code::Compiled, handler, callee.sp);
    assert_eq!(machine.rets(), [(caller.ret, caller.slot)]);
    let sp = callee.sp - WORD;
    machine.memory.insert(sp, handler);
    machine.step_to([0x41, 0x52], Code::Compiled, handler + 12, sp);
    let newest = machine.shadow.calls().last().copied().expect("a call");
    assert_eq!(
        (newest.ret, newest.slot, newest.origin),
        (handler, sp, callee.ret)
    );
    machine.step_to(JUMP, Code::Deoptimization, function(9), sp);
    assert_eq!(machine.rets().len(), 2);
    // The frame goes, and frames are pushed.
    machine.step_to(
        [0x48, 1],
        Code::Deoptimization,
        function(9) + 4,
        caller.slot,
    );
    assert!(machine.shadow.is_replacing());
    let invoke = function(INTERPRETER) + 0x40;
    let (outer, inner) = (caller.slot - 0x20, caller.slot - 0x100);
    for (at, word) in [
        (outer + WORD, caller.ret),
        (outer, 0x77),
        (outer - FRAME.method, 0x1111),
        (outer - FRAME.bcp, 0x2222),
        (inner + WORD, invoke),
        (inner, outer),
    ] {
        machine.memory.insert(at, word);
    }
    machine.place.flow = Flow::Leave;
    let after = Place {
        fp: inner,
        code: Code::Interpreter,
        ..at(function(INTERPRETER), inner - 0x80)
    };
    let followed = machine.shadow.step(&machine.place, &after, &machine.memory);
    assert_eq!(followed, Ok(()));
    assert!(!machine.shadow.is_replacing());
    assert_eq!(
        machine.rets(),
        [(caller.ret, outer + WORD), (invoke, inner + WORD)]
    );
    let newest = machine.shadow.calls()[1];
    assert_eq!(
        (newest.method, newest.bcp, newest.fp),
        (0x1111, 0x2222, outer)
    );
}

/// Where C2 has compiled the method, the handler calls its next instruction, and lowers the return address.
#[test]
fn a_method_that_is_to_be_deoptimised_may_call_its_next_instruction() {
    let mut machine = in_callee();
    machine.run(&Act::Call(2, 5));
    let callee = machine.known[1].clone();
    let handler = function(1) + STUBS;
    machine.memory.insert(callee.slot, handler);
    machine.step_to([0xc3, 0], Code::Compiled, handler, callee.sp);
    let sp = callee.sp - WORD;
    machine.memory.insert(sp, handler + 5);
    machine.step_to([0xe8, 0], Code::Compiled, handler + 5, sp);
    machine.memory.insert(sp, handler);
    machine.step_to([0x48, 0x83], Code::Compiled, handler + 10, sp);
    machine.step_to(JUMP, Code::Deoptimization, function(9), sp);
    let newest = machine.shadow.calls().last().copied().expect("a call");
    assert_eq!(
        (newest.ret, newest.slot, newest.origin),
        (handler, sp, callee.ret)
    );
}

/// From JDK 26 on the caller goes on at the second instruction of the handler, which jumps to the first, a call.
#[test]
fn a_method_that_is_to_be_deoptimised_may_go_on_behind_the_call_of_its_handler() {
    let mut machine = in_callee();
    machine.run(&Act::Call(2, 5));
    let callee = machine.known[1].clone();
    let start = function(1) + STUBS;
    let entry = start + 5;
    machine.memory.insert(callee.slot, entry);
    machine.step_to([0xc3, 0], Code::Compiled, entry, callee.sp);
    machine.step_to([0xeb, 0], Code::Compiled, start, callee.sp);
    let sp = callee.sp - WORD;
    machine.memory.insert(sp, entry);
    machine.step_to([0xe8, 0], Code::Deoptimization, function(9), sp);
    let newest = machine.shadow.calls().last().copied().expect("a call");
    assert_eq!(
        (newest.ret, newest.slot, newest.origin),
        (entry, sp, callee.ret)
    );
}

/// The stub of the entry barrier removes the frame of a method that may not begin. The caller's call is under way.
#[test]
fn a_method_that_may_not_begin_has_no_frame_once_the_stub_has_removed_it() {
    let mut machine = in_callee();
    let caller = machine.known[0].clone();
    machine.run(&Act::Call(2, 5));
    let barrier = machine.known[1].clone();
    machine.step_to(PUSH, Code::Stub, function(2) + 2, barrier.slot - WORD);
    assert_eq!(machine.rets().len(), 2);
    // mov rsp, [rsp]
    machine.step_to([0x48, 0x8b], Code::Stub, function(2) + 6, caller.slot);
    assert_eq!(machine.rets(), [(caller.ret, caller.slot)]);
    machine.step_to([0xff, 0x64], Code::Stub, function(9), caller.slot);
    assert_eq!(machine.rets(), [(caller.ret, caller.slot)]);
}

/// A template of the interpreter calls code of its own, which keeps the bytecode pointer in the frame and calls the VM.
#[test]
fn a_frame_of_the_interpreter_stands_where_it_called_the_vm() {
    let mut machine = in_callee();
    let pc = function(5);
    let slot = machine.shadow.calls().last().map_or(0, |call| call.slot);
    let (fp, sp) = (slot - WORD, slot - 0x100);
    let to = |machine: &mut Machine, bytes, code, pc, sp| {
        machine.step_with_fp(fp, bytes, code, pc, sp);
    };
    to(&mut machine, JUMP, Code::Interpreter, pc, sp);
    machine.memory.insert(fp - FRAME.bcp, 0x2222);
    machine.memory.insert(sp - WORD, pc + 5);
    to(
        &mut machine,
        [0xe8, 0],
        Code::Interpreter,
        pc + 0x20,
        sp - WORD,
    );
    machine.memory.insert(fp - FRAME.bcp, 0x3333);
    machine.memory.insert(sp - 2 * WORD, pc + 0x22);
    to(
        &mut machine,
        [0xff, 0xd0],
        Code::Outside,
        0x10,
        sp - 2 * WORD,
    );
    to(
        &mut machine,
        [0xc3, 0],
        Code::Interpreter,
        pc + 0x22,
        sp - WORD,
    );
    let newest = machine.shadow.calls().last();
    let newest = newest.map(|call| (call.ret, call.bcp));
    assert_eq!(newest, Some((pc + 5, 0x3333)));
}

/// A debug build saves registers in a row around a check. One of them has the return address of an invocation that is over.
#[test]
fn a_saved_register_with_an_old_return_address_is_no_invocation() {
    let mut machine = in_callee();
    let (pc, sp) = (function(INTERPRETER), machine.place.sp);
    let invoke = pc + 0x40;
    let mut to = |bytes, pc, sp, word| {
        machine.memory.insert(sp, word);
        machine.step_with_fp(sp + 0x80, bytes, Code::Interpreter, pc, sp);
        machine.rets().len()
    };
    to(JUMP, pc, sp, 0);
    let before = to(PUSH, pc + 1, sp - WORD, 0x77);
    assert_eq!(
        to(PUSH, pc + 2, sp - 2 * WORD, invoke),
        before,
        "the second push in a row"
    );
    to(POP, pc + 3, sp - WORD, 0x77);
    to(POP, pc + 4, sp, 0);
    assert_eq!(
        to(PUSH, pc + 5, sp - WORD, invoke),
        before + 1,
        "a push alone"
    );
}

/// An entry of the interpreter calls a stub, and has no frame. The frame pointer is that of an interpreted caller further down.
#[test]
fn an_entry_of_the_interpreter_that_calls_a_stub_has_no_frame() {
    let mut machine = in_callee();
    let (pc, sp, fp) = (function(5), machine.place.sp, STACK + 0x80);
    for (at, word) in [
        (fp - FRAME.method, 0x1111),
        (fp - FRAME.bcp, 0x2222),
        (sp - WORD, pc + 5),
    ] {
        machine.memory.insert(at, word);
    }
    machine.step_with_fp(fp, JUMP, Code::Interpreter, pc, sp);
    machine.step_with_fp(fp, [0xe8, 0], Code::Stub, function(9), sp - WORD);
    let newest = machine.shadow.calls().last();
    let newest = newest.map(|call| (call.ret, call.has_frames(), call.method));
    assert_eq!(newest, Some((pc + 5, false, 0)));
}

#[test]
fn frames_that_do_not_lead_to_the_caller_end_the_steps() {
    let mut machine = in_callee();
    let caller = machine.known[0].clone();
    machine.run(&Act::Call(2, 5));
    machine.step_to(JUMP, Code::Deoptimization, function(9), machine.place.sp);
    machine.step_to(
        [0x48, 1],
        Code::Deoptimization,
        function(9) + 4,
        caller.slot,
    );
    let after = Place {
        fp: caller.slot - 0x20,
        code: Code::Interpreter,
        ..at(function(INTERPRETER), caller.slot - 0x80)
    };
    let followed = machine.shadow.step(&machine.place, &after, &machine.memory);
    assert_eq!(followed, Err(Lost::Code));
}

/// A method has run to its end if its call and its return were seen.
#[test]
fn a_method_that_was_entered_and_left_has_ended() {
    let mut machine = Machine::new();
    machine.run(&Act::Call(1, 5));
    let callee = machine.place.piece;
    assert_eq!(machine.shadow.calls()[0].callee, callee);
    machine.run(&Act::Push(1));
    machine.run(&Act::Pop);
    machine.acts = 1;
    let ret = machine.known[0].ret;
    machine.step(ret, STACK);
    assert_eq!(machine.shadow.ended(), Some(callee));
    // Who is left without a return has not.
    let mut machine = Machine::new();
    machine.run(&Act::Call(1, 5));
    machine.run(&Act::JumpBack);
    assert_eq!(machine.shadow.ended(), None);
}

#[test]
fn a_call_behind_a_fault_is_not_followed() {
    let mut machine = Machine::new();
    // The VM's signal handler has moved the program counter to a call of another function.
    let before = Place {
        flow: Flow::Other,
        ..machine.place
    };
    let word = before.pc + 0x400;
    machine.memory.insert(before.sp - WORD, word);
    let after = at(function(9), before.sp - WORD);
    let followed = machine.shadow.step(&before, &after, &machine.memory);
    assert_eq!(followed, Err(Lost::Code));
}
