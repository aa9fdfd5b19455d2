//! The VM's description of its data structures (`share/runtime/vmStructs.cpp`), for the
//! Serviceability Agent: offsets of fields, sizes of types, constants.

use crate::library::Library;
use hotspot::layout::fields::{Fields, Missing};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// Fields, types and constants of the VM by name.
pub struct Tables {
    fields: ByField,
    sizes: HashMap<String, usize>,
    constants: HashMap<String, i64>,
}

/// Fields by type and name.
type ByField = HashMap<String, HashMap<String, Field>>;

/// A field of one of the VM's types.
struct Field {
    /// The offset of an instance field, the address of a static one.
    place: usize,
    type_: Option<String>,
}

/// One of the VM's arrays. Exported words, whose names start with `prefix`, give the offsets of the parts of an entry.
/// The array ends with an entry without a name.
struct Entries<'a> {
    library: &'a Library,
    prefix: &'static str,
    start: usize,
    stride: usize,
}

impl Tables {
    /// Reads the tables of the VM in this process.
    pub fn read() -> Result<Tables, Missing> {
        let read = || {
            let library = Library::find()?;
            // SAFETY: the exported words describe arrays of this form (`vmStructs.hpp`). The values of constants have
            // the types of their arrays.
            unsafe {
                let ints = Entries::of(&library, "gHotSpotVMIntConstant")?;
                let longs = Entries::of(&library, "gHotSpotVMLongConstant")?;
                let mut constants =
                    ints.numbers("Name", "Value", |place: *const i32| i64::from(*place))?;
                constants.extend(longs.numbers("Name", "Value", |place: *const i64| *place)?);
                let types = Entries::of(&library, "gHotSpotVMType")?;
                Some(Tables {
                    fields: fields(&Entries::of(&library, "gHotSpotVMStruct")?)?,
                    sizes: types
                        .numbers("TypeName", "Size", |place: *const u64| *place as usize)?,
                    constants,
                })
            }
        };
        read().ok_or(Missing::Tables)
    }
}

impl Fields for Tables {
    fn find_field(&self, owner: &str, field: &str) -> Option<usize> {
        Some(self.fields.get(owner)?.get(field)?.place)
    }

    fn find_type(&self, owner: &str, field: &str) -> Option<&str> {
        self.fields.get(owner)?.get(field)?.type_.as_deref()
    }

    fn find_size(&self, name: &str) -> Option<usize> {
        self.sizes.get(name).copied()
    }

    fn find_constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }
}

/// # Safety
/// `structs` must be those of `gHotSpotVMStructs`.
unsafe fn fields(structs: &Entries<'_>) -> Option<ByField> {
    // SAFETY: the parts of an entry have these types (`VMStructEntry`).
    unsafe {
        let (owner, name) = (structs.part("TypeName")?, structs.part("FieldName")?);
        let (type_, is_static) = (structs.part("TypeString")?, structs.part("IsStatic")?);
        let (offset, address) = (structs.part("Offset")?, structs.part("Address")?);
        let mut fields = ByField::new();
        for entry in structs.places() {
            let Some(name) = text(entry + name) else {
                break;
            };
            let place = match *((entry + is_static) as *const i32) {
                0 => *((entry + offset) as *const u64) as usize,
                _ => *((entry + address) as *const usize),
            };
            let owner = text(entry + owner).unwrap_or_default();
            let type_ = text(entry + type_);
            let of_owner = fields.entry(owner).or_default();
            of_owner.insert(name, Field { place, type_ });
        }
        Some(fields)
    }
}

impl<'a> Entries<'a> {
    /// The array whose name is that of its entries in the plural.
    ///
    /// # Safety
    /// It must be one of the VM's arrays.
    unsafe fn of(library: &'a Library, name: &'static str) -> Option<Entries<'a>> {
        // SAFETY: the VM exports a pointer to the array, and the size of an entry.
        unsafe {
            let start = library.word(&format!("{name}s"))?;
            let stride = library.word(&format!("{name}EntryArrayStride"))?;
            (start != 0 && stride != 0).then_some(Entries {
                library,
                prefix: name,
                start,
                stride,
            })
        }
    }

    /// # Safety
    /// The word must describe a part of the entries.
    unsafe fn part(&self, part: &str) -> Option<usize> {
        // SAFETY: as the caller promised.
        unsafe {
            self.library
                .word(&format!("{}Entry{part}Offset", self.prefix))
        }
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        let (start, stride) = (self.start, self.stride);
        (0..).map(move |at| start + at * stride)
    }

    /// Numbers by name.
    ///
    /// # Safety
    /// The entries must have a name, and a number of this type.
    unsafe fn numbers<T, N>(
        &self,
        name: &str,
        value: &str,
        read: impl Fn(*const T) -> N,
    ) -> Option<HashMap<String, N>> {
        // SAFETY: as the caller promised.
        unsafe {
            let (name, value) = (self.part(name)?, self.part(value)?);
            let named = self
                .places()
                .map_while(|entry| Some((text(entry + name)?, read((entry + value) as *const T))));
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
