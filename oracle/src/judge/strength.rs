//! How much of a walk a judge compared.

use std::ops::Add;

/// How many frames of a walk a judge compared with its truth. Only a `match` has a strength: so a
/// `match` cannot mean "two frames of eighty" unseen.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Strength {
    /// Frames of the walk.
    pub frames: u32,
    /// Of `frames`, those whose method was compared.
    pub by_method: u32,
    /// Of `by_method`, those whose BCI was compared too.
    pub by_bci: u32,
}

/// How a truth was compared with one frame.
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
    /// The frames of a walk were compared so, top frame first.
    pub fn of_frames(frames: &[Compared]) -> Strength {
        let count = |least| frames.iter().filter(|&&frame| frame >= least).count();
        Strength::of(frames.len(), count(Compared::Method), count(Compared::Bci))
    }

    /// All of so many frames were compared, methods and BCIs.
    pub fn whole(frames: usize) -> Strength {
        Strength::of(frames, frames, frames)
    }

    /// Of so many `frames`, so many were compared by method, and so many of those by BCI too.
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
