//! Scenarios that run the user's program.

use super::model::{Program, Scenario, Start, default_budget};
use oracle::budget::Budget;
use oracle::record::StatementBudget;
use std::time::Duration;

/// The name of the user's program in reports.
pub(super) const NAME: &str = "program";

impl Scenario {
    /// The program of `run -- JAVA_ARGS`: any program, with our standard streams.
    pub fn of_user(args: Vec<String>, deadline: Option<Duration>) -> Scenario {
        let program = Program::new(NAME, Start::Java(args.clone()));
        Scenario::of_programs(NAME, vec![program]).with_program(args, deadline)
    }

    /// Programs with the usual budgets.
    pub(crate) fn of_programs(name: &str, programs: Vec<Program>) -> Scenario {
        Scenario {
            name: name.into(),
            cargo_test: false,
            budget: default_budget(),
            imprecise_budget: Budget::default(),
            statement_budget: StatementBudget::default(),
            required: vec![],
            programs,
            check_only: vec![],
            time_budget: None,
            sha256: None,
        }
    }

    /// The scenario with the user's program in place of each of its programs: with the layers, options, hooks and
    /// matrix of that program. Places that would be equal are one.
    pub fn with_program(self, args: Vec<String>, deadline: Option<Duration>) -> Scenario {
        let mut programs: Vec<Program> = vec![];
        for place in self.programs {
            let program = Program {
                name: NAME.into(),
                start: Start::Java(args.clone()),
                deadline,
                foreground: true,
                files: Default::default(),
                needs: vec![],
                install: None,
                baseline: false,
                ..place
            };
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        // Several places need names of their own.
        for (at, program) in programs.iter_mut().enumerate().skip(1) {
            program.name = format!("{NAME}-{}", at + 1);
        }
        Scenario { programs, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_takes_the_place_of_each_kind_of_program() {
        let text = "name = 'x'\n[[program]]\nname = 'a'\njavac = { seconds = 1 }\n\
            [[program]]\nname = 'b'\nfixtures = { seconds = 1 }\n\
            [[program]]\nname = 'c'\njavac = { seconds = 1 }\nhooks = 'none'\njdk = 25\n";
        let scenario = Scenario::parse(text, "x").unwrap();
        let args = vec!["-jar".to_owned(), "my.jar".to_owned()];
        let own = scenario.clone().with_program(args.clone(), None);
        let names: Vec<_> = own.programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["program", "program-2"]);
        assert_eq!(own.programs[1].hooks, scenario.programs[2].hooks);
        assert_eq!(own.programs[1].oldest_jdk, Some(25));
        for program in &own.programs {
            assert_eq!(program.start, Start::Java(args.clone()));
            assert!(program.foreground && program.deadline.is_none());
        }
        let plain = Scenario::of_user(args.clone(), None);
        assert_eq!(plain.programs.len(), 1);
        assert_eq!(plain.programs[0].start, Start::Java(args));
    }
}
