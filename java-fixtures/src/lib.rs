//! Java programs with known call shapes, and the Java side of the hooks
