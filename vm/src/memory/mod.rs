//! Readers of the memory of this process, each a [`hotspot::memory::Memory`].
//!
//! | reader | for | a read costs |
//! |---|---|---|
//! | [`kernel::OwnMemory`] | threads of the agent: memory that may be unmapped | a system call |
//! | the same with [`Remembering`] | threads that read the same structures again and again | a system call a page |
//! | [`pages::Pages`] | the same, for many reads of a few pages that do not change | a system call a page |
//! | [`Live`] | handlers and walks: memory that may be unmapped, with a budget | one instruction |
//! | [`Permanent`] | memory that is known to stay mapped | one instruction |

mod budget;
mod fault;
pub mod kernel;
mod lasting;
mod live;
pub mod pages;
mod permanent;
mod remembered;

pub use fault::{Guard, install};
pub use live::{Live, recovers_at};
pub use permanent::Permanent;
pub use remembered::Remembering;
