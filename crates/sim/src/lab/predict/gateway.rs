//! The device that listens to those that sleep: a processor with one frame after the other, and the
//! component's acknowledgements, with how long a sender waits for one.

use super::load::Load;
use crate::lab::profile::Profile;
use crate::lab::scene::Scene;
use alloc::collections::VecDeque;
use core::time::Duration;
use esp_now::component::HEADER_LEN;
use esp_now::frame::mpdu_len;
use espbench_model::time::Instant;

/// The processor of the device that listens: one frame after the other.
pub(super) struct Gateway {
    cost: Duration,
    /// Handing an acknowledgement to the driver.
    ack: Duration,
    /// From there until it contends for the medium.
    ack_latency: Duration,
    buffers: usize,
    /// When each frame that waits will be done.
    busy: VecDeque<Instant>,
}

impl Gateway {
    pub(super) fn new(scene: &Scene, load: &Load) -> Self {
        let bytes = load.data_len(scene) as u32;
        let opens = load.encrypted.then_some(load.payload);
        let open = |it: &Profile| {
            let cold = Duration::from_nanos(it.cold_ns);
            opens.map_or(Duration::ZERO, |bytes| it.open.of(bytes) + cold)
        };
        let of = |it: &Profile| it.receive.of(bytes) + it.dispatch.of(bytes) + open(it);
        let first = scene.nodes.first();
        let cost =
            |of: &dyn Fn(&Profile) -> Duration| first.map_or(Duration::ZERO, |it| of(&it.profile));
        Self {
            cost: cost(&of),
            ack: cost(&|it| it.sending().of(ACK_DATA)),
            ack_latency: cost(&|it| it.send_mean(ACK_DATA)),
            buffers: first.map_or(1, |it| usize::from(it.profile.rx_buffers)),
            busy: VecDeque::new(),
        }
    }

    pub(super) fn has_buffer(&mut self, now: Instant) -> bool {
        while self.busy.front().is_some_and(|it| *it <= now) {
            self.busy.pop_front();
        }
        self.busy.len() < self.buffers
    }

    /// Returns when the application has a frame that is read now.
    pub(super) fn receive(&mut self, now: Instant) -> Instant {
        let done = self.busy.back().copied().unwrap_or(now).max(now) + self.cost;
        self.busy.push_back(done);
        done
    }

    /// Returns when the acknowledgement of the frame that was read last contends for the medium. It is
    /// sent by the task that reads, before the next frame.
    pub(super) fn acknowledge(&mut self) -> Instant {
        let sent = self.busy.back().copied().unwrap_or(Instant::ZERO) + self.ack;
        if let Some(last) = self.busy.back_mut() {
            *last = sent;
        }
        sent + self.ack_latency
    }
}

/// Bytes of an acknowledgement of the component: its header.
const ACK_DATA: u32 = HEADER_LEN as u32;

/// Last wait for an acknowledgement, after all attempts.
pub(super) const LAST_WAIT: Duration = Duration::from_secs(3);

/// Length of a slice of the wait after an attempt, in milliseconds.
const SLICE_MS: u64 = 2;

/// Returns the octets of an acknowledgement's MPDU.
pub(super) const fn ack_octets() -> u32 {
    mpdu_len(HEADER_LEN) as u32
}

/// Returns how long the component waits after an attempt, 1, 2, …: 1, 2, 4, … slices of 2 ms, at most
/// 50, each in whole ticks of FreeRTOS. With ticks of 10 ms that is nothing.
pub(super) fn patience(profile: &Profile, attempt: u8) -> Duration {
    let slices = if attempt < 7 { 1_u64 << attempt.saturating_sub(1) } else { 50 };
    let tick_hz = u64::from(profile.tick_hz.max(1));
    let ticks = SLICE_MS * tick_hz / 1000;
    Duration::from_nanos(slices * ticks * 1_000_000_000 / tick_hz)
}
