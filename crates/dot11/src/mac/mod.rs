//! Medium access: the distributed coordination function (DCF) of IEEE Std 802.11-2020, clause 10.3,
//! for stations that share a medium and do not all hear each other.
//!
//! | module | what | clause |
//! |---|---|---|
//! | [`medium`] | the wireless medium: the event loop, and the effect of a frame on its receivers | |
//! | [`user`] | the user of the MAC service of all stations: it hands frames in and takes them out | |
//! | [`frame`] | a PPDU on the air | 9.3 |
//! | [`config`] | the configuration of a station and of the medium | |
//! | `channel_access` | when a station may send: DIFS, EIFS, NAV, back-off | 10.3.2, 10.3.4 |
//! | `station` | a station's queue, retries, windows, sequence numbers, duplicates | 10.3.3, 10.3.2.14 |
//! | `exchange` | the frames of one exchange: one frame, or an A-MPDU | 9.7, 10.12 |
//! | `block_ack` | block ack: sequence numbers, scoreboard, reorder buffer | 10.25 |
//! | `timers` | one timer for each station, outside the heap of events | |
//! | [`source`] | sources of load: saturated senders, Poisson arrivals | |
//!
//! A station whose [`MacConfig`] asks for no A-MPDU, RTS or CTS-to-self sends frames one by one, as
//! ESP-NOW does, and pays nothing for the rest.
//!
//! A drawing or a capture sees of an A-MPDU: [`MacUser::on_tx_start`] and [`MacUser::on_tx_end`]
//! once, with [`Ppdu::mpdus`] and the first sequence number; [`MacUser::on_ampdu_end`] with the
//! fate of each MPDU ([`MacUser::on_mpdu_end`] for a single MPDU under an agreement); and
//! [`MacUser::on_control`] with the block acknowledgement and its bitmap.
//!
//! Agreements exist as soon as they are needed: ADDBA and DELBA frames are the business of the
//! layer above, and so is the choice of the packets under an agreement ([`TxFrame::aggregate`]).
//! After a missing block acknowledgement all MPDUs are sent again, without a request first; a
//! request ([`FrameKind::BlockAckRequest`]) follows when an MPDU was given up.
//!
//! Left out: fragments and A-MSDU; the queues of EDCA (a station has one for all it sends: AIFSN
//! and windows are those of its [`MacConfig::timing`], the TXOP limit is 0, and frames that are
//! [`TxFrame::ahead`] go first); several agreements between two stations (TIDs); the delay before a
//! station that wakes up may send; power save frames, which are the business of the layer above
//! ([`WirelessMedium::doze`]).

mod block_ack;
mod channel_access;
pub mod config;
mod exchange;
pub mod frame;
pub mod medium;
pub mod source;
mod station;
mod timers;
pub mod user;

pub use config::{AmpduConfig, MacConfig, MediumConfig, TxFrame};
pub use frame::{FrameKind, GROUP, MpduFate, MpduInfo, Ppdu};
pub use medium::{QueueFull, Spent, WirelessMedium};
pub use station::MacCounters;
pub use user::{MacUser, MissedReception, Reception, TxStatus};
