//! The rewriting of a class: hooks for the methods that a plan chooses.

use crate::choose::{Choice, MethodInfo, Plan, is_short};
use crate::hooks::HookClass;
use crate::method::{Job, Wanted};
use crate::outcome::{HookedMethod, LeftMethod, Rewritten};
use crate::reason::Stop;
use classfile::Result;
use classfile::file::ClassFile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hooks the methods of a class that `plan` chooses. The hooks call the methods of `hooks`.
pub fn rewrite(class_file: &[u8], hooks: HookClass<'_>, plan: &mut dyn Plan) -> Result<Rewritten> {
    let class = ClassFile::parse(class_file)?;
    let mut names = Names::default();
    let class_name = String::from_utf8_lossy(class.name);
    let mut result = Rewritten {
        bytes: None,
        class_name: String::new(),
        super_name: class
            .super_name
            .map(|n| String::from_utf8_lossy(n).into_owned()),
        hooked: Vec::new(),
        left: Vec::new(),
        not_chosen: 0,
        unknown_code_attributes: 0,
    };
    let mut job = Job::new(&class, hooks);
    let mut body: Vec<u8> = Vec::new();
    // Everything before this offset is written, or belongs to the part before the methods.
    let mut copied = class.pool.end();
    for method in &class.methods {
        let Some(attribute) = method.code()? else {
            continue;
        };
        let info = MethodInfo {
            class: &class_name,
            name: &String::from_utf8_lossy(method.name),
            descriptor: &String::from_utf8_lossy(method.descriptor),
            access_flags: method.access_flags,
            code_size: attribute.info.len() as u32,
            is_short: is_short(&class, method, attribute).unwrap_or(false),
        };
        let (id, wanted) = match plan.choose(&info) {
            Choice::Leave => {
                result.not_chosen += 1;
                continue;
            }
            Choice::Hook { id, check, plain } => (id, Wanted { check, plain }),
        };
        if body.capacity() == 0 {
            body.reserve(class_file.len() + class_file.len() / 2);
        }
        let mark = body.len();
        // The bytes up to the header of the Code attribute, and the header.
        body.extend_from_slice(&class_file[copied..attribute.offset]);
        let length_at = body.len() - 4;
        let name = names.get(method.name_index, info.name);
        let descriptor = names.get(method.descriptor_index, info.descriptor);
        match job.method(method, attribute, id, wanted, &mut body) {
            Ok((map, growth)) => {
                let n = (body.len() - length_at - 4) as u32;
                body[length_at..length_at + 4].copy_from_slice(&n.to_be_bytes());
                copied = attribute.offset + attribute.info.len();
                result.hooked.push(HookedMethod {
                    id,
                    name,
                    descriptor,
                    map,
                    growth,
                });
            }
            Err(Stop::Malformed(m)) => return Err(m),
            Err(Stop::Left(reason)) => {
                body.truncate(mark);
                result.left.push(LeftMethod {
                    id,
                    name,
                    descriptor,
                    reason,
                });
            }
        }
    }
    result.unknown_code_attributes = job.unknown;
    if !result.hooked.is_empty() {
        result.bytes = Some(assemble(&class, &job, &body, &class_file[copied..]));
    }
    result.class_name = class_name.into_owned();
    Ok(result)
}

/// The class file: the constants with the new ones, then the methods up to the last hooked method,
/// then the rest.
fn assemble(class: &ClassFile<'_>, job: &Job<'_, '_, '_>, methods: &[u8], rest: &[u8]) -> Vec<u8> {
    let (file, pool_end, adds) = (class.file, class.pool.end(), &job.adds);
    let mut out = Vec::with_capacity(pool_end + adds.bytes().len() + methods.len() + rest.len());
    out.extend_from_slice(&file[..8]);
    out.extend_from_slice(&adds.count().to_be_bytes());
    out.extend_from_slice(&file[10..pool_end]);
    out.extend_from_slice(adds.bytes());
    out.extend_from_slice(methods);
    out.extend_from_slice(rest);
    out
}

/// Names as shared strings. Methods that share a name in the file share its string.
#[derive(Default)]
struct Names(BTreeMap<u16, Arc<str>>);

impl Names {
    fn get(&mut self, index: u16, text: &str) -> Arc<str> {
        self.0.entry(index).or_insert_with(|| text.into()).clone()
    }
}
