//! Reader of a console: from the bytes of a serial port to samples and results.
//!
//! | module | contents |
//! |---|---|
//! | [`lines`] | splits bytes in chunks of any size into [`TranscriptPiece`]s: lines without control sequences, prompts, questions to the terminal |
//! | [`line`](mod@line) | parts of a line: a monitor's prefix, level, time, tag, text |
//! | [`item`] | content of a line: one type for every report line of the esp-now component |
//! | `split` | finds where a line begins within another |
//! | `scan` | a cursor over the text of a line |
//! | [`session`] | several lines together: [`Sample`](espbench_model::sample::Sample)s and [`TestResult`]s, with the component's miscounts corrected |
//!
//! ```
//! use esp_now::transcript::{LineSplitter, TranscriptEntry, TranscriptSession};
//! let mut lines = LineSplitter::<512>::new();
//! let mut session = TranscriptSession::<8>::new();
//! let mut rest: &[u8] = b"I (1205) iperf_cmd: 10 bytes from 24:0a:c4:00:00:01: seq=0 rssi=-40 time=5 ms\r\n";
//! let mut samples = 0;
//! while let Some(piece) = lines.next(&mut rest) {
//!     samples += session.take(&TranscriptEntry::of(piece)).samples.iter().flatten().count();
//! }
//! assert_eq!(samples, 1);
//! ```
//!
//! The lines are those of the esp-now component at release 2.5.3 (`espnow_console`, `cmd_iperf.c`,
//! `cmd_espnow.c`, `cmd_system.c`, `cmd_wifi.c`, and the log lines of its services), which are also
//! those of the node of this crate. Numbers are parsed as decimal text into integers; nothing here
//! uses floating point, so equal text gives equal samples everywhere.

pub mod item;
pub mod line;
pub mod lines;
mod scan;
pub mod session;
mod split;

pub use item::{TranscriptEntry, TranscriptItem};
pub use line::{ConsoleLine, LogHeader, MonitorPrefix};
pub use lines::{LineCounts, LineSplitter, Query, TranscriptPiece};
pub use session::{SessionOutput, TestResult, TranscriptSession};
