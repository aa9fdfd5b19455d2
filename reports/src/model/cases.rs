//! A decision as test cases, for a CI system's list of tests.

/// Test cases that belong together.
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
    /// What came of the case.
    pub verdict: Verdict,
}

/// What came of a test case. The first line of a text is its message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Nothing speaks against the case.
    Passed,
    /// What was judged is over its budget.
    Failed(String),
    /// What was to be judged could not be measured, or crashed.
    Errored(String),
    /// The case was left out.
    Skipped(String),
}
