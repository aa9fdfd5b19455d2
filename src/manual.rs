//! Completions for shells and the manual pages. All derive from the definition of the command line.

use crate::cli::{Cli, ManArgs};
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use hotspot::walkers::WALKERS;
use oracle::LAYERS;
use scenarios::store::write_file;
use std::path::Path;
use std::{fs, io};

/// The name of the program.
const NAME: &str = "stackwitness";

/// Prints completions. Options for tests are no help to a user, and are left out.
pub fn completions(shell: clap_complete::Shell) -> Result<u8, Error> {
    let mut out = vec![];
    let mut command = without_hidden(&Cli::command());
    clap_complete::generate(shell, &mut command, NAME, &mut out);
    print(Stream::Output, &String::from_utf8_lossy(&out))?;
    Ok(exit::WITHIN)
}

/// The command without what its help does not show.
fn without_hidden(command: &Command) -> Command {
    let name = command.get_name().to_owned();
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let below = command.get_subcommands().map(without_hidden);
    Command::new(name)
        .about(command.get_about().cloned().unwrap_or_default())
        .args(shown.cloned())
        .subcommands(below)
}

/// Prints a manual page, or writes those of all commands into a folder.
pub fn man(args: &ManArgs) -> Result<u8, Error> {
    let whole = built();
    if let Some(dir) = &args.out {
        fs::create_dir_all(dir).map_err(Error::about::<io::Error>(dir))?;
        write(&whole, NAME, dir)?;
        return Ok(exit::WITHIN);
    }
    let mut name = NAME.to_owned();
    let mut command = &whole;
    for word in &args.command {
        let found = command.find_subcommand(word).ok_or_else(|| {
            let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
            let names: Vec<&str> = shown.map(Command::get_name).collect();
            Error::usage(format!(
                "there is no command `{word}` of {name}; known: {}",
                names.join(", ")
            ))
        })?;
        name += &format!("-{word}");
        command = found;
    }
    print(Stream::Output, &page(command, &name)?)?;
    Ok(exit::WITHIN)
}

/// The command line, with all that the parser adds.
fn built() -> Command {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    whole
}

/// Writes the page of a command and those of the commands below it.
fn write(command: &Command, name: &str, dir: &Path) -> Result<(), Error> {
    write_file(
        &dir.join(format!("{name}.1")),
        page(command, name)?.as_bytes(),
    )?;
    let mut shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown.try_for_each(|sub| write(sub, &format!("{name}-{}", sub.get_name()), dir))
}

/// The page of a command. That of the program has tables, too.
fn page(command: &Command, name: &str) -> io::Result<String> {
    let mut out = vec![];
    Man::new(command.clone()).render(&mut out)?;
    let mut page = String::from_utf8_lossy(&out).into_owned();
    if name == NAME {
        page += &tables();
    }
    Ok(page)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_that_a_page_names_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        write(&built(), NAME, dir.path()).expect("pages");
        let mut pages = 0;
        for entry in fs::read_dir(dir.path()).expect("the folder") {
            let text = fs::read_to_string(entry.expect("an entry").path()).expect("a page");
            pages += 1;
            for named in text.split_whitespace() {
                let named = named.replace('\\', "");
                if let Some(name) = named.strip_suffix("(1)") {
                    assert!(dir.path().join(format!("{name}.1")).is_file(), "{named}");
                }
            }
        }
        assert!(pages > 15, "{pages} pages");
    }

    #[test]
    fn completions_have_no_options_for_tests() {
        let command = without_hidden(&Cli::command());
        let run = command.find_subcommand("run").expect("`run`");
        let longs: Vec<&str> = run
            .get_arguments()
            .filter_map(clap::Arg::get_long)
            .collect();
        assert!(
            longs.contains(&"quick") && !longs.contains(&"hook-fault"),
            "{longs:?}"
        );
    }
}
