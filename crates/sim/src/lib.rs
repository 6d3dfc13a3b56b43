//! A room full of devices, in virtual time: moves frames between the nodes of
//! [`espbench_proto`] and gives every loss a cause.
//!
//! | module | what |
//! |---|---|
//! | [`talk`] | ESP-NOW devices in conversation over an ideal medium with faults by seed |
//! | [`air`] | what a station's antenna gets, and what its receiver makes of it |
//! | [`mac`] | who sends when: DCF, and the loop of events |
//! | [`wifi`] | stations and access points: beacons, joining, sleep, rates |
//! | [`check`] | rooms that equations and ns-3 have computed, too |
//! | [`net`] | IP hosts: smoltcp with the limits of lwIP, or of a PC |
//! | [`floor`] | what the tests of the ESP-NOW report would take with no waste |
//! | [`power`] | currents by state, the charge that they add up to, how long a battery lasts |
//! | [`radio`] | modes, air times, error rates, path loss: the radio as pure functions |
//! | [`random`] | random streams, one for each node and purpose |
//!
//! The virtual lab, with positions, collisions and access points, is not here yet. Nothing in this
//! crate reads a clock: the same seed gives the same bytes on any machine.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod air;
pub mod check;
mod events;
pub mod floor;
pub mod lab;
pub mod mac;
pub mod net;
pub mod power;
pub mod radio;
pub mod random;
pub mod talk;
pub mod wifi;
