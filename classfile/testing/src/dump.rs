//! Prints methods of a class file the way `javap` does, through `classfile`.

use classfile::file::{ClassFile, Code};
use classfile::instruction::Operands;
use std::fmt::Write;

/// Every method with its code and tables.
pub fn dump(file: &[u8]) -> String {
    let class = ClassFile::parse(file).expect("a class file");
    let pool = &class.pool;
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let constant = |i: u16| match (pool.member(i), pool.class_name(i)) {
        (Some(m), _) => format!("{}.{}{}", text(m.class), text(m.name), text(m.descriptor)),
        (_, Some(c)) => text(c),
        _ => format!("#{i}"),
    };
    let mut out = String::new();
    for m in &class.methods {
        let _ = writeln!(out, "{}{}", text(m.name), text(m.descriptor));
        let Some(a) = m.code().expect("one Code attribute") else {
            continue;
        };
        let code = Code::parse(&class, a).expect("a Code attribute");
        let _ = writeln!(out, "  stack={} locals={}", code.max_stack, code.max_locals);
        for i in code.instructions() {
            let i = i.expect("an instruction");
            let _ = write!(
                out,
                "  {:5}: {}{}",
                i.bci,
                if i.wide { "wide " } else { "" },
                i.opcode.mnemonic()
            );
            let to = |by: i32| i64::from(i.bci) + i64::from(by);
            let _ = match i.operands {
                Operands::None => writeln!(out),
                Operands::Byte(b) => writeln!(out, " {}", b as i8),
                Operands::Short(s) => writeln!(out, " {}", s as i16),
                Operands::Local(n) => writeln!(out, " {n}"),
                Operands::Increment(n, by) => writeln!(out, " {n} {by}"),
                Operands::Constant(n)
                | Operands::ConstantAnd1(n, _)
                | Operands::ConstantAnd2(n, ..) => {
                    writeln!(out, " {}", constant(n))
                }
                Operands::Branch(by) => writeln!(out, " {}", to(by)),
                Operands::Table {
                    padding,
                    default,
                    low,
                    high,
                    offsets,
                } => {
                    let all: Vec<_> = offsets
                        .as_chunks::<4>()
                        .0
                        .iter()
                        .map(|b| to(i32::from_be_bytes(*b)))
                        .collect();
                    writeln!(
                        out,
                        " padding={} {low}..{high}: {all:?} default: {}",
                        padding.len(),
                        to(default)
                    )
                }
                Operands::Lookup {
                    padding,
                    default,
                    pairs,
                } => {
                    let all: Vec<_> = pairs
                        .as_chunks::<8>()
                        .0
                        .iter()
                        .map(|b| {
                            let (key, by) = b.split_at(4);
                            let int = |b: &[u8]| i32::from_be_bytes([b[0], b[1], b[2], b[3]]);
                            (int(key), to(int(by)))
                        })
                        .collect();
                    writeln!(
                        out,
                        " padding={} {all:?} default: {}",
                        padding.len(),
                        to(default)
                    )
                }
            };
        }
        for e in code.exceptions() {
            let of = if e.catch_type == 0 {
                "any".to_owned()
            } else {
                constant(e.catch_type)
            };
            let _ = writeln!(out, "  {}..{} -> {} {of}", e.start, e.end, e.handler);
        }
        for a in &code.attributes {
            let u2 = |at: usize| u16::from_be_bytes([a.info[at], a.info[at + 1]]);
            match a.name {
                b"LineNumberTable" => {
                    for k in 0..usize::from(u2(0)) {
                        let _ = writeln!(out, "  line {} at {}", u2(4 + 4 * k), u2(2 + 4 * k));
                    }
                }
                b"LocalVariableTable" => {
                    for k in 0..usize::from(u2(0)) {
                        let at = 2 + 10 * k;
                        let name = pool.utf8(u2(at + 4)).map(text).unwrap_or_default();
                        let (start, end) = (u2(at), u2(at) + u2(at + 2));
                        let _ = writeln!(out, "  variable {name} {start}..{end} in {}", u2(at + 8));
                    }
                }
                b"StackMapTable" => frames(a.info, &constant, &mut out),
                other => {
                    let _ = writeln!(out, "  {}: {:?}", text(other), a.info);
                }
            }
        }
    }
    out
}

/// Prints frames with their offsets, as they are encoded.
fn frames(info: &[u8], constant: &dyn Fn(u16) -> String, out: &mut String) {
    let mut at = 0;
    let mut byte = || {
        at += 1;
        info[at - 1]
    };
    let u2 = |byte: &mut dyn FnMut() -> u8| u16::from_be_bytes([byte(), byte()]);
    let n = u2(&mut byte);
    let mut bci = -1i32;
    for _ in 0..n {
        let kind = byte();
        let types = |n: u16, byte: &mut dyn FnMut() -> u8| -> Vec<String> {
            (0..n)
                .map(|_| match byte() {
                    0 => "top".to_owned(),
                    1 => "int".to_owned(),
                    2 => "float".to_owned(),
                    3 => "double".to_owned(),
                    4 => "long".to_owned(),
                    5 => "null".to_owned(),
                    6 => "uninitializedThis".to_owned(),
                    7 => constant(u16::from_be_bytes([byte(), byte()])),
                    _ => format!("uninitialized({})", u16::from_be_bytes([byte(), byte()])),
                })
                .collect()
        };
        let delta = match kind {
            0..=63 => u16::from(kind),
            64..=127 => u16::from(kind - 64),
            _ => u2(&mut byte),
        };
        bci += i32::from(delta) + 1;
        let what = match kind {
            0..=63 | 251 => "same".to_owned(),
            64..=127 | 247 => format!("same, stack {:?}", types(1, &mut byte)),
            248..=250 => format!("chop {}", 251 - kind),
            252..=254 => format!("append {:?}", types(u16::from(kind - 251), &mut byte)),
            _ => {
                let n = u2(&mut byte);
                let locals = types(n, &mut byte);
                let n = u2(&mut byte);
                format!("full {locals:?}, stack {:?}", types(n, &mut byte))
            }
        };
        let _ = writeln!(out, "  frame {bci}: {what}");
    }
}
