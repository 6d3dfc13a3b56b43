//! Reading a console: from the bytes of a serial port to what its lines say.
//!
//! | module | what |
//! |---|---|
//! | [`lines`] | bytes in chunks of any size to [`Piece`]s: lines without control sequences, prompts, questions to the terminal |
//! | [`line`](mod@line) | the shape of a line: a monitor's prefix, level, time, tag, text |
//! | [`item`] | what a line says: one type for every report line of the esp-now component |
//!
//! The lines are those of the esp-now component at release 2.5.3 (`espnow_console`, `cmd_iperf.c`,
//! `cmd_espnow.c`, `cmd_system.c`, `cmd_wifi.c`, and the log lines of its services), which are
//! also those of our own node. Numbers are read as decimal text into integers; nothing here uses
//! floating point, so the same text gives the same samples everywhere.

pub mod item;
pub mod line;
pub mod lines;
mod scan;
mod split;

pub use item::{Entry, Item};
pub use line::{Line, Log, Remote};
pub use lines::{LineCounts, Lines, Piece, Query};
