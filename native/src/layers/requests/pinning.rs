//! The clocks of samplers' events beside the processor's counter.

use crate::arch;
use crate::jvm::jni::{Env, Local, StaticLong};
use crate::jvm::os::clock;
use oracle::requests::Pin;

/// The clock of JFR's events.
pub struct JfrClock<'e> {
    class: Local<'e>,
    counter_time: StaticLong,
}

/// How often the clock is read for one pin. The narrowest reading counts.
const READINGS: usize = 20;

impl<'e> JfrClock<'e> {
    /// The clock, once JFR runs: looked up earlier, its class would be initialised by us.
    pub fn find(env: Env<'e>) -> Option<JfrClock<'e>> {
        let class = env.find_class(c"jdk/jfr/internal/JVM")?;
        let counter_time = env.static_long(class.get(), c"counterTime")?;
        Some(JfrClock {
            class,
            counter_time,
        })
    }

    /// Reads it beside the counter.
    pub fn pin(&self) -> Option<Pin> {
        let env = self.class.env();
        narrowest(|| env.call_static_long(self.class.get(), self.counter_time))
    }
}

/// Reads the system's monotonic clock beside the counter.
pub fn pin_monotonic() -> Option<Pin> {
    narrowest(|| clock::monotonic().as_nanos() as i64)
}

fn narrowest(read: impl Fn() -> i64) -> Option<Pin> {
    let reading = |_| {
        let before = arch::counter();
        let ticks = read();
        let behind = arch::counter();
        Pin {
            before,
            ticks,
            behind,
        }
    };
    let readings = (0..READINGS).map(reading);
    readings.min_by_key(|pin| pin.behind.wrapping_sub(pin.before))
}
