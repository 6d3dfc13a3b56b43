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
//! Not there: fragments, EDCA. Doze, meters and refusals are there; A-MPDU, the frames that go
//! ahead and RTS have their types, and the room does not act on them yet.

mod access;
pub mod frame;
pub mod host;
pub mod room;
pub mod settings;
pub mod source;
mod station;
mod timers;

pub use frame::{Fate, GROUP, Kind, Mpdu, OnAir};
pub use host::{Done, Heard, Host, Missed};
pub use room::{Full, Room, Spent};
pub use settings::{Ampdu, Medium, Packet, Settings};
pub use station::Counters;
