//! The operators of the JVM, from JVMS 6.5, with a row for each. No other place lists operators.
//!
//! A row is: byte, name, mnemonic, format, flow, effect on the operand stack, and `throws` if the
//! instruction itself may throw.
//!
//! - Effects in parentheses take and give values, the topmost last: `I` is `int`, `J` `long`, `F`
//!   `float`, `D` `double`, `A` a reference, `N` null. Effects in braces are an [`Effect`] each.
//! - An instruction may throw if JVMS 6.5 names a "Run-time Exception" or "Linking Exception" for
//!   it. All other instructions move values, compute without division, or jump.

use super::effect::Call::{Dynamic, Interface, Special, Static, Virtual};
use super::effect::Effect;
use super::effect::ValueKind::{
    Double as D, Float as F, Int as I, Long as J, Null as N, Reference as A,
};
use super::flow::Flow;
use super::format::Format;

/// A row of the table.
pub(super) struct Operator {
    pub(super) mnemonic: &'static str,
    pub(super) format: Format,
    pub(super) effect: Effect,
    pub(super) flow: Flow,
    pub(super) throws: bool,
}

macro_rules! operators {
    ($($byte:literal $name:ident $mnemonic:literal $format:ident $(($local:literal))? $flow:ident
       $effect:tt $($throws:ident)?;)*) => {
        /// An opcode of JVMS 6.5, named as its mnemonic without underscores.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = concat!("`", $mnemonic, "`")] $name = $byte,)*
        }

        /// All opcodes, by their bytes.
        pub(super) const ALL: [Opcode; 202] = [$(Opcode::$name),*];

        /// The rows, by the opcodes' bytes.
        pub(super) static OPERATORS: [Operator; ALL.len()] = [$(Operator {
            mnemonic: $mnemonic,
            format: Format::$format $(($local))?,
            effect: operators!(@effect $effect),
            flow: Flow::$flow,
            throws: operators!(@throws $($throws)?),
        }),*];
    };
    (@effect ($($takes:ident)* -> $($gives:ident)*)) => {
        Effect::Values { takes: &[$($takes),*], gives: &[$($gives),*] }
    };
    (@effect {$($effect:tt)*}) => { Effect::$($effect)* };
    (@throws throws) => { true };
    (@throws) => { false };
}

operators! {
      0 Nop             "nop"             Plain          Next        (->);
      1 AconstNull      "aconst_null"     Plain          Next        (-> N);
      2 IconstM1        "iconst_m1"       Plain          Next        (-> I);
      3 Iconst0         "iconst_0"        Plain          Next        (-> I);
      4 Iconst1         "iconst_1"        Plain          Next        (-> I);
      5 Iconst2         "iconst_2"        Plain          Next        (-> I);
      6 Iconst3         "iconst_3"        Plain          Next        (-> I);
      7 Iconst4         "iconst_4"        Plain          Next        (-> I);
      8 Iconst5         "iconst_5"        Plain          Next        (-> I);
      9 Lconst0         "lconst_0"        Plain          Next        (-> J);
     10 Lconst1         "lconst_1"        Plain          Next        (-> J);
     11 Fconst0         "fconst_0"        Plain          Next        (-> F);
     12 Fconst1         "fconst_1"        Plain          Next        (-> F);
     13 Fconst2         "fconst_2"        Plain          Next        (-> F);
     14 Dconst0         "dconst_0"        Plain          Next        (-> D);
     15 Dconst1         "dconst_1"        Plain          Next        (-> D);
     16 Bipush          "bipush"          Byte           Next        (-> I);
     17 Sipush          "sipush"          Short          Next        (-> I);
     18 Ldc             "ldc"             NarrowConstant Next        {Constant}          throws;
     19 LdcW            "ldc_w"           Constant       Next        {Constant}          throws;
     20 Ldc2W           "ldc2_w"          Constant       Next        {Constant}          throws;
     21 Iload           "iload"           Local          Next        {Load(I)};
     22 Lload           "lload"           Local          Next        {Load(J)};
     23 Fload           "fload"           Local          Next        {Load(F)};
     24 Dload           "dload"           Local          Next        {Load(D)};
     25 Aload           "aload"           Local          Next        {Load(A)};
     26 Iload0          "iload_0"         Implied(0)     Next        {Load(I)};
     27 Iload1          "iload_1"         Implied(1)     Next        {Load(I)};
     28 Iload2          "iload_2"         Implied(2)     Next        {Load(I)};
     29 Iload3          "iload_3"         Implied(3)     Next        {Load(I)};
     30 Lload0          "lload_0"         Implied(0)     Next        {Load(J)};
     31 Lload1          "lload_1"         Implied(1)     Next        {Load(J)};
     32 Lload2          "lload_2"         Implied(2)     Next        {Load(J)};
     33 Lload3          "lload_3"         Implied(3)     Next        {Load(J)};
     34 Fload0          "fload_0"         Implied(0)     Next        {Load(F)};
     35 Fload1          "fload_1"         Implied(1)     Next        {Load(F)};
     36 Fload2          "fload_2"         Implied(2)     Next        {Load(F)};
     37 Fload3          "fload_3"         Implied(3)     Next        {Load(F)};
     38 Dload0          "dload_0"         Implied(0)     Next        {Load(D)};
     39 Dload1          "dload_1"         Implied(1)     Next        {Load(D)};
     40 Dload2          "dload_2"         Implied(2)     Next        {Load(D)};
     41 Dload3          "dload_3"         Implied(3)     Next        {Load(D)};
     42 Aload0          "aload_0"         Implied(0)     Next        {Load(A)};
     43 Aload1          "aload_1"         Implied(1)     Next        {Load(A)};
     44 Aload2          "aload_2"         Implied(2)     Next        {Load(A)};
     45 Aload3          "aload_3"         Implied(3)     Next        {Load(A)};
     46 Iaload          "iaload"          Plain          Next        (A I -> I)          throws;
     47 Laload          "laload"          Plain          Next        (A I -> J)          throws;
     48 Faload          "faload"          Plain          Next        (A I -> F)          throws;
     49 Daload          "daload"          Plain          Next        (A I -> D)          throws;
     50 Aaload          "aaload"          Plain          Next        {Element}           throws;
     51 Baload          "baload"          Plain          Next        (A I -> I)          throws;
     52 Caload          "caload"          Plain          Next        (A I -> I)          throws;
     53 Saload          "saload"          Plain          Next        (A I -> I)          throws;
     54 Istore          "istore"          Local          Next        {Store(I)};
     55 Lstore          "lstore"          Local          Next        {Store(J)};
     56 Fstore          "fstore"          Local          Next        {Store(F)};
     57 Dstore          "dstore"          Local          Next        {Store(D)};
     58 Astore          "astore"          Local          Next        {Store(A)};
     59 Istore0         "istore_0"        Implied(0)     Next        {Store(I)};
     60 Istore1         "istore_1"        Implied(1)     Next        {Store(I)};
     61 Istore2         "istore_2"        Implied(2)     Next        {Store(I)};
     62 Istore3         "istore_3"        Implied(3)     Next        {Store(I)};
     63 Lstore0         "lstore_0"        Implied(0)     Next        {Store(J)};
     64 Lstore1         "lstore_1"        Implied(1)     Next        {Store(J)};
     65 Lstore2         "lstore_2"        Implied(2)     Next        {Store(J)};
     66 Lstore3         "lstore_3"        Implied(3)     Next        {Store(J)};
     67 Fstore0         "fstore_0"        Implied(0)     Next        {Store(F)};
     68 Fstore1         "fstore_1"        Implied(1)     Next        {Store(F)};
     69 Fstore2         "fstore_2"        Implied(2)     Next        {Store(F)};
     70 Fstore3         "fstore_3"        Implied(3)     Next        {Store(F)};
     71 Dstore0         "dstore_0"        Implied(0)     Next        {Store(D)};
     72 Dstore1         "dstore_1"        Implied(1)     Next        {Store(D)};
     73 Dstore2         "dstore_2"        Implied(2)     Next        {Store(D)};
     74 Dstore3         "dstore_3"        Implied(3)     Next        {Store(D)};
     75 Astore0         "astore_0"        Implied(0)     Next        {Store(A)};
     76 Astore1         "astore_1"        Implied(1)     Next        {Store(A)};
     77 Astore2         "astore_2"        Implied(2)     Next        {Store(A)};
     78 Astore3         "astore_3"        Implied(3)     Next        {Store(A)};
     79 Iastore         "iastore"         Plain          Next        (A I I ->)          throws;
     80 Lastore         "lastore"         Plain          Next        (A I J ->)          throws;
     81 Fastore         "fastore"         Plain          Next        (A I F ->)          throws;
     82 Dastore         "dastore"         Plain          Next        (A I D ->)          throws;
     83 Aastore         "aastore"         Plain          Next        (A I A ->)          throws;
     84 Bastore         "bastore"         Plain          Next        (A I I ->)          throws;
     85 Castore         "castore"         Plain          Next        (A I I ->)          throws;
     86 Sastore         "sastore"         Plain          Next        (A I I ->)          throws;
     87 Pop             "pop"             Plain          Next        {Drop(1)};
     88 Pop2            "pop2"            Plain          Next        {Drop(2)};
     89 Dup             "dup"             Plain          Next        {Copy(1, 0)};
     90 DupX1           "dup_x1"          Plain          Next        {Copy(1, 1)};
     91 DupX2           "dup_x2"          Plain          Next        {Copy(1, 2)};
     92 Dup2            "dup2"            Plain          Next        {Copy(2, 0)};
     93 Dup2X1          "dup2_x1"         Plain          Next        {Copy(2, 1)};
     94 Dup2X2          "dup2_x2"         Plain          Next        {Copy(2, 2)};
     95 Swap            "swap"            Plain          Next        {Swap};
     96 Iadd            "iadd"            Plain          Next        (I I -> I);
     97 Ladd            "ladd"            Plain          Next        (J J -> J);
     98 Fadd            "fadd"            Plain          Next        (F F -> F);
     99 Dadd            "dadd"            Plain          Next        (D D -> D);
    100 Isub            "isub"            Plain          Next        (I I -> I);
    101 Lsub            "lsub"            Plain          Next        (J J -> J);
    102 Fsub            "fsub"            Plain          Next        (F F -> F);
    103 Dsub            "dsub"            Plain          Next        (D D -> D);
    104 Imul            "imul"            Plain          Next        (I I -> I);
    105 Lmul            "lmul"            Plain          Next        (J J -> J);
    106 Fmul            "fmul"            Plain          Next        (F F -> F);
    107 Dmul            "dmul"            Plain          Next        (D D -> D);
    108 Idiv            "idiv"            Plain          Next        (I I -> I)          throws;
    109 Ldiv            "ldiv"            Plain          Next        (J J -> J)          throws;
    110 Fdiv            "fdiv"            Plain          Next        (F F -> F);
    111 Ddiv            "ddiv"            Plain          Next        (D D -> D);
    112 Irem            "irem"            Plain          Next        (I I -> I)          throws;
    113 Lrem            "lrem"            Plain          Next        (J J -> J)          throws;
    114 Frem            "frem"            Plain          Next        (F F -> F);
    115 Drem            "drem"            Plain          Next        (D D -> D);
    116 Ineg            "ineg"            Plain          Next        (I -> I);
    117 Lneg            "lneg"            Plain          Next        (J -> J);
    118 Fneg            "fneg"            Plain          Next        (F -> F);
    119 Dneg            "dneg"            Plain          Next        (D -> D);
    120 Ishl            "ishl"            Plain          Next        (I I -> I);
    121 Lshl            "lshl"            Plain          Next        (J I -> J);
    122 Ishr            "ishr"            Plain          Next        (I I -> I);
    123 Lshr            "lshr"            Plain          Next        (J I -> J);
    124 Iushr           "iushr"           Plain          Next        (I I -> I);
    125 Lushr           "lushr"           Plain          Next        (J I -> J);
    126 Iand            "iand"            Plain          Next        (I I -> I);
    127 Land            "land"            Plain          Next        (J J -> J);
    128 Ior             "ior"             Plain          Next        (I I -> I);
    129 Lor             "lor"             Plain          Next        (J J -> J);
    130 Ixor            "ixor"            Plain          Next        (I I -> I);
    131 Lxor            "lxor"            Plain          Next        (J J -> J);
    132 Iinc            "iinc"            Increment      Next        (->);
    133 I2l             "i2l"             Plain          Next        (I -> J);
    134 I2f             "i2f"             Plain          Next        (I -> F);
    135 I2d             "i2d"             Plain          Next        (I -> D);
    136 L2i             "l2i"             Plain          Next        (J -> I);
    137 L2f             "l2f"             Plain          Next        (J -> F);
    138 L2d             "l2d"             Plain          Next        (J -> D);
    139 F2i             "f2i"             Plain          Next        (F -> I);
    140 F2l             "f2l"             Plain          Next        (F -> J);
    141 F2d             "f2d"             Plain          Next        (F -> D);
    142 D2i             "d2i"             Plain          Next        (D -> I);
    143 D2l             "d2l"             Plain          Next        (D -> J);
    144 D2f             "d2f"             Plain          Next        (D -> F);
    145 I2b             "i2b"             Plain          Next        (I -> I);
    146 I2c             "i2c"             Plain          Next        (I -> I);
    147 I2s             "i2s"             Plain          Next        (I -> I);
    148 Lcmp            "lcmp"            Plain          Next        (J J -> I);
    149 Fcmpl           "fcmpl"           Plain          Next        (F F -> I);
    150 Fcmpg           "fcmpg"           Plain          Next        (F F -> I);
    151 Dcmpl           "dcmpl"           Plain          Next        (D D -> I);
    152 Dcmpg           "dcmpg"           Plain          Next        (D D -> I);
    153 Ifeq            "ifeq"            Branch         Conditional (I ->);
    154 Ifne            "ifne"            Branch         Conditional (I ->);
    155 Iflt            "iflt"            Branch         Conditional (I ->);
    156 Ifge            "ifge"            Branch         Conditional (I ->);
    157 Ifgt            "ifgt"            Branch         Conditional (I ->);
    158 Ifle            "ifle"            Branch         Conditional (I ->);
    159 IfIcmpeq        "if_icmpeq"       Branch         Conditional (I I ->);
    160 IfIcmpne        "if_icmpne"       Branch         Conditional (I I ->);
    161 IfIcmplt        "if_icmplt"       Branch         Conditional (I I ->);
    162 IfIcmpge        "if_icmpge"       Branch         Conditional (I I ->);
    163 IfIcmpgt        "if_icmpgt"       Branch         Conditional (I I ->);
    164 IfIcmple        "if_icmple"       Branch         Conditional (I I ->);
    165 IfAcmpeq        "if_acmpeq"       Branch         Conditional (A A ->);
    166 IfAcmpne        "if_acmpne"       Branch         Conditional (A A ->);
    167 Goto            "goto"            Branch         Jump        (->);
    168 Jsr             "jsr"             Branch         Subroutine  {Subroutine};
    169 Ret             "ret"             Local          Subroutine  {Subroutine};
    170 Tableswitch     "tableswitch"     Table          Switch      (I ->);
    171 Lookupswitch    "lookupswitch"    Lookup         Switch      (I ->);
    172 Ireturn         "ireturn"         Plain          Return      (I ->)              throws;
    173 Lreturn         "lreturn"         Plain          Return      (J ->)              throws;
    174 Freturn         "freturn"         Plain          Return      (F ->)              throws;
    175 Dreturn         "dreturn"         Plain          Return      (D ->)              throws;
    176 Areturn         "areturn"         Plain          Return      (A ->)              throws;
    177 Return          "return"          Plain          Return      (->)                throws;
    178 Getstatic       "getstatic"       Constant       Next        {GetStatic}         throws;
    179 Putstatic       "putstatic"       Constant       Next        {PutStatic}         throws;
    180 Getfield        "getfield"        Constant       Next        {GetField}          throws;
    181 Putfield        "putfield"        Constant       Next        {PutField}          throws;
    182 Invokevirtual   "invokevirtual"   Constant       Next        {Invoke(Virtual)}   throws;
    183 Invokespecial   "invokespecial"   Constant       Next        {Invoke(Special)}   throws;
    184 Invokestatic    "invokestatic"    Constant       Next        {Invoke(Static)}    throws;
    185 Invokeinterface "invokeinterface" ConstantAnd2   Next        {Invoke(Interface)} throws;
    186 Invokedynamic   "invokedynamic"   ConstantAnd2   Next        {Invoke(Dynamic)}   throws;
    187 New             "new"             Constant       Next        {New}               throws;
    188 Newarray        "newarray"        Byte           Next        {NewPrimitiveArray} throws;
    189 Anewarray       "anewarray"       Constant       Next        {NewArray}          throws;
    190 Arraylength     "arraylength"     Plain          Next        (A -> I)            throws;
    191 Athrow          "athrow"          Plain          Throw       (A ->)              throws;
    192 Checkcast       "checkcast"       Constant       Next        {Cast}              throws;
    193 Instanceof      "instanceof"      Constant       Next        (A -> I)            throws;
    194 Monitorenter    "monitorenter"    Plain          Next        (A ->)              throws;
    195 Monitorexit     "monitorexit"     Plain          Next        (A ->)              throws;
    196 Wide            "wide"            Wide           Next        {Prefix};
    197 Multianewarray  "multianewarray"  ConstantAnd1   Next        {NewNestedArray}    throws;
    198 Ifnull          "ifnull"          Branch         Conditional (A ->);
    199 Ifnonnull       "ifnonnull"       Branch         Conditional (A ->);
    200 GotoW           "goto_w"          WideBranch     Jump        (->);
    201 JsrW            "jsr_w"           WideBranch     Subroutine  {Subroutine};
}
