//! The recognition of hooked code.

use classfile::Opcode;
use classfile::entry::HookId;
use classfile::instruction::Instructions;

/// The id that the first hook in a method's bytecode names; `None` if no hook in it names any.
/// `bytecode` is the method's code array. The entry hook stands at BCI 0, unless somebody has changed
/// the code since.
///
/// Other code may have two constants and a call, too: whoever knows the method compares its
/// name with that of the hooked method.
pub fn hook_id_of(bytecode: &[u8]) -> Option<HookId> {
    let starts = Instructions::new(bytecode, 0).map_while(Result::ok);
    let mut hooks = starts.map(|instruction| hook_at(&bytecode[instruction.bci as usize..]));
    hooks.find_map(|hook| hook)
}

fn hook_at(code: &[u8]) -> Option<HookId> {
    const SIPUSH: u8 = Opcode::Sipush.byte();
    const INVOKESTATIC: u8 = Opcode::Invokestatic.byte();
    let [SIPUSH, a, b, SIPUSH, c, d, INVOKESTATIC, _, _, _] = *code.first_chunk::<10>()? else {
        return None;
    };
    Some(HookId(u32::from_be_bytes([a, b, c, d])))
}
