//! IEEE 802.11 at 2.4 GHz in virtual time: what a radio sends and reads, who gets the medium, and how
//! stations join access points.
//!
//! | module | contents |
//! |---|---|
//! | [`radio`] | modes, air times, error rates, path loss: the radio as pure functions |
//! | [`air`] | reception: the power at a station's antenna, and the state of its receiver |
//! | [`mac`] | medium access: the DCF, and the event loop |
//! | [`wifi`] | stations and access points: beacons, joining, power save, rate control |
//! | [`check`] | networks that equations and ns-3 have computed, too |
//! | [`random`] | random streams, one for each node and purpose |
//! | [`events`] | a queue of events by time |
//!
//! A frame here is its octets, its mode and the tag of whoever sends it: there are no bytes, and so no
//! ESP-NOW and no IP. Nothing reads a clock: the same seed gives the same frames on any machine.
//!
//! A first program is `examples/room.rs`: saturated stations beside Bianchi's model.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod air;
pub mod check;
pub mod events;
pub mod mac;
pub mod radio;
pub mod random;
pub mod wifi;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
