//! Result cells of connections, and of several clients.
//!
//! - `connect_rate`: connections that the broker accepted, a second, from when the first was asked for
//!   until the last was accepted. Several are opened at a time.
//! - `connect_*`: from when TCP was asked for to the CONNACK; `connect_tcp_*`, `connect_tls_*`,
//!   `connect_websocket_*`, `connect_mqtt_*`: the parts of that. Of one client and its subscriber only the
//!   longest; of several also the median and the 99th percentile.
//! - `client_fairness`: Jain's index of the messages delivered for each client (RFC 5166, section 2.3.1;
//!   Jain, Chiu and Hawe 1984): 1 where all have the same, 1/N where one has all.

use super::{MqttCells, QUANTILES, probes};
use crate::run::Recorded;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use espbench_model::sample::{Fate, Link, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::MqttRate;
use espbench_stats::Estimate;
use espbench_stats::interval::fairness;
use espbench_stats::quantile::Sorted;

type Part = (&'static str, fn(&Probe) -> Option<(Instant, Instant)>);

const PARTS: [Part; 5] = [
    ("connect", |p| Some((p.due, p.received?))),
    ("connect_tcp", |p| Some((p.due, p.queued?))),
    ("connect_tls", |p| Some((p.queued?, p.sent?))),
    ("connect_websocket", |p| Some((p.sent.or(p.queued)?, p.acked?))),
    ("connect_mqtt", |p| Some((p.acked.or(p.sent).or(p.queued)?, p.received?))),
];

/// Connections of one client and its subscriber.
const ONE_CLIENT: usize = 2;

impl MqttCells<'_> {
    pub(super) fn connections(&mut self, recorded: &Recorded) {
        let opened: Vec<&Probe> = recorded
            .samples
            .iter()
            .filter_map(|sample| match sample {
                Sample::Probe(probe) if probe.link == Link::CONNECTIONS => Some(probe),
                _ => None,
            })
            .filter(|probe| probe.fate == Fate::Delivered)
            .collect();
        let several = opened.len() > ONE_CLIENT;
        if several {
            let first = opened.iter().map(|probe| probe.due).min();
            let last = opened.iter().filter_map(|probe| probe.received).max();
            let seconds = first.zip(last).map(|(from, to)| to.since(from).as_secs_f64());
            let value = seconds.filter(|s| *s > 0.0).map(|s| opened.len() as f64 / s);
            let rate = Estimate { value, n: opened.len() as u64, ..Estimate::default() };
            self.push("connect_rate", "connections/s", rate, None);
        }
        for (name, part) in PARTS {
            let times: Vec<f64> = opened
                .iter()
                .filter_map(|probe| part(probe))
                .map(|(from, to)| to.since(from).as_nanos() as f64 / 1e6)
                .collect();
            if times.is_empty() {
                continue;
            }
            let sorted = Sorted::new(times);
            for (ending, q) in QUANTILES.iter().filter(|_| several) {
                self.push(&format!("{name}_{ending}"), "ms", sorted.quantile(*q), None);
            }
            self.push(&format!("{name}_max"), "ms", sorted.max(), None);
        }
    }

    pub(super) fn fairness(&mut self, workload: &MqttRate, recorded: &Recorded) {
        // Devices of a lab are clients, each on a link of its own.
        let clients = workload.clients.max(crate::series::devices(recorded));
        if clients < 2 {
            return;
        }
        let mut each = vec![0_u64; usize::from(clients)];
        for probe in probes(recorded).filter(|probe| probe.fate == Fate::Delivered) {
            if let Some(count) = each.get_mut(usize::from(probe.link.0)) {
                *count += 1;
            }
        }
        let value = fairness(&each.iter().map(|&n| n as f64).collect::<Vec<_>>());
        let estimate = Estimate { value, n: each.len() as u64, ..Estimate::default() };
        let few = each.iter().min().copied().unwrap_or(0);
        let many = each.iter().max().copied().unwrap_or(0);
        self.push(
            "client_fairness",
            "index",
            estimate,
            Some(format!("{few} to {many} messages a client")),
        );
    }
}
