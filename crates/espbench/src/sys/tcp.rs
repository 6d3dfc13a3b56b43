//! What the system tells about a TCP connection.

use std::net::TcpStream;

/// What the kernel knows of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Segments sent again since the connection opened.
    pub retransmits: u64,
    /// Smoothed round-trip time in nanoseconds.
    pub rtt_ns: u64,
    /// Largest segment that is sent, in bytes.
    pub segment: u64,
}

pub use imp::{info, unacknowledged};

#[cfg(target_os = "linux")]
mod imp {
    use super::{Info, TcpStream};
    use std::os::fd::AsRawFd;

    /// What the kernel knows; `None` where it does not say.
    #[must_use]
    pub fn info(stream: &TcpStream) -> Option<Info> {
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
        (result == 0).then(|| Info {
            retransmits: u64::from(info.tcpi_total_retrans),
            rtt_ns: u64::from(info.tcpi_rtt) * 1000,
            segment: u64::from(info.tcpi_snd_mss),
        })
    }

    /// Bytes written that the peer has not acknowledged yet (`SIOCOUTQ`, `tcp(7)`).
    #[must_use]
    pub fn unacknowledged(stream: &TcpStream) -> Option<u64> {
        let mut queued: libc::c_int = 0;
        // SAFETY: the descriptor is open, and TIOCOUTQ, which is SIOCOUTQ, writes one int.
        let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut queued) };
        if result == 0 { u64::try_from(queued).ok() } else { None }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{Info, TcpStream};

    /// Not known here.
    #[must_use]
    pub fn info(_stream: &TcpStream) -> Option<Info> {
        None
    }

    /// Not known here.
    #[must_use]
    pub fn unacknowledged(_stream: &TcpStream) -> Option<u64> {
        None
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
    }
}
