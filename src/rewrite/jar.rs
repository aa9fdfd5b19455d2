//! Jars.

use super::class::{LARGEST, Rewriter};
use super::target::Target;
use crate::error::Error;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use zip::result::ZipError;
use zip::{ZipArchive, ZipWriter};

/// A jar to read from.
pub(super) type Jar = ZipArchive<BufReader<File>>;

/// Opens a jar; `None` if the file is no jar. Bytes before the first entry, such as the script of a
/// self-starting jar, do not matter.
pub(super) fn open(path: &Path) -> Result<Option<Jar>, Error> {
    let file = File::open(path).map_err(Error::about(path))?;
    match ZipArchive::new(BufReader::new(file)) {
        Ok(archive) => Ok(Some(archive)),
        Err(ZipError::InvalidArchive(_)) if !starts_as_jar(path) => Ok(None),
        Err(e) => Err(Error::about(path)(e)),
    }
}

fn starts_as_jar(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"PK"
}

/// Rewrites the classes of a jar. Everything else stays as it is, including the compressed bytes.
pub(super) fn jar(
    rewriter: &mut Rewriter<'_>,
    mut old: Jar,
    from: &Path,
    to: &Path,
) -> Result<(), Error> {
    for name in repeated(&old, from)? {
        rewriter.leave_out(&name, "a later entry has the same name")?;
    }
    let mut target = Target::new(to, from)?;
    let mut file = target.file();
    let prefix = old.offset();
    let start = File::open(from).map_err(Error::about(from))?;
    io::copy(&mut start.take(prefix), &mut file).map_err(Error::about(to))?;

    let mut new = ZipWriter::new(BufWriter::new(file));
    let comment = new.set_raw_comment(old.comment().into());
    comment.map_err(Error::about(to))?;
    for i in 0..old.len() {
        entry(rewriter, &mut old, i, &mut new, from, to)?;
    }
    let mut file = new.finish().map_err(Error::about(to))?;
    file.flush().map_err(Error::about(to))?;
    drop(file);
    target.finish()
}

fn entry<W: Write + Seek>(
    rewriter: &mut Rewriter<'_>,
    old: &mut Jar,
    i: usize,
    new: &mut ZipWriter<W>,
    from: &Path,
    to: &Path,
) -> Result<(), Error> {
    let entry = old.by_index_raw(i).map_err(Error::about(from))?;
    let name = entry.name().map_err(Error::about(from))?.into_owned();
    if entry.is_dir() || !name.ends_with(".class") {
        let signature = name.starts_with("META-INF/") && name.ends_with(".SF");
        if signature && !rewriter.keeps_classes() {
            let what = "no longer matches the classes";
            rewriter.say(format_args!("signed    {name} {what}"))?;
        }
        rewriter.done.others += 1;
        let is_dir = entry.is_dir();
        drop(entry);
        if !is_dir && !is_whole(old, i) {
            rewriter.damaged(&name)?;
        }
        let entry = old.by_index_raw(i).map_err(Error::about(from))?;
        return new.raw_copy_file(entry).map_err(Error::about(to));
    }
    let options = entry.options();
    drop(entry);
    let mut bytes = Vec::new();
    // The size in an entry's header may be wrong.
    let entry = old.by_index(i).map_err(Error::about(from))?;
    entry
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::about(from))?;
    let rewritten = if bytes.len() as u64 > LARGEST {
        rewriter.too_large(&name).map(|()| None)?
    } else {
        rewriter.class(&name, &bytes)?
    };
    match rewritten {
        None => {
            let entry = old.by_index_raw(i).map_err(Error::about(from))?;
            new.raw_copy_file(entry).map_err(Error::about(to))
        }
        Some(bytes) => {
            new.start_file(&*name, options).map_err(Error::about(to))?;
            new.write_all(&bytes).map_err(Error::about(to))
        }
    }
}

/// Whether an entry can be unpacked, and has the checksum that its header gives. An entry whose
/// method of compression is unknown here counts as whole.
fn is_whole(jar: &mut Jar, i: usize) -> bool {
    match jar.by_index(i) {
        Ok(mut entry) => io::copy(&mut entry, &mut io::sink()).is_ok(),
        Err(ZipError::UnsupportedArchive(_)) => true,
        Err(_) => false,
    }
}

/// The first bytes of an entry in the central directory (APPNOTE.TXT 4.3.12), and the length of the
/// entry's fixed part.
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const FIXED: usize = 46;

/// The names of entries that a later entry of the same name hides. The library for jars keeps the
/// last entry only, so the directory is read here a second time.
fn repeated(jar: &Jar, path: &Path) -> Result<Vec<String>, Error> {
    let read = || -> io::Result<Vec<String>> {
        let mut file = BufReader::new(File::open(path)?);
        file.seek(SeekFrom::Start(jar.central_directory_start()))?;
        let (mut seen, mut repeated) = (BTreeSet::new(), vec![]);
        let mut header = [0; FIXED];
        while file.read_exact(&mut header).is_ok() && header.starts_with(&ENTRY) {
            let length = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
            let mut name = vec![];
            (&mut file).take(length(28)).read_to_end(&mut name)?;
            file.seek_relative((length(30) + length(32)) as i64)?;
            if !seen.insert(name.clone()) {
                repeated.push(String::from_utf8_lossy(&name).into_owned());
            }
        }
        Ok(repeated)
    };
    read().map_err(Error::about(path))
}
