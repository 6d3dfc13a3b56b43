//! Console logs of ESP-IDF, Arduino, ESPHome and MicroPython.
//!
//! | module | contents |
//! |---|---|
//! | `air` | what a record tells of the air: PHYs, rates, replies, frames of ESP-NOW |
//! | `boot` | what start-up tells of the firmware: chip, release, clock |
//! | `event` | what a record tells: a disconnection, a panic, a setting |
//! | `reader` | a log as it streams by: events counted, with the lines where they stand |
//! | `record` | records of a line, in the format of each program |

mod air;
mod boot;
mod event;
mod reader;
mod record;

pub use air::SLOW_MS;
pub use event::{
    BootSetting, EspNowError, LogEvent, PhyGeneration, PowerSaveType, ResetReason, events,
};
pub use reader::{EventCounts, EvidenceSource, LogPlace, LogReader, LogSummary};
pub use record::{LogRecord, RecordLevel, plain, records};
