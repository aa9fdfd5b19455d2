//! What the doctor found out about one subject.

/// One line of the answer.
pub struct Diagnosis {
    about: &'static str,
    state: State,
}

enum State {
    /// Nothing is wrong. Holds what was found.
    Fine(String),
    /// Something is wrong. Holds what is wrong, and what to do.
    Problem { what: String, remedy: String },
}

impl Diagnosis {
    /// The line for a subject with which nothing is wrong.
    pub fn fine(about: &'static str, found: impl Into<String>) -> Diagnosis {
        let state = State::Fine(found.into());
        Diagnosis { about, state }
    }

    /// The line for a problem: what is wrong, and what to do.
    pub fn problem(
        about: &'static str,
        what: impl ToString,
        remedy: impl Into<String>,
    ) -> Diagnosis {
        let (what, remedy) = (what.to_string(), remedy.into());
        let state = State::Problem { what, remedy };
        Diagnosis { about, state }
    }

    /// Whether there is nothing to do.
    pub fn is_fine(&self) -> bool {
        matches!(self.state, State::Fine(_))
    }

    /// The same for programs.
    pub fn json(&self) -> serde_json::Value {
        match &self.state {
            State::Fine(found) => serde_json::json!({
                "about": self.about, "fine": true, "found": found,
            }),
            State::Problem { what, remedy } => serde_json::json!({
                "about": self.about, "fine": false, "found": what, "remedy": remedy,
            }),
        }
    }

    /// The line for the user.
    pub fn line(&self) -> String {
        match &self.state {
            State::Fine(found) => format!("ok       {}: {found}\n", self.about),
            State::Problem { what, remedy } => {
                format!("problem  {}: {what}; {remedy}\n", self.about)
            }
        }
    }
}
