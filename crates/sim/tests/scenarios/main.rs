//! Whole conversations of the device that speaks ESP-NOW as the component does. What came out
//! stands in `snapshots/`: a change of behaviour is a changed number in a table.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod command;
mod conversation;
mod forward;
mod handshake;
mod one_way;
mod ota;
mod ping;
mod prov;
mod rig;
mod throughput;
