//! TCP sink and source: one takes whatever comes, the other sends without end.
//!
//! The sink listens on 3333, the port of ESP-IDF's `tcp_client` example, from which the published
//! message rates were taken. The usual ports of discard and chargen (9 and 19; RFC 863, RFC 864)
//! need privileges, so the source listens on 3334. What it sends is chargen's pattern: lines of 72
//! printable characters, each line shifted by one.

use super::served::ServedRate;
use super::{Service, ServiceLog};
use crate::clock::Clock;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Port of the sink: that of ESP-IDF's example.
pub const SINK_PORT: u16 = 3333;
/// Port of the source.
pub const SOURCE_PORT: u16 = 3334;

/// Clients served at once by each; a further one is closed at once.
pub const MOST_CLIENTS: usize = 64;

const LOOK: Duration = Duration::from_millis(50);

/// Starts the sink on `address`.
///
/// # Errors
/// The system's, from bind.
pub fn sink(address: SocketAddr, log: &ServiceLog) -> io::Result<Service> {
    start("TCP sink", address, log, drain)
}

/// Starts the source on `address`.
///
/// # Errors
/// The system's, from bind.
pub fn source(address: SocketAddr, log: &ServiceLog) -> io::Result<Service> {
    start("TCP source", address, log, pour)
}

/// Serves one client until it leaves or `stop`; tells `moved` of bytes as they are moved, and at least ten times a second
/// of none.
type Serve = fn(&mut TcpStream, &AtomicBool, moved: &mut dyn FnMut(u64));

fn start(
    name: &'static str,
    address: SocketAddr,
    log: &ServiceLog,
    serve: Serve,
) -> io::Result<Service> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, log) = (Arc::clone(&stop), super::named(name, address.port(), log));
    let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
        accept(name, &listener, &stopped, &log, serve);
    })?;
    Ok(Service::new(name, address, stop, vec![thread]))
}

fn accept(
    name: &'static str,
    listener: &TcpListener,
    stop: &Arc<AtomicBool>,
    log: &ServiceLog,
    serve: Serve,
) {
    let clients = Arc::new(AtomicUsize::new(0));
    let mut threads = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let Ok((stream, from)) = listener.accept() else {
            std::thread::sleep(LOOK);
            continue;
        };
        threads.retain(|thread: &std::thread::JoinHandle<()>| !thread.is_finished());
        if clients.load(Ordering::Relaxed) >= MOST_CLIENTS {
            log(&format!("{from} turned away: {MOST_CLIENTS} clients are served"));
            continue;
        }
        clients.fetch_add(1, Ordering::Relaxed);
        let (stop, own, counter) = (Arc::clone(stop), Arc::clone(log), Arc::clone(&clients));
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            client(stream, from, &stop, &own, serve);
            counter.fetch_sub(1, Ordering::Relaxed);
        });
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                clients.fetch_sub(1, Ordering::Relaxed);
                log(&format!("{from} turned away: no thread: {error}"));
            }
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn client(
    mut stream: TcpStream,
    from: SocketAddr,
    stop: &AtomicBool,
    log: &ServiceLog,
    serve: Serve,
) {
    let set = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(LOOK)))
        .and_then(|()| stream.set_write_timeout(Some(LOOK)));
    if set.is_err() {
        return;
    }
    log(&format!("{from} came"));
    let clock = Clock::start();
    let (mut rate, mut all) = (ServedRate::default(), 0);
    serve(&mut stream, stop, &mut |bytes| {
        let now = clock.now();
        all += bytes;
        if bytes > 0 {
            rate.add(now, bytes);
        }
        if let Some(part) = rate.take_long(now) {
            log(&format!("{from}: {}", part.bytes()));
        }
    });
    if let Some(part) = rate.take_rest() {
        log(&format!("{from}: {}", part.bytes()));
    }
    log(&format!("{from} left after {all} bytes"));
}

fn drain(stream: &mut TcpStream, stop: &AtomicBool, moved: &mut dyn FnMut(u64)) {
    let mut buf = vec![0; 128 * 1024];
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut buf) {
            Ok(0) => break,
            Ok(len) => moved(len as u64),
            Err(e) if is_pause(&e) => moved(0),
            Err(_) => break,
        }
    }
}

fn pour(stream: &mut TcpStream, stop: &AtomicBool, moved: &mut dyn FnMut(u64)) {
    let pattern = pattern();
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        match stream.write(&pattern[at..]) {
            Ok(0) => break,
            Ok(len) => {
                moved(len as u64);
                at = (at + len) % pattern.len();
            }
            Err(e) if is_pause(&e) => moved(0),
            Err(_) => break,
        }
    }
}

/// Time-outs are told apart differently on each system.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Returns the 95 different lines of chargen.
fn pattern() -> Vec<u8> {
    (0..95_u8)
        .flat_map(|line| {
            let text = (0..72).map(move |column| b' ' + (line + column) % 95);
            text.chain(*b"\r\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_that_of_rfc_864() {
        let pattern = pattern();
        assert_eq!(pattern.len(), 95 * 74);
        assert!(pattern.starts_with(b" !\"#$%&'()*+,-./0123456789:;<=>?@ABC"));
        assert!(pattern[74..].starts_with(b"!\"#$%&'()"));
    }
}
