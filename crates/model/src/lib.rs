//! Words that plans, machines, the simulator and reports share: values, and the counting and
//! searching that needs nothing else. No I/O, no clock, no protocol.
//!
//! | module | contents |
//! |---|---|
//! | [`time`] | [`Instant`](time::Instant): time is an argument; nothing here reads a clock |
//! | [`sample`] | [`Sample`](sample::Sample): the fate of one probe or one interval, the raw record |
//! | [`flow`] | counts of one stream: intervals, and datagrams that are lost, late or repeated |
//! | [`workload`] | the test that a plan asks of a target for one measured cell |
//! | [`messages`] | messages of applications on nodes of ESP-NOW: relays, many to many, slots |
//! | [`overrides`] | what a plan sets of a lab for one cell |
//! | [`fact`] | names of the facts and counters that a target reports beside its samples |
//! | [`random`] | the generator of random numbers below simulation and statistics |
//! | [`energy`] | parts of the time and charge of a device that sleeps between its messages |
//! | [`search`] | the search for the highest rate without loss: it chooses the next rate to try |
//! | [`sdkconfig`] | the menuconfig options of ESP-IDF that the simulator and the tuner understand |
//! | [`speech`] | flags as whoever asks writes them: at a terminal, or in a call |
//! | [`text`] | line and column of a byte in a text, and suggestions for misspelt words |
//! | [`untrusted`] | text from outside as a terminal may show it |
//! | [`excerpt`] | an excerpt of what happened on the medium, stored as lines of text |
//!
//! A first program is `examples/search.rs`: the highest rate that a link carries without loss.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod energy;
pub mod excerpt;
pub mod fact;
pub mod flow;
pub mod messages;
pub mod overrides;
pub mod random;
pub mod sample;
pub mod sdkconfig;
pub mod search;
pub mod speech;
pub mod text;
pub mod time;
pub mod untrusted;
pub mod workload;

/// The program of the README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
