//! What Stackwitness knows of HotSpot: causes, machine code, layouts of the VM's structures, methods that the VM calls, and
//! error codes of walkers. Bytes in, answers out.
//!
//! # Purpose
//!
//! The oracle says *that* a walk is false, for any JVM. This crate says *why* HotSpot's walkers
//! return such a walk, and what HotSpot does that class files do not show:
//!
//! * [`causes`]: one file for each known cause of false walks. [`causes::CAUSES`] is the table;
//! * [`case`](mod@case): the evidence by which a cause is recognised;
//! * [`proofs`]: what code, stack and debug info show;
//! * [`arch`]: the machine code that HotSpot generates. A folder for each architecture implements
//!   [`arch::Arch`] and [`arch::Follow`], and each is tested on any machine;
//! * [`capability`]: what must be read of a VM, and [`needs`]: which layer needs what;
//! * [`code`]: the kinds of generated code, and the trait through which this crate sees code;
//! * [`debug_info`]: how HotSpot compresses debug info, and the rule for samples between two debug info
//!   records;
//! * [`return_address`]: the place of the return address of compiled code;
//! * [`runtime`]: the methods that the VM calls by itself, and the classes that it and the JDK generate,
//!   as an [`oracle::edge::Runtime`];
//! * [`steps`]: the calls and the Java frames of a thread that runs one instruction at a time;
//! * [`layout`]: the data structures of HotSpot for compiled methods, the interpreter and JavaCalls
//!   entries;
//! * [`walkers`]: the walkers and the meaning of their error codes. [`walkers::WALKERS`] is the table;
//! * [`scenario`]: the scenario that shows every cause, made from the table of causes.
//!
//! # To add a cause
//!
//! Add a file to `causes/` with a `CAUSE`, add its row to [`causes::CAUSES`] before the causes that
//! are more general, and run `cargo run -- dev publish`, which writes its section in `docs/findings.md`.
//! The tests then run the cause's programs, and the reports and the scenario `causes` show it.
//!
//! # Duties of the caller
//!
//! * The caller reads memory: registers, stack words, code bytes and code blobs. This crate only
//!   decodes the bytes that the caller gives ([`code::CodeMemory`]).
//! * The caller chooses the processor: [`arch::Native`] for the running JVM, either processor for
//!   recorded samples.
//! * All evidence of a [`case::Case`] must be of one instant. Code that was freed since the sample can
//!   make a cause `unexplained`, but never another cause than its evidence shows.
//!
//! # Limits
//!
//! HotSpot of JDK 17 to 25 on Linux. The rules follow HotSpot's sources, whose files the comments name.
//! AArch64 was tried under an emulator only, with JDK 21 and 25. Nothing here runs in a signal handler.
#![forbid(unsafe_code)]

pub mod arch;
pub mod at_request;
pub mod capability;
pub mod case;
pub mod causes;
pub mod claims;
pub mod code;
pub mod debug_info;
pub mod layout;
pub mod memory;
pub mod needs;
pub mod proofs;
pub mod return_address;
pub mod runtime;
pub mod scenario;
pub mod steps;
pub mod walkers;
