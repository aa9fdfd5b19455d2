//! The image of a JDK's classes: `lib/modules` (`jdk.internal.jimage`, `imageFile.hpp`).

use crate::error::Error;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The first word of an image.
const MAGIC: u32 = 0xcafe_dada;

/// The first word of a resource that is compressed.
const COMPRESSED: u32 = 0xcafe_fafa;

/// Sizes in bytes: the head of an image, and that of a compressed resource.
const HEAD: usize = 28;
const COMPRESSED_HEAD: usize = 29;

/// No more plug-ins have compressed a resource.
const PLUGINS: usize = 4;

/// The largest tables and the largest resource that are read, in bytes.
const LARGEST: u64 = 256 << 20;

/// An image. Its tables are in memory, and its resources are not.
pub struct JdkImage {
    path: PathBuf,
    file: File,
    is_little: bool,
    /// The number of slots of the hash table.
    slots: usize,
    /// All tables, from the head to the first resource.
    tables: Vec<u8>,
    /// The offsets in `tables` of the attributes and of the strings.
    attributes: usize,
    strings: usize,
    /// The module of each package.
    modules: HashMap<String, String>,
}

/// The attributes of a resource. Texts are offsets in the table of strings.
#[derive(Copy, Clone, Debug, Default)]
struct Attributes {
    module: u64,
    parent: u64,
    base: u64,
    extension: u64,
    offset: u64,
    compressed: u64,
    uncompressed: u64,
}

impl JdkImage {
    /// Opens an image.
    pub fn open(path: &Path) -> Result<JdkImage, Error> {
        let mut image = JdkImage::tables(path).map_err(Error::about(path))?;
        let mut modules = HashMap::new();
        image.each(&mut |module, package, _| {
            if !modules.contains_key(package) {
                modules.insert(package.to_owned(), module.to_owned());
            }
        })?;
        image.modules = modules;
        Ok(image)
    }

    fn tables(path: &Path) -> io::Result<JdkImage> {
        let file = File::open(path)?;
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0)?;
        let is_little = match word(&head, 0, true) {
            Some(MAGIC) => true,
            Some(word) if word.swap_bytes() == MAGIC => false,
            _ => return Err(damaged("no image of a JDK")),
        };
        let number = |at| u64::from(word(&head, at, is_little).unwrap_or(0));
        let [slots, attributes, strings] = [16, 20, 24].map(number);
        let size = HEAD as u64 + 8 * slots + attributes + strings;
        if slots == 0 || size > LARGEST || size > file.metadata()?.len() {
            return Err(damaged("the image is damaged or cut off"));
        }
        let mut tables = vec![0; size as usize];
        file.read_exact_at(&mut tables, 0)?;
        Ok(JdkImage {
            path: path.into(),
            file,
            is_little,
            slots: slots as usize,
            tables,
            attributes: HEAD + 8 * slots as usize,
            strings: HEAD + (8 * slots + attributes) as usize,
            modules: HashMap::new(),
        })
    }

    /// The internal names of all classes.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let mut names = vec![];
        self.each(&mut |_, package, class| names.push(format!("{package}/{class}")))?;
        Ok(names)
    }

    /// The class file of a class.
    pub fn read(&self, class: &str) -> Option<Vec<u8>> {
        let (package, base) = class.rsplit_once('/').unwrap_or(("", class));
        let module = self.modules.get(package)?;
        let name = format!("/{module}/{class}.class");
        let length = self.slots as u32;
        let redirect = self.word(HEAD + 4 * (hash(&name, HASH) % length) as usize)? as i32;
        // How the hash table avoids collisions.
        let slot = match redirect {
            0 => return None,
            1.. => hash(&name, redirect as u32) % length,
            ..0 => (-1 - redirect) as u32,
        };
        let found = self.attributes(slot as usize)?;
        let texts = [found.module, found.parent, found.base, found.extension];
        let texts = texts.map(|text| self.text(text));
        let is_it = texts == [module, package, base, "class"].map(Some);
        is_it.then(|| self.content(found))?
    }

    /// Calls `see` with the module, the package and the name of each class.
    fn each(&self, see: &mut dyn FnMut(&str, &str, &str)) -> Result<(), Error> {
        for slot in 0..self.slots {
            let one = || {
                let found = self.attributes(slot)?;
                let texts = [found.module, found.parent, found.base, found.extension];
                let [module, parent, base, extension] = texts.map(|text| self.text(text));
                Some((module?, parent?, base?, extension?))
            };
            match one() {
                Some((module, package, class, "class")) => see(module, package, class),
                Some(_) => {}
                None => return Err(Error::about(&self.path)("the image is damaged")),
            }
        }
        Ok(())
    }

    fn word(&self, at: usize) -> Option<u32> {
        word(&self.tables, at, self.is_little)
    }

    /// The attributes in a slot of the hash table. Each is a byte with its kind and its length, and the
    /// bytes of its value.
    fn attributes(&self, slot: usize) -> Option<Attributes> {
        let at = self.word(HEAD + 4 * (self.slots + slot))? as usize;
        let table = self.tables.get(self.attributes..self.strings)?;
        let mut bytes = table.get(at..)?;
        let mut found = Attributes::default();
        loop {
            let (&first, rest) = bytes.split_first()?;
            if first >> 3 == 0 {
                return Some(found);
            }
            let (value, rest) = rest.split_at_checked(usize::from(first & 7) + 1)?;
            let number = value.iter().fold(0, |n, &byte| n << 8 | u64::from(byte));
            match first >> 3 {
                1 => found.module = number,
                2 => found.parent = number,
                3 => found.base = number,
                4 => found.extension = number,
                5 => found.offset = number,
                6 => found.compressed = number,
                7 => found.uncompressed = number,
                // Version 1.1 (JDK 28) has the flags of preview resources, which are classes under another package here.
                _ => {}
            }
            bytes = rest;
        }
    }

    /// The text at an offset of the table of strings, where its last byte is 0.
    fn text(&self, at: u64) -> Option<&str> {
        let texts = self.tables.get(self.strings..)?;
        let text = texts.get(usize::try_from(at).ok()?..)?;
        let end = text.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&text[..end]).ok()
    }

    /// The bytes of a resource.
    fn content(&self, found: Attributes) -> Option<Vec<u8>> {
        let size = match found.compressed {
            0 => found.uncompressed,
            size => size,
        };
        let at = (self.tables.len() as u64).checked_add(found.offset)?;
        let end = self.file.metadata().ok()?.len();
        if size > LARGEST || at.checked_add(size)? > end {
            return None;
        }
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        // jlink's plug-ins may have compressed the resource one after the other: it has two of them.
        for _ in 0..PLUGINS {
            if found.compressed == 0 || word(&bytes, 0, self.is_little) != Some(COMPRESSED) {
                break;
            }
            bytes = self.unpacked(&bytes)?;
        }
        Some(bytes)
    }

    /// What a compressed resource holds; `None` if the plug-in is not known here.
    fn unpacked(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        // Behind the magic there are two sizes of 8 bytes.
        let plugin = self.text(word(bytes, 20, self.is_little)?.into())?;
        let packed = bytes.get(COMPRESSED_HEAD..)?;
        if plugin != "zip" {
            return None;
        }
        let mut unpacked = vec![];
        let reader = flate2::read::ZlibDecoder::new(packed);
        reader.take(LARGEST).read_to_end(&mut unpacked).ok()?;
        Some(unpacked)
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn word(bytes: &[u8], at: usize, is_little: bool) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(if is_little {
        u32::from_le_bytes(*bytes)
    } else {
        u32::from_be_bytes(*bytes)
    })
}

/// The seed of the first hash, and the multiplier.
const HASH: u32 = 0x0100_0193;

fn hash(name: &str, seed: u32) -> u32 {
    let bytes = name.bytes();
    bytes.fold(seed, |hash, byte| hash.wrapping_mul(HASH) ^ u32::from(byte)) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::JdkImage;
    use ristretto_jimage::Image;

    #[test]
    fn another_reader_finds_the_same_classes() {
        for jdk in test_support::jdks() {
            let path = jdk.join("lib/modules");
            let image = JdkImage::open(&path).unwrap();
            let mut names = image.names().unwrap();
            let other = Image::from_file(&path).unwrap();
            let mut others = vec![];
            for (at, resource) in other.iter().enumerate() {
                let resource = resource.unwrap();
                if resource.extension() != "class" {
                    continue;
                }
                let name = format!("{}/{}", resource.parent(), resource.base());
                // Several modules have a `module-info`.
                if at % 50 == 0 && !resource.parent().is_empty() {
                    let same = image.read(&name).as_deref() == Some(resource.data());
                    assert!(same, "{name}");
                }
                others.push(name);
            }
            names.sort();
            others.sort();
            assert!(names.len() > 1000 && names == others);
            assert_eq!(image.read("java/lang/No"), None);
        }
    }
}
