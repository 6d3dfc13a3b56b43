//! A network of devices in virtual time: it moves frames between the nodes of [`espbench_proto`]
//! and gives every loss a cause.
//!
//! | module | contents |
//! |---|---|
//! | [`lab`] | the virtual lab: devices, access points and PCs with positions and profiles; its files, suites, traces and predictions |
//! | [`talk`] | ESP-NOW devices in conversation over an ideal medium with faults by seed |
//! | [`wifi`] | stations and access points: beacons, joining, power save, rate control |
//! | [`net`] | IP hosts: smoltcp with the limits of lwIP, or of a PC |
//! | [`mac`] | medium access: the DCF, and the event loop |
//! | [`air`] | reception: the power at a station's antenna, and the state of its receiver |
//! | [`radio`] | modes, air times, error rates, path loss: the radio as pure functions |
//! | [`power`] | currents by state, and the charge that they add up to |
//! | [`floor`] | bounds: the time that a test takes at its PHY rate with no waste |
//! | [`check`] | networks that equations and ns-3 have computed, too |
//! | [`random`] | random streams, one for each node and purpose |
//! | `events` | a queue of events by time |
//!
//! Nothing in this crate reads a clock: the same seed gives the same bytes on any machine.
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
