//! Arguments.

use std::path::PathBuf;

/// The options of `rewrite`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
PATTERN is CLASS, CLASS.METHOD or CLASS.METHOD(DESCRIPTOR), CLASS with slashes (java/util/List);
`*` stands for any characters.

Rewritten classes call java/lang/StackwitnessTrace, which the agent brings along.

Exit codes: 0 done; 1 done, but a class or an entry of a jar is malformed and was copied as it
is, or a file or an entry of a jar was left out; 2 bad usage; 3 a file could not be read or written.")]
pub struct RewriteArgs {
    /// Only read each class and write it back
    #[arg(long, conflicts_with_all = ["include", "exclude", "probability"])]
    pub identity: bool,
    /// Hook only what matches a pattern [default: everything]
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Do not hook what matches a pattern
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Hook each of the chosen methods with this probability
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = probability)]
    pub probability: f64,
    /// Seed of the random choice of methods
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print no line for each hooked method
    #[arg(long, short)]
    pub quiet: bool,
    /// A class, a jar or a folder
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write the rewritten class, jar or folder
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("a probability is a number from 0 to 1".to_owned()),
    }
}
