//! The kernel's record of a TCP connection.

use std::net::TcpStream;

/// The kernel's record of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Segments sent again since the connection opened.
    pub retransmits: u64,
    /// Smoothed round-trip time in nanoseconds.
    pub rtt_ns: u64,
    /// Largest segment that is sent, in bytes.
    pub segment: u64,
    /// Octets that the peer has acknowledged, with those of SYN and FIN where this end's count.
    /// `None` before Linux 4.1.
    pub acknowledged: Option<u64>,
    /// Window that the peer advertises now, in bytes. `None` before Linux 5.4.
    pub window: Option<u64>,
}

pub use imp::{info, limit_unsent, unacknowledged};

#[cfg(target_os = "linux")]
mod imp {
    use super::{Info, TcpStream};
    use std::io;
    use std::mem::{offset_of, size_of};
    use std::os::fd::AsRawFd;

    /// The beginning of the kernel's `struct tcp_info` (`include/uapi/linux/tcp.h`), which only ever
    /// grew at its end. The C library's has not all of it.
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct TcpInfo {
        /// State, congestion state, retransmits, probes, backoff, options, window scales, flags.
        bytes: [u8; 8],
        rto: u32,
        ato: u32,
        snd_mss: u32,
        /// `rcv_mss` to `rcv_rtt`.
        skipped: [u32; 12],
        rtt: u32,
        /// `rttvar` to `rcv_space`.
        skipped_more: [u32; 7],
        total_retrans: u32,
        pacing_rates: [u64; 2],
        bytes_acked: u64,
        bytes_received: u64,
        /// `segs_out` to `data_segs_out`.
        segments: [u32; 6],
        /// `delivery_rate` to `sndbuf_limited`.
        rates: [u64; 4],
        /// `delivered` and `delivered_ce`.
        delivered: [u32; 2],
        /// `bytes_sent` and `bytes_retrans`.
        sent: [u64; 2],
        /// `dsack_dups`, `reord_seen`, `rcv_ooopack`.
        disorder: [u32; 3],
        snd_wnd: u32,
    }

    const _: () = assert!(
        offset_of!(TcpInfo, rtt) == 68
            && offset_of!(TcpInfo, total_retrans) == 100
            && offset_of!(TcpInfo, bytes_acked) == 120
            && offset_of!(TcpInfo, snd_wnd) == 228
            && size_of::<TcpInfo>() == 232
    );

    /// Returns the kernel's record; `None` where it does not tell.
    #[must_use]
    pub fn info(stream: &TcpStream) -> Option<Info> {
        let mut info = TcpInfo::default();
        let mut length = size_of::<TcpInfo>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and pointer and length describe `info`, of which the
        // kernel writes no more than that. Any bytes are a value of it.
        let result = unsafe {
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        // An older kernel knows a shorter structure, and says how long it is.
        let has = |end: usize| length as usize >= end;
        (result == 0).then(|| Info {
            retransmits: u64::from(info.total_retrans),
            rtt_ns: u64::from(info.rtt) * 1000,
            segment: u64::from(info.snd_mss),
            acknowledged: has(offset_of!(TcpInfo, bytes_received)).then_some(info.bytes_acked),
            window: has(size_of::<TcpInfo>()).then_some(u64::from(info.snd_wnd)),
        })
    }

    /// Returns how many written bytes the peer has not acknowledged yet (`SIOCOUTQ`, `tcp(7)`).
    #[must_use]
    pub fn unacknowledged(stream: &TcpStream) -> Option<u64> {
        let mut queued: libc::c_int = 0;
        // SAFETY: the descriptor is open, and TIOCOUTQ, which is SIOCOUTQ, writes one int.
        let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut queued) };
        if result == 0 { u64::try_from(queued).ok() } else { None }
    }

    /// Lets the kernel hold no more than about `bytes` that it has not sent yet
    /// (`TCP_NOTSENT_LOWAT`); what is under way is not limited.
    ///
    /// # Errors
    /// The system's.
    pub fn limit_unsent(stream: &TcpStream, bytes: u32) -> io::Result<()> {
        // SAFETY: the descriptor is open for the life of `stream`, and the pointer and length
        // describe `bytes`.
        let result = unsafe {
            libc::setsockopt(
                stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_NOTSENT_LOWAT,
                (&raw const bytes).cast(),
                size_of::<u32>() as libc::socklen_t,
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{Info, TcpStream};

    /// Returns `None`: not known here.
    #[must_use]
    pub fn info(_stream: &TcpStream) -> Option<Info> {
        None
    }

    /// Returns `None`: not known here.
    #[must_use]
    pub fn unacknowledged(_stream: &TcpStream) -> Option<u64> {
        None
    }

    /// Does nothing here.
    ///
    /// # Errors
    /// None.
    pub fn limit_unsent(_stream: &TcpStream, _bytes: u32) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_connection_has_a_round_trip_time_and_a_queue_that_empties() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[1; 1000]).unwrap();
        server.read_exact(&mut [0; 1000]).unwrap();
        assert!(info(&client).unwrap().rtt_ns > 0);
        while unacknowledged(&client).unwrap() > 0 {
            std::thread::yield_now();
        }
        let info = info(&client).unwrap();
        // The SYN counts for one.
        assert_eq!(info.acknowledged, Some(1001));
        assert!(info.window.unwrap() > 0);
    }
}
