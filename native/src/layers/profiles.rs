//! Profiles by walkers beside the true profile: which methods ran at an instant, and which are named. Where a walk is
//! judged, `path` counts it; here are the instants without a walk, and those of the next safepoint.
//!
//! Java's own stack traces name methods without descriptors: there, overloaded methods are one method, the first of them that
//! was seen.

use super::context::Layers;
use crate::jvm::jni::Env;
use crate::records::pairs::Named;
use crate::sampling::sample::{Reply, Sample};
use crate::truth::methods::registry::Registry;
use crate::truth::methods::show::unnamed;
use crate::truth::read_stack::ReadStack;
use crate::walkers::walker::StackElement;
use oracle::bias::{Claim, Pairs, Sampler, StackProfiles, hooked, newest};
use oracle::judge::{Stack, TraceTruth, Truth, running};
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods};
use oracle::{Layer, Verdict};
use std::collections::{BTreeMap, HashMap};

/// The methods that ran at an instant: the newest, and all of them, the lowest first.
pub struct Ran {
    /// The newest.
    pub newest: HookId,
    /// All.
    pub stack: Vec<HookId>,
}

impl Ran {
    /// What these stacks of a truth show.
    pub fn of(stacks: &[Stack<'_>]) -> Option<Ran> {
        let stack = running(stacks)?;
        let newest = *stack.last()?;
        Some(Ran { newest, stack })
    }

    /// Counts what `sampler` named, and the stack that it showed.
    pub fn count(
        &self,
        layers: &Layers,
        sampler: Sampler,
        named: Claim<Option<Named>>,
        shown: Claim<&[HookId]>,
    ) {
        let records = layers.records;
        records.pairs.add(sampler, self.newest, named);
        records.stacks.add(sampler, &self.stack, shown);
    }
}

impl Ran {
    /// Counts an instant at which nobody can say what `sampler` named.
    fn is_unjudged(&self, layers: &Layers, sampler: Sampler) {
        self.count(layers, sampler, Claim::Unjudged, Claim::Unjudged);
    }
}

/// Counts an instant at which the walker of `layer` returned an error code.
pub fn is_silent(layers: &Layers, layer: Layer, sample: &Sample) {
    if layers.injector.gives_profile_of(layer) {
        return;
    }
    let ran = with_truth(layers, sample, |truth| Ran::of(&truth.stacks()));
    if let Some(ran) = ran.flatten() {
        ran.count(layers, Sampler::Walker(layer), Claim::Silent, Claim::Silent);
    }
}

/// Counts the instant of `sample`, at which GetStackTrace could not be asked.
pub fn is_not_asked(layers: &Layers, sample: &Sample) {
    if let Some((ran, _)) = before_safepoint(layers, sample) {
        ran.is_unjudged(layers, Sampler::Safepoint);
    }
}

/// Counts the instant of `sample` with the stack of GetStackTrace at the next safepoint.
pub fn at_safepoint(layers: &Layers, sample: &Sample, gst: Option<&[Frame]>) {
    let methods = &layers.truth.methods;
    let Some((ran, running)) = before_safepoint(layers, sample) else {
        return;
    };
    let Some(running) = running else {
        return ran.is_unjudged(layers, Sampler::Safepoint);
    };
    let hook_of = |key: MethodKey| Some(methods.hook(key, Location::UNKNOWN)?.0);
    let named = match gst.map(|gst| newest(gst, methods)) {
        None => Claim::Silent,
        Some(named) => match named.and_then(hook_of) {
            Some(hook) if hook == ran.newest => Claim::Same,
            Some(hook) if running.in_window == Some(hook) => Claim::InWindow,
            _ => Claim::Named(named.map(Named::Key)),
        },
    };
    let shown = gst.map(|gst| hooked(gst, methods));
    let shown = running.claim_of(shown.as_deref(), &ran.stack);
    ran.count(layers, Sampler::Safepoint, named, shown);
}

/// Counts the instant of `sample` with the stack that the Java code of `layer` gave at the next safepoint.
pub fn in_java(
    layers: &Layers,
    layer: Layer,
    sample: &Sample,
    answer: Option<&[StackElement]>,
    names: &mut ByName,
) {
    let methods = &layers.truth.methods;
    let Some((ran, running)) = before_safepoint(layers, sample) else {
        return;
    };
    let stack = names.of_truth(&ran.stack, methods);
    let Some((stack, newest)) = stack.and_then(|stack| {
        let newest = *stack.last()?;
        Some((stack, newest))
    }) else {
        return ran.is_unjudged(layers, Sampler::Walker(layer));
    };
    let Some(running) = running else {
        return Ran { newest, stack }.is_unjudged(layers, Sampler::Walker(layer));
    };
    let running = Running {
        in_window: running
            .in_window
            .and_then(|hook| names.standing(hook, methods)),
    };
    let shown = answer.map(|answer| names.of_answer(answer, methods));
    let ran = Ran { newest, stack };
    let named = match shown.as_deref().map(<[HookId]>::last) {
        None => Claim::Silent,
        Some(Some(&hook)) if hook == newest => Claim::Same,
        Some(Some(&hook)) if running.in_window == Some(hook) => Claim::InWindow,
        Some(hook) => Claim::Named(hook.copied().map(Named::Hooked)),
    };
    let sampler = Sampler::Walker(layer);
    let shown = running.claim_of(shown.as_deref(), &ran.stack);
    ran.count(layers, sampler, named, shown);
}

/// What may have run beside the newest method of the truth.
#[derive(Copy, Clone)]
struct Running {
    /// In a window: the method of the newest frame, of which the truth has no entry. To name it is as right as to name the
    /// newest entry's.
    in_window: Option<HookId>,
}

impl Running {
    /// What a walker claims that shows the stack `shown` while `ran` is the truth, the lowest methods first.
    fn claim_of<'s>(self, shown: Option<&'s [HookId]>, ran: &[HookId]) -> Claim<&'s [HookId]> {
        let Some(shown) = shown else {
            return Claim::Silent;
        };
        // The frame is above the newest entry, or is the caller of constructors that an exception has ended.
        let is_whole = match shown.split_last() {
            Some((top, below)) => {
                self.in_window == Some(*top) && (below == ran || ran.starts_with(shown))
            }
            None => false,
        };
        if is_whole {
            Claim::InWindow
        } else {
            Claim::Named(shown)
        }
    }
}

/// What ran at the instant of `sample`, before the thread came to its next safepoint; without [`Running`] if an answer there
/// cannot be judged: the stack of a virtual thread may be unmounted at the safepoint.
fn before_safepoint(layers: &Layers, sample: &Sample) -> Option<(Ran, Option<Running>)> {
    if !layers.config.hooks.is_on() {
        return None;
    }
    let ran = with_truth(layers, sample, |truth| {
        let running = (!sample.carried).then(|| Running {
            in_window: in_window(layers, sample, truth),
        });
        Some((Ran::of(&truth.stacks())?, running))
    });
    ran.flatten()
}

/// The method whose frame is in a window at the instant of `sample`, if the sample has a stack that shows it.
fn in_window(layers: &Layers, sample: &Sample, truth: &TraceTruth<'_, Registry>) -> Option<HookId> {
    let Reply::Walked(Ok(())) = sample.reply else {
        return None;
    };
    let walk = sample.frames.frames();
    let judged = truth.judge(walk);
    let frame = walk.get(judged.at_frame?)?;
    let hook = layers.truth.methods.hook(frame.method, frame.location);
    (judged.verdict == Verdict::Window).then_some(hook?.0)
}

/// All pairs so far, if there are any.
pub fn named(layers: &Layers, env: Env<'_>) -> Option<BTreeMap<Sampler, Pairs>> {
    let methods = &layers.truth.methods;
    let truth = |hook| Some(methods.by_hook(hook)?.full_name());
    let claimed = |key| {
        let name = methods.name_at_once(env, key);
        name.unwrap_or_else(|| unnamed(key))
    };
    let pairs = layers.records.pairs.named(truth, claimed);
    (!pairs.is_empty()).then_some(pairs)
}

/// All stacks so far, if there are any.
pub fn stacks(layers: &Layers) -> Option<BTreeMap<Sampler, StackProfiles>> {
    let methods = &layers.truth.methods;
    let name = |hook| Some(methods.by_hook(hook)?.full_name());
    let stacks = layers.records.stacks.profiles(name);
    (!stacks.is_empty()).then_some(stacks)
}

/// Shows the trace stack of a sample to `see`, if it was copied.
fn with_truth<T>(
    layers: &Layers,
    sample: &Sample,
    see: impl FnOnce(&TraceTruth<'_, Registry>) -> T,
) -> Option<T> {
    let methods = &layers.truth.methods;
    sample.copied.is_ok().then(|| {
        let stack = ReadStack::new(&sample.stack, methods);
        see(&TraceTruth::new(&stack.truth(), methods))
    })
}

/// The binary name of a class, and the name of a method.
type Name = (String, String);

/// The method that stands for all methods of its name.
#[derive(Default)]
pub struct ByName {
    of_names: HashMap<Name, HookId>,
    of_hooks: HashMap<HookId, HookId>,
    /// Names that no hooked method had, when there were so many hooked methods.
    unknown: HashMap<Name, usize>,
}

impl ByName {
    /// A true stack, the lowest method first; `None` if a method is gone.
    pub fn of_truth(&mut self, stack: &[HookId], methods: &Registry) -> Option<Vec<HookId>> {
        let stands = |hook: &HookId| self.standing(*hook, methods);
        stack.iter().map(stands).collect()
    }

    fn standing(&mut self, hook: HookId, methods: &Registry) -> Option<HookId> {
        if let Some(&known) = self.of_hooks.get(&hook) {
            return Some(known);
        }
        let hooked = methods.by_hook(hook)?;
        let name = (
            hooked.class.replace('/', "."),
            hooked.method.name.to_string(),
        );
        let stands = *self.of_names.entry(name).or_insert(hook);
        self.of_hooks.insert(hook, stands);
        Some(stands)
    }

    /// The hooked methods of a stack that Java code gave, the lowest first. Native methods have no hooks, and a hooked
    /// method of the same name does not run.
    pub fn of_answer(&mut self, answer: &[StackElement], methods: &Registry) -> Vec<HookId> {
        let hooked = answer
            .iter()
            .filter(|element| element.line != Location::NATIVE);
        let named = |element: &StackElement| self.named(element, methods);
        hooked.rev().filter_map(named).collect()
    }

    fn named(&mut self, element: &StackElement, methods: &Registry) -> Option<HookId> {
        let name = (element.class.replace('/', "."), element.method.clone());
        if let Some(&known) = self.of_names.get(&name) {
            return Some(known);
        }
        let hooked = methods.number_hooked();
        if self.unknown.get(&name) == Some(&hooked) {
            return None;
        }
        let found = methods.named(&name.0, &name.1);
        match found {
            Some(hook) => _ = self.of_names.insert(name, hook),
            None => _ = self.unknown.insert(name, hooked),
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Method 3 has a frame and no entry, above entries 1 and 2.
    const IN_WINDOW: Running = Running {
        in_window: Some(HookId(3)),
    };

    fn claimed(running: Running, shown: Option<&[u32]>, ran: &[u32]) -> &'static str {
        let hooks = |of: &[u32]| of.iter().copied().map(HookId).collect::<Vec<_>>();
        let shown = shown.map(hooks);
        match running.claim_of(shown.as_deref(), &hooks(ran)) {
            Claim::InWindow => "in window",
            Claim::Named(_) => "named",
            _ => "silent",
        }
    }

    #[test]
    fn a_stack_with_the_frame_in_the_window_is_as_right_as_one_without() {
        assert_eq!(claimed(IN_WINDOW, Some(&[1, 2, 3]), &[1, 2]), "in window");
        // An exception has ended constructor 4.
        let handler = claimed(IN_WINDOW, Some(&[1, 3]), &[1, 3, 4]);
        assert_eq!(handler, "in window");
        assert_eq!(claimed(IN_WINDOW, Some(&[1, 2, 5]), &[1, 2]), "named");
        assert_eq!(claimed(IN_WINDOW, Some(&[2, 3]), &[1, 2]), "named");
        assert_eq!(claimed(IN_WINDOW, Some(&[]), &[1, 2]), "named");
        assert_eq!(claimed(IN_WINDOW, None, &[1, 2]), "silent");
        let outside = Running { in_window: None };
        assert_eq!(claimed(outside, Some(&[1, 2, 3]), &[1, 2]), "named");
    }
}
