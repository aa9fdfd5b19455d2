//! Loads the agent: makes its parts and puts them together.
//!
//! Some of the capabilities that the layers of a run need change what the JVM does (`share/prims/jvmtiManageCapabilities.cpp` and
//! `share/prims/jvmtiExport.cpp` of HotSpot, and the files named):
//!
//! | capability | who needs it | what the JVM does differently |
//! | --- | --- | --- |
//! | `can_get_line_numbers`, `can_get_bytecodes`, `can_get_constant_pool` | reports; the BCIs of walks, in all layers; class files of classes that are hidden or were loaded early (`call-edge`), and whether Java code sees a class's methods (`java` to `thread-print`) | nothing |
//! | `can_tag_objects`, `can_generate_object_free_events` | methods of unloaded classes are forgotten: all layers | Collectors look at the tags. The archive of class data sharing is mapped writable (`share/cds/filemap.cpp`). Since JDK 16 C2 notes in debug info records which frames hold objects that it did not allocate (`share/ci/ciEnv.cpp`). |
//! | `can_support_virtual_threads`, JDK 21 and later | the stack of a virtual thread is distinguished from its carrier's: all layers | Each mount and unmount of a virtual thread calls the VM. |
//! | `can_generate_all_class_hook_events` | with hooks, all layers; without hooks, `call-edge` | The archive is mapped writable. From the event on, the VM reads the file of each class that it takes from the archive, and uses no archived objects that need classes of the program (`share/cds/heapShared.cpp`) and no generated invokers of an AOT cache. |
//! | `can_generate_early_class_hook_events`, `can_generate_early_vmstart` | hooks | The JVM uses no archive of classes, and no AOT cache. `-Xshare:on` ends the JVM. |
//! | `can_suspend` | with hooks, the layers of suspended threads | nothing until a thread is suspended |
//! | `can_generate_sampled_object_alloc_events` | `asgct-event` | Some 2,500 allocations a second take the slow way into the VM, and call the agent. The agent adjusts the interval between them to what the program allocates. |
//! | `can_generate_vm_object_alloc_events` | `asgct-event` | The VM notes the objects that it allocates for its own functions, and calls the agent for each. The agent disables the event after 1,000 of them, until the next second. |
//! | `can_generate_monitor_events` | `asgct-event` | A thread that waits for a monitor, or in `Object.wait`, calls the agent. |
//! | `can_generate_native_method_bind_events`, on x86-64 | `asgct-event`, unless the scenario says `native_calls = false` | The VM tells the agent which function it binds to a native method. The agent has the VM bind a thunk instead (`native/src/jvm/thunks.rs`): code that saves the registers of the arguments, calls the agent, restores the registers and jumps to the function. The stack of Java frames stays as it is. |
//!
//! Of events without a capability the agent uses those of the VM, threads and classes. The event that shows class files is enabled in
//! the live phase in runs without hooks, so that `-Xshare:on` and `-XX:AOTMode=on` work.

use crate::agent::Agent;
use crate::events::{self, AgentEvents};
use crate::jvm::Jvm;
use crate::jvm::jni::Vm;
use crate::jvm::jvmti::{self, Capability, Event, Jvmti};
use crate::jvm::thunks::Thunks;
use crate::layers::context::Layers;
use crate::records::{Records, claim_run};
use crate::truth::context::Truth;
use crate::truth::natives::Natives;
use crate::truth::virtual_threads::VirtualThreads;
use crate::walkers::Walkers;
use oracle::record::Config;

/// Prepares the agent with the configuration at `path`, in the VM's OnLoad phase. Prepares nothing
/// if another JVM has claimed the run.
pub fn load(vm: Vm, path: &str) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let config: Config =
        serde_json::from_slice(&text).map_err(|e| format!("`{path}` is no configuration: {e}"))?;
    if !claim_run(&config.run_dir).map_err(|e| format!("cannot claim the run: {e}"))? {
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
