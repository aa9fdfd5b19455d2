//! Mistakes in arguments for which there is a better answer than that of the parser.

use crate::error::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Options of `java` with which people begin.
const OF_JAVA: [&str; 6] = [
    "-jar",
    "-cp",
    "-classpath",
    "--class-path",
    "-m",
    "-version",
];

/// The answer to a mistake in `arguments`, if there is a better one than that of the parser.
pub fn tip(mistake: &clap::Error, arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let (command, rest) = words.split_first()?;
    let is_word = |word: &&String| !word.starts_with('-');
    // The parser takes the number of `--minutes -1` for an option.
    let of_ours = words.iter().take_while(|word| *word != "--");
    let of_ours: Vec<&String> = of_ours.collect();
    let is_negative = |pair: &&[&String]| {
        pair[0].starts_with("--") && pair[1].starts_with('-') && pair[1].parse::<f64>().is_ok()
    };
    if mistake.kind() == ErrorKind::UnknownArgument
        && let Some([option, number]) = of_ours.windows(2).find(is_negative)
    {
        return Some(format!(
            "give `{option}` a number of 0 or more, not {number}"
        ));
    }
    if command == "gate"
        && mistake.kind() == ErrorKind::UnknownArgument
        && let [base, new] = rest.iter().filter(is_word).collect::<Vec<_>>()[..]
        && rest.len() == 2
    {
        return Some(format!(
            "`gate` judges one report; this compares two: stackwitness compare {base} {new}"
        ));
    }
    let is_a_word = matches!(mistake.get(ContextKind::InvalidArg), Some(ContextValue::String(of)) if !of.starts_with('-'));
    if command == "check" && mistake.kind() == ErrorKind::UnknownArgument && is_a_word {
        return Some("give `check` two builds: stackwitness check --base BASE_JDK NEW_JDK".into());
    }
    let is_unknown = matches!(
        mistake.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    );
    // `stackwitness -jar my.jar`, as one types `java -jar my.jar`.
    let (command, words) = match command.as_str() {
        "run" | "profile" => (command.as_str(), rest),
        _ if is_of_java(command) => ("run", &words[..]),
        _ => return None,
    };
    if !is_unknown || words.iter().any(|word| word == "--") {
        return None;
    }
    let at = words.iter().position(|word| is_of_java(word))?;
    let (ours, java) = words.split_at(at);
    // `my.jar` alone stands for `-jar my.jar`.
    let jar = if java[0].ends_with(".jar") {
        "-jar "
    } else {
        ""
    };
    let ours: String = ours.iter().map(|word| format!(" {word}")).collect();
    let java = java.join(" ");
    Some(format!(
        "the arguments of `java` stand behind `--`: stackwitness {command}{ours} -- {jar}{java}"
    ))
}

/// What is wrong with the arguments for `java`, if they begin with something that no class is named as.
pub fn of_program(java_args: &[String]) -> Result<(), Error> {
    let Some(first) = java_args.first() else {
        return Ok(());
    };
    let is_jar = first.ends_with(".jar") && Path::new(first).is_file();
    let is_java = java_args.len() > 1 && Path::new(first).file_name() == Some("java".as_ref());
    if is_jar {
        let rest = java_args.join(" ");
        return Err(Error::usage(format!(
            "{first} is a jar, and `java` takes it for a class: behind `--` say `-jar {rest}`"
        )));
    }
    if is_java {
        let rest = java_args[1..].join(" ");
        return Err(Error::usage(format!(
            "behind `--` stand the arguments of `java` alone: say `-- {rest}`; --jdk names the JDK"
        )));
    }
    Ok(())
}

/// A message of the parser in the words of a user: with the name that all messages have, without the tip that makes a
/// mistyped option an argument of `java`.
pub fn plain(message: &str) -> String {
    let lines = message.split_inclusive('\n');
    let lines = lines.filter(|line| !line.contains("as a value, use '"));
    let text: String = lines.collect();
    text.replacen("error:", "stackwitness:", 1)
        .replace("invalid digit found in string", "not a whole number")
        .replace("invalid float literal", "not a number")
}

fn is_of_java(word: &str) -> bool {
    OF_JAVA.contains(&word)
        || word.starts_with("-X")
        || word.starts_with("-D")
        || word.ends_with(".jar") && !word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn told(line: &str) -> Option<String> {
        let words = || line.split(' ').map(OsString::from);
        let mistake = Cli::try_parse_from(words()).expect_err("it is a mistake");
        tip(&mistake, words().skip(1))
    }

    #[test]
    fn arguments_of_java_have_their_place() {
        let told = |line| told(line).unwrap_or_default();
        assert!(
            told("stackwitness run -jar a.jar x").ends_with("stackwitness run -- -jar a.jar x")
        );
        assert!(told("stackwitness run a.jar").ends_with("stackwitness run -- -jar a.jar"));
        assert!(told("stackwitness a.jar").ends_with("stackwitness run -- -jar a.jar"));
        assert!(told("stackwitness -cp a B").ends_with("stackwitness run -- -cp a B"));
        assert!(told("stackwitness profile a.jar").ends_with("stackwitness profile -- -jar a.jar"));
        let with_option = told("stackwitness run --hooks light -Xmx1g A");
        assert!(
            with_option.ends_with("stackwitness run --hooks light -- -Xmx1g A"),
            "{with_option}"
        );
    }

    #[test]
    fn who_gives_two_reports_wants_to_compare_them() {
        let told = told("stackwitness gate old new").unwrap_or_default();
        assert!(told.ends_with("stackwitness compare old new"), "{told}");
    }

    #[test]
    fn numbers_below_0_and_a_third_build_are_named() {
        let of_number = told("stackwitness check --base a b --minutes -1").unwrap_or_default();
        assert!(
            of_number.starts_with("give `--minutes` a number"),
            "{of_number}"
        );
        assert_eq!(told("stackwitness run --nope -- -1"), None);
        let third = told("stackwitness check --base a b c").unwrap_or_default();
        assert!(third.ends_with("check --base BASE_JDK NEW_JDK"), "{third}");
        assert_eq!(told("stackwitness check --base a b --nope"), None);
    }

    #[test]
    fn a_program_begins_with_no_jar_and_no_java() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let fails = |line| of_program(&words(line)).is_err();
        assert!(fails("/usr/bin/java -jar a.jar") && fails("java A"));
        assert!(!fails("java"), "a class may have this name");
        assert!(!fails("no.such.jar x") && !fails("-cp a B"));
        assert!(of_program(&[]).is_ok());
    }

    #[test]
    fn messages_of_the_parser_are_plain() {
        let told = plain("error: a\n\n  tip: to pass '--b' as a value, use '-- --b'\n");
        assert_eq!(told, "stackwitness: a\n\n");
    }

    #[test]
    fn other_mistakes_are_the_parsers() {
        assert_eq!(told("stackwitness run --no-such-option"), None);
        assert_eq!(told("stackwitness walk -jar a.jar"), None);
    }
}
