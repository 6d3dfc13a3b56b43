//! Command lines and flags of pages: each is one that the command has.

use super::page::{Page, pages};
use clap::Command;
use clap::error::ErrorKind;
use std::collections::BTreeSet;

/// Flags of other programs that pages name.
const OF_OTHERS: [(&str, &[&str]); 7] = [
    ("cargo", &["features", "no-default-features"]),
    ("ci/mutants.sh", &["at-once", "re"]),
    ("docs/notebooks.py", &["ipynb"]),
    ("esp-idf-monitor", &["no-reset"]),
    (
        "iperf 2.1.8, which ours refuses",
        &[
            "bounceback-congest",
            "bounceback-reply",
            "bounceback-request",
            "bounceback-txdelay",
            "burst-period",
            "burst-size",
            "fq-rate",
            "isochronous",
            "l2checks",
            "permit-key",
            "txstart-time",
        ],
    ),
    ("packaging/publish.sh", &["dry-run", "quick"]),
    ("pytest", &["espbench-on", "espbench-update"]),
];

/// Pages of consoles of devices, whose own commands begin with `espbench`.
const OF_DEVICES: [&str; 2] = ["components/espbench/README.md", "firmware/README.md"];

/// Splits a line into words as a shell does, up to a comment, a pipe or another command.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(letter),
        }
    }
    let is_end = |it: &String| ["|", ">", "&", "#", ";", "&&"].contains(&it.as_str());
    words
        .into_iter()
        .take_while(|it| !is_end(it))
        .filter(|it| !it.is_empty() && it != "…")
        .collect()
}

/// Returns the command lines of a page: of consoles, of lists, and in sentences, with their places.
fn lines(page: &Page) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    for fence in page.fences() {
        let is_shell = ["", "sh", "console"].contains(&&*fence.info);
        for at in fence.lines.clone().filter(|_| is_shell) {
            let line = page.lines[at].trim_start_matches("$ ");
            if line.starts_with("espbench ") {
                lines.push((at, line.to_string()));
            }
        }
    }
    for (at, line) in page.sentences() {
        if let Some(text) = line.strip_prefix("    ").map(|it| it.trim_start_matches("$ ")) {
            if text.starts_with("espbench ") {
                lines.push((at, text.to_string()));
            }
            continue;
        }
        let spans = line.split('`').skip(1).step_by(2);
        lines.extend(spans.filter(|it| it.starts_with("espbench ")).map(|it| (at, it.to_string())));
    }
    // A list says behind a command what it does.
    let before = |text: String| text.split("  ").next().unwrap_or_default().to_string();
    lines.into_iter().map(|(at, text)| (at, before(text))).collect()
}

/// Returns whether a line has places for words: `FILE`.
fn is_pattern(words: &[String]) -> bool {
    let is_place = |it: &String| {
        let name = it.trim_matches(|c: char| !c.is_ascii_alphabetic());
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || "_-:".contains(c))
    };
    words.iter().any(|it| is_place(it) || it.contains('…'))
}

/// Says what is wrong with a command line, if anything is.
fn fault(line: &str) -> Option<String> {
    let words = words(line);
    if words.iter().skip(1).any(|it| it.contains(['|', '['])) {
        return None;
    }
    let error = espbench::cli::command().try_get_matches_from(&words).err()?;
    // A sentence names a flag, and leaves out its value.
    let names_a_flag = words.last().is_some_and(|it| it.starts_with('-'));
    let is_wrong = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => false,
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict => {
            true
        }
        // A sentence names a command, and leaves out what it takes.
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => false,
        _ => !names_a_flag && !is_pattern(&words),
    };
    is_wrong.then(|| error.to_string().lines().next().unwrap_or_default().to_string())
}

#[test]
fn command_lines_of_pages_are_those_of_the_command() {
    assert!(fault("espbench predict range --room open --distance 150").is_none());
    assert!(fault("espbench lab constants office-floor").is_some());
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages().into_iter().filter(|it| !OF_DEVICES.contains(&&*it.name)) {
        for (at, line) in lines(&page) {
            seen += 1;
            wrong.extend(fault(&line).map(|it| format!("{}: `{line}`: {it}", page.place(at))));
        }
    }
    assert!(seen > 300, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the flags that sentences name, with their places.
fn named(page: &Page) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    for (at, line) in page.sentences() {
        for span in line.split('`').skip(1).step_by(2).filter(|it| it.starts_with("--")) {
            let flags = span.split([' ', ',', '|', '[']).filter_map(|it| it.strip_prefix("--"));
            let ends = |it: &str| it.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let flags = flags.map(|it| it[..ends(it).unwrap_or(it.len())].to_string());
            named.extend(flags.filter(|it| !it.is_empty()).map(|it| (at, it)));
        }
    }
    named
}

/// Adds the flags of a command and those below it, with their other names.
fn flags(command: &Command, all: &mut BTreeSet<String>) {
    for arg in command.get_arguments() {
        all.extend(arg.get_long().map(String::from));
        all.extend(arg.get_all_aliases().into_iter().flatten().map(String::from));
    }
    command.get_subcommands().for_each(|it| flags(it, all));
}

#[test]
fn flags_of_pages_are_flags_of_commands() {
    let mut known: BTreeSet<String> = ["help", "version"].map(String::from).into();
    flags(&espbench::cli::command(), &mut known);
    known.extend(OF_OTHERS.iter().flat_map(|(_, flags)| *flags).map(ToString::to_string));
    let mut wrong = Vec::new();
    for page in pages().iter().filter(|it| super::is_carried_out(it)) {
        let unknown = named(page).into_iter().filter(|(_, flag)| !known.contains(flag));
        wrong.extend(unknown.map(|(at, flag)| format!("{}: --{flag}", page.place(at))));
    }
    assert!(wrong.is_empty(), "no command has these: {wrong:#?}");
}
