//! Congestion control.

mod cubic;
mod reno;

use super::super::stack::{CongestionAlgorithm, Stack};
use cubic::Cubic;
use espbench_model::time::Instant;
use reno::Reno;

/// The congestion control of a connection.
#[derive(Clone, Debug)]
pub(super) struct CongestionState {
    mss: u32,
    window: u32,
    threshold: u32,
    algorithm: AlgorithmState,
    /// The end of the bytes in flight when fast recovery began, during that recovery.
    recovery: Option<u32>,
}

#[derive(Clone, Debug)]
enum AlgorithmState {
    Reno(Reno),
    Cubic(Cubic),
}

/// The action that a new acknowledgement calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckAction {
    /// Send new segments.
    Send,
    /// Retransmit the first unacknowledged segment, which was lost, too.
    Retransmit,
}

impl CongestionState {
    pub(super) fn new(stack: &Stack, mss: u32) -> Self {
        let (algorithm, threshold) = match stack.congestion {
            // tcp_alloc: ssthresh is the send buffer.
            CongestionAlgorithm::Reno => {
                (AlgorithmState::Reno(Reno::default()), stack.tcp_send_buffer)
            }
            CongestionAlgorithm::Cubic => (AlgorithmState::Cubic(Cubic::default()), u32::MAX),
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

    /// Takes note of newly acknowledged data.
    pub(super) fn acknowledged(&mut self, ack: AckedData) -> AckAction {
        if let Some(end) = self.recovery {
            let partial = super::after(end, ack.una);
            if partial && matches!(self.algorithm, AlgorithmState::Cubic(_)) {
                // RFC 6582 section 3.2 step 3: deflate by what was acknowledged, add a segment
                // back.
                self.window = self.window.saturating_sub(ack.bytes).max(self.mss) + self.mss;
                return AckAction::Retransmit;
            }
            // lwIP leaves recovery with any new data that is acknowledged.
            self.recovery = None;
            self.window = self.threshold;
        }
        let grown = match &mut self.algorithm {
            AlgorithmState::Reno(it) => it.grow(self.window, self.threshold, self.mss, &ack),
            AlgorithmState::Cubic(it) => it.grow(self.window, self.threshold, self.mss, &ack),
        };
        self.window = grown.min(MOST);
        AckAction::Send
    }

    /// Takes note of a duplicate after the third.
    pub(super) fn duplicate(&mut self) {
        if self.recovery.is_some() {
            self.window = (self.window + self.mss).min(MOST);
        }
    }

    /// Takes note of the third duplicate: a segment counts as lost. `sent` is the end of the sent
    /// bytes.
    pub(super) fn lost(&mut self, flight: u32, sent: u32) {
        self.threshold = self.reduced(flight).max(2 * self.mss);
        self.window = self.threshold + 3 * self.mss;
        self.recovery = Some(sent);
    }

    /// Takes note that the retransmission timer has expired, for the first time or `again` for the
    /// same segment.
    pub(super) fn timed_out(&mut self, flight: u32, again: bool) {
        // RFC 5681 equation 4; lwIP halves what it has left each time.
        if !again || matches!(self.algorithm, AlgorithmState::Reno(_)) {
            self.threshold = self.reduced(flight).max(2 * self.mss);
        }
        self.window = self.mss;
        self.recovery = None;
        match &mut self.algorithm {
            AlgorithmState::Reno(it) => it.timed_out(),
            AlgorithmState::Cubic(it) => it.timed_out(),
        }
    }

    /// Returns the threshold after a loss. `flight` is the smaller of both windows for lwIP.
    fn reduced(&mut self, flight: u32) -> u32 {
        match &mut self.algorithm {
            AlgorithmState::Reno(it) => it.reduced(flight.min(self.window)),
            AlgorithmState::Cubic(it) => it.reduced(self.window, self.mss),
        }
    }
}

/// The limit on the congestion window, larger than any peer's window.
const MOST: u32 = 1 << 30;

/// Newly acknowledged data.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckedData {
    pub(super) now: Instant,
    pub(super) bytes: u32,
    /// The new first unacknowledged byte.
    pub(super) una: u32,
    /// The bytes in flight before.
    pub(super) flight: u32,
    /// The smoothed round-trip time in nanoseconds.
    pub(super) round_trip: u64,
}
