//! Thunks: code that the VM calls in place of a native method, and that goes on to the method.

use super::jni::Env;
use crate::arch::{THUNKS, ThunkTable, thunks};
use hotspot::arch::NotKnown;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// How many thunks were handed out.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// What all thunks call before they go on, on the thread that calls the native method. Nothing may
/// panic out of this.
pub type Listener = extern "C" fn(Env<'_>, usize);

/// The thunks, which call `listener`.
pub struct Thunks(ThunkTable);

/// A thunk, by its number.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Thunk(pub usize);

impl Thunks {
    /// How many there are.
    pub const COUNT: usize = THUNKS;

    /// Not known on an architecture for which nobody has written them.
    pub fn new(listener: Listener) -> Result<Thunks, NotKnown> {
        let table = thunks()?;
        table.listener.store(listener as usize, Release);
        Ok(Thunks(table))
    }

    /// A thunk before the native method at `target`, and the thunk's address; `None` if all are taken.
    pub fn before(&self, target: usize) -> Option<(Thunk, usize)> {
        let number = TAKEN.fetch_add(1, Relaxed);
        self.0.targets.get(number)?.store(target, Release);
        Some((Thunk(number), self.0.code + number * self.0.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static HEARD: Mutex<Vec<usize>> = Mutex::new(vec![]);

    extern "C" fn listen(_: Env<'_>, number: usize) {
        HEARD.lock().expect("nobody panics").push(number);
        // The registers of arguments do not survive this.
        let text = format!("{:?} {:?}", number as f64 * 1.5, number);
        assert!(!text.is_empty());
    }

    #[allow(clippy::too_many_arguments, reason = "more than the registers hold")]
    extern "C" fn target(
        env: usize,
        a: i32,
        b: f64,
        c: i64,
        d: f32,
        e: f64,
        f: i64,
        g: i64,
        h: i64,
        i: i64,
        j: f64,
        k: f64,
        l: f64,
        m: f64,
        n: f64,
        o: f64,
    ) -> f64 {
        let whole = [i64::from(a), c, f, g, h, i].map(|n| n as f64);
        let real = [b, f64::from(d), e, j, k, l, m, n, o];
        let all = [env as f64].into_iter().chain(whole).chain(real);
        all.fold(0.0, |sum, number| sum * 1.25 + number)
    }

    #[test]
    fn arguments_in_registers_and_on_the_stack_arrive() {
        type Function = extern "C" fn(
            usize,
            i32,
            f64,
            i64,
            f32,
            f64,
            i64,
            i64,
            i64,
            i64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
        ) -> f64;
        let direct: Function = target;
        let thunks = match Thunks::new(listen) {
            Ok(thunks) => thunks,
            Err(unknown) => return println!("skipped: {unknown}"),
        };
        let call = |function: Function| {
            function(
                8, -1, 2.5, 3, 4.5, 5.5, 7, 8, 9, 10, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5,
            )
        };
        for _ in 0..3 {
            let (thunk, code) = thunks.before(direct as usize).expect("few are taken");
            // SAFETY: the thunk goes on to `target`, with the arguments as they are.
            let through: Function = unsafe { std::mem::transmute(code) };
            assert_eq!(call(through), call(direct));
            assert_eq!(HEARD.lock().expect("nobody panics").pop(), Some(thunk.0));
        }
    }
}
