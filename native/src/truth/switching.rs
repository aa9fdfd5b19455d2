//! Classes whose methods are left alone.

/// Classes whose methods switch the identity of the running thread, so that push and pop
/// would meet different trace stacks (`VirtualThread.java`, `Continuation.java`).
const SWITCHES_THREADS: &[&str] = &[
    "java/lang/VirtualThread",
    "java/lang/BaseVirtualThread",
    "java/lang/ThreadBuilders$BoundVirtualThread",
    "jdk/internal/vm/Continuation",
    "jdk/internal/vm/ContinuationScope",
];

/// Whether methods of the class of this internal name switch the identity of the running thread.
pub fn switches_threads(name: &str) -> bool {
    let mut classes = SWITCHES_THREADS.iter();
    classes.any(|class| is_or_is_inside(name, class))
}

fn is_or_is_inside(name: &str, class: &str) -> bool {
    name.strip_prefix(class)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
}
