//! A datagram socket that tells when the kernel received each datagram.
//!
//! On Linux: `SO_TIMESTAMPNS` and `SO_RXQ_OVFL` (socket(7)). Elsewhere the arrival is what the
//! application sees, and there is no stamp.
//!
//! The kernel stamps with the wall clock. Right after each receive both clocks are read, and only
//! the age of the stamp, some microseconds, is carried over to the monotonic clock; a step of the
//! wall clock can therefore spoil no more than the datagram that it falls into, and an age that
//! makes no sense is dropped.

use crate::clock::Clock;
use espbench_model::time::{Duration, Instant};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Longest blocking call, so that a stop is noticed.
const SLICE: Duration = Duration::from_millis(50);

/// One datagram as it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampedDatagram {
    /// Bytes written to the buffer.
    pub len: usize,
    /// When the application had it.
    pub at: Instant,
    /// When the kernel had it, on the same clock.
    pub stamped: Option<Instant>,
}

/// A connected datagram socket with receive stamps.
#[derive(Debug)]
pub struct StampedSocket {
    socket: Socket,
    clock: Clock,
    stamps: bool,
    overflow: u32,
}

impl StampedSocket {
    /// Opens a UDP socket, binds it to `local_port` (0: any) and connects it to `peer`.
    ///
    /// # Errors
    /// The system's error from bind or connect.
    pub fn udp(peer: SocketAddr, local_port: u16, clock: Clock) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, None)?;
        let any: SocketAddr = if peer.is_ipv4() {
            (std::net::Ipv4Addr::UNSPECIFIED, local_port).into()
        } else {
            (std::net::Ipv6Addr::UNSPECIFIED, local_port).into()
        };
        socket.bind(&any.into())?;
        socket.connect(&peer.into())?;
        Self::over(socket, clock)
    }

    /// Takes a connected socket over.
    ///
    /// # Errors
    /// The system's.
    pub fn over(socket: Socket, clock: Clock) -> io::Result<Self> {
        socket.set_read_timeout(Some(SLICE))?;
        // Best effort: the system may cap it, and what overflows is counted.
        let _ = socket.set_recv_buffer_size(1 << 20);
        let stamps = imp::enable(&socket);
        Ok(Self { socket, clock, stamps, overflow: 0 })
    }

    /// Tells whether arrivals carry the kernel's stamp.
    #[must_use]
    pub fn has_stamps(&self) -> bool {
        cfg!(target_os = "linux") && self.stamps
    }

    /// Datagrams that the kernel dropped because this socket's buffer was full.
    #[must_use]
    pub fn overflow(&self) -> u32 {
        self.overflow
    }

    /// Returns the socket itself, for what only some of them can do.
    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends one datagram.
    ///
    /// # Errors
    /// The system's; `ConnectionRefused` tells of an earlier datagram that met no listener.
    pub fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.socket.send(datagram)
    }

    /// Waits for a datagram until about `until`, at most 50 ms. `None` where none came.
    ///
    /// # Errors
    /// The system's.
    pub fn receive(
        &mut self,
        buf: &mut [u8],
        until: Instant,
    ) -> io::Result<Option<StampedDatagram>> {
        let left = until.since(self.clock.now());
        let polled = left < SLICE;
        if polled && !imp::readable_within(&self.socket, left)? {
            return Ok(None);
        }
        match imp::receive(self, buf, polled) {
            Ok(arrival) => Ok(Some(arrival)),
            Err(e) if is_timeout(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

#[cfg(target_os = "linux")]
mod imp {
    use super::{Clock, Duration, Instant, Socket, StampedDatagram, StampedSocket, io};
    use std::os::fd::AsRawFd;

    const NANOS: i128 = 1_000_000_000;
    /// A stamp older than this says that the wall clock was stepped.
    const OLDEST: i128 = 10 * NANOS;

    /// Asks for stamps and overflow counts; true if there will be stamps.
    pub(super) fn enable(socket: &Socket) -> bool {
        let on: libc::c_int = 1;
        let set = |option| {
            // SAFETY: the option value is a live c_int and its length is given.
            let result = unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::SOL_SOCKET,
                    option,
                    (&raw const on).cast(),
                    size_of::<libc::c_int>() as libc::socklen_t,
                )
            };
            result == 0
        };
        set(libc::SO_RXQ_OVFL);
        set(libc::SO_TIMESTAMPNS)
    }

    pub(super) fn readable_within(socket: &Socket, time: Duration) -> io::Result<bool> {
        let mut fd = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time =
            libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
        // SAFETY: one live pollfd, one live timespec, no signal mask.
        let ready = unsafe { libc::ppoll(&raw mut fd, 1, &raw const time, std::ptr::null()) };
        match ready {
            -1 => {
                let error = io::Error::last_os_error();
                if super::is_timeout(&error) { Ok(false) } else { Err(error) }
            }
            n => Ok(n > 0),
        }
    }

    /// Room for both control messages, aligned as `cmsghdr` wants it.
    #[repr(C, align(8))]
    struct StampControl([u8; 128]);

    /// Receives a datagram; one that is said to be there is not waited for, as what woke us may have
    /// been an error.
    pub(super) fn receive(
        udp: &mut StampedSocket,
        buf: &mut [u8],
        is_there: bool,
    ) -> io::Result<StampedDatagram> {
        let flags = if is_there { libc::MSG_DONTWAIT } else { 0 };
        let mut control = StampControl([0; 128]);
        let mut iov = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
        // SAFETY: an all-zero msghdr is valid (null pointers, zero lengths).
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut iov;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        // SAFETY: `message` points to `iov` (over `buf`) and `control`, all live during the call.
        let len = unsafe { libc::recvmsg(udp.socket.as_raw_fd(), &raw mut message, flags) };
        let at = udp.clock.now();
        if len < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut stamped = None;
        // SAFETY: the kernel filled `control` with well-formed control messages up to
        // `msg_controllen`; the CMSG functions walk exactly those, and each payload is read
        // unaligned with the size that its type has.
        unsafe {
            let mut cmsg = libc::CMSG_FIRSTHDR(&raw const message);
            while let Some(head) = cmsg.as_ref() {
                let data = libc::CMSG_DATA(cmsg);
                match (head.cmsg_level, head.cmsg_type) {
                    (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                        let stamp = data.cast::<libc::timespec>().read_unaligned();
                        stamped = on_our_clock(&udp.clock, at, &stamp);
                    }
                    (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                        udp.overflow = data.cast::<u32>().read_unaligned();
                    }
                    _ => {}
                }
                cmsg = libc::CMSG_NXTHDR(&raw const message, cmsg);
            }
        }
        Ok(StampedDatagram { len: len as usize, at, stamped })
    }

    /// Converts the stamp to the monotonic clock. That clock is read after the wall clock: if the
    /// thread is preempted in between, the stamp comes out too late, at most at `at`, and never
    /// before the datagram can have been sent.
    fn on_our_clock(clock: &Clock, at: Instant, stamp: &libc::timespec) -> Option<Instant> {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes one live timespec.
        if unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) } != 0 {
            return None;
        }
        let nanos = |t: &libc::timespec| i128::from(t.tv_sec) * NANOS + i128::from(t.tv_nsec);
        let after = clock.now();
        let age = nanos(&now) - nanos(stamp);
        if !(0..OLDEST).contains(&age) {
            return None;
        }
        let stamped = after.as_nanos().checked_sub(age as u64).map(Instant::from_nanos)?;
        Some(stamped.min(at))
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{Duration, SLICE, Socket, StampedDatagram, StampedSocket, io};

    pub(super) fn enable(_: &Socket) -> bool {
        false
    }

    /// Waits with a peek that has a shorter time-out.
    pub(super) fn readable_within(socket: &Socket, time: Duration) -> io::Result<bool> {
        // Zero would mean "for ever".
        socket.set_read_timeout(Some(time.max(Duration::from_micros(1))))?;
        let ready = match socket.peek(&mut [std::mem::MaybeUninit::uninit()]) {
            Ok(_) => true,
            // A datagram longer than the peek's buffer is an error on Windows, and is there.
            Err(e) if super::is_timeout(&e) => false,
            Err(_) => true,
        };
        socket.set_read_timeout(Some(SLICE))?;
        Ok(ready)
    }

    pub(super) fn receive(
        udp: &mut StampedSocket,
        buf: &mut [u8],
        _: bool,
    ) -> io::Result<StampedDatagram> {
        use std::io::Read as _;
        let len = (&udp.socket).read(buf)?;
        Ok(StampedDatagram { len, at: udp.clock.now(), stamped: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn stamps_lie_between_sending_and_receiving() {
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let clock = Clock::start();
        let mut udp = StampedSocket::udp(peer.local_addr().unwrap(), 0, clock).unwrap();
        udp.send(b"where").unwrap();
        let mut buf = [0; 16];
        let (len, from) = peer.recv_from(&mut buf).unwrap();
        let before = clock.now();
        peer.send_to(&buf[..len], from).unwrap();
        let deadline = clock.now() + Duration::from_secs(5);
        let arrival = loop {
            if let Some(arrival) = udp.receive(&mut buf, deadline).unwrap() {
                break arrival;
            }
            assert!(clock.now() < deadline, "the reply did not come");
        };
        assert_eq!(&buf[..arrival.len], b"where");
        assert!(arrival.at >= before);
        assert_eq!(arrival.stamped.is_some(), udp.has_stamps());
        if let Some(stamped) = arrival.stamped {
            assert!(stamped <= arrival.at);
        }
    }

    #[test]
    fn a_wait_that_ends_gives_nothing() {
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let clock = Clock::start();
        let mut udp = StampedSocket::udp(peer.local_addr().unwrap(), 0, clock).unwrap();
        let until = clock.now() + Duration::from_millis(2);
        assert_eq!(udp.receive(&mut [0; 16], until).unwrap(), None);
        assert!(clock.now() >= until);
    }
}
