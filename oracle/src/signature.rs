//! What makes two mismatches the same kind.

use crate::Verdict;
use crate::record::Mismatch;

impl Mismatch {
    /// Layer, verdict, reason and the method of the first differing frame: equal for
    /// mismatches that have most likely the same cause.
    pub fn signature(&self) -> String {
        let at = self.at_frame.unwrap_or(0);
        let frame = self.walker.get(at).or(self.walker.last());
        let method = frame.map_or("an empty stack", |frame| &frame.method);
        format!(
            "{} {}: {} at {method}",
            self.layer,
            self.verdict_name(),
            self.reason
        )
    }

    /// `truncated` or `wrong`.
    pub fn verdict_name(&self) -> &'static str {
        match self.verdict {
            Verdict::Truncated => "truncated",
            _ => "wrong",
        }
    }
}
