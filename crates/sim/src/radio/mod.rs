//! The radio as pure functions: how a frame is sent, how long it is on the air, what arrives, and
//! whether it can be read. No clock, no state, no dice: who sends when is the medium's business.
//!
//! Times are integers in nanoseconds, powers are in dBm, and every name says so. Clauses are those
//! of IEEE Std 802.11-2020 ("the standard").
//!
//! | module | what |
//! |---|---|
//! | [`mode`] | all ways an ESP sends in the 2.4 GHz band |
//! | [`name`] | their names, and the codes ESP-IDF has for them |
//! | [`response`] | at which rate an ACK or CTS answers |
//! | [`mod@airtime`] | how long a frame takes, part by part |
//! | [`error`] | how many frames noise and interference spoil |
//! | [`chip`] | what datasheets say of the radios of chips |
//! | [`receiver`] | noise and corrections, so that each chip hears what its datasheet claims |
//! | [`reader`] | what of a frame survives changing interference |
//! | [`capture`] | which of several frames is read |
//! | [`output`] | with what power each mode is sent |
//! | [`channel`] | channels, and what another channel hears |
//! | [`propagation`] | path loss and shadowing |
//! | [`power`] | dBm, milliwatts and decibels |
//! | [`chance`] | normal numbers, and numbers that belong to a link |
//! | [`timing`] | slots, spaces between frames, time-outs, contention windows |

pub mod airtime;
pub mod capture;
pub mod chance;
pub mod channel;
pub mod chip;
pub mod decoder;
pub mod error;
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
pub use mode::{ChannelWidth, GuardInterval, Hr, Ht, Mcs, Mode, Ofdm, Preamble};
pub use propagation::PathLossModel;
pub use receiver::Receiver;
pub use response::BasicRates;
pub use timing::Timing;
pub use tx_power::TxPower;
