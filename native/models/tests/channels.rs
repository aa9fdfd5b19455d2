//! Every order of the operations of a thread and a handler.

use channel_models::halves::{Halves, NotEmptied};
use channel_models::handoff::{Asked, Ended, Free, Pool, Ticket};
use channel_models::jvm::os::signal::HandlerContext;
use channel_models::pool::pool;
use channel_models::ring::ring;
use loom::thread::{self, JoinHandle};

/// The ticket of the first request of the first value.
fn first() -> Ticket {
    Ticket::from_raw(0)
}

/// A handler that may run before the request, while it is under way and when it was given up.
fn handler(pool: &'static Pool<u32>) -> JoinHandle<bool> {
    thread::spawn(move || {
        let context = HandlerContext::of_model();
        pool.answer(&context, first(), |value| {
            assert_eq!(*value, 1, "the request was written before");
            *value = 2;
        })
    })
}

fn one_value() -> (&'static Pool<u32>, Free<u32>) {
    let pool: &'static Pool<u32> = Box::leak(Box::new(Pool::new()));
    let free = pool.fill(vec![0]).expect("it is new").remove(0);
    (pool, free)
}

/// Lends the value with `request`.
fn ask(free: Free<u32>, request: u32) -> Asked<u32> {
    let asked = free.ask(|value| *value = request, |_| Ok(()));
    asked.ok().expect("it was sent")
}

/// A request that the handler answers at any instant, and that the owner gives up at any instant: the value comes back
/// written, or nobody has touched it, or the handler has it still and gives it back later.
#[test]
fn a_value_is_lent_to_one_side_at_a_time() {
    loom::model(|| {
        let (pool, free) = one_value();
        let handler = handler(pool);
        match ask(free, 1).end() {
            Ended::Done(done) => {
                assert_eq!(*done.value(), 2);
                assert!(handler.join().expect("no panic"));
            }
            Ended::Lost(free) => {
                // The late signal of the first request must not answer the second.
                assert!(matches!(ask(free, 3).end(), Ended::Lost(_)));
                assert!(!handler.join().expect("no panic"));
            }
            Ended::Late(late) => {
                let late = late.end().err();
                assert!(handler.join().expect("no panic"));
                assert!(late.is_none_or(|late| late.end().is_ok()), "it is done");
            }
        }
    });
}

/// The thread that writes is the first. loom looks at the last access of a counter alone, so it would not find what the
/// writer's own look at its counter hides.
#[test]
fn a_ring_passes_each_value_once_and_in_order() {
    loom::model(|| {
        let (mut writer, mut reader) = ring(vec![0, 0]);
        let thread = thread::spawn(move || {
            let mut seen = vec![];
            for _ in 0..2 {
                seen.extend(reader.next(|&value| value));
            }
            (reader, seen)
        });
        let numbers = 1..=3;
        let passed: Vec<_> = numbers
            .filter(|&it| writer.pass(|value| *value = it))
            .collect();
        let (mut reader, mut seen) = thread.join().expect("no panic");
        while let Some(value) = reader.next(|&value| value) {
            seen.push(value);
        }
        assert_eq!(seen, passed);
        assert!(passed.starts_with(&[1, 2]), "there was room for two");
    });
}

/// Two handlers pass 1 and 2 through a pool of these values, and a reader reads while they do and after them. Returns which
/// of them had a value, and what was read, in order of size.
fn two_handlers(values: Vec<u32>) -> ([bool; 2], Vec<u32>) {
    let (writers, mut reader) = pool(values);
    let writers = loom::sync::Arc::new(writers);
    let handlers = [1, 2].map(|number| {
        let writers = writers.clone();
        thread::spawn(move || writers.pass(|value| *value = number))
    });
    let mut seen = vec![];
    reader.read(|&value| seen.push(value));
    let passed = handlers.map(|handler| handler.join().expect("no panic"));
    reader.read(|&value| seen.push(value));
    seen.sort();
    (passed, seen)
}

#[test]
fn a_pool_passes_each_value_of_two_handlers_once() {
    loom::model(|| {
        let (passed, seen) = two_handlers(vec![0, 0]);
        // Each handler has a value of its own.
        assert_eq!((passed, &seen[..]), ([true, true], &[1, 2][..]));
    });
}

/// Two handlers want the same value: one gets it, or both one after the other.
#[test]
fn one_value_of_a_pool_is_with_one_thread_at_a_time() {
    loom::model(|| {
        let (passed, seen) = two_handlers(vec![0]);
        let numbers = [1, 2].into_iter().zip(passed);
        let expected: Vec<_> = numbers.filter(|&(_, passed)| passed).collect();
        assert!(seen.iter().eq(expected.iter().map(|(number, _)| number)));
        assert!(!seen.is_empty(), "one gets it");
    });
}

/// A thread empties a half while two handlers fill: one may interrupt the other, which then finds nothing to fill.
#[test]
fn halves_pass_each_value_once_and_none_is_filled_and_emptied_at_a_time() {
    // Three threads have too many orders for all of them: those with two preemptions.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let halves = loom::sync::Arc::new(Halves::new([vec![], vec![]]));
        let handlers = [1, 2].map(|number| {
            let halves = halves.clone();
            thread::spawn(move || halves.fill(|_, half| half.push(number)).is_some())
        });
        let mut seen = vec![];
        _ = halves.empty(|_, half| seen.append(half));
        let passed = handlers.map(|handler| handler.join().expect("no panic"));
        for _ in 0..2 {
            let emptied = halves.empty(|_, half| seen.append(half));
            assert!(emptied.is_ok(), "nobody is at work any more");
        }
        seen.sort();
        let numbers = [1, 2].into_iter().zip(passed);
        let expected = numbers.filter(|&(_, passed)| passed);
        assert!(seen.iter().copied().eq(expected.map(|(number, _)| number)));
        assert!(!seen.is_empty(), "one is never refused");
    });
}

/// A handler finds a half to fill at any instant of the thread that empties, and its values stay in order.
#[test]
fn one_who_empties_refuses_nobody() {
    loom::model(|| {
        let halves = loom::sync::Arc::new(Halves::new([vec![], vec![]]));
        let handler = thread::spawn({
            let halves = halves.clone();
            move || [1, 2].map(|number| halves.fill(|_, half| half.push(number)))
        });
        let mut seen = vec![];
        _ = halves.empty(|_, half| seen.append(half));
        let passed = handler.join().expect("no panic");
        assert_eq!(passed, [Some(()), Some(())]);
        for _ in 0..2 {
            _ = halves.empty(|_, half| seen.append(half));
        }
        assert_eq!(seen, [1, 2]);
    });
}

/// The second value reserves its half at any instant of a thread that empties what is not reserved: it stays there, and what comes
/// after it, too, until somebody may have them.
#[test]
fn a_reserved_half_is_left_as_it_is_until_somebody_may_empty_it() {
    loom::model(|| {
        let halves = loom::sync::Arc::new(Halves::new([vec![], vec![]]));
        let handler = thread::spawn({
            let halves = halves.clone();
            move || {
                [1, 2, 3].map(|value| {
                    halves.fill_reserving(|_, half| {
                        half.push(value);
                        ((), value == 2)
                    })
                })
            }
        });
        let mut seen = vec![];
        _ = halves.empty_unreserved(|_, half| seen.append(half));
        assert!(seen.is_empty() || seen == [1], "{seen:?}");
        let passed = handler.join().expect("no panic");
        assert_eq!(passed, [Some(()); 3]);
        assert!(halves.is_reserved());
        let refused = halves.empty_unreserved(|_, half| seen.append(half));
        assert_eq!(refused, Err(NotEmptied::Reserved));
        _ = halves.empty(|_, half| seen.append(half));
        assert_eq!(seen, [1, 2, 3]);
        assert!(!halves.is_reserved());
        assert_eq!(halves.empty_unreserved(|_, half| half.len()), Ok(0));
    });
}
