//! Readers of the memory of this process, each a [`hotspot::memory::Memory`].
//!
//! | reader | for | a read costs |
//! |---|---|---|
//! | [`kernel::OwnMemory`] | threads of the agent: memory that may be unmapped | a system call |
//! | [`pages::Pages`] | the same, for many reads of a few pages that do not change | a system call a page |
//! | [`Live`] | handlers and walks: memory that may be unmapped, with a budget | one instruction |
//! | [`Permanent`] | memory that is known to stay mapped | one instruction |

#[cfg(target_arch = "x86_64")]
mod budget;
#[cfg(target_arch = "x86_64")]
mod fault;
pub mod kernel;
#[cfg(target_arch = "x86_64")]
mod lasting;
#[cfg(target_arch = "x86_64")]
mod live;
#[cfg(target_arch = "x86_64")]
mod load;
pub mod pages;
mod permanent;

#[cfg(target_arch = "x86_64")]
pub use fault::{Guard, install};
#[cfg(target_arch = "x86_64")]
pub use live::{Live, recovers_at};
pub use permanent::Permanent;
