//! JDKs whose VM describes itself otherwise: a field renamed, a type gone, a constant changed.
//!
//! The VM publishes tables of its fields, types and constants (`gHotSpotVMStructs` and its like in `vmStructs.cpp`). They
//! are static data of `libjvm.so`, so a copy of the library can be changed without a compiler: the pointer to a name is
//! moved to the second letter of the name, and the name is another.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What is changed in the tables.
#[derive(Clone, Debug)]
pub enum Change {
    /// The field of a type gets another name.
    Field(String, String),
    /// A type gets another name.
    Type(String),
    /// A constant gets another value.
    Constant(String, i64),
}

/// One of the tables.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Table {
    Structs,
    Types,
    Ints,
    Longs,
}

impl Table {
    const ALL: [Table; 4] = [Table::Structs, Table::Types, Table::Ints, Table::Longs];

    /// The names of the words that describe the table begin so.
    fn prefix(self) -> &'static str {
        match self {
            Table::Structs => "gHotSpotVMStruct",
            Table::Types => "gHotSpotVMType",
            Table::Ints => "gHotSpotVMIntConstant",
            Table::Longs => "gHotSpotVMLongConstant",
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug)]
struct Row {
    table: Table,
    /// The name of the field's type; empty in other tables.
    owner: String,
    name: String,
    /// Where the pointer to the name is.
    name_at: u64,
    /// The type of a field, as the VM spells it; empty in other tables.
    type_: String,
    /// Where the offset, the size or the value is.
    value_at: u64,
}

/// A VM's library.
pub struct Library {
    bytes: Vec<u8>,
    /// Loaded pieces: address, place in the file, length.
    pieces: Vec<(u64, u64, u64)>,
    symbols: HashMap<String, u64>,
    /// Where the file has the value of the pointer at an address, which the loader writes.
    pointers: HashMap<u64, usize>,
    rows: Vec<Row>,
}

impl Library {
    /// Reads the library of the JDK at `home`.
    pub fn of(home: &Path) -> io::Result<Library> {
        let bytes = fs::read(home.join(LIBRARY))?;
        Library::read(bytes).ok_or_else(|| io::Error::other("it is no library of a HotSpot"))
    }

    fn read(bytes: Vec<u8>) -> Option<Library> {
        /// `R_X86_64_RELATIVE` and `R_AARCH64_RELATIVE`.
        const RELATIVE: [u32; 2] = [8, 1027];
        const LOAD: u32 = 1;
        const DYNAMIC_SYMBOLS: u32 = 11;
        const RELOCATIONS: u32 = 4;
        let mut library = Library {
            pieces: vec![],
            symbols: HashMap::new(),
            pointers: HashMap::new(),
            rows: vec![],
            bytes,
        };
        let number = |at: usize| library.number(at, 8).map(|number| number as usize);
        let small = |at: usize, size| library.number(at, size).map(|number| number as usize);
        let (programs, sections) = (number(0x20)?, number(0x28)?);
        let mut pieces = vec![];
        for at in (0..small(0x38, 2)?).map(|nth| programs + nth * 0x38) {
            if small(at, 4)? as u32 == LOAD {
                let part = |distance| library.number(at + distance, 8);
                pieces.push((part(0x10)?, part(0x08)?, part(0x20)?));
            }
        }
        let (mut symbols, mut pointers) = (HashMap::new(), HashMap::new());
        let section = |nth: usize| sections + nth * 0x40;
        for at in (0..small(0x3c, 2)?).map(section) {
            let (start, size) = (number(at + 0x18)?, number(at + 0x20)?);
            match small(at + 4, 4)? as u32 {
                DYNAMIC_SYMBOLS => {
                    let names = number(section(small(at + 0x28, 4)?) + 0x18)?;
                    for symbol in (start..start + size).step_by(0x18) {
                        let name = library.text(names + small(symbol, 4)?)?;
                        symbols.insert(name, library.number(symbol + 8, 8)?);
                    }
                }
                RELOCATIONS => {
                    for relocation in (start..start + size).step_by(0x18) {
                        if RELATIVE.contains(&(small(relocation + 8, 4)? as u32)) {
                            pointers.insert(library.number(relocation, 8)?, relocation + 0x10);
                        }
                    }
                }
                _ => {}
            }
        }
        (library.pieces, library.symbols, library.pointers) = (pieces, symbols, pointers);
        let rows = Table::ALL.map(|table| library.rows_of(table));
        for rows in rows {
            library.rows.extend(rows?);
        }
        Some(library)
    }

    fn rows_of(&self, table: Table) -> Option<Vec<Row>> {
        let symbol = format!("{}s", table.prefix());
        let start = self.pointer(*self.symbols.get(&symbol)?)?;
        // Rows as `vmStructs.hpp` declares them. (The VM computes the exported offsets of their parts when it is loaded.)
        let (owner, name, value, stride) = match table {
            Table::Structs => (Some((0, 16)), 8, 32, 48),
            Table::Types => (None, 0, 32, 40),
            Table::Ints | Table::Longs => (None, 0, 8, 16),
        };
        let text = |at: u64| self.text(self.place(self.pointer(at)?)?);
        let rows = (0..).map(|nth| start + nth * stride).map_while(|row| {
            Some(Row {
                table,
                owner: owner.map_or(Some(String::new()), |(owner, _)| text(row + owner))?,
                type_: owner
                    .and_then(|(_, type_)| text(row + type_))
                    .unwrap_or_default(),
                name: text(row + name)?,
                name_at: row + name,
                value_at: row + value,
            })
        });
        Some(rows.collect())
    }

    /// Fields as `owner::field`, types and constants, each with its offset, size or value, and with the type of a field.
    /// (Offsets of static fields are 0.)
    pub fn described(&self) -> Vec<(String, i64, String)> {
        let rows = self.rows.iter();
        let described = rows.filter_map(|row| {
            let size = if row.table == Table::Ints { 4 } else { 8 };
            let value = self.number(self.place(row.value_at)?, size)?;
            let value = match row.table {
                Table::Ints => i64::from(value as u32 as i32),
                _ => value as i64,
            };
            let name = match row.table {
                Table::Structs => format!("{}::{}", row.owner, row.name),
                _ => row.name.clone(),
            };
            Some((name, value, row.type_.clone()))
        });
        described.collect()
    }

    /// Changes the tables; `None` if they do not have what is to be changed.
    pub fn change(&mut self, change: &Change) -> Option<()> {
        let is_it = |row: &&Row| match change {
            Change::Field(owner, name) => {
                row.table == Table::Structs && row.owner == *owner && row.name == *name
            }
            Change::Type(name) => row.table == Table::Types && row.name == *name,
            Change::Constant(name, _) => {
                matches!(row.table, Table::Ints | Table::Longs) && row.name == *name
            }
        };
        let row = self.rows.iter().find(is_it)?.clone();
        match change {
            Change::Field(..) | Change::Type(_) => {
                let second_letter = self.pointer(row.name_at)? + 1;
                let places = [
                    self.pointers.get(&row.name_at).copied(),
                    self.place(row.name_at),
                ];
                for place in places.into_iter().flatten() {
                    self.bytes[place..place + 8].copy_from_slice(&second_letter.to_le_bytes());
                }
            }
            Change::Constant(_, value) => {
                let place = self.place(row.value_at)?;
                let size = if row.table == Table::Ints { 4 } else { 8 };
                self.bytes[place..place + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Some(())
    }

    fn number(&self, at: usize, size: usize) -> Option<u64> {
        let mut number = [0; 8];
        number[..size].copy_from_slice(self.bytes.get(at..at + size)?);
        Some(u64::from_le_bytes(number))
    }

    /// The zero-terminated text at this place in the file.
    fn text(&self, at: usize) -> Option<String> {
        let rest = self.bytes.get(at..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// The place in the file of what is loaded at `address`.
    fn place(&self, address: u64) -> Option<usize> {
        let mut pieces = self.pieces.iter();
        let inside =
            |&&(start, _, length): &&(u64, u64, u64)| (start..start + length).contains(&address);
        let &(start, place, _) = pieces.find(inside)?;
        usize::try_from(address - start + place).ok()
    }

    /// The address that the pointer at `address` has; `None` for null.
    fn pointer(&self, address: u64) -> Option<u64> {
        let place = match self.pointers.get(&address) {
            Some(&place) => place,
            None => self.place(address)?,
        };
        self.number(place, 8).filter(|&pointer| pointer != 0)
    }
}

const LIBRARY: &str = "lib/server/libjvm.so";

/// Makes a JDK at `into` that is the one at `home`, but for these changes of its VM's tables.
pub fn changed_jdk(home: &Path, into: &Path, changes: &[Change]) -> io::Result<PathBuf> {
    let home = home.canonicalize()?;
    let mut library = Library::of(&home)?;
    for change in changes {
        let changed = library.change(change);
        changed.ok_or_else(|| io::Error::other(format!("the VM does not publish {change:?}")))?;
    }
    // The launcher and the VM find the JDK by their own places, so they are copies. All else may be links.
    for folder in ["bin", "lib", "lib/server"] {
        fs::create_dir_all(into.join(folder))?;
        link_all(
            &home.join(folder),
            &into.join(folder),
            &["server", "java", "libjvm.so"],
        )?;
    }
    link_all(&home, into, &["bin", "lib"])?;
    fs::copy(home.join("bin/java"), into.join("bin/java"))?;
    fs::write(into.join(LIBRARY), &library.bytes)?;
    Ok(into.to_owned())
}

/// Links what is in `from`, but for `others`, from `into`.
fn link_all(from: &Path, into: &Path, others: &[&str]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if !others.iter().any(|other| entry.file_name() == **other) {
            symlink(entry.path(), into.join(entry.file_name()))?;
        }
    }
    Ok(())
}
