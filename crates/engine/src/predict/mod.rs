//! What if: questions to a lab whose devices all send to one, and their answers.
//!
//! | module | contents |
//! |---|---|
//! | `firmware` | what options of sdkconfig change of a node |
//! | `setup` | the lab, and what its devices send |
//! | `rooms` | rooms of the lab, made and simulated for one setting after the other |
//! | `questions` | [`fleet`] and [`rate`]: from a question to its answer |
//! | `largest` | [`largest_fleet`]: the search for it |
//! | `range` | [`range()`]: how far messages reach |
//! | `changes` | changes of a fleet's setting, each simulated alone |
//!
//! An answer takes hundreds of rooms. A [`RoomRunner`] simulates them: [`OneByOne`], or the host's
//! with its threads and its progress. The answer is the same.

mod changes;
mod firmware;
mod largest;
mod questions;
mod range;
mod rooms;
mod setup;

pub use firmware::NodeFirmware;
pub use largest::{SearchLimits, largest_fleet};
pub use questions::{fleet, rate};
pub use range::range;
pub use rooms::{OneByOne, PredictError, Predictor, RoomCase, RoomRunner, SearchPlan};
pub use setup::{PredictSetup, QUEUE};
