//! Errors of all modules as the user is told of them, and those of the command line.

use super::{help, left_out};
use crate::embed;
use crate::store::StoreError;
use crate::target::TargetError;
use crate::user_error::{UserError, one_line};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use espbench_model::text::meant;
use espbench_sim::lab::file::FileError;
use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;
use std::str::ParseBoolError;

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
        let parts = parts.or_else(|| link.downcast_ref::<FileError>().map(UserError::from));
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
    let words: Vec<OsString> = words.into_iter().collect();
    let mut command = with_negative_numbers(P::command());
    matched(&mut command, &words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => match help::print(P::command(), &words) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(2),
        },
        ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let status = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            match error.print() {
                Ok(()) => status,
                Err(_) => ExitCode::from(2),
            }
        }
        _ if embed::is_called() => {
            of_call(&error, &Asked::of(&command, &words)).say();
            ExitCode::from(2)
        }
        _ => {
            of_command_line(&error, &Asked::of(&command, &words)).say();
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
    let words: Vec<OsString> = words.into_iter().collect();
    let mut command = with_negative_numbers(P::command());
    matched(&mut command, &words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            UserError::new("--help and --version are for a terminal")
        }
        _ => of_call(&error, &Asked::of(&command, &words)),
    })
}

fn matched<P: clap::Parser>(command: &mut Command, words: &[OsString]) -> Result<P, clap::Error> {
    let words = with_negative_values(command, words);
    let matches = command.try_get_matches_from_mut(words)?;
    P::from_arg_matches(&matches).map_err(|error| error.format(command))
}

/// Lets flags take a negative number, so that it is refused as their value, with the range, and not as a flag.
fn with_negative_numbers(command: Command) -> Command {
    let taking = |arg: Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(taking).mut_subcommands(with_negative_numbers)
}

/// Joins a negative quantity (`-5mAh`, `-1-3`) with the flag before it that takes a value: so it is refused as that
/// value, too, and not as a flag.
fn with_negative_values(command: &Command, words: &[OsString]) -> Vec<OsString> {
    let asked = Asked::of(command, words);
    let takes_value = |flag: &str| {
        asked.command.get_arguments().any(|arg| {
            let is_long = flag.strip_prefix("--").is_some_and(|it| Some(it) == arg.get_long());
            let short = flag.strip_prefix('-').map(str::chars);
            let is_short =
                short.is_some_and(|mut it| it.next() == arg.get_short() && it.next().is_none());
            (is_long || is_short && arg.get_short().is_some()) && arg.get_action().takes_values()
        })
    };
    // Behind `--` are the arguments of another program.
    let own = words.iter().position(|it| it == "--").unwrap_or(words.len());
    let mut joined: Vec<OsString> = Vec::new();
    for word in &words[..own] {
        let is_quantity = word.to_str().is_some_and(|it| {
            let after = it.strip_prefix('-').unwrap_or_default();
            after.starts_with(|c: char| c.is_ascii_digit()) && after.parse::<f64>().is_err()
        });
        let flag =
            joined.last_mut().filter(|it| is_quantity && it.to_str().is_some_and(takes_value));
        match flag {
            Some(flag) => {
                flag.push("=");
                flag.push(word);
            }
            None => joined.push(word.clone()),
        }
    }
    joined.extend_from_slice(&words[own..]);
    joined
}

/// The subcommand that a command line is for.
struct Asked<'a> {
    command: &'a Command,
    /// Words without `espbench`: `rate mqtt`.
    path: String,
}

impl<'a> Asked<'a> {
    fn of(root: &'a Command, words: &[OsString]) -> Self {
        let mut asked = Self { command: root, path: String::new() };
        for word in words.iter().skip(1) {
            let Some(sub) = word.to_str().and_then(|it| asked.command.find_subcommand(it)) else {
                break;
            };
            asked.command = sub;
            asked.path = format!("{} {}", asked.path, sub.get_name()).trim().to_owned();
        }
        asked
    }

    /// Returns the flag or argument that is shown so: what it is for.
    fn about(&self, shown: &str) -> Option<String> {
        let arg = self.command.get_arguments().find(|it| it.to_string() == shown)?;
        Some(format!("{shown}: {}", one_line(&arg.get_help()?.to_string())))
    }

    /// Says where its flags are listed.
    fn help(&self) -> String {
        format!("`{}` lists its flags", format!("espbench {} -h", self.path).replace("  ", " "))
    }

    /// Returns what to write for a flag or word that other programs take, or that a user tries first.
    fn instead(&self, given: &str) -> Option<String> {
        let is_flag = given.starts_with('-');
        let here = INSTEAD.iter().find(|(path, flag, _)| {
            self.path == *path && if flag.is_empty() { !is_flag } else { *flag == given }
        });
        let has = |name: &str| self.command.get_arguments().any(|it| it.get_long() == Some(name));
        let anywhere = || ANYWHERE.iter().find(|(flag, needs, _)| *flag == given && has(needs));
        let remedy = here.map(|it| it.2).or_else(|| anywhere().map(|it| it.2))?;
        Some(remedy.replace("{}", given))
    }
}

/// Flags and words that users try: the subcommand, the flag (any word without one), and what does that here.
const INSTEAD: &[(&str, &str, &str)] = &[
    ("tune", "check", "name the file with its flag: --check FILE"),
    ("tune", "", "name the file with its flag: --check {}"),
    ("board monitor", "", "name the port with its flag: --on serial:{}"),
    ("board monitor", "-p", PORT),
    ("board monitor", "--port", PORT),
    ("board flash", "-p", PORT),
    ("board flash", "--port", PORT),
    ("board info", "", "name the port with its flag: --on serial:{}"),
    ("board info", "-p", PORT),
    ("board info", "--port", PORT),
    ("board erase", "-p", PORT),
    ("board erase", "--port", PORT),
    ("board list", "-p", "leave it out: all ports are listed"),
    ("echo", "--port", BEHIND),
    ("echo", "-p", BEHIND),
    ("rate tcp", "--port", BEHIND),
    ("rate tcp", "-p", BEHIND),
    ("rate mqtt", "--port", BEHIND),
    ("rate mqtt", "-p", BEHIND),
    (
        "run",
        "--dry-run",
        "leave it out: `espbench run PLAN --on sim` tries a plan without a device",
    ),
    ("run", "-p", "name the plan without a flag: espbench run PLAN"),
    ("run", "--plan", "name the plan without a flag: espbench run PLAN"),
    ("run", "--lab", "name the lab with --on sim:LAB"),
    ("iperf", "-J", "use --format json"),
];

/// Flags that users try at any command: the flag, the flag that does that here, where the command has it, and what
/// to write.
const ANYWHERE: &[(&str, &str, &str)] = &[
    ("--json", "format", "use --format json"),
    ("--csv", "format", "use --format csv"),
    ("--html", "output", "use -o FILE.html"),
    ("-v", "full", "use --full for all tables"),
    ("--verbose", "full", "use --full for all tables"),
    ("--target", "on", ON),
    ("--device", "on", ON),
];

const ON: &str = "name the target with --on, such as --on sim:LAB or --on serial:PORT";

const BEHIND: &str = "put the port behind the host: HOST:PORT";

const PORT: &str = "name the port with --on serial:PORT, such as --on serial:/dev/ttyUSB0";

/// Returns the error of a call by a program: it has arguments (`phy_rate`) where the command line has flags (`--phy-rate RATE`).
fn of_call(error: &clap::Error, asked: &Asked<'_>) -> UserError {
    if let Some(lacks) = lacking(error, asked) {
        return lacks;
    }
    let told = of_command_line(error, asked);
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
        ErrorKind::TooManyValues => {
            (format!("`{name}` cannot be {value:?}"), "it is true or false".into())
        }
        ErrorKind::InvalidUtf8 => ("a text is not UTF-8".into(), String::new()),
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

/// Returns the word that no command knows.
fn given(error: &clap::Error) -> Option<&str> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    kinds.into_iter().find_map(|it| match error.get(it) {
        Some(ContextValue::String(it)) => Some(it.as_str()),
        _ => None,
    })
}

/// Returns the refusal of a command or a flag that this build lacks.
fn lacking(error: &clap::Error, asked: &Asked<'_>) -> Option<UserError> {
    let words = format!("{} {}", asked.path, given(error).unwrap_or_default());
    left_out::refusal(words.trim())
}

/// Returns an error of the command line: what is wrong, and what could have been meant or how the command
/// is written.
fn of_command_line(error: &clap::Error, asked: &Asked<'_>) -> UserError {
    // A value that its own parser refuses, and says what to do.
    let source = std::error::Error::source(error);
    if let Some(parts) = source.and_then(|it| it.downcast_ref::<UserError>()) {
        return parts.clone();
    }
    if let Some(lacks) = lacking(error, asked) {
        return lacks;
    }
    let given = given(error);
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let what = lines.join(" ");
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    // A value that its own parser refuses: its words are the cause.
    let why = source.map(ToString::to_string).unwrap_or_default();
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(it)) => it.as_str(),
        _ => "",
    };
    let own = source.and_then(|it| in_own_words(it, value));
    let what = match what.strip_suffix(&one_line(&why)) {
        Some(rest) if !why.is_empty() => rest.trim_end_matches([':', ' ']),
        _ => what,
    };
    let why = if what.ends_with(&why) { String::new() } else { own.unwrap_or(why) };
    UserError::new(what).because(why).remedy(remedy(error, asked, given))
}

/// Says what the parsers of the standard library and of clap have against a value, whose words are of Rust; `None`
/// where the words are ours.
fn in_own_words(error: &(dyn std::error::Error + 'static), value: &str) -> Option<String> {
    if let Some(wrong) = error.downcast_ref::<ParseIntError>() {
        let against = match wrong.kind() {
            IntErrorKind::PosOverflow => "is too large",
            IntErrorKind::NegOverflow => "is too small",
            _ => "is no whole number",
        };
        return Some(format!("`{value}` {against}"));
    }
    if error.is::<ParseFloatError>() {
        return Some(format!("`{value}` is no number"));
    }
    if error.is::<ParseBoolError>() {
        return Some(format!("`{value}` is neither true nor false"));
    }
    if error.is::<AddrParseError>() {
        return Some(format!("`{value}` is no address"));
    }
    let text = error.to_string();
    let (least, most) = text.strip_prefix(value)?.strip_prefix(" is not in ")?.split_once("..")?;
    Some(match most.strip_prefix('=') {
        Some(most) => format!("`{value}` is not from {least} to {most}"),
        None => format!("`{value}` is not {least} or more"),
    })
}

/// Returns the valid value that a wrong one was probably meant to be.
fn near_value(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) else {
        return None;
    };
    let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
    Some(format!("did you mean `{}`?", meant(given, &valid)?))
}

/// Returns what to write: what is near, what does the same here, what the flag is for, or how the command is written.
fn remedy(error: &clap::Error, asked: &Asked<'_>, given: Option<&str>) -> String {
    let suggested = |kind| match error.get(kind)? {
        ContextValue::String(it) => Some(format!("did you mean `{it}`?")),
        ContextValue::Strings(all) => Some(format!("did you mean `{}`?", all.join("` or `"))),
        _ => None,
    };
    let usage = || {
        let mut command = asked.command.clone().bin_name(format!("espbench {}", asked.path));
        let usage = one_line(&command.render_usage().to_string());
        Some(format!("write {}", usage.strip_prefix("Usage: ").unwrap_or(&usage)))
    };
    // A usage has no flag that only another one needs.
    let lacking = || match error.get(ContextKind::InvalidArg)? {
        ContextValue::Strings(all) if all.iter().all(|it| it.starts_with("--")) => {
            Some(format!("add {}", all.join(" ")))
        }
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => given.and_then(|it| asked.instead(it)),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            near_value(error).or_else(|| asked.about(given?))
        }
        ErrorKind::MissingRequiredArgument => lacking().or_else(usage),
        ErrorKind::MissingSubcommand => usage(),
        _ => None,
    }
    .or_else(|| suggested(ContextKind::SuggestedSubcommand))
    .or_else(|| suggested(ContextKind::SuggestedArg))
    .unwrap_or_else(|| asked.help())
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
            (&["predict", "fleet", "--ack=yes"], "`ack` cannot be \"yes\"  it is true or false"),
        ] {
            assert!(told(words).contains(wanted), "{}", told(words));
        }
    }

    /// Flags of all commands that a wrong value can be given to are refused in our words.
    #[test]
    fn no_error_has_the_words_of_rust() {
        fn flags(command: &Command, path: &[String], all: &mut Vec<Vec<String>>) {
            for arg in command.get_arguments() {
                let may_stand_alone = arg.get_num_args().is_some_and(|it| it.min_values() == 0);
                let takes_value = arg.get_action().takes_values() && !may_stand_alone;
                if let Some(long) = arg.get_long().filter(|_| takes_value) {
                    all.push([path, &[format!("--{long}")]].concat());
                }
            }
            for sub in command.get_subcommands() {
                flags(sub, &[path, &[sub.get_name().to_owned()]].concat(), all);
            }
        }
        let mut whole = with_negative_numbers(crate::cli::command());
        whole.build();
        let mut all = Vec::new();
        flags(&whole, &[], &mut all);
        assert!(all.len() > 100, "{}", all.len());
        for words in all {
            for value in ["x", "99999999999999999999", "-5mAh"] {
                let line = std::iter::once("espbench".to_owned()).chain(words.iter().cloned());
                let line: Vec<OsString> =
                    line.chain([value.to_owned()]).map(OsString::from).collect();
                let mut command = whole.clone();
                let Err(error) = matched::<crate::cli::Arguments>(&mut command, &line) else {
                    continue;
                };
                let UserError { what, why, .. } =
                    of_command_line(&error, &Asked::of(&command, &line));
                let told = format!("{what} {why}");
                for theirs in ["found in string", "literal", "target type", "..=", "syntax"] {
                    assert!(!told.contains(theirs), "{words:?} {value}: {told}");
                }
                assert!(!told.contains("unexpected argument '-"), "{words:?} {value}: {told}");
            }
        }
    }

    #[test]
    fn arguments_of_another_program_stay_as_they_are() {
        let words: Vec<OsString> =
            ["espbench", "live", "--seed", "-5x", "wifi-home", "--", "echo", "--seed", "-5x"]
                .map(OsString::from)
                .into();
        let joined = with_negative_values(&crate::cli::command(), &words);
        assert_eq!(joined[2], "--seed=-5x", "refused as its value");
        assert_eq!(joined[4..], words[5..]);
    }

    #[test]
    fn what_other_programs_take_is_named_where_the_command_has_it() {
        let told = |words: &[&str]| {
            let all: Vec<OsString> = std::iter::once("espbench")
                .chain(words.iter().copied())
                .map(OsString::from)
                .collect();
            let root = crate::cli::command();
            let error = root.clone().try_get_matches_from(&all).unwrap_err();
            of_command_line(&error, &Asked::of(&root, &all)).remedy
        };
        for words in [&["report", "last", "--json"][..], &["compare", "a", "b", "--json"]] {
            assert_eq!(told(words), "use --format json", "{words:?}");
        }
        for words in [&["runs", "--json"][..], &["serve", "-v"], &["completions", "bash", "--json"]]
        {
            let remedy = told(words);
            assert!(
                !remedy.contains("--format") && !remedy.contains("--full"),
                "{words:?}: {remedy}"
            );
        }
        assert_eq!(
            told(&["tune", "check", "sdkconfig"]),
            "name the file with its flag: --check FILE"
        );
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
