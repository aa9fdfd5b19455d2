//! The choice of methods that are hooked.

use instrumenter::{MethodInfo, Patterns};
use oracle::record::Config;

/// The methods that are hooked, and the methods that make a check at each call.
pub struct Chosen {
    hook: Patterns,
    check: Option<Patterns>,
}

impl Chosen {
    /// The choice of the configuration.
    pub fn new(config: &Config) -> Chosen {
        let all = Patterns::all().probability(config.probability, config.seed);
        let hook = config
            .include
            .iter()
            .fold(all, |chosen, p| chosen.include(p));
        let none = config.check.is_empty();
        let check = config
            .check
            .iter()
            .fold(Patterns::all(), |chosen, p| chosen.include(p));
        Chosen {
            hook: config
                .exclude
                .iter()
                .fold(hook, |chosen, p| chosen.exclude(p)),
            check: (!none).then_some(check),
        }
    }

    /// Whether `method` is hooked.
    pub fn wants(&self, method: &MethodInfo<'_>) -> bool {
        self.hook.wants_method(method)
    }

    /// Whether `method`, if hooked, makes a check at each call.
    pub fn checks(&self, method: &MethodInfo<'_>) -> bool {
        let check = self.check.as_ref();
        check.is_some_and(|check| check.wants_method(method))
    }
}
