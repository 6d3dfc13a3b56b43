//! The radio as pure functions: how a frame is sent, how long it is on the air, what arrives, and
//! whether it can be read. There is no clock, no state and no chance here: medium access is the
//! business of [`mac`](crate::mac).
//!
//! Times are integers in nanoseconds, powers are in dBm, and every name says so. Clauses are those
//! of IEEE Std 802.11-2020 ("the standard").
//!
//! | module | what |
//! |---|---|
//! | [`mode`] | all modes in which an ESP sends |
//! | [`he`] | those of 802.11ax |
//! | [`name`] | the names of modes, and their codes in ESP-IDF |
//! | [`response`] | the rate of an ACK or CTS |
//! | [`mod@airtime`] | the air time of a frame, part by part |
//! | [`error`] | frame errors by noise and interference |
//! | [`chip`] | transmit power and sensitivity of chips, from their datasheets |
//! | [`receiver`] | noise and corrections, which give each chip the sensitivity of its datasheet |
//! | [`decoder`] | the survival of a frame under changing interference |
//! | [`capture`] | preamble detection and frame capture |
//! | [`tx_power`] | the transmit power of each mode |
//! | [`channel`] | channels, and the overlap between them |
//! | [`propagation`] | path loss and shadowing |
//! | [`fading`] | what moving people and doors do to a link in time |
//! | [`power`] | dBm, milliwatts and decibels |
//! | [`chance`] | normal deviates, and numbers that belong to a pair of nodes |
//! | [`timing`] | slots, interframe spaces, time-outs, contention windows |

pub mod airtime;
pub mod capture;
pub mod chance;
pub mod channel;
pub mod chip;
pub mod decoder;
pub mod error;
pub mod fading;
pub mod he;
pub mod mode;
pub mod name;
pub mod power;
pub mod propagation;
pub mod receiver;
pub mod response;
pub mod timing;
pub mod tx_power;

pub use airtime::{Airtime, airtime};
pub use capture::FrameCapture;
pub use channel::{Channel, Overlap, Spectrum};
pub use chip::RadioChip;
pub use decoder::ErrorModelDecoder;
pub use error::{Curve, ErrorTable};
pub use fading::{FastFading, LinkFading, SlowFading};
pub use he::{He, HeFormat, HeGuard};
pub use mode::{ChannelWidth, GuardInterval, Hr, Ht, LongRange, Mcs, Ofdm, Preamble, WifiMode};
pub use propagation::PathLossModel;
pub use receiver::Receiver;
pub use response::BasicRates;
pub use timing::Timing;
pub use tx_power::TxPower;
