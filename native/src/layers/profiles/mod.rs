//! Profiles by walkers beside the true profile: which method ran at an instant, and which is named. Where a walk is
//! judged, `path` counts it; here are the instants without a walk, and those of the next safepoint.

use super::context::Layers;
use crate::jvm::jni::Env;
use crate::sampling::sample::{Reply, Sample};
use crate::truth::methods::registry::Registry;
use crate::truth::read_stack::ReadStack;
use oracle::bias::{Claim, Pairs, Sampler, newest};
use oracle::judge::judge_truth;
use oracle::mutants::Sight;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Truth};
use oracle::{Layer, Verdict};
use std::collections::BTreeMap;

/// Counts an instant at which the walker of `layer` returned an error code.
pub fn is_silent(layers: &Layers, layer: Layer, sample: &Sample) {
    let ran = with_truth(layers, sample, newest_entry);
    if let Some(ran) = ran.flatten() {
        let sampler = Sampler::Walker(layer);
        layers.records.pairs.add(sampler, ran, Claim::Silent);
    }
}

/// Counts the instant of `sample` with the stack of GetStackTrace at the next safepoint. Instants in a window are left
/// out: there the truth has no entry of the newest frame, and the safepoint lies behind the window.
pub fn at_safepoint(layers: &Layers, sample: &Sample, gst: Option<&[Frame]>) {
    if !layers.config.hooks.is_on() || sample.carried {
        return;
    }
    let methods = &layers.truth.methods;
    let ran = with_truth(layers, sample, |truth, methods| {
        let is_in_window = matches!(sample.reply, Reply::Walked(Ok(())))
            && judge_truth(sample.frames.frames(), truth, methods).verdict == Verdict::Window;
        (!is_in_window).then(|| newest_entry(truth, methods))?
    });
    let Some(ran) = ran.flatten() else { return };
    let is_ran = |key: MethodKey| {
        let hook = methods.hook(key, Location::UNKNOWN);
        hook.is_some_and(|(hook, _)| hook == ran)
    };
    let claim = match gst.map(|gst| newest(gst, methods)) {
        None => Claim::Silent,
        Some(Some(key)) if is_ran(key) => Claim::Same,
        Some(named) => Claim::Named(named),
    };
    layers.records.pairs.add(Sampler::Safepoint, ran, claim);
}

/// All pairs so far, if there are any.
pub fn named(layers: &Layers, env: Env<'_>) -> Option<BTreeMap<Sampler, Pairs>> {
    let methods = &layers.truth.methods;
    let truth = |hook| Some(methods.by_hook(hook)?.full_name());
    let claimed = |key| methods.name(env, key);
    let pairs = layers.records.pairs.named(truth, claimed);
    (!pairs.is_empty()).then_some(pairs)
}

/// Shows the trace stack of a sample to `see`, if it was copied.
fn with_truth<T>(
    layers: &Layers,
    sample: &Sample,
    see: impl FnOnce(&Truth<'_>, &Registry) -> T,
) -> Option<T> {
    let methods = &layers.truth.methods;
    sample.copied.is_ok().then(|| {
        let stack = ReadStack::new(&sample.stack, methods);
        see(&stack.truth(), methods)
    })
}

fn newest_entry(truth: &Truth<'_>, methods: &Registry) -> Option<HookId> {
    Sight::Truth(truth, methods).newest()
}
