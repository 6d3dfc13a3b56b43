//! Help of the commands: what a command alone takes, on two screens at most. Flags that all commands share are on pages
//! of their own, which it names: `espbench help output`.

use super::common::{MeasureArgs, SiteArgs};
use clap::{Args as _, Command};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;

/// A page of flags that many commands take.
struct Page {
    /// Word behind `espbench help`.
    name: &'static str,
    about: &'static str,
    /// A command that has these flags and no other.
    flags: Command,
}

fn pages() -> [Page; 2] {
    let empty = |name: &'static str| Command::new(name).disable_help_flag(true);
    [
        Page {
            name: "output",
            about: "Flags of every command that measures: where runs are stored, and how they are shown",
            flags: MeasureArgs::augment_args(empty("output")),
        },
        Page {
            name: "device",
            about: "Flags of every command that measures a device: what it is and where. Results are compared with \
                    published ones only where these agree",
            flags: SiteArgs::augment_args(empty("device")),
        },
    ]
}

/// Prints the page of shared flags that a command line asks for; `None` where it asks for none.
pub(super) fn page(words: &[OsString]) -> Option<io::Result<()>> {
    let [_, help, name] = words else { return None };
    let page = pages().into_iter().find(|it| help == "help" && name == it.name)?;
    let usage = "espbench COMMAND [OPTIONS]";
    Some(page.flags.about(page.about).override_usage(usage).print_long_help())
}

/// Prints the help that a command line asks for: with `-h` without its examples.
///
/// # Errors
/// Stdout cannot be written.
pub(super) fn print(command: Command, words: &[OsString]) -> io::Result<()> {
    let path: Vec<&str> = words.iter().skip(1).filter_map(|it| it.to_str()).collect();
    let path = path.strip_prefix(&["help"]).unwrap_or(&path);
    of(command, path, !words.iter().any(|it| it == "-h")).print_help()
}

/// Returns the help of a subcommand, as text: `["rate", "mqtt"]`; whole, or as `-h` prints it.
#[must_use]
pub fn text(path: &[&str], whole: bool) -> String {
    of(super::command(), path, whole).render_help().to_string()
}

/// Returns the subcommand that words begin with, as its help shows it.
fn of(command: Command, path: &[&str], whole: bool) -> Command {
    let mut shown = shown(command, &pages(), whole);
    shown.build();
    path.iter().fold(shown, |mut command, word| match command.find_subcommand_mut(word) {
        Some(sub) => std::mem::take(sub),
        None => command,
    })
}

/// Hides what stands on a page, and names the page below.
fn shown(command: Command, pages: &[Page], whole: bool) -> Command {
    let mut more = String::new();
    let mut hidden = Vec::new();
    for page in pages {
        let is_shared = |arg: &&clap::Arg| {
            let same =
                |it: &clap::Arg| it.get_id() == arg.get_id() && it.get_help() == arg.get_help();
            page.flags.get_arguments().any(same)
        };
        let shared: Vec<_> = command.get_arguments().filter(is_shared).collect();
        // One flag alone is no block.
        if shared.len() < 2 {
            continue;
        }
        let names: Vec<String> =
            shared.iter().filter_map(|it| Some(format!("--{}", it.get_long()?))).collect();
        let _ = writeln!(more, "`espbench help {}` has {}.", page.name, names.join(", "));
        hidden.extend(shared.iter().map(|it| it.get_id().clone()));
    }
    let examples = command.get_after_help().map(|it| paragraphs(&it.to_string()));
    match examples {
        Some(examples) if whole => {
            more = if more.is_empty() { examples } else { format!("{more}\n{examples}") };
        }
        Some(_) => more += "More with --help.\n",
        None => {}
    }
    command
        .mut_args(|arg| if hidden.contains(arg.get_id()) { arg.hide(true) } else { arg })
        .mut_subcommands(|sub| shown(sub, pages, whole))
        .after_help(more.trim_end().to_owned())
}

/// Joins the lines of each paragraph, which the screen breaks where it ends; indented lines, and those that head them, stay.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        let is_words = |it: &str| !it.is_empty() && !it.starts_with(' ');
        let goes_on = is_words(line)
            && !line.ends_with(':')
            && lines.peek().is_some_and(|next| is_words(next) && !next.ends_with(':'));
        out.push(if goes_on { ' ' } else { '\n' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_breaks_paragraphs_and_nothing_else() {
        let text = "Of one\nparagraph.\n\nExamples:\n  first\n  second\n\nOf\nanother.";
        let wanted = "Of one paragraph.\n\nExamples:\n  first\n  second\n\nOf another.\n";
        assert_eq!(paragraphs(text), wanted);
    }

    #[test]
    fn shared_flags_are_on_the_page_that_help_names() {
        let help = text(&["echo"], true);
        assert!(
            help.contains("--binary")
                && help.contains("`espbench help output` has --store, --format,"),
            "{help}"
        );
        assert!(help.contains("`espbench help device` has --chip, --mode,"), "{help}");
        assert!(!help.contains("Format of the report on stdout"), "{help}");
        let [output, device] = pages().map(|it| it.flags.clone().render_long_help().to_string());
        assert!(
            output.contains("Format of the report on stdout") && output.contains("bencher"),
            "{output}"
        );
        assert!(device.contains("How the device is attached"), "{device}");
        // What is a command's own stays.
        assert!(text(&["lab", "show"], true).contains("--distance"));
    }
}
