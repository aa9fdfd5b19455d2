//! What a run cost: how much CPU time its checks took, and how much slower the program was.

use serde::{Deserialize, Serialize};

/// The time of a program, from its start to its end.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// User and system time of its process, in seconds.
    pub cpu_s: f64,
    /// Elapsed time, in seconds.
    pub wall_s: f64,
}

/// The cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// User and system time of the process, in seconds, the program's own work included.
    pub cpu_s: f64,
    /// Checks of layers such as `asgct-async`, which compare samples with the trace stack
    /// ([`Layer::is_sampled_with_trace`](crate::Layer::is_sampled_with_trace)), per second of `cpu_s`; absent without such checks.
    pub async_checks_per_cpu_s: Option<f64>,
    /// CPU time as a multiple of that of the same work without the agent; absent if it was not
    /// measured.
    pub slowdown_cpu: Option<f64>,
    /// Elapsed time as a multiple of that of the same work without the agent; absent if it was not
    /// measured.
    pub slowdown_wall: Option<f64>,
    /// The time of the same work without the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_agent: Option<Effort>,
    /// Why there is no comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

impl Cost {
    /// The cost of a run that took `effort` and made `async_checks`, compared with the same work
    /// `without` the agent, or the reason why there is no comparison.
    pub fn new(effort: Effort, async_checks: u64, without: Result<Effort, String>) -> Cost {
        let ratio = |with: f64, of: fn(&Effort) -> f64| {
            let without = without.as_ref().ok().map(of).filter(|&time| time > 0.0);
            without.map(|without| with / without)
        };
        let per_cpu_s = async_checks as f64 / effort.cpu_s;
        Cost {
            cpu_s: effort.cpu_s,
            async_checks_per_cpu_s: Some(per_cpu_s)
                .filter(|rate| async_checks > 0 && rate.is_finite()),
            slowdown_cpu: ratio(effort.cpu_s, |effort| effort.cpu_s),
            slowdown_wall: ratio(effort.wall_s, |effort| effort.wall_s),
            without_agent: without.as_ref().ok().copied(),
            not_compared: without.err(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: Effort = Effort {
        cpu_s: 12.0,
        wall_s: 8.0,
    };

    #[test]
    fn ratios_are_of_the_same_work() {
        let without = Effort {
            cpu_s: 3.0,
            wall_s: 4.0,
        };
        let cost = Cost::new(EFFORT, 600, Ok(without));
        assert_eq!(cost.async_checks_per_cpu_s, Some(50.0));
        assert_eq!(
            (cost.slowdown_cpu, cost.slowdown_wall),
            (Some(4.0), Some(2.0))
        );
    }

    #[test]
    fn what_is_not_known_is_no_number() {
        let cost = Cost::new(EFFORT, 0, Err("nobody asked".into()));
        assert_eq!(cost.async_checks_per_cpu_s, None);
        assert_eq!((cost.slowdown_cpu, cost.without_agent), (None, None));
        assert_eq!(cost.not_compared.as_deref(), Some("nobody asked"));
        let nothing = Cost::new(EFFORT, 1, Ok(Effort::default()));
        assert_eq!((nothing.slowdown_cpu, nothing.slowdown_wall), (None, None));
        let at_once = Cost::new(Effort::default(), 1, Err(String::new()));
        assert_eq!(at_once.async_checks_per_cpu_s, None);
    }
}
