//! Console logs of ESP-IDF, Arduino, ESPHome and MicroPython.
//!
//! | module | contents |
//! |---|---|
//! | `access_point` | the device's own access point and its clients |
//! | `address` | the device's own IP address |
//! | `air` | what a record tells of the air: PHYs, rates, replies, frames of ESP-NOW |
//! | `answer` | answers that are none: of names, brokers, servers that are full |
//! | `boot` | what start-up tells of the firmware: chip, release, clock |
//! | `clause` | parts of sentences, and signs of failure in them |
//! | `codes` | numbers that stand for words: of TLS, HTTP, MQTT clients, the driver's errors |
//! | `crash` | restarts, panics, watchdogs, memory, flash |
//! | `device` | causes in the device itself, by a program's words |
//! | `event` | what a record tells: a disconnection, a panic, a setting |
//! | `files` | the file system of the flash |
//! | `format` | heads of records, in the format of each program |
//! | `link` | the link: reasons of its end, strength, power save |
//! | `managed` | exceptions of .NET nanoFramework |
//! | `network` | names, TLS, brokers, sockets |
//! | `parts` | storage, external memory, updates over the air |
//! | `open_crash` | lines of one crash, told once |
//! | `prefix` | text that monitors, journals and pages put before a line |
//! | `reader` | a log as it streams by: events counted, with the lines where they stand |
//! | `record` | records of a line |
//! | `scan` | networks of a scan whose security is too old |
//! | `search` | texts in which many words are looked for |
//! | `setting` | settings that start-up prints |
//! | `signs` | words of failures |
//! | `silence` | what has to come behind a line, and does not, or comes as a line of its own |
//! | `subjects` | words of what fails |
//! | `topic` | what a record speaks of: the network, a broker, a server, or none of them |
//! | `traceback` | backtraces of Python |
//! | `trigger` | words without which a record tells nothing |
//! | `waits` | programs that wait, or try again |
//! | `wordlist` | lists of words, and how they are found |
//! | `words` | a second reading: a failure beside a subject |
//! | `wrapped` | lines that a terminal wrapped |

mod access_point;
mod address;
mod air;
mod answer;
mod boot;
mod clause;
mod codes;
mod crash;
mod device;
mod event;
mod files;
mod format;
mod link;
mod managed;
mod network;
mod open_crash;
mod parts;
mod prefix;
mod reader;
mod record;
mod scan;
mod search;
mod setting;
mod signs;
mod silence;
mod subjects;
mod topic;
mod traceback;
mod trigger;
mod waits;
mod wordlist;
mod words;
mod wrapped;

pub(crate) use access_point::{CLIENT_SERVED, MACHINE_SIGNS};
pub use air::SLOW_MS;
pub use event::{
    EspNowError, LogEvent, PhyGeneration, PowerSaveType, ResetReason, SignName, TlsFailure, events,
};
pub(crate) use link::folded;
pub(crate) use network::NO_SOCKET;
pub use reader::{ADDRESS_MS, EventCounts, EvidenceSource, LogPlace, LogReader, LogSummary};
pub use record::{LogRecord, RecordLevel, plain, records};
pub use setting::BootSetting;
pub use words::WordCause;
