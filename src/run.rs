//! `stackwitness run`.

use crate::cli::{RunArgs, Sabotage};
use crate::progress::Progress;
use oracle::outcome::Outcome;
use oracle::record;
use reports::table;
use scenarios::jdk::Jdk;
use scenarios::scenario::Scenario;
use scenarios::{Error, Session, interrupt, store};
use std::time::Duration;

/// Runs what was asked for, prints the table and tells the outcome.
pub fn run(args: RunArgs) -> Result<Outcome, Error> {
    let of_user = !args.java_args.is_empty();
    let mut scenario = if of_user {
        let deadline = Some(args.deadline)
            .filter(|&s| s > 0)
            .map(Duration::from_secs);
        Scenario::of_user(args.java_args, deadline)
    } else {
        Scenario::load(&args.scenario)?
    };
    scenario.sampling.sabotage = args
        .sabotage
        .map(|Sabotage::DropPops| record::Sabotage::DropPops);
    let jdk = Jdk::find(args.jdk.as_deref())?;
    let seed = args.seed.unwrap_or_else(scenarios::random_seed);
    interrupt::note();
    let session = Session::new(scenario, jdk, &args.out, seed)?;
    let mut progress = Progress::new(of_user);
    let report = session.run(&mut |event| progress.show(&event))?;
    drop(progress);
    let path = session.out().join(store::REPORT_FILE);
    let table = table::render(&report, &path.display().to_string());
    // What a user's program prints stays exactly its own.
    if of_user {
        eprint!("{table}")
    } else {
        print!("{table}")
    }
    Ok(report.finding().outcome)
}
