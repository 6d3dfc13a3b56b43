//! ESP-NOW devices in conversation, on virtual time.
//!
//! A [`Fleet`] drives any number of devices over an ideal medium, with loss, delay, duplication
//! and reordering by seed. What happens is told to a [`Watch`]; a [`Transcript`] is one that a
//! person can read. A [`Script`] types commands at the devices' consoles and waits for what they
//! print.
//!
//! | module | what |
//! |---|---|
//! | [`device`] | what a device is, and how one is made at each start |
//! | [`Conversation`] | what can be done with a fleet, or with a [lab](crate::lab::run::Lab) |
//! | [`fleet`] | the loop: devices, frames, consoles, in the order of virtual time |
//! | [`medium`] | faults, links, frame time |
//! | [`node`] | fleets of the device that speaks ESP-NOW as the component does |
//! | [`board`], [`image`] | a board in memory: two slots of flash, stored values, pins |
//! | `chip` | how long a chip is at work |
//! | [`note`], [`transcript`] | what happened, as values; and as lines |
//! | [`terminal`] | the host's end of a console: what stands on the line, and typing |
//! | [`script`] | the text form of a conversation |
//!
//! This is no radio model: there are no collisions, no carrier sense between stations, no noise,
//! and a station hears while it sends. Air time is there so that virtual durations are plausible.

pub mod board;
pub mod device;
pub mod fleet;
pub mod image;
pub mod medium;
pub mod node;
pub mod note;
pub mod script;
pub mod terminal;
pub mod transcript;

mod air;
pub(crate) mod chip;
pub(crate) mod conversation;
pub(crate) mod crew;
pub(crate) mod pool;
mod queue;
mod station;

pub use board::MemoryBoard;
pub use conversation::Conversation;
pub use device::{Birth, Device, NodeId};
pub use fleet::{Fleet, Setup, Stuck};
pub use image::Image;
pub use medium::{Link, Medium};
pub use note::{Note, OnAir, Watch};
pub use script::{Script, play};
pub use transcript::Transcript;
