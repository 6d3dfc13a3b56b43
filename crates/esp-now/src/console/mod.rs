//! The console: it turns bytes of a terminal into commands, and runs those that need no other part.
//!
//! | module | contents |
//! |---|---|
//! | [`editor`] | the line editor as a host sees it |
//! | [`words`] | splits a line into words |
//! | [`table`] | every command with its options |
//! | [`args`] | parses options as argtable3 does |
//! | [`command`] | parsed commands |
//! | [`mod@parse`] | parses a line into a command |
//! | [`error`] | errors by number and name |
//! | [`local`] | the commands that need no other part |
//! | `help` | the command `help`: prints every command with its options |
//! | `calendar` | dates in words, and time zones |
//!
//! # How a node drives it
//!
//! Bytes go to [`Console::receive`]. [`Console::run`] answers [`Ready::Line`] when a line is
//! complete: the node hands [`Console::line`] to [`parse()`], and the command to [`Local::execute`]
//! or to the part that executes it. When the command has returned, [`Console::finished`] reports
//! its error if it failed, and the next `run` prompts. Bytes that come meanwhile wait in a bounded
//! buffer. A line of the remote command goes the same way, without the editor: [`parse()`],
//! [`Local::execute`], [`report`].

pub mod args;
mod calendar;
pub mod command;
pub mod editor;
pub mod error;
mod help;
pub mod local;
pub mod parse;
pub mod table;
#[cfg(test)]
mod tests;
pub mod words;

pub use command::Command;
pub use editor::Editor;
pub use error::EspError;
pub use local::Local;
pub use parse::{CommandError, parse};

use crate::node::print::LogLevel;
use crate::node::task::Cx;
use editor::Edited;

/// Tag of the console's lines about commands.
pub(crate) const TAG: &str = "espnow_console";

/// Source of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    /// Terminal.
    Uart,
    /// Remote command of another device.
    Remote,
}

/// Result of a run for the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// A line waits in [`Console::line`].
    Line,
    /// The console continues once its output has been taken.
    Busy,
    /// The console waits for bytes.
    Idle,
}

/// A console at a terminal.
#[derive(Clone, Debug, Default)]
pub struct Console {
    editor: Editor,
    /// Number of lost bytes that a line has told of.
    told: u32,
}

impl Console {
    /// Takes bytes from the terminal.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.editor.feed(bytes);
    }

    /// Returns the number of bytes lost because the input buffer or the line was full.
    #[must_use]
    pub fn dropped(&self) -> u32 {
        self.editor.dropped
    }

    /// Runs until a line is complete or there are no more bytes.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Ready {
        let mut prompt = heapless::String::<{ editor::PROMPT }>::new();
        // The name of a target is short; a long one is cut.
        let target = cx.shared.settings.target;
        let _ =
            prompt.push_str(target.get(..target.len().min(editor::PROMPT - 2)).unwrap_or("esp"));
        let _ = prompt.push_str("> ");
        let idf = cx.shared.settings.compat.idf;
        match self.editor.run(cx.now, &prompt, idf, &mut cx.shared.print) {
            Edited::Line => {
                self.tell_lost(cx);
                Ready::Line
            }
            Edited::Busy => Ready::Busy,
            Edited::Nothing => Ready::Idle,
        }
    }

    /// Says how many bytes of a line were lost. The component runs such a line without a word.
    fn tell_lost(&mut self, cx: &mut Cx<'_>) {
        let lost = self.editor.dropped.saturating_sub(self.told);
        self.told = self.editor.dropped;
        if lost > 0 {
            cx.log(LogLevel::Warn, TAG, format_args!("{lost} bytes of the line were lost"));
        }
    }

    /// Returns the complete line.
    pub fn line(&mut self) -> &mut [u8] {
        self.editor.line()
    }

    /// Reports the error of a command that has returned, if it failed; the next [`run`](Self::run)
    /// prompts.
    pub fn finished(&mut self, cx: &mut Cx<'_>, result: Result<(), EspError>) {
        report(cx, result);
        self.editor.done();
    }

    /// Drops a line that was no command, after [`reject`]; the next [`run`](Self::run) prompts.
    pub fn rejected(&mut self) {
        self.editor.done();
    }
}

/// Prints the error of a command, if it failed.
pub fn report(cx: &mut Cx<'_>, result: Result<(), EspError>) {
    if let Err(error) = result {
        cx.log(
            LogLevel::Warn,
            TAG,
            format_args!("Command returned non-zero error code: 0x{:x} ({error})", error.code()),
        );
    }
}

/// Prints why a line is no command.
pub fn reject(cx: &mut Cx<'_>, origin: CommandSource, error: &CommandError<'_>) {
    match error {
        CommandError::Empty => {}
        CommandError::Unrecognized => {
            let level =
                if origin == CommandSource::Uart { LogLevel::Warn } else { LogLevel::Error };
            cx.log(level, TAG, format_args!("Unrecognized command"));
        }
        CommandError::Options(..) => {
            for (name, fault) in error.lines() {
                cx.text(format_args!("{name}: {fault}\n"));
            }
            report(cx, Err(EspError::Fail));
        }
    }
}
