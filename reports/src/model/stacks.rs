//! Both stacks of a mismatch.

/// A mismatch with its evidence.
#[derive(Clone, Debug)]
pub struct Stacks {
    /// The reason, in one line.
    pub title: String,
    /// The thread.
    pub thread: String,
    /// The walker's answer, top frame first.
    pub walker: Vec<Frame>,
    /// The truth, top frame first.
    pub truth: Vec<Frame>,
    /// The first frame that differs, as an index into both stacks.
    pub differs: Option<usize>,
    /// Further evidence: name and value.
    pub evidence: Vec<(String, String)>,
}

/// A frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// `Class.method @BCI`.
    pub short: String,
    /// `package.Class.method(descriptor) @BCI line LINE`.
    pub whole: String,
}
