//! UDP echo: every datagram goes back as it came.

use super::{Log, Service};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The port on which the published ESP32 sketch listens (smellbomb-udp).
pub const SKETCH_PORT: u16 = 10_000;
/// The port to which that sketch replies, whatever port the request came from.
pub const SKETCH_REPLY_PORT: u16 = 10_001;
/// The standard echo port (RFC 862).
pub const ECHO_PORT: u16 = 7;

/// Where replies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyTo {
    /// To the address and port of the sender (RFC 862).
    Sender,
    /// To this port at the sender's address, as the published sketch does.
    Port(u16),
}

/// Starts the service on `address`.
///
/// # Errors
/// The system's, from bind.
pub fn start(address: SocketAddr, reply: ReplyTo, log: &Log) -> io::Result<Service> {
    let socket = UdpSocket::bind(address)?;
    let address = socket.local_addr()?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(1 << 20);
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, log) = (Arc::clone(&stop), Arc::clone(log));
    let thread = std::thread::Builder::new()
        .name("udp-echo".into())
        .spawn(move || serve(&socket, reply, &stopped, &log))?;
    Ok(Service::new("UDP echo", address, stop, vec![thread]))
}

fn serve(socket: &UdpSocket, reply: ReplyTo, stop: &AtomicBool, log: &Log) {
    // The largest UDP payload; what arrives is never cut.
    let mut buf = vec![0; 65_536];
    let (mut echoed, mut refused) = (0_u64, 0_u64);
    let mut last = None;
    while !stop.load(Ordering::Relaxed) {
        // Errors are time-outs, or an ICMP message about an earlier reply: both mean "go on".
        let Ok((len, from)) = socket.recv_from(&mut buf) else { continue };
        if last != Some(from.ip()) {
            log(&format!("UDP echo: datagrams from {}", from.ip()));
            last = Some(from.ip());
        }
        let to = match reply {
            ReplyTo::Sender => from,
            ReplyTo::Port(port) => SocketAddr::new(from.ip(), port),
        };
        match socket.send_to(&buf[..len], to) {
            Ok(_) => echoed += 1,
            Err(_) => refused += 1,
        }
    }
    if echoed + refused > 0 {
        log(&format!("UDP echo: {echoed} datagrams echoed, {refused} replies refused"));
    }
}
