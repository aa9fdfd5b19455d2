//! The parts of a cause.

use crate::capability::Capability;
use crate::case::Facts;
use oracle::record::CauseName;

/// A known cause of mismatches.
#[derive(Debug)]
pub struct Cause {
    /// Its name in `report.json` and the title of its section in `docs/findings.md`, which is written from the rows.
    pub name: &'static str,
    /// What the cause is, in a few words.
    pub meaning: &'static str,
    /// Why the answer is false, in a sentence or two; empty where nobody knows.
    pub why: &'static str,
    /// Where HotSpot's source has the fault; empty where the fault is not HotSpot's, or nobody knows.
    pub sources: &'static [Source],
    /// What the evidence must show, so that a mismatch has this cause: a sentence or two. Empty: nothing.
    pub proof: &'static str,
    /// When it happens, its variants, and what the proof cannot decide. Empty: nothing more to say.
    pub notes: &'static str,
    /// What of the VM its proof needs.
    pub needs: &'static [Capability],
    /// Whether the evidence of a mismatch shows this cause.
    pub recognise: fn(&Facts<'_>) -> bool,
    /// The first JDK that has the fault; 0: every JDK.
    pub since: u32,
    /// Programs of the fixtures that trigger the cause, or why none does.
    pub programs: Result<&'static [Program], &'static str>,
}

/// Why no program triggers a cause that the JVM's own walkers do not have.
pub(super) const OF_PROFILERS: &str = "only walkers of profilers have it";

/// A place in HotSpot's source, and what is wrong there.
#[derive(Debug)]
pub struct Source {
    /// The file, from the root of the repository.
    pub file: &'static str,
    /// The function.
    pub function: &'static str,
    /// What the function does that is not true at the instants of the cause: a sentence or two.
    pub fault: &'static str,
}

/// A program of the fixtures, with the settings that trigger a cause.
#[derive(Debug)]
pub struct Program {
    /// Tells several programs of one cause apart; empty if there is one program.
    pub variant: &'static str,
    /// Why the cause appears in the program: a sentence.
    pub note: &'static str,
    /// Name of the fixture.
    pub fixture: &'static str,
    /// How many seconds the program runs.
    pub seconds: u32,
    /// The name of the hooks' mode ([`oracle::Hooking`]).
    pub hooks: &'static str,
    /// Options for the JVM.
    pub jvm_args: &'static [&'static str],
}

impl Program {
    /// The usual settings of a program.
    pub(crate) const USUAL: Program = Program {
        variant: "",
        note: "",
        fixture: "",
        seconds: 4,
        hooks: "exact",
        jvm_args: &[],
    };
}

impl Cause {
    /// The programs of the fixtures that trigger the cause.
    pub fn programs(&self) -> &'static [Program] {
        self.programs.unwrap_or_default()
    }

    /// Whether only walkers of profilers have the cause, and not those of the JVM.
    pub fn is_of_profilers(&self) -> bool {
        matches!(self.programs, Err(why) if why == OF_PROFILERS)
    }

    /// The address of the page that explains the cause.
    pub fn page(&self) -> String {
        let repository = env!("CARGO_PKG_REPOSITORY");
        format!("{repository}/blob/main/docs/findings.md#{}", self.name)
    }
}

impl From<&Cause> for CauseName {
    fn from(cause: &Cause) -> CauseName {
        CauseName::new(cause.name)
    }
}
