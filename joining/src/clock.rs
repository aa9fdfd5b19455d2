//! The agent's counter at a time of the JVM's clock.

use oracle::requests::Pin;

/// The relation of two clocks that run evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// Both clocks have one rate: the counter is the ticks plus any number of this range.
    SameRate(i128, i128),
    /// The counter lies on the line through two readings, give or take the third number.
    Line((i128, i128), (i128, i128), i128),
}

impl Clock {
    /// The relation that `pins` show; `None` without pins.
    pub fn new(pins: &[Pin]) -> Option<Clock> {
        let offset = |counter: u64, pin: &Pin| i128::from(counter) - i128::from(pin.ticks);
        let lowest = pins.iter().map(|pin| offset(pin.before, pin)).max()?;
        let highest = pins.iter().map(|pin| offset(pin.behind, pin)).min()?;
        if lowest <= highest {
            return Some(Clock::SameRate(lowest, highest));
        }
        Clock::line(pins)
    }

    /// The line through the narrowest reading near the start and the narrowest one near the end. A reading that was
    /// interrupted is wide, and says little.
    fn line(pins: &[Pin]) -> Option<Clock> {
        let width = |pin: &Pin| pin.behind.saturating_sub(pin.before);
        let (first, last) = (pins.first()?.ticks, pins.last()?.ticks);
        let near = last.saturating_sub(first) / 8;
        let at_start = pins.iter().filter(|pin| pin.ticks - first <= near);
        let at_end = pins.iter().filter(|pin| last - pin.ticks <= near);
        let (start, end) = (
            at_start.min_by_key(|pin| width(pin))?,
            at_end.min_by_key(|pin| width(pin))?,
        );
        if start.ticks >= end.ticks {
            return None;
        }
        let middle = |pin: &Pin| (i128::from(pin.before) + i128::from(pin.behind)) / 2;
        let at = |pin: &Pin| (i128::from(pin.ticks), middle(pin));
        // In between the line is half as far off as the two are wide, at most, and beyond them less than twice as far.
        let narrow = Clock::Line(at(start), at(end), width(start).max(width(end)).into());
        // Clocks that do not run quite evenly are further off.
        let outside = |pin: &Pin| {
            let (lowest, highest) = narrow.counter(pin.ticks);
            let (below, above) = (
                lowest.saturating_sub(pin.behind),
                pin.before.saturating_sub(highest),
            );
            below.max(above)
        };
        let off = pins.iter().map(outside).max()?;
        match narrow {
            Clock::Line(start, end, width) => {
                Some(Clock::Line(start, end, width + i128::from(off)))
            }
            same_rate => Some(same_rate),
        }
    }

    /// The lowest and the highest value that the counter had at `ticks`.
    pub fn counter(self, ticks: i64) -> (u64, u64) {
        let ticks = i128::from(ticks);
        let (lowest, highest) = match self {
            Clock::SameRate(lowest, highest) => (ticks + lowest, ticks + highest),
            Clock::Line((t0, c0), (t1, c1), width) => {
                let at = c0 + (ticks - t0) * (c1 - c0) / (t1 - t0);
                (at - width, at + width)
            }
        };
        let within = |counter: i128| u64::try_from(counter.max(0)).unwrap_or(u64::MAX);
        (within(lowest), within(highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pin(before: u64, ticks: i64, behind: u64) -> Pin {
        Pin {
            before,
            ticks,
            behind,
        }
    }

    #[test]
    fn clocks_of_one_rate_are_pinned_by_the_narrowest_readings() {
        let clock = Clock::new(&[pin(1000, 10, 1100), pin(2050, 1010, 2090)]);
        assert_eq!(clock, Some(Clock::SameRate(1040, 1080)));
        assert_eq!(clock.map(|clock| clock.counter(500)), Some((1540, 1580)));
        assert_eq!(Clock::new(&[]), None);
    }

    #[test]
    fn a_reading_that_was_interrupted_says_little() {
        let counter = |ticks: i64| 3 * ticks as u64;
        let reading =
            |ticks: i64, late| pin(counter(ticks) - 40, ticks, counter(ticks) + 40 + late);
        let pins = [
            reading(100, 900_000),
            reading(1_000, 0),
            reading(500_000, 300_000),
            reading(999_000, 0),
            reading(1_000_000, 0),
        ];
        let clock = Clock::new(&pins).expect("there are pins");
        for ticks in [100, 700, 500_000, 1_000_000] {
            let (lowest, highest) = clock.counter(ticks);
            assert!((lowest..=highest).contains(&counter(ticks)), "{clock:?}");
            assert!(highest - lowest <= 200, "{clock:?}");
        }
        // A clock that was changed in between makes the line wide.
        let mut changed = [
            &pins[..],
            &[reading(600_000, 0)].map(|pin| Pin {
                before: pin.before + 5_000,
                behind: pin.behind + 5_000,
                ..pin
            }),
        ]
        .concat();
        changed.sort_by_key(|pin| pin.ticks);
        let (lowest, highest) = Clock::new(&changed)
            .expect("there are pins")
            .counter(600_000);
        assert!(highest - lowest >= 5_000);
        assert!((lowest..=highest).contains(&(counter(600_000) + 4_960)));
    }

    proptest! {
        #[test]
        fn the_counter_lies_in_the_range(
            rate in 1u64..8, start in 0u64..1_000_000, epoch in 0i64..1_000_000,
            readings in prop::collection::vec((0u64..1_000_000, 0u64..50, 0u64..50), 2..20), at in 0u64..1_000_000,
        ) {
            // The counter runs `rate` times as fast as the ticks.
            let counter = |time: u64| start + rate * time;
            let mut readings = readings;
            readings.sort();
            let pins: Vec<Pin> = readings.iter().map(|&(time, early, late)| {
                let now = counter(time);
                pin(now.saturating_sub(early), time as i64 + epoch, now + late)
            }).collect();
            prop_assume!(pins[0].ticks != pins[pins.len() - 1].ticks);
            // A line is only pinned between its first and last pin.
            let (first, last) = (readings[0].0, readings[readings.len() - 1].0);
            prop_assume!((first..=last).contains(&at));
            if let Some(clock) = Clock::new(&pins) {
                let (lowest, highest) = clock.counter(at as i64 + epoch);
                let is = counter(at);
                prop_assert!(lowest <= is + 1 && is <= highest + 1, "{lowest} {is} {highest}");
            }
        }
    }
}
