//! Counts of what a node has dropped.

use super::{DeviceJob, Node};

/// Counts of what the bounded queues of a node have dropped since its start. Frames that were
/// refused for their content are not here; the engine's
/// [`EngineCounters`](crate::node::engine::EngineCounters) and those of the services count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Frames for a service that found the main task's queue full.
    pub frames: u32,
    /// Acknowledgements that came while four others waited.
    pub acks_in: u32,
    /// Acknowledgements that were not sent because the main task's queue was full.
    pub acks_out: u32,
    /// Frames that were not forwarded because the main task's queue was full.
    pub forwards: u32,
    /// Acknowledgements and frames to forward that did not get the send lock in time.
    pub lock_timeouts: u32,
    /// Groups that were not joined.
    pub groups: u32,
    /// Bytes from the terminal.
    pub console_in: u32,
    /// Bytes for the terminal.
    pub console_out: u32,
    /// Lines of the remote log.
    pub log_lines: u32,
    /// Samples and events that the driver did not take in time.
    pub records: u32,
    /// Commands of other devices.
    pub commands: u32,
    /// Messages of `espnow_iperf`.
    pub iperf: u32,
    /// Messages of control that were too short, or came while another was handled.
    pub control: u32,
    /// Messages of time synchronization.
    pub time: u32,
    /// Answers of provisioning.
    pub provisioning: u32,
    /// Messages of an upgrade of this device.
    pub upgrade: u32,
    /// Messages of a handshake in which this device gets the key.
    pub handshake: u32,
    /// Devices for which the list of the current, or last, job had no place.
    pub devices: u32,
}

impl Dropped {
    /// Returns the sum of all counts.
    #[must_use]
    pub fn total(&self) -> u32 {
        [
            self.frames,
            self.acks_in,
            self.acks_out,
            self.forwards,
            self.lock_timeouts,
            self.groups,
            self.console_in,
            self.console_out,
            self.log_lines,
            self.records,
            self.commands,
            self.iperf,
            self.control,
            self.time,
            self.provisioning,
            self.upgrade,
            self.handshake,
            self.devices,
        ]
        .iter()
        .fold(0, |sum, n| sum.saturating_add(*n))
    }
}

impl<
    const DEVICES: usize,
    const SESSIONS: usize,
    const ARENA: usize,
    const FRAME: usize,
    const EVENTS: usize,
> Node<DEVICES, SESSIONS, ARENA, FRAME, EVENTS>
{
    /// Returns the counts of what the node's queues have dropped.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        let (engine, it) = (self.engine.counters(), &self.parts.services);
        Dropped {
            frames: engine.queue_full,
            acks_in: engine.ack_queue_full,
            acks_out: engine.acks_lost,
            forwards: engine.forwards_lost,
            lock_timeouts: engine.lock_timeout,
            groups: engine.groups_lost,
            console_in: self.parts.console.dropped(),
            console_out: self.shared.print.dropped.uart_bytes,
            log_lines: self.shared.print.dropped.remote_lines,
            records: self.shared.lost,
            commands: self.parts.inbox.lost,
            iperf: it.iperf.dropped.queue,
            control: it.control_responder.dropped,
            time: it.time_sync.dropped,
            provisioning: it.prov.dropped,
            upgrade: it.ota_responder.counters().dropped,
            handshake: it.security_responder.ignored.busy,
            devices: match &it.job {
                DeviceJob::Ota(job) => job.totals().dropped.into(),
                DeviceJob::Security(job) => job.counts.no_room,
            },
        }
    }
}
