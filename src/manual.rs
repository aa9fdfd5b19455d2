//! Completions for shells and the manual page, made from the command line itself.

use crate::cli::Cli;
use clap::CommandFactory;
use std::io;

/// Prints completions.
pub fn completions(shell: clap_complete::Shell) {
    let mut out = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "stackwitness", &mut out);
    print(&out);
}

/// Prints the manual page, with a section for each subcommand.
pub fn man() {
    let mut out = vec![];
    let mut command = Cli::command();
    command.build();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(command.clone()).render(&mut out);
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let name = format!("stackwitness-{}", sub.get_name());
        out.extend_from_slice(format!(".SH \"{}\"\n", name.to_uppercase()).as_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        let _ = man.render_description_section(&mut out);
        let _ = man.render_options_section(&mut out);
    }
    print(&out);
}

/// A reader that has seen enough, as `head`, is no error.
fn print(text: &[u8]) {
    let _ = io::Write::write_all(&mut io::stdout(), text);
}
