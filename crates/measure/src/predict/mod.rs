//! Predictions of the virtual lab, with their uncertainty and what limits them.
//!
//! | module | what |
//! |---|---|
//! | [`effort`] | how long to simulate |
//! | [`trial`] | one simulated room: its messages, where their time went, the channel |
//! | [`point`] | the trials of one setting as estimates |
//! | [`limit`] | what holds a setting back, in words |
//! | [`limits`] | whether a setting keeps limits |
//! | [`battery`] | batteries, and what stands between them and the chip |
//! | [`on_air`] | which PHY rate is on the air |
//! | [`doubt`] | what is not known of the constants behind a charge, a latency or a range |
//! | [`energy`] | charge of devices that sleep between their messages |
//! | [`card`] | the answer on one card: verdict, leading figures, what limits them, what to change |
//! | [`change`] | changes that are tried, each alone |
//! | `answer` | the answer in sentences |
//! | `cut` | what was due of a prediction that was stopped, and what it tells then |
//! | `largest` | that of a search for the largest fleet |
//! | [`frames`] | one long frame or several short ones |
//! | `range` | that of a question about range, with its table and figure |
//! | `ranking` | the order of rates and of profiles, and which is the best |
//! | `words` | figures of a card in words |
//! | `report`, `tables`, `figures` | all of it as a report |
//!
//! The rooms of a setting differ by their seeds: places, shadowing, phases. Intervals come from
//! how much they differ ([`espbench_stats::cluster`]).

mod answer;
pub mod battery;
pub mod card;
pub mod change;
mod cut;
pub mod doubt;
pub mod effort;
pub mod energy;
mod figures;
pub mod frames;
mod largest;
pub mod limit;
pub mod limits;
pub mod on_air;
pub mod point;
mod range;
mod ranking;
mod report;
mod tables;
#[cfg(test)]
mod tests;
pub mod trial;
mod words;

pub use answer::devices;
pub use card::Prediction;
pub use cut::SettingsDue;
pub use largest::FleetSearched;
pub use limits::FleetLimits;
pub use point::PointEstimates;
pub use range::{RANGE_LOSS, RangeWanted, over_places};
pub use report::{PredictAnswer, PredictQuestion, report};
pub(crate) use tables::capitalized;
pub use trial::{ChannelUse, MessageStage, RoomTrial};

/// The name of the chapter in a report.
pub const SECTION: &str = "predict";
