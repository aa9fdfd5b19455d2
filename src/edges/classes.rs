//! Where class files come from: a JDK's image, jars, folders.

use crate::error::Error;
use oracle::edge::World;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Adds class files to a world.
pub struct Source<'w> {
    world: &'w mut World,
    /// Which of several versions in a jar are for this JDK: those up to this feature release.
    feature: u32,
    /// Class files that break a rule of the JVMS, which are left out.
    pub malformed: u64,
}

impl<'w> Source<'w> {
    /// Class files as a JDK of this feature release sees them.
    pub fn new(world: &'w mut World, feature: u32) -> Source<'w> {
        Source {
            world,
            feature,
            malformed: 0,
        }
    }

    fn class(&mut self, bytes: &[u8]) {
        match classfile::Outline::read(bytes) {
            Ok(outline) => self.world.add(&outline),
            Err(_) => self.malformed += 1,
        }
    }

    /// Adds all classes of the JDK in `home`: its image, or the folder of its modules if it was
    /// not made into an image.
    pub fn jdk(&mut self, home: &Path) -> Result<(), Error> {
        let path = home.join("lib/modules");
        if !path.exists() && home.join("modules").is_dir() {
            return self.entry(&home.join("modules"));
        }
        let image = ristretto_jimage::Image::from_file(&path).map_err(Error::about(&path))?;
        for resource in &image {
            let resource = resource.map_err(Error::about(&path))?;
            if resource.extension() == "class" {
                self.class(resource.data());
            }
        }
        Ok(())
    }

    /// Adds all classes of a class path as `java -cp` takes it. What does not exist is left out,
    /// as `java` does.
    pub fn class_path(&mut self, path: &str) -> Result<(), Error> {
        for part in std::env::split_paths(path) {
            match part.file_name() {
                Some(name) if name == "*" => {
                    let folder = part.parent().map_or(Path::new("."), |parent| parent);
                    for jar in entries(folder)? {
                        let extension = jar.extension();
                        if extension.is_some_and(|e| e.eq_ignore_ascii_case("jar")) {
                            self.entry(&jar)?;
                        }
                    }
                }
                _ if part.exists() => self.entry(&part)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path) -> Result<(), Error> {
        if path.is_dir() {
            for entry in entries(path)? {
                let is_class = entry.extension().is_some_and(|e| e == "class");
                if is_class || entry.is_dir() {
                    self.entry(&entry)?;
                }
            }
            return Ok(());
        }
        if path.extension().is_some_and(|e| e == "class") {
            self.class(&fs::read(path).map_err(Error::about(path))?);
            return Ok(());
        }
        self.jar(path)
    }

    fn jar(&mut self, path: &Path) -> Result<(), Error> {
        let file = File::open(path).map_err(Error::about(path))?;
        let mut jar = ZipArchive::new(BufReader::new(file)).map_err(Error::about(path))?;
        let mut bytes = Vec::new();
        for i in 0..jar.len() {
            let mut entry = jar.by_index(i).map_err(Error::about(path))?;
            let name = entry.name().map_err(Error::about(path))?.into_owned();
            if !name.ends_with(".class") || !self.is_for_jdk(&name) {
                continue;
            }
            bytes.clear();
            entry.read_to_end(&mut bytes).map_err(Error::about(path))?;
            self.class(&bytes);
        }
        Ok(())
    }

    /// Whether this JDK may load the entry (JAR file specification, "Multi-release JAR files").
    fn is_for_jdk(&self, name: &str) -> bool {
        let versioned = name.strip_prefix("META-INF/versions/");
        let version = versioned.and_then(|rest| rest.split('/').next()?.parse::<u32>().ok());
        version.is_none_or(|version| version <= self.feature)
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::about(folder))?;
    let entries = entries.map(|entry| Ok(entry.map_err(Error::about(folder))?.path()));
    entries.collect()
}
