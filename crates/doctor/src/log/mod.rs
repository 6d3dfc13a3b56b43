//! Console logs of ESP-IDF, Arduino, ESPHome and MicroPython.
//!
//! | module | contents |
//! |---|---|
//! | `access_point` | the device's own access point and its clients |
//! | `address` | an address in the line behind its label |
//! | `boot` | names of chips |
//! | `clock` | time that has passed in a log |
//! | `course` | what works, fails and works again |
//! | `driver` | the driver's lines of its states |
//! | `event` | what a record tells: a disconnection, a panic, a setting |
//! | `format` | heads of records, in the format of each program |
//! | `open_crash` | lines of one crash, told once |
//! | `parting` | a device that leaves its network by itself |
//! | `prefix` | text that monitors, journals and pages put before a line |
//! | `quiet` | lines that tell nothing, whatever their digits |
//! | `reader` | a log as it streams by: events counted, with the lines where they stand |
//! | `record` | records of a line |
//! | `scan` | networks of a scan: those whose security is too old, and the one that is to be joined |
//! | `session` | sessions of a program, by the tags of its tasks |
//! | `silence` | what has to come behind a line, and does not, or comes as a line of its own |
//! | `summary` | counts and settings of a whole log |
//! | `traceback` | backtraces of Python |
//! | `wrapped` | lines that a terminal wrapped |

mod access_point;
mod address;
mod boot;
mod clock;
mod course;
mod driver;
mod event;
mod format;
mod open_crash;
mod parting;
mod prefix;
mod quiet;
mod reader;
mod record;
mod scan;
mod session;
mod silence;
mod summary;
mod traceback;
mod wrapped;

pub(crate) use access_point::MACHINE_SIGNS;
pub(crate) use boot::named as chip_named;
pub(crate) use course::{ACCEPTED, BSS_TRANSITION};
pub use course::{CourseOf, LogPoint, PartCourse, PartCourses};
pub(crate) use driver::is_attempt;
pub(crate) use event::option as config_option;
pub use event::{
    LogEvent, PhyGeneration, PowerSaveType, ResetReason, SignName, TlsFailure, WordCause, events,
};
pub use reader::{ADDRESS_MS, LogReader};
pub use record::{LogRecord, RecordLevel, plain, records};
pub use summary::{EventCounts, EvidenceSource, LogPlace, LogSummary};
