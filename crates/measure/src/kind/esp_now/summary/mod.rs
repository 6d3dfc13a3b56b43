//! Result cells of the `esp-now` workload: the ten tests of Espressif's ESP-NOW test report.
//!
//! | module | contents |
//! |---|---|
//! | `devices` | round trips that many devices ask for at once |
//! | `out` | cells as they are made: for tests of a plan, and for those that a console's log tells of |
//! | `served` | what one device does for many: firmware, the key, a network's credentials |
//! | `stream` | throughput as the receiver has it, and the time of encryption |
//! | `times` | delays from pin to pin, and round trips with one device |
//!
//! Identity columns and metrics are those of `reference/published.csv`, so that each published cell
//! of that report stands beside one of ours.
//!
//! # Two figures of one thing
//!
//! A figure under a published name is what the document's authors read: round trips as the console
//! prints them, in whole milliseconds, cut; a throughput to 0.01 Mbit/s, of what was sent; the time
//! of an update in whole seconds, cut. The same without that rounding stands beside it: names with
//! `_exact`, and `throughput_sent`.
//!
//! | test | document's figures | beside them |
//! |---|---|---|
//! | one way | `latency_min`, `_max`, `_avg` | `latency_stddev`, `loss` |
//! | round trip | `rtt_min`, `_max`, `_avg`, `loss` | `rtt_exact_*` with p50, p90 and p99, `jitter`, `probes_late` |
//! | at once | the same: mean of the devices' means, largest of their maxima, mean of their losses | the same; `fairness`, `device_rtt_*` |
//! | throughput | `throughput`, `packets_lost`, `packets_total` | `throughput_sent`, `throughput_received`, `loss` |
//! | encryption | `encrypt_time`, `decrypt_time` | the same, `_exact` |
//! | OTA, handshake, provisioning | `ota_time`, `handshake_time`, `provisioning_time` | `ota_time_exact`, `devices_served`, `device_time_*` |

mod devices;
pub(crate) mod out;
pub(super) mod served;
mod stream;
mod times;

use super::KIND;
use crate::cell::{Cell, Identity};
use crate::kind::TestKind;
use crate::run::Recorded;
use crate::settings::Settings;
use crate::settings::metres;
use crate::summary::SummaryContext;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact;
use espbench_model::workload::{EspNow, EspNowCast, EspNowTest};
use out::EspNowCells;

/// Returns the result cells of one recorded cell.
#[must_use]
pub(super) fn summarize(
    workload: &EspNow,
    recorded: &Recorded,
    context: &SummaryContext<'_>,
) -> Vec<Cell> {
    let seed = context.seed_of_cell(recorded);
    let mut id = identity(workload, context);
    let fact = |name: &str| recorded.facts.get(name).cloned();
    id.chip = fact(fact::CHIP).unwrap_or(id.chip);
    id.environment = fact(fact::ENVIRONMENT).or(id.environment);
    let mut out = EspNowCells::new(context, id);
    out.settings = workload.settings().beyond_columns();
    out.settings.extend(Settings::of_lab(&recorded.workload).iter().cloned());
    out.distances_m = range(workload);
    match workload.test {
        EspNowTest::OneWay => times::one_way(&mut out, recorded, seed),
        EspNowTest::Ping => times::ping(&mut out, recorded, seed),
        EspNowTest::MultiPing => devices::ping(&mut out, recorded, seed),
        EspNowTest::Throughput => stream::throughput(&mut out, workload, recorded),
        EspNowTest::Crypto => stream::crypto(&mut out, recorded),
        EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning => {
            served::served(&mut out, workload.test, recorded);
        }
    }
    out.cells
}

/// Returns the identity columns, all but the metric.
#[must_use]
pub(crate) fn identity(workload: &EspNow, context: &SummaryContext<'_>) -> Identity {
    let served =
        matches!(workload.test, EspNowTest::Ota | EspNowTest::Handshake | EspNowTest::Provisioning);
    let (nearest, farthest) = workload.distance_m;
    let single = nearest == farthest && workload.test != EspNowTest::Crypto;
    Identity {
        table: table(workload).into(),
        chip: context.site.chip.clone(),
        transport: KIND.into(),
        mode: mode_of(workload),
        metric: String::new(),
        payload_bytes: (!served).then_some(workload.size),
        devices: Some(workload.devices.into()),
        distance_m: single.then(|| metres(nearest)),
        security: Some(security(workload).into()),
        environment: context.site.environment.clone(),
    }
}

/// Returns the name of the published table that the cell belongs to.
#[must_use]
pub(crate) fn table(workload: &EspNow) -> &'static str {
    match (workload.test, workload.encrypted) {
        (EspNowTest::OneWay, false) => "one-way-latency",
        (EspNowTest::OneWay, true) => "one-way-latency-secure",
        (EspNowTest::Ping, false) => "round-trip",
        (EspNowTest::Ping, true) => "round-trip-secure",
        (EspNowTest::Throughput, _) => "throughput",
        (EspNowTest::Crypto, _) => "crypto-time",
        (EspNowTest::MultiPing, _) => "multi-device-round-trip",
        (EspNowTest::Ota, _) => "ota",
        (EspNowTest::Handshake, _) => "handshake",
        (EspNowTest::Provisioning, _) => "provisioning",
    }
}

fn mode_of(workload: &EspNow) -> String {
    match workload.test {
        EspNowTest::Crypto => "cpu".into(),
        EspNowTest::Ota => "ota".into(),
        EspNowTest::Handshake => "security-handshake".into(),
        EspNowTest::Provisioning => "provisioning".into(),
        _ => mode(workload.cast),
    }
}

/// Returns how packets are sent, in the words of `reference/published.csv`: there `broadcast-0` is
/// the console's `-b 0`, one copy.
#[must_use]
pub fn mode(cast: EspNowCast) -> String {
    match cast {
        EspNowCast::Unicast => "unicast".into(),
        EspNowCast::Broadcast { copies, ack } => {
            let copies = if copies <= 1 { 0 } else { copies };
            format!("broadcast-{copies}{}", if ack { "-ack" } else { "" })
        }
    }
}

fn security(workload: &EspNow) -> &'static str {
    match workload.test {
        EspNowTest::Handshake => "handshake",
        EspNowTest::Crypto => "app-data",
        _ if workload.encrypted => "app-data",
        _ => "off",
    }
}

/// Returns the nearest and the farthest device in metres, where they differ.
fn range(workload: &EspNow) -> Option<(f64, f64)> {
    let (nearest, farthest) = workload.distance_m;
    (nearest != farthest).then(|| (metres(nearest), metres(farthest)))
}

#[cfg(test)]
mod tests;
