//! `Thread.getStackTrace` of another thread.

use super::prepared::{ElementFields, JavaCode};
use crate::jvm::calls::ObjectMethod;
use crate::jvm::jni::{Env, Local, Ref};
use crate::walkers::walker::{StackElement, Walked};

/// The walker.
pub struct JavaThread {
    fields: ElementFields,
    get_stack_trace: ObjectMethod,
}

impl JavaCode for JavaThread {
    const NAME: &'static str = "java";
    const WALKS_VIRTUAL: bool = true;

    fn find(env: Env<'_>) -> Option<JavaThread> {
        let class = env.find_class(c"java/lang/Thread")?;
        let array = c"()[Ljava/lang/StackTraceElement;";
        Some(JavaThread {
            fields: ElementFields::find(env)?,
            get_stack_trace: env.object_method(class.get(), c"getStackTrace", array)?,
        })
    }

    fn ask<'e>(&self, env: Env<'e>, thread: Walked<'_>) -> Option<Local<'e>> {
        env.call(thread.object, self.get_stack_trace, &[])
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, _: Walked<'_>) -> Option<Vec<StackElement>> {
        self.fields.read(env, answer)
    }
}
