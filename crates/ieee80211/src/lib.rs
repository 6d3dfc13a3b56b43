//! Frames of IEEE 802.11 as captures hold them: what an ESP-NOW device, a station or an access point
//! sends, and what a capture adds.
//!
//! Each format has a view that can show any octets, however malformed, and a small value that
//! parses and emits. After a view's length check no accessor panics, on any input.
//!
//! | module | contents |
//! |---|---|
//! | [`mac`] | MAC addresses |
//! | [`mpdu`] | MAC headers, acknowledgements, sequence numbers, the frame check sequence |
//! | [`beacon`] | beacon frames and their elements |
//! | [`wlan`] | frames of an infrastructure network: data, control, authentication, association |
//! | [`radiotap`] | radiotap headers of captured frames |
//! | [`ppi`] | PPI headers of captured frames |
//! | [`view`] | an MPDU of any type, as a capture shows it |
//!
//! A first program is `examples/action_frame.rs`: a captured frame is read.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod beacon;
pub mod mac;
pub mod mpdu;
pub mod ppi;
pub mod radiotap;
pub mod view;
pub mod wlan;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
