//! Times copying, reading and writing, and hooking of every class below a folder, all in memory.
//!
//! `bench FOLDER [PASSES] [copy|identity|rewrite]`: with a last argument, only that work, for a run
//! under `valgrind --tool=callgrind`. `benches/javassist/Hook.java` measures Javassist in this way.

use classfile::identity;
use classfile_testing::folder::classes;
use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Processes a class and returns the number of bytes of the result.
type Work = fn(&[u8]) -> usize;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = args
        .first()
        .ok_or("bench FOLDER [PASSES] [copy|identity|rewrite]")?;
    let all = classes(Path::new(folder))
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    let passes = args.get(1).map_or(Ok(5), |n| n.parse())?;
    let only = args.get(2);
    let size: usize = all.iter().map(Vec::len).sum();
    println!("{} classes, {size} bytes", all.len());
    let work: [(&str, Work); 3] = [
        ("copy", |c| black_box(c.to_vec()).len()),
        ("identity", |c| {
            black_box(identity(c)).map_or(0, |v| v.len())
        }),
        ("rewrite", |c| {
            let mut next = 0;
            let mut plan = |_: &MethodInfo<'_>| {
                next += 1;
                Choice::Hook {
                    id: HookId(next),
                    check: false,
                    plain: false,
                }
            };
            let hooks = HookClass {
                name: "java/lang/StackwitnessTrace",
                tokens: Tokens::WhereNeeded,
            };
            let r = black_box(rewrite(c, hooks, &mut plan));
            r.map_or(0, |r| r.bytes.map_or(c.len(), |b| b.len()))
        }),
    ];
    for (name, work) in work {
        if only.is_some_and(|o| o != name) {
            continue;
        }
        let mut best = f64::MAX;
        let mut bytes = 0;
        for _ in 0..passes {
            let start = Instant::now();
            bytes = all.iter().map(|c| work(c)).sum();
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{name:8} {:8.1} ms, {:6.0} MB/s, {bytes} bytes",
            best * 1e3,
            size as f64 / best / 1e6
        );
    }
    Ok(())
}
