//! UDP echo: every datagram goes back as it came.
//!
//! Those from a port where a service listens are not answered but counted: a single datagram with a forged
//! sender would go to and fro between two echoes for ever.

use super::served::{ServedPart, ServedRate};
use super::{Service, ServiceLog};
use crate::clock::Clock;
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

/// Name of the service.
const NAME: &str = "UDP echo";

/// The destination of replies.
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
pub fn start(address: SocketAddr, reply: ReplyTo, log: &ServiceLog) -> io::Result<Service> {
    start_beside(address, reply, &[], log)
}

/// Starts the service on `address`, beside `others`: ports where further services listen, so that
/// nothing from there is answered.
///
/// # Errors
/// The system's, from bind.
pub fn start_beside(
    address: SocketAddr,
    reply: ReplyTo,
    others: &[u16],
    log: &ServiceLog,
) -> io::Result<Service> {
    let socket = UdpSocket::bind(address)?;
    let address = socket.local_addr()?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(1 << 20);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let log = super::named(NAME, address.port(), log);
    let services: Vec<u16> = others.iter().copied().chain([address.port()]).collect();
    let thread = std::thread::Builder::new()
        .name("udp-echo".into())
        .spawn(move || serve(&socket, reply, &services, &stopped, &log))?;
    Ok(Service::new(NAME, address, stop, vec![thread]))
}

/// Tells whether a service listens on that port, rather than a client sends from it: one of the
/// system ports (RFC 6335, section 6), the published sketch's, or one of these.
fn is_service(port: u16, services: &[u16]) -> bool {
    port < 1024 || port == SKETCH_PORT || services.contains(&port)
}

fn serve(
    socket: &UdpSocket,
    reply: ReplyTo,
    services: &[u16],
    stop: &AtomicBool,
    log: &ServiceLog,
) {
    // The largest UDP payload; what arrives is never cut.
    let mut buf = vec![0; 65_536];
    let (mut echoed, mut refused, mut ignored) = (0_u64, 0_u64, 0_u64);
    let mut last = None;
    let (clock, mut rate) = (Clock::start(), ServedRate::default());
    let tell = |part: Option<ServedPart>| {
        if let Some(part) = part {
            log(&part.things("datagram", "datagrams"));
        }
    };
    while !stop.load(Ordering::Relaxed) {
        tell(rate.take_due(clock.now()));
        // Errors are time-outs, or an ICMP message about an earlier reply: both mean "go on".
        let Ok((len, from)) = socket.recv_from(&mut buf) else { continue };
        if last != Some(from.ip()) {
            log(&format!("datagrams from {}", from.ip()));
            last = Some(from.ip());
        }
        let to = match reply {
            ReplyTo::Sender => from,
            ReplyTo::Port(port) => SocketAddr::new(from.ip(), port),
        };
        if is_service(from.port(), services) || is_service(to.port(), services) {
            ignored += 1;
            if ignored == 1 {
                log(&format!(
                    "{from} is not answered: a service listens on such a port, and may answer \
                     for ever"
                ));
            }
            continue;
        }
        match socket.send_to(&buf[..len], to) {
            Ok(_) => {
                echoed += 1;
                rate.add(clock.now(), 1);
            }
            Err(_) => refused += 1,
        }
    }
    tell(rate.take_rest());
    if echoed + refused > 0 {
        log(&format!("{echoed} datagrams echoed, {refused} replies refused"));
    }
    if ignored > 0 {
        log(&format!("{ignored} datagrams from ports of services not answered"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_services_are_not_those_of_clients() {
        for port in [1, 7, 19, 53, 123, 1023, SKETCH_PORT, 5001] {
            assert!(is_service(port, &[5001]), "{port}");
        }
        for port in [1024, SKETCH_REPLY_PORT, 49_152, 65_535] {
            assert!(!is_service(port, &[5001]), "{port}");
        }
    }

    /// Checks that two echoes do not answer each other: one forged datagram went to and fro 160,000
    /// times a second.
    #[test]
    fn two_echoes_do_not_answer_each_other() {
        let log: ServiceLog = Arc::new(|_| {});
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        for socket in [&client, &other] {
            socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        }
        let port = other.local_addr().unwrap().port();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let echo = start_beside(any, ReplyTo::Sender, &[port], &log).unwrap();
        other.send_to(b"forged", echo.address).unwrap();
        client.send_to(b"asked", echo.address).unwrap();
        let mut buf = [0; 16];
        assert_eq!(client.recv(&mut buf).unwrap(), 5, "a client is answered");
        // It came later, so the other one had its turn.
        other.set_nonblocking(true).unwrap();
        assert!(other.recv(&mut buf).is_err(), "another service is not");
    }
}
