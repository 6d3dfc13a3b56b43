//! The address at which the server's own connections are awaited (`-r`, `-d`).

use super::IperfCell;
use crate::target::TargetError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Returns a port of the system's choice on the address of `-B`, or on all. The client header names
/// it, so that it need not be the server's own, as it is in iperf 2.
pub(super) fn address(cell: &IperfCell<'_>) -> SocketAddr {
    let any: IpAddr = if cell.target.peer.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    SocketAddr::new(cell.target.bind.map_or(any, |bind| bind.ip()), 0)
}

pub(super) fn tcp_listener(cell: &IperfCell<'_>) -> Result<TcpListener, TargetError> {
    let listener = TcpListener::bind(address(cell));
    let listener = listener.and_then(|l| l.set_nonblocking(true).map(|()| l));
    listener.map_err(local)
}

pub(super) fn local(source: std::io::Error) -> TargetError {
    TargetError::Local {
        what: "opening the port for the server's own connection".into(),
        source,
        hint: "check the address given with -B".into(),
    }
}

pub(super) fn no_connection(cell: &IperfCell<'_>, came: u16) -> TargetError {
    cell.protocol_error(
        format!("{came} of {} connections came back from the server", cell.work.parallel),
        "it does not know -r and -d (ESP-IDF's iperf does not), or a firewall here stops it: try \
         -R, or run the device as the client and `espbench iperf -s` here",
    )
}
