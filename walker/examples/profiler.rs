//! A small wall-clock profiler on the library's walk, for stock JDKs: every few milliseconds it samples a random
//! subset of the threads. At the end it prints the failed ratio and a method table, and writes a flame graph.
//! `profiler.c` is the same program in C.
//!
//!     cargo build --release -p walker --example profiler
//!     java -agentpath:target/release/examples/libprofiler.so=interval=10,flames=flames.html ...

use jni_sys::{JNIEnv, JavaVM, jint, jobject};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write;
use std::mem::{transmute, zeroed};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Mutex, OnceLock};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};
use walker::api::ASGST_Initialize;
use walker::api::context::with_vm;
use walker::layout::Vm;
use walker::layout::stamp::Stamped;
use walker::walk::frame::Failure;

const MOST_DEPTH: usize = 512;
const MOST_SAMPLED: usize = 8;
const TABLE_ROWS: usize = 20;

/// The states of the slot, besides the id of the thread that is asked.
const DONE: i32 = 0;
const BUSY: i32 = -1;

/// The place for a trace. The sampling loop asks a thread; the thread's signal handler fills the trace in.
struct Slot {
    state: AtomicI32,
    trace: UnsafeCell<Trace>,
}

struct Trace {
    /// The number of frames; 0 if the walk failed.
    count: usize,
    /// The methods, and whether all inlined methods above are there.
    frames: [(Option<Stamped>, bool); MOST_DEPTH],
}

// SAFETY: the handler that has made the slot `BUSY` owns the trace; otherwise the sampling loop does.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot {
    state: AtomicI32::new(DONE),
    trace: UnsafeCell::new(Trace {
        count: 0,
        frames: [(None, true); MOST_DEPTH],
    }),
};
static THREADS: Mutex<Vec<libc::pid_t>> = Mutex::new(vec![]);
static STOPPING: AtomicBool = AtomicBool::new(false);
static LOOP: Mutex<Option<JoinHandle<Profile>>> = Mutex::new(None);
static OPTIONS: OnceLock<(u64, Option<String>)> = OnceLock::new();

extern "C" fn on_signal(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: a plain system call.
    let own = unsafe { libc::gettid() };
    // A signal may come late.
    if !SLOT.passes(own, BUSY) {
        return;
    }
    // SAFETY: the slot is this handler's now; the context is that of the handler.
    let (trace, context) = unsafe { (&mut *SLOT.trace.get(), context.cast_const()) };
    let walked = with_vm(|vm, memory| {
        // SAFETY: as above.
        let mut walk = unsafe { walker::api::context::Trace::of_context(vm, memory, context, 0)? };
        trace.count = 0;
        while let Some(place) = trace.frames.get_mut(trace.count)
            && let Some(frame) = walk.next_stamped()?
        {
            *place = (frame.method, !frame.may_miss_inlined());
            trace.count += 1;
        }
        Ok::<(), Failure>(())
    });
    if walked != Some(Ok(())) {
        trace.count = 0;
    }
    SLOT.state.store(DONE, Release);
}

impl Slot {
    /// Passes to another state, if the state is `from`.
    fn passes(&self, from: i32, to: i32) -> bool {
        let passed = self.state.compare_exchange(from, to, AcqRel, Acquire);
        passed.is_ok()
    }
}

#[derive(Default)]
struct Node {
    samples: u64,
    children: HashMap<String, Node>,
}

#[derive(Default)]
struct Profile {
    total: u64,
    failed: u64,
    tree: Node,
    methods: HashMap<String, (u64, u64)>,
}

impl Profile {
    fn add(&mut self, frames: &[(Option<Stamped>, bool)]) {
        let mut node = &mut self.tree;
        node.samples += 1;
        for (above, &frame) in frames.iter().enumerate().rev() {
            let name = name_of(frame).unwrap_or_default();
            let row = self.methods.entry(name.clone()).or_default();
            *row = (row.0 + 1, row.1 + u64::from(above == 0));
            node = node.children.entry(name).or_default();
            node.samples += 1;
        }
    }

    /// Samples a random subset of the threads.
    fn sample(&mut self, random: &mut usize) {
        let mut threads = THREADS.lock().expect("no panic").clone();
        for _ in 0..threads.len().min(MOST_SAMPLED) {
            *random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            self.ask(threads.swap_remove((*random >> 33) % threads.len()));
        }
    }

    fn ask(&mut self, thread: libc::pid_t) {
        SLOT.state.store(thread, Release);
        // SAFETY: a plain system call.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGPROF) };
        let start = Instant::now();
        while SLOT.state.load(Acquire) != DONE {
            sleep(Duration::from_micros(20));
            // A thread may end before its signal comes.
            if start.elapsed() > Duration::from_millis(20) && SLOT.passes(thread, DONE) {
                return;
            }
        }
        // SAFETY: no handler has the slot.
        let trace = unsafe { &mut *SLOT.trace.get() };
        self.total += 1;
        match std::mem::take(&mut trace.count) {
            0 => self.failed += 1,
            count => self.add(&trace.frames[..count]),
        }
    }

    fn print(&self) {
        let Profile { total, failed, .. } = self;
        let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        let (ratio, good) = (share(*failed, *total), total - failed);
        println!("Failed traces: {failed:10}\nTotal traces:  {total:10}");
        println!("Failed ratio:  {ratio:9.2}%\n===== method table ======\nTotal samples: {good}");
        println!("  Samples Percentage    On top Percentage  Method");
        let mut rows: Vec<_> = self.methods.iter().collect();
        rows.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (name, &(samples, on_top)) in rows.into_iter().take(TABLE_ROWS) {
            let (all, top) = (share(samples, good), share(on_top, good));
            println!("{samples:9} {all:10.2} {on_top:9} {top:10.2}  {name}");
        }
    }
}

/// The name of a method that is known to lack methods that are inlined, or not.
fn name_of((method, is_whole): (Option<Stamped>, bool)) -> Option<String> {
    let (mut name, mut class) = ([0; 128], [0; 256]);
    let lengths = with_vm(|vm, memory| {
        let of_class = vm.methods.loaded_class(&memory, method?)?;
        let length = vm.methods.name(&memory, method?.method(), &mut name)?;
        let of_class = vm
            .methods
            .class_name(&memory, of_class.address(), &mut class)?;
        Some((length, of_class))
    });
    let (name_length, class_length) = lengths??;
    let text = |bytes: &[u8], length| {
        String::from_utf8_lossy(&bytes[..bytes.len().min(length)]).replace('/', ".")
    };
    // Where the compiler recorded nothing, inlined methods are missing above this frame.
    let flag = if is_whole { "" } else { " (or inlined there)" };
    let (class, name) = (text(&class, class_length), text(&name, name_length));
    Some(format!("{class}.{name}{flag}"))
}

fn sampling_loop() -> Profile {
    let (mut profile, mut random) = (Profile::default(), 1);
    let interval = OPTIONS.get().map_or(10, |options| options.0);
    while !STOPPING.load(Acquire) {
        let start = Instant::now();
        profile.sample(&mut random);
        sleep(Duration::from_millis(interval).saturating_sub(start.elapsed()));
    }
    profile
}

fn flames(name: &str, node: &Node, out: &mut String) {
    let value = node.samples;
    _ = write!(out, r#"{{"name":"{name}","value":{value},"children":["#);
    for (at, (name, child)) in node.children.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        flames(name, child, out);
    }
    out.push_str("]}");
}

/// `jvmtiEnv`: a pointer to a table of functions.
type Jvmti = *mut *const [*const c_void; 156];
type SetMode = unsafe extern "C" fn(Jvmti, c_int, c_int, jobject, ...) -> c_int;
type SetCallbacks = unsafe extern "C" fn(Jvmti, *const *const (), jint) -> c_int;

extern "C" fn on_thread_start(_: Jvmti, _: *mut JNIEnv, _: jobject) {
    // SAFETY: a plain system call.
    let own = unsafe { libc::gettid() };
    THREADS.lock().expect("no panic").push(own);
}

extern "C" fn on_thread_end(_: Jvmti, _: *mut JNIEnv, _: jobject) {
    // SAFETY: a plain system call.
    let own = unsafe { libc::gettid() };
    let mut threads = THREADS.lock().expect("no panic");
    threads.retain(|&thread| thread != own);
}

extern "C" fn on_vm_init(jvmti: Jvmti, env: *mut JNIEnv, thread: jobject) {
    // SAFETY: the calling thread's environment, in the live phase; the action is fully set.
    unsafe {
        if ASGST_Initialize(env) != 0 {
            let why = Vm::why_not().map_or(String::new(), ToString::to_string);
            eprintln!("profiler: this JVM cannot be walked: {why}");
            return;
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &action, null_mut());
    }
    on_thread_start(jvmti, env, thread);
    *LOOP.lock().expect("no panic") = Some(spawn(sampling_loop));
}

extern "C" fn on_vm_death(_: Jvmti, _: *mut JNIEnv) {
    STOPPING.store(true, Release);
    let Some(Ok(profile)) = LOOP.lock().expect("no panic").take().map(JoinHandle::join) else {
        return;
    };
    profile.print();
    if let Some((_, Some(file))) = OPTIONS.get() {
        let mut data = String::new();
        flames("all", &profile.tree, &mut data);
        _ = std::fs::write(file, include_str!("flames.html").replace("DATA", &data));
    }
}

/// # Safety
/// For the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    const JVMTI_VERSION_11: jint = 0x300b_0000;
    // The numbers of the events VMInit, VMDeath, ThreadStart and ThreadEnd.
    const EVENTS: std::ops::Range<c_int> = 50..54;
    let callbacks = [
        on_vm_init as *const (),
        on_vm_death as _,
        on_thread_start as _,
        on_thread_end as _,
    ];
    // SAFETY: the VM gives a text or null, and its own tables. SetEventNotificationMode is function 2 and
    // SetEventCallbacks function 122 of the specification; the callbacks are those of the events, in order.
    unsafe {
        let text = NonNull::new(options.cast_mut());
        let text = text.map_or(c"", |text| CStr::from_ptr(text.as_ptr()));
        let text = text.to_string_lossy();
        let value = |key: &str| {
            let mut options = text.split(',');
            options.find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
        };
        let interval = value("interval").and_then(|millis| millis.parse().ok());
        _ = OPTIONS.set((interval.unwrap_or(10), value("flames").map(str::to_owned)));
        let mut jvmti: Jvmti = null_mut();
        if ((**vm).v1_2.GetEnv)(vm, (&raw mut jvmti).cast(), JVMTI_VERSION_11) != 0 {
            return 1;
        }
        let set_mode: SetMode = transmute((**jvmti)[1]);
        let set_callbacks: SetCallbacks = transmute((**jvmti)[121]);
        set_callbacks(jvmti, callbacks.as_ptr(), size_of_val(&callbacks) as jint);
        for event in EVENTS {
            set_mode(jvmti, 1, event, null_mut());
        }
    }
    0
}
