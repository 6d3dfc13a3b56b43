//! Captures of ESP32-class devices: what a pcap or pcapng file tells of ESP-NOW, of the medium and of TCP.
//!
//! | module | contents |
//! |---|---|
//! | [`analysis`] | a whole capture: packets to the analyses of the air and of TCP |
//! | [`mod@file`] | pcap and pcapng: packets, in chunks of any size |
//! | [`link`] | what is behind a packet's first header: a frame of IEEE 802.11, or an IP packet |
//! | [`air`] | frames of IEEE 802.11: the medium, links, ESP-NOW |
//! | [`tcp`] | TCP connections: what is sent again, windows, round trips, who limits |
//! | [`document`] | what a capture told, as values for JSON and tables |
//! | [`limits`] | what of a capture was not read, and what it cannot tell |
//! | [`answer`] | the answer in a few sentences |
//! | [`report`] | tables, figures and a timeline |
//! | [`lua`] | a dissector for Wireshark |
//! | [`course`] | quantities over time, in bounded memory |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod air;
pub mod analysis;
pub mod answer;
pub mod course;
pub mod document;
pub mod file;
pub mod limits;
pub mod link;
pub mod lua;
pub mod report;
pub mod tcp;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
