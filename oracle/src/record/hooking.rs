//! The ways in which hooks keep the trace stack.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Whether classes are rewritten, and what their hooks do.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "Written")]
pub enum Hooking {
    /// Classes stay as they are. Only layers without a trace stack have checks.
    None,
    /// Each hook is a native method, which is not compiled into the program.
    #[default]
    Exact,
    /// The hooks of platform threads are Java code that writes the trace stack itself, so
    /// that the compilers inline hooked methods as they would inline the original ones.
    Light,
}

impl Hooking {
    const ALL: [Hooking; 3] = [Hooking::None, Hooking::Exact, Hooking::Light];

    /// Whether classes are rewritten.
    pub fn is_on(self) -> bool {
        self != Hooking::None
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Hooking::None => "none",
            Hooking::Exact => "exact",
            Hooking::Light => "light",
        }
    }
}

impl fmt::Display for Hooking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Hooking {
    type Err = String;

    fn from_str(name: &str) -> Result<Hooking, String> {
        let found = Hooking::ALL.into_iter().find(|way| way.name() == name);
        found.ok_or_else(|| {
            let known = Hooking::ALL.map(Hooking::name).join(", ");
            format!("unknown way of hooking `{name}`; known: {known}")
        })
    }
}

/// The forms in files: yes, no, or a name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Whether(bool),
    Name(String),
}

impl TryFrom<Written> for Hooking {
    type Error = String;

    fn try_from(written: Written) -> Result<Hooking, String> {
        match written {
            Written::Whether(true) => Ok(Hooking::default()),
            Written::Whether(false) => Ok(Hooking::None),
            Written::Name(name) => name.parse(),
        }
    }
}

impl From<Hooking> for &'static str {
    fn from(hooking: Hooking) -> &'static str {
        hooking.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_may_be_written() {
        let read = |text: &str| serde_json::from_str::<Hooking>(text).map_err(|e| e.to_string());
        assert_eq!(read("true"), Ok(Hooking::Exact));
        assert_eq!(read("false"), Ok(Hooking::None));
        for way in Hooking::ALL {
            let text = serde_json::to_string(&way).expect("it is a string");
            assert_eq!(read(&text), Ok(way));
        }
        let told = read("\"heavy\"").expect_err("there is no such way");
        assert!(told.contains("known: none, exact, light"), "{told}");
    }
}
