//! The map of a piece of generated code: its instructions, and what the walker answered at each.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use oracle::record::{VisitedCode, Worst};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What the marks before the instructions mean.
pub const LEGEND: &str = "\
! false or cut   E error   ~ imprecise   f flagged   ? not judged   (blank) true
Not visited: | behind a branch that was not taken   x missed   . an entry, handler or stub that was not used
";

/// The code with its instructions, one a line: mark, offset and instruction. `None` if `code` has no bytes.
pub fn listing(code: &VisitedCode) -> Option<String> {
    let bytes = bytes(&code.code).filter(|bytes| !bytes.is_empty())?;
    let visited: BTreeMap<u32, Worst> = code.visited.iter().copied().collect();
    let set = |of: &Option<Vec<u32>>| -> BTreeSet<u32> { of.iter().flatten().copied().collect() };
    let (behind_branches, missed) = (set(&code.behind_branches), set(&code.behind_visited));
    let mark = |offset: u32| match visited.get(&offset) {
        Some(&worst) => mark(worst),
        None if behind_branches.contains(&offset) => '|',
        None if missed.contains(&offset) => 'x',
        None => '.',
    };
    let mut text = title(code);
    let mut decoder = Decoder::with_ip(64, &bytes, code.start as u64, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let (mut instruction, mut shown) = (Instruction::default(), String::new());
    while decoder.can_decode() {
        let offset = decoder.position() as u32;
        if code.stubs == Some(offset) {
            text += "  stubs:\n";
        }
        decoder.decode_out(&mut instruction);
        shown.clear();
        formatter.format(&instruction, &mut shown);
        let _ = writeln!(text, "{} {offset:>6x}  {shown}", mark(offset));
    }
    Some(text)
}

/// Whether the walker was wrong at one instruction of `code` at least.
pub fn has_false_answers(code: &VisitedCode) -> bool {
    let mut visited = code.visited.iter();
    visited.any(|(_, worst)| matches!(worst, Worst::Wrong | Worst::Truncated))
}

fn title(code: &VisitedCode) -> String {
    let mut text = code.name.clone();
    if let Some(tier) = code.tier {
        let _ = write!(text, " tier {tier}");
    }
    if let Some(method) = &code.method {
        let _ = write!(text, " {method}");
    }
    let is_false = |worst: &Worst| matches!(worst, Worst::Wrong | Worst::Truncated);
    let lies = code
        .visited
        .iter()
        .filter(|(_, worst)| is_false(worst))
        .count();
    let _ = write!(
        text,
        ": {} instructions visited, {lies} with false answers",
        code.visited.len()
    );
    if code.has_ended {
        text += ", run to its end";
    }
    text + "\n"
}

fn mark(worst: Worst) -> char {
    match worst {
        Worst::Wrong | Worst::Truncated => '!',
        Worst::Error => 'E',
        Worst::Imprecise => '~',
        Worst::Flagged => 'f',
        Worst::Unverifiable => '?',
        Worst::Match => ' ',
    }
}

/// The bytes that hexadecimal digits stand for.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_has_its_mark() {
        // push rbp; test eax, eax; jz 7; inc ecx; pop rbp; ret; nop
        let code = VisitedCode {
            name: "nmethod".into(),
            method: Some("a.B.c".into()),
            tier: Some(4),
            start: 0x1000,
            stubs: Some(9),
            code: "5585c07402ffc15dc390".into(),
            visited: vec![
                (0, Worst::Match),
                (1, Worst::Imprecise),
                (3, Worst::Unverifiable),
                (7, Worst::Wrong),
            ],
            missed: Some(vec![5, 8]),
            behind_branches: Some(vec![5]),
            behind_visited: Some(vec![8]),
            has_ended: true,
        };
        let expected = "\
nmethod tier 4 a.B.c: 4 instructions visited, 1 with false answers, run to its end
       0  push rbp
~      1  test eax,eax
?      3  je short 0000000000001007h
|      5  inc ecx
!      7  pop rbp
x      8  ret
  stubs:
.      9  nop
";
        assert_eq!(listing(&code).as_deref(), Some(expected));
        assert!(has_false_answers(&code));
        assert_eq!(listing(&VisitedCode::default()), None);
    }
}
