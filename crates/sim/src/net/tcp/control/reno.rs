//! lwIP's congestion control: slow start and congestion avoidance by bytes acknowledged (RFC 5681,
//! RFC 3465), as in `tcp_receive` and `tcp_slowtmr`.

use super::AckedData;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reno {
    /// The bytes acknowledged since the window last grew in congestion avoidance.
    bytes: u32,
    /// Whether slow start goes by single segments: after a timeout, until the bytes then in flight
    /// are acknowledged.
    careful: bool,
}

impl Reno {
    pub(super) fn grow(&mut self, window: u32, threshold: u32, mss: u32, ack: &AckedData) -> u32 {
        if window < threshold {
            // RFC 3465 section 2.2: at most two segments for each acknowledgement.
            let most = if self.careful { mss } else { 2 * mss };
            return window + ack.bytes.min(most);
        }
        self.careful = false;
        self.bytes += ack.bytes;
        if self.bytes < window {
            return window;
        }
        self.bytes -= window;
        window + mss
    }

    pub(super) const fn reduced(&mut self, least_window: u32) -> u32 {
        self.bytes = 0;
        least_window / 2
    }

    pub(super) const fn timed_out(&mut self) {
        self.bytes = 0;
        self.careful = true;
    }
}
