//! How much a sender dares to have on its way.

mod cubic;
mod reno;

use super::super::stack::{Congestion, Stack};
use cubic::Cubic;
use espbench_proto::time::Instant;
use reno::Reno;

/// A connection's congestion control.
#[derive(Clone, Debug)]
pub(super) struct Control {
    mss: u32,
    window: u32,
    threshold: u32,
    algorithm: Algorithm,
    /// In fast recovery, with the end of what was on its way when that began.
    recovery: Option<u32>,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Reno(Reno),
    Cubic(Cubic),
}

/// What a new acknowledgement means for the segments after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on.
    Send,
    /// The first segment that it leaves was lost, too.
    Retransmit,
}

impl Control {
    pub(super) fn new(stack: &Stack, mss: u32) -> Self {
        let (algorithm, threshold) = match stack.congestion {
            // tcp_alloc: ssthresh is the send buffer.
            Congestion::Reno => (Algorithm::Reno(Reno::default()), stack.tcp_send_buffer),
            Congestion::Cubic => (Algorithm::Cubic(Cubic::default()), u32::MAX),
        };
        let window = match stack.first_window {
            // LWIP_TCP_CALC_INITIAL_CWND, which is RFC 3390's.
            0 => (4 * mss).min((2 * mss).max(4380)),
            segments => u32::from(segments) * mss,
        };
        Self { mss, window, threshold, algorithm, recovery: None }
    }

    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    pub(super) const fn threshold(&self) -> u32 {
        self.threshold
    }

    pub(super) const fn in_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    /// New data was acknowledged: so many bytes, up to `una`, with so much on its way before.
    pub(super) fn acknowledged(&mut self, ack: Acknowledged) -> Next {
        if let Some(end) = self.recovery {
            let partial = super::after(end, ack.una);
            if partial && matches!(self.algorithm, Algorithm::Cubic(_)) {
                // RFC 6582 section 3.2 step 3: deflate by what was acknowledged, add a segment back.
                self.window = self.window.saturating_sub(ack.bytes).max(self.mss) + self.mss;
                return Next::Retransmit;
            }
            // lwIP leaves recovery with any new data that is acknowledged.
            self.recovery = None;
            self.window = self.threshold;
        }
        let grown = match &mut self.algorithm {
            Algorithm::Reno(it) => it.grow(self.window, self.threshold, self.mss, &ack),
            Algorithm::Cubic(it) => it.grow(self.window, self.threshold, self.mss, &ack),
        };
        self.window = grown.min(MOST);
        Next::Send
    }

    /// One more duplicate, after the third.
    pub(super) fn duplicate(&mut self) {
        if self.recovery.is_some() {
            self.window = (self.window + self.mss).min(MOST);
        }
    }

    /// The third duplicate: a segment is taken for lost. `sent` is the end of what was sent.
    pub(super) fn lost(&mut self, flight: u32, sent: u32) {
        self.threshold = self.reduced(flight).max(2 * self.mss);
        self.window = self.threshold + 3 * self.mss;
        self.recovery = Some(sent);
    }

    /// The retransmission timer has expired, for the first time or again for the same segment.
    pub(super) fn timed_out(&mut self, flight: u32, again: bool) {
        // RFC 5681 equation 4; lwIP halves what it has left each time.
        if !again || matches!(self.algorithm, Algorithm::Reno(_)) {
            self.threshold = self.reduced(flight).max(2 * self.mss);
        }
        self.window = self.mss;
        self.recovery = None;
        match &mut self.algorithm {
            Algorithm::Reno(it) => it.timed_out(),
            Algorithm::Cubic(it) => it.timed_out(),
        }
    }

    /// The window after a loss. `flight` is the lesser of both windows for lwIP.
    fn reduced(&mut self, flight: u32) -> u32 {
        match &mut self.algorithm {
            Algorithm::Reno(it) => it.reduced(flight.min(self.window)),
            Algorithm::Cubic(it) => it.reduced(self.window, self.mss),
        }
    }
}

/// No window grows further: more than any peer's.
const MOST: u32 = 1 << 30;

/// New data that was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    pub(super) now: Instant,
    pub(super) bytes: u32,
    /// Up to where.
    pub(super) una: u32,
    /// Bytes on their way before.
    pub(super) flight: u32,
    /// Smoothed round trip, nanoseconds.
    pub(super) round_trip: u64,
}
