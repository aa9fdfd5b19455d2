//! The table of mutants of JVMs that were built elsewhere: what each mutant does, and the wrappers that make the mistake.

use crate::error::Error;
use crate::mutant::{self, Mutant};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// The files of the table; their order is the order of the score.
const FILES: [&str; 3] = [
    include_str!("../../table/binaries/asgct.toml"),
    include_str!("../../table/binaries/get-stack-trace.toml"),
    include_str!("../../table/binaries/jfr.toml"),
];

const FUNCTIONS: &str = include_str!("../../table/binaries/functions.toml");

/// All mutants, their mistakes, and the functions that are wrapped.
#[derive(Debug)]
pub struct Table {
    pub mutants: Vec<Mutant>,
    pub mistakes: Vec<Mistake>,
    pub functions: BTreeMap<String, Function>,
}

/// Wrappers that are switched on together.
#[derive(Debug)]
pub struct Mistake {
    pub name: String,
    /// C++ that the wrappers share.
    pub state: String,
    pub wraps: Vec<Wrap>,
}

/// A function of libjvm.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    name: String,
    /// The name in the table of symbols.
    pub symbol: String,
    /// The type of the result.
    pub returns: String,
    /// Type and name of each parameter.
    pub parameters: Vec<String>,
}

impl Function {
    /// The names of the parameters.
    pub fn arguments(&self) -> Vec<&str> {
        let names = self.parameters.iter();
        names
            .filter_map(|parameter| parameter.rsplit([' ', '*']).next())
            .collect()
    }

    pub fn has_result(&self) -> bool {
        self.returns != "void"
    }
}

/// Code around a call of a function.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrap {
    /// The function's name in `functions.toml`.
    pub function: String,
    /// C++ before the call, which may change arguments or return.
    #[serde(default)]
    pub before: String,
    /// C++ after the call. `result` is what the function returned.
    #[serde(default)]
    pub after: String,
}

impl Table {
    /// The built-in table.
    pub fn built_in() -> Result<Self, Error> {
        Self::parse(&FILES, FUNCTIONS)
    }

    fn parse(files: &[&str], functions: &str) -> Result<Self, Error> {
        let bad = |e: toml::de::Error| Error::Table(e.to_string());
        let functions = toml::from_str::<Functions>(functions).map_err(bad)?;
        let named = |function: Function| (function.name.clone(), function);
        let mut table = Self {
            mutants: vec![],
            mistakes: vec![],
            functions: functions.function.into_iter().map(named).collect(),
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
        if row.one_in == 0 || row.wrap.is_empty() {
            return Err(Error::Table(format!("{} never strikes", row.name)));
        }
        for wrap in &row.wrap {
            if !self.functions.contains_key(&wrap.function) {
                let why = format!("{}: there is no function {}", row.name, wrap.function);
                return Err(Error::Table(why));
            }
        }
        self.mistakes.push(Mistake {
            name: row.name.clone(),
            state: row.state,
            wraps: row.wrap,
        });
        self.mutants.push(Mutant {
            mistake: row.name.clone(),
            name: row.name,
            does: row.does,
            imitates: row.imitates,
            seen_by: row.seen_by,
            one_in: row.one_in,
        });
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Functions {
    function: Vec<Function>,
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
    seen_by: Vec<String>,
    #[serde(default)]
    state: String,
    wrap: Vec<Wrap>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: &str = "[[function]]\nname = 'f'\nsymbol = 's'\nreturns = 'int'\nparameters = ['void* a', 'int b']\n";

    fn row(function: &str, rest: &str) -> String {
        format!(
            "[[mutant]]\nname = 'm'\ndoes = 'd'\nimitates = 'i'\nseen_by = ['gst']\n{rest}\n\
             [[mutant.wrap]]\nfunction = '{function}'\nbefore = 'b'\n"
        )
    }

    #[test]
    fn the_built_in_table_has_at_least_twenty_mistakes_some_of_them_of_jfr_and_of_virtual_threads()
    {
        let table = Table::built_in().unwrap();
        assert!(table.mistakes.len() >= 20, "{}", table.mistakes.len());
        for kind in ["jfr-", "gst-virtual-", "asgct-", "dump-"] {
            let of_kind = |mutant: &&Mutant| mutant.name.starts_with(kind);
            assert!(table.mutants.iter().filter(of_kind).count() >= 2, "{kind}");
        }
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
    fn a_function_knows_the_names_of_its_parameters() {
        let table = Table::parse(&[&row("f", "")], FUNCTION).unwrap();
        assert_eq!(table.functions["f"].arguments(), ["a", "b"]);
        assert!(table.functions["f"].has_result());
    }

    #[test]
    fn an_unknown_function_a_name_that_stands_twice_and_no_strike_are_errors() {
        let good = row("f", "");
        assert!(Table::parse(&[&good], FUNCTION).is_ok());
        assert!(Table::parse(&[&good, &good], FUNCTION).is_err());
        assert!(Table::parse(&[&row("g", "")], FUNCTION).is_err());
        assert!(Table::parse(&[&row("f", "one_in = 0")], FUNCTION).is_err());
    }
}
