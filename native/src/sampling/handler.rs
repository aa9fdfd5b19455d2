//! The work of the signal handler: it fills in the sample of the thread that was asked.

use super::altering::Alterations;
use super::asking::{self, Depth, Order, Question};
use super::sample::{Reply, Sample};
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::os::signal::{self, HandlerContext};
use crate::truth::interrupted::Interrupted;
use crate::walkers::walker::WalksInterrupted;
use oracle::Layer;
use std::sync::OnceLock;
use std::{io, ptr};

/// What the handler uses.
pub struct Serving {
    /// The walker of each layer, in the order of the layers' table, if the VM has it and it walks
    /// interrupted threads.
    pub walkers: [Option<&'static dyn WalksInterrupted>; Layer::ALL.len()],
    /// The VM's threads, if the VM describes them.
    pub java_threads: Option<&'static JavaThreads>,
    /// What asks the walkers from altered contexts too, in runs that want it.
    pub alterations: Option<Alterations>,
}

static SERVING: OnceLock<Serving> = OnceLock::new();

/// Installs the handler. To be called once.
pub fn install(serving: Serving) -> io::Result<()> {
    SERVING
        .set(serving)
        .map_err(|_| io::Error::other("the handler is installed already"))?;
    signal::install(handle)
}

fn handle(context: &HandlerContext<'_>, word: u64) {
    asking::answer(context, word, |order| fill(context, order));
}

/// Fills in the sample of the calling thread.
fn fill(context: &HandlerContext<'_>, order: &mut Order) {
    let sample = &mut order.sample;
    let (Some(serving), Some(thread)) = (SERVING.get(), Interrupted::new(context)) else {
        sample.reply = Reply::OtherThread;
        return;
    };
    let of_thread = |question: &Question| ptr::eq(question.target, thread.state());
    let Some(question) = order.question.filter(of_thread) else {
        sample.reply = Reply::OtherThread;
        return;
    };
    if question.depth == Depth::Check {
        copy_truth(thread, sample);
        sample.at.copy(thread, serving.java_threads);
        sample.handled = thread.handled();
    }
    sample.reply = match serving.walkers[question.layer.index()] {
        Some(walker) => Reply::Walked(walker.walk(thread, &mut sample.frames)),
        None => Reply::NoWalker,
    };
    if let (Depth::Check, Some(alterations)) = (question.depth, &serving.alterations) {
        let is_in_java = sample.at.seen.is_some_and(|seen| seen.is_in_java());
        alterations.walk(thread, question.layer, is_in_java);
    }
}

/// Copies the trace stack.
fn copy_truth(thread: Interrupted<'_>, sample: &mut Sample) {
    let carrier = thread.state().carrier_stack();
    sample.carried = carrier.is_some();
    sample.copy_of = ptr::from_ref(thread.state().stack()).addr();
    sample.copied = thread.state().stack().copy_to(&mut sample.stack);
    if let (Ok(()), Some(carrier)) = (sample.copied, carrier) {
        sample.copied = carrier.copy_to(&mut sample.carrier);
    }
}
