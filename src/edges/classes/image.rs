//! The image of a JDK's classes: `lib/modules`.

use crate::error::Error;
use ristretto_jimage::Image;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many classes are read before the file is mapped anew. The pages that were read count as memory
/// of the process as long as the file is mapped, and all classes of a JDK have more than 100 MB.
const READS: usize = 512;

/// An image.
pub struct JdkImage {
    path: PathBuf,
    image: Image,
    /// The module of each package.
    modules: HashMap<String, String>,
    reads: usize,
}

impl JdkImage {
    /// Opens an image.
    pub fn open(path: &Path) -> Result<JdkImage, Error> {
        let mut image = JdkImage {
            path: path.into(),
            image: Image::from_file(path).map_err(Error::about(path))?,
            modules: HashMap::new(),
            reads: 0,
        };
        let mut modules = HashMap::new();
        image.each(&mut |module, package, _| {
            if !modules.contains_key(package) {
                modules.insert(package.to_owned(), module.to_owned());
            }
        })?;
        image.modules = modules;
        Ok(image)
    }

    /// The internal names of all classes.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let mut names = vec![];
        self.each(&mut |_, package, class| names.push(format!("{package}/{class}")))?;
        Ok(names)
    }

    /// The class file of a class.
    pub fn read(&mut self, class: &str) -> Option<Vec<u8>> {
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let module = self.modules.get(package)?;
        self.reads += 1;
        if self.reads.is_multiple_of(READS)
            && let Ok(anew) = Image::from_file(&self.path)
        {
            self.image = anew;
        }
        let resource = self.image.get_resource(&format!("/{module}/{class}.class"));
        Some(resource.ok()?.data().to_vec())
    }

    /// Calls `see` with the module, the package and the name of each class.
    fn each(&self, see: &mut dyn FnMut(&str, &str, &str)) -> Result<(), Error> {
        for resource in &self.image {
            let resource = resource.map_err(Error::about(&self.path))?;
            if resource.extension() == "class" {
                see(resource.module(), resource.parent(), resource.base());
            }
        }
        Ok(())
    }
}
