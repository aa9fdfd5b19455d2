//! The methods at a request: those that ran, and those that the sampler names.

use crate::methods::NamedMethods;
use crate::run::Judged;
use oracle::bias::{Claim, claim, hooked};
use oracle::trace::HookId;

/// The hottest method that ran, and what the sampler claimed; `None` if it is not known what ran, or if a hook did.
pub fn named(judged: &Judged<'_>, methods: &NamedMethods) -> Option<(String, Claim<String>)> {
    let judged = of_program(judged)?;
    let newest = *judged.truth?.entries()?.last()?;
    let walk = judged.compared.map_or(&[][..], |(walk, _)| &walk.frames);
    let claim = claim(&judged.judgement, walk, methods);
    let shown =
        |key: Option<_>| key.map_or_else(|| "no method".to_owned(), |key| methods.shown(key));
    Some((methods.shown_hook(newest), claim.map(shown)))
}

/// The hooked methods of the stack that ran, the lowest first, and those of the sampler's stack; `None` if it is not
/// known what ran, or if a hook did.
pub fn stacks<'a>(
    judged: &Judged<'a>,
    methods: &NamedMethods,
) -> Option<(&'a [HookId], Claim<Vec<HookId>>)> {
    let truth = of_program(judged)?.truth?.entries()?;
    let walk = judged.compared.map_or(&[][..], |(walk, _)| &walk.frames);
    let claim = claim(&judged.judgement, walk, methods);
    let shown = claim.map(|_| hooked(walk, methods));
    (!truth.is_empty()).then_some((truth, shown))
}

/// What is judged, unless a hook ran: of such requests the sampler loses more than of those in the program. A stack with a
/// frame without a name says of no method that it is the hottest.
fn of_program<'j, 'a>(judged: &'j Judged<'a>) -> Option<&'j Judged<'a>> {
    let hook_ran = judged.request.is_some_and(|request| request.hook_ran);
    let is_named = judged
        .compared
        .is_none_or(|(walk, _)| walk.unnamed.is_empty());
    (!hook_ran && is_named).then_some(judged)
}
