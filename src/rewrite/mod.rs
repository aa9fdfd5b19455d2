//! `stackwitness dev rewrite`: rewrites class files on disk as the agent rewrites classes at load.

mod args;
mod class;
mod folder;
mod jar;
mod summary;
mod target;

use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
pub use args::RewriteArgs;

use class::Rewriter;
use folder::Folders;
use instrumenter::Patterns;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use summary::Summary;

/// Rewrites the input that the arguments name, and returns the exit code.
pub fn command(args: &RewriteArgs) -> Result<u8, Error> {
    let summary = rewrite(args)?;
    print(Stream::Error, &format!("{summary}\n"))?;
    Ok(if summary.is_complete() {
        exit::WITHIN
    } else {
        exit::OVER
    })
}

fn rewrite(args: &RewriteArgs) -> Result<Summary, Error> {
    let (from, to) = (&args.input, &args.output);
    let is_folder = fs::metadata(from)
        .map_err(|e| {
            let from = from.display();
            Error::usage(format!("{from}: {e}; give a class, a jar or a folder"))
        })?
        .is_dir();
    if overlap(from, to, is_folder) {
        let (from, to) = (from.display(), to.display());
        return Err(Error::usage(format!("{to} would be written over {from}")));
    }
    let mut rewriter = Rewriter::new(args, patterns(args));
    if is_folder {
        Folders::default().folder(&mut rewriter, from, to)?;
        return Ok(rewriter.done);
    }
    let mut start = [0; 4];
    let n = File::open(from)
        .and_then(|mut f| f.read(&mut start))
        .map_err(Error::about(from))?;
    if start[..n] == CLASS {
        folder::class_file(&mut rewriter, from, to)?;
    } else if let Some(archive) = jar::open(from)? {
        jar::jar(&mut rewriter, archive, from, to)?;
    } else {
        let what = "neither a class nor a jar nor a folder";
        return Err(Error::usage(format!("{}: {what}", from.display())));
    }
    Ok(rewriter.done)
}

/// The first bytes of a class file.
const CLASS: [u8; 4] = [0xCA, 0xFE, 0xBA, 0xBE];

fn patterns(args: &RewriteArgs) -> Patterns {
    let all = Patterns::all().probability(args.probability, args.seed);
    let included = args.include.iter().fold(all, |all, p| all.include(p));
    args.exclude.iter().fold(included, |all, p| all.exclude(p))
}

/// Whether the output would overwrite the input.
fn overlap(from: &Path, to: &Path, is_folder: bool) -> bool {
    let inside = |inner: &Path| match (fs::canonicalize(inner), fs::canonicalize(from)) {
        (Ok(inner), Ok(outer)) => inner.starts_with(outer),
        _ => false,
    };
    match (to.exists(), is_folder) {
        (true, _) => inside(to),
        // A path that does not exist yet is judged by its parent folder.
        (false, true) => inside(
            to.parent()
                .filter(|p| *p != Path::new(""))
                .unwrap_or(Path::new(".")),
        ),
        (false, false) => false,
    }
}
