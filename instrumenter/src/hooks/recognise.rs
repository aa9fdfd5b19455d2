//! How to recognise hooked code.

use classfile::operators::{Effect, Kind};
use classfile::{Opcode, instruction};
use trace_entry::HookId;

/// The id of the entry hook that a method's bytecode starts with; `None` if it starts with
/// anything else. `bytecode` is the method's code array.
pub fn hook_id_of(bytecode: &[u8]) -> Option<HookId> {
    const SIPUSH: u8 = Opcode::Sipush.byte();
    const INVOKESTATIC: u8 = Opcode::Invokestatic.byte();
    let [SIPUSH, a, b, SIPUSH, c, d, INVOKESTATIC, _, _, _] = *bytecode.first_chunk::<10>()? else {
        return None;
    };
    let store = instruction::decode(bytecode, 9, 0).ok()?;
    let stores = store.opcode.effect() == Effect::Store(Kind::Int);
    stores.then_some(HookId(u32::from_be_bytes([a, b, c, d])))
}
