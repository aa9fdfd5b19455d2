//! The VM's own description of its data structures (`share/runtime/vmStructs.cpp`), which
//! the Serviceability Agent reads: field offsets by name.

use crate::jvm::jvmti::Jvmti;
use crate::jvm::library::Library;
use hotspot::vm::fields::Fields;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// Fields, types and constants of the VM by name.
pub struct Structs {
    /// Offset of an instance field, address of a static one.
    fields: HashMap<(String, String), usize>,
    sizes: HashMap<String, usize>,
    constants: HashMap<String, i32>,
}

/// The layout of the entries of one of the VM's tables, from exported words. The names of these
/// words start with the given text and end as listed.
struct Table {
    start: usize,
    stride: usize,
}

impl Structs {
    /// Reads the tables; `None` if this VM does not export them.
    pub fn read(jvmti: Jvmti) -> Option<Structs> {
        let library = Library::of(jvmti)?;
        // SAFETY: the exported words describe tables of this layout, which end with an entry
        // without names.
        unsafe {
            let mut fields = HashMap::new();
            let structs = table(
                &library,
                "gHotSpotVMStructs",
                "gHotSpotVMStructEntryArrayStride",
            )?;
            let type_name = word(&library, "gHotSpotVMStructEntryTypeNameOffset")?;
            let field_name = word(&library, "gHotSpotVMStructEntryFieldNameOffset")?;
            let is_static = word(&library, "gHotSpotVMStructEntryIsStaticOffset")?;
            let offset = word(&library, "gHotSpotVMStructEntryOffsetOffset")?;
            let address = word(&library, "gHotSpotVMStructEntryAddressOffset")?;
            for entry in (0..).map(|i| structs.start + i * structs.stride) {
                let Some(field) = text(entry + field_name) else {
                    break;
                };
                let part = match *((entry + is_static) as *const i32) {
                    0 => *((entry + offset) as *const u64) as usize,
                    _ => *((entry + address) as *const usize),
                };
                fields.insert((text(entry + type_name).unwrap_or_default(), field), part);
            }
            let mut sizes = HashMap::new();
            let types = table(
                &library,
                "gHotSpotVMTypes",
                "gHotSpotVMTypeEntryArrayStride",
            )?;
            let type_name = word(&library, "gHotSpotVMTypeEntryTypeNameOffset")?;
            let size = word(&library, "gHotSpotVMTypeEntrySizeOffset")?;
            for entry in (0..).map(|i| types.start + i * types.stride) {
                let Some(name) = text(entry + type_name) else {
                    break;
                };
                sizes.insert(name, *((entry + size) as *const u64) as usize);
            }
            let mut constants = HashMap::new();
            let ints = table(
                &library,
                "gHotSpotVMIntConstants",
                "gHotSpotVMIntConstantEntryArrayStride",
            )?;
            let name = word(&library, "gHotSpotVMIntConstantEntryNameOffset")?;
            let value = word(&library, "gHotSpotVMIntConstantEntryValueOffset")?;
            for entry in (0..).map(|i| ints.start + i * ints.stride) {
                let Some(name) = text(entry + name) else {
                    break;
                };
                constants.insert(name, *((entry + value) as *const i32));
            }
            Some(Structs {
                fields,
                sizes,
                constants,
            })
        }
    }
}

impl Fields for Structs {
    fn field(&self, types: &[&str], field: &str) -> Option<usize> {
        types
            .iter()
            .find_map(|&name| self.fields.get(&(name.to_owned(), field.to_owned())))
            .copied()
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.sizes.get(name).copied()
    }

    fn constant(&self, name: &str) -> Option<i32> {
        self.constants.get(name).copied()
    }
}

/// # Safety
/// `place` must hold null or a pointer to a zero-terminated string.
unsafe fn text(place: usize) -> Option<String> {
    // SAFETY: as the caller promised.
    let text = unsafe { *(place as *const *const c_char) };
    if text.is_null() {
        return None;
    }
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// # Safety
/// `name` must be an exported 64-bit word.
unsafe fn word(library: &Library, name: &str) -> Option<usize> {
    // SAFETY: as the caller promised.
    library
        .symbol(name)
        .map(|address| unsafe { *address.cast::<u64>() } as usize)
}

/// # Safety
/// `name` must be an exported pointer, `stride` an exported word.
unsafe fn table(library: &Library, name: &str, stride: &str) -> Option<Table> {
    // SAFETY: as the caller promised.
    let (start, stride) = unsafe { (word(library, name)?, word(library, stride)?) };
    (start != 0 && stride != 0).then_some(Table { start, stride })
}
