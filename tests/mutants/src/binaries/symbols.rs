//! The places of functions in a libjvm, by the table of symbols that was split off.

use crate::error::Error;
use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A libjvm, and where its functions are.
#[derive(Debug)]
pub struct Symbols {
    library: Vec<u8>,
    places: HashMap<String, u64>,
}

impl Symbols {
    /// Reads a libjvm and the file with its symbols, which must be of the same build.
    pub fn read(library: &Path, symbols: &Path) -> Result<Self, Error> {
        let bytes = fs::read(library).map_err(Error::at(library))?;
        let debug = fs::read(symbols).map_err(Error::at(symbols))?;
        let code = parsed(&bytes, library)?;
        let table = parsed(&debug, symbols)?;
        let id = code.build_id().ok().flatten();
        if id.is_none() || id != table.build_id().ok().flatten() {
            let why = format!(
                "{} has not the symbols of {}: the build IDs differ",
                symbols.display(),
                library.display()
            );
            return Err(Error::Missing(why));
        }
        let named = table
            .symbols()
            .filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        let places = named
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
            .collect();
        drop(code);
        Ok(Self {
            library: bytes,
            places,
        })
    }

    /// The distance of a function from the start of libjvm, and so many bytes of its code.
    pub fn code(&self, symbol: &str, length: usize) -> Result<(u64, &[u8]), Error> {
        let missing = || Error::Missing(format!("libjvm has no function {symbol}"));
        let place = *self.places.get(symbol).ok_or_else(missing)?;
        let file =
            object::File::parse(&*self.library).map_err(|e| Error::Missing(e.to_string()))?;
        let code = code_at(&file, &self.library, place, length).ok_or_else(missing)?;
        Ok((place, code))
    }
}

fn parsed<'a>(bytes: &'a [u8], path: &Path) -> Result<object::File<'a>, Error> {
    object::File::parse(bytes).map_err(|e| Error::Missing(format!("{}: {e}", path.display())))
}

fn code_at<'a>(
    file: &object::File<'_>,
    library: &'a [u8],
    place: u64,
    length: usize,
) -> Option<&'a [u8]> {
    use object::ObjectSegment;
    let segment = file
        .segments()
        .find(|segment| (segment.address()..segment.address() + segment.size()).contains(&place))?;
    let start = usize::try_from(segment.file_range().0 + place - segment.address()).ok()?;
    library.get(start..start + length)
}
