//! A decision as test cases, for a CI system's list of tests.

/// A suite of test cases.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The suite's name.
    pub name: String,
    /// How long the suite took, in seconds.
    pub seconds: f64,
    /// The cases.
    pub cases: Vec<Case>,
}

/// A test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The case's name.
    pub name: String,
    /// How long the case took, in seconds.
    pub seconds: f64,
    /// The result of the case.
    pub verdict: Verdict,
    /// What was counted, in words; empty where nothing is.
    pub counted: String,
}

/// The result of a test case. The first line of a text is its message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// There is no reason against the case.
    Passed,
    /// The subject of the case is over its budget.
    Failed(String),
    /// The subject of the case could not be measured, or crashed.
    Errored(String),
    /// The case was left out.
    Skipped(String),
}
