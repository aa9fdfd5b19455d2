//! How many stacks per second the judge of call edges can judge: `cargo run --release -p hotspot
//! --example edges`. The stacks have random depths and random methods, each of which calls the
//! next. Most edges were judged before, as in a program that has run for a while.

use classfile::outline::{CodeOutline, MethodOutline, Outline, Refers, Site};
use classfile::pool::MemberRef;
use hotspot::runtime::HotSpot;
use oracle::edge::{EdgeFrame, Finding, Judge};
use oracle::trace::Location;
use std::time::Instant;

const CLASSES: usize = 2000;
const METHODS: usize = 10;
const STACKS: usize = 2000;
const ROUNDS: usize = 50;

fn main() {
    let mut random = 1u64;
    let mut below = |limit: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % limit
    };
    let classes: Vec<String> = (0..CLASSES).map(|i| format!("p{}/C{i}", i % 50)).collect();
    let methods: Vec<String> = (0..METHODS).map(|i| format!("m{i}")).collect();
    // Each method calls three others.
    let calls: Vec<Vec<[usize; 3]>> = (0..CLASSES)
        .map(|_| {
            (0..METHODS)
                .map(|_| [0; 3].map(|_| below(CLASSES * METHODS)))
                .collect()
        })
        .collect();
    let mut judge = Judge::new(&HotSpot);
    for (class, calls) in classes.iter().zip(&calls) {
        let methods = methods.iter().zip(calls).map(|(name, calls)| {
            let sites = calls.iter().enumerate().map(|(i, &to)| {
                let named = MemberRef {
                    class: classes[to / METHODS].as_bytes(),
                    name: methods[to % METHODS].as_bytes(),
                    descriptor: b"()V",
                };
                Site {
                    bci: i as u16 * 3,
                    refers: Refers::Static(named),
                }
            });
            MethodOutline {
                access_flags: 9,
                name: name.as_bytes(),
                descriptor: b"()V",
                code: Some(CodeOutline {
                    fingerprint: 0,
                    starts: [0, 3, 6, 9, 10, 11].into_iter().collect(),
                    throwing: [0, 3, 6].into_iter().collect(),
                    sites: sites.collect(),
                }),
            }
        });
        judge.world_mut().add(&Outline {
            name: class.as_bytes(),
            super_name: Some(b"java/lang/Object"),
            interfaces: vec![],
            access_flags: 1,
            methods: methods.collect(),
        });
    }
    for depth in [20, 100] {
        let stacks: Vec<Vec<EdgeFrame>> = (0..STACKS)
            .map(|_| {
                let depth = depth / 2 + below(depth);
                let mut at = below(CLASSES * METHODS);
                let mut frames: Vec<EdgeFrame> = (0..depth)
                    .map(|_| {
                        let (class, method) = (at / METHODS, at % METHODS);
                        let site = below(3);
                        at = calls[class][method][site];
                        let (class, name) = (classes[class].as_bytes(), methods[method].as_bytes());
                        EdgeFrame {
                            method: judge.world_mut().method(class, name, b"()V"),
                            location: Location(site as i32 * 3),
                        }
                    })
                    .collect();
                frames.reverse();
                frames
            })
            .collect();
        let mut found = Vec::new();
        let start = Instant::now();
        for _ in 0..ROUNDS {
            for stack in &stacks {
                judge.stack(stack, None, &mut found);
                assert!(found.iter().all(|f| matches!(f, Finding::Possible(_))));
            }
        }
        let rate = (STACKS * ROUNDS) as f64 / start.elapsed().as_secs_f64();
        println!("depth {depth} on average: {rate:.0} stacks per second");
    }
}
