//! ESP-NOW devices in conversation, on virtual time.
//!
//! A [`Fleet`] drives any number of devices over an ideal medium, with loss, delay, duplication
//! and reordering by seed. A [`Watch`] is told what happens; a [`Transcript`] is one that a
//! person can read. A [`Script`] types commands at the devices' consoles and waits for what they
//! print.
//!
//! | module | contents |
//! |---|---|
//! | [`device`] | the behaviour of a device, and the facts that it is made from at each start |
//! | `conversation` | [`Conversation`]: the verbs for a fleet, or for a [lab](crate::lab::run::Lab) |
//! | `device_set` | devices with their boards and consoles, whatever the medium |
//! | [`fleet`] | the loop: devices, frames, consoles, in the order of virtual time |
//! | [`medium`] | faults, links, frame time |
//! | `air`, `station`, `pool`, `queue` | frames on the ideal medium, its radios, and the events to come |
//! | [`node`] | fleets of the device that speaks ESP-NOW as the component does |
//! | [`board`], [`image`] | a board in memory: two slots of flash, stored values, pins |
//! | `chip` | costs of a chip's work |
//! | [`note`], [`transcript`] | events, as values; and as lines |
//! | [`terminal`] | the host's end of a console: its last line, and typing |
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
pub(crate) mod device_set;
pub(crate) mod pool;
mod queue;
mod station;

pub use board::MemoryBoard;
pub use conversation::Conversation;
pub use device::{Birth, DeviceModel, NodeId};
pub use fleet::{Fleet, FleetSetup, Stuck};
pub use image::FirmwareImage;
pub use medium::{Medium, MediumLink};
pub use note::{FrameOnAir, Note, Watch};
pub use script::{Script, play};
pub use transcript::Transcript;
