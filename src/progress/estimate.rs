//! How long a session still takes.

use std::time::Duration;

/// Estimates the rest of a session from its plan, and from how long the programs took that have ended.
#[derive(Debug, Default)]
pub struct Estimate {
    /// The planned time of each program; `None`: as long as the program likes.
    planned: Vec<Option<Duration>>,
    /// The program that runs, from 0.
    current: usize,
    /// The programs that have ended and have a planned time: that time, and how long they took.
    done: (Duration, Duration),
    /// The programs that have ended without a planned time: their number, and how long they took.
    free: (u32, Duration),
}

impl Estimate {
    /// The estimate of a session of programs with these planned times.
    pub fn new(planned: Vec<Option<Duration>>) -> Estimate {
        Estimate {
            planned,
            ..Estimate::default()
        }
    }

    /// The program with this number, from 0, starts.
    pub fn starts(&mut self, number: usize) {
        self.current = number;
    }

    /// The program that runs has ended after this time.
    pub fn ended(&mut self, took: Duration) {
        if let Some(&Some(planned)) = self.planned.get(self.current) {
            self.done.0 += planned;
            self.done.1 += took;
        } else {
            self.free.0 += 1;
            self.free.1 += took;
        }
    }

    /// The time that is left, if the program that runs has run for `elapsed`; `None` where nothing is known of it.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let mut left = self.takes(self.current)?.saturating_sub(elapsed);
        for later in self.current + 1..self.planned.len() {
            left += self.takes(later)?;
        }
        Some(left)
    }

    /// How long a program takes, at the pace of those that have ended.
    fn takes(&self, number: usize) -> Option<Duration> {
        match (self.planned.get(number)?, self.done, self.free) {
            (Some(planned), (Duration::ZERO, _), _) => Some(*planned),
            (Some(planned), (done, took), _) => {
                Some(planned.mul_f64(took.as_secs_f64() / done.as_secs_f64()))
            }
            (None, _, (0, _)) => None,
            (None, _, (number, took)) => Some(took / number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_plan_counts_until_a_program_has_ended() {
        let mut estimate = Estimate::new(vec![Some(s(10)), Some(s(20))]);
        estimate.starts(0);
        assert_eq!(estimate.left(s(4)), Some(s(26)));
        assert_eq!(
            estimate.left(s(15)),
            Some(s(20)),
            "it takes longer than planned"
        );
    }

    #[test]
    fn then_its_pace_counts() {
        let mut estimate = Estimate::new(vec![Some(s(10)), Some(s(20)), Some(s(10))]);
        estimate.starts(0);
        estimate.ended(s(30));
        estimate.starts(1);
        assert_eq!(estimate.left(s(10)), Some(s(80)));
        estimate.ended(s(30));
        // 30 planned seconds took 60.
        estimate.starts(2);
        assert_eq!(estimate.left(s(0)), Some(s(20)));
    }

    #[test]
    fn programs_that_run_as_long_as_they_like_take_as_long_as_others_of_them_did() {
        let mut estimate = Estimate::new(vec![None, None, None]);
        estimate.starts(0);
        assert_eq!(estimate.left(s(1)), None);
        estimate.ended(s(12));
        estimate.starts(1);
        assert_eq!(estimate.left(s(2)), Some(s(22)));
        assert_eq!(Estimate::default().left(s(1)), None);
    }
}
