//! Trace stacks against programs that call, return and throw: the entries must be those of the
//! active frames, whether frames name entries by token or by id.
//!
//! The model knows which frame made which entry. So a hook of a frame takes that frame's entry and
//! all above. The trace stack must get the same result by tokens and ids alone.
//!
//! Plain hooks take the newest entry instead, whatever it is. If it is another's, the trace stack must claim nothing
//! until all such entries are gone.

use super::by_java::{enter_plainly, exit_plainly, pop_plainly, push_plainly};
use super::{StackCopy, TraceStack, copy_of, stack};
use crate::truth::trace_stack::Token;
use oracle::tally::Drop;
use oracle::trace::HookId;
use proptest::prelude::*;

/// The kinds of methods with a hook, by id: three that keep no token, two of them with plain hooks; two with a handler,
/// one of them with plain hooks; and two constructors that an exception may leave without a hook.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Kind {
    Asking,
    Plain,
    Handler,
    PlainHandler,
    Constructor,
}

fn kind(hook: u32) -> Kind {
    match hook {
        1 => Kind::Asking,
        2 | 3 => Kind::Plain,
        4 => Kind::Handler,
        5 => Kind::PlainHandler,
        _ => Kind::Constructor,
    }
}

/// The ids.
const HOOKS: std::ops::RangeInclusive<u32> = 1..=7;

/// An entry, and the frame that made it.
#[derive(Copy, Clone, Debug)]
struct Entry {
    hook: u32,
    token: Token,
    active: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Call(u32),
    Return,
    /// An exception leaves this many frames. Constructors have no hook for the exception if `leaks`
    /// says so.
    Throw {
        frames: usize,
        leaks: bool,
    },
    /// GetStackTrace is asked.
    Settle,
    /// An error of the VM ends some frames without a hook, then leaves some frames.
    VmError {
        unseen: usize,
        frames: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => HOOKS.prop_map(Step::Call),
        3 => Just(Step::Return),
        2 => (0..6usize, any::<bool>()).prop_map(|(frames, leaks)| Step::Throw { frames, leaks }),
        1 => (0..4usize, 0..6usize).prop_map(|(unseen, frames)| Step::VmError { unseen, frames }),
        1 => Just(Step::Settle),
    ]
}

struct Program {
    stack: TraceStack,
    entries: Vec<Entry>,
}

impl Program {
    fn newest_frame(&self) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.active)
    }

    fn call(&mut self, hook: u32) {
        let token = match kind(hook) {
            Kind::Plain => {
                enter_plainly(&self.stack, hook);
                Token::sure(self.stack.depth() - 1)
            }
            Kind::PlainHandler => Token::sure(push_plainly(&self.stack, hook)),
            _ => {
                self.stack.notice();
                self.stack.push(HookId(hook))
            }
        };
        let active = true;
        self.entries.push(Entry {
            hook,
            token,
            active,
        });
    }

    /// The newest frame returns.
    fn end(&mut self) {
        let Some(at) = self.newest_frame() else {
            return;
        };
        let Entry { hook, token, .. } = self.entries[at];
        match kind(hook) {
            Kind::Plain => {
                exit_plainly(&self.stack, hook);
                self.entries[at].active = false;
                self.entries.pop();
            }
            Kind::PlainHandler => {
                pop_plainly(&self.stack, token.depth);
                self.entries.truncate(at);
            }
            Kind::Asking | Kind::Handler | Kind::Constructor => self.pop(),
        }
    }

    /// The newest frame runs a native hook that takes its entry.
    fn pop(&mut self) {
        let Some(at) = self.newest_frame() else {
            return;
        };
        self.stack.notice();
        let Entry { hook, token, .. } = self.entries[at];
        let token = match kind(hook) {
            Kind::Asking | Kind::Plain => {
                self.stack.newest(HookId(hook)).expect("its entry is there")
            }
            Kind::Handler | Kind::PlainHandler | Kind::Constructor => Token::sure(token.depth),
        };
        self.stack.pop(token);
        self.entries.truncate(at);
    }

    fn settle(&mut self) {
        self.stack.notice();
        if !self.stack.may_be_settled() {
            return;
        }
        let active = self.entries.iter().filter(|entry| entry.active);
        let active: Vec<_> = active.map(|entry| HookId(entry.hook)).collect();
        let may_lack = |hook: HookId| kind(hook.0) == Kind::Constructor;
        self.stack.settle(&active, may_lack);
        if !self.stack.is_doubtful() {
            let frames = self.newest_frame().map_or(0, |at| at + 1);
            self.entries.truncate(frames);
        }
    }

    fn end_without_hook(&mut self) {
        if let Some(at) = self.newest_frame() {
            self.entries[at].active = false;
        }
    }

    fn leave(&mut self, frames: usize, leaks: bool) {
        for _ in 0..frames {
            match self.newest_frame().map(|at| kind(self.entries[at].hook)) {
                Some(Kind::Constructor) if leaks => self.end_without_hook(),
                _ => self.pop(),
            }
            self.stack.notice();
            self.stack.leave();
        }
    }

    /// The newest frame catches the exception, if it has a handler. Else code without hooks catches
    /// the exception.
    fn catch(&mut self) {
        let Some(at) = self.newest_frame() else {
            return;
        };
        let newest = kind(self.entries[at].hook);
        if matches!(newest, Kind::Handler | Kind::PlainHandler) {
            self.stack.notice();
            self.stack.catch(Token::sure(self.entries[at].token.depth));
            self.entries.truncate(at + 1);
        }
    }

    fn vm_error(&mut self, unseen: usize, frames: usize) {
        for _ in 0..unseen {
            self.end_without_hook();
        }
        // Without any hook the error cannot be noticed, so at least one frame has a hook.
        for _ in 0..=frames {
            let newest = self.newest_frame().map(|at| kind(self.entries[at].hook));
            if matches!(newest, Some(Kind::Asking | Kind::Plain)) {
                self.stack.notice();
                self.stack.doubt();
            }
            self.pop();
            self.stack.leave();
        }
        if self.newest_frame().is_none() {
            // The thread has ended.
            self.stack.clear();
            self.entries.clear();
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Call(hook) => self.call(hook),
            Step::Return => self.end(),
            Step::Throw { frames, leaks } => {
                self.leave(frames, leaks);
                self.catch();
            }
            Step::Settle => self.settle(),
            Step::VmError { unseen, frames } => {
                self.vm_error(unseen, frames);
                self.catch();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn entries_are_those_of_the_frames_or_in_doubt(steps in prop::collection::vec(step(), 0..60)) {
        let mut program = Program { stack: stack(), entries: vec![] };
        let mut may_doubt = false;
        for step in steps {
            // Plain hooks do not pass over the entries of constructors that an exception has left.
            may_doubt |= matches!(step, Step::VmError { .. } | Step::Throw { leaks: true, .. });
            program.step(step);
            let mut copy = StackCopy::new(1 << 12).expect("memory");
            if program.stack.copy_to(&mut copy) == Err(Drop::InDoubt) {
                prop_assert!(may_doubt);
                continue;
            }
            let is_there = |entry: &&Entry| entry.active || kind(entry.hook) == Kind::Constructor;
            let entries = program.entries.iter().filter(is_there);
            let entries: Vec<_> = entries.map(|entry| HookId(entry.hook)).collect();
            prop_assert_eq!(copy_of(&program.stack).hooks().collect::<Vec<_>>(), entries);
        }
    }
}
