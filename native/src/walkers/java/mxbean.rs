//! `ThreadMXBean.getThreadInfo`, in JDKs with the module `java.management`.

use super::prepared::JavaCode;
use super::threads_bean::ThreadsBean;
use crate::jvm::calls::Argument;
use crate::jvm::jni::{Env, Local, Ref};
use crate::walkers::element::StackElement;
use crate::walkers::walker::Walked;

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
