//! An iperf 2 server: TCP and UDP on one port, several clients at once, all directions that the
//! client's header asks for.

mod tcp;
mod udp;

use super::{Log, Service};
use crate::clock::Clock;
use crate::pump::Control;
use crate::sys;
use espbench_proto::node::iperf::Limit;
use espbench_proto::sample::Sample;
use espbench_proto::time::Duration;
use espbench_proto::wire::iperf2::{ClientHeader, Mode};
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Silence after which a client is taken to have vanished.
const IDLE: Duration = Duration::from_secs(10);
/// The longest time that a client may ask this side to send for.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The longest write that a client may ask for.
const LONGEST_WRITE: u32 = 1 << 20;
/// How often a port that is free for TCP and taken for UDP is tried again.
const PORT_TRIES: usize = 20;

/// How the server reports.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// `-w`: receive buffer in bytes.
    pub window: Option<u32>,
    /// Serve TCP.
    pub tcp: bool,
    /// Serve UDP.
    pub udp: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval: Duration::ZERO, window: None, tcp: true, udp: true }
    }
}

/// What the server sees of one test.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A client came.
    Began {
        /// Who.
        peer: SocketAddr,
        /// Under which local address.
        local: SocketAddr,
        /// True for UDP.
        udp: bool,
        /// What it asks for.
        mode: Mode,
    },
    /// An interval or a total of one of its streams.
    Sample(Sample),
    /// Something that is no number.
    Note(String),
}

/// Takes what the server sees, under the number of the test.
pub type Observe = Arc<dyn Fn(u32, &Seen) + Send + Sync>;

/// What all threads of the server share.
#[derive(Clone)]
struct Shared {
    options: Options,
    clock: Clock,
    stop: Arc<AtomicBool>,
    log: Log,
    observe: Observe,
    tests: Arc<AtomicU32>,
    local: SocketAddr,
}

impl Shared {
    fn begin(&self, peer: SocketAddr, udp: bool, mode: Mode) -> Test {
        let number = self.tests.fetch_add(1, Ordering::Relaxed) + 1;
        let transport = if udp { "UDP" } else { "TCP" };
        (self.log)(&format!("{peer}: iperf {transport}, {}", words(mode)));
        let test = Test { shared: self.clone(), number, peer };
        test.see(&Seen::Began { peer, local: self.local, udp, mode });
        test
    }
}

/// One client's test.
#[derive(Clone)]
struct Test {
    shared: Shared,
    number: u32,
    peer: SocketAddr,
}

impl Test {
    fn see(&self, seen: &Seen) {
        (self.shared.observe)(self.number, seen);
    }

    fn sample(&self, sample: Sample) {
        self.see(&Seen::Sample(sample));
    }

    fn note(&self, note: &str) {
        (self.shared.log)(&format!("{}: {note}", self.peer));
        self.see(&Seen::Note(note.into()));
    }

    /// Runs a pump under this test's eyes.
    fn pump<T>(&self, work: impl FnOnce(&mut Control<'_>) -> T) -> T {
        let mut emit = |sample| self.sample(sample);
        let shared = &self.shared;
        work(&mut Control { clock: &shared.clock, stop: &shared.stop, emit: &mut emit })
    }
}

fn words(mode: Mode) -> &'static str {
    match mode {
        Mode::Forward => "client sends",
        Mode::Reverse => "server sends (-R)",
        Mode::FullDuplex => "both send (--full-duplex)",
        Mode::Tradeoff => "client sends, then server sends (-r)",
        Mode::Dual => "both send over two connections (-d)",
        Mode::Bounceback => "bounce back",
    }
}

/// How much a client asks this side to send.
fn limit(header: &ClientHeader) -> Limit {
    match Limit::of(header.amount) {
        Limit::Time(time) => Limit::Time(time.min(LONGEST)),
        bytes @ Limit::Bytes(_) => bytes,
    }
}

/// Starts the server on `address`; port 0 is one that is free for TCP and UDP.
///
/// # Errors
/// The system's, from bind: the port is taken, or the address is not this host's.
pub fn start(
    address: SocketAddr,
    options: Options,
    log: &Log,
    observe: Option<Observe>,
) -> io::Result<Service> {
    let (listener, socket) = bind(address, options)?;
    let local = match (&listener, &socket) {
        (Some(listener), _) => listener.local_addr()?,
        (None, Some(socket)) => socket.local_addr()?,
        (None, None) => address,
    };
    let shared = Shared {
        options,
        clock: Clock::start(),
        stop: Arc::default(),
        log: Arc::clone(log),
        observe: observe.unwrap_or_else(|| Arc::new(|_, _| {})),
        tests: Arc::default(),
        local,
    };
    let mut threads = Vec::new();
    if let Some(listener) = listener {
        let shared = shared.clone();
        threads.push(std::thread::spawn(move || tcp::serve(&listener, &shared)));
    }
    if let Some(socket) = socket {
        let shared = shared.clone();
        threads.push(std::thread::spawn(move || udp::serve(&socket, &shared)));
    }
    Ok(Service::new("iperf 2", local, shared.stop, threads))
}

fn bind(
    address: SocketAddr,
    options: Options,
) -> io::Result<(Option<TcpListener>, Option<UdpSocket>)> {
    let mut tries = if address.port() == 0 { PORT_TRIES } else { 1 };
    loop {
        let listener = options.tcp.then(|| TcpListener::bind(address)).transpose()?;
        let same = listener.as_ref().map_or(Ok(address), TcpListener::local_addr)?;
        tries -= 1;
        match options.udp.then(|| UdpSocket::bind(same)).transpose() {
            Err(_) if tries > 0 => {}
            socket => {
                let socket = socket?;
                if let Some(listener) = &listener {
                    listener.set_nonblocking(true)?;
                    if let Some(window) = options.window {
                        // Inherited by accepted connections, as the window scale must be.
                        SockRef::from(listener).set_recv_buffer_size(window as usize)?;
                    }
                }
                if let Some(socket) = &socket {
                    let window = options.window.map_or(sys::buffers::UDP_RECEIVE, |w| w as usize);
                    sys::buffers::set_receive(SockRef::from(socket), window);
                    sys::udp::set_arrival_times(socket);
                }
                return Ok((listener, socket));
            }
        }
    }
}
