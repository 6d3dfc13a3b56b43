//! A network of devices in virtual time: it moves frames between nodes of [`esp_now`] and packets
//! between programs of [`espbench_proto`], and gives every loss a cause.
//!
//! | module | contents |
//! |---|---|
//! | [`lab`] | the virtual lab: devices, access points and PCs with positions and profiles; its files, suites, traces and predictions |
//! | [`talk`] | conversations with a lab's ESP-NOW devices as text: scripts and transcripts |
//! | [`net`] | IP hosts that behave as lwIP does, or Linux |
//! | [`power`] | currents by state, and the charge that they add up to |
//!
//! Whatever goes over the air in a lab goes through [`espbench_dot11`].
//!
//! Nothing in this crate reads a clock: the same seed gives the same bytes on any machine. A first
//! program is `examples/fleet.rs`: two devices and their consoles.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod lab;
pub mod net;
pub mod power;
pub mod talk;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
