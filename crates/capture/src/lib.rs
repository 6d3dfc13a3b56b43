//! Captures of ESP32-class devices: what a pcap or pcapng file tells of ESP-NOW, of the medium and of TCP.
//!
//! | module | contents |
//! |---|---|
//! | [`file`] | pcap and pcapng: packets, in chunks of any size |
//! | [`link`] | what is behind a packet's first header: a frame of IEEE 802.11, or an IP packet |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod file;
pub mod link;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
