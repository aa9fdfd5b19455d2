//! What the agent does at the VM's events, from the VM's start to its death.

use crate::agent::{Agent, guard};
use crate::hooks;
use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{ClassFile, Event, Events, JMethodId, Jvmti};
use crate::jvm::thunks::Thunk;
use crate::jvm::{attached, sight};
use crate::layers::context::Layers;
use crate::layers::with_here::Place;
use crate::layers::{at_event, at_signal, ground, requests, steps};
use crate::records::Records;
use crate::sampling::sampler::Sampler;
use crate::sampling::stepping::counts::End;
use crate::sampling::stepping::handler;
use crate::truth::classes::{prepared, rewriting};
use crate::truth::thread_state::ThreadState;
use crate::walkers::asgct;
use jni_sys::jlong;
use oracle::record::{FLAGS_FILE, FlagOrigin, Record, Started, VmFlag};
use std::ffi::CStr;
use std::path::Path;

/// What the agent does at each event.
pub struct AgentEvents;

/// Runs `body` with the agent, if it is installed.
fn with<T>(body: impl FnOnce(&'static Agent) -> Option<T>) -> Option<T> {
    guard(None, || body(Agent::get()?))
}

impl Events for AgentEvents {
    fn vm_start(env: Env<'_>) {
        with::<()>(|agent| {
            let (truth, config) = (agent.layers.truth, agent.config);
            let defined =
                rewriting::define_hook_class(truth, env, &config.trace_class, &hooks::NATIVES);
            let reason = defined.err()?;
            // The classes loaded so far call the hooks: the VM cannot go on.
            agent.layers.records.invalid(reason.clone());
            eprintln!("stackwitness: {reason}");
            std::process::exit(1)
        });
    }

    fn vm_init(env: Env<'_>, thread: Ref<'_>) {
        with(|agent| {
            let layers = agent.layers;
            let (truth, records) = (layers.truth, layers.records);
            let jvm = truth.jvm;
            let property = |name: &CStr| jvm.jvmti.system_property(name);
            let mut flags = jvm.all_flags();
            keep_flags(&agent.config.run_dir, &flags);
            flags.retain(|flag| flag.set_by != FlagOrigin::Default);
            records.write(&Record::Started(Started {
                home: property(c"java.home"),
                vendor: property(c"java.vm.vendor"),
                version: property(c"java.vm.version"),
                vm: property(c"java.vm.name"),
                asgct: layers.walkers.get(asgct::NAME).is_some(),
                class_data: Some(jvm.class_data()),
                flags,
            }));
            let lost = sight::lost(jvm, layers.walkers.get(asgct::NAME).is_some());
            if !lost.is_empty() {
                records.write(&Record::Lost(lost.clone()));
            }
            if agent.config.edges && !agent.config.hooks.is_on() {
                listen_to_class_files(jvm.jvmti, records);
            }
            ground::find_vm_errors(env);
            if agent.config.hooks.is_on()
                && let Err(reason) = rewriting::learn_hook_class(truth, env)
            {
                records.invalid(reason);
            }
            truth.begin_thread(env, thread);
            if let Ok(threads) = &jvm.java_threads
                && let Err(missing) = threads.learn(env, thread)
            {
                records.write(&Record::Lost(vec![sight::contradicted(
                    missing.to_string(),
                )]));
            }
            if let Some(natives) = &truth.natives {
                natives.look_at_earlier(jvm.jvmti, env);
            }
            layers.walkers.begin(&agent.config.layers, env);
            let found = sight::lost_by_own_walker();
            let news = found.filter(|found| lost.iter().all(|known| known.why != found.why));
            if let Some(news) = news {
                records.write(&Record::Lost(vec![news]));
            }
            enter(agent, env);
            attached::rehearse(jvm.vm);
            for class in jvm.jvmti.loaded_classes(env).unwrap_or_default() {
                prepared::create_ids(truth, class.get());
            }
            jvm.set_live(true);
            if agent.config.sampling.steps
                && let Err(reason) = steps::judging::start(layers, |work| guard((), work))
            {
                records.invalid(reason);
            }
            if let Err(reason) = requests::writing::start(layers, |work| guard((), work)) {
                records.invalid(reason);
            }
            let body = |ready| guard((), || at_signal::run(layers, ready));
            match at_signal::serving(layers).and_then(|serving| Sampler::start(serving, body)) {
                Ok(sampler) => *agent.sampler() = Some(sampler),
                Err(error) => records.invalid(format!("the sampler cannot start: {error}")),
            }
            Some(())
        });
    }

    fn vm_death() {
        with(|agent| {
            let layers = agent.layers;
            handler::stop();
            layers.truth.jvm.set_live(false);
            let sampler = agent.sampler().take();
            if sampler.is_some_and(|sampler| !sampler.stop()) {
                // The sampler waits for a thread that reaches no safepoint. The end of the VM ends
                // the sampler.
                layers.truth.rewriting().late_samplers += 1;
            }
            if !steps::judging::finish() {
                layers.truth.rewriting().late_samplers += 1;
            }
            if !requests::writing::finish() {
                let reason = "the requests of the JVM's own samplers were not written in time";
                layers.records.invalid(reason.to_owned());
            }
            layers.write_counts();
            layers.records.write(&Record::Ended);
            Some(())
        });
    }

    fn thread_start(env: Env<'_>, thread: Ref<'_>) {
        with(|agent| {
            agent.layers.truth.begin_thread(env, thread);
            enter(agent, env);
            Some(())
        });
    }

    fn thread_end(env: Env<'_>) {
        with(|agent| {
            if handler::pause() {
                handler::give_back(End::ThreadExits);
            }
            end_thread(agent, env, ThreadState::current()?);
            Some(())
        });
    }

    fn virtual_thread_start(env: Env<'_>, thread: Ref<'_>) {
        // In a VM without continuations a virtual thread is a platform thread, which has no event of its own.
        if ThreadState::current().is_none_or(|state| !state.is_heard()) {
            Self::thread_start(env, thread);
        }
    }

    fn virtual_thread_end(env: Env<'_>) {
        with(|agent| {
            let (layers, state) = (agent.layers, ThreadState::current());
            let Some((threads, stack)) = layers.truth.end_virtual_thread() else {
                // In a VM without continuations a virtual thread is a platform thread.
                end_thread(agent, env, state?);
                return Some(());
            };
            if let Some(state) = state.filter(|_| agent.config.hooks.is_on()) {
                ground::end_virtual_thread(layers, state, stack, env);
            }
            threads.give_back(stack);
            Some(())
        });
    }

    fn class_file(class_file: ClassFile<'_>) -> Option<Vec<u8>> {
        with(|agent| {
            let truth = agent.layers.truth;
            if let Some(redefined) = class_file.redefined {
                let methods = truth.jvm.jvmti.create_method_ids(redefined);
                truth.methods.redefining(&methods.unwrap_or_default());
            }
            let ClassFile {
                loader,
                name,
                bytes,
                ..
            } = class_file;
            let hooked = agent.config.hooks.is_on();
            let rewritten = hooked.then(|| rewriting::rewrite(truth, loader, name, bytes));
            let rewritten = rewritten.flatten();
            if let Some(class_files) = &truth.class_files {
                class_files.loaded(rewritten.as_deref().unwrap_or(bytes));
            }
            rewritten
        })
    }

    fn native_method_bind(
        env: Option<Env<'_>>,
        method: JMethodId,
        function: usize,
    ) -> Option<usize> {
        with(|agent| {
            let truth = agent.layers.truth;
            let natives = truth.natives.as_ref()?;
            natives.bind(truth.jvm.jvmti, env, method, function)
        })
    }

    fn class_load(env: Env<'_>) {
        check(env, Event::ClassLoad);
    }

    fn class_prepare(env: Env<'_>, class: Ref<'_>) {
        with(|agent| {
            prepared::prepared(agent.layers.truth, env, class);
            Some(())
        });
        check(env, Event::ClassPrepare);
    }

    fn in_thread(env: Env<'_>, event: Event) {
        check(env, event);
    }

    fn object_free(tag: jlong) {
        with(|agent| {
            agent.layers.truth.unloading.note(tag);
            Some(())
        });
    }
}

/// Keeps all flags in the folder of the run. A run without the file is as good.
fn keep_flags(run_dir: &Path, flags: &[VmFlag]) {
    let lines = flags.iter().map(|flag| format!("{flag}\n"));
    _ = std::fs::write(run_dir.join(FLAGS_FILE), lines.collect::<String>());
}

/// Lets the VM show the files of the classes that it loads from now on, and no earlier: otherwise the VM
/// would use no archive of classes. The sampler looks at those that are there already.
fn listen_to_class_files(jvmti: Jvmti, records: &Records) {
    if let Err(error) = jvmti.enable_event(Event::ClassFileLoadHook) {
        records.invalid(format!("JVMTI refuses to show class files: error {error}"));
    }
}

/// The calling thread calls a native method with this thunk. A program makes up to millions of such calls in a
/// second, and few of them make a check.
pub extern "C" fn native_method_is_called(env: Env<'_>, thunk: usize) {
    let known = Agent::get().zip(ThreadState::current());
    if !known.is_some_and(|(agent, state)| agent.config.sampling.steps || state.check_is_due()) {
        return;
    }
    with(|agent| {
        let natives = agent.layers.truth.natives.as_ref()?;
        if natives.is_heard(Thunk(thunk)) {
            let (layers, place) = (agent.layers, Place::NativeMethod);
            arrived(layers, ThreadState::current()?, env, place);
        }
        Some(())
    });
}

/// Makes a check in an event on the calling thread, if it is time.
fn check(env: Env<'_>, event: Event) {
    with(|agent| {
        let state = ThreadState::current()?;
        arrived(agent.layers, state, env, Place::Event(event));
        Some(())
    });
}

/// The calling thread is at a place where the VM knows its frames.
fn arrived(layers: &Layers, state: &ThreadState, env: Env<'_>, place: Place) {
    let check = || at_event::arrived(layers, state, env, place);
    if layers.config.sampling.steps {
        steps::arrival::around(layers, state, env, check)
    } else {
        check()
    }
}

/// The calling thread begins, and walkers may be asked for it from now on.
fn enter(agent: &Agent, env: Env<'_>) {
    if let Some(state) = ThreadState::current() {
        agent.layers.walkers.enter(&agent.config.layers, env, state);
    }
}

fn end_thread(agent: &Agent, env: Env<'_>, state: &'static ThreadState) {
    agent.layers.walkers.leave(&agent.config.layers, env, state);
    if agent.config.hooks.is_on() {
        ground::end_thread(agent.layers, state, env);
    }
    agent.layers.truth.end_thread(env, state);
}

/// The calling thread's virtual thread has been mounted.
pub extern "C" fn mount(_: Jvmti, env: Env<'_>, _: Ref<'_>) {
    with(|agent| {
        if !agent.layers.truth.mount(env) {
            // Without memory the hooks of a virtual thread would use the carrier's trace stack.
            let reason = "no memory for the trace stack of a virtual thread".to_owned();
            agent.layers.records.invalid(reason);
        }
        Some(())
    });
}

/// The calling thread's virtual thread is about to be unmounted.
pub extern "C" fn unmount(_: Jvmti, env: Env<'_>, _: Ref<'_>) {
    with(|agent| {
        agent.layers.truth.unmount(env);
        Some(())
    });
}
