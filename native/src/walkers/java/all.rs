//! `Thread.getAllStackTraces`.

use super::prepared::{ElementFields, JavaCode};
use crate::jvm::calls::{Argument, ObjectMethod};
use crate::jvm::jni::{Env, Global, Local, Ref};
use crate::walkers::walker::{StackElement, Walked};

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
