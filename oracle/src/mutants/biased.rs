//! Profilers that are biased on purpose, and an honest one, so that tests show whether a bias is told.

use super::inject::WalkerAnswer;
use crate::random::{GOLDEN, mix};
use crate::trace::{Frame, HookId, Methods};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

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

/// How a walker is biased, and against which method.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Biased {
    /// How.
    pub bias: Bias,
    /// The method, as `package.Class.name`.
    pub method: String,
}

impl FromStr for Biased {
    type Err = String;

    /// Reads `BIAS:METHOD`.
    fn from_str(text: &str) -> Result<Biased, String> {
        let (bias, method) = text
            .split_once(':')
            .ok_or("a bias and a method: BIAS:package.Class.name")?;
        Ok(Biased {
            bias: bias.parse()?,
            method: method.into(),
        })
    }
}

/// A walker that knows the truth.
#[derive(Debug)]
pub struct BiasedWalker {
    bias: Bias,
    random: u64,
}

impl BiasedWalker {
    /// A walker with this bias.
    pub fn new(bias: Bias, seed: u64) -> BiasedWalker {
        BiasedWalker {
            bias,
            random: mix(seed),
        }
    }

    /// What the walker answers where `walk` is true and `ran` is its newest method. `is_it` says whether this is the
    /// method that loses.
    pub fn answer(
        &mut self,
        (ran, is_it): (HookId, bool),
        walk: &[Frame],
        methods: &impl Methods,
    ) -> WalkerAnswer {
        self.random = self.random.wrapping_add(GOLDEN);
        let one_in = |n| is_it && mix(self.random).is_multiple_of(n);
        let honest = || WalkerAnswer::Stack(walk.to_vec());
        match self.bias {
            Bias::DropsOne if one_in(5) => WalkerAnswer::Error(-1),
            Bias::NamesCaller if one_in(20) => {
                from_caller(ran, walk, methods).map_or_else(honest, WalkerAnswer::Stack)
            }
            _ => honest(),
        }
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
    use crate::model::toy::InOwnCode;
    use crate::trace::{Location, MethodKey};

    /// Method 9 has no hook.
    const TOY: InOwnCode = InOwnCode(|method| method != 9);

    fn walk(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(3),
        };
        methods.iter().map(frame).collect()
    }

    /// The answers of 10,000 that are not the truth.
    fn changed(bias: Bias, of: &[usize], is_it: bool) -> Vec<WalkerAnswer> {
        let (mut walker, truth) = (BiasedWalker::new(bias, 7), walk(of));
        let answers = (0..10_000).map(|_| walker.answer((HookId(1), is_it), &truth, &TOY));
        let is_other = |answer: &WalkerAnswer| *answer != WalkerAnswer::Stack(truth.clone());
        answers.filter(is_other).collect()
    }

    #[test]
    fn one_method_loses() {
        let of = [9, 1, 1, 9, 2, 3];
        assert_eq!(changed(Bias::Honest, &of, true), []);
        let dropped = changed(Bias::DropsOne, &of, true);
        assert!((1800..2200).contains(&dropped.len()), "{}", dropped.len());
        assert!(dropped.iter().all(|a| *a == WalkerAnswer::Error(-1)));
        let renamed = changed(Bias::NamesCaller, &of, true);
        assert!((400..600).contains(&renamed.len()), "{}", renamed.len());
        let from_caller = WalkerAnswer::Stack(walk(&[2, 3]));
        assert!(renamed.iter().all(|answer| *answer == from_caller));
        for bias in Bias::ALL {
            assert_eq!(changed(bias, &of, false), [], "another method runs");
            let text = format!("{}:a.B.c", bias.name());
            let read: Biased = text.parse().expect("it is right");
            assert_eq!((read.bias, &*read.method), (bias, "a.B.c"));
        }
        assert_eq!(changed(Bias::NamesCaller, &[1, 1], true), [], "no caller");
        for wrong in ["honest", "x:a.B.c"] {
            assert!(wrong.parse::<Biased>().is_err(), "{wrong}");
        }
    }
}
