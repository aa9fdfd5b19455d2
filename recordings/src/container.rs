//! Files that are packed, archives of files, and plain files.

use crate::error::{Error, malformed};
use crate::foreign;
use crate::format::HEAD;
use crate::formats::FORMATS;
use crate::sink::{Note, Sink};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How many containers may be nested.
const DEPTH: usize = 3;

/// Reads the stacks of a file, which may be packed by gzip or LZ4, or be a zip archive of such
/// files. For formats with events, `events` names the wanted events; empty: the events of samplers.
pub fn read(path: &Path, events: &[String], sink: &mut dyn Sink) -> Result<(), Error> {
    open(File::open(path)?, events, sink, 0)
}

fn open(mut file: File, events: &[String], sink: &mut dyn Sink, depth: usize) -> Result<(), Error> {
    let head = head(&mut &file)?;
    file.seek(SeekFrom::Start(0))?;
    if head.starts_with(b"PK\x03\x04") {
        return archive(file, events, sink, depth);
    }
    stream(&head, &mut BufReader::new(file), events, sink, depth)
}

/// The first bytes of an input.
fn head(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = vec![];
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn stream(
    head: &[u8],
    input: &mut dyn BufRead,
    events: &[String],
    sink: &mut dyn Sink,
    depth: usize,
) -> Result<(), Error> {
    let unpacked: Option<Box<dyn Read + '_>> = match head {
        [0x1f, 0x8b, ..] => Some(Box::new(flate2::bufread::MultiGzDecoder::new(input))),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(Box::new(lz4_flex::frame::FrameDecoder::new(input))),
        _ => {
            if let Some(refusal) = foreign::refusal(head) {
                return Err(refusal);
            }
            let format = FORMATS.iter().find(|format| format.fits(head));
            return format
                .ok_or(Error::UnknownFormat)?
                .read(input, events, sink);
        }
    };
    let Some(unpacked) = unpacked.filter(|_| depth < DEPTH) else {
        return Err(malformed("too many containers within each other"));
    };
    let mut unpacked = BufReader::with_capacity(HEAD, unpacked);
    let head = peek(&mut unpacked)?;
    stream(&head, &mut unpacked, events, sink, depth + 1)
}

/// The first bytes of an input. They are not consumed.
fn peek(input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
    Ok(input.fill_buf()?.to_vec())
}

/// Reads each file of an archive that has stacks.
fn archive(file: File, events: &[String], sink: &mut dyn Sink, depth: usize) -> Result<(), Error> {
    if depth >= DEPTH {
        return Err(malformed("too many archives within each other"));
    }
    let damaged = |e: zip::result::ZipError| malformed(format!("a damaged archive: {e}"));
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    let mut read = false;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(damaged)?;
        let name = entry
            .name()
            .map_or_else(|_| format!("file {i}"), |name| name.into_owned());
        if entry.is_dir() {
            continue;
        }
        // An archive within an archive must be a file, because its list of contents is at its end.
        let mut temporary = tempfile::tempfile()?;
        io::copy(&mut entry, &mut temporary)?;
        temporary.flush()?;
        temporary.seek(SeekFrom::Start(0))?;
        match open(temporary, events, sink, depth + 1) {
            Ok(()) => read = true,
            // Archives have other files besides recordings.
            Err(Error::UnknownFormat) => {}
            Err(e @ Error::Foreign { .. }) => sink.note(Note::Cut(format!("{name}: {e}"))),
            Err(e) => return Err(e),
        }
    }
    if read {
        Ok(())
    } else {
        Err(Error::UnknownFormat)
    }
}
