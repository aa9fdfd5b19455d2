//! What of a VM cannot be read, so that the reader learns it before any result.

use super::mismatch::CauseName;
use crate::Layer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What cannot be read for one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// What cannot be read: `debug info`, `threads`.
    pub what: Vec<String>,
    /// Why: what the VM does not publish, or publishes otherwise.
    pub why: String,
    /// Whether imprecise stacks cannot be told from false ones.
    #[serde(default)]
    pub imprecise: bool,
    /// The causes that cannot be proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseName>,
    /// The layers that cannot be judged, whether they were asked for or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this VM's {} cannot be read: {}",
            listed(&self.what),
            self.why
        )?;
        let mut gone = vec![];
        if self.imprecise {
            gone.push("imprecise".to_owned());
        }
        match &*self.causes {
            [] => {}
            [cause] => gone.push(format!("cause {cause}")),
            causes => gone.push(format!("{} causes", causes.len())),
        }
        gone.extend(self.layers.iter().map(ToString::to_string));
        if !gone.is_empty() {
            write!(f, "; not available: {}", gone.join(", "))?;
        }
        Ok(())
    }
}

/// `a`, `a and b`, or `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_learns_what_is_lost_why_and_what_that_costs() {
        let lost = Lost {
            what: vec!["compiled methods".into(), "debug info".into()],
            why: "field nmethod::_method is missing".into(),
            imprecise: true,
            causes: vec![CauseName::new("no-record"), CauseName::new("below-stub")],
            layers: vec![Layer::AsgctAsync, Layer::AsgstStep],
        };
        assert_eq!(
            lost.to_string(),
            "this VM's compiled methods and debug info cannot be read: field nmethod::_method is \
             missing; not available: imprecise, 2 causes, asgct-async, asgst-step"
        );
    }
}
