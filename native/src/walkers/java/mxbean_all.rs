//! `ThreadMXBean.dumpAllThreads`, in JDKs with the module `java.management`.

use super::prepared::JavaCode;
use super::threads_bean::ThreadsBean;
use crate::jvm::calls::Argument;
use crate::jvm::jni::{Env, Local, Ref};
use crate::walkers::element::StackElement;
use crate::walkers::walker::Walked;

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
