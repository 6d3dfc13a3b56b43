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
//! | `burst` | what goes into one exchange: a frame, or an A-MPDU | 9.7, 10.12 |
//! | `agreement` | block ack: numbers, scoreboard, reorder buffer | 10.25 |
//! | `timers` | one timer for each station, outside the heap | |
//! | [`source`] | simple hosts: senders that never rest, senders by chance | |
//!
//! A station whose [`Settings`] ask for no A-MPDU, RTS or CTS to itself sends frames one by one, as
//! ESP-NOW does, and pays nothing for the rest.
//!
//! What a drawing or a capture sees of an A-MPDU: [`Host::began`] and [`Host::ended`] once, with
//! [`OnAir::mpdus`] and the first sequence number; [`Host::ended_with`] each MPDU and what became of
//! it ([`Host::ended_alone`] for one alone under an agreement); [`Host::answered`] the block
//! acknowledgement with its bitmap.
//!
//! Agreements are there as soon as they are needed: ADDBA and DELBA frames are the business of what
//! stands above, and so is whether a packet goes under one ([`Packet::aggregate`]). After a missing
//! block acknowledgement all is sent again, without a request first; a request
//! ([`Kind::BlockAckRequest`]) follows when something was given up.
//!
//! Not there: fragments, A-MSDU; EDCA's queues, of which a station has one for all it sends (AIFSN
//! and windows are those of its [`Settings::timing`], the TXOP limit is 0, frames that are
//! [`Packet::ahead`] go first); more than one agreement between two stations (TIDs); the delay
//! before a station that wakes up may send; power save frames, which are the business of what stands
//! above ([`Room::doze`]).

mod access;
mod agreement;
mod burst;
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
