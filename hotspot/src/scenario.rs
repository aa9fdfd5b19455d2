//! The scenario `causes`, made from the rows of [`CAUSES`]: a small program for each known cause.

use crate::causes::{CAUSES, Cause, Program};

const HEAD: &str = "\
# A small program for each known cause of mismatches (docs/findings.md): what a JVM's developer
# debugs with. The report counts the mismatches by cause.
name = \"causes\"

# Each program provokes what its JVM gets wrong: this scenario shows, and does not judge.
[budget]
asgct-safepoint = 1
asgct-async = 1
asgct-gst = 1
call-edge = 1

[imprecise_budget]
asgct-async = 1

[sampling]
interval_us = 50
evidence_limit = 1000
";

/// The scenario `causes`, as a scenario file.
pub fn causes() -> String {
    let programs = CAUSES.iter().flat_map(|cause| {
        let programs = cause.programs().iter();
        programs.map(move |program| written(cause, program))
    });
    HEAD.to_owned() + &programs.collect::<String>()
}

/// The scenario `causes` with this program of `cause` alone.
pub fn of(cause: &Cause, program: &Program) -> String {
    HEAD.to_owned() + &written(cause, program)
}

/// A scenario of this name with fixtures alone, each for `seconds`. It is sampled and judged as those of `causes`.
pub fn of_fixtures(name: &str, fixtures: &[&str], seconds: f64) -> String {
    let head = HEAD.replacen("name = \"causes\"", &format!("name = {name:?}"), 1);
    let programs = fixtures.iter();
    let programs = programs.map(|fixture| text(fixture, fixture, seconds, &Program::USUAL));
    head + &programs.collect::<String>()
}

fn written(cause: &Cause, program: &Program) -> String {
    let separator = if program.variant.is_empty() { "" } else { "-" };
    let name = format!("{}{separator}{}", cause.name, program.variant);
    let seconds = f64::from(program.seconds);
    format!(
        "\n# {}{}",
        program.note,
        text(&name, program.fixture, seconds, program)
    )
}

/// The program of a fixture, with the hooks and the flags of `like`, as scenario files have it.
fn text(name: &str, fixture: &str, seconds: f64, like: &Program) -> String {
    format!(
        "
[[program]]
name = \"{name}\"
fixtures = {{ names = [\"{fixture}\"], seconds = {seconds} }}
hooks = \"{}\"
jvm_args = {:?}
",
        like.hooks, like.jvm_args
    )
}
