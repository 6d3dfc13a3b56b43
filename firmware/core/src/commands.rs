//! Commands of the firmware itself, typed at the same console as those of the node.
//!
//! Every byte goes to the node, whose line editor draws the line. A line whose first word is
//! `espbench` is kept from it: instead of its end the node gets Ctrl-U, which empties the line, and
//! then the end, so that a new prompt stands below what the command printed.

use heapless::Vec;

/// Longest line, in bytes.
pub const LINE_MAX: usize = 160;
/// First word of a command of the firmware.
const NAME: &[u8] = b"espbench";
const ESCAPE: u8 = 0x1B;
/// Ctrl-U of the line editor.
const EMPTY_LINE: u8 = 0x15;

/// Place within a control sequence (ECMA-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    Escape,
    Parameters,
}

/// A line as it is typed.
#[derive(Debug, Default)]
pub struct LineWatch {
    line: Vec<u8, LINE_MAX>,
    /// The line was edited by keys that only the node's editor knows, or is too long.
    unknown: bool,
    sequence: Sequence,
}

/// Fate of a typed byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The node gets it.
    Node,
    /// It ends a command of the firmware, which [`LineWatch::take`] returns; the node gets
    /// [`AFTER_COMMAND`].
    Command,
}

/// Bytes for the node in the place of the end of a line that was not for it.
pub const AFTER_COMMAND: &[u8] = &[EMPTY_LINE, b'\r'];

impl LineWatch {
    /// Creates an empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: Vec::new(), unknown: false, sequence: Sequence::None }
    }

    /// Takes a byte.
    pub fn typed(&mut self, byte: u8) -> Typed {
        match (self.sequence, byte) {
            (Sequence::None, ESCAPE) => self.sequence = Sequence::Escape,
            (Sequence::Escape, b'[' | b'O') => self.sequence = Sequence::Parameters,
            (Sequence::Escape, _) => {
                self.sequence = Sequence::None;
                self.unknown = true;
            }
            (Sequence::Parameters, 0x40..=0x7E) => {
                self.sequence = Sequence::None;
                // Answers of the terminal (cursor, status) edit nothing; arrows do.
                self.unknown |= !matches!(byte, b'R' | b'n');
            }
            (Sequence::Parameters, _) => {}
            (Sequence::None, b'\r' | b'\n') => {
                let ours = !self.unknown && self.words().next() == Some(NAME);
                self.unknown = false;
                if ours {
                    return Typed::Command;
                }
                self.line.clear();
            }
            // Backspace and delete.
            (Sequence::None, 0x08 | 0x7F) => _ = self.line.pop(),
            // Ctrl-C and Ctrl-U leave an empty line.
            (Sequence::None, 0x03 | EMPTY_LINE) => {
                self.line.clear();
                self.unknown = false;
            }
            (Sequence::None, 0x20..=0x7E | 0x80..) => {
                self.unknown |= self.line.push(byte).is_err();
            }
            (Sequence::None, _) => self.unknown = true,
        }
        Typed::Node
    }

    /// Returns the command that the last byte has ended, and begins a new line.
    pub fn take(&mut self) -> Result<Command, WrongCommand> {
        let command = Command::parse(self.words().skip(1));
        self.line.clear();
        command
    }

    fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
    }
}

/// A command of the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `espbench version`: name, version with the git revision, chip.
    Version,
    /// `espbench counters`: what every queue has dropped.
    Counters,
    /// `espbench stack`: size and deepest use of the stack.
    Stack,
    /// `espbench panic`: a crash on purpose, to see its lines.
    Panic,
}

/// Lines that say which commands there are.
pub const HELP: &str = "espbench version   name, version with git revision, chip\r\n\
                        espbench counters  what every queue has dropped\r\n\
                        espbench stack     size and deepest use of the stack\r\n\
                        espbench panic     crash on purpose\r\n";

/// A command that is none: [`HELP`] says which there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCommand;

impl Command {
    fn parse<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, WrongCommand> {
        let command = match words.next() {
            Some(b"version") => Self::Version,
            Some(b"counters") => Self::Counters,
            Some(b"stack") => Self::Stack,
            Some(b"panic") => Self::Panic,
            _ => return Err(WrongCommand),
        };
        if words.next().is_some() { Err(WrongCommand) } else { Ok(command) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(typed: &[u8]) -> std::vec::Vec<Result<Command, WrongCommand>> {
        let mut watch = LineWatch::default();
        let mut found = std::vec::Vec::new();
        for byte in typed {
            if watch.typed(*byte) == Typed::Command {
                found.push(watch.take());
            }
        }
        found
    }

    #[test]
    fn lines_of_the_firmware_are_told_from_those_of_the_node() {
        assert_eq!(commands(b"version\respbench version\r"), [Ok(Command::Version)]);
        assert_eq!(commands(b"  espbench   stack \n"), [Ok(Command::Stack)]);
        assert_eq!(commands(b"espbenchx version\rhelp espbench\r\r\n"), []);
        assert_eq!(
            commands(b"espbench\respbench stack 1\r"),
            [Err(WrongCommand), Err(WrongCommand)]
        );
    }

    #[test]
    fn a_line_is_what_stands_after_editing() {
        assert_eq!(commands(b"espbench stick\x7f\x7f\x7fack\r"), [Ok(Command::Stack)]);
        assert_eq!(commands(b"wrong\x15espbench counters\r"), [Ok(Command::Counters)]);
        // The terminal answers the editor's question within the line.
        assert_eq!(commands(b"\x1b[1;80Respbench\x1b[0n version\r"), [Ok(Command::Version)]);
        // An arrow has changed the line in a way that only the editor knows.
        assert_eq!(commands(b"espbench version\x1b[D\r"), []);
        assert_eq!(commands(b"espbench stack\x1b[A\x03espbench version\r"), [Ok(Command::Version)]);
        let long = [b"espbench version".as_slice(), &[b' '; LINE_MAX], b"\r"].concat();
        assert_eq!(commands(&long), []);
        assert_eq!(commands(b"espbench version\r"), [Ok(Command::Version)]);
    }
}
