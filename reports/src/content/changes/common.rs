//! What all evidence of one kind has in common: the state of the threads, the code that ran, one method, one program.

use crate::model::Block;
use hotspot::runtime::method_without_address;
use oracle::record::Mismatch;
use oracle::report::Report;

/// Fewer stacks have something in common by chance.
const FEW: usize = 3;

/// What all of `mismatches` have in common and others of their layer do not; `None` if they are few, or have nothing.
pub(in crate::content) fn common<'a>(
    report: &Report,
    mismatches: impl Iterator<Item = &'a Mismatch>,
) -> Option<Block> {
    let all: Vec<&Mismatch> = mismatches.collect();
    if all.len() < FEW {
        return None;
    }
    let alike = |of: &dyn Fn(&Mismatch) -> Option<String>| {
        let first = of(all[0])?;
        let is_alike = |mismatch: &&Mismatch| of(mismatch).as_ref() == Some(&first);
        all.iter().all(is_alike).then_some(first)
    };
    let program = |mismatch: &Mismatch| Some(report.run_of(mismatch)?.title());
    let programs = report.runs.iter().map(oracle::report::Run::title);
    let mut programs: Vec<String> = programs.collect();
    programs.sort_unstable();
    programs.dedup();
    let facts = [
        alike(&|mismatch| Some(mismatch.reason.clone())),
        alike(&|mismatch| mismatch.evidence.state.clone())
            .map(|state| format!("the thread is {state}")),
        alike(&code)
            .or_else(|| alike(&kind_of_code))
            .map(|code| format!("{code} runs")),
        alike(&|mismatch| mismatch.evidence.at.clone()).map(|at| format!("asked in {at}")),
        alike(&place).map(|place| format!("the frame that differs is of {place}")),
        alike(&|mismatch| Some(mismatch.walker.first()?.method.clone()))
            .map(|top| format!("{top} is at the top")),
        alike(&|mismatch| Some(mismatch.thread.clone())).map(|name| format!("thread {name}")),
        // Where there is one program, all have it in common.
        alike(&program)
            .filter(|_| programs.len() > 1)
            .map(|name| format!("the program is {name}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    (!facts.is_empty()).then(|| {
        let n = all.len();
        Block::Note(format!("all {n} kept examples: {}", facts.join("; ")))
    })
}

/// The code that ran, without the offset.
fn code(mismatch: &Mismatch) -> Option<String> {
    let code = mismatch.evidence.code.as_ref()?;
    let at = code.split_once('+').map_or(&code[..], |(name, _)| name);
    Some(at.trim_end().to_owned())
}

/// The kind of the code that ran: `nmethod tier 4` of whatever method.
fn kind_of_code(mismatch: &Mismatch) -> Option<String> {
    let code = code(mismatch)?;
    let (name, rest) = code.split_once(' ')?;
    let tier = rest.rsplit_once(" tier ");
    match (name, tier) {
        ("nmethod", Some((_, tier))) => Some(format!("nmethod tier {tier}")),
        ("native", _) => Some("native nmethod".into()),
        _ => None,
    }
}

/// The method of the first frame that differs.
fn place(mismatch: &Mismatch) -> Option<String> {
    let method = &mismatch.first_differing()?.method;
    let name = method.split('(').next()?;
    Some(method_without_address(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn note(report: &Report) -> Option<String> {
        match common(report, report.mismatches.iter())? {
            Block::Note(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn only_what_all_have_is_said() {
        let mut report = sample::report();
        let first = report.mismatches[0].clone();
        report.mismatches = vec![first; 4];
        for (at, mismatch) in report.mismatches.iter_mut().enumerate() {
            mismatch.reason = "other method".into();
            mismatch.thread = format!("thread {at}");
            mismatch.evidence.state = Some("in the VM, leaving".into());
            mismatch.evidence.code = Some(format!("nmethod a.B.m{at} tier 4 +0x{at}"));
        }
        let said = note(&report).expect("they have something in common");
        assert!(
            said.starts_with(
                "all 4 kept examples: other method; the thread is in the VM, leaving; nmethod tier 4 runs"
            ),
            "{said}"
        );
        assert!(!said.contains("thread 0"), "{said}");
        report.mismatches[3].evidence.state = Some("in native".into());
        report.mismatches[3].evidence.code = Some("libc.so.6+0x1f, after f".into());
        let said = note(&report).expect("the reason is left");
        assert!(
            !said.contains("in the VM") && !said.contains("tier 4"),
            "{said}"
        );
        report.mismatches.truncate(2);
        assert_eq!(note(&report), None);
    }
}
