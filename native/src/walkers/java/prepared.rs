//! What all walkers that run Java code have in common: classes and methods are looked up once, when the VM lives. The fields of
//! Java's own classes that hold stack traces are read without running Java code.

use crate::jvm::Jvm;
use crate::jvm::calls::{IntField, ObjectField};
use crate::jvm::jni::{Env, Local, Ref};
use crate::walkers::walker::{StackElement, Walked, Walker, WalksInJava, line};
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

/// The fields of `java.lang.StackTraceElement`.
pub struct ElementFields {
    class: ObjectField,
    method: ObjectField,
    line: IntField,
}

impl ElementFields {
    /// Looks for the fields.
    pub fn find(env: Env<'_>) -> Option<ElementFields> {
        let class = env.find_class(c"java/lang/StackTraceElement")?;
        let string = |name| env.object_field(class.get(), name, c"Ljava/lang/String;");
        Some(ElementFields {
            class: string(c"declaringClass")?,
            method: string(c"methodName")?,
            line: env.int_field(class.get(), c"lineNumber")?,
        })
    }

    /// Reads an array of elements; `None` if one of them has no name.
    pub fn read(&self, env: Env<'_>, array: Ref<'_>) -> Option<Vec<StackElement>> {
        let text = |element: Ref<'_>, field| env.text(env.object(element, field)?.get());
        let read = |element: Ref<'_>| {
            Some(StackElement {
                class: text(element, self.class)?,
                method: text(element, self.method)?,
                line: line(env.int(element, self.line)),
            })
        };
        env.elements(array)
            .map(|element| read(element.get()))
            .collect()
    }
}
