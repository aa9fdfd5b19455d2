//! The hottest method at a request: the true one, and the one that the sampler names.

use crate::methods::NamedMethods;
use crate::run::Judged;
use oracle::bias::{Claim, claim};

/// The true method, and what the sampler claimed; `None` if nothing is certain.
pub fn named(judged: &Judged<'_>, methods: &NamedMethods) -> Option<(String, Claim<String>)> {
    let newest = *judged.truth?.truth().entries.last()?;
    let walk = judged.compared.map_or(&[][..], |(walk, _)| &walk.frames);
    let claim = claim(&judged.judgement, walk, methods)?;
    let shown =
        |key: Option<_>| key.map_or_else(|| "no method".to_owned(), |key| methods.shown(key));
    Some((methods.shown_hook(newest), claim.map(shown)))
}
