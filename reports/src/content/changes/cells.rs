//! What a cell of counts means, an example of it, and the command that shows it alone.

use crate::model::Block;
use hotspot::arch::Native;
use hotspot::causes::Cause;
use hotspot::runtime::method_without_address;
use hotspot::steps::instructions;
use hotspot::walkers::Walker;
use oracle::gate::{Cell, What};
use oracle::record::{CauseName, Mismatch};
use oracle::report::{Report, Run};
use oracle::{Layer, Verdict};

/// The meaning of a cell's cause or error code.
pub(in crate::content) fn meaning(cell: &Cell) -> Option<Block> {
    let what = &cell.what;
    if let What::Error(code) | What::Refused(code) = what {
        let meaning = Walker::of(cell.layer)?.meaning(*code);
        let refused = match what {
            What::Refused(_) => "; the walk begins with an intact frame",
            _ => "",
        };
        return Some(Block::Note(format!("error {code}: {meaning}{refused}")));
    }
    let cause = Cause::named(&CauseName::new(what.cause()?))?;
    let (name, meaning) = (cause.name, cause.meaning);
    Some(Block::Link(
        format!("cause {name}: {meaning}"),
        cause.page(),
    ))
}

/// A mismatch that the cell counts, with its stacks: short ones are read, but a stack of one frame shows little.
pub(in crate::content) fn example<'a>(report: &'a Report, cell: &'a Cell) -> Option<&'a Mismatch> {
    examples(report, cell).min_by_key(|it| it.walker.len().max(it.truth.len()).max(4))
}

/// The mismatches that the cell counts, as far as they were written down: at the cell's place, if it has one.
pub(in crate::content) fn examples<'a>(
    report: &'a Report,
    cell: &'a Cell,
) -> impl Iterator<Item = &'a Mismatch> {
    let is_counted = move |mismatch: &Mismatch| {
        let cause = || mismatch.cause.as_ref().map(CauseName::as_str);
        let is_of_cause = || cause() == cell.what.cause();
        match (&cell.what, mismatch.verdict) {
            (What::Wrong(_), Verdict::Wrong) | (What::Truncated(_), Verdict::Truncated) => {
                is_of_cause()
            }
            (What::Imprecise, Verdict::Imprecise) => true,
            (What::FalseAt(kind), Verdict::Wrong | Verdict::Truncated) => is_at(mismatch, kind),
            _ => false,
        }
    };
    let is_of = move |mismatch: &&Mismatch| {
        let in_program = || {
            let run = report.run_of(mismatch);
            run.is_some_and(|run| run.title() == cell.program)
        };
        mismatch.layer == cell.layer
            && is_counted(mismatch)
            && (cell.is_of_all_programs() || in_program())
            && cell
                .place
                .as_ref()
                .is_none_or(|place| place == &place_of(mismatch))
    };
    report.mismatches.iter().filter(is_of)
}

/// Whether the mismatch is at an instruction of this kind in a compiled method, or in this other code.
fn is_at(mismatch: &Mismatch, kind: &str) -> bool {
    let evidence = &mismatch.evidence;
    let code = evidence.code.as_deref().unwrap_or_default();
    let of_compiled = || {
        let bytes = &evidence.bytes.as_ref()?.0;
        (instructions::kind::<Native>(bytes)? == kind).then_some(())
    };
    code.starts_with(kind) || code.starts_with("nmethod") && of_compiled().is_some()
}

/// The place of a mismatch, as cells name places.
fn place_of(mismatch: &Mismatch) -> String {
    let method = mismatch.first_differing().map_or("", |frame| &frame.method);
    let method = method.split('(').next().unwrap_or_default();
    method_without_address(method).into_owned()
}

/// The command that runs the program of `run` alone, for a POSIX shell.
pub(in crate::content) fn command(report: &Report, run: &Run) -> String {
    let home = &report.jdk_of(run).home;
    let mut words = vec![
        "stackwitness".to_owned(),
        "run".into(),
        "--jdk".into(),
        home.clone(),
    ];
    if let Some(hooks) = run.hooks {
        words.extend(["--hooks".into(), hooks.to_string()]);
    }
    // Layers that are asked for by name only.
    let usual = Layer::usual();
    let layers = run.layers.iter().map(|counts| counts.layer);
    let mut named: Vec<Layer> = layers.collect();
    if named.iter().all(|layer| usual.contains(layer)) {
        named.clear();
    }
    for layer in named {
        words.extend(["--layer".into(), layer.to_string()]);
    }
    words.extend(["--seed".into(), run.seed.to_string(), "--".into()]);
    words.extend(run.java_args.iter().cloned());
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_example_is_of_the_place_that_is_accused() {
        let mut report = sample::report();
        let first = report.mismatches[0].clone();
        let mut other = first.clone();
        let at = other.at_frame.unwrap_or(0).min(other.walker.len() - 1);
        other.walker[at].method = "other.Place.method()V".into();
        report.mismatches.push(other);
        let cause = first
            .cause
            .as_ref()
            .map_or(String::new(), |cause| cause.as_str().into());
        let what = match first.verdict {
            Verdict::Truncated => What::Truncated(cause),
            _ => What::Wrong(cause),
        };
        let cell = |place: Option<&str>| Cell {
            place: place.map(Into::into),
            ..Cell::new(Cell::ALL_PROGRAMS, first.layer, what.clone())
        };
        let place = |place| {
            let cell = cell(place);
            example(&report, &cell).map(place_of)
        };
        assert_eq!(place(None), Some(place_of(&first)));
        assert_eq!(
            place(Some("other.Place.method")),
            Some("other.Place.method".into())
        );
        assert_eq!(place(Some("no.such.place")), None);
    }
}
