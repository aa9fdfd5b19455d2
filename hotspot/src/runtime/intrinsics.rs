//! Native methods that the compilers replace by code of their own (`vmIntrinsics.hpp`), and that
//! still call Java.

use oracle::edge::{Intrinsic, Occasions};

/// Other intrinsics of native methods call no Java. Where the fast path does not suffice they call
/// the native method itself, which has a frame, or leave compiled code. The instruction may throw
/// the same exceptions as they do. The calls of method handles have rules of their own.
pub(super) static INTRINSICS: &[Intrinsic] = &[
    // `library_call.cpp`, `inline_unsafe_allocate`: the runtime's `new_instance_C` initialises the
    // class, and registers the object for its finaliser.
    Intrinsic {
        class: "jdk/internal/misc/Unsafe",
        name: "allocateInstance",
        on: Occasions::INITIALISES.and(Occasions::FINALIZES),
    },
];
