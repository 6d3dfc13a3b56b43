//! Who sends when: the distributed coordination function (DCF) of IEEE Std 802.11-2020, clause
//! 10.3, for stations that share a medium and do not all hear each other.
//!
//! | module | what | clause |
//! |---|---|---|
//! | [`room`] | the loop of events, and what a frame does to its hearers | |
//! | [`host`] | what stands above the MAC of all stations: it hands frames in and takes them out | |
//! | [`frame`] | a frame on the air | 9.3 |
//! | [`settings`] | what a station can be told | |
//! | `access` | when a station may send: DIFS, EIFS, NAV, slots that freeze | 10.3.2, 10.3.4 |
//! | `station` | its queue, retries, windows, sequence numbers, duplicates | 10.3.3, 10.3.2.14 |
//! | `timers` | one timer for each station, outside the heap | |
//! | [`source`] | simple hosts: senders that never rest, senders by chance | |
//!
//! Not there: RTS and CTS, fragments, EDCA (ESP-NOW and the frames of its measurements need none
//! of them), A-MPDU, power save.

mod access;
pub mod frame;
pub mod host;
pub mod room;
pub mod settings;
pub mod source;
mod station;
mod timers;

pub use frame::{GROUP, Kind, OnAir};
pub use host::{Done, Heard, Host, Missed};
pub use room::{Full, Room};
pub use settings::{Medium, Packet, Settings};
pub use station::Counters;
