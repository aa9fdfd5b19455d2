//! The stack of the handler of traps: the instructions of the thread write to the thread's own stack, below
//! its stack pointer too, while the handler runs.

use crate::jvm::os::memory::Reserved;
use std::{io, ptr};

/// The size in bytes.
const SIZE: usize = 1 << 20;

/// The handler leaves the stack to nobody else: while the handler runs, other handlers use the stack that is
/// in use (`sigaltstack(2)`).
const SS_AUTODISARM: libc::c_int = libc::c_int::MIN;

/// The stack.
pub struct OwnStack {
    memory: Reserved<u8>,
    /// The alternate stack that the thread had before.
    earlier: libc::stack_t,
}

// SAFETY: the earlier stack is that of the thread that holds this value, and only passed back to it.
unsafe impl Send for OwnStack {}

impl OwnStack {
    /// Reserves the stack.
    pub fn new() -> io::Result<OwnStack> {
        Ok(OwnStack {
            memory: Reserved::new(SIZE)?,
            earlier: none(),
        })
    }

    /// From the next trap on, handlers of the interrupted thread use this stack.
    pub fn enter(&mut self, context: &mut libc::ucontext_t) {
        self.earlier = context.uc_stack;
        context.uc_stack = libc::stack_t {
            ss_sp: self.memory.start().as_ptr().cast(),
            ss_flags: SS_AUTODISARM,
            ss_size: SIZE,
        };
    }

    /// From the end of the handler on, the thread has its earlier alternate stack.
    pub fn leave(&mut self, context: &mut libc::ucontext_t) {
        if ptr::eq(context.uc_stack.ss_sp, self.memory.start().as_ptr().cast()) {
            context.uc_stack = self.earlier;
        }
    }

    /// Whether the calling handler runs on the alternate stack of `context`, and nobody else uses that.
    pub fn is_in_use(context: &libc::ucontext_t) -> bool {
        let here = ptr::from_ref(&context) as usize;
        let start = context.uc_stack.ss_sp as usize;
        context.uc_stack.ss_flags & SS_AUTODISARM != 0
            && (start..start + context.uc_stack.ss_size).contains(&here)
    }
}

fn none() -> libc::stack_t {
    libc::stack_t {
        ss_sp: ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    }
}
