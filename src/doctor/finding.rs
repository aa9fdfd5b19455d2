//! What the doctor finds.

/// One line of the answer.
pub struct Finding {
    about: &'static str,
    state: State,
}

enum State {
    /// As it should be, with what was found.
    Fine(String),
    /// What is wrong, and what to do.
    Problem { what: String, remedy: String },
}

impl Finding {
    /// What is as it should be.
    pub fn fine(about: &'static str, found: impl Into<String>) -> Finding {
        let state = State::Fine(found.into());
        Finding { about, state }
    }

    /// What is wrong, and what to do.
    pub fn problem(about: &'static str, what: impl ToString, remedy: impl Into<String>) -> Finding {
        let (what, remedy) = (what.to_string(), remedy.into());
        let state = State::Problem { what, remedy };
        Finding { about, state }
    }

    /// Whether nothing is to be done.
    pub fn is_fine(&self) -> bool {
        matches!(self.state, State::Fine(_))
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
