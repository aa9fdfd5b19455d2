//! Layer `call-edge`: whether the class files that were loaded allow a walk.
//!
//! What is kept are the classes as the VM got them, our own hooks included where there are any:
//! BCIs of walks need no mapping.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::jvm::key_hash::Spread;
use crate::truth::class_files::ClassFiles;
use crate::truth::classes::hidden;
use crate::truth::context::Truth;
use hotspot::runtime::{HotSpot, JFR, JFR_REWRITES, is_hidden, is_launched_by_jdk};
use oracle::edge::{self, Counts, Finding, Judge, MethodId, Starts, ThreadStart};
use oracle::record::FoundEdges;
use oracle::trace::{Frame, MethodKey};
use std::collections::HashMap;

/// The classes as far as they are known, and the judge; the sampler's.
pub struct Walks<'e> {
    truth: &'static Truth,
    class_files: &'static ClassFiles,
    env: Env<'e>,
    judge: Judge,
    /// The walkers' keys that were looked up; none for a method that is gone.
    methods: HashMap<usize, Option<MethodId>, Spread>,
    starts: Starts<Thread>,
    /// How often GetStackTrace was asked how a thread started.
    asked: HashMap<Thread, u32, Spread>,
    /// The newest stack of each thread.
    newest: HashMap<Thread, Found, Spread>,
    frames: Vec<edge::EdgeFrame>,
    found: Vec<Finding>,
}

/// Stacks of more threads than this are forgotten, lest those of ended ones pile up.
const REMEMBERED: usize = 256;

/// So often GetStackTrace is asked how a thread started: the main thread runs the launcher's methods
/// first.
const TRIES: u32 = 100;

/// A stack, and what was found of it.
#[derive(Default)]
struct Found {
    stack: Vec<Frame>,
    findings: Vec<Finding>,
    start: Option<ThreadStart>,
    version: u32,
}

impl Found {
    /// How many frames at the bottom of `stack` are those of this one, so that the findings on
    /// them are too: most of them, as a rule.
    fn shared(&self, stack: &[Frame], start: ThreadStart, version: u32) -> usize {
        let pairs = self.stack.iter().rev().zip(stack.iter().rev());
        let same = pairs.take_while(|(own, other)| own == other).count();
        let possible = |finding: &Finding| matches!(finding, Finding::Possible(_));
        // More classes make nothing impossible that was possible.
        let hold = self.start == Some(start)
            && (self.version == version || self.lowest(same).iter().all(possible));
        if hold { same } else { 0 }
    }

    /// The findings on the lowest frames: on the edges between them, and on the very lowest.
    fn lowest(&self, frames: usize) -> &[Finding] {
        &self.findings[self.findings.len() - frames..]
    }
}

/// What tells a thread from others: the place of its state, and its kernel id.
pub type Thread = (usize, i32);

impl<'e> Walks<'e> {
    /// Knows no method yet; none if class files are not kept.
    pub fn new(truth: &'static Truth, env: Env<'e>) -> Option<Walks<'e>> {
        let class_files = truth.class_files.as_ref()?;
        let launcher = truth.jvm.jvmti.system_property(c"sun.java.launcher");
        Some(Walks {
            truth,
            class_files,
            env,
            judge: Judge::new(&HotSpot),
            methods: HashMap::default(),
            starts: Starts::new(is_launched_by_jdk(Some(&launcher))),
            asked: HashMap::default(),
            newest: HashMap::default(),
            frames: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Reads the classes that were loaded since.
    pub fn read_loaded(&mut self) {
        for class_file in self.class_files.take() {
            // One that breaks the JVMS is for the VM to refuse.
            _ = self.read(&class_file);
        }
    }

    fn read(&mut self, class_file: &[u8]) -> Result<(), classfile::Malformed> {
        let outline = classfile::Outline::read(class_file)?;
        let world = self.judge.world_mut();
        world.add(&outline);
        if outline.name == JFR.as_bytes() {
            // What it rewrites is not shown to every agent.
            for class in JFR_REWRITES {
                world.distrust(class.as_bytes());
            }
        }
        Ok(())
    }

    /// Whether GetStackTrace is to be asked how `thread` started: not known yet, and not asked too
    /// often. A thread that native code attached never tells.
    pub fn wants_start(&mut self, thread: Thread) -> bool {
        if self.starts.of(&thread) != ThreadStart::Unknown {
            return false;
        }
        let asked = self.asked.entry(thread).or_default();
        *asked = asked.saturating_add(1);
        *asked <= TRIES
    }

    /// Learns from a stack of `thread` by GetStackTrace how it started. The walker on trial teaches
    /// nothing.
    pub fn learn(&mut self, thread: Thread, gst: &[Frame]) {
        self.read_loaded();
        if self.starts.of(&thread) != ThreadStart::Unknown {
            return;
        }
        let lowest = gst.last().and_then(|frame| self.method(frame.method));
        if let Some(lowest) = lowest {
            self.starts.learn(self.judge.world(), thread, lowest);
        }
    }

    /// What the class files say of a stack of `thread`; none if a method of it is gone.
    pub fn findings(&mut self, thread: Thread, stack: &[Frame]) -> Option<&[Finding]> {
        self.read_loaded();
        let start = self.starts.of(&thread);
        if self.newest.len() >= REMEMBERED {
            self.newest.clear();
        }
        let version = self.judge.world().version();
        let newest = self.newest.entry(thread).or_default();
        let shared = newest.shared(stack, start, version);
        // The uppermost of those shared is a caller once more.
        let fresh = &stack[..stack.len().min(stack.len() - shared + 1)];
        self.frames.clear();
        for frame in fresh {
            let location = frame.location;
            let method = self.method(frame.method)?;
            self.frames.push(edge::EdgeFrame { method, location });
        }
        let bottom = (shared == 0).then_some(start);
        self.judge.stack(&self.frames, bottom, &mut self.found);
        let newest = self.newest.entry(thread).or_default();
        self.found.extend_from_slice(newest.lowest(shared));
        std::mem::swap(&mut newest.findings, &mut self.found);
        newest.stack.clear();
        newest.stack.extend_from_slice(stack);
        (newest.start, newest.version) = (Some(start), version);
        Some(&newest.findings)
    }

    /// The same, but none either if something is impossible and it is not sure which methods
    /// the stack is of.
    pub fn sure_findings(&mut self, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        let methods = &self.truth.methods;
        let found = self.findings(thread, stack)?;
        let impossible = found.iter().any(|finding| finding.is_impossible());
        let doubtful = impossible && methods.is_doubtful(stack, &[]);
        (!doubtful).then(|| found.to_vec())
    }

    fn method(&mut self, key: MethodKey) -> Option<MethodId> {
        match self.methods.get(&key.0) {
            Some(&known) => known,
            None => {
                let method = self.ask(key);
                self.methods.insert(key.0, method);
                method
            }
        }
    }

    #[cold]
    fn ask(&mut self, key: MethodKey) -> Option<MethodId> {
        let (truth, env) = (self.truth, self.env);
        let (class, name, descriptor) = truth.methods.full_name(env, key)?;
        if is_hidden(class.as_bytes()) {
            // Once a method: classes that hide behind one name come and go. One that cannot be
            // read must not be taken for another of its name.
            let class_file = hidden::class_file(truth.jvm.jvmti, env, JMethodId(key.0))?;
            self.read(&class_file).ok()?;
        }
        let [class, name, descriptor] = [&class, &name, &descriptor].map(|text| text.as_bytes());
        Some(self.judge.world_mut().method(class, name, descriptor))
    }
}

/// All that was counted, by finding and reason.
pub fn summary(counts: &Counts) -> FoundEdges {
    let edges = counts.findings();
    let edges = edges.map(|(finding, n)| (finding.to_string(), n));
    FoundEdges {
        stacks: counts.stacks(),
        edges: edges.collect(),
    }
}

/// What was found of a stack, for the evidence of a mismatch in any layer.
pub fn evidence(found: &[Finding]) -> String {
    let odd = found.iter().enumerate();
    let odd = odd.filter(|(_, finding)| !matches!(finding, Finding::Possible(_)));
    let odd: Vec<_> = odd
        .map(|(at, finding)| format!("frame {at} {finding}"))
        .collect();
    match odd.is_empty() {
        true => "all possible".into(),
        false => odd.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::edge::{Impossible, Possible};
    use oracle::trace::Location;

    fn stack(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(0),
        };
        methods.iter().map(frame).collect()
    }

    #[test]
    fn what_was_found_of_the_lowest_frames_is_kept() {
        let yes = Finding::Possible(Possible::Static);
        let no = Finding::Impossible(Impossible::OtherName);
        let newest = Found {
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
        // With more classes what was impossible may not be.
        assert_eq!(shared(&[3, 2, 1], ThreadStart::Java, 8), 3);
        assert_eq!(shared(&[4, 3, 2, 1], ThreadStart::Java, 8), 0);
        assert_eq!(
            Found::default().shared(&stack(&[1]), ThreadStart::Java, 0),
            0
        );
    }
}
