//! ESP-NOW devices with their boards and consoles, whatever medium they are on.
//!
//! | module | contents |
//! |---|---|
//! | [`device`] | the behaviour of a device, and the facts that it is made from at each start |
//! | `conversation` | [`Conversation`]: the verbs for devices in conversation |
//! | `device_set` | devices with their boards and consoles |
//! | [`node`] | the device that speaks ESP-NOW as the component does |
//! | [`board`], [`image`] | a board in memory: two slots of flash, stored values, pins |
//! | `chip` | costs of a chip's work |
//! | `livelock` | a device that always wants to be polled again |
//! | [`note`] | events, as values |
//! | [`terminal`] | the host's end of a console: its last line, and typing |
//! | `pool` | where a frame on its way comes from |

pub mod board;
pub(crate) mod chip;
pub(crate) mod conversation;
pub mod device;
pub(crate) mod device_set;
pub mod image;
pub(crate) mod livelock;
pub mod node;
pub mod note;
pub(crate) mod pool;
pub mod terminal;

pub use board::MemoryBoard;
pub use conversation::Conversation;
pub use device::{Birth, DeviceModel, NodeId};
pub use device_set::Printed;
pub use image::FirmwareImage;
pub use livelock::{Livelock, POLLS_MAX};
pub use note::{FrameOnAir, Note, Watch};
