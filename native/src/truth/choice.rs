//! The choice of methods that are hooked.

use super::methods::hooked::CONSTRUCTOR;
use instrumenter::{MethodInfo, Patterns};
use oracle::record::Config;

/// The methods that are hooked, and the methods that make a check at each call.
pub struct Chosen {
    hook: Patterns,
    /// Whether constructors are hooked, too.
    ///
    /// An exception that leaves the call of `super(...)` is noticed by the hooks of the constructor that was
    /// called. If that constructor may have no hooks, the caller's entry may be stale, and nothing says so.
    /// So constructors are hooked only if all are.
    constructors: bool,
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
        let is_part =
            config.probability < 1.0 || !config.include.is_empty() || !config.exclude.is_empty();
        Chosen {
            constructors: !is_part,
            hook: config
                .exclude
                .iter()
                .fold(hook, |chosen, p| chosen.exclude(p)),
            check: (!none).then_some(check),
        }
    }

    /// Whether `method` is hooked.
    pub fn wants(&self, method: &MethodInfo<'_>) -> bool {
        (self.constructors || method.name != CONSTRUCTOR) && self.hook.wants_method(method)
    }

    /// Whether `method`, if hooked, makes a check at each call.
    pub fn checks(&self, method: &MethodInfo<'_>) -> bool {
        let check = self.check.as_ref();
        check.is_some_and(|check| check.wants_method(method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn wants(changes: &Value, name: &str) -> bool {
        let mut config = json!({
            "run_dir": "", "trace_class": "", "seed": 1, "hooks": true, "probability": 1.0,
            "check_share": 0.0, "sample_interval_us": 0, "gst_every": 0, "evidence_limit": 0,
        });
        for (key, value) in changes.as_object().expect("an object") {
            config[key] = value.clone();
        }
        let config: Config = serde_json::from_value(config).expect("a configuration");
        Chosen::new(&config).wants(&MethodInfo {
            class: "a/B",
            name,
            descriptor: "()V",
            access_flags: 0,
            code_size: 9,
        })
    }

    #[test]
    fn constructors_are_hooked_only_if_all_methods_are() {
        assert!(wants(&json!({}), "m") && wants(&json!({}), CONSTRUCTOR));
        for part in [
            json!({"probability": 0.999_999}),
            json!({"include": ["a/B"]}),
            json!({"exclude": ["a/C"]}),
        ] {
            assert!(wants(&part, "m") && !wants(&part, CONSTRUCTOR), "{part}");
        }
    }
}
