//! The VM's description of its data structures (`share/runtime/vmStructs.cpp`), for the
//! Serviceability Agent: offsets of fields, sizes of types, constants.

use hotspot::vm::fields::Fields;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};

/// Fields, types and constants of the VM by name.
pub struct Tables {
    fields: HashMap<(String, String), Field>,
    sizes: HashMap<String, usize>,
    constants: HashMap<String, i32>,
    long_constants: HashMap<String, u64>,
}

/// A field of one of the VM's types.
struct Field {
    /// The offset of an instance field, the address of a static one.
    place: usize,
    type_: Option<String>,
}

/// One of the VM's arrays. Exported words give the offsets of the parts of an entry.
struct Entries<'a> {
    library: &'a Library,
    prefix: &'static str,
    start: usize,
    stride: usize,
}

impl Tables {
    /// Reads the tables of the VM in this process; `None` if there is no VM, or it exports no
    /// tables.
    pub fn read() -> Option<Tables> {
        let library = Library::find()?;
        // SAFETY: the exported words describe arrays of this form, which end with an entry
        // without names (`vmStructs.hpp`).
        unsafe {
            let structs = library.entries("gHotSpotVMStructs", "gHotSpotVMStructEntry")?;
            let parts = [
                "TypeName",
                "FieldName",
                "TypeString",
                "IsStatic",
                "Offset",
                "Address",
            ];
            let [class, field, type_, is_static, offset, address] =
                parts.map(|part| structs.part(part));
            let (class, field, type_) = (class?, field?, type_?);
            let (is_static, offset, address) = (is_static?, offset?, address?);
            let mut fields = HashMap::new();
            for entry in structs.places() {
                let Some(name) = text(entry + field) else {
                    break;
                };
                let place = match *((entry + is_static) as *const i32) {
                    0 => *((entry + offset) as *const u64) as usize,
                    _ => *((entry + address) as *const usize),
                };
                let type_ = text(entry + type_);
                let class = text(entry + class).unwrap_or_default();
                fields.insert((class, name), Field { place, type_ });
            }
            let types = library.entries("gHotSpotVMTypes", "gHotSpotVMTypeEntry")?;
            let sizes = types.named("TypeName", types.part("Size")?)?;
            let ints = library.entries("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry")?;
            let constants = ints.named("Name", ints.part("Value")?)?;
            let longs =
                library.entries("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntry")?;
            Some(Tables {
                fields,
                long_constants: longs.named("Name", longs.part("Value")?)?,
                sizes: sizes.into_iter().map(|(k, v)| (k, v as usize)).collect(),
                constants: constants.into_iter().map(|(k, v)| (k, v as i32)).collect(),
            })
        }
    }

    fn found(&self, types: &[&str], field: &str) -> Option<&Field> {
        types
            .iter()
            .find_map(|&name| self.fields.get(&(name.to_owned(), field.to_owned())))
    }

    /// The version of the Java platform: 17, 21, 25.
    pub fn feature(&self) -> Option<u32> {
        let place = self.field(&["Abstract_VM_Version"], "_vm_major_version")?;
        // SAFETY: the address of a static int of the VM.
        u32::try_from(unsafe { *(place as *const i32) }).ok()
    }
}

impl Fields for Tables {
    fn field(&self, types: &[&str], field: &str) -> Option<usize> {
        Some(self.found(types, field)?.place)
    }

    fn type_of(&self, types: &[&str], field: &str) -> Option<&str> {
        self.found(types, field)?.type_.as_deref()
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.sizes.get(name).copied()
    }

    fn constant(&self, name: &str) -> Option<i32> {
        self.constants.get(name).copied()
    }

    fn long_constant(&self, name: &str) -> Option<u64> {
        self.long_constants.get(name).copied()
    }
}

impl Entries<'_> {
    /// # Safety
    /// The word must describe a part of the entries.
    unsafe fn part(&self, part: &str) -> Option<usize> {
        // SAFETY: as the caller promised.
        unsafe { self.library.word(&format!("{}{part}Offset", self.prefix)) }
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        let (start, stride) = (self.start, self.stride);
        (0..).map(move |at| start + at * stride)
    }

    /// Numbers by name.
    ///
    /// # Safety
    /// The entries must have a name, and 64 bits, or 32 with 32 more that may be read, at `value`.
    unsafe fn named(&self, name: &str, value: usize) -> Option<HashMap<String, u64>> {
        // SAFETY: as the caller promised.
        unsafe {
            let name = self.part(name)?;
            let named = self
                .places()
                .map_while(|entry| Some((text(entry + name)?, *((entry + value) as *const u64))));
            Some(named.collect())
        }
    }
}

/// # Safety
/// `place` must hold null or a pointer to a zero-terminated string.
unsafe fn text(place: usize) -> Option<String> {
    // SAFETY: as the caller promised.
    unsafe {
        let text = *(place as *const *const c_char);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// The VM's library, which is never unloaded.
struct Library(*mut c_void);

impl Library {
    /// The library. The launcher may have loaded it without making it global.
    fn find() -> Option<Library> {
        // SAFETY: a plain look-up; RTLD_NOLOAD takes a further handle on what is loaded anyhow.
        let handle =
            unsafe { libc::dlopen(c"libjvm.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library(handle))
    }

    /// # Safety
    /// `name` must be an exported word of 64 bits.
    unsafe fn word(&self, name: &str) -> Option<usize> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: as the caller promised.
        unsafe {
            let address = libc::dlsym(self.0, name.as_ptr());
            (!address.is_null()).then(|| *address.cast::<u64>() as usize)
        }
    }

    /// # Safety
    /// `name` must be an exported pointer, and `prefix` with `ArrayStride` an exported word.
    unsafe fn entries(&self, name: &str, prefix: &'static str) -> Option<Entries<'_>> {
        // SAFETY: as the caller promised.
        unsafe {
            Some(Entries {
                library: self,
                prefix,
                start: self.word(name).filter(|&start| start != 0)?,
                stride: self.word(&format!("{prefix}ArrayStride"))?,
            })
        }
    }
}
