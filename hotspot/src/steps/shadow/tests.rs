//! The shadow stack against a model that knows its calls.

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

const STACK: usize = 0x10_0000;
const CODE: usize = 0x100_0000;

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

    fn is_invoke_return(&self, _: usize) -> bool {
        false
    }
}

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
        self.place.bytes = [0x50, 0];
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
        bytes: [0x90, 0],
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
fn code_that_replaces_frames_is_not_followed() {
    let mut machine = Machine::new();
    let after = Place {
        code: Code::NotFollowed,
        ..at(function(9), STACK)
    };
    let followed = machine.shadow.step(&machine.place, &after, &machine.memory);
    assert_eq!(followed, Err(Lost::Code));
    for name in [
        "DeoptimizationBlob",
        "UncommonTrapBlob",
        "SafepointBlob",
        "ExceptionBlob",
    ] {
        assert_eq!(Code::of(name.as_bytes()), Code::NotFollowed, "{name}");
    }
    assert_eq!(Code::of(b"nmethod"), Code::Compiled);
    assert_eq!(Code::of(b"native nmethod"), Code::NativeWrapper);
    assert_eq!(Code::of(b"I2C/C2I adapters"), Code::Stub);
}

#[test]
fn a_call_behind_a_fault_is_not_followed() {
    let mut machine = Machine::new();
    // The VM's signal handler has moved the program counter to a call of another function.
    let before = Place {
        bytes: [0x48, 0x8b],
        ..machine.place
    };
    let word = before.pc + 0x400;
    machine.memory.insert(before.sp - WORD, word);
    let after = at(function(9), before.sp - WORD);
    let followed = machine.shadow.step(&before, &after, &machine.memory);
    assert_eq!(followed, Err(Lost::Code));
}
