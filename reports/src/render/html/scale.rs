//! A logarithmic scale of rates.

use crate::numbers::{count, exact};
use maud::{Markup, html};

/// The scale begins here at the latest, and ends here at the earliest: powers of ten.
const LOWEST: i32 = -6;
const HIGHEST: i32 = -1;

/// A logarithmic scale over whole powers of ten.
pub(super) struct Scale {
    from: i32,
    to: i32,
}

impl Scale {
    /// A scale that holds all these rates.
    pub(super) fn up_to(rates: impl Iterator<Item = f64>) -> Scale {
        let highest = rates.fold(0.0, f64::max);
        Scale {
            from: LOWEST,
            to: (highest.log10().ceil() as i32).clamp(HIGHEST, 0),
        }
    }

    /// The place of a rate, in per cent of the width.
    pub(super) fn at(&self, rate: f64) -> f64 {
        let width = f64::from(self.to - self.from);
        let place = (rate.max(1e-300).log10() - f64::from(self.from)) / width;
        100.0 * place.clamp(0.0, 1.0)
    }

    /// The numbers above the rows.
    pub(super) fn axis(&self) -> Markup {
        html! {
            div.axis aria-hidden="true" {
                div.strip {
                    @for power in self.from..=self.to {
                        @let at = 100.0 * f64::from(power - self.from) / f64::from(self.to - self.from);
                        span.tick.odd[power % 2 != 0] style={ "left:" (format!("{at:.2}")) "%" } {
                            (exact(10f64.powi(power))) br;
                            // Neighbours would overlap.
                            @if power % 2 == 0 { small { "1 in " (count(10u64.pow(power.unsigned_abs()))) } }
                        }
                    }
                }
            }
        }
    }

    /// The lines of the powers of ten in a row.
    pub(super) fn grid(&self) -> Markup {
        let powers = self.from..=self.to;
        let lines = powers.map(|power| self.at(10f64.powi(power)));
        html! { @for at in lines { i.grid style=(style(at, None)) {} } }
    }
}

/// A place, and a width, in per cent of the whole width.
pub(super) fn style(left: f64, width: Option<f64>) -> String {
    match width {
        None => format!("left:{left:.2}%"),
        Some(width) => format!("left:{left:.2}%;width:{width:.2}%"),
    }
}
