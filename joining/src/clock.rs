//! The agent's counter at a time of the JVM's clock.

use oracle::requests::Pin;

/// The relation of two clocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Clock {
    /// Both clocks have one rate: the counter is the ticks plus any number of this range.
    SameRate(i128, i128),
    /// The counter lies near the lines from one reading to the next. The system sets the rate of its clock while a program runs, so
    /// one line for all would be far off.
    Pieces(Vec<Piece>),
}

/// A line between two readings, each of them ticks and counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    from: (i128, i128),
    to: (i128, i128),
    /// So far from the line the counter may be.
    width: i128,
}

/// A reading that is more than so many times as wide as the median was interrupted.
const WIDE: u64 = 2;

impl Clock {
    /// The relation that `pins` show; `None` without pins.
    pub fn new(pins: &[Pin]) -> Option<Clock> {
        let offset = |counter: u64, pin: &Pin| i128::from(counter) - i128::from(pin.ticks);
        let lowest = pins.iter().map(|pin| offset(pin.before, pin)).max()?;
        let highest = pins.iter().map(|pin| offset(pin.behind, pin)).min()?;
        if lowest <= highest {
            return Some(Clock::SameRate(lowest, highest));
        }
        let pieces = pieces(pins);
        (!pieces.is_empty()).then_some(Clock::Pieces(pieces))
    }

    /// The lowest and the highest value that the counter had at `ticks`.
    pub fn counter(&self, ticks: i64) -> (u64, u64) {
        let ticks = i128::from(ticks);
        let (lowest, highest) = match self {
            Clock::SameRate(lowest, highest) => (ticks + lowest, ticks + highest),
            Clock::Pieces(pieces) => {
                let after = pieces.partition_point(|piece| piece.to.0 < ticks);
                // Behind the last reading, the last line goes on.
                pieces[after.min(pieces.len() - 1)].counter(ticks)
            }
        };
        let within = |counter: i128| u64::try_from(counter.max(0)).unwrap_or(u64::MAX);
        (within(lowest), within(highest))
    }
}

impl Piece {
    /// The line between two readings. Between them it is half as far off as the wider one is wide, at most.
    fn between(from: &Pin, to: &Pin) -> Piece {
        let middle = |pin: &Pin| (i128::from(pin.before) + i128::from(pin.behind)) / 2;
        Piece {
            from: (from.ticks.into(), middle(from)),
            to: (to.ticks.into(), middle(to)),
            width: width(from).max(width(to)).into(),
        }
    }

    fn counter(&self, ticks: i128) -> (i128, i128) {
        let ((t0, c0), (t1, c1)) = (self.from, self.to);
        let at = c0 + (ticks - t0) * (c1 - c0) / (t1 - t0);
        // Off by e at both ends in opposite directions, a line is off by e (1 + 2 d / l) at a distance d beyond one of them.
        let beyond = (t0 - ticks).max(ticks - t1).max(0);
        let width = self.width + 2 * self.width * beyond / (t1 - t0);
        (at - width, at + width)
    }

    /// Makes itself so wide that the reading lies within.
    fn widen(&mut self, pin: &Pin) {
        let (lowest, highest) = self.counter(pin.ticks.into());
        let below = lowest - i128::from(pin.behind);
        let above = i128::from(pin.before) - highest;
        self.width += below.max(above).max(0);
    }
}

fn width(pin: &Pin) -> u64 {
    pin.behind.saturating_sub(pin.before)
}

/// So many lines cover a run: long ones have exact ends, and short ones follow a clock whose rate changes.
const LINES: i128 = 256;

/// Lines from narrow reading to narrow reading.
fn pieces(pins: &[Pin]) -> Vec<Piece> {
    let narrow = narrow(pins);
    let line = |ends: &[&Pin]| Piece::between(ends[0], ends[1]);
    let mut pieces: Vec<Piece> = narrow.windows(2).map(line).collect();
    // What the other readings show holds, too.
    for pin in pins {
        let after = pieces.partition_point(|piece| piece.to.0 < pin.ticks.into());
        let last = pieces.len().saturating_sub(1);
        if let Some(piece) = pieces.get_mut(after.min(last)) {
            piece.widen(pin);
        }
    }
    pieces
}

/// The narrowest reading of each stretch of a run, in order of time.
fn narrow(pins: &[Pin]) -> Vec<&Pin> {
    let mut widths: Vec<u64> = pins.iter().map(width).collect();
    widths.sort_unstable();
    let median = widths.get(widths.len() / 2).copied().unwrap_or(0);
    let is_narrow = |pin: &&Pin| width(pin) <= median.saturating_mul(WIDE);
    let mut narrow: Vec<&Pin> = pins.iter().filter(is_narrow).collect();
    narrow.sort_by_key(|pin| pin.ticks);
    let [first, .., last] = narrow[..] else {
        return narrow;
    };
    let span = i128::from(last.ticks) - i128::from(first.ticks);
    let stretch =
        |pin: &Pin| (i128::from(pin.ticks) - i128::from(first.ticks)) * LINES / span.max(1);
    let stretches = narrow.chunk_by(|one, next| stretch(one) == stretch(next));
    let narrowest = stretches.filter_map(|of| of.iter().min_by_key(|pin| width(pin)));
    narrowest.copied().collect()
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
        // A clock that was changed in between is where the reading shows it.
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
        assert!((lowest..=highest).contains(&(counter(600_000) + 4_960)));
    }

    #[test]
    fn a_clock_whose_rate_is_changed_is_followed() {
        // The rate changes by one in a thousand, as when the system's time is corrected, and one reading in five was interrupted.
        let counter = |ticks: i64| (3_000 * ticks + 3 * (ticks - 500_000).max(0)) as u64 / 1_000;
        let pins: Vec<Pin> = (0..=1_000)
            .map(|number| {
                let ticks = 1_000 * number;
                let late = if number % 5 == 2 { 100_000 } else { 40 };
                pin(counter(ticks) + 960, ticks, counter(ticks) + 1_000 + late)
            })
            .collect();
        let clock = Clock::new(&pins).expect("there are pins");
        for ticks in (0..1_000_000).step_by(777) {
            let (lowest, highest) = clock.counter(ticks);
            let is = counter(ticks) + 1_000;
            assert!(
                (lowest..=highest).contains(&is),
                "{ticks}: {lowest} {is} {highest}"
            );
            assert!(highest - lowest <= 200, "{ticks}: {lowest} {highest}");
        }
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
