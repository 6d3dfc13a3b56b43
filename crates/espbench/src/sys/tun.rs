//! A TUN interface (Linux): the kernel's IP packets for a network are read here, and those that are
//! written here reach it.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::time::Duration;

/// Bytes of the longest packet: those of Ethernet.
pub const TUN_MTU: usize = 1500;

/// A TUN interface that is up. Dropping it removes it.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Reads the next packet into the buffer; `None` where none waits. One that is longer than the
    /// buffer is cut.
    ///
    /// # Errors
    /// The system's.
    pub fn read<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
        match (&self.file).read(buffer) {
            Ok(len) => Ok(Some(&buffer[..len])),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Returns the descriptor, for a wait.
    #[cfg(unix)]
    pub(super) fn descriptor(&self) -> std::os::fd::RawFd {
        use std::os::fd::AsRawFd as _;
        self.file.as_raw_fd()
    }

    /// Hands a packet to the kernel. Returns whether it took it.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        match (&self.file).write(packet) {
            Ok(written) => Ok(written == packet.len()),
            Err(e) => match e.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::InvalidInput => {
                    Ok(false)
                }
                _ => Err(e),
            },
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Duration, File, TUN_MTU, Tun, io};
    use crate::sys::ready;
    use std::fs::OpenOptions;
    use std::net::Ipv4Addr;
    use std::os::fd::{AsRawFd as _, RawFd};
    use std::os::unix::fs::OpenOptionsExt as _;

    /// Name of the loopback interface.
    const LOOPBACK: &str = "lo";

    /// Returns a request about an interface, with everything else zero.
    fn request(name: &str) -> libc::ifreq {
        // SAFETY: a structure of integers and unions of such, for which zero is a value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = from.cast_signed() as libc::c_char;
        }
        request
    }

    fn call(fd: RawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: all calls made here take an `ifreq`, which outlives them.
        let result = unsafe { libc::ioctl(fd, what, std::ptr::from_mut(request)) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    const fn address(address: Ipv4Addr) -> libc::sockaddr {
        let it = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) },
            sin_zero: [0; 8],
        };
        // SAFETY: both are of 16 octets without padding, and any octets are a `sockaddr`.
        unsafe { std::mem::transmute(it) }
    }

    /// Sets an interface up.
    fn up(socket: RawFd, name: &str) -> io::Result<()> {
        let mut flags = request(name);
        call(socket, libc::SIOCGIFFLAGS as libc::Ioctl, &mut flags)?;
        // SAFETY: the call has written the flags.
        let old = unsafe { flags.ifr_ifru.ifru_flags };
        flags.ifr_ifru.ifru_flags = old | (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        call(socket, libc::SIOCSIFFLAGS as libc::Ioctl, &mut flags)
    }

    impl Tun {
        /// Makes an interface with an address in a network of so many bits, or without one, and sets it
        /// and the loopback interface up.
        ///
        /// # Errors
        /// The system's: no right to, or no TUN in its kernel.
        pub fn open(name: &str, own: Option<Ipv4Addr>, prefix: u8) -> io::Result<Self> {
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
            let file: File = options.open("/dev/net/tun")?;
            let mut tun = request(name);
            tun.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
            call(file.as_raw_fd(), libc::TUNSETIFF as libc::Ioctl, &mut tun)?;
            let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            let socket = socket.as_raw_fd();
            let mut set = request(name);
            if let Some(own) = own {
                set.ifr_ifru.ifru_addr = address(own);
                call(socket, libc::SIOCSIFADDR as libc::Ioctl, &mut set)?;
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
                set.ifr_ifru.ifru_netmask = address(Ipv4Addr::from_bits(mask));
                call(socket, libc::SIOCSIFNETMASK as libc::Ioctl, &mut set)?;
            }
            set.ifr_ifru.ifru_mtu = TUN_MTU as libc::c_int;
            call(socket, libc::SIOCSIFMTU as libc::Ioctl, &mut set)?;
            up(socket, name)?;
            up(socket, LOOPBACK)?;
            Ok(Self { file })
        }

        /// Waits for at most `timeout` until a packet can be read.
        ///
        /// # Errors
        /// The system's; an interruption by a signal is none.
        pub fn wait(&self, timeout: Duration) -> io::Result<()> {
            let fd = self.file.as_raw_fd();
            let mut polled = [libc::pollfd { fd, events: libc::POLLIN, revents: 0 }];
            if ready::poll(&mut polled, timeout) < 0 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            Ok(())
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Tun {
    /// Says that this system has no such interface.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str, _: Option<std::net::Ipv4Addr>, _: u8) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Waits: there is nothing to read.
    ///
    /// # Errors
    /// None.
    pub fn wait(&self, timeout: Duration) -> io::Result<()> {
        std::thread::sleep(timeout);
        Ok(())
    }
}
