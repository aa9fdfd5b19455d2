//! The VM's own description of its data structures (`share/runtime/vmStructs.cpp`), which
//! the Serviceability Agent reads: field offsets by name.

use crate::jvm::jvmti::Jvmti;
use crate::jvm::library::Library;
use hotspot::vm::fields::Fields;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// Fields, types and constants of the VM by name.
pub struct Structs {
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
            let type_ = word(&library, "gHotSpotVMStructEntryTypeStringOffset")?;
            let is_static = word(&library, "gHotSpotVMStructEntryIsStaticOffset")?;
            let offset = word(&library, "gHotSpotVMStructEntryOffsetOffset")?;
            let address = word(&library, "gHotSpotVMStructEntryAddressOffset")?;
            for entry in (0..).map(|i| structs.start + i * structs.stride) {
                let Some(field) = text(entry + field_name) else {
                    break;
                };
                let place = match *((entry + is_static) as *const i32) {
                    0 => *((entry + offset) as *const u64) as usize,
                    _ => *((entry + address) as *const usize),
                };
                let class = text(entry + type_name).unwrap_or_default();
                let type_ = text(entry + type_);
                fields.insert((class, field), Field { place, type_ });
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
            let constants = named(&library, "Int", |value| *(value as *const i32))?;
            let long_constants = named(&library, "Long", |value| *(value as *const u64))?;
            Some(Structs {
                fields,
                sizes,
                constants,
                long_constants,
            })
        }
    }
}

impl Structs {
    fn found(&self, types: &[&str], field: &str) -> Option<&Field> {
        types
            .iter()
            .find_map(|&name| self.fields.get(&(name.to_owned(), field.to_owned())))
    }
}

impl Fields for Structs {
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

/// The constants of one type by name.
///
/// # Safety
/// `read` must read a constant of this type at an address that has one.
unsafe fn named<T>(
    library: &Library,
    type_: &str,
    read: impl Fn(usize) -> T,
) -> Option<HashMap<String, T>> {
    // SAFETY: as in `Structs::read`.
    unsafe {
        let constants = table(
            library,
            &format!("gHotSpotVM{type_}Constants"),
            &format!("gHotSpotVM{type_}ConstantEntryArrayStride"),
        )?;
        let part = |part| {
            word(
                library,
                &format!("gHotSpotVM{type_}ConstantEntry{part}Offset"),
            )
        };
        let (name, value) = (part("Name")?, part("Value")?);
        let entries = (0..).map(|i| constants.start + i * constants.stride);
        let named = entries.map_while(|entry| Some((text(entry + name)?, read(entry + value))));
        Some(named.collect())
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
