//! Class files in a jar, and in the jars within it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// The source of a jar: a file, or the bytes of a jar that lies in another jar.
trait Input: Read + Seek {}
impl<T: Read + Seek> Input for T {}

/// Where launchers that bring their own class loaders keep classes in a jar (Spring Boot, web
/// archives, modules in `jmod` files).
const PREFIXES: [&str; 3] = ["BOOT-INF/classes/", "WEB-INF/classes/", "classes/"];

/// The largest size of a jar within a jar, in bytes.
const LARGEST: u64 = 256 << 20;

/// A jar, with the jars within it.
pub struct Jar {
    archives: Vec<ZipArchive<Box<dyn Input>>>,
    /// The entries of each class, by the class's internal name: the archive, and the place in the
    /// archive.
    entries: HashMap<String, Vec<(usize, usize)>>,
    /// `Class-Path` of the manifest: URLs of further jars.
    pub class_path: Vec<String>,
}

impl Jar {
    /// Opens a jar. Its entries are chosen for a JDK of this feature release.
    pub fn open(path: &Path, feature: u32) -> Result<Jar, ZipError> {
        let mut jar = Jar {
            archives: vec![],
            entries: HashMap::new(),
            class_path: vec![],
        };
        let input: Box<dyn Input> = Box::new(BufReader::new(File::open(path)?));
        jar.add(ZipArchive::new(input)?, feature, true)?;
        Ok(jar)
    }

    fn add(
        &mut self,
        mut archive: ZipArchive<Box<dyn Input>>,
        feature: u32,
        outermost: bool,
    ) -> Result<(), ZipError> {
        let number = self.archives.len();
        let mut inner = vec![];
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at)?;
            let name = entry.name()?.into_owned();
            if outermost && name == "META-INF/MANIFEST.MF" {
                let mut text = String::new();
                if entry.read_to_string(&mut text).is_ok() {
                    self.class_path = class_path(&text);
                }
            } else if outermost && name.ends_with(".jar") {
                let mut bytes = vec![];
                entry.by_ref().take(LARGEST).read_to_end(&mut bytes)?;
                inner.push(bytes);
            } else if let Some(class) = class_of(&name, feature) {
                self.entries
                    .entry(class.into())
                    .or_default()
                    .push((number, at));
            }
        }
        self.archives.push(archive);
        for bytes in inner {
            let input: Box<dyn Input> = Box::new(Cursor::new(bytes));
            // An entry that is named like a jar but is no jar holds no classes.
            if let Ok(archive) = ZipArchive::new(input) {
                self.add(archive, feature, false)?;
            }
        }
        Ok(())
    }

    /// The internal names of all classes.
    pub fn names(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    /// All class files of a class.
    pub fn read(&mut self, class: &str) -> Vec<Vec<u8>> {
        let entries = self.entries.get(class).cloned().unwrap_or_default();
        let read = entries.into_iter().filter_map(|(archive, at)| {
            let mut bytes = vec![];
            let mut entry = self.archives[archive].by_index(at).ok()?;
            entry.read_to_end(&mut bytes).ok()?;
            Some(bytes)
        });
        read.collect()
    }
}

/// The class of the class file with this entry name, if a JDK of this feature release may load the
/// entry (JAR file specification, "Multi-release JAR files").
fn class_of(name: &str, feature: u32) -> Option<&str> {
    let class = name.strip_suffix(".class")?;
    let class = PREFIXES
        .iter()
        .find_map(|prefix| class.strip_prefix(prefix))
        .unwrap_or(class);
    let Some(versioned) = class.strip_prefix("META-INF/versions/") else {
        return Some(class);
    };
    let (version, class) = versioned.split_once('/')?;
    (version.parse::<u32>().ok()? <= feature).then_some(class)
}

/// `Class-Path` of a manifest. A line that begins with a space continues the line before.
fn class_path(manifest: &str) -> Vec<String> {
    let text = manifest.replace("\r\n", "\n").replace("\n ", "");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Class-Path:"));
    line.into_iter()
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_become_classes() {
        assert_eq!(class_of("a/B.class", 17), Some("a/B"));
        assert_eq!(class_of("BOOT-INF/classes/a/B.class", 17), Some("a/B"));
        assert_eq!(class_of("META-INF/versions/11/a/B.class", 17), Some("a/B"));
        assert_eq!(class_of("META-INF/versions/21/a/B.class", 17), None);
        assert_eq!(class_of("a/B.txt", 17), None);
    }

    #[test]
    fn a_manifest_names_further_jars() {
        let manifest = "Manifest-Version: 1.0\r\nClass-Path: lib/a.jar lib\r\n /b.jar\r\nX: y\r\n";
        assert_eq!(class_path(manifest), ["lib/a.jar", "lib/b.jar"]);
    }
}
