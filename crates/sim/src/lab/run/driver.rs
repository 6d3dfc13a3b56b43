//! Driver between a node and the MAC of its station: buffers, and the times of its work.
//!
//! Its task (`wifi`, above all others) has two turns for a frame: it hands it to the MAC, and when the MAC
//! is done with it calls the send callback. The next frame's turn comes after that, so between two frames
//! there is always the time of both.

use super::recent_losses::RecentLosses;
use crate::lab::pool::Handle;
use crate::lab::profile::Profile;
use crate::lab::scene::Coexistence;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;

/// Frames that a driver has dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Frames refused because no TX buffer was free.
    pub refused: u64,
    /// Frames that came while all RX buffers were taken.
    pub receive: u64,
}

/// The driver of a device.
// In this order what every frame touches stands together.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Driver {
    receive: Receive,
    pub(super) profile: Arc<Profile>,
    pub(super) mode: WifiMode,
    /// The device's life; what an earlier one sent is nobody's any more.
    pub(super) life: u32,
    /// TX buffers that are taken.
    pub(super) held: u16,
    /// Frames that it held when the frame on the air began.
    pub(super) held_at_begin: u16,
    /// Whether a frame is on its way to the MAC, or there: the driver hands it one at a time.
    is_sending: bool,
    /// Time at which the driver's task is done with the last transmission: it has called the send callback.
    done: Instant,
    /// Time at which its task is done with the turns that it has begun.
    pub(super) free_at: Instant,
    /// Processor time of all its turns, in nanoseconds.
    pub(super) worked_ns: u64,
    /// Frames that wait for those before them.
    waiting: VecDeque<Handle>,
    random: RngStream,
    pub(super) drops: Drops,
    pub(super) recent_losses: RecentLosses,
    /// Whether the radio is to be off whenever the driver has nothing to send.
    pub(super) rests: bool,
    /// Slices in which Wi-Fi has the radio, where Bluetooth is on.
    pub(super) coexistence: Option<Coexistence>,
    /// Whether Bluetooth has the radio.
    pub(super) is_away: bool,
    /// Time since which the radio is on, where it is.
    pub(super) on_since: Instant,
}

/// Frames that wait for the receive callback. It runs in the Wi-Fi task, above all else on the
/// processor, one frame after the other: so what waits are only those that came while it was still
/// at one before. The node is handed a frame at once, since nothing of it can be seen before the
/// callback's time is over; what this counts is the buffers.
#[derive(Debug, Default)]
struct Receive {
    /// Times at which the callback is done with each frame.
    ends: VecDeque<Instant>,
    /// The last of them.
    last: Instant,
}

impl Driver {
    pub(super) fn new(profile: Arc<Profile>, mode: WifiMode, seed: u64, node: u32) -> Self {
        Self {
            random: RngStream::stream(seed, node, Purpose::Driver),
            profile,
            mode,
            life: 0,
            held: 0,
            held_at_begin: 0,
            rests: false,
            coexistence: None,
            is_away: false,
            on_since: Instant::ZERO,
            is_sending: false,
            done: Instant::ZERO,
            free_at: Instant::ZERO,
            worked_ns: 0,
            waiting: VecDeque::new(),
            drops: Drops::default(),
            recent_losses: RecentLosses::default(),
            receive: Receive::default(),
        }
    }

    /// Returns whether the radio is off: it rests, or Bluetooth has it.
    pub(super) const fn is_radio_off(&self) -> bool {
        self.is_away || self.rests && self.held == 0
    }

    /// Returns whether the radio was off when a frame began that has just ended.
    pub(super) fn slept_through(&self, begin: Instant) -> bool {
        self.is_radio_off() || begin < self.on_since
    }

    /// Resets the driver with its device. Returns the frames that waited.
    pub(super) fn reset(&mut self, life: u32) -> VecDeque<Handle> {
        self.life = life;
        self.held = 0;
        self.is_sending = false;
        self.done = Instant::ZERO;
        self.receive = Receive::default();
        core::mem::take(&mut self.waiting)
    }

    /// Takes a frame. Returns the time at which it reaches the MAC, unless others go before it.
    pub(super) fn take(&mut self, now: Instant, frame: Handle, bytes: u32) -> Option<Instant> {
        self.held += 1;
        if self.is_sending {
            self.waiting.push_back(frame);
            return None;
        }
        self.is_sending = true;
        Some(self.turn(now, bytes))
    }

    /// Ends the transmission of a frame of so many bytes. Returns the time of the send callback, and the
    /// next frame.
    pub(super) fn end(&mut self, now: Instant, bytes: u32) -> (Instant, Option<Handle>) {
        self.held -= 1;
        let took = self.profile.sent_latency.ns(bytes) + self.hold_up_ns();
        self.done = now.after_nanos(took);
        (self.free_at, self.worked_ns) = (self.done, self.worked_ns + took);
        let next = self.waiting.pop_front();
        self.is_sending = next.is_some();
        (self.done, next)
    }

    /// Returns the time at which the frame that is next, of so many bytes, reaches the MAC: the driver's
    /// task does one thing after the other.
    pub(super) fn turn(&mut self, now: Instant, bytes: u32) -> Instant {
        let took = self.profile.send_latency.ns(bytes) + self.hold_up_ns();
        self.free_at = self.done.max(now).after_nanos(took);
        self.worked_ns += took;
        self.free_at
    }

    /// Draws the time by which a turn of the driver's task is longer than it could be.
    fn hold_up_ns(&mut self) -> u64 {
        match self.profile.jitter_ns {
            0 => 0,
            mean => (self.random.exponential() * mean as f64) as u64,
        }
    }

    /// Returns whether a frame of so many bytes finds an RX buffer.
    #[inline]
    pub(super) fn takes(&mut self, now: Instant, bytes: usize) -> bool {
        let cost_ns = self.profile.receive.ns(bytes as u32);
        let it = &mut self.receive;
        if it.last <= now {
            // The usual case: the callback rests.
            if !it.ends.is_empty() {
                it.ends.clear();
            }
            it.last = now.after_nanos(cost_ns);
            return true;
        }
        while it.ends.front().is_some_and(|end| *end <= now) {
            it.ends.pop_front();
        }
        // The one that the callback is at has its buffer, too.
        if it.ends.len() + 1 >= usize::from(self.profile.rx_buffers.max(1)) {
            self.drops.receive += 1;
            return false;
        }
        it.ends.push_back(it.last);
        it.last = it.last.after_nanos(cost_ns);
        true
    }
}
