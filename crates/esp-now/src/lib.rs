//! ESP-NOW, and Espressif's esp-now component over it, without I/O: frames, payloads, a whole node
//! and its console. No heap, no clock, no `unsafe`; the caller moves the bytes and tells the time.
//!
//! | module | contents |
//! |---|---|
//! | [`frame`] | the action frame on the air, v1.0 and v2.0 |
//! | [`component`] | the component's header and the payloads of its services, by release |
//! | [`node`] | a device with all services, as one machine |
//! | [`console`] | its console: line editor, options, commands |
//! | [`transcript`] | a console's output, read back into samples and results |
//!
//! `frame` knows nothing of the others, and `component` of `frame` only versions and lengths; a node
//! uses all but `transcript`. The README has a first program, `examples/` has three more, and
//! [`node`] two nodes that talk to each other.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod component;
pub mod console;
pub mod frame;
pub mod node;
pub mod transcript;

// Their types stand in this crate's functions, so that users find them here in the right version.
pub use espbench_ieee80211 as ieee80211;
pub use espbench_model as model;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
