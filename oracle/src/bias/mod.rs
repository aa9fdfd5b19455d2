//! Which methods a walker counts too often or too rarely.
//!
//! At one instant the truth and the walker both name the hottest method, so the noise of sampling cancels. The bias of
//! a method is the difference between its share of the walker's answers and its share of the truth. The bias has
//! two parts:
//!
//! * *instant* bias: the walker answers at some instants and not at others. It is the difference between the
//!   method's true share of the answered instants and its true share of all instants;
//! * *naming* bias: at the instants that it answers, the walker names another method.
//!
//! What the walker named at an instant follows from the judge's verdict ([`claim()`]). At an instant in a window
//! ([`Verdict::Window`](crate::Verdict::Window)) the truth and the walker agree, and the instant is counted apart.
//!
//! All walkers of a run have one truth ([`TrueProfile`]): the methods that ran at all its instants. An instant at which a
//! walker did not answer, or at which its answer cannot be judged, is a loss of that walker.
//!
//! Both parts have exact intervals ([`Estimate`]), and a walker counts as biased by the tests of all methods together.
//!
//! Whole stacks are compared, too ([`StackProfiles`]): the overlap of the two profiles, and the most frequent frames of
//! both, of which flame graphs are drawn.

mod claim;
mod interval;
mod pairs;
mod sampler;
mod stacks;
mod summary;
mod truth;

pub use claim::{Claim, claim, newest};
pub use interval::Estimate;
pub use pairs::{OTHERS, Pairs, bounded};
pub use sampler::Sampler;
pub use stacks::{Seen, StackCounts, StackProfiles, Tree, TreeFrame, hooked};
pub use summary::{MethodBias, Summary};
pub use truth::TrueProfile;
