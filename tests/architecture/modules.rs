//! The modules of one crate, and the files that define the names in paths.

use crate::graph::Edge;
use crate::source::{Source, Use};
use std::collections::{BTreeMap, BTreeSet};

/// A limit that no path reaches. Imports may form a circle.
const MOST_STEPS: usize = 32;

/// The files of a crate by their modules: `a/b` for `a/b.rs` and `a/b/mod.rs`, nothing for the root.
pub struct Modules<'a>(BTreeMap<&'a str, (&'a str, &'a Source)>);

/// The target of a path.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Target<'a> {
    Module(&'a str),
    /// An item that this module defines.
    Item(&'a str),
}

impl<'a> Modules<'a> {
    /// The modules of these files, which have their paths from the crate's folder on.
    pub fn new(files: impl Iterator<Item = (&'a str, &'a Source)>) -> Modules<'a> {
        let module = |file: &'a str| {
            let module = file.strip_suffix(".rs").unwrap_or(file);
            let module = module.strip_suffix("/mod").unwrap_or(module);
            if matches!(module, "lib" | "main") {
                ""
            } else {
                module
            }
        };
        let all: BTreeMap<_, _> = files
            .map(|(file, source)| (module(file), (file, source)))
            .collect();
        // Modules for tests alone are declared where `Source` does not look.
        let declared = |module: &&str| is_declared(module, &all);
        let kept = all.keys().copied().filter(declared);
        Modules(kept.map(|module| (module, all[module])).collect())
    }

    /// Which file needs which, with the names. A file that only declares and re-exports has no
    /// edges: the names that it re-exports belong to the files that define them.
    pub fn edges(&self) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for (module, (from, source)) in &self.0 {
            if source.items.is_empty() {
                continue;
            }
            let mut note = |target: &str, name: String| {
                let to = self.0[target].0;
                if to != *from {
                    edges.insert(Edge {
                        from: (*from).into(),
                        to: to.into(),
                        name,
                    });
                }
            };
            let paths = source.paths.iter().map(|path| (path, ""));
            let uses = source.uses.iter();
            for (path, name) in uses.map(|u| (&u.path, u.name.as_str())).chain(paths) {
                match self.find(module, path, 0) {
                    Some(Target::Item(target)) => note(target, path.join("::")),
                    Some(Target::Module(target)) if name == "*" => {
                        for target in self.all_of(target, 0) {
                            note(target, path.join("::") + "::*");
                        }
                    }
                    // A module itself defines nothing. Its names are reached by longer paths.
                    Some(Target::Module(_)) | None => {}
                }
            }
        }
        edges
    }

    /// The modules that define the names of `from::*`.
    fn all_of(&self, from: &'a str, steps: usize) -> BTreeSet<&'a str> {
        let source = self.0[from].1;
        let own = (!source.items.is_empty()).then_some(from);
        let mut all = BTreeSet::from_iter(own);
        for one in source.uses.iter().filter(|u| u.is_public) {
            match self.find(from, &one.path, steps + 1) {
                Some(Target::Item(target)) => _ = all.insert(target),
                Some(Target::Module(target)) if one.name == "*" && steps < MOST_STEPS => {
                    all.append(&mut self.all_of(target, steps + 1));
                }
                _ => {}
            }
        }
        all
    }

    /// The target of `path` in module `from`; `None` if the target is in another crate, or if
    /// `path` is no path of modules (a local variable's type, an enum of the prelude).
    fn find(&self, from: &'a str, path: &[String], steps: usize) -> Option<Target<'a>> {
        if steps > MOST_STEPS {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(""),
            "self" => Target::Module(from),
            "super" => Target::Module(above(from)),
            name => self.name_in(from, name, true, steps)?,
        };
        // The path behind an item is a part of the item.
        while let (Target::Module(module), Some((name, behind))) = (target, rest.split_first()) {
            target = match name.as_str() {
                "super" => Target::Module(above(module)),
                // A macro may define names that are not seen here.
                name => self
                    .name_in(module, name, false, steps)
                    .unwrap_or(Target::Item(module)),
            };
            rest = behind;
        }
        Some(target)
    }

    /// A name in a module, which sees its own imports; others (`inside` is false) see only the public ones.
    fn name_in(
        &self,
        module: &'a str,
        name: &str,
        inside: bool,
        steps: usize,
    ) -> Option<Target<'a>> {
        let source = self.0[module].1;
        let separator = if module.is_empty() { "" } else { "/" };
        if let Some((&child, _)) = self.0.get_key_value(&*format!("{module}{separator}{name}")) {
            return Some(Target::Module(child));
        }
        if source.items.contains(name) {
            return Some(Target::Item(module));
        }
        let brings = || source.uses.iter().filter(|u| u.is_public || inside);
        // `use name::…` does not import `name` from itself.
        let is_named =
            |u: &&Use| u.name == name && u.path.first().is_some_and(|first| first != name);
        if let Some(named) = brings().find(is_named) {
            return self.find(module, &named.path, steps + 1);
        }
        let mut globs = brings().filter(|u| u.name == "*");
        globs.find_map(|glob| match self.find(module, &glob.path, steps + 1)? {
            Target::Module(from) if steps < MOST_STEPS => {
                self.name_in(from, name, false, steps + 1)
            }
            _ => None,
        })
    }
}

fn is_declared(module: &str, all: &BTreeMap<&str, (&str, &Source)>) -> bool {
    let (above, name) = module.rsplit_once('/').unwrap_or(("", module));
    let declares = |(_, source): &(&str, &Source)| source.files.contains(name);
    module.is_empty() || all.get(above).is_some_and(declares) && is_declared(above, all)
}

/// The module around `module`.
fn above(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(above, _)| above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let read = |&(path, text)| (path, Source::read(text).expect("it is Rust"));
        let files: Vec<(&str, Source)> = files.iter().map(read).collect();
        let modules = Modules::new(files.iter().map(|(path, source)| (*path, source)));
        let edges = modules.edges();
        edges
            .iter()
            .map(|e| format!("{} -> {}", e.from, e.to))
            .collect()
    }

    #[test]
    fn paths_lead_to_the_file_that_defines() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "use crate::b::inner::C; pub struct A(C);"),
            (
                "b/mod.rs",
                "pub mod inner; pub use inner::C as D; pub use inner::*;",
            ),
            ("b/inner.rs", "pub struct C; fn f(a: crate::A) {}"),
        ];
        assert_eq!(edges(&files), ["a.rs -> b/inner.rs", "b/inner.rs -> a.rs"]);
    }

    #[test]
    fn a_module_that_only_declares_is_looked_through() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; fn f() { b::g(); b::h::<u8>(); }"),
            ("b/mod.rs", "mod c; mod d; pub use c::g; pub use d::*;"),
            ("b/c.rs", "pub fn g() { super::h() }"),
            ("b/d.rs", "pub fn h() {}"),
        ];
        let expected = ["a.rs -> b/c.rs", "a.rs -> b/d.rs", "b/c.rs -> b/d.rs"];
        assert_eq!(edges(&files), expected);
    }

    #[test]
    fn a_module_with_code_of_its_own_is_a_file_like_others() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; pub struct A(b::B); use b::B;"),
            ("a/b.rs", "use super::A; pub struct B; fn f(a: A) {}"),
        ];
        assert_eq!(edges(&files), ["a/b.rs -> a/mod.rs", "a/mod.rs -> a/b.rs"]);
    }

    #[test]
    fn names_of_others_are_no_edges() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; fn f() { std::mem::take(x); Vec::new(); }",
            ),
            (
                "a.rs",
                "use std::fmt; use serde::b; impl fmt::Display for X { }",
            ),
            (
                "b.rs",
                "#[cfg(test)] mod tests { use crate::a::X; } fn g(y: Self::Z) {}",
            ),
        ];
        assert_eq!(edges(&files), [""; 0]);
    }

    #[test]
    fn imports_in_a_circle_end() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use crate::b::*; pub use crate::b::X;"),
            (
                "b.rs",
                "pub use crate::a::*; pub use crate::a::X; fn f() { X::new(); Y::new() }",
            ),
        ];
        // No file defines the names. The test is that the search ends.
        assert!(edges(&files).iter().all(|edge| edge.starts_with("b.rs")));
    }
}
