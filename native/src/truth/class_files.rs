//! Class files that were loaded, until the sampler reads them, and in a file for judges after the run.

use crate::locks::lock;
use oracle::record::Config;
use oracle::requests::CLASSES_FILE;
use oracle::{Layer, TruthKind};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Mutex;

/// The queue of class files. The program's threads only add to it.
#[derive(Default)]
pub struct ClassFiles {
    waiting: Mutex<Vec<Box<[u8]>>>,
    kept: Option<Mutex<BufWriter<File>>>,
}

impl ClassFiles {
    /// The class files of a run with these settings; `None` if it needs none.
    pub fn new(config: &Config) -> Option<ClassFiles> {
        let is_judged_later = |layer: &Layer| layer.is_recorded() && layer.uses(TruthKind::Classes);
        let is_kept = config.edges && config.layers.iter().any(is_judged_later);
        // Without the file the layers have no class files, and say less.
        let file = is_kept.then(|| File::create(config.run_dir.join(CLASSES_FILE)).ok());
        let kept = file.flatten().map(BufWriter::new).map(Mutex::new);
        config.edges.then(|| ClassFiles {
            kept,
            ..ClassFiles::default()
        })
    }

    /// The VM is about to load this class.
    pub fn loaded(&self, class_file: &[u8]) {
        if let Some(kept) = &self.kept {
            // A file that ends within a class file is read up to there.
            _ = keep(&mut *lock(kept), class_file);
        }
        let class_file = class_file.into();
        self.waiting(|waiting| waiting.push(class_file));
    }

    /// The class files that were loaded since the last call.
    pub fn take(&self) -> Vec<Box<[u8]>> {
        self.waiting(std::mem::take)
    }

    /// Writes the class files so far to the disk.
    pub fn flush(&self) -> io::Result<()> {
        self.kept.as_ref().map_or(Ok(()), |kept| lock(kept).flush())
    }

    fn waiting<T>(&self, change: impl FnOnce(&mut Vec<Box<[u8]>>) -> T) -> T {
        change(&mut lock(&self.waiting))
    }
}

fn keep(file: &mut impl Write, class_file: &[u8]) -> io::Result<()> {
    let length = u32::try_from(class_file.len()).map_err(io::Error::other)?;
    file.write_all(&length.to_le_bytes())?;
    file.write_all(class_file)
}
