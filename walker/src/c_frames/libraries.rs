//! The unwind tables of the library at an address.

use std::ffi::c_void;

/// `struct dl_find_object` of glibc, on architectures whose unwind tables need no base and no count of their own
/// (`bits/dl_find_object.h`).
#[repr(C)]
struct DlFindObject {
    flags: u64,
    start: usize,
    end: usize,
    link_map: usize,
    /// The segment `PT_GNU_EH_FRAME`.
    eh_frame: usize,
    reserved: [u64; 7],
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut DlFindObject) -> i32;

/// The libraries of this process, as the dynamic linker knows them at each moment.
pub struct Libraries(Option<FindObject>);

impl Libraries {
    /// Looks up `_dl_find_object`, which glibc has since 2.35, and which may be called in signal
    /// handlers (the GNU C Library manual, "Dynamic Linker Introspection"). Without this function
    /// no C code is walked.
    pub fn find() -> Libraries {
        // SAFETY: a plain look-up; glibc declares the function like this.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr());
            Libraries(
                (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, FindObject>(found)),
            )
        }
    }

    /// The address of the header of the unwind tables of the library at `pc`.
    pub fn tables_of(&self, pc: usize) -> Option<usize> {
        let find = self.0?;
        let mut found = DlFindObject {
            flags: 0,
            start: 0,
            end: 0,
            link_map: 0,
            eh_frame: 0,
            reserved: [0; 7],
        };
        // SAFETY: it writes to `found` only.
        let result = unsafe { find(pc as *mut c_void, &mut found) };
        (result == 0 && found.eh_frame != 0).then_some(found.eh_frame)
    }
}
