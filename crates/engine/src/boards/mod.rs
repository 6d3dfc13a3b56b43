//! Espressif's ESP-NOW test report on real boards: the document's own commands at their consoles,
//! over whatever carries bytes.
//!
//! | module | contents |
//! |---|---|
//! | [`console`] | the console of one board as a machine: bytes and time in, bytes, lines, samples and faults out |
//! | [`fault`] | faults of a board, each with the cause that its samples get |
//! | [`learned`] | what a board's console tells of the board |
//! | `desk` | the person at the desk: types at consoles, reads what they print, keeps the record |
//! | `stamps` | one-way delays from the time stamps of both boards |
//! | `start` | boards are reset, show their prompts, and tell who they are |
//! | `single` | tests with one device: delay, round trip, throughput, and the time of encryption |
//! | `many` | tests with many devices, and how a job for all of them is recorded |
//! | `ota` | an image for all devices |
//! | `secret` | a password that is typed, and kept out of the record |
//! | `secure` | the handshake: the key for all devices, or for the two of a test |
//! | `traffic` | ESP-IDF's `iperf` example: throughput over Wi-Fi, with this host as the other end |
//!
//! [`run`] does one cell of ESP-NOW, [`run_traffic`] one of iperf. Samples are those of [`sim::lab::suite`](espbench_sim::lab::suite), as far as
//! consoles print them: round trips in whole milliseconds, cut, on the device's clock; jobs on the
//! clock of this host, which a line reaches some milliseconds after it was printed. The delay of a
//! one-way test is printed by our firmware alone: otherwise an instrument at the pins has it.
//!
//! A port is a [`BoardBench`]: it is told the time, and nothing here reads a clock or does I/O. So a test
//! carries cells out on virtual time, against the consoles of the lab.

pub mod console;
mod desk;
pub mod fault;
pub mod learned;
mod many;
mod ota;
mod secret;
mod secure;
mod single;
mod stamps;
mod start;
#[cfg(test)]
mod tests;
mod traffic;

pub use console::BoardConsole;
pub use fault::BoardFault;
pub use learned::LearnedFacts;
pub use traffic::{PeerStage, StreamPeer};

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use desk::BoardDesk;
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowTest, Iperf};
use espbench_sim::lab::record::Record;

/// Way in which a port resets its board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetWay {
    /// By its modem-control lines, or over USB.
    Pins,
    /// The port has no such lines.
    None,
}

/// Event of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent<'a> {
    /// Bytes of the board.
    Bytes(&'a [u8]),
    /// The port is gone, with the system's error.
    Gone(&'a str),
    /// So many bytes came and were dropped, since nobody took them in time.
    Dropped(u64),
}

/// Ports with boards, and the time.
pub trait BoardBench {
    /// Returns the time.
    fn now(&self) -> Instant;
    /// Returns the name of a port.
    fn name(&self, port: usize) -> String;
    /// Resets boards, so that they run their firmware: returns for each how, or why its port cannot
    /// be used.
    fn reset(&mut self, ports: &[usize]) -> Vec<Result<ResetWay, String>>;
    /// Sends bytes to a board.
    ///
    /// # Errors
    /// The port cannot be used; in words.
    fn write(&mut self, port: usize, bytes: &[u8]) -> Result<(), String>;
    /// Waits until something comes, or until then, and hands over what came.
    fn wait(&mut self, until: Instant, take: &mut dyn FnMut(usize, Instant, PortEvent<'_>));
}

/// Takes what a test finds, and whatever the boards print.
pub trait BoardRecord: Record {
    /// Takes bytes that a port's console printed.
    fn console(&mut self, port: usize, at: Instant, bytes: &[u8]);
}

/// Facts that were learned of the boards on the ports, from one cell to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardMemory(BTreeMap<usize, LearnedFacts>);

impl BoardMemory {
    fn get(&self, port: usize) -> Option<&LearnedFacts> {
        self.0.get(&port)
    }

    fn put(&mut self, port: usize, learned: &LearnedFacts) {
        if learned.mac.is_some() {
            self.0.insert(port, learned.clone());
        }
    }
}

/// Facts that boards cannot know by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardSetup {
    /// Name and password of the network that devices are to join.
    pub network: Option<(String, String)>,
    /// URL of the image that an upgrade fetches.
    pub image: Option<String>,
    /// Pin of one-way tests on all boards; none for that of each chip.
    pub pin: Option<u8>,
}

/// Reason for which a cell was not carried out on boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardError {
    /// The test was told to stop.
    Cancelled,
    /// A board has a fault.
    Fault {
        /// Name of its port.
        port: String,
        /// Fault of the board.
        fault: BoardFault,
    },
    /// A board does not know a command of the test.
    NoCommand {
        /// Name of its port.
        port: String,
        /// The command.
        command: &'static str,
    },
    /// A board's command does not have an option of the test.
    NoOption {
        /// Name of its port.
        port: String,
        /// The option.
        option: &'static str,
    },
    /// A board did not print its address.
    NoAddress {
        /// Name of its port.
        port: String,
    },
    /// A device runs the image already that it is to get.
    SameImage {
        /// Name of its port.
        port: String,
    },
    /// A device has no key to hand out.
    NoKey {
        /// Name of its port.
        port: String,
    },
    /// Something that the user has to say is missing.
    NotTold {
        /// Name of it.
        what: &'static str,
        /// The flag that says it.
        flag: &'static str,
    },
    /// A board did not print what was waited for.
    NotPrinted {
        /// Name of its port.
        port: String,
        /// Words for the line that was waited for.
        what: &'static str,
        /// Longest time that was waited.
        most: Duration,
        /// Last command that was typed, and where.
        after: String,
        /// Last line that the board printed.
        last: String,
    },
}

impl BoardError {
    /// Returns what the user may do.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Fault { fault, .. } => fault.remedy().into(),
            Self::NoCommand { command: learned::IPERF, .. } => {
                "flash ESP-IDF's example `wifi/iperf`, which has the commands `iperf` and `sta_connect` \
                 or `sta`"
                    .into()
            }
            Self::NoOption { .. } => {
                "leave it out of the plan, or flash the example `wifi/iperf` of a later ESP-IDF".into()
            }
            Self::NoCommand { .. } => {
                "flash an example of the esp-now component that has it, such as `solution`".into()
            }
            Self::NoAddress { .. } => {
                "build the firmware with log level INFO, so that it prints its address".into()
            }
            Self::NoKey { .. } => {
                "flash the initiator of the example `security` on this board".into()
            }
            Self::SameImage { .. } => {
                "put another build at the URL before each cell, with another version".into()
            }
            Self::NotTold { flag, .. } => alloc::format!("add {flag}"),
            Self::NotPrinted { .. } => "the whole console is in the store".into(),
            Self::Cancelled => String::new(),
        }
    }
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("stopped"),
            Self::Fault { port, fault } => write!(f, "{port}: {fault}"),
            Self::NoCommand { port, command } => write!(f, "{port} has no command `{command}`"),
            Self::NoOption { port, option } => {
                write!(f, "{port}: its `iperf` has no option {option}")
            }
            Self::NoAddress { port } => write!(f, "{port} did not print its address"),
            Self::SameImage { port } => {
                write!(f, "{port} runs the image already, and is not upgraded to it")
            }
            Self::NoKey { port } => write!(f, "{port} has no key to hand out"),
            Self::NotTold { what, .. } => write!(f, "{what} is not known"),
            Self::NotPrinted { port, what, most, after, last } => {
                let seconds = most.as_secs();
                write!(f, "{port} did not print {what} in {seconds} s after `{after}`; ")?;
                write!(f, "its last line is \"{last}\"")
            }
        }
    }
}

impl core::error::Error for BoardError {}

/// Returns how many boards a test needs.
#[must_use]
pub fn boards_of(work: &EspNow) -> usize {
    match work.test {
        EspNowTest::Crypto => 1,
        _ => usize::from(work.devices).saturating_add(1),
    }
}

/// Carries out one cell with the boards on these ports: the first one is the initiator.
///
/// # Errors
/// Why it was not carried out to its end. Samples that were given stay; those that a fault prevented
/// are given as lost, with its cause.
pub fn run(
    work: &EspNow,
    ports: &[usize],
    seed: u64,
    setup: &BoardSetup,
    memory: &mut BoardMemory,
    bench: &mut dyn BoardBench,
    record: &mut dyn BoardRecord,
) -> Result<(), BoardError> {
    let ports: Vec<usize> = ports.iter().copied().take(boards_of(work)).collect();
    let mut desk = BoardDesk::new(bench, record, &ports, seed);
    let result = start::start(&mut desk, memory).and_then(|()| {
        start::able(&desk, work)?;
        match work.test {
            EspNowTest::OneWay => single::one_way(&mut desk, work, setup),
            EspNowTest::Ping => single::ping(&mut desk, work),
            EspNowTest::Throughput => single::throughput(&mut desk, work),
            EspNowTest::Crypto => single::crypto(&mut desk, work),
            EspNowTest::MultiPing => many::ping(&mut desk, work),
            EspNowTest::Ota => ota::ota(&mut desk, work, setup),
            EspNowTest::Handshake => secure::handshake(&mut desk, work),
            EspNowTest::Provisioning => many::provisioning(&mut desk, work, setup),
        }
    });
    // A crash that is still being told of is told to its end.
    if result.as_ref().is_err_and(|error| *error != BoardError::Cancelled) {
        let _ = desk.told_crashes();
    }
    let result = if result == Err(BoardError::Cancelled) {
        result
    } else {
        let sound = desk.all_sound();
        single::fill(&mut desk, work);
        // The fault says more than what was waited for in vain.
        sound.and(result)
    };
    desk.close();
    result
}

/// Carries out one cell of iperf with the board on this port, and this host as the other end.
///
/// # Errors
/// Why it was not carried out to its end. Samples that were given stay; a stream that a fault
/// prevented is given as a lost probe, with its cause.
pub fn run_traffic(
    work: &Iperf,
    port: usize,
    seed: u64,
    setup: &BoardSetup,
    peer: &mut dyn StreamPeer,
    bench: &mut dyn BoardBench,
    record: &mut dyn BoardRecord,
) -> Result<(), BoardError> {
    let mut desk = BoardDesk::new(bench, record, &[port], seed);
    let result = traffic::traffic(&mut desk, work, setup, peer);
    let _ = desk.told_crashes();
    let sound = if result == Err(BoardError::Cancelled) { Ok(()) } else { desk.all_sound() };
    desk.close();
    sound.and(result)
}
