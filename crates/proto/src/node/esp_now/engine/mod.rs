//! The engine: what `espnow_send`, `espnow_recv_cb` and `espnow_main_task` do with frames.
//!
//! # A map of the code
//!
//! | module | what | in the component |
//! |---|---|---|
//! | `receive` | a frame off the air: filters, acknowledgement, duplicates, groups | `espnow_recv_cb` |
//! | `queue` | what waits for the main task | `g_espnow_queue` |
//! | `dispatch` | the main task: what to hand on, what to send | `espnow_main_task` |
//! | `send` | one transmission at a time: copies, results, back-off | `espnow_send`, `espnow_send_process` |
//! | `recent` | what was received lately | `g_msg_magic_cache` |
//! | `counters` | counts | none |
//!
//! Sections in comments are those of the protocol reference. The line numbers in log lines are
//! those of the component after release 2.5.3 (commit 853cc57). What July 2022 did otherwise
//! (commit fca7bcd) is behind [`Compat::sends_ahead`](crate::wire::component::Compat::sends_ahead).
//!
//! # How to drive it
//!
//! Frames go into [`Engine::receive`]; the driver's answers into [`Engine::sent`] and
//! [`Engine::refused`]. [`Engine::next`] is the main task: it gives a payload for a service, or says
//! that an acknowledgement or a frame of another node is to be sent, for which [`Engine::relay`]
//! takes the send lock. Who else wants to send waits for [`Engine::is_free`], writes the payload into
//! [`Engine::payload_mut`] and calls [`Engine::start`]. [`Engine::poll`] gives what the radio shall
//! do, until it answers `None`; then nothing happens before [`Engine::wake`], unless something
//! arrives.
//!
//! # Where it differs from the component
//!
//! * A full event queue or a full queue of acknowledgements blocks the device's Wi-Fi task for up
//!   to 3 s, and the frames that follow wait in the driver. Here the frame is dropped and counted
//!   at once, and nothing blocks. The warning is printed once in 3 s, as the device would.
//! * The queue is bounded in bytes too (`ARENA`); the device takes memory from its heap.
//! * On the device several tasks can be in the last wait for an acknowledgement, after the lock was
//!   released, and take each other's acknowledgements. Here what is relayed gets the lock in that
//!   time, as there, but the next transmission of the node's own waits.
//! * In that wait each foreign acknowledgement starts the 3 s anew on the device; here the wait has
//!   one end.
//! * A GROUP frame takes the lock, too. `espnow_set_group` does not.
//! * A payload is encrypted under the lock. The device does that before it waits, with one key
//!   context for all tasks, so that two of them can mix their nonces up (trap 3).
//! * The wait for the lock has no end: a part composes its payload when it has got the lock, and its
//!   `wait` counts from there.
//! * Acknowledgements for somebody else are overheard where they are forwarded, as in a build
//!   without `CONFIG_ESPNOW_DATA_FAST_ACK` (section 6.3), and only with automatic channels: nothing
//!   else of the component looks at them.
//! * Reserved bits of the header are zero in what starts here; the device sends what its heap held.
//!   What is forwarded keeps them.

mod counters;
mod dispatch;
mod queue;
mod receive;
mod recent;
mod send;
#[cfg(test)]
mod tests;

pub use counters::Counters;
pub use queue::QUEUE;
pub use recent::RECENT;

use super::task::{Cx, Outcome, Outgoing, Received, Shared};
use super::tick::Tick;
use super::{Frame, Read};
use crate::time::Instant;
use crate::wire::component::DataType;
use crate::wire::esp_now;
use crate::wire::mac::Mac;
use queue::Queue;
use recent::Recent;
use send::{Acks, Sender};

/// Acknowledgements that may wait for a sender.
pub const ACKS_MAX: usize = 4;
/// The longest ESP-NOW data of any release, with the component's header.
pub const FRAME_MAX: usize = esp_now::DATA_MAX;

const TAG: &str = "espnow";
/// `send_max_timeout`, ms.
const SEND_MAX_MS: u32 = 3000;

/// What the main task has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An acknowledgement or a frame of another node is to be sent: call [`Engine::relay`] when
    /// the send lock is free ([`Engine::can_relay`]). The main task waits until then.
    Relay,
    /// A payload for a service; it stands at the front of the buffer. One of type ACK is not for
    /// this node: with automatic channels, control overhears what is about to be forwarded.
    Deliver(Delivery),
}

/// What is known of a payload that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The originator.
    pub from: Mac,
    /// Type of the frame.
    pub data_type: DataType,
    /// Bytes of payload: at least one, but for an acknowledgement.
    pub len: usize,
    /// Signal strength, dBm.
    pub rssi: i8,
    /// The channel of the header where that is 1 to 14, else of the radio.
    pub channel: u8,
    /// When the radio had it.
    pub at: Instant,
}

impl Delivery {
    /// It with its payload, which stands at the front of `buf`.
    #[must_use]
    pub fn with<'a>(&self, buf: &'a [u8]) -> Received<'a> {
        let Self { from, data_type, len, rssi, channel, at } = *self;
        let data = buf.get(..len).unwrap_or(buf);
        Received { from, data_type, data, rssi, channel, at }
    }
}

/// What the radio shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the first `len` bytes of the buffer (`esp_now_send`). The driver answers with
    /// [`Engine::sent`] when that is over, or at once with [`Engine::refused`].
    Transmit {
        /// Bytes of ESP-NOW data.
        len: usize,
        /// A peer, or broadcast.
        to: Mac,
    },
    /// Tune to this channel, before anything that follows. [`Air`](super::air::Air) has it already.
    Tune(u8),
}

/// The engine of a node. `ARENA`: bytes of frames that may wait for the main task; 8192 hold the
/// 32 frames of 250 bytes that the device's queue can hold, where nothing else is said. `EVENTS`:
/// one more than may wait there, whatever the settings say. `FRAME`: the longest frame it sends;
/// 250 do for ESP-NOW v1.0.
// In this order what every frame touches stands together.
#[derive(Debug)]
#[repr(C)]
pub struct Engine<
    const ARENA: usize = 8192,
    const FRAME: usize = FRAME_MAX,
    const EVENTS: usize = { QUEUE as usize + 1 },
> {
    /// Magics of the acknowledgements that wait for a sender.
    acks: Acks,
    /// Until when "Send event queue failed" is not printed again.
    quiet_until: Instant,
    /// Until when the main task waits for the send lock.
    lock_until: Option<Instant>,
    /// The acknowledgement that is to be forwarded next was handed to its service.
    overheard: bool,
    counters: Counters,
    recent: Recent,
    sender: Sender<FRAME>,
    queue: Queue<ARENA, EVENTS>,
}

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Default
    for Engine<ARENA, FRAME, EVENTS>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Engine<ARENA, FRAME, EVENTS> {
    /// An engine at rest.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counters: Counters::default(),
            recent: Recent::new(),
            queue: Queue::new(),
            acks: Acks::new(),
            sender: Sender::new(),
            quiet_until: Instant::ZERO,
            lock_until: None,
            overheard: false,
        }
    }

    /// What it has counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Entries that wait for the main task.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits for the main task.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.lock_until.is_none()
    }

    /// A frame came off the air (`espnow_recv_cb`). False if it changed nothing but counters and the
    /// time that the processor was busy.
    #[inline]
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: Frame<'_>) -> bool {
        self.hear(cx, &Read::new(frame.data), frame.rssi, frame.channel)
    }

    /// As [`receive`](Self::receive), where the frame's header has been read.
    #[inline]
    pub fn hear(&mut self, cx: &mut Cx<'_>, frame: &Read<'_>, rssi: i8, channel: u8) -> bool {
        self.take_frame(cx, frame, rssi, channel)
    }

    /// Whether plain data would be queued, nothing is being sent, and no acknowledgement can be wanted
    /// late. Only other calls than [`hear_plain`](Self::hear_plain) and
    /// [`show_data`](Self::show_data) change that, or what others do with `shared`.
    pub(super) fn is_quiet(&mut self, shared: &Shared) -> bool {
        let quiet = self.sender.is_free()
            && self.lock_until.is_none()
            && shared.air.listens(DataType::Data)
            && !shared.settings.compat.sends_ahead()
            && !shared.settings.policy.refuses_plain(DataType::Data);
        if quiet {
            self.queue.limit(shared.settings.queue);
        }
        quiet
    }

    /// The main task rests: it takes what waits next, whose work begins with this. To be called only
    /// where [`next`](Self::next) would be the next thing done.
    #[inline]
    pub fn take_early(&mut self, cx: &mut Cx<'_>) {
        self.take_front(cx);
    }

    /// The main task is done with what it took before: as [`next`](Self::next), where that would give
    /// a payload of the application's that was not encrypted; else nothing is done. Nothing may be
    /// being sent.
    #[inline]
    pub fn finish_data(&mut self, shared: &Shared, buf: &mut [u8]) -> Option<Delivery> {
        self.finish_plain(shared, buf)
    }

    /// As [`finish_data`](Self::finish_data), where the engine [is quiet](Self::is_quiet) and the payload
    /// stands in one piece: it is not copied, but shown where it is. Says with it whether nothing
    /// waits any more, as [`is_empty`](Self::is_empty) would.
    #[inline]
    pub(super) fn show_data(&mut self) -> Option<(Delivery, &[u8], bool)> {
        self.show_plain()
    }

    /// The main task goes on: what it has come to. A payload is written to the front of `buf`,
    /// decrypted; what does not fit there is dropped, so it should have the 1470 bytes of the
    /// longest payload, or the 230 of ESP-NOW v1.0. `None` if nothing waits, while it is sending, and
    /// where the work for the next one takes time: then call it again when that is over.
    #[inline]
    pub fn next(&mut self, cx: &mut Cx<'_>, buf: &mut [u8]) -> Option<Next> {
        self.dispatch(cx, buf)
    }

    /// Whether an acknowledgement or a frame of another node could be sent now.
    #[must_use]
    pub fn can_relay(&self) -> bool {
        !self.sender.is_busy()
    }

    /// Takes the send lock for what [`next`](Self::next) called [`Next::Relay`]; false if the lock is
    /// taken or there is nothing to relay. It has no outcome.
    pub fn relay(&mut self, cx: &mut Cx<'_>) -> bool {
        self.start_relay(cx)
    }

    /// Whether a transmission can be started: nobody holds the send lock, nobody waits for an
    /// acknowledgement, and the last outcome was taken.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.sender.is_free()
    }

    /// Where who is about to [`start`](Self::start) a transmission writes its payload: as many
    /// bytes as the release allows and a frame of this engine holds. Empty while something is
    /// being sent.
    pub fn payload_mut(&mut self, cx: &Cx<'_>) -> &mut [u8] {
        self.sender.payload_mut(cx.shared.settings.compat)
    }

    /// Takes the send lock and sends the payload (`espnow_send`, or `espnow_set_group` for a GROUP
    /// frame); false if [`is_free`](Self::is_free) is. What cannot be sent has the outcome
    /// [`Outcome::Refused`].
    pub fn start(&mut self, cx: &mut Cx<'_>, out: &Outgoing) -> bool {
        self.sender.start(cx, out)
    }

    /// What the radio shall do now. A frame to send is written to the front of `buf`, which should
    /// have [`FRAME_MAX`] bytes. `None` also where handing it over takes time: then call it again
    /// when that is over.
    #[inline]
    pub fn poll(&mut self, cx: &mut Cx<'_>, buf: &mut [u8]) -> Option<Action> {
        if self.sender.is_free() {
            return None;
        }
        self.sender.poll(cx, &mut self.counters, &mut self.acks, buf)
    }

    /// The driver is done with the oldest frame that it took (`espnow_send_cb`). It does not say
    /// with which one: a late answer to a broadcast can stand for that to a unicast frame (trap 8).
    pub fn sent(&mut self, cx: &mut Cx<'_>, delivered: bool) {
        self.sender.sent(cx, &mut self.counters, delivered);
    }

    /// The driver refused the frame that it was just handed.
    pub fn refused(&mut self) {
        self.sender.refused(&mut self.counters);
    }

    /// How the last transmission ended; given once.
    pub fn outcome(&mut self) -> Option<Outcome> {
        self.sender.outcome()
    }

    /// When [`poll`](Self::poll) or [`next`](Self::next) has something to do though nothing arrives.
    #[must_use]
    pub fn wake(&self) -> Option<Instant> {
        [self.sender.wake(), self.lock_until].into_iter().flatten().min()
    }
}

/// When a wait of `send_max_timeout` ends that begins at `now`.
fn patience(tick: Tick, now: Instant) -> Instant {
    tick.delay_ms(now, SEND_MAX_MS)
}
