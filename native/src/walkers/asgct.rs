//! AsyncGetCallTrace: HotSpot's unofficial walker (`share/prims/forte.cpp`).

use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{Walker, WalksAltered, WalksHere, WalksInterrupted};
use crate::jvm::Jvm;
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::jni::{Env, EnvAddress};
use crate::jvm::jvmti::JMethodId;
use crate::jvm::os::signal::{ContextCopy, with_own_context};
use crate::truth::interrupted::Interrupted;
use hotspot::arch::{Arch, Native};
use oracle::trace::{Frame, Location, MethodKey};
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use vm::library::Library;
use vm::memory::kernel::peek_bytes;

/// The walker's name.
pub const NAME: &str = "asgct";

/// `ASGCT_CallFrame`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
struct CallFrame {
    /// BCI, or -3 in a native method.
    lineno: c_int,
    /// The method; may be null.
    method_id: JMethodId,
}

/// `ASGCT_CallTrace`.
#[repr(C)]
struct CallTrace {
    env_id: EnvAddress,
    num_frames: c_int,
    frames: *mut CallFrame,
}

/// The walker.
struct Asgct {
    entry_point: EntryPoint,
    /// Where the VM marks in a thread that it walks, from the start of the thread; `None` if the VM does not, or if
    /// its code does not show it.
    mark: Option<usize>,
    threads: Option<&'static JavaThreads>,
}

type EntryPoint = unsafe extern "C" fn(*mut CallTrace, c_int, *mut c_void);

/// Looks the symbol up in the VM's own library.
pub fn find(jvm: &'static Jvm) -> Option<Box<dyn Walker>> {
    let symbol = Library::find()?.symbol("AsyncGetCallTrace")?;
    // SAFETY: the symbol has had this signature since JDK 5.
    Some(unsafe { at(jvm, symbol) })
}

/// The walker at `symbol`.
///
/// # Safety
/// It must be a function of this signature.
pub unsafe fn at(jvm: &'static Jvm, symbol: *mut c_void) -> Box<dyn Walker> {
    // SAFETY: as the caller promised.
    let entry_point = unsafe { transmute::<*mut c_void, EntryPoint>(symbol) };
    // More than the code of the function has in any JDK; the search ends at its first mistake.
    const CODE: usize = 0x400;
    let code = peek_bytes(symbol.addr(), CODE);
    Box::new(Asgct {
        entry_point,
        // Where the mark is not known, nobody takes it back for a walk that has crashed.
        mark: Native::walk_mark(&code)
            .ok()
            .flatten()
            .map(|offset| offset as usize),
        threads: jvm.java_threads.as_ref().ok(),
    })
}

impl Asgct {
    /// # Safety
    /// `env` must be the calling thread's, and `context` a context of that thread.
    unsafe fn walk(&self, env: EnvAddress, context: *mut c_void, into: &mut FrameBuffer) -> Walk {
        let walk = |frames, capacity| {
            let mut trace = CallTrace {
                env_id: env,
                num_frames: 0,
                frames,
            };
            // SAFETY: as the caller promised; the buffer has room for this many frames.
            unsafe { (self.entry_point)(&mut trace, capacity as c_int, context) };
            match trace.num_frames {
                count if count > 0 => Ok(count as usize),
                code => Err(ErrorCode(code)),
            }
        };
        let convert = |frame: CallFrame| Frame {
            method: MethodKey(frame.method_id.0),
            location: Location::from_asgct(frame.lineno),
        };
        // SAFETY: the walker wrote as many frames as it says.
        unsafe { into.walk(walk, convert) }
    }
}

impl Walker for Asgct {
    fn name(&self) -> &'static str {
        NAME
    }

    fn in_handler(&self) -> Option<&dyn WalksInterrupted> {
        Some(self)
    }

    fn altered(&self) -> Option<&dyn WalksAltered> {
        Some(self)
    }

    fn here(&self) -> Option<&dyn WalksHere> {
        Some(self)
    }
}

impl WalksInterrupted for Asgct {
    fn walk(&self, thread: Interrupted<'_>, into: &mut FrameBuffer) -> Walk {
        // SAFETY: both are those of the interrupted thread, which runs here.
        unsafe { Asgct::walk(self, thread.env(), thread.context().as_raw(), into) }
    }

    fn clean_up(&self, thread: Interrupted<'_>) {
        if let (Some(mark), Some(threads)) = (self.mark, self.threads) {
            // SAFETY: the thread runs here, and the byte is the mark that its walk has set.
            unsafe { threads.clear_byte(thread.context(), thread.env(), mark) };
        }
    }
}

impl WalksAltered for Asgct {
    unsafe fn walk_altered(
        &self,
        thread: Interrupted<'_>,
        context: &mut ContextCopy,
        _: u32,
        into: &mut FrameBuffer,
    ) -> Walk {
        // SAFETY: the environment is that of the interrupted thread. The caller wants to know what the context does.
        unsafe { Asgct::walk(self, thread.env(), context.as_raw(), into) }
    }
}

impl WalksHere for Asgct {
    fn walk(&self, env: Env<'_>, into: &mut FrameBuffer) -> Walk {
        // SAFETY: both are this thread's.
        with_own_context(|context| unsafe { Asgct::walk(self, env.address(), context, into) })
    }
}
