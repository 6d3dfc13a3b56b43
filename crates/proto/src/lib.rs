//! Protocols without I/O: the frames and messages that devices exchange, and the state machines
//! that send and answer them.
//!
//! # A map of the code
//!
//! | module | contents |
//! |---|---|
//! | [`time`] | [`Instant`](time::Instant): time is an argument; nothing here reads a clock |
//! | [`sample`] | [`Sample`](sample::Sample): the fate of one probe or one interval, the raw record |
//! | [`workload`] | the test that a plan asks of a target for one measured cell |
//! | [`fact`] | names of the facts and counters that a target reports beside its samples |
//! | [`search`] | the search for the highest rate without loss: it chooses the next rate to try |
//! | [`sdkconfig`] | the menuconfig options of ESP-IDF that the simulator and the tuner understand |
//! | [`text`] | line and column of a byte in a text, and suggestions for misspelt words |
//! | [`excerpt`] | an excerpt of what happened on the medium, stored as lines of text |
//! | [`wire`] | wire formats: views over buffers, and small values that parse and emit |
//! | [`node`] | behaviour: state machines that the host, the simulator and firmware drive |
//!
//! # The contract of a node
//!
//! The driver tells a machine what happened (`handle(now, input)`) and then asks it what it wants
//! (`poll(now, buf)`) until it answers `WaitUntil`. Mutate once, drain all, then mutate again.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod excerpt;
pub mod fact;
pub mod node;
pub mod sample;
pub mod sdkconfig;
pub mod search;
pub mod text;
pub mod time;
pub mod wire;
pub mod workload;
