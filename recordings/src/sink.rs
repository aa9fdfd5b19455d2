//! The results of readers.

/// A method, as a file names it.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Method<'a> {
    /// The internal name of its class, such as `java/lang/Object`; empty if the file does not name the
    /// method.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its descriptor, if the format has descriptors.
    pub descriptor: Option<&'a str>,
}

impl Method<'_> {
    /// A method of Java whose name the file does not have.
    pub const UNNAMED: Method<'static> = Method {
        class: "",
        name: "unknown",
        descriptor: None,
    };
}

/// The place of a frame in its method.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub enum FramePosition {
    /// At a bytecode index.
    Bci(i32),
    /// In a native method.
    Native,
    /// The format has no bytecode indices. Holds the line of the source, if the file has it.
    Unknown(Option<u32>),
}

/// A Java frame. Frames of native libraries and of the kernel are left out, because they are no
/// Java calls.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub struct Frame {
    /// The number that [`Sink::method`] returned for its method.
    pub method: u32,
    /// Its place in the method.
    pub place: FramePosition,
}

/// How often a stack was sampled in a thread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Samples {
    /// The file's name for the thread; `None` if the file has none.
    pub thread: Option<String>,
    /// The number of samples.
    pub times: u64,
    /// How the thread started, if the file says so: `java`, `launcher`, `unknown`, or [`IN_MAIN`].
    pub start: Option<&'static str>,
}

/// A sample between two of its thread whose lowest frame is `main`. A launcher calls `main` once, so `main` is on the stack, and
/// no method that a launcher calls or has called before is the lowest one.
pub const IN_MAIN: &str = "in main";

/// A stack.
#[derive(Copy, Clone, Debug)]
pub struct Stack<'a> {
    /// Its frames, top first. There is at least one frame.
    pub frames: &'a [Frame],
    /// Whether the lowest frame of the thread is in the stack.
    pub whole: bool,
    /// The threads in which it was sampled.
    pub samples: &'a [Samples],
}

/// A fact about a file that its user must know besides the stacks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// A part of the file was not read, because the file is cut off or damaged.
    Cut(String),
    /// Something changes the program's classes or calls during the run.
    Interference(String),
    /// This many samples of JFR's sampler failed, and have no stack.
    Failed(u64),
    /// The stacks of this many samples have no frame of a Java method with a name, and are left out.
    WithoutJava(u64),
    /// This many samples have no stack.
    WithoutStack(u64),
    /// The top frames of this many samples seem to be the classes of allocated objects or of locks, and are left out.
    ClassesOnTop(u64),
    /// No class has a package.
    NoPackages,
    /// The stacks of this many samples are of another instant than the samples' time.
    Biased(u64),
}

/// The environment variable with the folder in which a shell stood, as [`Sink::property`] gets it.
pub const PWD: &str = "env.PWD";

/// Takes the results of a reader.
pub trait Sink {
    /// A method. Returns a number for the method. A reader may pass a method several times.
    fn method(&mut self, method: Method<'_>) -> u32;
    /// A system property of the JVM at its start, or [`PWD`].
    fn property(&mut self, key: &str, value: &str);
    /// A stack.
    fn stack(&mut self, stack: Stack<'_>);
    /// A fact that the user must know.
    fn note(&mut self, note: Note);
}

/// The internal name of a class whose name may have dots. The suffix that HotSpot appends to the
/// names of hidden classes stays.
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
