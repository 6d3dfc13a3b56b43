//! Implements `help`: prints every command with its options, from the table that the parser
//! follows.

use super::table::{CommandSpec, Opt, OptionType};
use crate::node::task::Cx;
use core::fmt;

/// Prints a command: its name and options, its purpose, and a line for each option.
pub(super) fn print(cx: &mut Cx<'_>, spec: &'static CommandSpec) {
    cx.text(format_args!("{}{}\n  {}\n", spec.name, Syntax(spec), spec.help));
    for opt in spec.options {
        cx.text(format_args!("  {:>28}  {}\n", Names(opt).text(), opt.help));
    }
    cx.text(format_args!("\n"));
}

/// Syntax of a command: ` [-a] [-c <mac>] <host>`.
struct Syntax(&'static CommandSpec);

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for opt in self.0.options {
            let (open, close) = if opt.min == 0 { ("[", "]") } else { ("", "") };
            write!(f, " {open}")?;
            if opt.positional() {
                write!(f, "<{}>", opt.long)?;
            } else {
                match opt.short.chars().next() {
                    Some(letter) => write!(f, "-{letter}")?,
                    None => write!(f, "--{}", opt.long)?,
                }
                if opt.kind != OptionType::Flag {
                    write!(f, " {}", opt.value)?;
                }
            }
            f.write_str(close)?;
            if opt.max > 1 {
                f.write_str("...")?;
            }
        }
        Ok(())
    }
}

/// Names of an option: `-c, --count=<n>`.
struct Names(&'static Opt);

impl Names {
    /// Returns text that can be aligned; names are short enough for it.
    fn text(&self) -> heapless::String<64> {
        let mut text = heapless::String::new();
        // Text that does not fit is left out.
        let _ = fmt::write(&mut text, format_args!("{self}"));
        text
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opt = self.0;
        if opt.positional() {
            return write!(f, "<{}>", opt.long);
        }
        for letter in opt.short.chars() {
            write!(f, "-{letter}, ")?;
        }
        write!(f, "--{}", opt.long)?;
        if opt.kind != OptionType::Flag {
            write!(f, "={}", opt.value)?;
        }
        Ok(())
    }
}
