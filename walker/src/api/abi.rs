//! Structs and constants of `profile2.h`.

use crate::layout::certainty::Certainty;
use crate::layout::stamp::Stamped;
use crate::walk::During;
use crate::walk::frame::{Failure, Frame, FrameKind};
use std::ffi::{c_int, c_void};

/// `ASGST_INCLUDE_C_FRAMES`.
pub const INCLUDE_C_FRAMES: u32 = 1;
/// `ASGST_INCLUDE_NON_JAVA_THREADS`.
pub const INCLUDE_NON_JAVA_THREADS: u32 = 2;
/// `ASGST_GUESS_INLINED`.
pub const GUESS_INLINED: u32 = 4;

/// `ASGST_JAVA_TRACE`.
pub const JAVA_TRACE: u8 = 0;
/// `ASGST_CPP_TRACE`.
pub const CPP_TRACE: u8 = 1;
/// `ASGST_GC_TRACE`.
pub const GC_TRACE: u8 = 2;
/// `ASGST_DEOPT_TRACE`.
pub const DEOPT_TRACE: u8 = 3;
/// `ASGST_UNKNOWN_TRACE`.
pub const UNKNOWN_TRACE: u8 = 4;

/// `ASGST_FRAME_JAVA_INLINED`.
pub const FRAME_INLINED: u8 = 2;
/// `ASGST_FRAME_NATIVE`.
pub const FRAME_NATIVE: u8 = 3;

/// `ASGST_NO_FRAME`.
pub const NO_FRAME: c_int = 0;
/// `ASGST_NO_TOP_JAVA_FRAME`.
pub const NO_TOP_JAVA_FRAME: c_int = -4;
/// `ASGST_NOT_READY`.
pub const NOT_READY: c_int = -17;

/// `ASGST_FRAME_NO_BCI`.
pub const NO_BCI: u8 = 1;
/// `ASGST_FRAME_MAY_MISS_INLINED`.
pub const MAY_MISS_INLINED: u8 = 2;
/// `ASGST_FRAME_LIKELY`.
pub const LIKELY: u8 = 4;

/// `ASGST_JavaFrame`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct JavaFrame {
    /// `ASGST_FrameTypeId`.
    pub kind: u8,
    /// 0 is interpreted, -1 undefined.
    pub comp_level: i8,
    /// 0 if there is none.
    pub bci: u16,
    /// `ASGST_FrameFlags`.
    pub flags: u32,
    /// A `jmethodID`, or 0.
    pub method_id: usize,
}

/// `ASGST_NonJavaFrame`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct NonJavaFrame {
    /// `ASGST_FrameTypeId`.
    pub kind: u8,
    /// The program counter in this frame.
    pub pc: usize,
}

/// `ASGST_CallFrame`.
#[repr(C)]
#[derive(Copy, Clone)]
pub union CallFrame {
    /// `ASGST_FrameTypeId`.
    pub kind: u8,
    /// Of a Java or native method.
    pub java_frame: JavaFrame,
    /// Of a stub, or of C or C++.
    pub non_java_frame: NonJavaFrame,
}

/// `ASGST_CallTrace`.
#[repr(C)]
#[derive(Debug)]
pub struct CallTrace {
    /// The number of frames, or an error.
    pub num_frames: c_int,
    /// `ASGST_TRACE_KIND`.
    pub kind: u8,
    /// Room for the frames.
    pub frames: *mut CallFrame,
    /// Not used.
    pub frame_info: *mut c_void,
}

/// `ASGST_Frame`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct IteratorFrame {
    /// `ASGST_FrameTypeId`.
    pub kind: u8,
    /// `ASGST_FrameFlags`.
    pub flags: u8,
    /// 0 is interpreted, -1 undefined.
    pub comp_level: c_int,
    /// -1 if there is none.
    pub bci: c_int,
    /// The `ASGST_Method`, or 0.
    pub method: usize,
    /// The program counter in this frame.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its frame pointer, or 0.
    pub fp: usize,
}

impl Failure {
    /// The `ASGST_Error`.
    pub fn code(self) -> c_int {
        match self {
            Failure::NoThread => -1,
            Failure::Ending => -2,
            Failure::UnsafeState => -3,
            Failure::NoJavaFrame => NO_TOP_JAVA_FRAME,
            Failure::NotReady => NOT_READY,
            Failure::Top => -18,
            Failure::Caller => -19,
            Failure::Torn => -20,
            Failure::Deoptimizing => -21,
            Failure::Left => -22,
            Failure::Unmounted => -23,
            Failure::NotSuspended => -24,
        }
    }

    /// The kind of a trace that failed in this way.
    pub fn kind(self) -> u8 {
        match self {
            Failure::Deoptimizing => DEOPT_TRACE,
            Failure::NoThread => CPP_TRACE,
            Failure::NotReady | Failure::UnsafeState | Failure::Top => UNKNOWN_TRACE,
            Failure::Ending | Failure::NoJavaFrame | Failure::Caller | Failure::Torn => JAVA_TRACE,
            Failure::Left | Failure::Unmounted | Failure::NotSuspended => JAVA_TRACE,
        }
    }
}

impl During {
    /// The kind of the trace of a Java thread.
    pub fn kind(self) -> u8 {
        match self {
            During::Program => JAVA_TRACE,
            During::Collection => GC_TRACE,
            During::Deoptimization => DEOPT_TRACE,
        }
    }
}

impl Frame {
    /// Whether the frame is of a Java or native method.
    pub fn is_of_method(&self) -> bool {
        match self.kind {
            FrameKind::Java | FrameKind::Inlined | FrameKind::Native => true,
            FrameKind::Stub | FrameKind::Cpp => false,
        }
    }

    fn flags(&self) -> u8 {
        match self.certainty {
            Certainty::Full => 0,
            Certainty::WithoutBci => NO_BCI,
            Certainty::MethodAlone => NO_BCI | MAY_MISS_INLINED,
            Certainty::Likely => LIKELY,
            Certainty::Guessed => LIKELY | NO_BCI | MAY_MISS_INLINED,
        }
    }

    fn type_id(&self) -> u8 {
        match self.kind {
            FrameKind::Java => 1,
            FrameKind::Inlined => FRAME_INLINED,
            FrameKind::Native => FRAME_NATIVE,
            FrameKind::Stub => 4,
            FrameKind::Cpp => 5,
        }
    }

    /// The frame for AsyncGetStackTrace. `id` is the jmethodID of its method.
    pub fn to_call_frame(&self, id: usize) -> CallFrame {
        if self.is_of_method() {
            CallFrame {
                java_frame: JavaFrame {
                    kind: self.type_id(),
                    comp_level: self.level,
                    bci: self.bci.unwrap_or(0),
                    flags: self.flags().into(),
                    method_id: id,
                },
            }
        } else {
            CallFrame {
                non_java_frame: NonJavaFrame {
                    kind: self.type_id(),
                    pc: self.pc,
                },
            }
        }
    }

    /// The frame for the iterator, which does not distinguish stubs from C code.
    pub fn to_iterator_frame(&self) -> IteratorFrame {
        IteratorFrame {
            kind: self.type_id().min(4),
            flags: self.flags(),
            comp_level: self.level.into(),
            bci: self.bci.map_or(-1, c_int::from),
            method: self.method.map_or(0, |Stamped(word)| word),
            pc: self.pc,
            sp: self.sp,
            fp: self.fp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_large_as_those_of_async_get_call_trace() {
        assert_eq!(size_of::<CallFrame>(), 16);
        assert_eq!(size_of::<CallTrace>(), 24);
        assert_eq!(size_of::<IteratorFrame>(), 48);
    }
}
