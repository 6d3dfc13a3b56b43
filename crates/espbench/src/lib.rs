//! Everything that touches the world: sockets, database, drawings, the command.
//!
//! # A map of the code
//!
//! | module | contents |
//! |---|---|
//! | [`cli`] | the command: one file per subcommand; the only module that knows all others |
//! | [`target`] | where: one file per way to reach devices |
//! | [`respond`] | the other side: UDP echo, TCP sink and source, iperf 2 server, MQTT broker |
//! | [`pump`] | moves bytes between sockets and the iperf machines, for both of these |
//! | [`store`] | the record, in SQLite |
//! | [`published`] | published figures in files of the user's |
//! | [`texts`] | text files that people wrote: plans, labs, profiles, environments |
//! | [`named_file`] | files that a user names, read with a bound |
//! | [`live_mark`] | how programs learn that devices are simulated in real time |
//! | [`labs`] | rooms for the simulator by name: built-in ones, and files of the user's |
//! | [`flash`] | flashing of boards: images, the chip's loader, addresses as functions and lines |
//! | [`render`] | drawings of a report: text, JSON, CSV, Markdown, HTML |
//! | [`transport`] | TCP, TLS and WebSocket below MQTT |
//! | [`sys`] | system calls that differ by platform, each with a fallback |
//! | [`capture`] | capture files of what was on a simulated air |
//! | [`logic`] | captures of logic analysers: VCD, sigrok sessions, CSV |
//! | [`serial`] | serial ports of boards: which there are, how a chip behind one is reset |
//! | `batches` | tables as record batches of Arrow |
//! | [`embed`] | commands inside another program: what they print is a value |
//! | [`clock`] | the monotonic clock |
//! | [`say`] | prints to stderr and stdout, and never panics |
//! | [`user_error`] | errors as a user is told of them, in three lines at most |
//!
//! `target`, `store`, `render` and `respond` do not know each other, but for the in-process side
//! of `target::loopback`.

#![deny(clippy::print_stderr, clippy::print_stdout)]

#[cfg(feature = "arrow")]
pub mod batches;
pub mod capture;
pub mod cli;
pub mod clock;
pub mod embed;
#[cfg(feature = "flash")]
pub mod flash;
pub mod labs;
pub mod live_mark;
pub mod logic;
pub mod named_file;
pub mod published;
pub mod pump;
pub mod render;
pub mod respond;
pub mod say;
#[cfg(feature = "serial")]
pub mod serial;
pub mod store;
pub mod sys;
pub mod target;
pub mod texts;
pub mod transport;
pub mod user_error;

pub use espbench_engine::TOOL;
