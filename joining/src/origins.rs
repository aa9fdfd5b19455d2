//! Which request each event of a recording belongs to.

use recordings::samples::TimedSample;
use std::collections::{HashMap, HashSet};

/// What is known of an event's request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The request of this number.
    Request(usize),
    /// The event is older than the agent's handler.
    Early,
    /// The event shows the stack of an earlier event of its thread again, and nobody walked.
    Repeated,
    /// No request was copied at that time, or it is not certain which event is its own.
    Unknown,
}

/// The origins of all events.
#[derive(Debug)]
pub struct Origins {
    /// One for each event.
    pub of_events: Vec<Origin>,
    /// The numbers of requests that have an event.
    pub answered: HashSet<usize>,
}

impl Origins {
    /// The origins of `samples`. `request` finds the request that was under way at the time of an event, and `is_early` says
    /// whether the event is older than the agent's handler. A profiler may write its events in any order.
    pub fn find(
        samples: &[TimedSample],
        request: impl Fn(&TimedSample) -> Option<usize>,
        is_early: impl Fn(&TimedSample) -> bool,
    ) -> Origins {
        let mut found: Vec<Option<usize>> = samples.iter().map(request).collect();
        let answered: HashSet<usize> = found.iter().flatten().copied().collect();
        let again = repeated_at_once(samples, &mut found);
        let walked = samples.iter().zip(&found);
        let walked: HashSet<_> = walked
            .filter(|(_, request)| request.is_some())
            .map(|(sample, _)| (sample.os_thread, sample.stack))
            .collect();
        let origin = |(at, (sample, request)): (usize, (&TimedSample, Option<usize>))| {
            let is_known = || walked.contains(&(sample.os_thread, sample.stack));
            match request {
                Some(number) => Origin::Request(number),
                None if again.contains(&at) => Origin::Repeated,
                None if is_early(sample) => Origin::Early,
                None if sample.may_repeat && is_known() => Origin::Repeated,
                None => Origin::Unknown,
            }
        };
        let all = samples.iter().zip(found).enumerate();
        Origins {
            of_events: all.map(origin).collect(),
            answered,
        }
    }
}

/// Leaves each request to one event where events may repeat others, and returns the indices of those that do.
///
/// async-profiler's wall clock looks at a sleeping thread without a signal, and writes an event for all such looks with the time
/// of the first (`WallClock::recordWallClock`). At this time the thread may be in the handler of another signal, whose event is
/// there, too. If the two have one stack, either is right; if not, it is not certain which is that of the request.
fn repeated_at_once(samples: &[TimedSample], found: &mut [Option<usize>]) -> HashSet<usize> {
    let mut events_of: HashMap<usize, Vec<usize>> = HashMap::new();
    for (event, request) in found.iter().enumerate() {
        if let &Some(number) = request {
            events_of.entry(number).or_default().push(event);
        }
    }
    let mut repeated = HashSet::new();
    for events in events_of.values() {
        let (first, others) = (events[0], &events[1..]);
        if others.is_empty() || !events.iter().any(|&event| samples[event].may_repeat) {
            continue;
        }
        let is_same = |&event: &usize| samples[event].stack == samples[first].stack;
        if others.iter().all(is_same) {
            repeated.extend(others);
        } else {
            found[first] = None;
        }
        for &event in others {
            found[event] = None;
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ticks: i64, stack: usize, may_repeat: bool) -> TimedSample {
        TimedSample {
            event: "mine.Event".into(),
            ticks,
            os_thread: 7,
            stack: Some(stack),
            failed: false,
            may_repeat,
            biased: false,
        }
    }

    /// The origins of events whose request is the number of tens in their times; from 100 on there is none, and from 200 on
    /// the agent was not there.
    fn origins(events: &[TimedSample]) -> Vec<Origin> {
        let tens = |sample: &TimedSample| usize::try_from(sample.ticks / 10).ok();
        let request = |sample: &TimedSample| tens(sample).filter(|&tens| tens < 10);
        let found = Origins::find(events, request, |sample| sample.ticks >= 200);
        let answered: HashSet<usize> = events.iter().filter_map(request).collect();
        assert_eq!(found.answered, answered);
        found.of_events
    }

    #[test]
    fn a_request_has_one_event() {
        use Origin::{Early, Repeated, Request, Unknown};
        let walk = event(11, 0, true);
        assert_eq!(
            origins(&[walk.clone(), event(12, 0, true)]),
            [Request(1), Repeated]
        );
        assert_eq!(
            origins(&[walk.clone(), event(12, 1, true)]),
            [Unknown, Unknown],
            "either may be the request's"
        );
        assert_eq!(
            origins(&[walk.clone(), event(120, 0, true), event(120, 1, true)]),
            [Request(1), Repeated, Unknown]
        );
        assert_eq!(
            origins(&[walk, event(120, 0, false), event(200, 0, true)]),
            [Request(1), Unknown, Early]
        );
    }
}
