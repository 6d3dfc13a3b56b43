//! The engine: what `espnow_send`, `espnow_recv_cb` and `espnow_main_task` do with frames.
//!
//! # A map of the code
//!
//! | module | contents | in the component |
//! |---|---|---|
//! | `receive` | a frame off the air: filters, acknowledgement, duplicates, groups | `espnow_recv_cb` |
//! | `queue` | the event queue of the main task | `g_espnow_queue` |
//! | `dispatch` | the main task: delivery, acknowledgement, forwarding | `espnow_main_task` |
//! | `send` | one transmission at a time: copies, results, back-off | `espnow_send`, `espnow_send_process` |
//! | `recent` | the cache of recent frames | `g_msg_magic_cache` |
//! | `counters` | counters | none |
//!
//! Sections in comments are those of the protocol reference. The line numbers in log lines are
//! those of the component after release 2.5.3 (commit 853cc57). Where July 2022 was different
//! (commit fca7bcd), [`Compat::sends_ahead`](crate::component::Compat::sends_ahead) decides.
//!
//! # How to drive it
//!
//! Frames go into [`Engine::receive`]; the driver's answers into [`Engine::sent`] and
//! [`Engine::refused`]. [`Engine::next`] is the main task: it returns a payload for a service, or
//! reports that an acknowledgement or a frame of another node is to be sent, for which
//! [`Engine::relay`] takes the send lock. A part that wants to send waits for [`Engine::is_free`],
//! writes the payload into [`Engine::payload_mut`] and calls [`Engine::start`]. [`Engine::poll`]
//! returns the requests to the radio, until it answers `None`; then nothing happens before
//! [`Engine::wake`], unless something arrives.
//!
//! # Where it differs from the component
//!
//! * A full event queue or a full queue of acknowledgements blocks the device's Wi-Fi task for up
//!   to 3 s, and the frames that follow wait in the driver. Here the frame is dropped and counted
//!   at once, and nothing blocks. The warning is printed once in 3 s, as the device would.
//! * The queue is bounded in bytes too (`ARENA`); the device takes memory from its heap.
//! * On the device several tasks can be in the last wait for an acknowledgement, after the lock was
//!   released, and take each other's acknowledgements. Here relayed frames get the lock in that
//!   time, as there, but the next transmission of the node's own waits.
//! * In that wait each foreign acknowledgement starts the 3 s anew on the device; here the wait has
//!   one end.
//! * A GROUP frame takes the lock, too. `espnow_set_group` does not.
//! * A payload is encrypted under the lock. The device does that before it waits, with one key
//!   context for all tasks, so that two of them can mix up their nonces (trap 3).
//! * The wait for the lock has no end: a part composes its payload once it holds the lock, and its
//!   `wait` counts from there.
//! * Acknowledgements for another node are overheard where they are forwarded, as in a build
//!   without `CONFIG_ESPNOW_DATA_FAST_ACK` (section 6.3), and only with automatic channels: no
//!   other part of the component looks at them.
//! * Reserved bits of the header are zero in frames that start here; the device sends what its heap
//!   held. Forwarded frames keep them.

mod counters;
mod dispatch;
mod queue;
mod receive;
mod recent;
mod send;
#[cfg(test)]
mod tests;

pub use counters::EngineCounters;
pub use queue::QUEUE;
pub use recent::RECENT;

use super::task::{Cx, Received, SendRequest, Shared, TransmitOutcome};
use super::tick::Tick;
use super::{ParsedFrame, ReceivedFrame};
use crate::component::DataType;
use crate::frame;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use queue::EventQueue;
use recent::Recent;
use send::{PendingAcks, Sender};

/// Greatest number of acknowledgements that wait for a sender.
pub const ACKS_MAX: usize = 4;
/// Length of the longest ESP-NOW data of any release, with the component's header, in bytes.
pub const FRAME_MAX: usize = frame::DATA_MAX;

const TAG: &str = "espnow";
/// Value of `send_max_timeout`, in ms.
const SEND_MAX_MS: u32 = 3000;

/// Result of a step of the main task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An acknowledgement or a frame of another node is to be sent: call [`Engine::relay`] when the
    /// send lock is free ([`Engine::can_relay`]). The main task waits until then.
    Relay,
    /// A payload for a service stands at the front of the buffer. A payload of type ACK is not for
    /// this node: with automatic channels, control overhears what is about to be forwarded.
    Deliver(Delivery),
}

/// Description of a payload that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Originator of the frame.
    pub from: Mac,
    /// Data type of the frame.
    pub data_type: DataType,
    /// Length of the payload in bytes: at least one, except in an acknowledgement.
    pub len: usize,
    /// Signal strength, in dBm.
    pub rssi: i8,
    /// Channel of the header where that is 1 to 14, else of the radio.
    pub channel: u8,
    /// Time at which the radio received it.
    pub at: Instant,
}

impl Delivery {
    /// Returns the delivery with its payload, which stands at the front of `buf`.
    #[must_use]
    pub fn with<'a>(&self, buf: &'a [u8]) -> Received<'a> {
        let Self { from, data_type, len, rssi, channel, at } = *self;
        let data = buf.get(..len).unwrap_or(buf);
        Received { from, data_type, data, rssi, channel, at }
    }
}

/// Request of the engine to the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the first `len` bytes of the buffer (`esp_now_send`). The driver answers with
    /// [`Engine::sent`] when the transmission is over, or at once with [`Engine::refused`].
    Transmit {
        /// Bytes of ESP-NOW data.
        len: usize,
        /// Receiver on the air: a peer, or broadcast.
        to: Mac,
    },
    /// Tune to this channel, before anything that follows. [`RadioSettings`](super::air::RadioSettings) has it already.
    Tune(u8),
}

/// Engine of a node. `ARENA`: bytes of frames that may wait for the main task; 8192 hold the 32
/// frames of 250 bytes that the device's queue holds by default. `EVENTS`: one more than the
/// entries that may wait there, whatever the settings say. `FRAME`: the longest frame that it
/// sends; 250 bytes suffice for ESP-NOW v1.0.
// The order keeps the fields that every frame touches together.
#[derive(Debug)]
#[repr(C)]
pub struct Engine<
    const ARENA: usize = 8192,
    const FRAME: usize = FRAME_MAX,
    const EVENTS: usize = { QUEUE as usize + 1 },
> {
    /// Magics of the acknowledgements that wait for a sender.
    acks: PendingAcks,
    /// Time until which "Send event queue failed" is not printed again.
    quiet_until: Instant,
    /// Time until which the main task waits for the send lock.
    lock_until: Option<Instant>,
    /// Whether the acknowledgement that is to be forwarded next was handed to its service.
    overheard: bool,
    counters: EngineCounters,
    recent: Recent,
    sender: Sender<FRAME>,
    queue: EventQueue<ARENA, EVENTS>,
}

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Default
    for Engine<ARENA, FRAME, EVENTS>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Engine<ARENA, FRAME, EVENTS> {
    /// Creates an engine at rest.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counters: EngineCounters::default(),
            recent: Recent::new(),
            queue: EventQueue::new(),
            acks: PendingAcks::new(),
            sender: Sender::new(),
            quiet_until: Instant::ZERO,
            lock_until: None,
            overheard: false,
        }
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> EngineCounters {
        self.counters
    }

    /// Returns the number of entries that wait for the main task.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether nothing waits for the main task.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.lock_until.is_none()
    }

    /// Takes a frame off the air (`espnow_recv_cb`). Returns false if it changed nothing but
    /// counters and the time for which the processor is busy.
    #[inline]
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: ReceivedFrame<'_>) -> bool {
        self.hear(cx, &ParsedFrame::new(frame.data), frame.rssi, frame.channel)
    }

    /// Takes a frame as [`receive`](Self::receive) does, with its header parsed already.
    #[inline]
    pub fn hear(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> bool {
        self.take_frame(cx, frame, rssi, channel)
    }

    /// Returns whether plain data would be queued, and no acknowledgement can be due. Only
    /// [`hear_plain`](Self::hear_plain) and [`show_data`](Self::show_data) leave this as it is;
    /// other calls may change it, and so may changes of `shared`. An engine of which this is so and
    /// that [is free](Self::is_free) is quiet.
    pub(super) fn takes_plain(&mut self, shared: &Shared) -> bool {
        let plain = self.lock_until.is_none()
            && shared.air.listens(DataType::Data)
            && !shared.settings.compat.sends_ahead()
            && !shared.settings.policy.refuses_plain(DataType::Data);
        if plain {
            self.queue.limit(shared.settings.queue);
        }
        plain
    }

    /// Returns the time until which a transmission waits for the driver's answer, if it does
    /// nothing else, and does not keep the main task.
    #[inline]
    pub(super) fn callback_until(&self) -> Option<Instant> {
        self.sender.callback_until()
    }

    /// Lets the main task, which rests, take the next frame, and begins the work for it. To be
    /// called only where [`next`](Self::next) would be the next step.
    #[inline]
    pub fn take_early(&mut self, cx: &mut Cx<'_>) {
        self.take_front(cx);
    }

    /// Finishes the frame that the main task took before, as [`next`](Self::next) does, if it is a
    /// payload for the application that was not encrypted; otherwise does nothing. Nothing may be
    /// in transmission.
    #[inline]
    pub fn finish_data(&mut self, shared: &Shared, buf: &mut [u8]) -> Option<Delivery> {
        self.finish_plain(shared, buf)
    }

    /// Finishes a payload as [`finish_data`](Self::finish_data) does, where the engine [is
    /// quiet](Self::takes_plain) and the payload stands in one piece: it is not copied, but returned
    /// in place. Also returns whether nothing waits any more, as [`is_empty`](Self::is_empty)
    /// would.
    #[inline]
    pub(super) fn show_data(&mut self) -> Option<(Delivery, &[u8], bool)> {
        self.show_plain()
    }

    /// Runs the main task and returns its result. A payload is decrypted and written to the front
    /// of `buf`; it is dropped if it does not fit, so `buf` should have the 1470 bytes of the
    /// longest payload, or the 230 of ESP-NOW v1.0. Returns `None` if nothing waits, while the task
    /// is sending, and where the work for the next frame takes time: then call it again when that
    /// time is over.
    #[inline]
    pub fn next(&mut self, cx: &mut Cx<'_>, buf: &mut [u8]) -> Option<Next> {
        self.dispatch(cx, buf)
    }

    /// Returns whether an acknowledgement or a frame of another node could be sent now.
    #[must_use]
    pub fn can_relay(&self) -> bool {
        !self.sender.is_busy()
    }

    /// Takes the send lock for the frame of [`Next::Relay`] and begins to send it; returns false if
    /// the lock is taken or there is nothing to relay. This transmission has no outcome.
    pub fn relay(&mut self, cx: &mut Cx<'_>) -> bool {
        self.start_relay(cx)
    }

    /// Returns whether a transmission can be started: the send lock is free, no sender waits for an
    /// acknowledgement, and the last outcome was taken.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.sender.is_free()
    }

    /// Returns the place for the payload of the next [`start`](Self::start): as many bytes as the
    /// release allows and a frame of this engine holds. Empty while something is being sent.
    pub fn payload_mut(&mut self, cx: &Cx<'_>) -> &mut [u8] {
        self.sender.payload_mut(cx.shared.settings.compat)
    }

    /// Takes the send lock and sends the payload (`espnow_send`, or `espnow_set_group` for a GROUP
    /// frame); returns false unless the engine [is free](Self::is_free). A payload that cannot be
    /// sent has the outcome [`TransmitOutcome::Refused`].
    pub fn start(&mut self, cx: &mut Cx<'_>, out: &SendRequest) -> bool {
        self.sender.start(cx, out)
    }

    /// Returns the next request to the radio. A frame to send is written to the front of `buf`,
    /// which should have [`FRAME_MAX`] bytes. Also returns `None` where handing a frame over takes
    /// time: then call it again when that time is over.
    #[inline]
    pub fn poll(&mut self, cx: &mut Cx<'_>, buf: &mut [u8]) -> Option<Action> {
        if self.sender.is_free() {
            return None;
        }
        self.sender.poll(cx, &mut self.counters, &mut self.acks, buf)
    }

    /// Takes the driver's answer about the oldest frame that it accepted (`espnow_send_cb`). The
    /// answer names no frame: a late one to a broadcast can be taken for that to a unicast frame
    /// (trap 8).
    pub fn sent(&mut self, cx: &mut Cx<'_>, delivered: bool) {
        self.sender.sent(cx, &mut self.counters, delivered);
    }

    /// Takes the driver's refusal of the frame that it was just handed.
    pub fn refused(&mut self) {
        self.sender.refused(&mut self.counters);
    }

    /// Returns the outcome of the last transmission, once.
    pub fn outcome(&mut self) -> Option<TransmitOutcome> {
        self.sender.outcome()
    }

    /// Returns when [`poll`](Self::poll) or [`next`](Self::next) has something to do although
    /// nothing arrives.
    #[must_use]
    pub fn wake(&self) -> Option<Instant> {
        [self.sender.wake(), self.lock_until].into_iter().flatten().min()
    }
}

/// Returns when a wait of `send_max_timeout` that begins at `now` ends.
fn patience(tick: Tick, now: Instant) -> Instant {
    tick.delay_ms(now, SEND_MAX_MS)
}
