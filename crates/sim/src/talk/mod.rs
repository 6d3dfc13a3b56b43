//! Conversations with ESP-NOW devices as text: a script types commands at the consoles of a lab's devices
//! and waits for what they print, and a transcript is what a person reads of it.
//!
//! A [`Script`] is played on any lab: on a [fleet](crate::lab::ideal), whose medium is ideal but for faults
//! by seed, or in the room of a [`Lab`](crate::lab::run::Lab).
//!
//! | module | contents |
//! |---|---|
//! | [`script`] | the text form of a conversation |
//! | [`transcript`] | events as lines |

pub mod script;
pub mod transcript;

pub use script::{Script, play};
pub use transcript::Transcript;
