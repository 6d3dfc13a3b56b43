//! Questions to a lab whose devices all send to one, and their answers.
//!
//! | module | contents |
//! |---|---|
//! | `firmware` | what options of sdkconfig change of a node |
//! | `setup` | the lab, and what its devices send |
//! | `doubts` | what is not known of the constants behind a charge |
//! | `error` | what keeps a prediction from being made |
//! | `rooms` | rooms of the lab, made and simulated for one setting after the other |
//! | `trials` | what a room has come to, as a trial |
//! | `watch` | a room, simulated, and what was on the air of it |
//! | `questions` | [`fleet`], [`rate`], [`compare`] and [`rate_in_force`]: from a question to its answer |
//! | `largest` | [`largest_fleet`]: the search for it |
//! | `of_lab` | what a question sets of a lab to another value than the lab's file |
//! | `frames` | [`frames()`]: one long frame or several short ones |
//! | `range` | [`range()`]: how far messages reach |
//! | `changes` | changes of a fleet's setting, each simulated alone |
//! | `reach` | range of a message, and the walls in between |
//!
//! An answer takes hundreds of rooms. A [`RoomRunner`] simulates them: [`OneByOne`], or the host's
//! with its threads and its progress. The answer is the same.

mod changes;
mod doubts;
mod error;
mod firmware;
mod frames;
mod largest;
mod of_lab;
mod questions;
mod range;
mod reach;
mod rooms;
mod setup;
mod trials;
mod watch;

pub use error::PredictError;
pub use firmware::NodeFirmware;
pub use frames::{FramesCase, FramesQuestion, frames, longest_frame};
pub use largest::{SearchLimits, largest_fleet};
pub use questions::{compare, fleet, rate, rate_in_force};
pub use range::range;
pub use rooms::{OneByOne, Predictor, RoomCase, RoomRunner, SearchPlan};
pub use setup::{PredictSetup, QUEUE};
pub use watch::WatchedRoom;
