//! Cells that stand in one table of the document, as its columns.

use super::work;
use crate::kind::esp_now::plan::print_distance;
use crate::kind::esp_now::summary::{mode, table};
use crate::label::devices;
use crate::plan::print_cast;
use crate::report::digest::Digest;
use crate::settings::metres;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::workload::{EspNow, EspNowTest};

/// Meaning of a table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Across {
    Payload,
    Devices,
    Distance,
}

/// The cells of one table of the document.
pub(crate) struct DocumentTable<'a> {
    pub(crate) work: EspNow,
    pub(crate) across: Across,
    pub(crate) digests: Vec<&'a Digest>,
}

/// Returns the groups in the order of the plan.
pub(crate) fn groups<'a>(digests: &[&'a Digest]) -> Vec<DocumentTable<'a>> {
    let mut groups: Vec<DocumentTable<'a>> = Vec::new();
    for digest in digests {
        let Some(work) = work(digest) else { continue };
        let across = across(&work);
        match groups.iter_mut().find(|g| g.across == across && same(&g.work, &work)) {
            Some(group) => group.digests.push(digest),
            None => groups.push(DocumentTable { work, across, digests: alloc::vec![digest] }),
        }
    }
    groups
}

/// Returns the quantity that a table's columns vary. An image goes to some devices within a range,
/// and to a hundred devices at several distances.
fn across(work: &EspNow) -> Across {
    match work.test {
        EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::Throughput | EspNowTest::Crypto => {
            Across::Payload
        }
        EspNowTest::Ota if work.distance_m.0 == work.distance_m.1 => Across::Distance,
        _ => Across::Devices,
    }
}

/// Returns whether two cells differ only in the quantity of the columns.
fn same(a: &EspNow, b: &EspNow) -> bool {
    let plain = |w: &EspNow| {
        let across = across(w);
        EspNow {
            size: if across == Across::Payload { 0 } else { w.size },
            devices: if across == Across::Devices { 0 } else { w.devices },
            distance_m: if across == Across::Distance { (0.0, 0.0) } else { w.distance_m },
            ..*w
        }
    };
    plain(a) == plain(b)
}

impl DocumentTable<'_> {
    /// Returns the title: which test, and in which mode.
    pub(crate) fn title(&self) -> String {
        let w = &self.work;
        let test = match w.test {
            EspNowTest::OneWay => "One-way delay",
            EspNowTest::Ping => "Round trip",
            EspNowTest::Throughput => "Throughput",
            EspNowTest::Crypto => "Encryption",
            EspNowTest::MultiPing => "Round trips at once",
            EspNowTest::Ota => "OTA",
            EspNowTest::Handshake => "Security handshake",
            EspNowTest::Provisioning => "Provisioning",
        };
        let mut words = alloc::vec![test.to_string()];
        if matches!(w.test, EspNowTest::Ping | EspNowTest::Throughput | EspNowTest::MultiPing) {
            words.push(print_cast(w.cast));
        }
        if w.encrypted && w.test != EspNowTest::Crypto {
            words.push("encrypted".into());
        }
        if w.test != EspNowTest::Crypto && self.across != Across::Distance {
            words.push(print_distance(w.distance_m));
        }
        if self.across == Across::Distance {
            words.push(devices(w.devices.into()));
        }
        words.join(", ")
    }

    /// Returns a name usable as an anchor.
    pub(crate) fn id(&self) -> String {
        let w = &self.work;
        let moded =
            matches!(w.test, EspNowTest::Ping | EspNowTest::Throughput | EspNowTest::MultiPing);
        let mode = if moded { format!("-{}", mode(w.cast)) } else { String::new() };
        let distance = match self.across {
            Across::Distance => "-distance".into(),
            Across::Devices if w.test == EspNowTest::MultiPing => {
                format!("-{}", print_distance(w.distance_m))
            }
            _ => String::new(),
        };
        crate::figure::slug(&format!("esp-now-{}{mode}{distance}", table(w)))
    }

    /// Returns the column of a cell in words.
    pub(crate) fn told(&self, work: &EspNow) -> String {
        match (self.across, self.column(work)) {
            (Across::Devices, _) => devices(work.devices.into()),
            (_, (number, unit)) => format!("{number} {unit}"),
        }
    }

    /// Returns the column of a cell: its number, and the number's unit.
    pub(crate) fn column(&self, work: &EspNow) -> (f64, &'static str) {
        match self.across {
            Across::Payload => (work.size.into(), "B"),
            Across::Devices => (work.devices.into(), "devices"),
            Across::Distance => (metres(work.distance_m.0), "m"),
        }
    }
}
