//! A signal that carries a word to a thread of this process, and the functions for its handler.
//!
//! A handler calls async-signal-safe code only: it allocates nothing, takes no lock, waits for no
//! thread, cannot panic, does a bounded amount of work and keeps `errno`. Functions that are meant
//! for handlers take a [`HandlerContext`], which only a handler has.

use super::signal_set::SignalSet;
use crate::arch;
use crate::jvm::os::thread::{self, StackBounds};
use hotspot::arch::{NativeRegisters, Registers};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::{io, ptr};

/// The function that gets the word of a signal.
pub type Handle = fn(&HandlerContext<'_>, u64);

static HANDLE: OnceLock<Handle> = OnceLock::new();

/// The state of the thread that a signal interrupted. The value exists in a signal handler only,
/// and cannot leave its thread.
pub struct HandlerContext<'a> {
    context: &'a libc::ucontext_t,
    /// Neither `Send` nor `Sync`.
    _of_this_thread: PhantomData<*mut ()>,
}

impl<'a> HandlerContext<'a> {
    /// The state in the context of a signal.
    ///
    /// # Safety
    /// `context` must be that of a signal whose handler the calling thread runs.
    pub(super) unsafe fn of(context: &'a libc::ucontext_t) -> HandlerContext<'a> {
        HandlerContext {
            context,
            _of_this_thread: PhantomData,
        }
    }
}

impl HandlerContext<'_> {
    /// The registers of the interrupted code.
    pub fn registers(&self) -> Registers {
        arch::registers(self.context)
    }

    /// All general registers of the interrupted code.
    pub fn general(&self) -> NativeRegisters {
        vm::registers(self.context).1
    }

    /// The signals that the interrupted code had blocked. While a handler runs, its own signal is among them, unless it
    /// was installed with `SA_NODEFER` (sigaction(2)).
    pub fn blocked(&self) -> SignalSet {
        SignalSet::of(&self.context.uc_sigmask)
    }

    /// The first bytes of the instruction that runs next; 0 for a byte on another page.
    pub fn next_bytes(&self) -> [u8; 2] {
        const PAGE: usize = 0xfff;
        let pc = self.registers().pc;
        // SAFETY: the thread is about to run the instruction, so its first byte can be read, and all bytes
        // of its page.
        unsafe {
            let first = (pc as *const u8).read_volatile();
            let second = match (pc + 1) & PAGE {
                0 => 0,
                _ => ((pc + 1) as *const u8).read_volatile(),
            };
            [first, second]
        }
    }

    /// The register in which the interpreter has the method that it enters.
    pub fn entered_method(&self) -> usize {
        arch::entered_method(self.context)
    }

    /// The register in which code of C1 gives the address of its `athrow` to a stub.
    pub fn throwing(&self) -> usize {
        arch::throwing(self.context)
    }

    /// The number of the system call that the thread is about to make, and its first two arguments.
    pub fn system_call(&self) -> [usize; 3] {
        arch::system_call(self.context)
    }

    /// The word at `address` of the thread's own stack; 0 if the address is not in `stack`, or so far below
    /// the interrupted code's stack pointer that handlers may have overwritten the word.
    pub fn stack_word(&self, address: usize, stack: &StackBounds) -> usize {
        let is_kept = address >= self.registers().sp.saturating_sub(arch::RED_ZONE);
        let is_there = is_kept && stack.range().contains(&address);
        if !is_there || !address.is_multiple_of(size_of::<usize>()) {
            return 0;
        }
        // SAFETY: the handler's own frame is below, so this part of the thread's stack is in use.
        unsafe { (address as *const usize).read_volatile() }
    }

    /// The instruction that runs next loads the flags from the stack: sets the trap flag there, if they are
    /// within `stack`.
    pub fn keep_trap_flag(&self, stack: &StackBounds) {
        let sp = self.registers().sp;
        if stack.range().contains(&sp) && sp.is_multiple_of(size_of::<usize>()) {
            // SAFETY: the word at the stack pointer is this thread's, which runs here.
            unsafe {
                let flags = sp as *mut usize;
                flags.write_volatile(flags.read_volatile() | arch::TRAP_FLAG);
            }
        }
    }

    /// A copy, whose registers may be changed. The interrupted code keeps its own.
    pub fn copy(&self) -> ContextCopy {
        ContextCopy(*self.context)
    }

    /// The place of the word so many bytes above the interrupted code's stack pointer, if frames of the thread may be
    /// there. `stack` must be this thread's.
    fn frame_word(&self, distance: usize, stack: &StackBounds) -> Option<*mut usize> {
        /// For thread-local variables of libraries that were loaded after the agent.
        const LATER: usize = 1 << 10;
        let range = stack.range();
        // glibc keeps thread-local variables at the upper end of a thread's stack, later libraries further down.
        let variables = arch::thread_word().addr();
        let end = if range.contains(&variables) {
            variables.saturating_sub(LATER)
        } else {
            range.end
        };
        let sp = self.registers().sp;
        let place = sp.checked_add(distance)?;
        let is_there =
            range.contains(&sp) && place < end && place.is_multiple_of(size_of::<usize>());
        is_there.then_some(place as *mut usize)
    }

    /// Reads the word so many bytes above the interrupted code's stack pointer; `None` if no frame is there. `stack` must
    /// be this thread's.
    pub fn read_frame_word(&self, distance: usize, stack: &StackBounds) -> Option<usize> {
        // SAFETY: above the stack pointer all words of the stack are in use.
        self.frame_word(distance, stack)
            .map(|word| unsafe { word.read_volatile() })
    }

    /// Overwrites that word, if it is there. The caller puts the old value back before the handler ends.
    pub fn write_frame_word(&self, distance: usize, stack: &StackBounds, value: usize) {
        if let Some(word) = self.frame_word(distance, stack) {
            // SAFETY: as above; the interrupted code reads the word only after the handler has ended.
            unsafe { word.write_volatile(value) };
        }
    }

    /// The `ucontext_t`, for functions of the VM.
    pub fn as_raw(&self) -> *mut c_void {
        ptr::from_ref(self.context).cast_mut().cast()
    }

    /// Copies words of the thread's stack from the address `from` on, or from the interrupted
    /// code's stack pointer on if that is higher, as far as `stack` and `words` reach. Returns how
    /// many words were copied: 0 if that address is not in `stack`.
    pub fn copy_stack(&self, from: usize, stack: &StackBounds, words: &mut [usize]) -> usize {
        // SAFETY: these are the registers of this thread, which a handler has interrupted. Its stack
        // pointer lies in `stack`, or nothing is read; so `stack` is this thread's. Pages at and
        // above the stack pointer are in use: guard pages, and what the kernel has not given yet,
        // lie below it.
        unsafe { copy_words(from.max(self.registers().sp), stack, words) }
    }

    /// For tests of what handlers call.
    #[cfg(test)]
    pub fn for_test<T>(run: impl FnOnce(&HandlerContext<'_>) -> T) -> T {
        // SAFETY: plain data, which takes any bytes.
        let context = unsafe { std::mem::zeroed() };
        run(&HandlerContext {
            context: &context,
            _of_this_thread: PhantomData,
        })
    }
}

/// A copy of an interrupted thread's state.
pub struct ContextCopy(libc::ucontext_t);

impl ContextCopy {
    /// A general register, by its number (`hotspot::arch::Arch::REGISTER_NAMES`), modulo their count.
    pub fn register(&mut self, number: usize) -> &mut u64 {
        arch::register(&mut self.0, number % arch::REGISTERS)
    }

    /// The `ucontext_t`, for functions of the VM.
    pub fn as_raw(&mut self) -> *mut c_void {
        ptr::from_mut(&mut self.0).cast()
    }
}

/// Lets `walk` have the calling thread's own context, in the form in which a handler gets one.
pub fn with_own_context<T>(walk: impl FnOnce(*mut c_void) -> T) -> T {
    // SAFETY: plain data, which takes any bytes, and which getcontext fills in.
    unsafe {
        let mut context: libc::ucontext_t = std::mem::zeroed();
        libc::getcontext(&mut context);
        walk(ptr::from_mut(&mut context).cast())
    }
}

/// # Safety
/// What lies in `stack` at and above `sp` must be readable, if `sp` lies in it.
unsafe fn copy_words(sp: usize, stack: &StackBounds, words: &mut [usize]) -> usize {
    const WORD: usize = size_of::<usize>();
    let range = stack.range();
    if !range.contains(&sp) || !sp.is_multiple_of(WORD) {
        return 0;
    }
    let count = ((range.end - sp) / WORD).min(words.len());
    // SAFETY: this many words are readable, as the caller promised, and `words` has room for them.
    unsafe { ptr::copy_nonoverlapping(sp as *const usize, words.as_mut_ptr(), count) }
    count
}

/// The signals of what a thread itself does.
pub const FAULTS: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGABRT,
];

/// The number of the signal. It is a real-time signal, which carries a word, so that SIGPROF is
/// free for profilers.
fn number() -> c_int {
    libc::SIGRTMIN() + 7
}

/// Lets `handle` answer the signal from now on. To be called once. The handler stays installed,
/// because a signal may be late.
pub fn install(handle: Handle) -> io::Result<()> {
    HANDLE
        .set(handle)
        .map_err(|_| io::Error::other("the signal has a handler already"))?;
    // SAFETY: the handler is async-signal-safe; `action` is fully set.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // A profiler's signal waits until this handler is done, so that the profiler walks the program, and not our handler.
        // Faults do not wait: walkers read memory that may not be there.
        libc::sigfillset(&mut action.sa_mask);
        for fault in FAULTS {
            libc::sigdelset(&mut action.sa_mask, fault);
        }
        let mut old: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(number(), &action, &mut old) != 0 {
            return Err(io::Error::last_os_error());
        }
        if old.sa_sigaction != libc::SIG_DFL {
            libc::sigaction(number(), &old, ptr::null_mut());
            return Err(io::Error::other(format!("signal {} is in use", number())));
        }
    }
    Ok(())
}

extern "C" fn handler(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers, which live until this returns; errno is this
    // thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let info = &*info.cast::<QueuedInfo>();
        if let (libc::SI_QUEUE, Some(handle)) = (info.code, HANDLE.get()) {
            let context = HandlerContext::of(&*context.cast());
            handle(&context, info.value);
        }
        *libc::__errno_location() = errno;
    }
}

/// The argument of `rt_tgsigqueueinfo`, in the layout of `siginfo_t` on 64-bit Linux.
#[repr(C)]
struct QueuedInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    padding: c_int,
    pid: c_int,
    uid: u32,
    value: u64,
    rest: [u8; 96],
}
const _: () = assert!(size_of::<QueuedInfo>() == size_of::<libc::siginfo_t>());

impl QueuedInfo {
    /// That of a timer that has fired once.
    fn of_timer(signal: c_int) -> QueuedInfo {
        QueuedInfo {
            signal,
            errno: 0,
            code: libc::SI_TIMER,
            padding: 0,
            // In the place of `pid` and `uid` a timer has its number, and the times that it fired in vain.
            pid: 0,
            uid: 0,
            value: 0,
            rest: [0; 96],
        }
    }
}

/// What the handler of `signal` gets if a timer has fired once.
pub(super) fn of_timer(signal: c_int) -> libc::siginfo_t {
    // SAFETY: both types have the same size, and take any bytes.
    unsafe { std::mem::transmute(QueuedInfo::of_timer(signal)) }
}

/// Sends signals to threads of this process. It keeps what every signal carries and only the kernel knows, so that
/// sending is one system call.
#[derive(Copy, Clone)]
pub struct SignalSender {
    pid: i32,
    uid: u32,
}

impl SignalSender {
    /// A sender for this process.
    pub fn new() -> SignalSender {
        // SAFETY: no preconditions.
        let (pid, uid) = unsafe { (libc::getpid(), libc::getuid()) };
        SignalSender { pid, uid }
    }

    /// Sends the signal with `word` to the thread whose kernel id is `tid`.
    pub fn send(self, tid: i32, word: u64) -> io::Result<()> {
        self.queue(
            tid,
            QueuedInfo {
                signal: number(),
                errno: 0,
                code: libc::SI_QUEUE,
                padding: 0,
                pid: self.pid,
                uid: self.uid,
                value: word,
                rest: [0; 96],
            },
        )
    }

    /// Whether a signal would reach the thread whose kernel id is `tid`: whether the thread is there.
    pub fn reaches(self, tid: i32) -> bool {
        thread::is_alive(tid)
    }

    /// Sends `signal` to the thread whose kernel id is `tid`, as a timer does that has fired once.
    pub fn send_as_timer(self, tid: i32, signal: c_int) -> io::Result<()> {
        self.queue(tid, QueuedInfo::of_timer(signal))
    }

    fn queue(self, tid: i32, info: QueuedInfo) -> io::Result<()> {
        // SAFETY: `info` is a whole siginfo_t.
        let status = unsafe {
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                self.pid,
                tid,
                info.signal,
                &raw const info,
            )
        };
        match status {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_is_reached_until_it_has_ended() {
        // SAFETY: no preconditions.
        let own = || unsafe { libc::gettid() };
        let sender = SignalSender::new();
        assert!(sender.reaches(own()));
        let ended = thread::spawn(own).join().expect("it does not panic");
        let start = Instant::now();
        // The kernel removes a thread after others have been told of its end.
        while sender.reaches(ended) {
            assert!(start.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn copies_words_up_to_the_end_of_the_stack() {
        let memory: Vec<usize> = (0..100).collect();
        let start = memory.as_ptr() as usize;
        let copy = |sp, end: usize| {
            let mut words = [usize::MAX; 64];
            // SAFETY: the range is within `memory`, all of which can be read.
            let count = unsafe {
                let stack = StackBounds::from_range(start..start + end);
                copy_words(sp, &stack, &mut words)
            };
            words[..count].to_vec()
        };
        let all = 100 * 8;
        assert_eq!(copy(start + 3 * 8, all), (3..67).collect::<Vec<_>>());
        assert_eq!(copy(start + 98 * 8, all), [98, 99]);
        assert_eq!(copy(start, 15), [0]);
        for elsewhere in [start + all, start - 8, start + 1, 0, usize::MAX] {
            assert!(copy(elsewhere, all).is_empty(), "{elsewhere:#x}");
        }
    }
}
