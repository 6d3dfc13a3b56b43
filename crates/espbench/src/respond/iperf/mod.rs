//! An iperf 2 server: TCP and UDP on one port, several clients at once, all directions that the
//! client's header asks for.
//!
//! | module | contents |
//! |---|---|
//! | `allowance` | a bound on what is sent to an address that proves nothing |
//! | `tcp` | the TCP side: a thread for each connection |
//! | `udp` | the UDP side: one thread for what comes, one for each client that is sent to |
//! | `bounce` | the server of `--bounceback` |

mod allowance;
mod bounce;
mod tcp;
mod udp;

use super::{Service, ServiceLog, named};
use crate::clock::Clock;
use crate::pump::{PumpContext, epoch_ns};
use crate::sys;
use crate::sys::options::SocketOptions;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::iperf2::{ClientHeader, Stamp, TestMode};
use socket2::{Domain, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Name of the service.
const NAME: &str = "iperf 2";
/// Silence after which a client is taken to have vanished.
const IDLE: Duration = Duration::from_secs(10);
/// The longest write that a client may ask for.
const LONGEST_WRITE: u32 = 1 << 20;
/// Number of tries for a port that is free for TCP and taken for UDP.
const PORT_TRIES: usize = 20;

/// The settings of the server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// `-w`, `-S`, `-M` and `-Z`.
    pub socket: SocketOptions,
    /// `-e`: one-way times are told whether or not the client says that the clocks agree.
    pub enhanced: bool,
    /// UDP tests are sent in full to addresses that prove nothing.
    pub trusts_clients: bool,
    /// Serve TCP.
    pub tcp: bool,
    /// Serve UDP.
    pub udp: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            interval: Duration::ZERO,
            socket: SocketOptions::default(),
            enhanced: false,
            trusts_clients: false,
            tcp: true,
            udp: true,
        }
    }
}

/// An event that the server tells its observer.
#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// A client came.
    Began {
        /// Address of the client.
        peer: SocketAddr,
        /// Local address of the connection.
        local: SocketAddr,
        /// True for UDP.
        udp: bool,
        /// The test that the client asks for.
        asked: ClientRequest,
    },
    /// An interval or a total of one of its streams.
    Sample(Sample),
    /// A remark without a number.
    Note(String),
}

/// The test that a client's header describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRequest {
    /// Direction of the test.
    pub mode: TestMode,
    /// `-P`: streams of the client, of which this is one; 1 where it does not say.
    pub threads: u32,
    /// `--trip-times`.
    pub trip_times: bool,
}

impl ClientRequest {
    /// A client that sends plain payload.
    const PLAIN: Self = Self { mode: TestMode::Forward, threads: 1, trip_times: false };

    fn of(header: &ClientHeader) -> Self {
        Self {
            mode: header.mode(),
            threads: header.threads.max(1),
            trip_times: header.trip_times(),
        }
    }
}

/// Takes what the server sees, under the number of the test.
pub type Observe = Arc<dyn Fn(u32, &ServerEvent) + Send + Sync>;

/// The context that all threads of the server share.
#[derive(Clone)]
struct ServerContext {
    options: ServerOptions,
    clock: Clock,
    stop: Arc<AtomicBool>,
    log: ServiceLog,
    observe: Observe,
    tests: Arc<AtomicU32>,
    local: SocketAddr,
}

impl ServerContext {
    fn begin(
        &self,
        peer: SocketAddr,
        local: SocketAddr,
        udp: bool,
        asked: ClientRequest,
    ) -> ServerTest {
        let number = self.tests.fetch_add(1, Ordering::Relaxed) + 1;
        let transport = if udp { "UDP" } else { "TCP" };
        (self.log)(&format!("{peer}: {transport}, {}", words(asked.mode)));
        let test = ServerTest { shared: self.clone(), number, peer };
        test.see(&ServerEvent::Began { peer, local, udp, asked });
        test
    }
}

/// One client's test.
#[derive(Clone)]
struct ServerTest {
    shared: ServerContext,
    number: u32,
    peer: SocketAddr,
}

impl ServerTest {
    fn see(&self, seen: &ServerEvent) {
        (self.shared.observe)(self.number, seen);
    }

    fn sample(&self, sample: Sample) {
        self.see(&ServerEvent::Sample(sample));
    }

    fn note(&self, note: &str) {
        (self.shared.log)(&format!("{}: {note}", self.peer));
        self.see(&ServerEvent::Note(note.into()));
    }

    /// Runs a pump under this test's eyes.
    fn pump<T>(&self, work: impl FnOnce(&mut PumpContext<'_>) -> T) -> T {
        let mut emit = |sample| self.sample(sample);
        let shared = &self.shared;
        work(&mut PumpContext { clock: &shared.clock, stop: &shared.stop, emit: &mut emit })
    }
}

fn words(mode: TestMode) -> &'static str {
    match mode {
        TestMode::Forward => "client sends",
        TestMode::Reverse => "server sends (-R)",
        TestMode::FullDuplex => "both send (--full-duplex)",
        TestMode::Tradeoff => "client sends, then server sends (-r)",
        TestMode::Dual => "both send over two connections (-d)",
        TestMode::Bounceback => "bounce back",
    }
}

/// The longest by which a start time may differ from this side's clock (`MAXDIFFTIMESTAMPSECS` of
/// iperf 2): what differs more has no common clock.
const CLOCKS_APART: Duration = Duration::from_secs(600);

/// Returns when the client's stream began, by this side's clock, and nanoseconds since the epoch at
/// the clock's zero; `None` where it has no trip times, or its clock is another.
fn trip_times(test: &ServerTest, sent: Option<Stamp>, now: Instant) -> Option<(Instant, u64)> {
    let sent = sent?.as_nanos();
    let epoch_ns = epoch_ns(&test.shared.clock);
    let here = epoch_ns.saturating_add(now.as_nanos()).cast_signed();
    let apart = Duration::from_nanos(here.abs_diff(sent));
    if apart > CLOCKS_APART {
        test.note(&format!(
            "its clock is {:.0} s off this one's: --trip-times is ignored",
            apart.as_secs_f64()
        ));
        return None;
    }
    let began = u64::try_from(sent.saturating_sub(epoch_ns.cast_signed())).unwrap_or_default();
    Some((Instant::from_nanos(began).min(now), epoch_ns))
}

/// Starts the server on `address`; port 0 is one that is free for TCP and UDP.
///
/// # Errors
/// The system's, from bind: the port is taken, or the address is not this host's.
pub fn start(
    address: SocketAddr,
    options: ServerOptions,
    log: &ServiceLog,
    observe: Option<Observe>,
) -> io::Result<Service> {
    start_told(address, options, log, |_| observe.unwrap_or_else(|| Arc::new(|_, _| {})))
}

/// Starts the server as [`start`] does; its observer has the log that names service and port.
///
/// # Errors
/// As [`start`].
pub fn start_told(
    address: SocketAddr,
    options: ServerOptions,
    log: &ServiceLog,
    observe: impl FnOnce(&ServiceLog) -> Observe,
) -> io::Result<Service> {
    let (listener, socket) = bind(address, options)?;
    let local = match (&listener, &socket) {
        (Some(listener), _) => listener.local_addr()?,
        (None, Some(socket)) => socket.local_addr()?,
        (None, None) => address,
    };
    let log = named(NAME, local.port(), log);
    let shared = ServerContext {
        options,
        clock: Clock::start(),
        stop: Arc::default(),
        observe: observe(&log),
        log,
        tests: Arc::default(),
        local,
    };
    let stop = Arc::clone(&shared.stop);
    let mut threads = Vec::new();
    if let Some(listener) = listener {
        let shared = shared.clone();
        let named = std::thread::Builder::new().name("iperf-tcp".into());
        threads.push(named.spawn(move || tcp::serve(&listener, &shared))?);
    }
    if let Some(socket) = socket {
        let shared = shared.clone();
        let named = std::thread::Builder::new().name("iperf-udp".into());
        match named.spawn(move || udp::serve(&socket, &shared)) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                // The other side ends with this.
                drop(Service::new(NAME, local, stop, threads));
                return Err(error);
            }
        }
    }
    Ok(Service::new(NAME, local, stop, threads))
}

/// Opens a listener whose connections inherit the options of the socket.
fn listen(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // As the standard library's listeners have it, so that a server can be started again at once.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    options.apply(&socket)?;
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

fn bind(
    address: SocketAddr,
    options: ServerOptions,
) -> io::Result<(Option<TcpListener>, Option<UdpSocket>)> {
    let mut tries = if address.port() == 0 { PORT_TRIES } else { 1 };
    loop {
        let listener = options.tcp.then(|| listen(address, &options.socket)).transpose()?;
        let same = listener.as_ref().map_or(Ok(address), TcpListener::local_addr)?;
        tries -= 1;
        match options.udp.then(|| UdpSocket::bind(same)).transpose() {
            Err(_) if tries > 0 => {}
            socket => {
                let socket = socket?;
                if let Some(listener) = &listener {
                    listener.set_nonblocking(true)?;
                }
                if let Some(socket) = &socket {
                    let window =
                        options.socket.window.map_or(sys::buffers::UDP_RECEIVE, |w| w as usize);
                    sys::buffers::set_receive(SockRef::from(socket), window);
                    options.socket.apply_marks(&SockRef::from(socket))?;
                    sys::udp::set_arrival_times(socket);
                    sys::udp::keep_errors(socket);
                }
                return Ok((listener, socket));
            }
        }
    }
}
