//! What is smaller than a program: fewer fixtures, fewer flags, no hooks, less time.

use crate::scenario::{Program, Start};
use oracle::{Hooking, Layer};

/// The shortest time of a program, in seconds: code must be compiled before most mistakes show.
const SHORTEST: f64 = 1.0;

/// Gives programs that are one step smaller in one respect, for a mistake that may show in some layers.
pub(super) type Step = fn(&Program, &[Layer]) -> Vec<Program>;

/// The steps, one respect after another. What was needed once is not tried again in later steps.
pub(super) const STEPS: [Step; 4] = [fewer_fixtures, fewer_flags, without_hooks, shorter];

/// Halves of the fixtures.
fn fewer_fixtures(program: &Program, _: &[Layer]) -> Vec<Program> {
    let Start::Fixtures { names, seconds } = &program.start else {
        return vec![];
    };
    if names.len() < 2 {
        return vec![];
    }
    let (one, other) = names.split_at(names.len() / 2);
    let half = |names: &[String]| Program {
        start: Start::Fixtures {
            names: names.to_vec(),
            seconds: seconds / 2.0,
        },
        ..program.clone()
    };
    vec![half(one), half(other)]
}

/// No flags, or one flag less.
fn fewer_flags(program: &Program, _: &[Layer]) -> Vec<Program> {
    let flags = &program.jvm_args;
    let with = |jvm_args: Vec<String>| Program {
        jvm_args,
        ..program.clone()
    };
    let none = (flags.len() > 1).then(|| with(vec![]));
    let fewer = (0..flags.len()).map(|at| {
        let mut left = flags.clone();
        left.remove(at);
        with(left)
    });
    none.into_iter().chain(fewer).collect()
}

/// The unmodified program, if one of the layers has checks there.
pub(super) fn without_hooks(program: &Program, layers: &[Layer]) -> Vec<Program> {
    let has_checks = layers.iter().any(|layer| layer.row().program.is_for(false));
    if !program.hooks.is_on() || !has_checks {
        return vec![];
    }
    vec![Program {
        hooks: Hooking::None,
        ..program.clone()
    }]
}

/// Half of the time.
fn shorter(program: &Program, _: &[Layer]) -> Vec<Program> {
    let half = seconds(program).map(|seconds| seconds / 2.0);
    let half = half.filter(|&seconds| seconds >= SHORTEST);
    half.map(|seconds| lasting(program, seconds))
        .into_iter()
        .collect()
}

/// How long the program runs, in seconds, if the runner decides.
pub(super) fn seconds(program: &Program) -> Option<f64> {
    match program.start {
        Start::Fixtures { seconds, .. } | Start::Javac { seconds } => Some(seconds),
        Start::Java(_) | Start::Suite(_) => None,
    }
}

/// The program with another time, in seconds, if the runner decides how long it runs.
pub(super) fn lasting(program: &Program, time: f64) -> Program {
    let mut program = program.clone();
    if let Start::Fixtures { seconds, .. } | Start::Javac { seconds } = &mut program.start {
        *seconds = time;
    }
    program
}
