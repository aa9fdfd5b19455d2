//! The table of mutants of 17: what each mutant does, and the edits that make the mistake.

use super::edit::Edit;
use crate::error::Error;
use crate::mutant::{self, Mutant};
use serde::Deserialize;
use std::collections::HashSet;

/// The files of the table; their order is the order of the score.
const FILES: [&str; 6] = [
    include_str!("../../table/sources/asgct-bci.toml"),
    include_str!("../../table/sources/asgct-cut.toml"),
    include_str!("../../table/sources/asgct-frames.toml"),
    include_str!("../../table/sources/asgct-top.toml"),
    include_str!("../../table/sources/asgct-debug-info.toml"),
    include_str!("../../table/sources/get-stack-trace.toml"),
];

/// The edits that give the switch the thread of a walk.
const WALKS: &str = include_str!("../../table/sources/walks.toml");

/// All mutants, and the mistakes that are built into one HotSpot.
#[derive(Debug)]
pub struct Table {
    pub mutants: Vec<Mutant>,
    pub mistakes: Vec<Mistake>,
    pub walks: Vec<Edit>,
}

/// Edits of HotSpot that are switched together.
#[derive(Debug)]
pub struct Mistake {
    pub name: String,
    pub walker: Walker,
    pub edits: Vec<Edit>,
}

/// The walker whose walks a mistake strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Walker {
    /// AsyncGetCallTrace.
    Asgct,
    /// JVMTI GetStackTrace and the other JVMTI walkers.
    Gst,
    /// No walker: the mistake strikes other code of the VM, for example where compilers record
    /// debug info.
    Vm,
}

impl Table {
    /// The built-in table.
    pub fn built_in() -> Result<Self, Error> {
        Self::parse(&FILES, WALKS)
    }

    fn parse(files: &[&str], walks: &str) -> Result<Self, Error> {
        let bad = |e: toml::de::Error| Error::Table(e.to_string());
        let mut table = Self {
            mutants: vec![],
            mistakes: vec![],
            walks: toml::from_str::<Walks>(walks).map_err(bad)?.edit,
        };
        let mut names = HashSet::new();
        for text in files {
            for row in toml::from_str::<File>(text).map_err(bad)?.mutant {
                if !names.insert(row.name.clone()) {
                    return Err(Error::Table(format!("{} stands there twice", row.name)));
                }
                table.add(row)?;
            }
        }
        Ok(table)
    }

    fn add(&mut self, row: Row) -> Result<(), Error> {
        let (mistake, seen_by) = match (row.like, row.walker) {
            (None, Some(walker)) if !row.edit.is_empty() => {
                self.mistakes.push(Mistake {
                    name: row.name.clone(),
                    walker,
                    edits: row.edit,
                });
                (row.name.clone(), row.seen_by)
            }
            (Some(like), None) if row.edit.is_empty() => {
                let first = self.mutant(&like)?;
                (first.mistake.clone(), first.seen_by.clone())
            }
            _ => {
                return Err(Error::Table(format!(
                    "{} needs a walker and edits, or the name of a mutant above",
                    row.name
                )));
            }
        };
        if row.one_in == 0 {
            return Err(Error::Table(format!("{} never strikes", row.name)));
        }
        self.mutants.push(Mutant {
            name: row.name,
            does: row.does,
            imitates: row.imitates,
            seen_by,
            mistake,
            one_in: row.one_in,
        });
        Ok(())
    }

    /// The mutant of this name.
    pub fn mutant(&self, name: &str) -> Result<&Mutant, Error> {
        let found = self.mutants.iter().find(|mutant| mutant.name == name);
        found.ok_or_else(|| Error::Table(format!("there is no mutant {name}")))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Walks {
    edit: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Row>,
}

/// A mutant as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    does: String,
    imitates: String,
    #[serde(default = "mutant::always")]
    one_in: u32,
    #[serde(default)]
    seen_by: Vec<String>,
    /// The earlier mutant whose edits are used.
    #[serde(rename = "as")]
    like: Option<String>,
    walker: Option<Walker>,
    #[serde(default)]
    edit: Vec<Edit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALK: &str = "[[edit]]\nfile = 'a.cpp'\nin = 'f'\nat = 'x'\nput = 'after'\ncode = 'y'\n";

    fn row(name: &str, rest: &str) -> String {
        format!("[[mutant]]\nname = '{name}'\ndoes = 'd'\nimitates = 'i'\n{rest}\n")
    }

    fn own(name: &str) -> String {
        let edit = WALK.replace("[[edit]]", "[[mutant.edit]]");
        row(name, &format!("walker = 'gst'\nseen_by = ['gst']\n{edit}"))
    }

    #[test]
    fn the_built_in_table_has_at_least_thirty_mistakes_some_of_them_rare() {
        let table = Table::built_in().unwrap();
        assert!(table.mistakes.len() >= 30, "{}", table.mistakes.len());
        assert!(table.mutants.iter().filter(|m| m.one_in == 1000).count() >= 5);
    }

    #[test]
    fn the_documentation_lists_the_mutants() {
        let told = include_str!("../../../../docs/reference/mutants.md");
        let list = crate::mutant::markdown(&Table::built_in().unwrap().mutants);
        assert!(
            told.contains(&list),
            "write this to docs/reference/mutants.md:\n{list}"
        );
    }

    #[test]
    fn a_rare_mutant_shares_the_edits_and_layers_of_another() {
        let rare = row("rare", "as = 'often'\none_in = 1000");
        let table = Table::parse(&[&(own("often") + &rare)], WALK).unwrap();
        assert_eq!(table.mistakes.len(), 1);
        let rare = table.mutant("rare").unwrap();
        assert_eq!(rare.switch(), "often/1000");
        assert_eq!(rare.seen_by, ["gst"]);
        assert_eq!(table.mutant("often").unwrap().switch(), "often");
    }

    #[test]
    fn rows_that_say_too_little_or_too_much_are_refused() {
        for bad in [
            own("a") + &own("a"),
            row("a", ""),
            row("a", "as = 'b'"),
            own("a") + &row("b", "as = 'a'\nwalker = 'gst'"),
            own("a") + &row("b", "as = 'a'\none_in = 0"),
            row("a", "unknown = 1"),
        ] {
            assert!(Table::parse(&[&bad], WALK).is_err(), "{bad}");
        }
    }
}
