//! Renders the page of a check from its two reports: `check BASE NEW`.

use oracle::gate::{Answer, Course, Limits, Turn};
use oracle::report::Report;
use reports::{content, render};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut report = || -> Report {
        let path = args.next().expect("two reports");
        let text = std::fs::read_to_string(path).expect("a report");
        serde_json::from_str(&text).expect("a report")
    };
    let [base, new] = [report(), report()];
    let mut course = Course::new(0.01);
    for (of_base, of_new) in base.runs.iter().zip(&new.runs) {
        let turn = |report, run| Turn::new(report, run).expect("one program");
        course.add(&turn(&base, of_base), &turn(&new, of_new));
    }
    let limits = Limits {
        detect: 0.01,
        minutes: 10.0,
    };
    let minutes = base
        .runs
        .iter()
        .chain(&new.runs)
        .map(|run| run.wall_s)
        .sum::<f64>()
        / 60.0;
    let answer = Answer::new(&course, &base, &new, &hotspot::claims::CLAIMS, minutes);
    let answer = answer.last(limits, &course, false);
    print!(
        "{}",
        render::checked(&content::checked(&answer, &base, &new))
    );
}
