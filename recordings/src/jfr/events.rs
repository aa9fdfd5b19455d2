//! The events of a chunk: stacks, system properties, and events that change the program.

use super::constants::{Constants, Methods};
use super::metadata::Types;
use super::seen::{SAMPLES, Seen};
use super::values::{self, Value};
use crate::bytes::Bytes;
use crate::shown::Frames;
use crate::sink::{IN_MAIN, PWD, Samples, Sink, Stack};
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};

/// Why an event is read.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Use {
    /// For its stack.
    Stack,
    /// For its system property.
    Property,
    /// For its variable of the environment.
    Variable,
    /// The JVM's arguments.
    Arguments,
    /// For a setting of the recording.
    Setting,
    /// For an agent, or a class that was redefined.
    Interference,
    /// For its number, because it holds a stack.
    Count,
}

/// Events of agents, and of classes that agents redefine.
const INTERFERING: [&str; 5] = [
    "jdk.JavaAgent",
    "jdk.NativeAgent",
    "jdk.ClassRedefinition",
    "jdk.RedefineClasses",
    "jdk.RetransformClasses",
];

/// Collects the events of a chunk.
pub(super) struct Events<'a> {
    types: &'a Types,
    uses: HashMap<i64, Use>,
    /// How often each stack was sampled in each thread, by their keys.
    samples: HashMap<i64, HashMap<i64, Sampled, FxBuildHasher>, FxBuildHasher>,
}

/// The samples of a stack in a thread.
#[derive(Copy, Clone, Debug)]
struct Sampled {
    times: u64,
    /// The time of the first and of the last one, in ticks.
    span: (i64, i64),
}

impl Sampled {
    fn add(&mut self, at: i64) {
        self.times += 1;
        self.extend((at, at));
    }

    fn extend(&mut self, (first, last): (i64, i64)) {
        self.span = (self.span.0.min(first), self.span.1.max(last));
    }
}

impl Default for Sampled {
    fn default() -> Sampled {
        Sampled {
            times: 0,
            span: (i64::MAX, i64::MIN),
        }
    }
}

impl<'a> Events<'a> {
    pub fn new(types: &'a Types, wanted: &[&str]) -> Events<'a> {
        let with_stacks: HashSet<i64> = types.with_stacks().map(|(id, _)| id).collect();
        let uses = types.0.iter().filter_map(|(&id, of)| {
            let holds = with_stacks.contains(&id);
            let name = of.name.as_str();
            let how = match name {
                _ if holds && wanted.contains(&name) => Use::Stack,
                "jdk.InitialSystemProperty" => Use::Property,
                "jdk.InitialEnvironmentVariable" => Use::Variable,
                "jdk.JVMInformation" => Use::Arguments,
                "jdk.ActiveSetting" => Use::Setting,
                _ if INTERFERING.contains(&name) => Use::Interference,
                _ if holds => Use::Count,
                _ => return None,
            };
            Some((id, how))
        });
        Events {
            types,
            uses: uses.collect(),
            samples: HashMap::default(),
        }
    }

    /// Reads an event. A damaged event is left out.
    pub fn see(
        &mut self,
        of: i64,
        mut body: Bytes<'_>,
        constants: &Constants<'_>,
        seen: &mut Seen,
        sink: &mut dyn Sink,
    ) {
        let Some(&how) = self.uses.get(&of) else {
            return;
        };
        let Some(event) = self.types.get(of) else {
            return;
        };
        let holds = matches!(how, Use::Stack | Use::Count);
        if holds {
            *seen.with_stacks.entry(event.name.clone()).or_default() += 1;
        }
        if how == Use::Count {
            return;
        }
        let mut fields: Vec<(&str, Value)> = vec![];
        let _ = values::fields(self.types, of, &mut body, &mut |at, value| {
            fields.push((&event.fields[at].name, value));
        });
        let field = |name: &str| fields.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        let text = |name| match field(name) {
            Some(Value::Text(Some(text))) => Some(text.clone()),
            Some(&Value::Key(key)) => constants.text(key).map(str::to_owned),
            _ => None,
        };
        match how {
            Use::Property => {
                if let (Some(key), Some(value)) = (text("key"), text("value")) {
                    sink.property(&key, &value);
                }
            }
            Use::Variable => {
                if let (Some("PWD"), Some(value)) = (text("key").as_deref(), text("value")) {
                    sink.property(PWD, &value);
                }
            }
            Use::Arguments => {
                let arguments = text("jvmArguments").unwrap_or_default();
                for argument in arguments.split_whitespace().filter(|a| is_agent(a)) {
                    let what = format!("the JVM was started with {argument}");
                    seen.interference.insert(what, 1);
                }
                // JFR leaves the properties of modules out.
                if let Some(path) = module_path(&arguments) {
                    sink.property("jdk.module.path", path);
                }
            }
            Use::Setting => {
                // Of async-profiler.
                if text("name").as_deref() == Some("jstackdepth") {
                    seen.depth = text("value").and_then(|depth| depth.parse().ok());
                }
            }
            Use::Interference => {
                let name = text("name").map_or(String::new(), |name| format!(" of {name}"));
                let what = format!("{}{name}", event.name);
                *seen.interference.entry(what).or_default() += 1;
            }
            Use::Stack => {
                let is = |name| field(name) == Some(&Value::Number(1));
                seen.failed += u64::from(is("failed"));
                seen.biased += u64::from(is("biased"));
                let key = |name| match field(name) {
                    Some(&Value::Key(key)) => Some(key),
                    _ => None,
                };
                // The stack of another event need not be the stack of the event's thread: the event
                // of a thread's start has the new thread and the stack of the old thread.
                let thread = key("sampledThread").or_else(|| key("eventThread"));
                let thread = thread.filter(|_| SAMPLES.contains(&event.name.as_str()));
                // Key 0 stands for no stack.
                if let Some(stack) = key("stackTrace").filter(|&stack| stack != 0) {
                    let threads = self.samples.entry(stack).or_default();
                    let at = match field("startTime") {
                        Some(&Value::Number(at)) => at,
                        _ => 0,
                    };
                    threads.entry(thread.unwrap_or(0)).or_default().add(at);
                } else if !is("failed") {
                    seen.without_stack += 1;
                }
            }
            Use::Count => {}
        }
    }

    /// Passes each stack to the sink, and counts in `seen` those that are left out.
    pub fn tell(&self, constants: &Constants<'_>, seen: &mut Seen, sink: &mut dyn Sink) {
        let depth = seen.depth;
        let (mut methods, mut frames) = (Methods::default(), Frames::default());
        let in_main = self.in_main(constants);
        // In the order of their keys, so that a report is the same each time.
        let mut stacks: Vec<_> = self.samples.iter().collect();
        stacks.sort_by_key(|(key, _)| **key);
        for (&key, threads) in stacks {
            let whole = constants.stack((key, depth), &mut methods, sink, &mut frames);
            let mut samples: Vec<_> = threads
                .iter()
                .map(|(thread, sampled)| {
                    let (first, last) = sampled.span;
                    let main = in_main.get(thread).map(|main| main.span);
                    let is_within = main.is_some_and(|main| main.0 < first && last < main.1);
                    let is_told = is_within && whole == Some(true) && !constants.ends_in_main(key);
                    Samples {
                        thread: constants.thread(*thread),
                        times: sampled.times,
                        start: is_told.then_some(IN_MAIN),
                    }
                })
                .collect();
            samples.sort_by(|a, b| a.thread.cmp(&b.thread));
            let times = samples.iter().map(|samples| samples.times).sum::<u64>();
            match whole {
                None => seen.damaged += times,
                Some(_) if frames.all.is_empty() => seen.without_java += times,
                Some(whole) => sink.stack(Stack {
                    frames: &frames.all,
                    whole,
                    samples: &samples,
                }),
            }
        }
    }
}

impl Events<'_> {
    /// Of each thread, the samples whose lowest frame is `main`, in a file of a profiler that cuts stacks without a word.
    fn in_main(&self, constants: &Constants<'_>) -> HashMap<i64, Sampled, FxBuildHasher> {
        let mut in_main: HashMap<i64, Sampled, FxBuildHasher> = HashMap::default();
        if !constants.is_of_async_profiler() {
            return in_main;
        }
        let stacks = self.samples.iter();
        for (_, threads) in stacks.filter(|(key, _)| constants.ends_in_main(**key)) {
            for (&thread, sampled) in threads.iter().filter(|(thread, _)| **thread != 0) {
                in_main.entry(thread).or_default().extend(sampled.span);
            }
        }
        in_main
    }
}

/// The module path among the JVM's arguments. A space within an argument cannot be told from a space between
/// two: all options begin with a hyphen.
fn module_path(arguments: &str) -> Option<&str> {
    let (_, rest) = arguments.rsplit_once("--module-path=")?;
    Some(rest.split(" -").next().unwrap_or(rest).trim_end())
}

fn is_agent(argument: &str) -> bool {
    let options = ["-javaagent:", "-agentpath:", "-agentlib:"];
    options.iter().any(|option| argument.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::module_path;

    #[test]
    fn a_module_path_may_have_spaces() {
        let arguments = "-Xmx1g --module-path=a b:c -Dx=y";
        assert_eq!(module_path(arguments), Some("a b:c"));
        assert_eq!(module_path("--module-path=mods "), Some("mods"));
        assert_eq!(module_path("-Xmx1g"), None);
    }
}
