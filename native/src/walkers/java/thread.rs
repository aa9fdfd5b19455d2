//! `Thread.getStackTrace` of another thread, and `Thread.getAllStackTraces`.

use super::prepared::{ElementFields, JavaCode};
use crate::jvm::calls::{Argument, ObjectMethod};
use crate::jvm::jni::{Env, Global, Local, Ref};
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

/// The walker.
pub struct JavaAll {
    fields: ElementFields,
    thread: Global,
    get_all: ObjectMethod,
    get: ObjectMethod,
}

impl JavaCode for JavaAll {
    const NAME: &'static str = "java-all";

    fn find(env: Env<'_>) -> Option<JavaAll> {
        let class = env.find_class(c"java/lang/Thread")?;
        let map = env.find_class(c"java/util/Map")?;
        let get = c"(Ljava/lang/Object;)Ljava/lang/Object;";
        let get_all = c"getAllStackTraces";
        Some(JavaAll {
            fields: ElementFields::find(env)?,
            get_all: env.static_object_method(class.get(), get_all, c"()Ljava/util/Map;")?,
            get: env.object_method(map.get(), c"get", get)?,
            thread: env.global(class.get())?,
        })
    }

    fn ask<'e>(&self, env: Env<'e>, _: Walked<'_>) -> Option<Local<'e>> {
        env.call_static(self.thread.get(), self.get_all)
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>> {
        let stack = env.call(answer, self.get, &[Argument::Object(thread.object)])?;
        self.fields.read(env, stack.get())
    }
}
