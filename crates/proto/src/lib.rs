//! What devices say, and how each one behaves.
//!
//! # A map of the code
//!
//! | module | what |
//! |---|---|
//! | [`time`] | [`Instant`](time::Instant): time is an argument; nothing here reads a clock |
//! | [`sample`] | [`Sample`](sample::Sample): the fate of one probe or one interval, the raw record |
//! | [`workload`] | what one measured cell asks of a target |
//! | [`fact`] | names by which a target tells what its samples were taken of |
//! | [`search`] | the search for the highest rate without loss: which rate is tried next |
//! | [`text`] | where something stands in a text that somebody wrote, and which word was meant |
//! | [`excerpt`] | a stretch of a medium’s history as text |
//! | [`wire`] | bytes: views over buffers and small values that parse and emit |
//! | [`node`] | behaviour: machines without I/O that the host, the simulator and firmware drive |
//!
//! # The contract of a node
//!
//! A machine takes what happened (`handle(now, input)`) and is then asked for what it wants
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
