//! The instructions of a piece of compiled code, to tell which of them no thread has visited.

use crate::arch::{Effect, Follow, Instruction};
use std::collections::BTreeSet;

/// The offsets of the instructions of `code` that can run: without padding, and without what stands behind
/// calls that do not return (`hlt`, `ud2`, `int3`). `None` if the code does not decode as one row of
/// instructions.
pub fn offsets<A: Follow>(code: &[u8]) -> Option<Vec<u32>> {
    let (mut found, mut at) = (vec![], 0);
    while at < code.len() {
        let Instruction { length, effect, .. } = A::decode(&bytes_at(code, at))?;
        if !A::is_padding(&code[at..]) && effect != Effect::Trap {
            found.push(u32::try_from(at).ok()?);
        }
        at += length;
    }
    (at == code.len()).then_some(found)
}

/// The kind of the first instruction of `code`, as reports have it; `None` if it is not known.
pub fn kind<A: Follow>(code: &[u8]) -> Option<&'static str> {
    A::kind(&bytes_at(code, 0)).ok()
}

/// The offsets of the instructions that only a branch leads to which no thread has taken: of all those that
/// are not `visited`, those that follow a branch that was, on the way that was not taken, and what follows
/// from there. Jumps by tables are not followed.
pub fn behind_branches<A: Follow>(code: &[u8], visited: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let is_new = |offset: &u32| !visited(*offset) && (*offset as usize) < code.len();
    let follow = |offset: u32| {
        let instruction = A::decode(&bytes_at(code, offset as usize))?;
        Some(successors(offset, &instruction))
    };
    let all = offsets::<A>(code).unwrap_or_default();
    let is_branch = |offset: &u32| {
        let instruction = A::decode(&bytes_at(code, *offset as usize));
        instruction.is_some_and(|found| matches!(found.effect, Effect::Branch(_)))
    };
    let branches = all
        .iter()
        .filter(|&&offset| visited(offset) && is_branch(&offset));
    let mut found = BTreeSet::new();
    let mut waiting: Vec<u32> = branches.filter_map(|&at| follow(at)).flatten().collect();
    while let Some(offset) = waiting.pop() {
        if is_new(&offset) && found.insert(offset) {
            waiting.extend(follow(offset).into_iter().flatten());
        }
    }
    found
}

/// The offsets of the instructions that should have been visited: of all those that are not `visited`, those that
/// follow an instruction that was and that does not choose a way, and what follows from there. What stands behind
/// calls that have not returned is there too.
pub fn behind_visited<A: Follow>(code: &[u8], visited: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let is_new = |offset: &u32| !visited(*offset) && (*offset as usize) < code.len();
    let follow = |offset: u32, may_choose: bool| {
        let instruction = A::decode(&bytes_at(code, offset as usize))?;
        let chooses = matches!(instruction.effect, Effect::Branch(_));
        (may_choose || !chooses).then(|| successors(offset, &instruction))
    };
    let all = offsets::<A>(code).unwrap_or_default();
    let starts = all.iter().filter(|&&offset| visited(offset));
    let mut found = BTreeSet::new();
    let mut waiting: Vec<u32> = starts
        .filter_map(|&at| follow(at, false))
        .flatten()
        .collect();
    while let Some(offset) = waiting.pop() {
        if is_new(&offset) && found.insert(offset) {
            waiting.extend(follow(offset, true).into_iter().flatten());
        }
    }
    found
}

/// Where the code goes on behind the instruction at `offset`, as far as the instruction says.
fn successors(offset: u32, instruction: &Instruction) -> Vec<u32> {
    let next = offset.wrapping_add(instruction.length as u32);
    let target = |distance: i32| next.wrapping_add_signed(distance);
    match instruction.effect {
        Effect::Jump(distance) => vec![target(distance)],
        Effect::Branch(distance) => vec![next, target(distance)],
        Effect::JumpRegister(_) | Effect::JumpMemory | Effect::Return | Effect::Trap => vec![],
        _ => vec![next],
    }
}

/// The bytes of `code` from `at` on, and zeros behind.
pub fn bytes_at(code: &[u8], at: usize) -> [u8; 16] {
    let rest = code.get(at..code.len().min(at + 16)).unwrap_or_default();
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::X86_64;

    #[test]
    fn padding_and_what_stands_behind_calls_is_left_out() {
        // push rbp; nop; call; hlt; data16 nop; nop [rax+rax]; pop rbp; ret
        let code = [
            0x55, 0x90, 0xe8, 0, 0, 0, 0, 0xf4, 0x66, 0x90, 0x0f, 0x1f, 0x44, 0, 0, 0x5d, 0xc3,
        ];
        assert_eq!(offsets::<X86_64>(&code), Some(vec![0, 2, 15, 16]));
    }

    #[test]
    fn what_follows_a_branch_that_was_not_taken_is_found() {
        // 0: test eax, eax; 2: jz 9; 4: inc ecx; 6: jmp 11; 8: nop; 9: dec ecx; 11: ret; 12: push rbp
        let code = [
            0x85, 0xc0, 0x74, 5, 0xff, 0xc1, 0xeb, 3, 0x90, 0xff, 0xc9, 0xc3, 0x55,
        ];
        let behind = |visited: &[u32]| {
            let found = behind_branches::<X86_64>(&code, |offset| visited.contains(&offset));
            found.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(behind(&[0, 2, 4, 6, 11]), [9]);
        assert_eq!(behind(&[0, 2, 9, 11]), [4, 6]);
        // No branch leads to what was lost.
        assert!(behind(&[0, 2, 4, 9]).is_empty());
    }

    #[test]
    fn what_follows_a_visited_instruction_without_a_choice_should_have_been_visited() {
        // 0: test eax, eax; 2: jz 9; 4: inc ecx; 6: jmp 11; 8: nop; 9: dec ecx; 11: ret; 12: push rbp
        let code = [
            0x85, 0xc0, 0x74, 5, 0xff, 0xc1, 0xeb, 3, 0x90, 0xff, 0xc9, 0xc3, 0x55,
        ];
        let behind = |visited: &[u32]| {
            let found = behind_visited::<X86_64>(&code, |offset| visited.contains(&offset));
            found.into_iter().collect::<Vec<_>>()
        };
        // The way behind the branch was not taken, and nothing leads to offset 12.
        assert!(behind(&[0, 2, 4, 6, 11]).is_empty());
        assert_eq!(behind(&[0, 2, 4, 9]), [6, 11]);
    }

    #[test]
    fn code_that_is_cut_has_no_offsets() {
        assert_eq!(offsets::<X86_64>(&[0x55, 0xe8, 0, 0]), None);
        assert_eq!(offsets::<X86_64>(&[]), Some(vec![]));
    }
}
