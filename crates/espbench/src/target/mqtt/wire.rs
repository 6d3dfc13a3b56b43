//! Connections to a broker: opened while nothing else is done, and recorded.

use super::MqttTarget;
use crate::clock::Clock;
use crate::sys::ready::{self, Interest};
use crate::target::{Sink, TargetError};
use crate::transport::{BrokerAddress, BrokerStream, Opened, TransportError};
use espbench_model::sample::{Fate, Link, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::mqtt::Side;

/// Bytes given to a connection at once. A packet that is longer is given alone.
pub(super) const BATCH: usize = 64 * 1024;

/// Longest wait without a look at the stop flag.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Bytes that a packet may have beside its topic and its payload: first byte, remaining length, length
/// of the topic, packet identifier, and properties of version 5 that brokers add.
const AROUND: usize = 4096;

/// Returns the room for the largest packet with a message of that many bytes.
pub(super) const fn packet_room(topic: &str, size: usize) -> usize {
    AROUND + topic.len() + size
}

/// Opens a connection for packets of up to `packet` bytes, and waits until it is there.
pub(super) fn open(
    target: &MqttTarget,
    packet: usize,
    clock: &Clock,
    sink: &dyn Sink,
) -> Result<BrokerStream, TargetError> {
    let endpoint = &target.endpoint;
    let failed = |fault: TransportError| failure(endpoint, &fault);
    let batch = BATCH.max(packet);
    let stream = BrokerStream::begin(endpoint, batch, target.patience, clock.now());
    let mut stream = stream.map_err(failed)?;
    while !stream.advance(endpoint, clock.now()).map_err(failed)? {
        if sink.cancelled() {
            return Err(TargetError::Cancelled);
        }
        let (read, write) = stream.interest();
        let left = stream.deadline().since(clock.now());
        ready::wait([Interest { socket: stream.socket(), read, write }], left.min(LOOK))
            .map_err(|e| failed(TransportError::connecting(e)))?;
    }
    Ok(stream)
}

/// Makes the target's error of a connection's fault.
pub(super) fn failure(endpoint: &BrokerAddress, fault: &TransportError) -> TargetError {
    let what = match &fault.source {
        Some(source) => format!("{}: {source}", fault.what),
        None => fault.what.clone(),
    };
    TargetError::Protocol { peer: endpoint.to_string(), what, hint: fault.hint.clone() }
}

/// Makes the sample of a connection; `accepted` is when the CONNACK came.
pub(super) fn connection(seq: u64, opened: &Opened, accepted: Instant) -> Sample {
    Sample::Probe(Probe {
        link: Link::CONNECTIONS,
        seq,
        due: opened.begun,
        queued: opened.tcp,
        sent: opened.tls,
        acked: opened.websocket,
        received: Some(accepted),
        fate: Fate::Delivered,
        ..Probe::default()
    })
}

/// Notes whether the broker had the session that was to be resumed.
pub(super) fn note_session(side: Side, present: bool, sink: &mut dyn Sink) {
    let name = match side {
        Side::Publisher => "session_present_publisher",
        Side::Subscriber => "session_present_subscriber",
    };
    sink.fact(name, if present { "yes" } else { "no" }.into());
}

/// Notes what carries the messages, where that is more than TCP.
pub(super) fn note(stream: &BrokerStream, sink: &mut dyn Sink) {
    for (name, value) in stream.facts() {
        sink.fact(name, value.clone());
    }
}
