//! A socket for ICMP echo: unprivileged where the system has that (`SOCK_DGRAM`, icmp(7) and
//! `net.ipv4.ping_group_range`), else raw, which needs `CAP_NET_RAW` or the like.
//!
//! On Linux the socket also tells of ICMP errors, with the request that they quote
//! (`IP_RECVERR`, ip(7)).

use super::options::set_tclass;
use super::stamp::{StampedDatagram, StampedSocket};
use crate::clock::Clock;
use espbench_model::time::Instant;
use espbench_proto::wire::icmp::{IcmpFailure, IcmpVersion, after_ipv4_header};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Longest IPv4 header, which a raw socket gives as well.
const IP_HEADER: usize = 60;
/// Errors that are kept until they are asked for.
const MOST_FAILURES: usize = 64;
/// Bytes of a quotation that are kept: the header of the request.
const QUOTED: usize = 8;

/// The reason for which there is no socket.
#[derive(Debug)]
pub enum OpenError {
    /// The system lets this user have neither an unprivileged nor a raw socket.
    NotPermitted(io::Error),
    /// Anything else.
    System(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Fields of the IP header.
#[derive(Clone, Copy, Debug, Default)]
pub struct IpFields {
    /// Type of service or traffic class.
    pub tos: Option<u8>,
    /// Time to live or hop limit.
    pub ttl: Option<u8>,
}

/// A failure with the beginning of the request that it answers.
pub type QuotedFailure = ([u8; QUOTED], IcmpFailure);

/// A socket over which echo requests go to one host.
#[derive(Debug)]
pub struct IcmpSocket {
    socket: StampedSocket,
    version: IcmpVersion,
    is_raw: bool,
    identifier: u16,
    buf: Vec<u8>,
    failures: VecDeque<QuotedFailure>,
}

impl IcmpSocket {
    /// Opens a socket to `peer`, whose port does not matter.
    ///
    /// # Errors
    /// No permission, no route, or an option that the system refuses.
    pub fn open(peer: SocketAddr, options: IpFields, clock: Clock) -> Result<Self, OpenError> {
        let version = if peer.is_ipv4() { IcmpVersion::V4 } else { IcmpVersion::V6 };
        let (socket, is_raw) = socket(version)?;
        imp::prepare(&socket, version, is_raw);
        let any: SocketAddr = match peer.ip() {
            IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        socket.bind(&any.into())?;
        match version {
            IcmpVersion::V4 => {
                options.tos.map_or(Ok(()), |tos| socket.set_tos_v4(tos.into()))?;
                options.ttl.map_or(Ok(()), |ttl| socket.set_ttl_v4(ttl.into()))?;
            }
            IcmpVersion::V6 => {
                options.tos.map_or(Ok(()), |tos| set_tclass(&socket, tos))?;
                options.ttl.map_or(Ok(()), |ttl| socket.set_unicast_hops_v6(ttl.into()))?;
            }
        }
        let mut to = peer;
        to.set_port(0);
        socket.connect(&to.into())?;
        // Linux puts the socket's "port" into the identifier. Elsewhere it is the program's to choose.
        let local = socket.local_addr()?.as_socket().map_or(0, |local| local.port());
        let random = || RandomState::new().hash_one(std::process::id()) as u16;
        let identifier = if is_raw || local == 0 { random() } else { local };
        let socket = StampedSocket::over(socket, clock)?;
        let failures = VecDeque::new();
        Ok(Self { socket, version, is_raw, identifier, buf: Vec::new(), failures })
    }

    /// Returns the version of ICMP.
    #[must_use]
    pub fn version(&self) -> IcmpVersion {
        self.version
    }

    /// Tells whether it is a raw socket.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Returns the identifier of the echo requests.
    #[must_use]
    pub fn identifier(&self) -> u16 {
        self.identifier
    }

    /// Tells whether arrivals carry the kernel's stamp.
    #[must_use]
    pub fn has_stamps(&self) -> bool {
        self.socket.has_stamps()
    }

    /// Returns how many messages the kernel dropped because this socket's buffer was full.
    #[must_use]
    pub fn overflow(&self) -> u32 {
        self.socket.overflow()
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The system's, of this message and not of an earlier one.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self.socket.send(message) {
            Ok(_) => Ok(()),
            // The system tells of an earlier request's failure by refusing this one.
            Err(_) if self.collect_failures() > 0 => self.socket.send(message).map(drop),
            Err(error) => Err(error),
        }
    }

    /// Waits for a message until about `until`, at most 50 ms. `None` where none came; then there may
    /// be a [`failure`](Self::failure).
    ///
    /// # Errors
    /// The system's, but for those that tell of failures.
    pub fn receive(
        &mut self,
        buf: &mut [u8],
        until: Instant,
    ) -> io::Result<Option<StampedDatagram>> {
        self.buf.resize(buf.len() + IP_HEADER, 0);
        let result = self.socket.receive(&mut self.buf, until);
        if !matches!(result, Ok(Some(_))) {
            let any = self.collect_failures() > 0;
            return result.or_else(|error| if any { Ok(None) } else { Err(error) });
        }
        Ok(result?.map(|arrival| {
            let whole = self.buf.get(..arrival.len).unwrap_or_default();
            let message =
                if self.version == IcmpVersion::V4 { after_ipv4_header(whole) } else { whole };
            let len = message.len().min(buf.len());
            buf[..len].copy_from_slice(&message[..len]);
            StampedDatagram { len, ..arrival }
        }))
    }

    /// Takes the next failure that the network told of.
    pub fn failure(&mut self) -> Option<QuotedFailure> {
        self.failures.pop_front()
    }

    /// Takes what the system has queued of errors; gives back how many.
    fn collect_failures(&mut self) -> usize {
        let mut taken = 0;
        // A host that floods us with errors does not keep us here.
        while taken < MOST_FAILURES
            && let Some(failure) = imp::next_error(self.socket.socket(), self.version)
        {
            taken += 1;
            let room = self.failures.len() < MOST_FAILURES;
            self.failures.extend(failure.filter(|_| room));
        }
        taken
    }
}

/// Opens the unprivileged socket, else the raw one.
fn socket(version: IcmpVersion) -> Result<(Socket, bool), OpenError> {
    let (domain, protocol) = match version {
        IcmpVersion::V4 => (Domain::IPV4, Protocol::ICMPV4),
        IcmpVersion::V6 => (Domain::IPV6, Protocol::ICMPV6),
    };
    if let Ok(socket) = Socket::new(domain, Type::DGRAM, Some(protocol)) {
        return Ok((socket, false));
    }
    match Socket::new(domain, Type::RAW, Some(protocol)) {
        Ok(socket) => Ok((socket, true)),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(OpenError::NotPermitted(e)),
        Err(e) => Err(OpenError::System(e)),
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use super::{IcmpFailure, IcmpVersion, QUOTED, QuotedFailure, Socket, after_ipv4_header};
    use std::os::fd::AsRawFd;

    /// Of linux/icmp.h and linux/icmpv6.h.
    const ICMP_FILTER: libc::c_int = 1;
    const ICMPV6_FILTER: libc::c_int = 1;
    const SOL_RAW: libc::c_int = 255;
    /// Types of the two echo replies.
    const REPLY: u32 = 0;
    const REPLY_V6: u32 = 129;

    /// Asks for ICMP errors, and that a raw socket gets echo replies only.
    pub(super) fn prepare(socket: &Socket, version: IcmpVersion, is_raw: bool) {
        let on: libc::c_int = 1;
        match version {
            IcmpVersion::V4 => {
                set(socket, libc::SOL_IP, libc::IP_RECVERR, &on);
                if is_raw {
                    let blocked: u32 = !(1 << REPLY);
                    set(socket, SOL_RAW, ICMP_FILTER, &blocked);
                }
            }
            IcmpVersion::V6 => {
                set(socket, libc::SOL_IPV6, libc::IPV6_RECVERR, &on);
                if is_raw {
                    // RFC 3542, section 3.2; on Linux a set bit blocks.
                    let mut blocked = [u32::MAX; 8];
                    blocked[(REPLY_V6 / 32) as usize] &= !(1 << (REPLY_V6 % 32));
                    set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &blocked);
                }
            }
        }
    }

    /// Sets an option with best effort: without it there is more to read, and less is told.
    fn set<T>(socket: &Socket, level: libc::c_int, name: libc::c_int, value: &T) {
        // SAFETY: `value` is live and its length is given.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                level,
                name,
                std::ptr::from_ref(value).cast(),
                size_of::<T>() as libc::socklen_t,
            );
        }
    }

    /// Room for the error with the address of its sender, aligned as `cmsghdr` wants it.
    #[repr(C, align(8))]
    struct ErrorControl([u8; 256]);

    /// Takes an error off the socket's queue: `None` where it is empty, `Some(None)` for one that
    /// says nothing of a request.
    pub(super) fn next_error(
        socket: &Socket,
        version: IcmpVersion,
    ) -> Option<Option<QuotedFailure>> {
        let mut quoted = [0; 128];
        let mut control = ErrorControl([0; 256]);
        let mut iov = libc::iovec { iov_base: quoted.as_mut_ptr().cast(), iov_len: quoted.len() };
        // SAFETY: an all-zero msghdr is valid (null pointers, zero lengths).
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut iov;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: `message` points to `iov` (over `quoted`) and `control`, all live during the call.
        let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
        let len = usize::try_from(len).ok()?;
        let failure = error_of(&message).and_then(|error| failure(version, error));
        let quoted = quoted.get(..len).unwrap_or_default();
        let request = if version == IcmpVersion::V4 { after_ipv4_header(quoted) } else { quoted };
        Some(request.first_chunk::<QUOTED>().copied().zip(failure))
    }

    fn error_of(message: &libc::msghdr) -> Option<libc::sock_extended_err> {
        // SAFETY: the kernel filled the control buffer with well-formed control messages up to
        // `msg_controllen`; the CMSG functions walk exactly those, and the payload is read unaligned
        // with the size that its type has.
        unsafe {
            let mut cmsg = libc::CMSG_FIRSTHDR(message);
            while let Some(head) = cmsg.as_ref() {
                let kind = (head.cmsg_level, head.cmsg_type);
                if kind == (libc::SOL_IP, libc::IP_RECVERR)
                    || kind == (libc::SOL_IPV6, libc::IPV6_RECVERR)
                {
                    let data = libc::CMSG_DATA(cmsg).cast::<libc::sock_extended_err>();
                    return Some(data.read_unaligned());
                }
                cmsg = libc::CMSG_NXTHDR(message, cmsg);
            }
        }
        None
    }

    fn failure(version: IcmpVersion, error: libc::sock_extended_err) -> Option<IcmpFailure> {
        match error.ee_origin {
            libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => {
                IcmpFailure::parse(version, error.ee_type, error.ee_code)
            }
            libc::SO_EE_ORIGIN_LOCAL if error.ee_errno == libc::EMSGSIZE as u32 => {
                Some(IcmpFailure::TooBig)
            }
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{IcmpVersion, QuotedFailure, Socket};

    pub(super) fn prepare(_: &Socket, _: IcmpVersion, _: bool) {}

    pub(super) fn next_error(_: &Socket, _: IcmpVersion) -> Option<Option<QuotedFailure>> {
        None
    }
}
