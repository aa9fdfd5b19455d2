//! A stack as a file has it.

use oracle::edge::{EdgeFrame, ThreadStart};

/// One stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The thread, as the file tells it from others; none if it does not.
    pub thread: Option<String>,
    /// Frames, top first.
    pub frames: Vec<EdgeFrame>,
    /// How the thread started, if the lowest frame is there and is to be judged.
    pub bottom: Option<ThreadStart>,
}

/// The internal name of a class from one with dots, as JFR has it for hidden classes; what HotSpot
/// appends to those stays.
pub fn internal_name(class: &str) -> String {
    match class.rsplit_once(".0x") {
        Some((base, address)) => format!("{}.0x{address}", base.replace('.', "/")),
        None => class.replace('.', "/"),
    }
}

#[cfg(test)]
mod tests {
    use super::internal_name;

    #[test]
    fn dots_become_slashes() {
        for (shown, internal) in [
            ("a.B", "a/B"),
            ("a/B", "a/B"),
            ("a.B+0x12/34", "a/B+0x12/34"),
            ("a.B.0x12", "a/B.0x12"),
            ("[La.B;", "[La/B;"),
        ] {
            assert_eq!(internal_name(shown), internal);
        }
    }
}
