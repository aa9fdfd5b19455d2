//! Classes.

use super::args::RewriteArgs;
use super::summary::Summary;
use crate::error::Error;
use crate::output::{Stream, print};
use instrumenter::{Choice, HookClass, HookId, Malformed, MethodInfo, Patterns, Tokens};
use std::fmt;

/// The class with the hook methods, with the names that the agent uses for exact hooks.
const HOOKS: HookClass<'_> = HookClass {
    name: "java/lang/StackwitnessTrace",
    tokens: Tokens::WhereNeeded,
};

/// The largest size of a class file. A larger file is copied without being read into memory. (No
/// real class file comes near: a method has at most 64 KiB of code.)
pub(super) const LARGEST: u64 = 256 << 20;

/// Rewrites classes and keeps count.
#[derive(Debug)]
pub(super) struct Rewriter<'a> {
    args: &'a RewriteArgs,
    patterns: Patterns,
    next: u32,
    pub(super) done: Summary,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(args: &'a RewriteArgs, patterns: Patterns) -> Rewriter<'a> {
        Rewriter {
            args,
            patterns,
            next: 0,
            done: Summary::default(),
        }
    }

    /// Whether classes are only read and written back.
    pub(super) fn keeps_classes(&self) -> bool {
        self.args.identity
    }

    /// The rewritten class; `None` if the class stays as it is.
    pub(super) fn class(&mut self, place: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.done.classes += 1;
        if self.args.identity {
            return match classfile::identity(bytes) {
                Ok(same) if same == bytes => {
                    self.done.unchanged += 1;
                    Ok(None)
                }
                Ok(other) => {
                    self.say(format_args!("differs   {place}"))?;
                    Ok(Some(other))
                }
                Err(e) => self.malformed(place, e),
            };
        }
        let Self { patterns, next, .. } = self;
        let mut plan = |method: &MethodInfo<'_>| {
            if !patterns.wants_method(method) {
                return Choice::Leave;
            }
            *next += 1;
            Choice::Hook {
                id: HookId(*next),
                check: false,
                plain: false,
            }
        };
        let r = match instrumenter::rewrite(bytes, HOOKS, &mut plan) {
            Ok(r) => r,
            Err(e) => return self.malformed(place, e),
        };
        if !self.args.quiet {
            for m in &r.hooked {
                let (class, name, descriptor) = (&r.class_name, &m.name, &m.descriptor);
                self.say(format_args!("hooked    {class}.{name}{descriptor}"))?;
            }
        }
        for m in &r.left {
            let (class, name, descriptor) = (&r.class_name, &m.name, &m.descriptor);
            let reason = &m.reason;
            self.say(format_args!(
                "left      {class}.{name}{descriptor}: {reason}"
            ))?;
            *self.done.left.entry(reason.to_string()).or_default() += 1;
        }
        self.done.hooked += r.hooked.len() as u64;
        self.done.not_chosen += u64::from(r.not_chosen);
        self.done.unknown_attributes += u64::from(r.unknown_code_attributes);
        self.done.unchanged += u64::from(r.bytes.is_none());
        Ok(r.bytes)
    }

    /// Counts and names a file that is too large to be a class.
    pub(super) fn too_large(&mut self, place: &str) -> Result<(), Error> {
        self.done.classes += 1;
        self.done.malformed += 1;
        let limit = LARGEST >> 20;
        self.say(format_args!("malformed {place}: more than {limit} MiB"))
    }

    /// Counts and names an entry that cannot be unpacked. The entry is copied as it is.
    pub(super) fn damaged(&mut self, place: &str) -> Result<(), Error> {
        self.done.malformed += 1;
        self.say(format_args!("damaged   {place}: copied as it is"))
    }

    fn malformed(&mut self, place: &str, e: Malformed) -> Result<Option<Vec<u8>>, Error> {
        self.done.malformed += 1;
        self.say(format_args!("malformed {place}: {e}"))?;
        Ok(None)
    }

    /// Counts and names something that is missing in the output.
    pub(super) fn leave_out(&mut self, place: &str, why: &str) -> Result<(), Error> {
        self.done.left_out += 1;
        self.say(format_args!("left out  {place}: {why}"))
    }

    /// Prints a line. A closed standard output does not stop the rewriting.
    pub(super) fn say(&self, what: fmt::Arguments<'_>) -> Result<(), Error> {
        Ok(print(Stream::Output, &format!("{what}\n"))?)
    }
}
