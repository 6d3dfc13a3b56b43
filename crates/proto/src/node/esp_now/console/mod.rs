//! The console: bytes of a terminal in, commands out, and those commands that need no other part.
//!
//! | module | what |
//! |---|---|
//! | [`editor`] | the line editor as a host sees it |
//! | [`words`] | a line's words |
//! | [`table`] | every command with its options |
//! | [`args`] | options as argtable3 reads them |
//! | [`command`] | what a line asks for, as a value |
//! | [`mod@parse`] | from a line to that value |
//! | [`error`] | results by number and name |
//! | [`local`] | the commands that need no other part |
//!
//! # How a node drives it
//!
//! Bytes go to [`Console::receive`]. [`Console::run`] answers [`Ready::Line`] when a line is
//! complete: the node hands [`Console::line`] to [`parse()`], and the command to [`Local::execute`]
//! or to the part that does it. When the command has returned, [`Console::finished`] prints what
//! is to be said of its result, and the next `run` prompts. What comes meanwhile waits in a bounded
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
pub use error::Error;
pub use local::Local;
pub use parse::{ParseError, parse};

use super::print::Level;
use super::task::Cx;
use editor::Edited;

/// Tag of what the console says of a command.
const TAG: &str = "espnow_console";

/// Where a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The terminal.
    Uart,
    /// A remote command.
    Remote,
}

/// What the console has for the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// A line waits in [`Console::line`].
    Line,
    /// More, when what was printed has been taken.
    Busy,
    /// Nothing before bytes come.
    Idle,
}

/// The terminal's side of a console.
#[derive(Clone, Debug, Default)]
pub struct Console {
    editor: Editor,
}

impl Console {
    /// Bytes from the terminal.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.editor.feed(bytes);
    }

    /// Bytes lost because the input buffer or the line was full.
    #[must_use]
    pub fn dropped(&self) -> u32 {
        self.editor.dropped
    }

    /// Goes on until a line is complete or there are no more bytes.
    pub fn run(&mut self, cx: &mut Cx<'_>) -> Ready {
        let mut prompt = heapless::String::<{ editor::PROMPT }>::new();
        // A target's name is short; a long one is cut.
        let target = cx.shared.settings.target;
        let _ =
            prompt.push_str(target.get(..target.len().min(editor::PROMPT - 2)).unwrap_or("esp"));
        let _ = prompt.push_str("> ");
        let idf = cx.shared.settings.compat.idf;
        match self.editor.run(cx.now, &prompt, idf, &mut cx.shared.print) {
            Edited::Line => Ready::Line,
            Edited::Busy => Ready::Busy,
            Edited::Nothing => Ready::Idle,
        }
    }

    /// The line that is complete.
    pub fn line(&mut self) -> &mut [u8] {
        self.editor.line()
    }

    /// The command has returned. Says what is to be said of its result; the next
    /// [`run`](Self::run) prompts.
    pub fn finished(&mut self, cx: &mut Cx<'_>, result: Result<(), Error>) {
        report(cx, result);
        self.editor.done();
    }

    /// The line was no command and [`reject`] has said so; the next [`run`](Self::run) prompts.
    pub fn rejected(&mut self) {
        self.editor.done();
    }
}

/// Says that a command has failed, if it has.
pub fn report(cx: &mut Cx<'_>, result: Result<(), Error>) {
    if let Err(error) = result {
        cx.log(
            Level::Warn,
            TAG,
            format_args!("Command returned non-zero error code: 0x{:x} ({error})", error.code()),
        );
    }
}

/// Says why a line is no command.
pub fn reject(cx: &mut Cx<'_>, origin: Origin, error: &ParseError<'_>) {
    match error {
        ParseError::Empty => {}
        ParseError::Unrecognized => {
            let level = if origin == Origin::Uart { Level::Warn } else { Level::Error };
            cx.log(level, TAG, format_args!("Unrecognized command"));
        }
        ParseError::Options(..) => {
            for (name, fault) in error.lines() {
                cx.text(format_args!("{name}: {fault}\n"));
            }
            report(cx, Err(Error::Fail));
        }
    }
}
