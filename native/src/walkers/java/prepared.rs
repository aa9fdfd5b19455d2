//! What all walkers that run Java code have in common: classes and methods are looked up once, when the VM lives.

use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Local, Ref};
use crate::walkers::element::StackElement;
use crate::walkers::walker::{Walked, Walker, WalksInJava};
use std::sync::OnceLock;

/// What such a walker looks up, and how it asks then.
pub trait JavaCode: Sized + Send + Sync + 'static {
    /// The name of the walker.
    const NAME: &'static str;

    /// As [`WalksInJava::walks_virtual`].
    const WALKS_VIRTUAL: bool = false;

    /// Looks up classes and methods; `None` if the JDK lacks one of them.
    fn find(env: Env<'_>) -> Option<Self>;

    /// As [`WalksInJava::ask`].
    fn ask<'e>(&self, env: Env<'e>, thread: Walked<'_>) -> Option<Local<'e>>;

    /// As [`WalksInJava::read`].
    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>>;
}

/// A walker, as soon as it is prepared.
struct Prepared<C>(OnceLock<C>);

/// The walker with this code. A JDK that lacks the code gives no answers.
pub fn find<C: JavaCode>(_: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(Prepared::<C>(OnceLock::new())))
}

impl<C: JavaCode> Walker for Prepared<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn begin(&self, env: Env<'_>) {
        if let Some(code) = C::find(env) {
            _ = self.0.set(code);
        }
    }

    fn in_java(&self) -> Option<&dyn WalksInJava> {
        Some(self)
    }
}

impl<C: JavaCode> WalksInJava for Prepared<C> {
    fn ask<'e>(&self, env: Env<'e>, thread: Walked<'_>) -> Option<Local<'e>> {
        self.0.get()?.ask(env, thread)
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>> {
        self.0.get()?.read(env, answer, thread)
    }

    fn walks_virtual(&self) -> bool {
        C::WALKS_VIRTUAL
    }
}
