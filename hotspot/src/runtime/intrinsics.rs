//! Native methods that the compilers replace by code of their own (`vmIntrinsics.hpp`), and that call
//! Java nevertheless.

use oracle::edge::{Intrinsic, Occasions};

/// The other intrinsics of native methods call no Java: where the fast way does not suffice they call
/// the native method itself, which has a frame, or leave compiled code. What they throw, the
/// instruction throws. The method handles' own calls have rules of their own.
pub(super) static INTRINSICS: &[Intrinsic] = &[
    // `library_call.cpp`, `inline_unsafe_allocate`: the runtime's `new_instance_C` initialises the
    // class, and registers the object for its finaliser.
    Intrinsic {
        class: "jdk/internal/misc/Unsafe",
        name: "allocateInstance",
        on: Occasions::INITIALISES.and(Occasions::FINALIZES),
    },
];
