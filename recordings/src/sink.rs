//! What readers hand over.

/// A method as a file names it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Method<'a> {
    /// The internal name of its class, as `java/lang/Object`.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its descriptor, if the format has descriptors.
    pub descriptor: Option<&'a str>,
}

/// Where in a method a frame stands.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub enum Place {
    /// At a bytecode index.
    Bci(i32),
    /// In a native method.
    Native,
    /// The format has no bytecode indices. With a line of the source, if there is one.
    Unknown(Option<u32>),
}

/// A frame. Frames of native libraries and of the kernel are none: they are no calls of Java.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub struct Frame {
    /// What [`Sink::method`] returned for its method.
    pub method: u32,
    /// Where it stands.
    pub place: Place,
}

/// How often a stack was sampled in one thread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Samples {
    /// Tells the thread from others of the file; none if the file does not.
    pub thread: Option<String>,
    /// How often.
    pub times: u64,
    /// How the thread started, where the file tells: `java`, `launcher`, `unknown`.
    pub start: Option<&'static str>,
}

/// A stack.
#[derive(Copy, Clone, Debug)]
pub struct Stack<'a> {
    /// Its frames, the top first. There is at least one.
    pub frames: &'a [Frame],
    /// Whether the lowest frame of the thread is there.
    pub whole: bool,
    /// Where and how often it was sampled.
    pub samples: &'a [Samples],
}

/// What a reader of stacks must know besides them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// A part of the file was not read, since the file is cut off or damaged.
    Cut(String),
    /// Something changes the program's classes or calls while it runs.
    Interference(String),
    /// So many samples in which JFR's sampler failed: they have no stack.
    Failed(u64),
    /// So many samples whose stack is that of another instant than their time says.
    Biased(u64),
}

/// Takes what a reader finds.
pub trait Sink {
    /// A method; returns a number for it. A reader may tell the same method again.
    fn method(&mut self, method: Method<'_>) -> u32;
    /// A system property of the JVM at its start.
    fn property(&mut self, key: &str, value: &str);
    /// A stack.
    fn stack(&mut self, stack: Stack<'_>);
    /// Something to know.
    fn note(&mut self, note: Note);
}

/// The internal name of a class from one with dots, if it has any; what HotSpot appends to the names
/// of hidden classes stays.
pub(crate) fn internal_name(class: &str) -> String {
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
