//! Cells: what is counted apart, so that a change in one place is not lost among all others.

use crate::Layer;
use crate::record::{CauseName, Statement};
use std::fmt;
use std::str::FromStr;

/// What one count of a baseline is about.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Cell {
    /// The program, with its place in the matrix; [`Cell::ALL_PROGRAMS`] for the sum.
    pub program: String,
    /// The layer.
    pub layer: Layer,
    /// What is counted.
    pub what: What,
    /// Where: the method of the first differing frame, or the state of the thread and the code in
    /// which the walker gave an error. None for the sum over all places.
    pub place: Option<String>,
}

/// What a cell counts.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum What {
    /// All checks: the trials of the kinds below.
    Checks,
    /// How long the programs ran, in milliseconds.
    Milliseconds,
    /// Wrong stacks of a cause; the cause is empty in layers that know none.
    Wrong(String),
    /// Truncated stacks of a cause.
    Truncated(String),
    /// Imprecise stacks.
    Imprecise,
    /// Errors with this code.
    Error(i32),
    /// Of these, errors of walks that begin with an intact frame.
    Refused(i32),
    /// Samples within a window.
    Window,
    /// Checks without truth that were not dropped.
    Unverifiable,
    /// Samples that were lost.
    Dropped,
    /// Samples of a sampler of the JVM: the trials of its statements about samples.
    Samples,
    /// Of these, samples with a stack: the trials of its statements about stacks.
    Stacks,
    /// Samples of which the sampler says this.
    Stated(Statement),
    /// Samples with a stack of which the sampler does not say this.
    Unsaid(Statement),
    /// Frames of walks that matched: the trials of the kinds below.
    Frames,
    /// Of these, frames whose method was not compared.
    MethodNotCompared,
    /// Of these, frames whose BCI was not compared.
    BciNotCompared,
    /// Different instructions of a kind, or of a piece of code that is not compiled, at which a walk could be judged: the
    /// trials of the two below. Each instruction counts once, however often a thread ran it.
    Instructions(String),
    /// Of these, instructions at which an answer was false.
    FalseAt(String),
    /// Of the rest, instructions at which an answer was an error.
    NoAnswerAt(String),
}

/// What a count is a sign of. Cells of one family have a similar dispersion.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Family {
    /// Of stacks that are not true.
    Truth,
    /// Of a walker that answers less.
    Answers,
    /// Of a walker that refuses stacks that can be walked.
    Refusals,
    /// Of a sampler that says of more samples that they are worth less, or that no longer says so.
    Statements,
    /// Of a layer that can judge less.
    Judging,
    /// Of a layer that compares less of a stack.
    Strength,
}

impl What {
    /// All that have neither a cause nor a code.
    const PLAIN: [What; 17] = [
        What::Checks,
        What::Milliseconds,
        What::Imprecise,
        What::Window,
        What::Unverifiable,
        What::Dropped,
        What::Frames,
        What::MethodNotCompared,
        What::BciNotCompared,
        What::Samples,
        What::Stacks,
        What::Stated(Statement::Biased),
        What::Stated(Statement::Truncated),
        What::Stated(Statement::Failed),
        What::Stated(Statement::Lost),
        What::Unsaid(Statement::Biased),
        What::Unsaid(Statement::Truncated),
    ];

    /// What counts the trials of which this counts the events; `None` for trials themselves.
    pub fn trials(&self) -> Option<What> {
        match self {
            What::Checks
            | What::Milliseconds
            | What::Frames
            | What::Samples
            | What::Stacks
            | What::Instructions(_) => None,
            What::FalseAt(kind) | What::NoAnswerAt(kind) => Some(What::Instructions(kind.clone())),
            // How many samples have no stack depends on the machine: a busy one has no time for them.
            What::Stated(statement) => Some(if statement.is_of_stacks() {
                What::Stacks
            } else {
                What::Samples
            }),
            What::Unsaid(_) => Some(What::Stacks),
            What::MethodNotCompared | What::BciNotCompared => Some(What::Frames),
            _ => Some(What::Checks),
        }
    }

    /// Whether the count is told by the kinds of instants at which walkers were asked.
    pub fn is_told_by_instant(&self) -> bool {
        matches!(
            self,
            What::Wrong(_)
                | What::Truncated(_)
                | What::Imprecise
                | What::Error(_)
                | What::Refused(_)
        )
    }

    /// Whether the count is of mismatches whose cause was found.
    pub fn is_explained(&self) -> bool {
        match self {
            What::Wrong(cause) | What::Truncated(cause) => CauseName::explains(cause),
            _ => false,
        }
    }

    /// The cause, if it is a known one.
    pub fn known_cause(&self) -> Option<&str> {
        self.cause().filter(|_| self.is_explained())
    }

    /// What the count is a sign of.
    pub fn family(&self) -> Family {
        match self {
            What::Wrong(_) | What::Truncated(_) | What::Imprecise | What::FalseAt(_) => {
                Family::Truth
            }
            What::Error(_) | What::NoAnswerAt(_) => Family::Answers,
            What::Refused(_) => Family::Refusals,
            What::Stated(_) | What::Unsaid(_) => Family::Statements,
            What::Checks
            | What::Samples
            | What::Stacks
            | What::Instructions(_)
            | What::Milliseconds
            | What::Window
            | What::Unverifiable
            | What::Dropped => Family::Judging,
            What::Frames | What::MethodNotCompared | What::BciNotCompared => Family::Strength,
        }
    }

    /// What weighs most comes first: false stacks that nothing explains, then those of known causes, then missing answers,
    /// then what could not be judged, which moves with the machine.
    pub fn weight(&self) -> (Family, u8) {
        let within = match self {
            What::Imprecise => 2,
            what if what.is_explained() => 1,
            _ => 0,
        };
        (self.family(), within)
    }

    /// The cause, where mismatches of a cause are counted.
    pub fn cause(&self) -> Option<&str> {
        match self {
            What::Wrong(cause) | What::Truncated(cause) => {
                Some(cause).filter(|c| !c.is_empty()).map(String::as_str)
            }
            _ => None,
        }
    }
}

const INSTRUCTIONS: &str = "instructions: ";
const FALSE_AT: &str = "false at instructions: ";
const NO_ANSWER_AT: &str = "no answer at instructions: ";

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |f: &mut fmt::Formatter<'_>, verdict, cause: &str| match cause {
            "" => f.write_str(verdict),
            cause => write!(f, "{verdict} {cause}"),
        };
        match self {
            What::Checks => f.write_str("checks"),
            What::Milliseconds => f.write_str("milliseconds"),
            What::Wrong(cause) => with(f, "wrong", cause),
            What::Truncated(cause) => with(f, "truncated", cause),
            What::Imprecise => f.write_str("imprecise"),
            What::Error(code) => write!(f, "error {code}"),
            What::Refused(code) => write!(f, "refused {code}"),
            What::Window => f.write_str("window"),
            What::Unverifiable => f.write_str("unverifiable"),
            What::Dropped => f.write_str("dropped"),
            What::Samples => f.write_str("samples"),
            What::Stacks => f.write_str("samples with a stack"),
            What::Stated(statement) => write!(f, "{statement}, as the sampler says"),
            What::Unsaid(statement) => write!(f, "not {statement}, as the sampler says"),
            What::Frames => f.write_str("frames of matches"),
            What::MethodNotCompared => f.write_str("method not compared"),
            What::BciNotCompared => f.write_str("BCI not compared"),
            What::Instructions(kind) => write!(f, "{INSTRUCTIONS}{kind}"),
            What::FalseAt(kind) => write!(f, "{FALSE_AT}{kind}"),
            What::NoAnswerAt(kind) => write!(f, "{NO_ANSWER_AT}{kind}"),
        }
    }
}

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<What, String> {
        if let Some(what) = What::PLAIN
            .into_iter()
            .find(|what| what.to_string() == text)
        {
            return Ok(what);
        }
        for (before, what) in [
            (INSTRUCTIONS, What::Instructions as fn(String) -> What),
            (FALSE_AT, What::FalseAt),
            (NO_ANSWER_AT, What::NoAnswerAt),
        ] {
            if let Some(kind) = text.strip_prefix(before) {
                return Ok(what(kind.into()));
            }
        }
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (first, rest.parse()) {
            ("wrong", _) => Ok(What::Wrong(rest.into())),
            ("truncated", _) => Ok(What::Truncated(rest.into())),
            ("error", Ok(code)) => Ok(What::Error(code)),
            ("refused", Ok(code)) => Ok(What::Refused(code)),
            _ => Err(format!("`{text}` is nothing that is counted")),
        }
    }
}

impl Cell {
    /// Stands for the sum of all programs.
    pub const ALL_PROGRAMS: &str = "*";

    /// The cell of a program's layer, with all its places.
    pub fn new(program: &str, layer: Layer, what: What) -> Cell {
        Cell {
            program: program.into(),
            layer,
            what,
            place: None,
        }
    }

    /// The cell that counts the trials of this cell's events; `None` for trials themselves.
    pub fn trials(&self) -> Option<Cell> {
        Some(Cell::new(&self.program, self.layer, self.what.trials()?))
    }

    /// The same in one program.
    pub fn of_program(&self, program: &str) -> Cell {
        Cell {
            program: program.into(),
            ..self.clone()
        }
    }

    /// The same summed over all programs.
    pub fn of_all_programs(&self) -> Cell {
        self.of_program(Cell::ALL_PROGRAMS)
    }

    /// Whether this is a sum over all programs.
    pub fn is_of_all_programs(&self) -> bool {
        self.program == Cell::ALL_PROGRAMS
    }
}

/// Between the parts of a cell's name. Neither names of programs nor of methods have it.
const BETWEEN: &str = " | ";

/// `PROGRAM | LAYER | WHAT` or `PROGRAM | LAYER | WHAT | PLACE`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            program,
            layer,
            what,
            ..
        } = self;
        write!(f, "{program}{BETWEEN}{layer}{BETWEEN}{what}")?;
        self.place
            .iter()
            .try_for_each(|place| write!(f, "{BETWEEN}{place}"))
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(text: &str) -> Result<Cell, String> {
        let parts: Vec<&str> = text.splitn(4, BETWEEN).collect();
        let [program, layer, what, place @ ..] = &parts[..] else {
            return Err(format!("`{text}` is no name of a cell"));
        };
        Ok(Cell {
            place: place.first().map(|&place| place.into()),
            ..Cell::new(program, layer.parse()?, what.parse()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for what in [
            What::Checks,
            What::Milliseconds,
            What::Wrong("leaf-call".into()),
            What::Wrong(String::new()),
            What::Truncated("not looked at".into()),
            What::Imprecise,
            What::Error(-5),
            What::Refused(-6),
            What::Window,
            What::Unverifiable,
            What::Dropped,
            What::Samples,
            What::Stacks,
            What::Stated(Statement::Biased),
            What::Stated(Statement::Truncated),
            What::Stated(Statement::Failed),
            What::Stated(Statement::Lost),
            What::Unsaid(Statement::Biased),
            What::Frames,
            What::MethodNotCompared,
            What::BciNotCompared,
            What::Instructions("ret".into()),
            What::FalseAt("pop rbp".into()),
            What::NoAnswerAt("Interpreter".into()),
        ] {
            for place in [None, Some("in Java, x | y".to_owned())] {
                let cell = Cell {
                    place,
                    ..Cell::new("a[b=c d]", Layer::AsgctAsync, what.clone())
                };
                assert_eq!(cell.to_string().parse(), Ok(cell));
            }
        }
        for bad in [
            "",
            "a | gst",
            "a | b | checks",
            "a | gst | error x",
            "a | gst | colour",
        ] {
            assert!(bad.parse::<Cell>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_nothing_explains_weighs_most() {
        let wrong = |cause: &str| What::Wrong(cause.into());
        let all = [
            wrong("unexplained"),
            wrong("leaf-call"),
            What::Imprecise,
            What::Error(-4),
            What::Unverifiable,
            What::Frames,
        ];
        assert!(all.is_sorted_by(|a, b| a.weight() < b.weight()));
    }
}
