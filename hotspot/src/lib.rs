//! What Stackwitness knows of HotSpot: bytes in, answers out. It reads no memory and does no I/O.
//!
//! * [`causes`]: why HotSpot's walkers go wrong, and how an instant shows it;
//! * [`debug_info`]: the rule for samples between two debug info records;
//! * [`arch`]: the machine code that HotSpot's compilers write;
//! * [`return_address`]: where the return address of compiled code is.
#![forbid(unsafe_code)]

pub mod arch;
pub mod causes;
pub mod debug_info;
pub mod return_address;
