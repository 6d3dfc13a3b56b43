//! Commands of the firmware itself, typed at the same console as those of the node.
//!
//! Every byte goes to the node, whose line editor draws the line. A line whose first word is
//! `espbench` is kept from it: instead of its end the node gets Ctrl-U, which empties the line, and
//! then the end, so that a new prompt stands below what the command printed.

use crate::net::Order;
use espbench_model::workload::Transport;
use heapless::{String, Vec};

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
    /// `espbench counters`: what every queue has dropped, and values that could not be stored.
    Counters,
    /// `espbench stack`: size and deepest use of the stack.
    Stack,
    /// `espbench panic`: a crash on purpose, to see its lines.
    Panic,
    /// `espbench wifi join SSID [PASSWORD]`: joins a network.
    Join(Credentials),
    /// `espbench wifi ap SSID [PASSWORD]`: opens a network of its own.
    AccessPoint(Credentials),
    /// `espbench wifi leave`: leaves the network, or closes its own.
    Leave,
    /// `espbench wifi`: state and address.
    Wifi,
    /// `espbench run …`: runs a program over IP.
    Run(Order),
    /// `espbench stop`: stops it.
    Stop,
    /// `espbench rank NAME`: buffers of the next start, by a rank of Espressif's documents.
    Rank(String<16>),
    /// `espbench seal on|off`: whether services seal what they send, from the next start on.
    Seal(bool),
}

/// Name and password of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Name.
    pub ssid: String<32>,
    /// Password; empty for an open network.
    pub password: String<64>,
}

impl Credentials {
    /// Reads the node's stored credentials: 32 bytes of name and 64 of password, padded with zeros.
    #[must_use]
    pub fn stored(bytes: &[u8]) -> Option<Self> {
        let (ssid, password) = bytes.split_at_checked(32)?;
        let until_zero = |bytes: &[u8]| bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
        let ssid = text(&ssid[..until_zero(ssid)])?;
        let password = text(&password[..until_zero(password)])?;
        Some(Self { ssid, password }).filter(|it| !it.ssid.is_empty())
    }

    fn parse<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let ssid = text(words.next()?)?;
        let password = words.next().map_or(Some(String::new()), text)?;
        Some(Self { ssid, password })
    }
}

fn text<const N: usize>(word: &[u8]) -> Option<String<N>> {
    String::try_from(core::str::from_utf8(word).ok()?).ok()
}

fn number(word: &[u8]) -> Option<u16> {
    core::str::from_utf8(word).ok()?.parse().ok()
}

fn address(word: &[u8]) -> Option<[u8; 4]> {
    let address: core::net::Ipv4Addr = core::str::from_utf8(word).ok()?.parse().ok()?;
    Some(address.octets())
}

const fn transport(word: &[u8]) -> Option<Transport> {
    match word {
        b"udp" => Some(Transport::Udp),
        b"tcp" => Some(Transport::Tcp),
        _ => None,
    }
}

/// Lines that say which commands there are.
pub const HELP: &str = "espbench version   name, version with git revision, chip\r\n\
                        espbench counters  what every queue has dropped\r\n\
                        espbench stack     size and deepest use of the stack\r\n\
                        espbench panic     crash on purpose\r\n\
                        espbench wifi [join SSID [PASSWORD] | ap SSID [PASSWORD] | leave]\r\n\
                        espbench run echo | iperf-server udp|tcp | iperf-client ADDRESS udp|tcp [SECONDS] |\r\n\
                        \x20            tcp ADDRESS | mqtt ADDRESS [RATE]\r\n\
                        espbench stop      stop the program\r\n\
                        espbench rank NAME buffers from the next start on: iperf, default, minimum\r\n\
                        espbench seal on|off  seal what services send, from the next start on\r\n";

/// A command that is none: [`HELP`] says which there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCommand;

impl Command {
    fn parse<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<Self, WrongCommand> {
        let command = Self::of(&mut words).ok_or(WrongCommand)?;
        if words.next().is_some() { Err(WrongCommand) } else { Ok(command) }
    }

    fn of<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        Some(match words.next()? {
            b"version" => Self::Version,
            b"counters" => Self::Counters,
            b"stack" => Self::Stack,
            b"panic" => Self::Panic,
            b"wifi" => match words.next() {
                None => Self::Wifi,
                Some(b"join") => Self::Join(Credentials::parse(words)?),
                Some(b"ap") => Self::AccessPoint(Credentials::parse(words)?),
                Some(b"leave") => Self::Leave,
                Some(_) => return None,
            },
            b"run" => Self::Run(order(words)?),
            b"stop" => Self::Stop,
            b"rank" => Self::Rank(text(words.next()?)?),
            b"seal" => match words.next()? {
                b"on" => Self::Seal(true),
                b"off" => Self::Seal(false),
                _ => return None,
            },
            _ => return None,
        })
    }
}

fn order<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<Order> {
    Some(match words.next()? {
        b"echo" => Order::Echo,
        b"iperf-server" => Order::IperfServer(transport(words.next()?)?),
        b"iperf-client" => {
            let to = address(words.next()?)?;
            let transport = transport(words.next()?)?;
            let seconds = words.next().map_or(Some(10), number)?;
            Order::IperfClient { transport, to, seconds }
        }
        b"tcp" => Order::Tcp(address(words.next()?)?),
        b"mqtt" => {
            let to = address(words.next()?)?;
            Order::Mqtt { to, rate: words.next().map_or(Some(10), number)? }
        }
        _ => return None,
    })
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

    #[test]
    fn programs_and_networks_are_named_with_what_they_need() {
        let one = |line: &[u8]| commands(&[b"espbench ", line, b"\r"].concat()).remove(0);
        let to = [192, 168, 4, 2];
        let client = Order::IperfClient { transport: Transport::Udp, to, seconds: 3 };
        assert_eq!(one(b"run iperf-client 192.168.4.2 udp 3"), Ok(Command::Run(client)));
        let client = Order::IperfClient { transport: Transport::Tcp, to, seconds: 10 };
        assert_eq!(one(b"run iperf-client 192.168.4.2 tcp"), Ok(Command::Run(client)));
        assert_eq!(one(b"run mqtt 192.168.4.2"), Ok(Command::Run(Order::Mqtt { to, rate: 10 })));
        let it = one(b"wifi join lab secret-word").unwrap();
        let Command::Join(it) = it else { panic!("{it:?}") };
        assert_eq!((&*it.ssid, &*it.password), ("lab", "secret-word"));
        assert_eq!(one(b"wifi"), Ok(Command::Wifi));
        assert_eq!(one(b"seal on"), Ok(Command::Seal(true)));
        for wrong in [
            &b"run"[..],
            b"run iperf-client 192.168.4 udp",
            b"run iperf-client 192.168.4.2 sctp",
            b"run iperf-client 192.168.4.2 udp 70000",
            b"run echo 7",
            b"wifi join",
            b"wifi join a-name-that-is-longer-than-32-bytes",
            b"wifi joined lab",
            b"seal",
        ] {
            assert_eq!(one(wrong), Err(WrongCommand), "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn stored_credentials_are_a_name_and_a_password() {
        let mut bytes = [0; 96];
        assert_eq!(Credentials::stored(&bytes), None, "nothing is stored");
        bytes[..3].copy_from_slice(b"lab");
        assert_eq!(Credentials::stored(&bytes).map(|it| it.password.len()), Some(0));
        bytes[32..].fill(b'x');
        let it = Credentials::stored(&bytes).unwrap();
        assert_eq!((&*it.ssid, it.password.len()), ("lab", 64));
        bytes[0] = 0xFF;
        assert_eq!(Credentials::stored(&bytes), None, "no text");
        assert_eq!(Credentials::stored(&bytes[..20]), None);
    }
}
