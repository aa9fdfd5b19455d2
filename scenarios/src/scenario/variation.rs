//! What a value of an axis changes in a program.

use oracle::record::altered::Altering;
use oracle::{Hooking, Layer};
use serde::Deserialize;

/// What a value of an axis changes in a program. In a file: a list of options for the JVM, or a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct Variation {
    /// More options for the JVM.
    pub options: Vec<String>,
    /// Of the scenario's layers, those that programs have with this value; `None`: all.
    pub layers: Option<Vec<Layer>>,
    /// The oldest feature release of a JDK for this value. An older JDK does not have the value.
    pub oldest_jdk: Option<u32>,
    /// Average pause between two samples, in microseconds, in place of the scenario's.
    pub interval_us: Option<u64>,
    /// How often walkers are asked from altered contexts too, in place of what the scenario says.
    pub altered: Option<Altering>,
    /// Whether the program's classes are rewritten, and how, in place of what the program says.
    pub hooks: Option<Hooking>,
    /// More options of the profiler of `--profiler`, such as `cstack=vm`.
    pub profiler: Option<String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a value of an axis is a list of options for the JVM, or a table of `options`, `layers`, `jdk`, `interval_us`, `altered`, `hooks` and `profiler`"
)]
enum Written {
    Options(Vec<String>),
    Table(Table),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    /// More options for the JVM.
    options: Vec<String>,
    /// Of the program's layers, those that it has with this value.
    layers: Option<Vec<Layer>>,
    /// The oldest feature release of a JDK that has the value.
    jdk: Option<u32>,
    /// As in `[sampling]`.
    interval_us: Option<u64>,
    /// As in `[sampling]`.
    altered: Option<Altering>,
    /// As in `[[program]]`.
    hooks: Option<Hooking>,
    /// More options of the profiler of `--profiler`, such as `cstack=vm`.
    profiler: Option<String>,
}

impl From<Written> for Variation {
    fn from(written: Written) -> Variation {
        match written {
            Written::Options(options) => Variation::of_options(options),
            Written::Table(table) => Variation {
                options: table.options,
                layers: table.layers,
                oldest_jdk: table.jdk,
                interval_us: table.interval_us,
                altered: table.altered,
                hooks: table.hooks,
                profiler: table.profiler,
            },
        }
    }
}

impl Variation {
    /// More options for the JVM, and nothing else.
    pub fn of_options(options: Vec<String>) -> Variation {
        Variation {
            options,
            ..Variation::default()
        }
    }

    /// Whether a JDK of this feature release has the value.
    pub(crate) fn is_for(&self, feature: Option<u32>) -> bool {
        let ages = self.oldest_jdk.zip(feature);
        ages.is_none_or(|(oldest, feature)| feature >= oldest)
    }
}
