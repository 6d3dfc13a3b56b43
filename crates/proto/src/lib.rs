//! Protocols without I/O: the frames and messages that devices exchange, and the state machines
//! that send and answer them.
//!
//! # A map of the code
//!
//! | module | contents |
//! |---|---|
//! | [`wire`] | wire formats: views over buffers, and small values that parse and emit |
//! | [`node`] | behaviour: state machines that the host, the simulator and firmware drive |
//!
//! # The contract of a node
//!
//! The driver tells a machine what happened (`handle(now, input)`) and then asks it what it wants
//! (`poll(now, buf)`) until it answers `WaitUntil`. Mutate once, drain all, then mutate again.
//! `examples/echo.rs` is such a driver, over a network in memory.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod node;
pub mod wire;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
