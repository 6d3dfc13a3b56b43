//! Reception at a station: the power at its antenna, and the state of its receiver.
//!
//! | module | what |
//! |---|---|
//! | [`power`] | power as a whole number of attowatts, so that sums are exact; ratios |
//! | [`links`] | who hears whom, and how strongly: a sparse list for each sender |
//! | [`receiver`] | one receiver: carrier sense, the frame it receives, interference, capture |
//! | [`decoder`] | whether a frame survives its interference: where an error model plugs in |
//! | [`adjacent`] | the part of a frame that arrives on other channels |
//!
//! Propagation takes no time: 10 ns for 3 m are nothing beside a slot of 20 us.

pub mod adjacent;
pub mod decoder;
pub mod links;
pub mod power;
pub mod receiver;

pub use adjacent::AdjacentChannels;
pub use decoder::{Decoder, ThresholdDecoder};
pub use links::{LinkPower, RadioLink, RadioLinks};
pub use power::{PowerRatio, SignalPower};
pub use receiver::ReceiverConfig;
