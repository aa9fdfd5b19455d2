//! Pages that a thread remembers for a short time.
//!
//! Each read of [`OwnMemory`](super::kernel::OwnMemory) is a system call. A thread that looks at many stacks reads the same
//! structures of the VM again and again, such as the headers of compiled methods and the names of methods, and three
//! quarters of its time are system calls.

use rustc_hash::FxBuildHasher;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::ptr;

/// The size of a page, in bytes.
pub(super) const PAGE: usize = 1 << 12;

/// Copies the page that starts at an address; `None` if it cannot be read.
type ReadPage = fn(usize) -> Option<Box<[u8]>>;

/// The largest number of pages that are remembered, 8 MiB. Behind it all are forgotten.
const MOST: usize = 1 << 11;

/// Copies of pages; `None` for a page that cannot be read.
type Pages = HashMap<usize, Option<Box<[u8]>>, FxBuildHasher>;

thread_local! {
    /// Those of the thread's [`Remembering`]; null if there is none. A value without a destructor, so that threads which end
    /// may still read.
    static PAGES: Cell<*const RefCell<Pages>> = const { Cell::new(ptr::null()) };
}

/// While it lives, the reads of the calling thread see each page as it was at the first look since the last
/// [`Remembering::forget`]. The VM changes its structures meanwhile, as it does between any two reads, so this is for a
/// short time only.
#[derive(Debug)]
pub struct Remembering(*const RefCell<Pages>);

impl Remembering {
    /// Starts with no page. At most one of them may live in a thread.
    pub fn begin() -> Remembering {
        let pages: *const RefCell<Pages> = Box::into_raw(Box::default());
        let before = PAGES.replace(pages);
        assert!(before.is_null(), "the thread remembers pages already");
        Remembering(pages)
    }

    /// Reads everything anew from now on.
    pub fn forget(&self) {
        // SAFETY: the pages live until this ends, and no other thread has them: a pointer cannot be sent.
        unsafe { &*self.0 }.borrow_mut().clear();
    }

    /// Runs `read`, whose reads see the memory as it is then.
    pub fn paused<R>(&self, read: impl FnOnce() -> R) -> R {
        PAGES.set(ptr::null());
        let result = read();
        PAGES.set(self.0);
        result
    }
}

impl Drop for Remembering {
    fn drop(&mut self) {
        PAGES.set(ptr::null());
        // SAFETY: `begin` made them so, and nothing refers to them any more.
        drop(unsafe { Box::from_raw(self.0.cast_mut()) });
    }
}

/// Copies the bytes at `address` to `into`. Returns whether all can be read; `None` if the thread remembers no pages, and
/// nothing is written then.
pub(super) fn read(address: usize, into: &mut [MaybeUninit<u8>], page: ReadPage) -> Option<bool> {
    let mut at = 0;
    let length = into.len();
    each(address, length, page, |part| {
        for (to, &from) in into[at..].iter_mut().zip(part) {
            to.write(from);
        }
        at += part.len();
    })?;
    Some(at == length)
}

/// Copies up to `length` bytes from `address`, up to the first page that cannot be read; `None` if the thread remembers
/// no pages.
pub(super) fn bytes(address: usize, length: usize, page: ReadPage) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    each(address, length, page, |part| bytes.extend_from_slice(part))?;
    Some(bytes)
}

/// Shows the parts of pages that these bytes are in, up to the first page that cannot be read.
fn each(address: usize, length: usize, page: ReadPage, mut see: impl FnMut(&[u8])) -> Option<()> {
    let pages = PAGES.get();
    if pages.is_null() {
        return None;
    }
    // SAFETY: the thread's own `Remembering` has them, and takes the pointer away before it frees them.
    let mut pages = unsafe { &*pages }.try_borrow_mut().ok()?;
    let mut done = 0;
    while done < length {
        let Some(from) = address.checked_add(done) else {
            break;
        };
        let (start, at) = (from / PAGE * PAGE, from % PAGE);
        if pages.len() >= MOST && !pages.contains_key(&start) {
            pages.clear();
        }
        let page = pages.entry(start).or_insert_with(|| page(start));
        let Some(page) = page else { break };
        let part = (length - done).min(PAGE - at);
        see(&page[at..at + part]);
        done += part;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{peek, peek_bytes};
    use super::*;

    #[test]
    fn a_page_is_read_once_until_it_is_forgotten() {
        let mut here: Vec<u8> = (0..3 * PAGE).map(|n| (n % 251) as u8).collect();
        let start = here.as_ptr().addr();
        let across = (start / PAGE + 1) * PAGE - 3;
        let (word, all) = (peek::<u64>(across), peek_bytes(start, here.len()));
        let remembering = Remembering::begin();
        assert_eq!(peek::<u64>(across), word);
        assert_eq!(peek_bytes(start, here.len()), all);
        here[across - start] ^= 0xff;
        assert_eq!(peek::<u64>(across), word, "as at the first look");
        assert_ne!(remembering.paused(|| peek::<u64>(across)), word);
        assert_eq!(peek::<u64>(across), word, "remembered still");
        remembering.forget();
        assert_ne!(peek::<u64>(across), word);
        here[across - start] ^= 0xff;
        drop(remembering);
        assert_eq!(peek::<u64>(across), word);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let _remembering = Remembering::begin();
        assert_eq!(peek::<u64>(8), None);
        assert_eq!(peek::<u64>(usize::MAX - 3), None);
        assert!(peek_bytes(8, 4).is_empty());
    }

    #[test]
    fn memory_for_pages_is_bounded() {
        let _remembering = Remembering::begin();
        let here = vec![7_u8; (MOST + 10) * PAGE];
        assert_eq!(peek_bytes(here.as_ptr().addr(), here.len()), here);
        // SAFETY: they live as long as `_remembering`.
        let pages = unsafe { &*PAGES.get() }.borrow().len();
        assert!((1..=MOST).contains(&pages), "{pages}");
    }
}
