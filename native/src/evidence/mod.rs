//! Mismatches: their kinds are counted, and some are recorded with their evidence.

mod anchor;
mod code;
mod instant_facts;
mod intact;
mod interpreter;
mod kept;
mod kinds;
mod leaf_call;
mod library;
mod misplaced;
mod moved;
mod newest;
mod proofs;
mod record_behind;
mod reporter;
mod return_address;
mod shown;
pub mod state_check;
mod stub_frame;

pub use code::{
    code_of, describe, kind_at, leaf_call_records, method_at, records_around, records_at,
};
pub use intact::is_intact;
pub use proofs::{Sampled, at_request};
pub use reporter::{Found, Reporter};
