//! The opcodes that the rewriter must tell apart, and the length of every instruction (JVMS 6.5).
#![allow(missing_docs)]

pub const NOP: u8 = 0;
pub const ACONST_NULL: u8 = 1;
pub const BIPUSH: u8 = 16;
pub const SIPUSH: u8 = 17;
pub const LDC: u8 = 18;
pub const LDC_W: u8 = 19;
pub const LDC2_W: u8 = 20;
pub const ILOAD: u8 = 21;
pub const ALOAD: u8 = 25;
pub const ILOAD_0: u8 = 26;
pub const ALOAD_0: u8 = 42;
pub const ALOAD_3: u8 = 45;
pub const AALOAD: u8 = 50;
pub const ISTORE: u8 = 54;
pub const ASTORE: u8 = 58;
pub const ISTORE_0: u8 = 59;
pub const ASTORE_0: u8 = 75;
pub const ASTORE_3: u8 = 78;
pub const POP: u8 = 87;
pub const DUP: u8 = 89;
pub const SWAP: u8 = 95;
pub const IINC: u8 = 132;
pub const IFEQ: u8 = 153;
pub const IF_ACMPNE: u8 = 166;
pub const GOTO: u8 = 167;
pub const JSR: u8 = 168;
pub const RET: u8 = 169;
pub const TABLESWITCH: u8 = 170;
pub const LOOKUPSWITCH: u8 = 171;
pub const IRETURN: u8 = 172;
pub const RETURN: u8 = 177;
pub const GETSTATIC: u8 = 178;
pub const PUTSTATIC: u8 = 179;
pub const GETFIELD: u8 = 180;
pub const PUTFIELD: u8 = 181;
pub const INVOKEVIRTUAL: u8 = 182;
pub const INVOKESPECIAL: u8 = 183;
pub const INVOKESTATIC: u8 = 184;
pub const INVOKEINTERFACE: u8 = 185;
pub const INVOKEDYNAMIC: u8 = 186;
pub const NEW: u8 = 187;
pub const NEWARRAY: u8 = 188;
pub const ANEWARRAY: u8 = 189;
pub const ARRAYLENGTH: u8 = 190;
pub const ATHROW: u8 = 191;
pub const CHECKCAST: u8 = 192;
pub const INSTANCEOF: u8 = 193;
pub const MONITORENTER: u8 = 194;
pub const MONITOREXIT: u8 = 195;
pub const WIDE: u8 = 196;
pub const MULTIANEWARRAY: u8 = 197;
pub const IFNULL: u8 = 198;
pub const IFNONNULL: u8 = 199;
pub const GOTO_W: u8 = 200;
pub const JSR_W: u8 = 201;

/// The length depends on more than the opcode: switches and `wide`.
pub(crate) const VARIABLE: u8 = 255;

/// Length in bytes of each opcode's instruction; 0 for no opcode at all.
pub(crate) static LENGTH: [u8; 256] = {
    let mut t = [0u8; 256];
    let mut op = 0usize;
    while op <= 201 {
        t[op] = match op as u8 {
            BIPUSH | LDC | NEWARRAY | RET => 2,
            ILOAD..=ALOAD | ISTORE..=ASTORE => 2,
            SIPUSH | LDC_W | LDC2_W | IINC => 3,
            IFEQ..=JSR | GETSTATIC..=INVOKESTATIC => 3,
            NEW | ANEWARRAY | CHECKCAST | INSTANCEOF | IFNULL | IFNONNULL => 3,
            MULTIANEWARRAY => 4,
            INVOKEINTERFACE | INVOKEDYNAMIC | GOTO_W | JSR_W => 5,
            TABLESWITCH | LOOKUPSWITCH | WIDE => VARIABLE,
            _ => 1,
        };
        op += 1;
    }
    t
};

/// The opcode of the opposite condition, for the conditional branches.
pub(crate) fn inverted(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        // ifeq/ifne, iflt/ifge, ifgt/ifle, if_icmpeq/ne … stand in pairs, odd first.
        _ => ((op + 1) ^ 1) - 1,
    }
}

/// The conditional branches.
pub(crate) fn is_conditional(op: u8) -> bool {
    matches!(op, IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL)
}

/// The instruction after this one is only reached by a branch.
pub(crate) fn ends_flow(op: u8) -> bool {
    matches!(
        op,
        GOTO | GOTO_W | JSR | JSR_W | RET | TABLESWITCH | LOOKUPSWITCH | IRETURN..=RETURN | ATHROW
    )
}
