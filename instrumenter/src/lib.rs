//! Rewrites class files: a lossless codec, and hooks that keep a trace stack
