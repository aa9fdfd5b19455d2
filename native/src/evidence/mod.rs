//! Mismatches: their kinds are counted, and some are recorded with their evidence.

mod code;
pub mod compiled;
mod intact;
mod kinds;
mod looked;
mod proofs;
mod reporter;
mod reservoirs;
mod return_address;
mod seen;
mod share;
mod shown;
pub mod state_check;

pub use code::{code_of, describe, kind_at};
pub use intact::is_intact;
pub use kinds::Told;
pub use reporter::{Found, Reporter};
pub use seen::Seen;
