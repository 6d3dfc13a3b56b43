//! Errors of all modules as the user is told of them, and those of the command line.

use crate::embed;
use crate::store::StoreError;
use crate::target::TargetError;
use crate::user_error::{UserError, one_line};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// Returns any error of the command in three parts: its contexts stand before what failed, its causes
/// behind why.
#[must_use]
pub fn error(error: &anyhow::Error) -> UserError {
    let mut before: Vec<String> = Vec::new();
    for link in error.chain() {
        let parts = link
            .downcast_ref::<UserError>()
            .cloned()
            .or_else(|| link.downcast_ref::<TargetError>().map(UserError::from))
            .or_else(|| link.downcast_ref::<StoreError>().map(UserError::from));
        if let Some(parts) = parts {
            before.push(parts.what.clone());
            return UserError { what: before.join(": "), ..parts };
        }
        before.push(link.to_string());
    }
    let causes = before.split_off(1.min(before.len()));
    UserError::new(before.concat()).because(causes.join(": "))
}

/// Parses a command line.
///
/// # Errors
/// The exit status, where it is wrong (that was said) or asked for help (that was printed).
pub fn parse<P: clap::Parser>(words: impl IntoIterator<Item = OsString>) -> Result<P, ExitCode> {
    P::try_parse_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let status = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            match error.print() {
                Ok(()) => status,
                Err(_) => ExitCode::from(2),
            }
        }
        _ if embed::is_called() => {
            of_call(&error).say();
            ExitCode::from(2)
        }
        _ => {
            of_command_line(&error).say();
            ExitCode::from(2)
        }
    })
}

/// Reads a command line for a program, which asks for no help.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read<P: clap::Parser>(
    words: impl IntoIterator<Item = OsString>,
) -> Result<P, UserError> {
    P::try_parse_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            UserError::new("--help and --version are for a terminal")
        }
        _ => of_call(&error),
    })
}

/// Returns the error of a call by a program: it has arguments (`phy_rate`) where the command line has flags (`--phy-rate RATE`).
fn of_call(error: &clap::Error) -> UserError {
    let told = of_command_line(error);
    let words = |kind| match error.get(kind) {
        Some(ContextValue::String(it)) => vec![it.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    };
    let names =
        |kind| words(kind).iter().map(|it| argument(it)).collect::<Vec<_>>().join("` and `");
    let (name, value) = (names(ContextKind::InvalidArg), words(ContextKind::InvalidValue).concat());
    let possible = words(ContextKind::ValidValue).join(", ");
    let (what, remedy) = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let remedy =
                if possible.is_empty() { String::new() } else { format!("use one of {possible}") };
            (format!("`{name}` cannot be {value:?}"), remedy)
        }
        ErrorKind::UnknownArgument => (format!("there is no argument `{name}`"), String::new()),
        ErrorKind::MissingRequiredArgument => {
            (format!("`{name}` is missing"), format!("give `{name}`"))
        }
        ErrorKind::ArgumentConflict => {
            let other = names(ContextKind::PriorArg);
            let both = if other.is_empty() || other == name { "itself" } else { &other };
            let quoted = if both == "itself" { "itself".to_owned() } else { format!("`{both}`") };
            (format!("`{name}` cannot stand beside {quoted}"), "leave one of them out".into())
        }
        _ => (told.what, String::new()),
    };
    UserError::new(what).because(told.why).remedy(remedy)
}

/// Returns the name of the argument that a flag is: `--phy-rate <RATE>` is `phy_rate`.
fn argument(flag: &str) -> String {
    let word = flag.split([' ', '=']).next().unwrap_or_default();
    word.trim_start_matches('-')
        .trim_matches(['<', '>', '.', '[', ']'])
        .replace('-', "_")
        .to_lowercase()
}

/// Returns an error of the command line: what is wrong, and what could have been meant or how the command
/// is written.
fn of_command_line(error: &clap::Error) -> UserError {
    // A value that its own parser refuses, and says what to do.
    let source = std::error::Error::source(error);
    if let Some(parts) = source.and_then(|it| it.downcast_ref::<UserError>()) {
        return parts.clone();
    }
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let what = lines.join(" ");
    let suggested = |kind| match error.get(kind)? {
        ContextValue::String(it) => Some(format!("did you mean `{it}`?")),
        ContextValue::Strings(all) => Some(format!("did you mean `{}`?", all.join("` or `"))),
        _ => None,
    };
    let hints = match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(all)) => all.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let remedy = suggested(ContextKind::SuggestedSubcommand)
        .or_else(|| suggested(ContextKind::SuggestedArg))
        .or_else(|| suggested(ContextKind::SuggestedValue))
        .or_else(|| (!hints.is_empty()).then(|| hints.join("; ")))
        .or(usage)
        .map_or_else(String::new, |it| format!("{it}; "));
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    // A value that its own parser refuses: its words are the cause.
    let why = source.map(ToString::to_string).unwrap_or_default();
    let what = match what.strip_suffix(&one_line(&why)) {
        Some(rest) if !why.is_empty() => rest.trim_end_matches([':', ' ']),
        _ => what,
    };
    let why = if what.ends_with(&why) { String::new() } else { why };
    UserError::new(what).because(why).remedy(format!("{remedy}--help says more"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn a_program_hears_of_arguments_and_not_of_flags() {
        let told = |words: &[&str]| {
            let words = std::iter::once("espbench").chain(words.iter().copied());
            let error = read::<crate::cli::Arguments>(words.map(OsString::from)).err().unwrap();
            assert!(!error.remedy.contains("--help"), "{error:?}");
            format!("{} {} {}", error.what, error.why, error.remedy)
        };
        for (words, wanted) in [
            (&["predict", "fleet", "--cast=smoke"][..], "`cast` cannot be \"smoke\""),
            (&["predict", "fleet", "--sede=1"], "there is no argument `sede`"),
            (&["predict", "fleet", "--seed=x"], "`seed` cannot be \"x\""),
        ] {
            assert!(told(words).contains(wanted), "{}", told(words));
        }
    }

    #[test]
    fn contexts_stand_before_and_causes_behind() {
        let own = UserError::new("no reply").because("3 probes lost").remedy("check the power");
        let told = error(&anyhow::Error::new(own).context("192.0.2.7"));
        assert_eq!((&*told.what, &*told.why), ("192.0.2.7: no reply", "3 probes lost"));
        assert_eq!(told.remedy, "check the power");
        let full = Err::<(), _>(std::io::Error::other("full"));
        let told = error(&full.context("inner").context("outer").unwrap_err());
        assert_eq!((&*told.what, &*told.why, &*told.remedy), ("outer", "inner: full", ""));
    }
}
