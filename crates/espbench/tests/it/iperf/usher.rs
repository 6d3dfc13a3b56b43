//! Lets the UDP streams of a client into Debian's iperf one after the other.
//!
//! iperf 2 has one socket that it listens on. With the first datagram of a stream it connects that
//! socket to the stream's sender, and then opens another one to listen on. What a second stream
//! sends in that gap is either in the first stream's socket already, and counted there as out of
//! order, or finds no socket, and the kernel refuses it. Either way the second stream lacks it.
//! iperf's own client loses the first datagram of its second stream like this, too. Held back until
//! the second socket is there, none is lost.

use super::wait_for_entry;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Stands between a client and an iperf server, and passes datagrams on, both ways.
pub struct Usher {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Usher {
    /// Starts an usher before a server on this host.
    pub fn before(server: SocketAddr) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").expect("a port");
        front.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
        let address = front.local_addr().expect("its address");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut guests = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                pass(&front, server, &mut guests);
            }
        });
        Self { address, stop, thread: Some(thread) }
    }
}

/// A stream's sender, and the socket that stands for it.
type Guest = (SocketAddr, UdpSocket);

/// Passes on what is there.
fn pass(front: &UdpSocket, server: SocketAddr, guests: &mut Vec<Guest>) {
    let mut buffer = [0; 2000];
    if let Ok((length, from)) = front.recv_from(&mut buffer) {
        let known = guests.iter().position(|(guest, _)| *guest == from);
        let at = known.unwrap_or_else(|| {
            guests.push((from, admit(server)));
            guests.len() - 1
        });
        let back = &guests[at].1;
        back.send(&buffer[..length]).expect("the server listens");
        if known.is_none() {
            let own = back.local_addr().expect("its address").port();
            let connected = format!(":{:04X} 0100007F:{own:04X}", server.port());
            wait_for_entry("/proc/net/udp", &connected);
            super::wait_for_port(server.port(), true);
        }
    }
    for (guest, back) in guests {
        while let Ok(length) = back.recv(&mut buffer) {
            front.send_to(&buffer[..length], *guest).expect("the client is there");
        }
    }
}

fn admit(server: SocketAddr) -> UdpSocket {
    let back = UdpSocket::bind("127.0.0.1:0").expect("a port");
    back.connect(server).expect("an address");
    back.set_nonblocking(true).expect("a socket that does not block");
    back
}

impl Drop for Usher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let passed = thread.join();
            assert!(passed.is_ok() || std::thread::panicking(), "the usher failed");
        }
    }
}
