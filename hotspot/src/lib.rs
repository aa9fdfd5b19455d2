//! What Stackwitness knows of HotSpot: bytes in, answers out.
//!
//! * [`causes`]: why HotSpot's walkers go wrong, and how the evidence of a mismatch shows it;
//! * [`case`](mod@case): that evidence;
//! * [`arch`]: the machine code that HotSpot's compilers generate;
//! * [`code`]: the kinds of generated code;
//! * [`debug_info`]: the rule for samples between two debug info records;
//! * [`return_address`]: where the return address of compiled code is;
//! * [`runtime`]: what the VM calls by itself, and the classes that it generates;
//! * [`scenario`]: the scenario that shows every cause;
//! * [`walkers`]: the stack walkers and their error codes;
//! * [`memory`]: how readers of HotSpot's structures get at memory;
//! * [`unwind`]: where the caller of interrupted code is, read off the code's instructions.
#![forbid(unsafe_code)]

pub mod arch;
pub mod case;
pub mod causes;
pub mod code;
pub mod debug_info;
pub mod memory;
pub mod return_address;
pub mod runtime;
pub mod scenario;
pub mod unwind;
pub mod walkers;
