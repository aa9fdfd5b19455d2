//! Reads and writes every class below the given folders, unedited and hooked, and prints counts and
//! times.
//!
//! `corpus [--out DIR] [--owner NAME] FOLDER…`: with `--out`, writes the hooked classes to `DIR`
//! under their relative paths.

use classfile::identity;
use classfile_testing::folder::classes;
use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = None;
    let mut owner = "java/lang/StackwitnessTrace".to_owned();
    let mut folders = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--out" => out = args.next().map(PathBuf::from),
            "--owner" => owner = args.next().ok_or("--owner needs a name")?,
            _ => folders.push(PathBuf::from(arg)),
        }
    }
    let (mut total, mut identical, mut malformed) = (0u32, 0u32, 0u32);
    let (mut hooked, mut left_count) = (0u64, 0u64);
    let (mut more_locals, mut more_stack) = (0u64, 0u64);
    let mut reasons: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let mut next = 0;
    for folder in &folders {
        for path in classes(folder) {
            let bytes = std::fs::read(&path)?;
            total += 1;
            match identity(&bytes) {
                Ok(same) if same == bytes => identical += 1,
                Ok(_) => println!("differs: {}", path.display()),
                Err(e) => println!("{}: {e}", path.display()),
            }
            let mut all = |_: &MethodInfo<'_>| {
                next += 1;
                Choice::Hook {
                    id: HookId(next),
                    check: next % 16 == 0,
                    plain: false,
                }
            };
            let hooks = HookClass {
                name: &owner,
                tokens: Tokens::WhereNeeded,
            };
            match rewrite(&bytes, hooks, &mut all) {
                Err(e) => {
                    malformed += 1;
                    println!("{}: {e}", path.display());
                }
                Ok(r) => {
                    hooked += r.hooked.len() as u64;
                    for m in &r.hooked {
                        more_locals += u64::from(m.growth.locals > 0);
                        more_stack += u64::from(m.growth.stack > 0);
                    }
                    left_count += r.left.len() as u64;
                    for m in &r.left {
                        let name = format!("{}.{}{}", r.class_name, m.name, m.descriptor);
                        reasons.entry(m.reason).or_default().push(name);
                    }
                    if let Some(out) = &out {
                        let to = out.join(path.strip_prefix(folder)?);
                        if let Some(parent) = to.parent() {
                            std::fs::create_dir_all(parent)?;
                        }
                        std::fs::write(to, r.bytes.as_deref().unwrap_or(&bytes))?;
                    }
                }
            }
        }
    }
    println!("classes: {total}, written back identical: {identical}, malformed: {malformed}");
    let share = 100.0 * hooked as f64 / (hooked + left_count).max(1) as f64;
    println!(
        "methods with code: {}, hooked: {hooked} ({share:.4} %)",
        hooked + left_count
    );
    println!("with more locals: {more_locals}, with more operand stack: {more_stack}");
    for (reason, methods) in reasons {
        println!("left, {reason}: {}", methods.len());
        for m in methods {
            println!("    {m}");
        }
    }
    Ok(())
}
