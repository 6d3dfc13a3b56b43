//! The conversation harness, with toys for devices.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod consoles;
mod frames;
mod laws;
mod toys;
