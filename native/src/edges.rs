//! Layer `call-edge`: whether the class files that were loaded allow a walk.
//!
//! What is kept are the classes as the VM got them, our own hooks included where there are any:
//! BCIs of walks need no mapping.

use crate::agent::Agent;
use crate::methods::Spread;
use jni_sys::JNIEnv;
use oracle::edge::{self, Counts, Finding, JFR_REWRITES, Judge, MethodId, Starts};
use oracle::record::FoundEdges;
use oracle::trace::{Frame, MethodKey};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The classes seen so far, and the judge.
pub struct Edges {
    judge: Mutex<Judge>,
}

impl Edges {
    /// Knows no class yet.
    pub fn new() -> Edges {
        let mut judge = Judge::default();
        for class in JFR_REWRITES {
            judge.world_mut().distrust(class.as_bytes());
        }
        Edges {
            judge: Mutex::new(judge),
        }
    }

    /// The VM is about to load this class. One that breaks the JVMS is for the VM to refuse.
    pub fn loaded(&self, class_file: &[u8]) {
        // Outside the lock, which the sampler may hold.
        if let Ok(facts) = class_facts::read(class_file) {
            self.judge().world_mut().add(&facts);
        }
    }

    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sampler's view of the classes.
pub struct Walks {
    agent: &'static Agent,
    edges: &'static Edges,
    env: *mut JNIEnv,
    /// The walkers' keys that were looked up; none for a method that is gone.
    methods: HashMap<usize, Option<MethodId>, Spread>,
    starts: Starts<Thread>,
    frames: Vec<edge::Frame>,
    found: Vec<Finding>,
}

/// What tells a thread from others: the place of its state, and its kernel id.
pub type Thread = (usize, i32);

impl Walks {
    /// Knows no method yet; none if class files are not kept.
    pub fn new(agent: &'static Agent, env: *mut JNIEnv) -> Option<Walks> {
        let edges = agent.edges.as_ref()?;
        let launcher = agent.jvmti.system_property(c"sun.java.launcher");
        Some(Walks {
            agent,
            edges,
            env,
            methods: HashMap::default(),
            starts: Starts::new(Some(&launcher)),
            frames: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Learns from a stack of `thread` how it started. Not from a lie.
    pub fn learn(&mut self, thread: Thread, stack: &[Frame]) {
        let lowest = stack.last().and_then(|frame| self.method(frame.method));
        if let Some(lowest) = lowest {
            self.starts
                .learn(self.edges.judge().world(), thread, lowest);
        }
    }

    /// What the class files say of a stack of `thread`; none if a method of it is gone.
    pub fn findings(&mut self, thread: Thread, stack: &[Frame]) -> Option<&[Finding]> {
        self.frames.clear();
        for frame in stack {
            let location = frame.location;
            let method = self.method(frame.method)?;
            self.frames.push(edge::Frame { method, location });
        }
        let start = self.starts.of(&thread);
        let mut judge = self.edges.judge();
        judge.stack(&self.frames, Some(start), &mut self.found);
        Some(&self.found)
    }

    /// The same, but none either if something is impossible and it is not sure which methods
    /// the stack is of.
    pub fn sure_findings(&mut self, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        let methods = &self.agent.methods;
        let found = self.findings(thread, stack)?;
        let impossible = found.iter().any(|finding| finding.is_impossible());
        let doubtful = impossible && methods.is_doubtful(stack, &[]);
        (!doubtful).then(|| found.to_vec())
    }

    fn method(&mut self, key: MethodKey) -> Option<MethodId> {
        let (agent, edges, env) = (self.agent, self.edges, self.env);
        *self.methods.entry(key.0).or_insert_with(|| {
            let (class, name, descriptor) = agent.methods.full_name(env, key)?;
            let texts = [&class, &name, &descriptor].map(|text| text.as_bytes());
            let mut judge = edges.judge();
            Some(judge.world_mut().method(texts[0], texts[1], texts[2]))
        })
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
