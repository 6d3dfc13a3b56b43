//! Flags as whoever asks writes them: `--phy-rate 11M` at a terminal, `phy_rate="11M"` in a program that calls functions.
//!
//! A process serves one or the other, so that it is said once ([`speak_to`]), and texts name flags by these types.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

/// Somebody who asks, and reads the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Somebody at a command line.
    Terminal,
    /// A program, or an assistant, that calls functions with arguments.
    Caller,
}

static IS_CALLED: AtomicBool = AtomicBool::new(false);

/// Sets whom the texts of this process are for: without it somebody at a terminal.
pub fn speak_to(asker: Asker) {
    IS_CALLED.store(asker == Asker::Caller, Ordering::Relaxed);
}

/// Returns whom the texts of this process are for.
#[must_use]
pub fn asker() -> Asker {
    if IS_CALLED.load(Ordering::Relaxed) { Asker::Caller } else { Asker::Terminal }
}

/// A flag without its value, as it is typed: `--phy-rate`; for a caller it is `` `phy_rate` ``.
#[derive(Clone, Copy, Debug)]
pub struct FlagName<'a>(pub &'a str);

/// A flag, as it is typed, with a value: `--phy-rate 11M`; for a caller it is `phy_rate="11M"`.
#[derive(Clone, Copy, Debug)]
pub struct FlagValue<'a, V>(pub &'a str, pub V);

/// A subcommand: `` `espbench run` ``; for a caller it is `` `run` ``.
#[derive(Clone, Copy, Debug)]
pub struct CommandName<'a>(pub &'a str);

/// A subcommand with a flag: `espbench predict compare --profile all`; for a caller it is `` `predict compare` with
/// profile="all" ``.
#[derive(Clone, Copy, Debug)]
pub struct CommandWith<'a, V>(pub &'a str, pub FlagValue<'a, V>);

/// Name of the argument of a function that a flag is.
struct Argument<'a>(&'a str);

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.0.trim_start_matches('-').split('-').enumerate() {
            write!(f, "{}{word}", if at > 0 { "_" } else { "" })?;
        }
        Ok(())
    }
}

/// Returns whether a value is written in digits alone.
fn is_number(value: &impl fmt::Display) -> bool {
    struct Digits;
    impl fmt::Write for Digits {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if text.bytes().all(|it| it.is_ascii_digit()) { Ok(()) } else { Err(fmt::Error) }
        }
    }
    fmt::write(&mut Digits, format_args!("{value}")).is_ok()
}

impl FlagName<'_> {
    fn write_for(&self, asker: Asker, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match asker {
            Asker::Terminal => f.write_str(self.0),
            Asker::Caller => write!(f, "`{}`", Argument(self.0)),
        }
    }
}

impl<V: fmt::Display> FlagValue<'_, V> {
    fn write_for(&self, asker: Asker, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match asker {
            Asker::Terminal => write!(f, "{} {}", self.0, self.1),
            Asker::Caller if is_number(&self.1) => write!(f, "{}={}", Argument(self.0), self.1),
            Asker::Caller => write!(f, "{}=\"{}\"", Argument(self.0), self.1),
        }
    }
}

impl fmt::Display for FlagName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_for(asker(), f)
    }
}

impl<V: fmt::Display> fmt::Display for FlagValue<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_for(asker(), f)
    }
}

impl fmt::Display for CommandName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match asker() {
            Asker::Terminal => write!(f, "`espbench {}`", self.0),
            Asker::Caller => write!(f, "`{}`", self.0),
        }
    }
}

impl<V: fmt::Display> fmt::Display for CommandWith<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match asker() {
            Asker::Terminal => write!(f, "espbench {} {}", self.0, self.1),
            Asker::Caller => write!(f, "`{}` with {}", self.0, self.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString as _};

    /// A flag for an asker of its own, since other tests share the process.
    struct For<T>(Asker, T);

    impl fmt::Display for For<FlagName<'_>> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.1.write_for(self.0, f)
        }
    }

    impl<V: fmt::Display> fmt::Display for For<FlagValue<'_, V>> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.1.write_for(self.0, f)
        }
    }

    #[test]
    fn a_caller_hears_of_arguments() {
        let told = |asker| -> [String; 3] {
            [
                For(asker, FlagName("--time-limit")).to_string(),
                For(asker, FlagValue("--phy-rate", "11M")).to_string(),
                For(asker, FlagValue("--devices", 60)).to_string(),
            ]
        };
        assert_eq!(told(Asker::Terminal), ["--time-limit", "--phy-rate 11M", "--devices 60"]);
        assert_eq!(told(Asker::Caller), ["`time_limit`", "phy_rate=\"11M\"", "devices=60"]);
        assert_eq!(asker(), Asker::Terminal, "unless it was said otherwise");
    }
}
