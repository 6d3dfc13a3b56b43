//! Options of sockets that mark, size or steer what they send.

use espbench_model::workload::Name;
use socket2::{Domain, SockRef, Socket, Type};
use std::io;
use std::net::TcpStream;

/// Socket options that iperf 2's `-w`, `-S`, `-M` and `-Z` set; the defaults leave everything to
/// the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Socket buffers in bytes.
    pub window: Option<u32>,
    /// Byte of the type of service; 0 is what the system sets.
    pub tos: u8,
    /// Largest TCP segment in bytes.
    pub mss: Option<u16>,
    /// TCP congestion control by its name in the kernel.
    pub congestion: Option<Name>,
}

impl SocketOptions {
    /// Sets them on a TCP socket before it connects or listens: window scale and segment size are
    /// agreed on then, and accepted connections inherit what the listener has.
    ///
    /// # Errors
    /// The system's; [`explain`](Self::explain) says whose fault it is.
    pub fn apply(&self, socket: &Socket) -> io::Result<()> {
        if let Some(window) = self.window {
            socket.set_send_buffer_size(window as usize)?;
            socket.set_recv_buffer_size(window as usize)?;
        }
        self.apply_marks(&SockRef::from(socket))?;
        self.apply_tcp(socket)
    }

    #[cfg(target_os = "linux")]
    fn apply_tcp(&self, socket: &Socket) -> io::Result<()> {
        if let Some(mss) = self.mss {
            socket.set_tcp_mss(mss.into())?;
        }
        match &self.congestion {
            Some(name) => socket.set_tcp_congestion(name.as_str().as_bytes()),
            None => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn apply_tcp(&self, _socket: &Socket) -> io::Result<()> {
        if self.mss.is_some() || self.congestion.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(())
    }

    /// Sets the type of service on any socket.
    ///
    /// # Errors
    /// The system's.
    pub fn apply_marks(&self, socket: &SockRef<'_>) -> io::Result<()> {
        if self.tos == 0 {
            return Ok(());
        }
        set_tos(socket, self.tos)
    }

    /// Tries them on a socket that is thrown away.
    ///
    /// # Errors
    /// A sentence that says which of them the system refuses, why, and what there is instead.
    pub fn explain(&self, domain: Domain) -> Result<(), String> {
        let each = [
            Self { window: self.window, ..Self::default() },
            Self { tos: self.tos, ..Self::default() },
            Self { mss: self.mss, ..Self::default() },
            Self { congestion: self.congestion, ..Self::default() },
        ];
        for one in each.iter().filter(|one| **one != Self::default()) {
            let socket = Socket::new(domain, Type::STREAM, None).map_err(|e| e.to_string())?;
            one.apply(&socket).map_err(|error| one.refusal(&error))?;
        }
        Ok(())
    }

    /// Returns the reason for which the system refused the one option that is set.
    fn refusal(&self, error: &io::Error) -> String {
        if let Some(name) = &self.congestion {
            return congestion_refusal(name.as_str(), error);
        }
        match self.mss {
            Some(mss) => format!("this system does not take an MSS of {mss} bytes (-M): {error}"),
            None => format!("this system does not take that window or type of service: {error}"),
        }
    }
}

/// Asks the system to acknowledge at once what this stream receives (`TCP_QUICKACK`); it forgets
/// that soon, so that it is asked again with each read.
pub fn quick_ack(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_quickack(true);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

/// Sets the type of service of what a socket sends.
///
/// # Errors
/// The system's.
pub fn set_tos(socket: &SockRef<'_>, tos: u8) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let v6 = socket.domain()? == Domain::IPV6;
    #[cfg(not(target_os = "linux"))]
    let v6 = socket.local_addr()?.is_ipv6();
    if v6 { set_tclass(socket, tos) } else { socket.set_tos_v4(tos.into()) }
}

/// Sets the traffic class of what a socket of IPv6 sends.
///
/// # Errors
/// The system's; it has no such option.
#[cfg(unix)]
pub(super) fn set_tclass(socket: &Socket, tos: u8) -> io::Result<()> {
    socket.set_tclass_v6(tos.into())
}

#[cfg(not(unix))]
pub(super) fn set_tclass(_socket: &Socket, _tos: u8) -> io::Result<()> {
    let why = "this system has no option for the traffic class of IPv6";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

fn congestion_refusal(name: &str, error: &io::Error) -> String {
    let list = |what: &str| {
        std::fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{what}_congestion_control"))
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(", "))
            .ok()
            .filter(|list| !list.is_empty())
    };
    let available = list("available");
    let there_is = available.as_deref().map_or_else(String::new, |l| format!(": it has {l}"));
    if error.kind() == io::ErrorKind::PermissionDenied {
        let allowed = list("allowed").map_or_else(String::new, |l| format!(" (it allows {l})"));
        return format!(
            "the kernel does not let this user set the congestion control `{name}`{allowed}: choose \
             another with -Z, or add it to net.ipv4.tcp_allowed_congestion_control"
        );
    }
    if error.kind() == io::ErrorKind::Unsupported {
        return format!("this system has no choice of congestion control: leave out -Z {name}");
    }
    format!(
        "the kernel has no congestion control `{name}`{there_is}; choose one of these with -Z, or \
         load its module ({error})"
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn with(name: &str) -> SocketOptions {
        SocketOptions { congestion: Name::new(name), ..SocketOptions::default() }
    }

    #[test]
    fn a_congestion_control_that_the_kernel_lacks_is_answered_with_those_that_it_has() {
        let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let first = all.unwrap().split_whitespace().next().unwrap().to_string();
        let why = with("no-such-control").explain(Domain::IPV4).unwrap_err();
        assert!(why.contains("`no-such-control`") && why.contains(&first), "{why}");
        assert_eq!(with("reno").explain(Domain::IPV4), Ok(()));
        let denied = congestion_refusal("cubic", &io::ErrorKind::PermissionDenied.into());
        assert!(denied.contains("tcp_allowed_congestion_control") && denied.contains("reno"));
    }

    #[test]
    fn what_was_set_is_set() {
        for domain in [Domain::IPV4, Domain::IPV6] {
            let Ok(socket) = Socket::new(domain, Type::STREAM, None) else { continue };
            let options = SocketOptions { tos: 0xB8, mss: Some(1000), ..with("reno") };
            options.apply(&socket).unwrap();
            assert!(socket.tcp_congestion().unwrap().starts_with(b"reno"));
            let tos = if domain == Domain::IPV4 {
                socket.tos_v4().unwrap()
            } else {
                socket.tclass_v6().unwrap()
            };
            assert_eq!(tos, 0xB8);
        }
    }
}
