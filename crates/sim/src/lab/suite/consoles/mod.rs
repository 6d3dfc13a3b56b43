//! Espressif's ESP-NOW test report, carried out in the lab: the devices of a scene, and the
//! document's own commands at their consoles.
//!
//! | module | contents |
//! |---|---|
//! | `desk` | the person at the desk: types at consoles, reads what they print, keeps the record |
//! | `prepare` | the room of a cell, and whether it can do it |
//! | `single` | tests with one device: delay, round trip, throughput, and the time of encryption |
//! | `many` | tests with many devices, and how a job for all of them is recorded |
//! | `ota` | an image for all devices |
//! | `secure` | the handshake: the key for all devices, or for the two of a test |
//!
//! [`run_in`](super::run_in) does one cell. It makes the lab, types, waits for what the consoles print (bounded in
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

pub use prepare::default_lab;
pub(super) use prepare::{able as check, placed, scene};

use super::{SuiteError, Witness};
use crate::lab::nodes::Conversation as _;
use crate::lab::record::Record;
use crate::lab::run::Lab;
use crate::lab::scene::Scene;
use crate::lab::wifi::watch::Watcher;
use alloc::vec::Vec;
use desk::Desk;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::radio::name::{ESP_NOW_PHY_MODES, WifiModes};
use espbench_model::fact;
use espbench_model::workload::{EspNow, EspNowTest};

/// Records the settings on which the theoretical limits of a cell depend, as facts.
pub(super) fn note_firmware(scene: &Scene, record: &mut dyn Record) {
    let mut modes: Vec<WifiMode> = scene.nodes.iter().map(|device| device.mode).collect();
    modes.sort_unstable();
    modes.dedup();
    record.typed(ESP_NOW_PHY_MODES, WifiModes(modes));
    if let Some(first) = scene.nodes.first() {
        let compat = first.settings.compat;
        record.fact(fact::ESP_NOW_RELEASE, compat.release.name().into());
        record.fact(fact::IDF_RELEASE, compat.idf.name().into());
    }
}

/// Carries out one cell in a room that is as [`scene`] makes them.
pub(super) fn run_in<W: Witness>(
    work: &EspNow,
    scene: &Scene,
    seed: u64,
    witness: &mut W,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    check(work, scene)?;
    let mut lab = Lab::new(scene, seed, &mut *witness);
    record.fact(fact::LAB, scene.name.clone());
    record.fact("seed", alloc::format!("{seed}"));
    note_firmware(scene, record);
    note_device(work, scene, record);
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
    let end = lab.now();
    drop(lab);
    if result.is_ok() {
        Watcher::end(witness, end);
    }
    result
}

/// Notes the identity columns that the plan has set for this cell.
fn note_device(work: &EspNow, scene: &Scene, record: &mut dyn Record) {
    if let (Some(_), Some(node)) = (work.lab.profile, scene.nodes.first()) {
        record.fact(fact::CHIP, node.profile.chip_name.clone());
    }
    if work.lab.environment.is_some() {
        record.fact(fact::ENVIRONMENT, scene.environment.name.clone());
    }
}
