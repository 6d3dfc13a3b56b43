//! UDP echo, the device's side.

use super::{App, Endpoint, ProgramWork, SocketError, SocketId, Sockets, Wait, opened};
use espbench_model::time::{Duration, Instant};

/// Wait of a refused reply before it is tried again, and number of tries.
const RETRY: (Duration, u8) = (Duration::from_millis(1), 10);

/// UDP echo as one writes it: it sleeps until a datagram comes, and sends it back to its sender. A
/// reply that the driver has no buffer for is tried again a few times.
///
/// Counters: `echo-no-buffers`, replies given up; `echo-refused`, those that the network did not
/// take for another reason; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct EchoServer<const N: usize = 1472> {
    port: u16,
    socket: Option<SocketId>,
    buf: [u8; N],
    /// Turns a datagram into its reply; false where there is none.
    answer: fn(&mut [u8]) -> bool,
    /// A reply to be sent: its length, to whom, and how often it was refused.
    reply: Option<(usize, Endpoint, u8)>,
}

impl<const N: usize> EchoServer<N> {
    /// Creates an echo on `port`; a longer datagram than `N` bytes comes back cut.
    #[must_use]
    pub const fn new(port: u16) -> Self {
        Self::answering(port, |_| true)
    }

    /// Creates a server on `port` that makes each reply of its datagram with `answer`, which may say
    /// false: no reply.
    #[must_use]
    pub const fn answering(port: u16, answer: fn(&mut [u8]) -> bool) -> Self {
        Self { port, socket: None, buf: [0; N], answer, reply: None }
    }

    fn send(&mut self, now: Instant, sockets: &mut dyn Sockets, socket: SocketId) -> Option<Wait> {
        let (len, to, refused) = self.reply.take()?;
        match sockets.udp_send(socket, to, &self.buf[..len]) {
            Ok(()) => {}
            Err(SocketError::NoMemory) if refused < RETRY.1 => {
                self.reply = Some((len, to, refused + 1));
                return Some(Wait::Sleep(now + RETRY.0));
            }
            Err(SocketError::NoMemory) => sockets.count("echo-no-buffers", 1),
            Err(_) => sockets.count("echo-refused", 1),
        }
        Some(Wait::Again)
    }
}

impl<const N: usize> App for EchoServer<N> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some(wait) = self.send(now, sockets, socket) {
            return wait;
        }
        match sockets.udp_receive(socket, &mut self.buf) {
            Some(datagram) => {
                if (self.answer)(&mut self.buf[..datagram.len]) {
                    self.reply = Some((datagram.len, datagram.from, 0));
                }
                Wait::Again
            }
            None => Wait::Change,
        }
    }
}

/// Bytes of `WiFiUDP`'s buffers: what is longer is cut on arrival, and sent in pieces.
const ARDUINO_BUFFER: usize = 1460;

/// `Stream::_timeout`: how long `readStringUntil` waits for the line's end (`PARSE_TIMEOUT`).
const ARDUINO_TIMEOUT: Duration = Duration::from_secs(1);

/// UDP echo as the published sketch has it (smellbomb-udp; `WiFiUdp.cpp` and `Stream.cpp` of
/// arduino-esp32 1.0 and 2.0):
///
/// - `parsePacket` is called in a loop that never sleeps;
/// - `readStringUntil('\n')` takes the datagram byte by byte, each through `timedRead` (two calls of
///   `millis`, a virtual `read` of the ring buffer) and into a `String` that grows;
/// - `print` copies the line with a line feed behind it into the packet;
/// - it goes to one fixed end, whoever asked, and is dropped where the driver has no buffer
///   (counted as `echo-no-buffers`).
///
/// Two traps of the library are kept. A datagram without a line feed is waited for to go on, for a
/// second. And bytes behind the first line feed stay in the ring buffer, where nobody reads them:
/// `parsePacket` takes no further datagram while it is not empty, so the sketch answers nothing from
/// then on (`echo-stuck`).
#[derive(Clone, Debug)]
pub struct ArduinoEcho {
    port: u16,
    to: Endpoint,
    socket: Option<SocketId>,
    buf: [u8; ARDUINO_BUFFER + 1],
    step: SketchStep,
    /// Whether there are bytes in the ring buffer that nobody reads.
    stuck: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SketchStep {
    /// `parsePacket`.
    Parse,
    /// `readStringUntil` over a datagram of that length.
    Read(usize),
    /// The string has so many bytes and no end; `timedRead` asks until then.
    Await(usize, Instant),
    /// `print` of a line with so many bytes, without its line feed.
    Print(usize),
    /// `endPacket`: bytes from, to.
    Send(usize, usize),
}

impl ArduinoEcho {
    /// Creates the sketch, listening on `port` and answering to `to` (10000, and port 10001 of the
    /// PC).
    #[must_use]
    pub const fn new(port: u16, to: Endpoint) -> Self {
        let buf = [0; ARDUINO_BUFFER + 1];
        Self { port, to, socket: None, buf, step: SketchStep::Parse, stuck: false }
    }

    fn parse(&mut self, sockets: &mut dyn Sockets, socket: SocketId) -> Wait {
        if self.stuck {
            return Wait::Spin(ProgramWork::Loop(1), Instant::NEVER);
        }
        match sockets.udp_receive(socket, &mut self.buf[..ARDUINO_BUFFER]) {
            // One of no bytes makes no ring buffer, and `parsePacket` answers 0.
            Some(datagram) if datagram.len > 0 => {
                self.step = SketchStep::Read(datagram.len);
                Wait::Again
            }
            Some(_) => Wait::Again,
            None => Wait::Spin(ProgramWork::Loop(1), Instant::NEVER),
        }
    }

    fn read(&mut self, now: Instant, sockets: &mut dyn Sockets, len: usize) -> Wait {
        let line = self.buf[..len].iter().position(|&byte| byte == b'\n');
        sockets.spend(ProgramWork::Bytewise(line.map_or(len, |end| end + 1) as u32));
        match line {
            Some(end) => {
                if end + 1 < len {
                    self.stuck = true;
                    sockets.count("echo-stuck", 1);
                }
                self.step = SketchStep::Print(end);
            }
            None => self.step = SketchStep::Await(len, now + ARDUINO_TIMEOUT),
        }
        Wait::Again
    }

    /// Makes a string of the line and its line feed, and copies it into the packet.
    fn print(&mut self, sockets: &mut dyn Sockets, len: usize) -> Wait {
        self.buf[len] = b'\n';
        sockets.spend(ProgramWork::Copy(2 * (len as u32 + 1)));
        self.step = SketchStep::Send(0, len + 1);
        Wait::Again
    }

    fn send(
        &mut self,
        sockets: &mut dyn Sockets,
        socket: SocketId,
        from: usize,
        to: usize,
    ) -> Wait {
        let end = to.min(from + ARDUINO_BUFFER);
        match sockets.udp_send(socket, self.to, &self.buf[from..end]) {
            Ok(()) => {}
            Err(SocketError::NoMemory) => sockets.count("echo-no-buffers", 1),
            Err(_) => sockets.count("echo-refused", 1),
        }
        self.step = if end < to { SketchStep::Send(end, to) } else { SketchStep::Parse };
        Wait::Again
    }
}

impl App for ArduinoEcho {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let socket = match opened(&mut self.socket, sockets, |it| it.udp_bind(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        match self.step {
            SketchStep::Parse => self.parse(sockets, socket),
            SketchStep::Read(len) => self.read(now, sockets, len),
            SketchStep::Await(_, until) if now < until => Wait::Spin(ProgramWork::Loop(1), until),
            SketchStep::Await(len, _) | SketchStep::Print(len) => self.print(sockets, len),
            SketchStep::Send(from, to) => self.send(sockets, socket, from, to),
        }
    }
}
