//! Classes that are generated at run time: no class file holds their code.

/// What kind of class a name stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A class of a class file.
    Ordinary,
    /// A class of `java.lang.invoke`: what stands between a method handle or call site and its
    /// target. Some are in class files, most are made at run time.
    Linker,
    /// A hidden class that `LambdaMetafactory` or `StringConcatFactory` made.
    Lambda,
    /// An accessor that `Method.invoke` and the like made (JDK 17 and before).
    Accessor,
    /// A class that `java.lang.reflect.Proxy` made.
    Proxy,
    /// Any other hidden class.
    Hidden,
}

/// The package of a class, with slashes; empty for the unnamed one.
pub fn package(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&b| b == b'/');
    &name[..end.unwrap_or(0)]
}
