//! The requests of a run by thread and time.

use oracle::Layer;
use oracle::requests::Request;
use std::collections::HashMap;

/// The requests of a run, in order of time for each layer and thread.
pub struct Requests<'r> {
    of_threads: HashMap<(Layer, i32), Vec<(usize, &'r Request)>>,
    of_virtual: HashMap<Layer, Vec<(usize, &'r Request)>>,
}

/// The request of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// The request of this number.
    One(usize),
    /// No request was copied at that time, or several were.
    NotOne,
}

impl<'r> Requests<'r> {
    /// Sorts requests.
    pub fn new(requests: &'r [Request]) -> Requests<'r> {
        let mut sorted = Requests {
            of_threads: HashMap::new(),
            of_virtual: HashMap::new(),
        };
        for (number, request) in requests.iter().enumerate() {
            let of_thread = (request.layer, request.tid);
            let of_thread = sorted.of_threads.entry(of_thread).or_default();
            of_thread.push((number, request));
            if request.carried {
                let of_virtual = sorted.of_virtual.entry(request.layer).or_default();
                of_virtual.push((number, request));
            }
        }
        let all = sorted.of_threads.values_mut();
        for requests in all.chain(sorted.of_virtual.values_mut()) {
            requests.sort_by_key(|(_, request)| request.from);
        }
        sorted
    }

    /// The request that was under way in the thread `tid` at a time within `during`. A virtual thread has no
    /// `tid`: its request is that of any thread that carried a virtual thread at the time.
    pub fn find(&self, layer: Layer, tid: Option<i32>, during: (u64, u64)) -> Found {
        let requests = match tid {
            Some(tid) => self.of_threads.get(&(layer, tid)),
            None => self.of_virtual.get(&layer),
        };
        let requests = requests.map_or(&[][..], Vec::as_slice);
        let begun = requests.partition_point(|(_, request)| request.from <= during.1);
        // Requests of one thread do not overlap. Those of several threads may: only the newest few can be
        // under way.
        const UNDER_WAY: usize = 64;
        let newest = requests[..begun].iter().rev().take(UNDER_WAY);
        let mut under_way = newest.filter(|(_, request)| request.to >= during.0);
        match (under_way.next(), under_way.next()) {
            (Some(&(number, _)), None) => Found::One(number),
            _ => Found::NotOne,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::requests::Copied;
    use proptest::prelude::*;

    fn request(tid: i32, from: u64, to: u64, carried: bool) -> Request {
        Request {
            layer: Layer::Jfr,
            tid,
            from,
            to,
            stack: Copied::Truth(0),
            carried,
            pc: 0,
            in_hook: false,
            hook_ran: false,
            given_up: false,
            proofs: None,
        }
    }

    #[test]
    fn an_event_belongs_to_the_request_of_its_thread_and_time() {
        let all = [
            request(1, 10, 20, false),
            request(2, 12, 18, true),
            request(1, 30, 40, false),
            request(3, 15, 19, true),
        ];
        let requests = Requests::new(&all);
        let find = |tid, from, to| requests.find(Layer::Jfr, tid, (from, to));
        assert_eq!(find(Some(1), 15, 15), Found::One(0));
        assert_eq!(find(Some(1), 30, 31), Found::One(2));
        assert_eq!(find(Some(1), 25, 26), Found::NotOne, "between two");
        assert_eq!(find(Some(1), 19, 31), Found::NotOne, "either of two");
        assert_eq!(find(Some(4), 15, 15), Found::NotOne);
        assert_eq!(find(None, 13, 14), Found::One(1));
        assert_eq!(find(None, 16, 16), Found::NotOne, "two carriers");
        let other = requests.find(Layer::JfrCpu, Some(1), (15, 15));
        assert_eq!(other, Found::NotOne, "another sampler");
    }

    proptest! {
        #[test]
        fn each_event_within_a_request_is_joined(
            lengths in prop::collection::vec((1u64..50, 1u64..50, 0i32..3), 1..100), pick in any::<prop::sample::Index>(),
            share in 0.0f64..1.0,
        ) {
            let mut ends = [0u64; 3];
            let all: Vec<Request> = lengths.iter().map(|&(pause, length, tid)| {
                let end = &mut ends[tid as usize];
                let from = *end + pause;
                *end = from + length;
                request(tid, from, from + length, false)
            }).collect();
            let requests = Requests::new(&all);
            let at = pick.index(all.len());
            let of = &all[at];
            let time = of.from + ((of.to - of.from) as f64 * share) as u64;
            prop_assert_eq!(requests.find(Layer::Jfr, Some(of.tid), (time, time)), Found::One(at));
        }
    }
}
