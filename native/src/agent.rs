//! The agent: its parts, how they are made and put together when the VM loads it, and the guard of all entry points.

use crate::events::{self, AgentEvents};
use crate::jvm::Jvm;
use crate::jvm::jni::Vm;
use crate::jvm::jvmti::{self, Capability, Event, Jvmti};
use crate::jvm::thunks::Thunks;
use crate::layers::context::Layers;
use crate::locks::lock;
use crate::records::{Records, file};
use crate::sampling::sampler::Sampler;
use crate::truth::context::Truth;
use crate::truth::natives::Natives;
use crate::truth::virtual_threads::VirtualThreads;
use crate::walkers::Walkers;
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

/// Prepares the agent with the configuration at `path`, in the VM's OnLoad phase. Prepares nothing
/// if another JVM has claimed the run.
pub fn load(vm: Vm, path: &str) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let config: Config =
        serde_json::from_slice(&text).map_err(|e| format!("`{path}` is no configuration: {e}"))?;
    if !file::claim_run(&config.run_dir).map_err(|e| format!("cannot claim the run: {e}"))? {
        return Ok(());
    }
    let jvmti = Jvmti::new(vm).ok_or("this VM has no JVMTI 11")?;
    let records = keep(Records::open(&config.run_dir)?);
    let config = keep(config);

    let (capabilities, mut events) = wanted(config);
    let jvmti_error = |what: &'static str| move |e| format!("JVMTI refuses {what}: error {e}");
    jvmti
        .add_capabilities(&capabilities)
        .map_err(jvmti_error("capabilities"))?;
    if config.events || config.sampling.steps {
        events.extend(in_thread(jvmti).map_err(jvmti_error("events"))?);
    }
    jvmti
        .set_callbacks::<AgentEvents>()
        .map_err(jvmti_error("callbacks"))?;
    let virtual_threads = VirtualThreads::enable(jvmti, events::mount, events::unmount);
    if virtual_threads.is_some() {
        events.extend([Event::VirtualThreadStart, Event::VirtualThreadEnd]);
    }

    let jvm = keep(Jvm::new(vm, jvmti));
    let thunks = config
        .sampling
        .native_calls
        .then(|| Thunks::new(events::native_method_is_called));
    // Without thunks no call of a native method is an event.
    let natives = thunks.and_then(Result::ok).map(Natives::new);
    let truth = keep(Truth::new(jvm, virtual_threads, natives, config));
    let walkers = keep(Walkers::find(jvm, config.walker.as_ref())?);
    if config.hooks.is_on() && !walkers.suspend(&config.layers) {
        // Only one agent may have this capability. Without it the layers of suspended threads have
        // no data.
        _ = jvmti.add_capabilities(&[Capability::Suspend]);
    }
    let layers = keep(Layers::new(config, truth, records, walkers)?);
    if !Agent::install(config, layers) {
        return Err("it is loaded already".into());
    }
    for event in events {
        jvmti.enable_event(event).map_err(jvmti_error("an event"))?;
    }
    Ok(())
}

/// Keeps a part of the agent until the VM ends.
fn keep<T>(part: T) -> &'static T {
    Box::leak(Box::new(part))
}

/// Asks for what events in the thread itself need, and returns the events.
fn in_thread(jvmti: Jvmti) -> Result<Vec<Event>, jvmti::Error> {
    let mut events = Event::IN_THREAD.to_vec();
    jvmti.add_capabilities(&[Capability::MonitorEvents, Capability::VmObjectAllocEvents])?;
    // Only one agent may have it. Without it the layer has the other events.
    let sampled = jvmti.add_capabilities(&[Capability::SampledObjectAllocEvents]);
    if sampled.is_ok() {
        events.push(Event::SampledObjectAlloc);
    }
    Ok(events)
}

/// The capabilities and events that the agent needs.
fn wanted(config: &Config) -> (Vec<Capability>, Vec<Event>) {
    let mut capabilities = vec![
        Capability::GetLineNumbers,
        Capability::GetBytecodes,
        Capability::TagObjects,
        Capability::ObjectFreeEvents,
    ];
    let mut events = vec![
        Event::VmInit,
        Event::VmDeath,
        Event::ThreadStart,
        Event::ThreadEnd,
        // AsyncGetCallTrace answers only if this event is enabled.
        Event::ClassLoad,
        Event::ClassPrepare,
        Event::ObjectFree,
    ];
    if config.edges {
        capabilities.push(Capability::GetConstantPool);
    }
    if config.sampling.native_calls {
        capabilities.push(Capability::NativeMethodBindEvents);
        events.push(Event::NativeMethodBind);
    }
    if config.hooks.is_on() {
        capabilities.extend([
            Capability::AllClassHookEvents,
            Capability::EarlyVmStart,
            Capability::EarlyClassHookEvents,
        ]);
        events.extend([Event::VmStart, Event::ClassFileLoadHook]);
    } else if config.edges {
        // The event is enabled in the live phase.
        capabilities.push(Capability::AllClassHookEvents);
    }
    (capabilities, events)
}
