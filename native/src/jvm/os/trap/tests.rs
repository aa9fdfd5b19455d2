use super::*;
use hotspot::arch::{Flow, Follow, Native};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// How many steps the threads of tests have made, and the program counters of the first.
static STEPS: AtomicUsize = AtomicUsize::new(0);
static PLACES: [AtomicUsize; 1 << 17] = [const { AtomicUsize::new(0) }; 1 << 17];

fn on_trap(context: &HandlerContext<'_>, trap: Trap) -> Next {
    match trap {
        Trap::Called(next) => next,
        Trap::Crossed(crossing) => {
            crossing::give_back(crossing);
            CROSSED.fetch_add(1, Relaxed);
            Next::Step
        }
        Trap::Stepped => {
            HANDLER_AT.store(std::ptr::from_ref(&trap).addr(), Relaxed);
            let step = STEPS.fetch_add(1, Relaxed);
            if let Some(place) = PLACES.get(step) {
                place.store(context.registers().pc, Relaxed);
            }
            // System calls are made in a crossing.
            let is_call = Native::flow(context.next_bytes()) == Flow::SystemCall;
            let crossing = is_call.then(|| crossing::take(context.system_call()));
            crossing.flatten().map_or(Next::Step, Next::Cross)
        }
    }
}

/// An address on the stack of the last handler.
static HANDLER_AT: AtomicUsize = AtomicUsize::new(0);

/// How many system calls were made in a crossing.
static CROSSED: AtomicUsize = AtomicUsize::new(0);

/// The calling thread has no alternate stack, as threads of the JVM have none: Rust gives one to its own threads.
fn drop_alternate_stack() {
    let none = libc::stack_t {
        ss_sp: ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    };
    // SAFETY: the thread is not on its alternate stack, and the C library takes the description.
    assert_eq!(unsafe { libc::sigaltstack(&none, ptr::null_mut()) }, 0);
}

/// Runs `work` step by step. Returns its result, and the program counters.
#[inline(never)]
fn stepped<T>(work: fn() -> T) -> (T, Vec<usize>) {
    drop_alternate_stack();
    STEPS.store(0, Relaxed);
    assert!(prepare());
    trap(Next::Step);
    let result = work();
    trap(Next::Run);
    let steps = STEPS.load(Relaxed);
    assert!(steps < PLACES.len(), "{steps} steps");
    let places = PLACES[..steps].iter();
    let mut places: Vec<_> = places.map(|place| place.load(Relaxed)).collect();
    // A repeated string instruction traps behind each turn, and its copy runs all of them.
    places.dedup();
    (result, places)
}

/// Text in memory of its own.
struct Text([u8; 256], usize);

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.1 + text.len();
        self.0[self.1..end].copy_from_slice(text.as_bytes());
        self.1 = end;
        Ok(())
    }
}

/// Instructions of many kinds: vectors, divisions, locks, string instructions, flags that are saved, faults
/// in the kernel that are none, and calls through tables.
fn work() -> ([u8; 256], [u64; 64], u64) {
    let mut numbers = [0_u64; 64];
    let mut number = black_box(88_172_645_463_325_252_u64);
    for place in &mut numbers {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        *place = number / black_box(7) % 1_000_003;
    }
    numbers.sort_unstable();
    let mut text = Text([0; 256], 0);
    let mean = numbers.iter().map(|&n| n as f64).sum::<f64>() / 64.0;
    write!(text, "{mean:.3} {:?} {}", &numbers[..3], mean.sqrt()).expect("room");
    let shared = AtomicU64::new(1);
    shared.fetch_add(numbers[5], Relaxed);
    let _ = shared.compare_exchange(3, 4, Relaxed, Relaxed);
    let mut copied = [0_u8; 256];
    arch::run_special_instructions(&text.0, &mut copied);
    // SAFETY: this system call only returns a number.
    let parent = unsafe { libc::getppid() };
    (copied, numbers, shared.into_inner() + parent as u64)
}

/// Whether no thread steps on this architecture.
fn is_skipped() -> bool {
    let possible = is_possible();
    if let Err(why) = possible {
        println!("skipped: {why}");
    }
    possible.is_err()
}

/// Instructions that run by their copies do what the instructions do, at the same addresses.
#[test]
fn copies_do_what_the_instructions_do() {
    if is_skipped() {
        return;
    }
    install(on_trap).expect("no other handler");
    let (few, places) = stepped(|| ());
    assert!(
        (1..1000).contains(&places.len()),
        "{few:?}: {}",
        places.len()
    );
    let runner = &INSTALLED.get().expect("installed").copies;
    let plain = work();
    let (trapped, copied) = std::thread::scope(|scope| {
        let (taken, wait) = std::sync::mpsc::channel();
        let (done, end) = std::sync::mpsc::channel::<()>();
        // While another thread has the runner, each instruction traps.
        scope.spawn(move || {
            assert!(runner.take());
            taken.send(()).expect("awaited");
            end.recv().expect("sent");
            runner.give_back();
            taken.send(()).expect("awaited");
        });
        wait.recv().expect("sent");
        let trapped = stepped(work);
        done.send(()).expect("awaited");
        wait.recv().expect("sent");
        let copied = stepped(work);
        (trapped, copied)
    });
    assert!(plain == trapped.0 && plain == copied.0);
    assert!(copied.1.len() > 5000, "{}", copied.1.len());
    let both = trapped.1.iter().zip(&copied.1);
    let same = both
        .take_while(|(trapped, copied)| trapped == copied)
        .count();
    assert_eq!(
        (same, same),
        (trapped.1.len(), copied.1.len()),
        "they part behind {:#x?}",
        [&trapped.1, &copied.1].map(|all| all.get(same.saturating_sub(3)..same + 2))
    );
    assert_eq!(CROSSED.load(Relaxed), 2);
    // The trap flag is gone.
    let steps = STEPS.load(Relaxed);
    let sum: usize = (0..black_box(1000)).map(black_box).sum();
    assert_eq!((STEPS.load(Relaxed), sum), (steps, 499_500));
    // The end of a thread's handler may still run when the next thread steps.
    let handler_at = || {
        stepped(work);
        HANDLER_AT.load(Relaxed)
    };
    let here = handler_at();
    let other = std::thread::scope(|scope| scope.spawn(handler_at).join().expect("it steps"));
    assert!(here.abs_diff(other) >= 1 << 19, "{here:#x} {other:#x}");
    assert_eq!(handler_at(), here, "a thread keeps its stack");
}

/// A walk that crashes ends, and the program counter of the crash is known. Later walks are guarded, too.
#[test]
fn a_walk_that_crashes_ends() {
    if is_skipped() {
        return;
    }
    guard::install(led_elsewhere).expect("handlers");
    let tid = crate::jvm::os::thread::id();
    for _ in 0..2 {
        // SAFETY: the walks keep no lock and own no memory. The read of absent memory is what the guard is for.
        unsafe {
            let absent = black_box(8) as *const u64;
            let crashed = guarded(tid, || absent.read_volatile());
            assert!(crashed.is_err_and(|pc| pc != 0));
            assert_eq!(guarded(tid, || black_box(7)), Ok(7));
        }
    }
}

#[test]
fn a_step_whose_reason_was_lost_is_a_step() {
    if is_skipped() {
        return;
    }
    // SAFETY: a context of zeros is valid.
    let mut context: libc::ucontext_t = unsafe { std::mem::zeroed() };
    assert_eq!(reason(TRAP_BRKPT, &mut context), None);
    arch::set_trap_flag(&mut context, true);
    assert_eq!(reason(TRAP_BRKPT, &mut context), Some(Trap::Stepped));
    assert_eq!(reason(TRAP_TRACE, &mut context), Some(Trap::Stepped));
    // A signal that a process has sent.
    assert_eq!(reason(libc::SI_TKILL, &mut context), None);
}
