//! Classes, methods and threads, and the findings on stacks. Who asks twice about the same stack gets the same answer
//! ([`Memo`]).

use hotspot::runtime::{HotSpot, add_class};
use oracle::edge::{self, Finding, Judge, MethodId, Starts, ThreadStart, Unknown};
use oracle::trace::{Frame, MethodKey};
use rustc_hash::FxBuildHasher;
use std::cell::RefCell;
use std::collections::HashMap;

/// The known classes, the judge, and the judge's findings.
pub(super) struct Walks {
    judge: Judge,
    /// The method that stands for methods that are gone.
    nobody: MethodId,
    /// The walkers' keys that were looked up; `None` for a method that is gone.
    methods: HashMap<usize, Option<MethodId>, FxBuildHasher>,
    starts: Starts<Thread>,
    /// How often GetStackTrace was asked how a thread started.
    asked: HashMap<Thread, u32, FxBuildHasher>,
    /// The newest stack of each thread.
    newest: HashMap<Thread, JudgedStack, FxBuildHasher>,
    frames: Vec<edge::EdgeFrame>,
    found: Vec<Finding>,
}

/// The identity of a thread: the address of its state, and its kernel id.
pub type Thread = (usize, i32);

/// A method that the VM was asked about.
pub(super) struct Named {
    /// Internal name of its class, its name and descriptor.
    pub(super) names: [String; 3],
    /// The class file of its class, if the class is hidden, because no event shows hidden classes.
    pub(super) hidden: Option<Vec<u8>>,
    /// The fingerprint of its code, if it has any.
    pub(super) code: Option<u64>,
}

/// The result of judging a stack.
pub(super) enum Judged {
    /// The findings. The edges of a method that is gone are unknown.
    Found(Vec<Finding>),
    /// The VM must be asked about these methods first.
    Ask(Vec<MethodKey>),
}

/// The largest number of threads whose stacks are remembered, so that stacks of ended threads do
/// not pile up.
const REMEMBERED: usize = 256;

/// The largest number of methods that are remembered. Those of unloaded classes never come again.
const METHODS: usize = 1 << 16;

/// The largest number of threads whose starts are remembered. Nobody says when a thread has ended.
const STARTED: usize = 16_384;

/// How often GetStackTrace is asked how a thread started. Once is not enough, because the main
/// thread runs the launcher's methods first.
const TRIES: u32 = 100;

/// A stack, and the findings on it.
#[derive(Default)]
struct JudgedStack {
    stack: Vec<Frame>,
    findings: Vec<Finding>,
    start: Option<ThreadStart>,
    version: u32,
}

impl JudgedStack {
    /// How many frames at the bottom of `stack` are also those of this stack, so that the findings
    /// on them are valid for both: most frames, as a rule.
    fn shared(&self, stack: &[Frame], start: ThreadStart, version: u32) -> usize {
        let pairs = self.stack.iter().rev().zip(stack.iter().rev());
        let same = pairs.take_while(|(own, other)| own == other).count();
        let possible = |finding: &Finding| matches!(finding, Finding::Possible(_));
        // More classes make no possible edge impossible.
        let hold = self.start == Some(start)
            && (self.version == version || self.lowest(same).iter().all(possible));
        if hold { same } else { 0 }
    }

    /// The findings on the lowest frames: on the edges between them, and on the lowest edge.
    fn lowest(&self, frames: usize) -> &[Finding] {
        &self.findings[self.findings.len() - frames..]
    }
}

impl Walks {
    /// Walks without methods. `launched` says whether the JDK's launcher started the VM.
    pub(super) fn new(launched: bool) -> Walks {
        let mut judge = Judge::new(&HotSpot);
        Walks {
            nobody: judge.world_mut().method(b"", b"", b""),
            judge,
            methods: HashMap::default(),
            starts: Starts::new(launched),
            asked: HashMap::default(),
            newest: HashMap::default(),
            frames: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Adds a class file that the VM got.
    pub(super) fn read(&mut self, class_file: &[u8]) -> Result<(), classfile::Malformed> {
        add_class(self.judge.world_mut(), class_file)
    }

    /// Adds the VM's answer on a method; `None` if the method is gone.
    pub(super) fn add(&mut self, key: MethodKey, named: Option<Named>) {
        let method = named.and_then(|named| self.method_of(&named));
        if self.methods.len() >= METHODS {
            self.methods.clear();
        }
        self.methods.insert(key.0, method);
    }

    fn method_of(&mut self, named: &Named) -> Option<MethodId> {
        if let Some(class_file) = &named.hidden {
            self.read(class_file).ok()?;
        }
        Some(self.number(named))
    }

    fn number(&mut self, named: &Named) -> MethodId {
        let [class, name, descriptor] = &named.names;
        let world = self.judge.world_mut();
        world.method(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
    }

    /// Whether no class file that was read so far has the code of the method: another agent has changed
    /// the code after ours. What the VM makes by itself is not meant.
    pub(super) fn is_altered(&mut self, named: &Named) -> bool {
        let method = self.number(named);
        let world = self.judge.world();
        let is_unknown = |code| !world.has_code(method, code);
        named.hidden.is_none() && world.is_ordinary(method) && named.code.is_some_and(is_unknown)
    }

    /// What the method's class calls is not what its class file says.
    pub(super) fn distrust(&mut self, named: &Named) {
        let [class, ..] = &named.names;
        self.judge.world_mut().distrust(class.as_bytes());
    }

    /// Whether to ask GetStackTrace how `thread` started: it is not known yet, and was not asked
    /// too often. Stacks of a thread that native code attached never show this.
    pub(super) fn wants_start(&mut self, thread: Thread) -> bool {
        if self.starts.of(&thread) != ThreadStart::Unknown {
            return false;
        }
        if self.asked.len() >= STARTED {
            self.asked.clear();
        }
        let asked = self.asked.entry(thread).or_default();
        *asked = asked.saturating_add(1);
        *asked <= TRIES
    }

    /// Learns how the thread started from a stack of `thread` by GetStackTrace that was judged
    /// before. The stacks of the walker that is judged are not used.
    pub(super) fn learn(&mut self, thread: Thread, gst: &[Frame]) {
        if self.starts.of(&thread) != ThreadStart::Unknown {
            return;
        }
        let lowest = gst
            .last()
            .and_then(|frame| self.methods.get(&frame.method.0));
        if let Some(&lowest) = lowest.and_then(Option::as_ref) {
            self.starts.forget_at(STARTED);
            self.starts.learn(self.judge.world(), thread, lowest);
        }
    }

    /// The findings of class files on a stack of `thread`.
    pub(super) fn findings(&mut self, thread: Thread, stack: &[Frame]) -> Judged {
        let start = self.starts.of(&thread);
        if self.newest.len() >= REMEMBERED {
            self.newest.clear();
        }
        let version = self.judge.world().version();
        let newest = self.newest.entry(thread).or_default();
        let shared = newest.shared(stack, start, version);
        // The uppermost shared frame is judged again as a caller.
        let fresh = &stack[..stack.len().min(stack.len() - shared + 1)];
        let of = |frame: &Frame| self.methods.get(&frame.method.0).copied();
        let unknown = fresh.iter().filter(|frame| of(frame).is_none());
        let unknown: Vec<_> = unknown.map(|frame| frame.method).collect();
        if !unknown.is_empty() {
            return Judged::Ask(unknown);
        }
        let method = |frame| of(frame).flatten();
        let frames = fresh.iter().map(|frame| edge::EdgeFrame {
            method: method(frame).unwrap_or(self.nobody),
            location: frame.location,
        });
        self.frames.clear();
        self.frames.extend(frames);
        let bottom = (shared == 0).then_some(start);
        self.judge.stack(&self.frames, bottom, &mut self.found);
        let gone = (0..fresh.len()).filter(|&at| method(&fresh[at]).is_none());
        for at in gone.flat_map(|at| [at, at + 1]) {
            // The finding below the uppermost shared frame is there already, and is valid.
            if let Some(finding) = self.found.get_mut(at) {
                *finding = Finding::Unknown(Unknown::Method);
            }
        }
        let newest = self.newest.entry(thread).or_default();
        self.found.extend_from_slice(newest.lowest(shared));
        std::mem::swap(&mut newest.findings, &mut self.found);
        newest.stack.clear();
        newest.stack.extend_from_slice(stack);
        (newest.start, newest.version) = (Some(start), version);
        Judged::Found(newest.findings.clone())
    }
}

/// The findings on the stack that was asked about last.
///
/// A thread that hurries gets no findings while another thread judges. Who judges a fault and who says what
/// must become of the fault need the same answer.
#[derive(Default)]
pub struct Memo(RefCell<Option<Answer>>);

struct Answer {
    stack: Vec<Frame>,
    found: Option<Vec<Finding>>,
}

impl Memo {
    /// The findings on `stack`, which `find` makes if another stack was asked about last.
    pub fn of(
        &self,
        stack: &[Frame],
        find: impl FnOnce() -> Option<Vec<Finding>>,
    ) -> Option<Vec<Finding>> {
        if let Some(last) = &*self.0.borrow()
            && last.stack == stack
        {
            return last.found.clone();
        }
        let found = find();
        self.0.replace(Some(Answer {
            stack: stack.to_vec(),
            found: found.clone(),
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::edge::{Impossible, Possible};
    use oracle::trace::{Location, MethodKey};

    fn stack(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(0),
        };
        methods.iter().map(frame).collect()
    }

    #[test]
    fn findings_on_the_lowest_frames_are_kept() {
        let yes = Finding::Possible(Possible::Static);
        let no = Finding::Impossible(Impossible::OtherName);
        let newest = JudgedStack {
            stack: stack(&[4, 3, 2, 1]),
            findings: vec![yes, no, yes, yes, yes],
            start: Some(ThreadStart::Java),
            version: 7,
        };
        let shared =
            |methods: &[usize], start, version| newest.shared(&stack(methods), start, version);
        assert_eq!(shared(&[9, 2, 1], ThreadStart::Java, 7), 2);
        assert_eq!(newest.lowest(2), [yes, yes]);
        assert_eq!(shared(&[4, 3, 2, 1], ThreadStart::Java, 7), 4);
        assert_eq!(newest.lowest(4), [no, yes, yes, yes]);
        assert_eq!(shared(&[4, 3, 2], ThreadStart::Java, 7), 0);
        assert_eq!(
            shared(&[3, 2, 1], ThreadStart::Unknown, 7),
            0,
            "another bottom"
        );
        // With more classes an impossible edge may be possible.
        assert_eq!(shared(&[3, 2, 1], ThreadStart::Java, 8), 3);
        assert_eq!(shared(&[4, 3, 2, 1], ThreadStart::Java, 8), 0);
        assert_eq!(
            JudgedStack::default().shared(&stack(&[1]), ThreadStart::Java, 0),
            0
        );
    }

    #[test]
    fn each_stack_is_asked_about_once_in_a_row() {
        let memo = Memo::default();
        assert_eq!(memo.of(&[], || None), None);
        assert_eq!(memo.of(&[], || Some(vec![])), None);
        let other = [Frame {
            method: MethodKey(7),
            location: Location(1),
        }];
        assert_eq!(memo.of(&other, || Some(vec![])), Some(vec![]));
    }
}
