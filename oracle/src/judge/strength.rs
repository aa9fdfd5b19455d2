//! The strength of a match: how much of a walk a judge compared.

use std::ops::Add;

/// How many frames of a walk a judge compared with its truth. Only a `match` has a strength, which
/// shows a `match` that rests on two frames of eighty.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Strength {
    /// Frames of the walk.
    pub frames: u32,
    /// Of `frames`, those whose method was compared.
    pub by_method: u32,
    /// Of `by_method`, those whose BCI was compared too.
    pub by_bci: u32,
}

/// How a truth was compared with a frame.
#[derive(Copy, Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Compared {
    /// The frame was not compared.
    #[default]
    Nothing,
    /// The frame's method was compared.
    Method,
    /// The frame's method and BCI were compared.
    Bci,
}

impl Strength {
    /// The strength of a walk whose frames were compared in these ways, top frame first.
    pub fn of_frames(frames: &[Compared]) -> Strength {
        let count = |least| frames.iter().filter(|&&frame| frame >= least).count();
        Strength::of(frames.len(), count(Compared::Method), count(Compared::Bci))
    }

    /// The strength of a walk of which all `frames` were compared, methods and BCIs.
    pub fn whole(frames: usize) -> Strength {
        Strength::of(frames, frames, frames)
    }

    /// The strength of a walk of `frames`, of which `by_method` were compared by method, and
    /// `by_bci` of these by BCI too.
    pub fn of(frames: usize, by_method: usize, by_bci: usize) -> Strength {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Strength {
            frames: count(frames),
            by_method: count(by_method),
            by_bci: count(by_bci),
        }
    }
}

impl Add for Strength {
    type Output = Strength;

    fn add(self, other: Strength) -> Strength {
        Strength {
            frames: self.frames.saturating_add(other.frames),
            by_method: self.by_method.saturating_add(other.by_method),
            by_bci: self.by_bci.saturating_add(other.by_bci),
        }
    }
}
