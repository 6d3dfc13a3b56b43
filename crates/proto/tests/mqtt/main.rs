//! Conversations of the MQTT exchange with a scripted broker, on virtual time.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod broker;
mod faults;
mod listening;
mod messages;
mod random;
mod rig;
