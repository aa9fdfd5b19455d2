//! The names of kinds of code, which are looked up at each sample.

use oracle::record::InstantCount;
use std::collections::HashMap;
use std::sync::Arc;

/// The number of pages of libraries that are remembered.
const PAGES: usize = 1 << 12;

/// The size of a page, as a power of two.
const PAGE: u32 = 12;

/// A kind of code.
pub enum Place {
    /// Generated code, which may be freed: the VM's name for the code.
    Generated(String),
    /// A library, which is not unloaded.
    Library {
        /// Its file's name.
        name: String,
        /// Its build, if the JDK did not bring it.
        build: Option<String>,
    },
}

/// The names of a kind of code.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// For people.
    pub name: Arc<str>,
    /// Of instants: code of two builds of a library is not alike.
    pub instant: Arc<str>,
}

/// The libraries by pages.
#[derive(Default)]
pub struct Places(HashMap<usize, Named>);

impl Places {
    /// The names of the kind of code at `pc`. `find` looks it up, if it is not known yet.
    pub fn name(&mut self, pc: usize, find: impl FnOnce(usize) -> Place) -> Named {
        if let Some(library) = self.0.get(&(pc >> PAGE)) {
            return library.clone();
        }
        match find(pc) {
            Place::Generated(name) => Named::plain(name),
            Place::Library { name, build } => {
                let named = match build {
                    Some(build) => Named {
                        instant: InstantCount::of_build(&name, &build).into(),
                        name: name.into(),
                    },
                    None => Named::plain(name),
                };
                if self.0.len() < PAGES {
                    self.0.insert(pc >> PAGE, named.clone());
                }
                named
            }
        }
    }
}

impl Named {
    fn plain(name: String) -> Named {
        let name: Arc<str> = name.into();
        Named {
            instant: name.clone(),
            name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_are_remembered() {
        let mut places = Places::default();
        let library = |_| Place::Library {
            name: "libc.so.6".into(),
            build: Some("1f".into()),
        };
        let generated = |_| Place::Generated("Interpreter".into());
        let found = places.name(0x1000, library);
        assert_eq!(&*found.name, "libc.so.6");
        assert_eq!(&*found.instant, "libc.so.6 (build 1f)");
        let known = places.name(0x1fff, |_| unreachable!("it is known"));
        assert_eq!(known, found);
        assert_eq!(&*places.name(0x2000, generated).instant, "Interpreter");
        assert_eq!(&*places.name(0x2000, library).name, "libc.so.6");
    }
}
