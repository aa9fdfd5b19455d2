//! The VM's own description of its structures (`share/runtime/vmStructs.cpp`), which it exports for the
//! Serviceability Agent. Names are looked up, and nothing is assumed from a version.

use crate::arch::NotKnown;
use std::fmt;

/// Fields, types and constants of a VM by name. Who can read the VM's tables implements the functions that are called `find_`.
pub trait Fields {
    /// The offset of the instance field `owner::field`, or the address of this static field.
    fn find_field(&self, owner: &str, field: &str) -> Option<usize>;

    /// The type of the field `owner::field` in C++, as the VM spells it.
    fn find_type(&self, owner: &str, field: &str) -> Option<&str>;

    /// The size of a type, in bytes.
    fn find_size(&self, name: &str) -> Option<usize>;

    /// The value of a constant.
    fn find_constant(&self, name: &str) -> Option<i64>;

    /// The offset of an instance field or the address of a static field, in the first of `owners` that has the field:
    /// fields move between related types from version to version.
    fn field(
        &self,
        owners: &'static [&'static str],
        field: &'static str,
    ) -> Result<usize, Missing> {
        let place = owners
            .iter()
            .find_map(|owner| self.find_field(owner, field));
        place.ok_or(Missing::Field { owners, field })
    }

    /// The size of a type, in bytes.
    fn size(&self, name: &'static str) -> Result<usize, Missing> {
        self.find_size(name).ok_or(Missing::Type(name))
    }

    /// The value of a constant.
    fn number(&self, name: &'static str) -> Result<i64, Missing> {
        self.find_constant(name).ok_or(Missing::Constant(name))
    }

    /// The value of a constant of type `int`.
    fn constant(&self, name: &'static str) -> Result<i32, Missing> {
        i32::try_from(self.number(name)?).map_err(|_| Missing::Contradicted(name))
    }
}

/// Why something of this VM cannot be read: what its description lacks, or what is not as described.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Missing {
    /// The VM exports no description.
    Tables,
    /// The field of a type.
    Field {
        /// The types that may have the field, that of the newest VM first.
        owners: &'static [&'static str],
        /// The field.
        field: &'static str,
    },
    /// A type.
    Type(&'static str),
    /// A constant.
    Constant(&'static str),
    /// A type has another size than the layout that is known, in bytes.
    Size {
        /// The type.
        name: &'static str,
        /// What the VM says.
        found: usize,
        /// What is known.
        known: usize,
    },
    /// The VM itself contradicts the value of this constant.
    Contradicted(&'static str),
    /// The values of these constants contradict each other.
    Disagreeing(Vec<&'static str>),
    /// What was read does not agree with what the VM says, or has a form that is not known.
    Unexpected(&'static str),
    /// Nobody has written down how this is on the processor.
    NotKnown(NotKnown),
    /// Neither of two descriptions is there: that of newer VMs, and that of older ones.
    Both(Box<[Missing; 2]>),
}

impl Missing {
    /// What `newer` finds, or else what `older` finds.
    pub fn unless<T>(
        newer: Result<T, Missing>,
        older: impl FnOnce() -> Result<T, Missing>,
    ) -> Result<T, Missing> {
        newer.or_else(|newer| older().map_err(|older| Missing::Both(Box::new([newer, older]))))
    }
}

impl From<NotKnown> for Missing {
    fn from(what: NotKnown) -> Missing {
        Missing::NotKnown(what)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Tables => f.write_str("its tables (gHotSpotVMStructs) are missing"),
            Missing::Field { owners, field } => {
                let names = owners.iter().map(|owner| format!("{owner}::{field}"));
                let names: Vec<String> = names.collect();
                write!(f, "field {} is missing", names.join(" or "))
            }
            Missing::Type(name) => write!(f, "type {name} is missing"),
            Missing::Constant(name) => write!(f, "constant {name} is missing"),
            Missing::Size { name, found, known } => {
                write!(f, "type {name} has {found} bytes and not {known}")
            }
            Missing::Contradicted(name) => {
                write!(f, "constant {name} has a value that cannot be true")
            }
            Missing::Disagreeing(names) => write!(
                f,
                "the values of constants {} contradict each other",
                names.join(", ")
            ),
            Missing::Unexpected(what) => f.write_str(what),
            Missing::NotKnown(what) => what.fmt(f),
            Missing::Both(both) => write!(f, "{}, and {}", both[0], both[1]),
        }
    }
}

/// Made-up VMs for tests.
#[cfg(test)]
pub(crate) mod toy {
    use super::Fields;
    use std::collections::HashMap;

    /// Fields as `owner::field`, types and constants, with their offsets, sizes and values.
    pub struct Toy(pub HashMap<String, i64>);

    impl Toy {
        /// A VM that describes these.
        pub fn of(described: &[(&str, i64)]) -> Toy {
            let rows = described.iter();
            Toy(rows
                .map(|&(name, value)| (name.to_owned(), value))
                .collect())
        }

        fn place(&self, name: &str) -> Option<usize> {
            usize::try_from(*self.0.get(name)?).ok()
        }
    }

    impl Fields for Toy {
        fn find_field(&self, owner: &str, field: &str) -> Option<usize> {
            self.place(&format!("{owner}::{field}"))
        }
        fn find_type(&self, owner: &str, field: &str) -> Option<&str> {
            self.find_field(owner, field).map(|_| "int")
        }
        fn find_size(&self, name: &str) -> Option<usize> {
            self.place(name)
        }
        fn find_constant(&self, name: &str) -> Option<i64> {
            self.0.get(name).copied()
        }
    }
}
