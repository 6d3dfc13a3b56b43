//! Espressif's ESP-NOW test report, carried out in the lab: the devices of a scene, and the
//! document's own commands at their consoles.
//!
//! [`run`] does one cell. It makes the room, types, waits for what the consoles print (bounded in
//! virtual time), and gives samples, counters and facts to a [`Record`].
//!
//! | test | samples |
//! |---|---|
//! | [`OneWay`](EspNowTest::OneWay) | a probe a packet: due at the falling edge of the sender's pin, received at that of the receiver's |
//! | [`Ping`](EspNowTest::Ping) | the initiator's own probes, link 1 |
//! | [`MultiPing`](EspNowTest::MultiPing) | the probes of each device, on the link of its number |
//! | [`Throughput`](EspNowTest::Throughput) | the intervals and totals that both ends record |
//! | [`Crypto`](EspNowTest::Crypto) | a total on link 0 (encryption) and one on link 1 (decryption): the time of all operations, one after the other |
//! | [`Ota`](EspNowTest::Ota), [`Handshake`](EspNowTest::Handshake), [`Provisioning`](EspNowTest::Provisioning) | a total on link 0: what the report times, with the devices served and not served; and a probe for each device |
//!
//! Devices are numbered from 1, the initiator is 0.
//!
//! # Where it is not word for word the document
//!
//! - The document calls the command `espnw_iperf`; the component's name is `espnow_iperf`.
//! - The image that is sent is not downloaded through a router: `ota -d` finds it at once.
//! - Devices are new: there are no Wi-Fi credentials to erase before provisioning.
//! - The document's person waits as long as it takes. Here whatever was not there in time is an
//!   error, or a device that was not served.

mod desk;
mod many;
mod ota;
mod prepare;
mod secure;
mod single;
#[cfg(test)]
mod tests;

pub use prepare::{check, default_lab, scene};

use super::file::{Library, Wrong};
use super::record::Record;
use super::run::{Lab, Stuck, Tap};
use super::scene::Scene;
use crate::floor::EspNowParams;
use crate::talk::NodeId;
use crate::talk::script::List;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use desk::Desk;
use espbench_model::workload::{EspNow, EspNowTest};

/// Carries out one cell in a lab of the library: in the report's own for the test, if none is named.
///
/// # Errors
/// Why it was not carried out to its end. Samples that were given stay.
pub fn run(
    work: &EspNow,
    library: &Library,
    lab: Option<&str>,
    seed: u64,
    record: &mut dyn Record,
) -> Result<(), Failed> {
    let scene = scene(work, library, lab, seed)?;
    run_in(work, &scene, seed, (), record).map(|_| ())
}

/// Carries out one cell in a room that is as [`scene`] makes them, and gives the lab as it is then.
///
/// # Errors
/// As [`run`].
pub fn run_in<W: Tap>(
    work: &EspNow,
    scene: &Scene,
    seed: u64,
    watch: W,
    record: &mut dyn Record,
) -> Result<Lab<'static, W>, Failed> {
    prepare::able(work, scene)?;
    let mut lab = Lab::new(scene, seed, watch);
    record.fact("lab", scene.name.clone());
    record.fact("seed", alloc::format!("{seed}"));
    EspNowParams::note(scene, record);
    let mut desk = Desk::new(&mut lab, scene, seed, record);
    let settled = desk.settle();
    let result = settled.and_then(|()| match work.test {
        EspNowTest::OneWay => single::one_way(&mut desk, work),
        EspNowTest::Ping => single::ping(&mut desk, work),
        EspNowTest::Throughput => single::throughput(&mut desk, work),
        EspNowTest::Crypto => single::crypto(&mut desk, work),
        EspNowTest::MultiPing => many::ping(&mut desk, work),
        EspNowTest::Ota => ota::ota(&mut desk, work),
        EspNowTest::Handshake => secure::handshake(&mut desk, work),
        EspNowTest::Provisioning => many::provisioning(&mut desk, work),
    });
    desk.close();
    lab.count_all(record);
    result.map(|()| lab)
}

/// Why a cell was not carried out to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// It was told to stop.
    Cancelled,
    /// A file of the library is wrong or missing.
    File(Wrong),
    /// The lab has not what the test needs: its name, and what is missing.
    Unable(String, String),
    /// A device does not come to rest.
    Stuck(Stuck),
    /// A console showed no prompt for a command.
    NoPrompt(NodeId, String),
    /// Programs did not end in this time.
    Endless(Duration),
    /// Consoles did not print what was waited for.
    NotPrinted {
        /// Which consoles.
        nodes: Vec<NodeId>,
        /// One of these.
        text: &'static [&'static str],
        /// In this time.
        most: Duration,
        /// The last command that was typed, and where.
        after: String,
        /// The last line that the first of them printed.
        last: String,
    },
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("stopped"),
            Self::File(wrong) => wrong.fmt(f),
            Self::Unable(lab, why) => write!(f, "the lab {lab} cannot do it: {why}"),
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::NoPrompt(node, text) => {
                write!(f, "{node} showed no prompt to type `{text}` at")
            }
            Self::Endless(most) => {
                write!(f, "programs did not end in {} s of virtual time", most.as_secs())
            }
            Self::NotPrinted { nodes, text, most, after, last } => {
                write!(f, "{} did not print \"{}\" ", List(nodes), text.join("\" or \""))?;
                write!(f, "in {} s after `{after}`; ", most.as_secs())?;
                if last.is_empty() {
                    f.write_str("there was no line at all")
                } else {
                    write!(f, "the last line of {} is \"{last}\"", nodes[0])
                }
            }
        }
    }
}

impl core::error::Error for Failed {}

impl From<Stuck> for Failed {
    fn from(stuck: Stuck) -> Self {
        Self::Stuck(stuck)
    }
}

impl From<Wrong> for Failed {
    fn from(wrong: Wrong) -> Self {
        Self::File(wrong)
    }
}
