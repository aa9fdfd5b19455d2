//! The VM's flags, as a run found them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// All flags of the VM, in the folder of a run: a line each.
pub const FLAGS_FILE: &str = "flags.txt";

/// A flag of the VM (`-XX:…`) and who set it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct VmFlag {
    /// Its name, such as `UseSerialGC`.
    pub name: String,
    /// Its value as text; numbers are decimal, and a text without value is empty.
    pub value: String,
    /// Who set it.
    pub set_by: FlagOrigin,
}

impl fmt::Display for VmFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={} ({})", self.name, self.value, self.set_by)
    }
}

/// Who set a flag (`JVMFlagOrigin` in `share/runtime/flags/jvmFlag.hpp`).
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagOrigin {
    /// Nobody: the build's own value.
    Default,
    /// The command line.
    CommandLine,
    /// A variable of the environment.
    Environment,
    /// A file that the command line names.
    File,
    /// A management tool or `jcmd`.
    Management,
    /// The VM, by what the machine and other flags are.
    Ergonomics,
    /// Another origin.
    Other,
}

impl FlagOrigin {
    /// The origin with HotSpot's number `number`.
    pub fn of_number(number: u32) -> FlagOrigin {
        match number {
            0 => FlagOrigin::Default,
            1 => FlagOrigin::CommandLine,
            2 => FlagOrigin::Environment,
            3 => FlagOrigin::File,
            4 => FlagOrigin::Management,
            5 => FlagOrigin::Ergonomics,
            _ => FlagOrigin::Other,
        }
    }
}

impl fmt::Display for FlagOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlagOrigin::Default => "default",
            FlagOrigin::CommandLine => "command line",
            FlagOrigin::Environment => "environment",
            FlagOrigin::File => "file",
            FlagOrigin::Management => "management",
            FlagOrigin::Ergonomics => "ergonomics",
            FlagOrigin::Other => "other",
        })
    }
}
