//! Where class files come from: a JDK's image, jars, folders. A class is read when a stack needs
//! the class, because a JDK has thirty thousand classes.

mod image;
mod jar;
pub mod path;

use crate::error::Error;
use classfile::Outline;
use classfile::outline::{Heading, Refers};
use image::JdkImage;
use jar::Jar;
use oracle::edge::World;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// All class files of a program and its JDK.
pub struct Classes {
    /// The feature release of the JDK, which decides between several versions of a class in a jar.
    feature: u32,
    image: Option<JdkImage>,
    jars: Vec<Jar>,
    folders: Vec<PathBuf>,
    opened: HashSet<PathBuf>,
    /// The classes that were looked for. The value says whether the classes to which they refer
    /// were looked for too.
    asked: HashMap<String, bool>,
    /// The classes of `lib/jrt-fs.jar`. A compiler that reads the image of a JDK loads them from that
    /// JDK, which may be another one than the JDK that runs the compiler, in a class loader of its own.
    /// The JDK's own classes of these names have other code, too.
    pub of_any_jdk: Vec<String>,
    /// The classes whose files have other names, as far as [`Classes::load_others`] found them.
    elsewhere: HashSet<String>,
    /// The number of class files that break a rule of the JVMS. They are left out.
    pub malformed: u64,
}

impl Classes {
    /// The classes of the JDK in `home`, which has this feature release: those of its image, or of
    /// the folder of its modules if the build has no image, and those by which compilers read the
    /// image.
    pub fn new(home: &Path, feature: u32) -> Result<Classes, Error> {
        let mut classes = Classes {
            feature,
            image: None,
            jars: vec![],
            folders: vec![],
            opened: HashSet::new(),
            asked: HashMap::new(),
            of_any_jdk: vec![],
            elsewhere: HashSet::new(),
            malformed: 0,
        };
        classes.add(&home.join("lib/jrt-fs.jar"))?;
        classes.of_any_jdk = classes.jars.iter().flat_map(Jar::names).collect();
        let path = home.join("lib/modules");
        let exploded = home.join("modules");
        if !path.exists() && exploded.is_dir() {
            let modules = fs::read_dir(&exploded).map_err(Error::about(&exploded))?;
            let modules = modules.flatten().map(|module| module.path());
            classes
                .folders
                .extend(modules.filter(|module| module.is_dir()));
            return Ok(classes);
        }
        classes.image = Some(JdkImage::open(&path)?);
        Ok(classes)
    }

    /// Adds a jar or a folder of classes, with the jars that the jar's manifest names. A path that
    /// does not exist is left out, as `java` does.
    pub fn add(&mut self, path: &Path) -> Result<(), Error> {
        let Ok(path) = path.canonicalize() else {
            return Ok(());
        };
        if !self.opened.insert(path.clone()) {
            return Ok(());
        }
        if path.is_dir() {
            self.folders.push(path);
            return Ok(());
        }
        let jar = Jar::open(&path, self.feature).map_err(Error::about(&path))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let further: Vec<PathBuf> = jar
            .class_path
            .iter()
            .map(|url| path::of_url(folder, url))
            .collect();
        self.jars.push(jar);
        further.iter().try_for_each(|path| self.add(path))
    }

    /// Reads a class and all its supertypes, unless they are missing or were read before, and gives
    /// them to the world. With `refers`, reads the classes to which the class refers as well.
    pub fn load(&mut self, world: &mut World, class: &str, refers: bool) {
        let mut open = vec![(class.to_owned(), refers)];
        while let Some((class, refers)) = open.pop() {
            let before = self.asked.get(&class).copied();
            if before == Some(true) || before == Some(refers) {
                continue;
            }
            self.asked.insert(class.clone(), refers);
            for bytes in self.read(&class) {
                let Ok(outline) = Outline::read(&bytes) else {
                    self.malformed += u64::from(before.is_none());
                    continue;
                };
                let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                let above = outline.super_name.iter().chain(&outline.interfaces);
                open.extend(above.map(|name| (text(name), false)));
                if refers {
                    open.extend(named(&outline).map(|name| (text(name), false)));
                }
                if before.is_none() {
                    world.add(&outline);
                }
            }
        }
    }

    /// Whether there is a class file of this class.
    pub fn has(&mut self, class: &str) -> bool {
        self.elsewhere.contains(class) || !self.read(class).is_empty()
    }

    /// Gives the world the supertypes of all classes that have not been read yet, and all of a class
    /// whose file has another name than the class: no frame's class was looked for there.
    pub fn load_others(&mut self, world: &mut World) -> Result<(), Error> {
        let mut names: Vec<String> = self.jars.iter().flat_map(Jar::names).collect();
        if let Some(image) = &self.image {
            names.extend(image.names()?);
        }
        for folder in &self.folders {
            path::classes(folder, "", &mut names);
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            if self.asked.contains_key(&name) {
                continue;
            }
            for bytes in self.read(&name) {
                let read = Heading::read(&bytes).and_then(|heading| {
                    if heading.name == name.as_bytes() {
                        world.add_supertypes(&heading)
                    } else {
                        world.add(&Outline::read(&bytes)?);
                        let name = String::from_utf8_lossy(heading.name);
                        self.elsewhere.insert(name.into_owned());
                    }
                    Ok(())
                });
                self.malformed += u64::from(read.is_err());
            }
        }
        Ok(())
    }

    /// All class files of a class: several jars may have the class.
    fn read(&mut self, class: &str) -> Vec<Vec<u8>> {
        let mut found = vec![];
        if let Some(image) = &self.image {
            found.extend(image.read(class));
        }
        for jar in &mut self.jars {
            found.extend(jar.read(class));
        }
        // No name of a class leads out of the folder.
        if !class.split('/').any(|part| part.is_empty() || part == "..") {
            let files = self.folders.iter();
            let files = files.map(|folder| folder.join(format!("{class}.class")));
            found.extend(files.filter_map(|file| fs::read(file).ok()));
        }
        found
    }
}

/// The classes that the code of a class refers to.
fn named<'a>(outline: &'a Outline<'a>) -> impl Iterator<Item = &'a [u8]> {
    let codes = outline
        .methods
        .iter()
        .filter_map(|method| method.code.as_ref());
    let sites = codes.flat_map(|code| &code.sites);
    sites.filter_map(|site| match site.refers {
        Refers::Virtual(m) | Refers::Special(m) | Refers::Static(m) | Refers::Interface(m) => {
            Some(m.class)
        }
        Refers::Initialises(class) => Some(class),
        Refers::Dynamic | Refers::Links => None,
    })
}
