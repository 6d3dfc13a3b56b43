//! Driver between a node and the MAC of its station: buffers, and the times of its work.

use super::recent_losses::RecentLosses;
use crate::lab::profile::Profile;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use espbench_dot11::radio::WifiMode;
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
    /// Times at which the last frame reaches the MAC, and the last result the device: neither
    /// overtakes.
    pub(super) sends: Instant,
    pub(super) tells: Instant,
    pub(super) drops: Drops,
    pub(super) recent_losses: RecentLosses,
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
    pub(super) fn new(profile: Arc<Profile>, mode: WifiMode) -> Self {
        Self {
            profile,
            mode,
            life: 0,
            held: 0,
            held_at_begin: 0,
            sends: Instant::ZERO,
            tells: Instant::ZERO,
            drops: Drops::default(),
            recent_losses: RecentLosses::default(),
            receive: Receive::default(),
        }
    }

    /// Resets the driver with its device.
    pub(super) fn reset(&mut self, life: u32) {
        self.life = life;
        self.held = 0;
        self.sends = Instant::ZERO;
        self.tells = Instant::ZERO;
        self.receive = Receive::default();
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
