//! Congestion window and round trip of a TCP connection, for the lines that show them.

use espbench_model::sample::{Interval, Observer, Sample};
use std::net::TcpStream;

/// Adds to a sender's interval what the kernel knows now: the congestion window, and the deviation of the
/// round trip.
#[must_use]
pub fn with_window(stream: &TcpStream, sample: Sample) -> Sample {
    match sample {
        Sample::Interval(interval) if interval.observer == Observer::Sender => {
            let (tcp_cwnd, tcp_rtt_var_us) = imp::window(stream).unzip();
            Sample::Interval(Interval { tcp_cwnd, tcp_rtt_var_us, ..interval })
        }
        other => other,
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use super::TcpStream;
    use std::os::fd::AsRawFd;

    /// Returns the congestion window in bytes, and the mean deviation of the round trip in
    /// microseconds.
    pub(super) fn window(stream: &TcpStream) -> Option<(u32, u32)> {
        // SAFETY: a tcp_info of zeros is valid.
        let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and pointer and length describe `info`, of which the
        // kernel writes no more than that.
        let result = unsafe {
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        // The kernel counts the window in segments.
        let bytes = info.tcpi_snd_cwnd.saturating_mul(info.tcpi_snd_mss);
        (result == 0).then_some((bytes, info.tcpi_rttvar))
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::TcpStream;

    /// Returns `None`: not known here.
    pub(super) fn window(_stream: &TcpStream) -> Option<(u32, u32)> {
        None
    }
}
