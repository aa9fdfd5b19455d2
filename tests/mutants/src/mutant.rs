//! A HotSpot with one mistake that is switched on, however the mistake was built in.

use std::fmt::Write;

/// A mutant, as the tables describe it.
#[derive(Debug, Clone)]
pub struct Mutant {
    pub name: String,
    /// What the mistake does, as the rest of a sentence.
    pub does: String,
    /// The change or bug that the mistake stands for.
    pub imitates: String,
    /// The layers that promise to see the mistake.
    pub seen_by: Vec<String>,
    /// The mistake's name: several mutants may share one.
    pub mistake: String,
    /// One walk of this many is struck.
    pub one_in: u32,
}

/// What a table means that does not say which walks are struck: each one.
pub fn always() -> u32 {
    1
}

impl Mutant {
    /// The value of the environment variable that switches the mistake on.
    pub fn switch(&self) -> String {
        match self.one_in {
            1 => self.mistake.clone(),
            n => format!("{}/{n}", self.mistake),
        }
    }
}

/// The mistake's name in C++.
pub fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

/// The list of mistakes, as the switch includes it.
pub fn mistakes<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for name in names {
        let _ = writeln!(
            out,
            "STACKWITNESS_MISTAKE({}, \"{name}\")",
            identifier(name)
        );
    }
    out
}

/// Mutants, as Markdown.
pub fn markdown(mutants: &[Mutant]) -> String {
    let mut out = String::from("| switch | what it does | what it imitates | seen by |\n");
    out += "| --- | --- | --- | --- |\n";
    for mutant in mutants {
        let layers = mutant.seen_by.join(", ");
        let (does, imitates) = (&mutant.does, &mutant.imitates);
        let _ = writeln!(
            out,
            "| `{}` | {does} | {imitates} | {layers} |",
            mutant.switch()
        );
    }
    out
}
