//! The build of a library that is loaded.

use std::ffi::{c_int, c_void};
use std::fmt::Write as _;

/// The type of the note that holds a build's id (`elf.h`), and the name of its owner.
const NT_GNU_BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";

/// So many bytes of the id tell builds apart.
const BYTES: usize = 4;

struct Search {
    base: usize,
    found: Option<String>,
}

/// The first bytes of the build id of the library that is loaded at `base`, in hexadecimal; `None` if its linker wrote none.
pub fn of_library_at(base: usize) -> Option<String> {
    let mut search = Search { base, found: None };
    // SAFETY: the callback is called with a pointer to `search` and with headers that are valid during the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

/// Called for each library, until it returns something other than 0.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` gives a valid description, and `data` is the search that it was given.
    let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
    // SAFETY: a library has so many program headers, for as long as it is loaded.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    // The base is where the first segment begins, which need not be where addresses count from.
    let first = headers.iter().find(|header| header.p_type == libc::PT_LOAD);
    let start = |header: &libc::Elf64_Phdr| (info.dlpi_addr + header.p_vaddr) as usize;
    if first.is_none_or(|first| start(first) != search.base) {
        return 0;
    }
    for header in headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE)
    {
        // SAFETY: notes of a loaded library are mapped, and nobody writes to them.
        let notes = unsafe {
            std::slice::from_raw_parts(start(header) as *const u8, header.p_memsz as usize)
        };
        search.found = search.found.take().or_else(|| id_in(notes));
    }
    1
}

/// The id in a segment of notes: three words (the sizes of name and content, and the type), then both, each filled up to whole
/// words (ELF, chapter 5, "Note Section").
fn id_in(mut notes: &[u8]) -> Option<String> {
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| {
            let bytes = head[at * 4..][..4].try_into().expect("four bytes");
            u32::from_ne_bytes(bytes)
        };
        let (name_size, size, kind) = (word(0) as usize, word(1) as usize, word(2));
        let (name, rest) = rest.split_at_checked(name_size.next_multiple_of(4))?;
        let (content, rest) = rest.split_at_checked(size.next_multiple_of(4))?;
        if kind == NT_GNU_BUILD_ID && name.starts_with(OWNER) {
            let bytes = content[..size].iter().take(BYTES);
            let mut id = String::new();
            bytes.for_each(|byte| _ = write!(id, "{byte:02x}"));
            return Some(id);
        }
        notes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note, with its name and content filled up.
    fn note(kind: u32, name: &[u8], content: &[u8]) -> Vec<u8> {
        let filled = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let words = [name.len() as u32, content.len() as u32, kind];
        let head: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        [head, filled(name), filled(content)].concat()
    }

    #[test]
    fn the_id_is_found_behind_other_notes() {
        let other = note(1, b"GNU\0", &[9; 16]);
        let id = note(3, b"GNU\0", &[0xab, 0xcd, 1, 2, 3]);
        assert_eq!(
            id_in(&[&other[..], &id[..]].concat()),
            Some("abcd0102".into())
        );
        assert_eq!(id_in(&other), None);
        assert_eq!(id_in(&note(3, b"Go\0\0", &[1; 20])), None);
        assert_eq!(id_in(&id[..14]), None);
    }

    #[test]
    fn the_c_library_is_found() {
        // SAFETY: zeros are a valid `Dl_info`: numbers and null pointers.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: dladdr only looks the address up.
        let found = unsafe { libc::dladdr(libc::malloc as *const c_void, &mut info) };
        assert_ne!(found, 0);
        // Debian's has an id; one without would be no failure.
        let id = of_library_at(info.dli_fbase as usize);
        assert!(id.is_none_or(|id| id.len() == 2 * BYTES));
        assert_eq!(of_library_at(1), None);
    }
}
