//! A frame as Java shows it.

use oracle::trace::Location;

/// A frame of a stack that Java code gave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackElement {
    /// The binary name of the class, with dots.
    pub class: String,
    /// The name of the method.
    pub method: String,
    /// The line, or [`Location::NATIVE`], or [`Location::UNKNOWN`].
    pub line: Location,
}

/// The lines of `java.lang.StackTraceElement`: -2 is a native method, other negative numbers are no line.
pub fn line(number: i32) -> Location {
    match number {
        -2 => Location::NATIVE,
        number if number < 0 => Location::UNKNOWN,
        number => Location(number),
    }
}
