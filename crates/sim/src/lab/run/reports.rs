//! The applications of nodes that are not measured: each sends payloads to node 0, by unicast, one at
//! a time.

use super::mac_host::MacHost;
use super::tap::Tap;
use crate::lab::nodes::NodeId;
use crate::lab::token::Wake;
use crate::lab::wifi::TrafficSums;
use alloc::collections::BTreeMap;
use alloc::vec;
use core::time::Duration;
use esp_now::component::{DataType, FrameConfig};
use esp_now::node::task::{SendRequest, TransmitOutcome};
use espbench_dot11::mac::WirelessMedium;
use espbench_model::time::Instant;

/// The node that reports go to.
const GATEWAY: NodeId = NodeId(0);

/// The application of a node.
#[derive(Debug)]
struct Reporter {
    bytes: u32,
    every: Duration,
    /// The time at which the report was handed over that is being sent.
    sending: Option<Instant>,
    sums: TrafficSums,
}

/// The applications of nodes, by node.
#[derive(Debug, Default)]
pub(super) struct Reports(BTreeMap<NodeId, Reporter>);

impl Reports {
    /// Gives a node an application that sends a payload every so often.
    pub(super) fn begin(&mut self, node: NodeId, bytes: u32, every: Duration) {
        let sums = TrafficSums::default();
        self.0.insert(node, Reporter { bytes, every, sending: None, sums });
    }

    /// Returns what a node's application has done.
    pub(super) fn sums(&self, node: NodeId) -> TrafficSums {
        self.0.get(&node).map(|it| it.sums).unwrap_or_default()
    }

    /// Takes note of how sending ended: a report is delivered when the MAC of node 0 has acknowledged
    /// it.
    pub(super) fn sent(&mut self, now: Instant, node: NodeId, outcome: TransmitOutcome) {
        let Some(reporter) = self.0.get_mut(&node) else { return };
        let Some(since) = reporter.sending.take() else { return };
        if outcome.is_done() {
            reporter.sums.delivered += 1;
            reporter.sums.waited_ns += now.since(since).as_nanos() as u64;
        }
    }
}

impl<W: Tap> MacHost<'_, '_, W> {
    /// Sends a node's report that is due, unless the last one is still being sent: then it is lost.
    pub(super) fn report(&mut self, room: &mut WirelessMedium, node: NodeId) {
        let now = room.now();
        let Some(reporter) = self.lab_drivers.reports.0.get_mut(&node) else { return };
        reporter.sums.sent += 1;
        room.wake_at(now + reporter.every, Wake::Report(node).token());
        if reporter.sending.is_some() {
            return;
        }
        // How it ends may be told before the call returns.
        reporter.sending = Some(now);
        let payload = vec![0; reporter.bytes as usize];
        let out = SendRequest {
            data_type: DataType::Data,
            dest: GATEWAY.mac(),
            config: FrameConfig::UNICAST,
            magic: 0,
            len: 0,
            wait: Duration::MAX,
        };
        let mut taken = false;
        self.act(room, |device_set, link| {
            let sent = device_set
                .apply(link, node, |it, now, board| it.send(now, board, &out, &payload))?;
            taken = sent == Some(Ok(()));
            Ok(())
        });
        if !taken && let Some(reporter) = self.lab_drivers.reports.0.get_mut(&node) {
            reporter.sending = None;
        }
    }
}
