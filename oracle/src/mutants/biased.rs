//! Profilers that are biased on purpose, and an honest one, so that tests show whether a bias is told.

use super::inject::WalkerAnswer;
use crate::random::{GOLDEN, mix};
use crate::trace::{Frame, HookId, Methods};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::str::FromStr;

/// After so many instants the method that ran most is the one of which a walker is biased.
const BEFORE: u64 = 500;

/// How a walker is biased.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bias {
    /// It answers with the truth.
    Honest,
    /// It returns an error code at one in five instants at which one method runs.
    DropsOne,
    /// It names the caller at one in twenty instants at which one method runs.
    NamesCaller,
}

impl Bias {
    /// All of them.
    pub const ALL: [Bias; 3] = [Bias::Honest, Bias::DropsOne, Bias::NamesCaller];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Bias::Honest => "honest",
            Bias::DropsOne => "drops-one",
            Bias::NamesCaller => "names-caller",
        }
    }
}

impl FromStr for Bias {
    type Err = String;

    fn from_str(name: &str) -> Result<Bias, String> {
        let found = Bias::ALL.into_iter().find(|bias| bias.name() == name);
        found.ok_or_else(|| {
            let known = Bias::ALL.map(Bias::name).join(", ");
            format!("unknown bias `{name}`; known: {known}")
        })
    }
}

/// A walker that knows the truth.
#[derive(Debug)]
pub struct BiasedWalker {
    bias: Bias,
    random: u64,
    /// How often each method ran before one was chosen.
    ran: HashMap<HookId, u64>,
    instants: u64,
    chosen: Option<HookId>,
}

impl BiasedWalker {
    /// A walker with this bias.
    pub fn new(bias: Bias, seed: u64) -> BiasedWalker {
        BiasedWalker {
            bias,
            random: mix(seed),
            ran: HashMap::new(),
            instants: 0,
            chosen: None,
        }
    }

    /// What the walker answers where `walk` is true and `ran` is its newest method; `None` while the walker has not
    /// chosen a method.
    pub fn answer(
        &mut self,
        ran: HookId,
        walk: &[Frame],
        methods: &impl Methods,
    ) -> Option<WalkerAnswer> {
        let Some(chosen) = self.chosen else {
            self.instants += 1;
            *self.ran.entry(ran).or_default() += 1;
            if self.instants >= BEFORE {
                let most = self.ran.drain().max_by_key(|&(method, n)| (n, method));
                self.chosen = most.map(|(method, _)| method);
            }
            return None;
        };
        self.random = self.random.wrapping_add(GOLDEN);
        let one_in = |n| chosen == ran && mix(self.random).is_multiple_of(n);
        let honest = || WalkerAnswer::Stack(walk.to_vec());
        Some(match self.bias {
            Bias::DropsOne if one_in(5) => WalkerAnswer::Error(-1),
            Bias::NamesCaller if one_in(20) => {
                from_caller(ran, walk, methods).map_or_else(honest, WalkerAnswer::Stack)
            }
            _ => honest(),
        })
    }
}

/// The frames of `walk` from the newest hooked method on that is not `ran`.
fn from_caller(ran: HookId, walk: &[Frame], methods: &impl Methods) -> Option<Vec<Frame>> {
    let hook = |frame: &Frame| methods.hook(frame.method, frame.location);
    let is_caller = |frame: &Frame| hook(frame).is_some_and(|(hook, _)| hook != ran);
    let own = walk.iter().position(|frame| hook(frame).is_some())?;
    let caller = walk[own..].iter().position(is_caller)?;
    Some(walk[own + caller..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Location, MethodKey, Presence, Site};

    /// Method 9 has no hook.
    struct Toy;

    impl Methods for Toy {
        fn hook(&self, method: MethodKey, _: Location) -> Option<(HookId, Presence)> {
            (method.0 != 9).then_some((HookId(method.0 as u32), Presence::Present))
        }

        fn is_hook_call(&self, _: MethodKey) -> bool {
            false
        }

        fn is_constructor(&self, _: HookId) -> bool {
            false
        }

        fn site(&self, _: MethodKey, _: Location) -> Site {
            Site::Unknown
        }
    }

    fn walk(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(3),
        };
        methods.iter().map(frame).collect()
    }

    /// How many of 10,000 answers are not the truth, when method 1 runs twice as often as method 2.
    fn changed(bias: Bias, of: &[usize], ran: u32) -> (usize, Vec<WalkerAnswer>) {
        let mut walker = BiasedWalker::new(bias, 7);
        for instant in 0..BEFORE {
            let other = if instant % 3 == 0 { 2 } else { 1 };
            assert_eq!(walker.answer(HookId(other), &walk(&[1]), &Toy), None);
        }
        let truth = walk(of);
        let answers = (0..10_000).map(|_| walker.answer(HookId(ran), &truth, &Toy));
        let answers: Vec<WalkerAnswer> = answers.map(|answer| answer.expect("chosen")).collect();
        let other = |answer: &&WalkerAnswer| **answer != WalkerAnswer::Stack(truth.clone());
        let others: Vec<WalkerAnswer> = answers.iter().filter(other).cloned().collect();
        (others.len(), others)
    }

    #[test]
    fn one_method_loses() {
        let of = [9, 1, 1, 9, 2, 3];
        assert_eq!(changed(Bias::Honest, &of, 1).0, 0);
        let (dropped, answers) = changed(Bias::DropsOne, &of, 1);
        assert!((1800..2200).contains(&dropped), "{dropped}");
        assert!(answers.iter().all(|a| *a == WalkerAnswer::Error(-1)));
        let (renamed, answers) = changed(Bias::NamesCaller, &of, 1);
        assert!((400..600).contains(&renamed), "{renamed}");
        let from_caller = WalkerAnswer::Stack(walk(&[2, 3]));
        assert!(answers.iter().all(|answer| *answer == from_caller));
        for bias in Bias::ALL {
            assert_eq!(changed(bias, &[2, 3], 2).0, 0, "another method runs");
            assert_eq!(bias.name().parse(), Ok(bias));
        }
        assert_eq!(changed(Bias::NamesCaller, &[1, 1], 1).0, 0, "no caller");
    }
}
