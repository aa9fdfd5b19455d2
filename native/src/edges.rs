//! Layer `call-edge`: whether the class files that were loaded allow a walk.
//!
//! What is kept are the classes as the VM got them, our own hooks included where there are any:
//! BCIs of walks need no mapping.

use crate::agent::Agent;
use crate::methods::Spread;
use crate::vm::jvmti::Jvmti;
use jni_sys::JNIEnv;
use oracle::Judgement;
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

/// What one thread that judges needs.
pub struct Walks {
    /// The walkers' keys that were looked up; none for a method that is gone.
    methods: HashMap<usize, Option<MethodId>, Spread>,
    starts: Starts<Thread>,
    frames: Vec<edge::Frame>,
    found: Vec<Finding>,
    counts: Counts,
}

/// What tells a thread from others: the place of its state, and its kernel id.
type Thread = (usize, i32);

impl Walks {
    /// Knows no method yet.
    pub fn new(jvmti: &Jvmti) -> Walks {
        let launcher = jvmti.system_property(c"sun.java.launcher");
        Walks {
            methods: HashMap::default(),
            starts: Starts::new(Some(&launcher)),
            frames: Vec::new(),
            found: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Judges a walk of `thread`; none if a method of it is gone.
    pub fn judge(
        &mut self,
        agent: &Agent,
        edges: &Edges,
        env: *mut JNIEnv,
        thread: Thread,
        walk: &[Frame],
    ) -> Option<Judgement> {
        self.frames.clear();
        for frame in walk {
            let location = frame.location;
            let method = self.method(agent, edges, env, frame.method)?;
            self.frames.push(edge::Frame { method, location });
        }
        let lowest = self.frames.last()?.method;
        let mut judge = edges.judge();
        self.starts.learn(judge.world(), thread, lowest);
        let start = self.starts.of(&thread);
        judge.stack(&self.frames, Some(start), &mut self.found);
        Some(edge::verdict(&self.found))
    }

    /// Counts the findings of the last walk.
    pub fn count(&mut self) {
        self.counts.add(&self.found);
    }

    /// What was found.
    pub fn counts(&self) -> FoundEdges {
        let findings = self.counts.findings();
        let edges = findings.map(|(finding, n)| (finding.to_string(), n));
        FoundEdges {
            stacks: self.counts.stacks(),
            edges: edges.collect(),
        }
    }

    /// What was found of the last walk, for the evidence of a mismatch in any layer.
    pub fn evidence(&self) -> String {
        let odd = self.found.iter().enumerate();
        let odd = odd.filter(|(_, finding)| !matches!(finding, Finding::Possible(_)));
        let odd: Vec<_> = odd
            .map(|(at, finding)| format!("frame {at} {finding}"))
            .collect();
        match odd.is_empty() {
            true => "all possible".into(),
            false => odd.join("; "),
        }
    }

    fn method(
        &mut self,
        agent: &Agent,
        edges: &Edges,
        env: *mut JNIEnv,
        key: MethodKey,
    ) -> Option<MethodId> {
        if let Some(&known) = self.methods.get(&key.0) {
            return known;
        }
        let name = agent.methods.full_name(env, key);
        let method = name.map(|(class, name, descriptor)| {
            let mut judge = edges.judge();
            let texts = [&class, &name, &descriptor].map(|text| text.as_bytes());
            judge.world_mut().method(texts[0], texts[1], texts[2])
        });
        self.methods.insert(key.0, method);
        method
    }
}
