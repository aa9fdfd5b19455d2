//! The recognition of hooked code.

use classfile::Opcode;
use trace_entry::HookId;

/// The id of the entry hook that a method's bytecode starts with; `None` if it starts with
/// anything else. `bytecode` is the method's code array.
///
/// Other code may start with two constants and a call too. A caller who knows the method must
/// compare its name with the name of the hooked method.
pub fn hook_id_of(bytecode: &[u8]) -> Option<HookId> {
    const SIPUSH: u8 = Opcode::Sipush.byte();
    const INVOKESTATIC: u8 = Opcode::Invokestatic.byte();
    let [SIPUSH, a, b, SIPUSH, c, d, INVOKESTATIC, _, _, _] = *bytecode.first_chunk::<10>()? else {
        return None;
    };
    Some(HookId(u32::from_be_bytes([a, b, c, d])))
}
