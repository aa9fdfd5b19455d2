//! Completions for shells and the manual page. Both derive from the definition of the command line.

use crate::cli::Cli;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use clap::CommandFactory;
use hotspot::walkers::WALKERS;
use oracle::LAYERS;
use std::io;

/// Prints completions.
pub fn completions(shell: clap_complete::Shell) -> Result<u8, Error> {
    let mut out = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "stackwitness", &mut out);
    print(Stream::Output, &String::from_utf8_lossy(&out))?;
    Ok(exit::WITHIN)
}

/// Prints the manual page, with a section for each subcommand.
pub fn man() -> Result<u8, Error> {
    print(Stream::Output, &String::from_utf8_lossy(&page()?))?;
    Ok(exit::WITHIN)
}

fn page() -> io::Result<Vec<u8>> {
    let mut out = vec![];
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut out)?;
    for sub in command.get_subcommands() {
        if sub.get_name() == "help" {
            continue;
        }
        let name = format!("stackwitness-{}", sub.get_name());
        out.extend_from_slice(format!(".SH \"{}\"\n", name.to_uppercase()).as_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        man.render_description_section(&mut out)?;
        man.render_options_section(&mut out)?;
    }
    out.extend_from_slice(tables().as_bytes());
    Ok(out)
}

/// Sections on the layers and on the walkers' error codes, from their tables.
fn tables() -> String {
    let mut out = String::from(".SH LAYERS\n");
    for layer in &LAYERS {
        out += &format!(".TP\n\\fB{}\\fR\n{}\n", layer.name, layer.compares);
    }
    out += ".SH \"ERROR CODES OF WALKERS\"\n";
    for walker in WALKERS {
        for code in walker.codes {
            let (title, code, meaning) = (walker.title, code.code, code.meaning);
            out += &format!(".TP\n\\fB{title} {code}\\fR\n{meaning}\n");
        }
    }
    out
}
