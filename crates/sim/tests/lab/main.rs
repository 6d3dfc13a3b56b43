//! Devices in rooms: nodes over the medium of 802.11.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod ack;
mod fading;
mod join;
mod link_trace;
mod noise;
mod ping;
mod raw;
mod rig;
mod script;
mod traffic;
