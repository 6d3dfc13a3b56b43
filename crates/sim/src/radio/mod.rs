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
pub mod error;
pub mod mode;
pub mod name;
pub mod output;
pub mod power;
pub mod propagation;
pub mod reader;
pub mod receiver;
pub mod response;
pub mod timing;

pub use airtime::{Airtime, airtime};
pub use capture::Capture;
pub use channel::{Channel, Overlap, Spectrum};
pub use chip::Chip;
pub use error::{Curve, ErrorTable};
pub use mode::{Guard, Hr, Ht, Mcs, Mode, Ofdm, Preamble, Width};
pub use output::Output;
pub use propagation::Room;
pub use reader::Reader;
pub use receiver::Receiver;
pub use response::BasicRates;
pub use timing::Timing;
