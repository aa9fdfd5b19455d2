//! The agent as a whole: its parts, for the entry points that the VM calls.

use crate::layers::context::Layers;
use crate::locks::lock;
use crate::sampling::sampler::Sampler;
use oracle::record::Config;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The agent. A VM has one agent.
pub struct Agent {
    /// The configuration of the runner.
    pub config: &'static Config,
    /// The layers, and through them all other parts.
    pub layers: &'static Layers,
    sampler: Mutex<Option<Sampler>>,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

impl Agent {
    /// Makes this the agent. Returns false if there is an agent already.
    pub fn install(config: &'static Config, layers: &'static Layers) -> bool {
        let agent = Agent {
            config,
            layers,
            sampler: Mutex::new(None),
        };
        AGENT.set(agent).is_ok()
    }

    /// The agent, if it is installed.
    #[inline]
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// The agent's layers, if it is installed.
    #[inline]
    pub fn layers() -> Option<&'static Layers> {
        AGENT.get().map(|agent| agent.layers)
    }

    /// The running sampler, if it is running.
    pub fn sampler(&self) -> MutexGuard<'_, Option<Sampler>> {
        lock(&self.sampler)
    }
}

/// Runs the body of an entry point. A panic makes the run invalid. It must not leave the body,
/// because it would abort the VM.
pub fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        if let Some(layers) = Agent::layers() {
            layers.truth.jvm.set_live(false);
            layers
                .records
                .invalid(format!("the agent panicked: {text}"));
        }
        otherwise
    })
}
