//! Command lines at the console of a device that speaks IP: those of ESP-IDF's `iperf` example, with its
//! `ping`.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::workload::Transport;
use espbench_proto::wire::iperf2;

/// Words of a line at most (`max_cmdline_args` of the example is 32).
const WORDS_MAX: usize = 32;

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lab::live) enum ConsoleCommand {
    /// Prints the commands.
    Help,
    /// Prints chip and firmware.
    Version,
    /// Starts the device anew.
    Restart,
    /// Prints the free heap.
    Heap,
    /// Joins the network of that name.
    Join(String),
    /// Sends a stream of iperf 2, or tells what comes.
    Iperf(IperfCommandLine),
    /// Stops the telling.
    IperfAbort,
    /// Sends echo requests.
    Ping(PingLine),
}

/// Options of `iperf`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lab::live) struct IperfCommandLine {
    /// The server to send to; `None` of a server.
    pub(in crate::lab::live) client: Option<String>,
    pub(in crate::lab::live) transport: Transport,
    pub(in crate::lab::live) port: u16,
    /// Bytes of a datagram or write; `None`: the example's.
    pub(in crate::lab::live) length: Option<u32>,
    pub(in crate::lab::live) interval: Duration,
    pub(in crate::lab::live) time: Duration,
    /// Bits a second; `None`: as fast as it goes.
    pub(in crate::lab::live) bandwidth: Option<u64>,
}

/// Options of `ping`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lab::live) struct PingLine {
    pub(in crate::lab::live) host: String,
    pub(in crate::lab::live) count: u32,
    pub(in crate::lab::live) interval: Duration,
    pub(in crate::lab::live) timeout: Duration,
    pub(in crate::lab::live) size: usize,
}

/// Why a line is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lab::live) enum CommandProblem {
    /// The line is empty.
    Empty,
    /// There is no such command.
    Unknown,
    /// An option is wrong; as argtable3 prints it.
    Option(String),
}

/// Returns the words of a line: blanks separate them, double quotes and backslashes hold them together
/// (`esp_console_split_argv`).
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted, mut escaped) = (Vec::new(), None::<String>, false, false);
    for c in line.chars() {
        let add = |word: &mut Option<String>, c| word.get_or_insert_default().push(c);
        match c {
            _ if escaped => {
                escaped = false;
                add(&mut word, c);
            }
            '\\' => escaped = true,
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !quoted => all.extend(word.take()),
            _ => add(&mut word, c),
        }
    }
    all.extend(word);
    all.truncate(WORDS_MAX);
    all
}

/// Parses a line.
pub(in crate::lab::live) fn parse(line: &str) -> Result<ConsoleCommand, CommandProblem> {
    let words = words(line);
    let (name, rest) = words.split_first().ok_or(CommandProblem::Empty)?;
    match name.as_str() {
        "help" => Ok(ConsoleCommand::Help),
        "version" => Ok(ConsoleCommand::Version),
        "restart" => Ok(ConsoleCommand::Restart),
        "heap" | "free" => Ok(ConsoleCommand::Heap),
        "sta_connect" | "sta" => match rest.first() {
            Some(ssid) => Ok(ConsoleCommand::Join(ssid.clone())),
            None => Err(missing(name, "<ssid>")),
        },
        "iperf" => iperf(rest),
        "ping" => ping(rest),
        _ => Err(CommandProblem::Unknown),
    }
}

fn missing(name: &str, what: &str) -> CommandProblem {
    CommandProblem::Option(alloc::format!("{name}: missing option {what}"))
}

fn wrong(name: &str, option: &str, value: &str) -> CommandProblem {
    CommandProblem::Option(alloc::format!(
        "{name}: invalid argument \"{value}\" to option {option}"
    ))
}

/// Options of a command one after the other: names with one hyphen may be joined, and a value may be part
/// of the word.
struct Options<'w> {
    name: &'static str,
    words: core::slice::Iter<'w, String>,
    /// Rest of a word of several letters.
    letters: &'w str,
}

impl<'w> Options<'w> {
    fn new(name: &'static str, words: &'w [String]) -> Self {
        Self { name, words: words.iter(), letters: "" }
    }

    /// Returns the next option by its letter or its long name, or a word that is none.
    fn next(&mut self) -> Option<(&'w str, bool)> {
        if let Some(first) = self.letters.chars().next() {
            let (letter, rest) = self.letters.split_at(first.len_utf8());
            self.letters = rest;
            return Some((letter, true));
        }
        let word = self.words.next()?;
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            self.letters = value;
            return Some((name, true));
        }
        match word.strip_prefix('-') {
            Some(letters) if !letters.is_empty() => {
                self.letters = letters;
                self.next()
            }
            _ => Some((word, false)),
        }
    }

    /// Returns the value of the option that came last.
    fn value(&mut self, option: &str) -> Result<&'w str, CommandProblem> {
        if !self.letters.is_empty() {
            return Ok(core::mem::take(&mut self.letters));
        }
        let next = self.words.next().map(String::as_str);
        next.ok_or_else(|| missing(self.name, option))
    }

    fn number<T: core::str::FromStr>(&mut self, option: &str) -> Result<T, CommandProblem> {
        let text = self.value(option)?;
        text.parse().map_err(|_| wrong(self.name, option, text))
    }
}

/// Parses the options of `iperf`; the defaults are `IPERF_DEFAULT_TIME` and `IPERF_DEFAULT_INTERVAL`.
fn iperf(rest: &[String]) -> Result<ConsoleCommand, CommandProblem> {
    let mut line = IperfCommandLine {
        client: None,
        transport: Transport::Tcp,
        port: iperf2::PORT,
        length: None,
        interval: Duration::from_secs(3),
        time: Duration::from_secs(30),
        bandwidth: None,
    };
    let (mut options, mut server) = (Options::new("iperf", rest), false);
    while let Some((option, is_option)) = options.next() {
        match option {
            "a" | "abort" if is_option => return Ok(ConsoleCommand::IperfAbort),
            "s" | "server" if is_option => server = true,
            "u" | "udp" if is_option => line.transport = Transport::Udp,
            "V" | "f" | "w" | "P" | "B" if is_option && option != "V" => {
                options.value(option)?;
            }
            "V" if is_option => {}
            "c" | "client" if is_option => line.client = Some(options.value("-c")?.to_string()),
            "p" | "port" if is_option => line.port = options.number("-p")?,
            "l" | "len" if is_option => {
                let length: u32 = options.number("-l")?;
                line.length = Some(length).filter(|it| (1..=16_384).contains(it));
            }
            "i" | "interval" if is_option => {
                line.interval = Duration::from_secs(options.number::<u32>("-i")?.max(1).into());
            }
            "t" | "time" if is_option => {
                line.time = Duration::from_secs(options.number::<u32>("-t")?.max(1).into());
            }
            "b" | "bandwidth" if is_option => {
                let text = options.value("-b")?;
                line.bandwidth = Some(bits(text).ok_or_else(|| wrong("iperf", "-b", text))?);
            }
            other => return Err(wrong("iperf", "", other)),
        }
    }
    match (&line.client, server) {
        (None, false) | (Some(_), true) => Err(CommandProblem::Option(
            "E (0) IPERF: Wrong mode! ESP32 should run in client or server mode".to_string(),
        )),
        _ => Ok(ConsoleCommand::Iperf(line)),
    }
}

/// Reads bits a second: `10M`, `500k`, as the component `iperf` does from 1.0 on.
fn bits(text: &str) -> Option<u64> {
    let (digits, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        "g" | "G" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|it| *it > 0)
}

/// Parses the options of `ping` (`icmp_echo` of ESP-IDF).
fn ping(rest: &[String]) -> Result<ConsoleCommand, CommandProblem> {
    let second = Duration::from_secs(1);
    let mut line =
        PingLine { host: String::new(), count: 5, interval: second, timeout: second, size: 64 };
    let mut options = Options::new("ping", rest);
    let seconds = |text: &str, option| {
        let time = text.parse::<f64>().ok().filter(|it| (0.001..=86_400.0).contains(it));
        time.map(Duration::from_secs_f64).ok_or_else(|| wrong("ping", option, text))
    };
    while let Some((option, is_option)) = options.next() {
        match option {
            "c" | "count" if is_option => line.count = options.number("-c")?,
            "s" | "size" if is_option => {
                let size: usize = options.number("-s")?;
                line.size = size.min(65_507);
            }
            "i" | "interval" if is_option => {
                line.interval = seconds(options.value("-i")?, "-i")?;
            }
            "W" | "timeout" if is_option => line.timeout = seconds(options.value("-W")?, "-W")?,
            "Q" | "tos" | "T" | "ttl" if is_option => {
                options.value(option)?;
            }
            host if !is_option && line.host.is_empty() => line.host = host.to_string(),
            other => return Err(wrong("ping", "", other)),
        }
    }
    if line.host.is_empty() {
        Err(missing("ping", "<host>"))
    } else {
        Ok(ConsoleCommand::Ping(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn iperfs_options_are_those_of_the_example() {
        let Ok(ConsoleCommand::Iperf(line)) =
            parse("iperf -c 10.0.0.2 -ut5 -i 1 -b 10M --len=1470")
        else {
            panic!("a client")
        };
        assert_eq!(line.client.as_deref(), Some("10.0.0.2"));
        assert_eq!((line.transport, line.port), (Transport::Udp, 5001));
        assert_eq!((line.length, line.bandwidth), (Some(1470), Some(10_000_000)));
        assert_eq!((line.time, line.interval), (Duration::from_secs(5), Duration::from_secs(1)));
        assert_eq!(parse("iperf -a"), Ok(ConsoleCommand::IperfAbort));
        let Ok(ConsoleCommand::Iperf(line)) = parse("iperf -s -i 1") else { panic!("a server") };
        assert_eq!((line.client, line.time), (None, Duration::from_secs(30)));
        for text in
            ["iperf", "iperf -s -c pc", "iperf -c", "iperf -s -t x", "iperf -s -b 10x", "iperf x"]
        {
            assert!(matches!(parse(text), Err(CommandProblem::Option(_))), "{text}");
        }
    }

    #[test]
    fn other_commands_are_read() {
        let Ok(ConsoleCommand::Ping(line)) = parse("ping -c 3 -s 4000 pc -i 0.2") else {
            panic!("a ping")
        };
        assert_eq!((line.host.as_str(), line.count, line.size), ("pc", 3, 4000));
        assert_eq!(line.interval, Duration::from_millis(200));
        assert_eq!(parse("  restart "), Ok(ConsoleCommand::Restart));
        assert_eq!(
            parse(r#"sta_connect "my \"home\"" secret"#),
            Ok(ConsoleCommand::Join(r#"my "home""#.into()))
        );
        assert_eq!(parse(""), Err(CommandProblem::Empty));
        assert_eq!(parse("ls -l"), Err(CommandProblem::Unknown));
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "\\PC{0,80}", name in "(iperf|ping|sta|)") {
            let _ = parse(&alloc::format!("{name} {line}"));
        }
    }
}
