//! What is to be known of a profiler to run it beside the agent, and to read its recordings.
//!
//! Profilers that sample by signals differ in their options, in the names of their events, and in the frames with which
//! they say that they could not walk on. A small TOML file says all of this; two are built in.

use oracle::report::GivenProfiler;
use recordings::samples::Wanted;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A profiler.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name in reports.
    pub name: String,
    /// How the name of its library's file begins. Descriptions that are built in are found by it.
    pub library: String,
    /// The options of its library, if the user gives none.
    pub options: String,
    /// The options that say how it samples and walks stacks, in the order in which reports name them: a report has a row
    /// for each of their values. Without them a report names all options.
    #[serde(default)]
    pub configuration: Vec<String>,
    /// The options with which it writes a JFR file; `{recording}` stands for the file. They follow the others.
    pub recording: String,
    /// The events that are samples by signals.
    pub events: Vec<String>,
    /// The events that may show the stack of an earlier event of their thread again, without a walk.
    #[serde(default)]
    pub repeats: Vec<String>,
    /// The options with which its frames of Java are those of AsyncGetCallTrace; one of them is enough. If they always are, name
    /// an option that is always there, such as `start`.
    #[serde(default)]
    pub jvm_walker: Vec<String>,
    /// The names of frames with which it says that it could not walk on, if they are the lowest; a `*` at the end stands for
    /// any text.
    #[serde(default)]
    pub marks: Vec<String>,
    /// The names of frames that stand for a Java method that it could not name. A stack that lacks no more frames than it has
    /// such ones is not judged.
    #[serde(default)]
    pub unnamed: Vec<String>,
    /// Classes that it writes under one name.
    #[serde(default)]
    pub families: Vec<ClassFamily>,
}

/// Classes that a profiler writes under one name.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassFamily {
    /// How their internal names begin. This beginning is the name that the profiler writes.
    pub class: String,
    /// The name that the profiler writes for each of their methods; without it, the methods keep their names.
    #[serde(default)]
    pub method: Option<String>,
}

/// A profiler of a run, as [`PROFILER_FILE`] has it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The profiler.
    pub description: Description,
    /// Whether it walks stacks itself, and does not ask the JVM.
    pub by_profiler: bool,
}

/// The file with the profiler in a run's folder.
pub const PROFILER_FILE: &str = "profiler.json";

/// Stands for the recording's file in [`Description::recording`].
const RECORDING: &str = "{recording}";

/// The descriptions that are built in.
const BUILT_IN: [&str; 2] = [
    include_str!("../profilers/async-profiler.toml"),
    include_str!("../profilers/datadog.toml"),
];

impl Description {
    /// All that are built in.
    pub fn built_in() -> Vec<Description> {
        let parse = |text: &&str| Description::parse(text).expect("a test reads it");
        BUILT_IN.iter().map(parse).collect()
    }

    /// The description that is built in for the library in `file`, by its name.
    pub fn of(file: &Path) -> Option<Description> {
        let name = file.file_name()?.to_string_lossy().into_owned();
        let mut all = Description::built_in().into_iter();
        all.find(|known| name.starts_with(&known.library))
    }

    /// Reads a description. Fails, and says where, if something is wrong with it.
    pub fn parse(text: &str) -> Result<Description, String> {
        let described: Description = toml::from_str(text).map_err(|e| e.to_string())?;
        if !described.recording.contains(RECORDING) {
            return Err(format!(
                "`recording` must have {RECORDING} where the profiler's options name its file"
            ));
        }
        if described.events.is_empty() {
            return Err("`events` must name at least one event of the recording".into());
        }
        Ok(described)
    }

    /// The option string of the library, with the user's own options, if there are some. It writes to `recording`.
    pub fn options(&self, own: Option<&str>, recording: &Path) -> String {
        let file = recording.display().to_string();
        let options = own.unwrap_or(&self.options);
        format!("{options},{}", self.recording.replace(RECORDING, &file))
    }

    /// Itself, started with the user's own options, if there are some.
    pub fn started(&self, own: Option<&str>) -> Started {
        let mut options = own.unwrap_or(&self.options).split(',');
        let asks_jvm = options.any(|option| self.jvm_walker.iter().any(|known| known == option));
        Started {
            description: self.clone(),
            by_profiler: !asks_jvm,
        }
    }

    /// Its name in the reports of a run with the user's own options, if there are some.
    pub fn named(&self, own: Option<&str>) -> GivenProfiler {
        let options: Vec<&str> = own.unwrap_or(&self.options).split(',').collect();
        let value = |name: &String| {
            // The last one counts.
            let mut all = options.iter().rev();
            all.find(|option| option.split('=').next() == Some(name))
        };
        let named: Vec<&&str> = if self.configuration.is_empty() {
            options.iter().collect()
        } else {
            self.configuration.iter().filter_map(value).collect()
        };
        GivenProfiler {
            name: self.name.clone(),
            options: named.into_iter().map(|&option| option.into()).collect(),
        }
    }

    /// What is read of its recordings.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            events: self.events.clone(),
            repeats: self.repeats.clone(),
            marks: self.marks.clone(),
            unnamed: self.unnamed.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_its_name() {
        let of = |file| Description::of(Path::new(file)).map(|found| found.name);
        let known = "/opt/profiler/lib/libasyncProfiler.so";
        assert_eq!(of(known).as_deref(), Some("async-profiler"));
        assert_eq!(of("libjavaProfiler.so").as_deref(), Some("datadog"));
        assert_eq!(of("/opt/libasyncProfiler/libmine.so"), None);
    }

    #[test]
    fn a_report_names_what_tells_configurations_apart() {
        let known = Description::of(Path::new("libasyncProfiler.so")).expect("it is built in");
        let named = |own| known.named(own).to_string();
        assert_eq!(named(None), "async-profiler event=ctimer cstack=vm");
        assert_eq!(
            named(Some("start,cstack=vm,event=wall,interval=1ms,cstack=no")),
            "async-profiler event=wall cstack=no"
        );
        assert_eq!(named(Some("start")), "async-profiler");
        let unknown = Description {
            configuration: vec![],
            ..known.clone()
        };
        assert_eq!(
            unknown.named(Some("a,b=1")).to_string(),
            "async-profiler a b=1"
        );
    }

    #[test]
    fn a_description_that_leads_to_no_recording_is_refused() {
        let text = |recording, events| {
            format!(
                "name = 'mine'\nlibrary = 'libmine'\noptions = 'start'\nrecording = '{recording}'\nevents = [{events}]\n"
            )
        };
        let refused = |recording, events| Description::parse(&text(recording, events)).err();
        assert_eq!(refused("jfr,file={recording}", "'a.B'"), None);
        let why = refused("jfr", "'a.B'").expect("it names no file");
        assert!(why.contains("{recording}"), "{why}");
        let why = refused("jfr,file={recording}", "").expect("it names no event");
        assert!(why.contains("`events`"), "{why}");
    }

    #[test]
    fn the_recording_follows_the_options() {
        let known = Description::of(Path::new("libasyncProfiler.so")).expect("it is built in");
        let options = known.options(Some("start,event=wall"), Path::new("/run/a.jfr"));
        assert_eq!(options, "start,event=wall,jfr,file=/run/a.jfr");
        assert!(known.started(None).by_profiler);
        assert!(!known.started(Some("start,cstack=no")).by_profiler);
        assert!(
            known
                .options(None, Path::new("a.jfr"))
                .starts_with(&known.options)
        );
    }
}
