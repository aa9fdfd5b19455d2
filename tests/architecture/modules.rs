//! The modules of one crate, and the files that define the names in paths.

use crate::graph::Edge;
use crate::source::{Source, Use};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate, by their paths from its root on, such as `folder/file.rs`.
pub type Files = BTreeMap<String, Source>;

/// A limit that no path reaches. Imports may form a circle.
const MOST_STEPS: usize = 32;

/// A module: its file, and its declarations.
struct Module<'a> {
    file: &'a str,
    source: &'a Source,
    parent: usize,
    children: BTreeMap<&'a str, usize>,
}

/// All modules of a crate. The first one is the root.
pub struct Modules<'a>(Vec<Module<'a>>);

/// The target of a path.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Target {
    Module(usize),
    /// An item that this module defines.
    Item(usize),
}

impl<'a> Modules<'a> {
    /// The modules that `root`, a file of `files`, declares, with all modules below.
    pub fn new(files: &'a Files, root: &str) -> Result<Modules<'a>, String> {
        let mut modules = Modules(vec![]);
        let (file, source) = files
            .get_key_value(root)
            .ok_or_else(|| format!("there is no {root}"))?;
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.add(files, file, source, 0, folder.into())?;
        Ok(modules)
    }

    /// Adds a module, whose own modules are in `folder`. Returns its number.
    fn add(
        &mut self,
        files: &'a Files,
        file: &'a str,
        source: &'a Source,
        parent: usize,
        folder: String,
    ) -> Result<usize, String> {
        let number = self.0.len();
        self.0.push(Module {
            file,
            source,
            parent,
            children: BTreeMap::new(),
        });
        for (name, inner) in &source.inline {
            let folder = join(&folder, name);
            let child = self.add(files, file, inner, number, folder)?;
            self.0[number].children.insert(name, child);
        }
        for name in &source.files {
            let folder = join(&folder, name);
            let places = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            let found = places.iter().find_map(|place| files.get_key_value(place));
            let (child, source) = found.ok_or_else(|| format!("{file}: no file of mod {name}"))?;
            let child = self.add(files, child, source, number, folder)?;
            self.0[number].children.insert(name, child);
        }
        Ok(number)
    }

    /// Which file needs which, with the names. A file that only declares and re-exports has no
    /// edges: the names that it re-exports belong to the files that define them.
    pub fn edges(&self) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        for (number, module) in self.0.iter().enumerate() {
            if module.source.only_declares() {
                continue;
            }
            let mut note = |target: usize, name: &str| {
                let to = self.0[target].file;
                if to != module.file {
                    edges.insert(Edge {
                        from: module.file.into(),
                        to: to.into(),
                        name: name.into(),
                    });
                }
            };
            let paths = module.source.paths.iter().map(|path| (path, ""));
            let uses = module.source.uses.iter();
            for (path, name) in uses.map(|u| (&u.path, u.name.as_str())).chain(paths) {
                match self.find(number, path, 0) {
                    Some(Target::Item(target)) => note(target, &path.join("::")),
                    Some(Target::Module(target)) if name == "*" => {
                        for target in self.all_of(target, 0) {
                            note(target, &(path.join("::") + "::*"));
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
    fn all_of(&self, from: usize, steps: usize) -> BTreeSet<usize> {
        let source = self.0[from].source;
        let mut all = BTreeSet::new();
        if !source.items.is_empty() {
            all.insert(from);
        }
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
    fn find(&self, from: usize, path: &[String], steps: usize) -> Option<Target> {
        if steps > MOST_STEPS {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Target::Module(0),
            "self" => Target::Module(from),
            "super" => Target::Module(self.0[from].parent),
            name => self.name_in(from, name, Seen::Inside, steps)?,
        };
        self.follow(start, rest, steps)
    }

    fn follow(&self, start: Target, rest: &[String], steps: usize) -> Option<Target> {
        let (Target::Module(module), Some((name, rest))) = (start, rest.split_first()) else {
            // The path behind an item is a part of the item.
            return Some(start);
        };
        let next = match name.as_str() {
            "super" => Some(Target::Module(self.0[module].parent)),
            name => self.name_in(module, name, Seen::Outside, steps),
        };
        // A macro may define names that are not seen here.
        self.follow(next.unwrap_or(Target::Item(module)), rest, steps)
    }

    fn name_in(&self, module: usize, name: &str, seen: Seen, steps: usize) -> Option<Target> {
        let Module {
            source, children, ..
        } = &self.0[module];
        if let Some(&child) = children.get(name) {
            return Some(Target::Module(child));
        }
        if source.items.contains(name) {
            return Some(Target::Item(module));
        }
        let visible = |u: &&Use| u.is_public || seen == Seen::Inside;
        let mut brings = source.uses.iter().filter(visible);
        // `use name::…` does not import `name` from itself.
        let named = brings
            .clone()
            .find(|u| u.name == name && u.path.first().is_some_and(|first| first != name));
        if let Some(named) = named {
            return self.find(module, &named.path, steps + 1);
        }
        let globs = brings.by_ref().filter(|u| u.name == "*");
        globs
            .filter_map(|glob| match self.find(module, &glob.path, steps + 1)? {
                Target::Module(from) if steps < MOST_STEPS => {
                    self.name_in(from, name, Seen::Outside, steps + 1)
                }
                _ => None,
            })
            .next()
    }
}

/// The viewpoint of a look-up: a module sees its own imports, other modules only the public
/// imports.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Seen {
    Inside,
    Outside,
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.into(),
        folder => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let read = |text| Source::read(text).expect("it is Rust");
        let files: Files = files
            .iter()
            .map(|&(path, text)| (path.into(), read(text)))
            .collect();
        let modules = Modules::new(&files, "lib.rs").expect("all files are there");
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

    #[test]
    fn a_missing_file_is_an_error() {
        let source = Source::read("mod a;").expect("it is Rust");
        let files = Files::from([("lib.rs".into(), source)]);
        assert!(Modules::new(&files, "lib.rs").is_err());
    }
}
