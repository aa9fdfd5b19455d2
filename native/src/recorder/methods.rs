//! The methods of a recorded sample, by number, with every answer about their hooks.

use crate::jvm::jni::Env;
use crate::truth::context::Truth as Known;
use oracle::recorded::{RecordedFrame, RecordedMethod};
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence};
use std::collections::BTreeMap;

/// The methods that were recorded so far.
pub struct Named<'a> {
    known: &'a Known,
    env: Env<'a>,
    keys: Vec<MethodKey>,
    methods: Vec<RecordedMethod>,
    hooks: BTreeMap<u32, String>,
}

impl<'a> Named<'a> {
    /// No methods yet. `env` is the calling thread's.
    pub fn new(known: &'a Known, env: Env<'a>) -> Named<'a> {
        Named {
            known,
            env,
            keys: vec![],
            methods: vec![],
            hooks: BTreeMap::new(),
        }
    }

    /// The frames, with methods as numbers.
    pub fn frames(&mut self, frames: &[Frame]) -> Vec<RecordedFrame> {
        frames.iter().map(|&frame| self.frame(frame)).collect()
    }

    /// The frame, with its method as a number. Notes what the frame's location proves.
    pub fn frame(&mut self, frame: Frame) -> RecordedFrame {
        (self.method(frame), frame.location.0)
    }

    fn method(&mut self, frame: Frame) -> u32 {
        if frame.method.0 == 0 {
            return 0;
        }
        let known = self.keys.iter().position(|&key| key == frame.method);
        let place = known.unwrap_or_else(|| {
            let methods = &self.known.methods;
            self.keys.push(frame.method);
            self.methods.push(RecordedMethod {
                name: methods.show(self.env, &frame).method,
                is_hook_call: methods.is_hook_call(frame.method),
                ..RecordedMethod::default()
            });
            self.keys.len() - 1
        });
        let method = &mut self.methods[place];
        if let Some((hook, presence)) = self.known.methods.hook(frame.method, frame.location) {
            method.hook = Some(hook.0);
            let presence = name(presence).to_owned();
            method.presence.insert(frame.location.0, presence);
        }
        place as u32 + 1
    }

    /// The number of a hook. Notes its name.
    pub fn hook(&mut self, hook: HookId) -> u32 {
        let name = || self.known.methods.show_entry(hook).method;
        self.hooks.entry(hook.0).or_insert_with(name);
        hook.0
    }

    /// The number of the method of a hook, if a walk has shown the method. Notes what the locations
    /// prove that a judge may ask about.
    pub fn scope(&mut self, method: MethodKey, bci: i32) -> u32 {
        const INVOKESTATIC: i32 = 3;
        let at = |bci| Frame {
            method,
            location: Location(bci),
        };
        self.method(at(bci + INVOKESTATIC));
        self.method(at(bci))
    }

    /// All methods, and the names of the hooks whose methods are not among them.
    pub fn end(mut self) -> (Vec<RecordedMethod>, BTreeMap<u32, String>) {
        for hook in self.methods.iter().filter_map(|method| method.hook) {
            self.hooks.remove(&hook);
        }
        (self.methods, self.hooks)
    }
}

fn name(presence: Presence) -> &'static str {
    match presence {
        Presence::Absent => "absent",
        Presence::Pushing => "pushing",
        Presence::Present => "present",
        Presence::Popping => "popping",
        Presence::Catching => "catching",
        Presence::Unwinding => "unwinding",
        Presence::Unknown => "unknown",
    }
}
