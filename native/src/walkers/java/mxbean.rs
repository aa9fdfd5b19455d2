//! `java.lang.management.ThreadMXBean`, in JDKs with the module `java.management`: `getThreadInfo` of one thread, and
//! `dumpAllThreads`.

use super::prepared::{ElementFields, JavaCode};
use crate::jvm::calls::{Argument, ObjectField, ObjectMethod};
use crate::jvm::jni::{Env, Global, Local, LongField, Ref};
use crate::walkers::walker::{StackElement, Walked};

/// The walker.
pub struct Mxbean(ThreadsBean);

/// The thread's id, and the largest depth: all frames.
fn arguments(id: i64) -> [Argument<'static>; 2] {
    [Argument::Long(id), Argument::Int(i32::MAX)]
}

impl JavaCode for Mxbean {
    const NAME: &'static str = "mxbean";

    fn find(env: Env<'_>) -> Option<Mxbean> {
        let descriptor = c"(JI)Ljava/lang/management/ThreadInfo;";
        ThreadsBean::find(env, c"getThreadInfo", descriptor, &arguments(1)).map(Mxbean)
    }

    fn ask<'e>(&self, env: Env<'e>, thread: Walked<'_>) -> Option<Local<'e>> {
        let id = self.0.id(env, thread.object);
        self.0.call(env, &arguments(id))
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>> {
        let is_it = self.0.is_of(env, answer, thread.object);
        is_it.then(|| self.0.stack(env, answer)).flatten()
    }
}

/// The walker.
pub struct MxbeanAll(ThreadsBean);

/// Without locked monitors and synchronizers.
const ARGUMENTS: [Argument<'static>; 2] = [Argument::Bool(false), Argument::Bool(false)];

impl JavaCode for MxbeanAll {
    const NAME: &'static str = "mxbean-all";

    fn find(env: Env<'_>) -> Option<MxbeanAll> {
        let descriptor = c"(ZZ)[Ljava/lang/management/ThreadInfo;";
        ThreadsBean::find(env, c"dumpAllThreads", descriptor, &ARGUMENTS).map(MxbeanAll)
    }

    fn ask<'e>(&self, env: Env<'e>, _: Walked<'_>) -> Option<Local<'e>> {
        self.0.call(env, &ARGUMENTS)
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>> {
        let mut infos = env.elements(answer);
        let info = infos.find(|info| self.0.is_of(env, info.get(), thread.object))?;
        self.0.stack(env, info.get())
    }
}

/// The bean, one of its methods, and the fields of what the method returns.
struct ThreadsBean {
    bean: Global,
    method: ObjectMethod,
    id: LongField,
    info_id: LongField,
    stack: ObjectField,
    fields: ElementFields,
}

impl ThreadsBean {
    /// Makes the bean, if the JDK has one with the method. All classes that the method needs are loaded by a first
    /// call with `arguments`.
    pub fn find(
        env: Env<'_>,
        name: &std::ffi::CStr,
        descriptor: &std::ffi::CStr,
        arguments: &[Argument<'_>],
    ) -> Option<ThreadsBean> {
        let factory = env.find_class(c"java/lang/management/ManagementFactory")?;
        let (get, gives) = (c"getThreadMXBean", c"()Ljava/lang/management/ThreadMXBean;");
        let get = env.static_object_method(factory.get(), get, gives)?;
        let bean = env.call_static(factory.get(), get)?;
        let class = env.class_of(bean.get())?;
        let method = env.object_method(class.get(), name, descriptor)?;
        _ = env.call(bean.get(), method, arguments);
        let thread = env.find_class(c"java/lang/Thread")?;
        let info = env.find_class(c"java/lang/management/ThreadInfo")?;
        let elements = c"[Ljava/lang/StackTraceElement;";
        Some(ThreadsBean {
            method,
            id: env.long_field(thread.get(), c"tid")?,
            info_id: env.long_field(info.get(), c"threadId")?,
            stack: env.object_field(info.get(), c"stackTrace", elements)?,
            fields: ElementFields::find(env)?,
            bean: env.global(bean.get())?,
        })
    }

    /// The id of a `java.lang.Thread`.
    pub fn id(&self, env: Env<'_>, thread: Ref<'_>) -> i64 {
        env.long(thread, self.id)
    }

    /// Whether a `ThreadInfo` is that of `thread`.
    pub fn is_of(&self, env: Env<'_>, info: Ref<'_>, thread: Ref<'_>) -> bool {
        env.long(info, self.info_id) == self.id(env, thread)
    }

    /// Calls the method.
    pub fn call<'e>(&self, env: Env<'e>, arguments: &[Argument<'_>]) -> Option<Local<'e>> {
        env.call(self.bean.get(), self.method, arguments)
    }

    /// Reads the stack of a `ThreadInfo`.
    pub fn stack(&self, env: Env<'_>, info: Ref<'_>) -> Option<Vec<StackElement>> {
        let stack = env.object(info, self.stack)?;
        self.fields.read(env, stack.get())
    }
}
