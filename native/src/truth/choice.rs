//! The choice of methods that are hooked.

use super::methods::hooked::CONSTRUCTOR;
use instrumenter::{MethodInfo, Patterns};
use oracle::Hooking;
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
    /// Whether short methods are left alone: with light hooks, for which the compilers' work is most of the
    /// cost.
    short_are_left: bool,
}

impl Chosen {
    /// The choice of the configuration.
    pub fn new(config: &Config) -> Chosen {
        let sampling = &config.sampling;
        let all = Patterns::all().probability(sampling.probability, config.seed);
        let hook = sampling
            .include
            .iter()
            .fold(all, |chosen, p| chosen.include(p));
        let none = sampling.check.is_empty();
        let check = sampling
            .check
            .iter()
            .fold(Patterns::all(), |chosen, p| chosen.include(p));
        let is_part = sampling.probability < 1.0
            || !sampling.include.is_empty()
            || !sampling.exclude.is_empty();
        Chosen {
            constructors: !is_part,
            hook: sampling
                .exclude
                .iter()
                .fold(hook, |chosen, p| chosen.exclude(p)),
            check: (!none).then_some(check),
            short_are_left: config.hooks == Hooking::Light,
        }
    }

    /// Whether `method` is left alone because it is short, and class files prove its frames.
    pub fn leaves(&self, method: &MethodInfo<'_>) -> bool {
        self.short_are_left && method.is_short && !self.checks(method)
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

    fn chosen(hooks: &str, sampling: &Value) -> Chosen {
        let config = json!({
            "run_dir": "", "trace_class": "", "seed": 1, "hooks": hooks, "sampling": sampling,
        });
        let config: Config = serde_json::from_value(config).expect("a configuration");
        Chosen::new(&config)
    }

    fn wants(changes: &Value, name: &str) -> bool {
        chosen("exact", changes).wants(&MethodInfo {
            class: "a/B",
            name,
            descriptor: "()V",
            access_flags: 0,
            code_size: 9,
            is_short: false,
        })
    }

    #[test]
    fn short_methods_are_left_alone_by_light_hooks_unless_they_make_checks() {
        let leaves = |hooks, sampling: &Value| {
            let short = MethodInfo {
                class: "a/B",
                name: "x",
                descriptor: "()I",
                access_flags: 0,
                code_size: 17,
                is_short: true,
            };
            let chosen = chosen(hooks, sampling);
            assert!(!chosen.leaves(&MethodInfo {
                is_short: false,
                ..short
            }));
            chosen.leaves(&short)
        };
        assert!(leaves("light", &json!({})));
        assert!(!leaves("exact", &json!({})));
        assert!(!leaves("light", &json!({ "check": ["a/B.x"] })));
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
