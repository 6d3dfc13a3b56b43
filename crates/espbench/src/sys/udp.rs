//! Many datagrams with one system call: `recvmmsg` with the kernel's time of arrival, and UDP
//! segmentation offload in both directions (`UDP_SEGMENT` and `UDP_GRO`, `udp(7)`). Elsewhere the same
//! interface moves one at a time.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Most segments that Linux takes in one send (`UDP_MAX_SEGMENTS` before 6.9).
pub const MAX_SEGMENTS: usize = 64;
/// Most payload bytes of one send.
pub const MAX_SEND: usize = 65_000;

/// Whether a socket that is not connected hears of ICMP errors: [`next_error`].
pub const TELLS_ERRORS: bool = cfg!(target_os = "linux");

/// Numbers of errors that ICMP reports of one address, beside those that have an
/// [`ErrorKind`](std::io::ErrorKind) of their own: other protocols and options, a way that is too narrow.
#[cfg(unix)]
pub const PEER_ERRORS: [i32; 5] =
    [libc::EHOSTDOWN, libc::EMSGSIZE, libc::ENOPROTOOPT, libc::EOPNOTSUPP, libc::EPROTO];
/// Elsewhere none is known.
#[cfg(not(unix))]
pub const PEER_ERRORS: [i32; 0] = [];

/// Error that the kernel has kept of a socket ([`keep_errors`]).
#[derive(Clone, Copy, Debug)]
pub struct KeptError {
    /// Address whose port is unreachable; none of another error: a host that cannot be reached now may be there again.
    pub unreachable: Option<SocketAddr>,
    /// Length of what the error quotes of the datagram's payload.
    pub quoted: usize,
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct UdpDatagram<'a> {
    /// Bytes of the datagram, as far as the slot holds them.
    pub bytes: &'a [u8],
    /// Length on the wire.
    pub length: usize,
    /// When the kernel took it, in nanoseconds before the batch was read; `None` where the system
    /// does not say.
    pub age_ns: Option<u64>,
}

pub use imp::{Batch, dropped, keep_errors, next_error, send_segments, set_arrival_times};

#[cfg(target_os = "linux")]
mod imp {
    use super::{KeptError, SocketAddr, UdpDatagram, UdpSocket, io};
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
    use std::os::fd::AsRawFd;

    /// Room for a time of arrival and a segment size, aligned as control messages must be.
    const CONTROL_WORDS: usize = 8;
    /// Full batches in a row after which a reader is too slow for single datagrams.
    const TOO_SLOW: u32 = 16;
    /// Buffers of a batch, and bytes of each, once datagrams are coalesced.
    const COALESCED: (usize, usize) = (16, 65_536);

    fn control_size() -> usize {
        CONTROL_WORDS * size_of::<u64>()
    }

    /// Asks the kernel for the time of arrival of each datagram.
    pub fn set_arrival_times(socket: &UdpSocket) {
        let on: libc::c_int = 1;
        // SAFETY: the descriptor is open for the life of `socket`, and the pointer and length
        // describe `on`. A kernel without the option answers an error, which leaves it off.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPNS,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            );
        }
    }

    /// Asks the kernel to keep ICMP errors with the address that each is about (`IP_RECVERR`, ip(7)): a socket that is not
    /// connected hears of none otherwise.
    pub fn keep_errors(socket: &UdpSocket) {
        let on: libc::c_int = 1;
        for (level, name) in
            [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)]
        {
            // SAFETY: the descriptor is open for the life of `socket`, and the pointer and length
            // describe `on`. A socket of the other family answers an error, which changes nothing.
            unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    level,
                    name,
                    (&raw const on).cast(),
                    size_of::<libc::c_int>() as libc::socklen_t,
                );
            }
        }
    }

    /// Takes the next error off the socket's queue, and what it quotes of the datagram's payload; `None` where the queue is
    /// empty.
    #[must_use]
    pub fn next_error(socket: &UdpSocket, quoted: &mut [u8]) -> Option<KeptError> {
        let mut control = [0u64; 32];
        let mut part = libc::iovec { iov_base: quoted.as_mut_ptr().cast(), iov_len: quoted.len() };
        // SAFETY: both are plain C structures for which zeros are valid values.
        let (mut name, mut header): (libc::sockaddr_storage, libc::msghdr) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        header.msg_name = (&raw mut name).cast();
        header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control) as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: `header` points to a name, a buffer and a control buffer of the stated sizes, alive during the call.
        let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
        let quoted = usize::try_from(length).ok()?;
        let mut is_unreachable = false;
        // SAFETY: the kernel filled the control buffer and says how far; CMSG_FIRSTHDR and CMSG_NXTHDR stay within
        // it, and the payload is read unaligned with the type that the two options define.
        unsafe {
            let mut message = libc::CMSG_FIRSTHDR(&raw const header);
            while !message.is_null() {
                let kind = ((*message).cmsg_level, (*message).cmsg_type);
                if kind == (libc::SOL_IP, libc::IP_RECVERR)
                    || kind == (libc::SOL_IPV6, libc::IPV6_RECVERR)
                {
                    let data = libc::CMSG_DATA(message).cast::<libc::sock_extended_err>();
                    let errno = data.read_unaligned().ee_errno.cast_signed();
                    is_unreachable |= errno == libc::ECONNREFUSED;
                }
                message = libc::CMSG_NXTHDR(&raw const header, message);
            }
        }
        Some(KeptError { unreachable: address(&name).filter(|_| is_unreachable), quoted })
    }

    /// Datagrams that the kernel dropped from this socket's full buffer since it was opened
    /// (`SO_MEMINFO`); `None` where it does not say. `SO_RXQ_OVFL` tells the same with each
    /// datagram, and costs some percent of a fast receiver's time.
    #[must_use]
    pub fn dropped(socket: &UdpSocket) -> Option<u32> {
        /// `SK_MEMINFO_DROPS` of linux/sock_diag.h.
        const DROPS: usize = 8;
        let mut counts = [0u32; DROPS + 1];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the descriptor is open, and pointer and length describe `counts`, of which the
        // kernel writes no more than that.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        (result == 0 && length as usize == size_of_val(&counts)).then_some(counts[DROPS])
    }

    /// Buffers for one `recvmmsg`.
    ///
    /// A reader that finds every slot full `TOO_SLOW` times in a row loses datagrams soon. From then on the kernel
    /// hands it what came together from one sender as one buffer with one time of arrival (`UDP_GRO`), which
    /// takes less than half of the processor time.
    pub struct Batch {
        slot: usize,
        /// Where each datagram of the last batch stands.
        datagrams: Vec<Place>,
        full_in_a_row: u32,
        coalesces: bool,
        bytes: Vec<u8>,
        names: Vec<libc::sockaddr_storage>,
        controls: Vec<[u64; CONTROL_WORDS]>,
        iovecs: Vec<libc::iovec>,
        headers: Vec<libc::mmsghdr>,
        filled: usize,
        read_at_ns: u64,
    }

    /// Place of a datagram in a batch.
    struct Place {
        buffer: usize,
        offset: usize,
        length: usize,
        age_ns: Option<u64>,
    }

    // SAFETY: the raw pointers in `iovecs` and `headers` point into the heap buffers that this
    // value owns; they are written before each call and used during it only.
    unsafe impl Send for Batch {}

    impl std::fmt::Debug for Batch {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Batch").field("slots", &self.headers.len()).finish_non_exhaustive()
        }
    }

    impl Batch {
        /// Makes room for `slots` datagrams, of each of which `slot` bytes are kept.
        #[must_use]
        pub fn new(slots: usize, slot: usize) -> Self {
            // SAFETY: all three are plain C structures for which zeros are valid values.
            let (name, iovec, header) =
                unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
            Self {
                slot,
                datagrams: Vec::with_capacity(slots),
                full_in_a_row: 0,
                coalesces: false,
                bytes: vec![0; slots * slot],
                names: vec![name; slots],
                controls: vec![[0; CONTROL_WORDS]; slots],
                iovecs: vec![iovec; slots],
                headers: vec![header; slots],
                // The first receive arms all.
                filled: slots,
                read_at_ns: 0,
            }
        }

        /// Waits for one datagram, as long as the socket's read time-out says, and takes all that
        /// are there. Answers their number.
        ///
        /// # Errors
        /// The system's; `WouldBlock` or `TimedOut` where nothing came.
        pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
            if self.full_in_a_row >= TOO_SLOW && !self.coalesces {
                self.coalesce(socket);
            }
            self.arm();
            self.filled = 0;
            self.datagrams.clear();
            // SAFETY: each of the headers points to an iovec, a name and a control buffer of the
            // stated sizes, all owned by `self` and not moved during the call.
            let count = unsafe {
                libc::recvmmsg(
                    socket.as_raw_fd(),
                    self.headers.as_mut_ptr(),
                    self.headers.len() as libc::c_uint,
                    // MSG_TRUNC: the length on the wire even where the slot is shorter.
                    (libc::MSG_WAITFORONE | libc::MSG_TRUNC) as _,
                    std::ptr::null_mut(),
                )
            };
            if count < 0 {
                return Err(io::Error::last_os_error());
            }
            self.filled = count as usize;
            self.read_at_ns = realtime_ns();
            (0..self.filled).for_each(|buffer| self.place(buffer));
            self.full_in_a_row =
                if self.filled == self.headers.len() { self.full_in_a_row + 1 } else { 0 };
            Ok(self.datagrams.len())
        }

        /// Asks the kernel for coalesced datagrams. A kernel before 5.0 does not have them.
        fn coalesce(&mut self, socket: &UdpSocket) {
            self.coalesces = true;
            let on: libc::c_int = 1;
            // SAFETY: the descriptor is open, and pointer and length describe `on`.
            let result = unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::SOL_UDP,
                    libc::UDP_GRO,
                    (&raw const on).cast(),
                    size_of::<libc::c_int>() as libc::socklen_t,
                )
            };
            if result == 0 {
                let (slots, slot) = COALESCED;
                *self = Self { coalesces: true, ..Self::new(slots, slot) };
            }
        }

        /// Notes where the datagrams of a buffer stand: one, or as many as the kernel coalesced.
        fn place(&mut self, buffer: usize) {
            let all = self.headers[buffer].msg_len as usize;
            let (age_ns, segment) = self.read_control(buffer);
            let segment = segment.filter(|&segment| segment > 0).unwrap_or(all).max(1);
            let mut offset = 0;
            while offset == 0 || offset < all {
                let length = segment.min(all - offset);
                self.datagrams.push(Place { buffer, offset, length, age_ns });
                offset += segment;
            }
        }

        /// Gives the kernel's answers back their room, in the slots that it used.
        fn arm(&mut self) {
            for i in 0..self.filled {
                self.iovecs[i] = libc::iovec {
                    iov_base: self.bytes[i * self.slot..].as_mut_ptr().cast(),
                    iov_len: self.slot,
                };
                let header = &mut self.headers[i].msg_hdr;
                header.msg_name = (&raw mut self.names[i]).cast();
                header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
                header.msg_iov = &raw mut self.iovecs[i];
                header.msg_iovlen = 1;
                header.msg_control = self.controls[i].as_mut_ptr().cast();
                header.msg_controllen = control_size() as _;
                header.msg_flags = 0;
            }
        }

        /// Returns the `nth` datagram of the last batch.
        ///
        /// # Panics
        /// Where the batch had no more than `nth`.
        pub fn get(&self, nth: usize) -> UdpDatagram<'_> {
            let Place { buffer, offset, length, age_ns } = self.datagrams[nth];
            let end = (offset + length).min(self.slot);
            let bytes = &self.bytes[buffer * self.slot..][offset.min(end)..end];
            UdpDatagram { bytes, length, age_ns }
        }

        /// Reads the control messages of a buffer for its age, and for the length of the datagrams that were
        /// coalesced in it.
        fn read_control(&self, buffer: usize) -> (Option<u64>, Option<usize>) {
            let (mut age, mut segment) = (None, None);
            let header = &raw const self.headers[buffer].msg_hdr;
            // SAFETY: the kernel filled `header` with a control buffer of the length that it
            // states; CMSG_FIRSTHDR and CMSG_NXTHDR stay within it. The payloads are read
            // unaligned and have the types that the two options define.
            unsafe {
                let mut message = libc::CMSG_FIRSTHDR(header);
                while !message.is_null() {
                    let data = libc::CMSG_DATA(message);
                    match ((*message).cmsg_level, (*message).cmsg_type) {
                        (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                            let at = data.cast::<libc::timespec>().read_unaligned();
                            age = Some(self.read_at_ns.saturating_sub(nanos(&at)));
                        }
                        (libc::SOL_UDP, libc::UDP_GRO) => {
                            segment =
                                usize::try_from(data.cast::<libc::c_int>().read_unaligned()).ok();
                        }
                        _ => {}
                    }
                    message = libc::CMSG_NXTHDR(header, message);
                }
            }
            (age, segment)
        }

        /// Returns the sender of the `nth` datagram.
        #[must_use]
        pub fn from(&self, nth: usize) -> Option<SocketAddr> {
            address(self.names.get(self.datagrams.get(nth)?.buffer)?)
        }
    }

    fn address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
        match libc::c_int::from(name.ss_family) {
            libc::AF_INET => {
                // SAFETY: the family says that the storage holds a `sockaddr_in`, which is
                // smaller and no more aligned.
                let v4 = unsafe { &*(&raw const *name).cast::<libc::sockaddr_in>() };
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above, for `sockaddr_in6`.
                let v6 = unsafe { &*(&raw const *name).cast::<libc::sockaddr_in6>() };
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                let port = u16::from_be(v6.sin6_port);
                Some(SocketAddrV6::new(ip, port, 0, v6.sin6_scope_id).into())
            }
            _ => None,
        }
    }

    fn nanos(at: &libc::timespec) -> u64 {
        at.tv_sec.unsigned_abs() * 1_000_000_000 + at.tv_nsec.unsigned_abs()
    }

    /// Reads the clock that the kernel stamps with. Only its difference to a stamp taken
    /// microseconds before is used.
    fn realtime_ns() -> u64 {
        let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of this frame.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut at) };
        nanos(&at)
    }

    /// Sends `bytes` as datagrams of `segment` bytes each with one call; the network stack or the
    /// card cuts them apart. Answers how many datagrams were taken.
    ///
    /// # Errors
    /// The system's. `InvalidInput`, `Unsupported` and EIO mean that the path cannot segment: send
    /// one by one.
    pub fn send_segments(
        socket: &UdpSocket,
        to: Option<SocketAddr>,
        bytes: &[u8],
        segment: usize,
    ) -> io::Result<usize> {
        let address = to.map(socket2::SockAddr::from);
        let mut iovec =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = [0u64; 4];
        // SAFETY: a msghdr of zeros is valid.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &raw mut iovec;
        header.msg_iovlen = 1;
        if let Some(address) = &address {
            header.msg_name = address.as_ptr().cast_mut().cast();
            header.msg_namelen = address.len();
        }
        if bytes.len() > segment {
            let size = u16::try_from(segment).map_err(|_| io::ErrorKind::InvalidInput)?;
            header.msg_control = control.as_mut_ptr().cast();
            // SAFETY: CMSG_SPACE of two bytes is 24, less than the 32 of `control`; CMSG_FIRSTHDR
            // is its beginning, since the length covers a header.
            unsafe {
                header.msg_controllen = libc::CMSG_SPACE(size_of::<u16>() as _) as _;
                let message = libc::CMSG_FIRSTHDR(&raw const header);
                (*message).cmsg_level = libc::SOL_UDP;
                (*message).cmsg_type = libc::UDP_SEGMENT;
                (*message).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as _) as _;
                libc::CMSG_DATA(message).cast::<u16>().write_unaligned(size);
            }
        }
        // SAFETY: `header` points to an iovec over `bytes` (which sendmsg only reads), to a name
        // and a control buffer of the stated lengths, all alive during the call.
        let sent =
            unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((sent as usize).div_ceil(segment.max(1)))
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{KeptError, SocketAddr, UdpDatagram, UdpSocket, io};

    /// Does nothing: arrival times are those of the read.
    pub fn set_arrival_times(_socket: &UdpSocket) {}

    /// Does nothing: a socket that is not connected hears of no ICMP error here.
    pub fn keep_errors(_socket: &UdpSocket) {}

    /// Returns `None`: not known here.
    #[must_use]
    pub fn next_error(_socket: &UdpSocket, _quoted: &mut [u8]) -> Option<KeptError> {
        None
    }

    /// Returns `None`: not known here.
    #[must_use]
    pub fn dropped(_socket: &UdpSocket) -> Option<u32> {
        None
    }

    /// A buffer for one datagram.
    #[derive(Debug)]
    pub struct Batch {
        bytes: Vec<u8>,
        length: usize,
        from: Option<SocketAddr>,
    }

    impl Batch {
        /// Makes room for one datagram at a time, of at most `slot` bytes or 64 KiB, whichever is
        /// more.
        #[must_use]
        pub fn new(_slots: usize, slot: usize) -> Self {
            Self { bytes: vec![0; slot.max(65_536)], length: 0, from: None }
        }

        /// Waits for one datagram.
        ///
        /// # Errors
        /// The system's; `WouldBlock` or `TimedOut` where nothing came.
        pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
            let (length, from) = socket.recv_from(&mut self.bytes)?;
            (self.length, self.from) = (length, Some(from));
            Ok(1)
        }

        /// Returns the datagram.
        pub fn get(&self, _nth: usize) -> UdpDatagram<'_> {
            UdpDatagram { bytes: &self.bytes[..self.length], length: self.length, age_ns: None }
        }

        /// Returns its sender.
        #[must_use]
        pub const fn from(&self, _nth: usize) -> Option<SocketAddr> {
            self.from
        }
    }

    /// Sends one by one.
    ///
    /// # Errors
    /// The system's, where not even the first datagram was taken.
    pub fn send_segments(
        socket: &UdpSocket,
        to: Option<SocketAddr>,
        bytes: &[u8],
        segment: usize,
    ) -> io::Result<usize> {
        let mut count = 0;
        for datagram in bytes.chunks(segment.max(1)) {
            let sent = match to {
                Some(to) => socket.send_to(datagram, to),
                None => socket.send(datagram),
            };
            match sent {
                Ok(_) => count += 1,
                Err(error) if count == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
