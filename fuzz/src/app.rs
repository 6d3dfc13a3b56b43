//! Programs over IP: whatever their sockets answer, they keep to the law and do not panic.

use espbench_model::sample::{Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{
    Direction, EchoFormat, Iperf, MqttMode, MqttRate, TcpRate, Transport, UdpEcho,
};
use espbench_proto::node::app::iperf::IperfStyle;
use espbench_proto::node::app::mqtt::{ListenerMemory, PublisherMemory, SmoothSetup};
use espbench_proto::node::app::{
    App, ArduinoEcho, EchoProbe, EchoServer, Endpoint, IperfClient, IperfServer, IperfSetup,
    LabBroker, Mqtt, MqttListener, ProgramWork, ReceivedDatagram, SmoothMqtt, SocketError,
    SocketId, Sockets, StreamState, TcpSender, TcpSink, Wait,
};
use espbench_proto::node::mqtt::{MqttSettings, OfferedLoad};
use espbench_proto::wire::mqtt::Version;

const PEER: Endpoint = Endpoint::new([10, 0, 0, 2], 7);

/// Runs a program: the first byte chooses it, the second its settings; the others are the answers
/// of its sockets, call by call.
pub fn app(data: &[u8]) {
    let [which, kind, data @ ..] = data else { return };
    let transport = if kind & 1 == 0 { Transport::Udp } else { Transport::Tcp };
    let qos = kind >> 1 & 3;
    let (mut listening, mut publishing) =
        (ListenerMemory::<256, 8>::new(), PublisherMemory::<256, 4, 16>::new());
    let (storage, out) = publishing.lend();
    let mut app: Box<dyn App + '_> = match which % 11 {
        0 => Box::new(EchoServer::<64>::new(7)),
        1 => Box::new(ArduinoEcho::new(7, PEER)),
        2 => Box::new(EchoProbe::<64>::new(echo(*kind), 1, 7, PEER)),
        3 => Box::new(IperfServer::<64, 2, 2>::new(iperf(*kind, transport), 7)),
        4 => Box::new(IperfClient::<64>::new(iperf(*kind, transport), PEER)),
        5 => Box::new(TcpSender::<64>::new(rate(), PEER, Some("sent\n"))),
        6 => Box::new(TcpSink::<64, 2>::new(7)),
        7 => Box::new(LabBroker::<2, 64, 256>::new(7)),
        8 => Box::new(SmoothMqtt::new(smooth(qos.min(2), *kind), PEER)),
        9 => Box::new(Mqtt::new(mqtt(qos.min(2), *kind), PEER, storage, out)),
        _ => Box::new(MqttListener::new(mqtt(qos.min(2), *kind), PEER, listening.lend())),
    };
    let mut fed = Fed { data, sockets: 0, calls: 0 };
    let mut now = Instant::ZERO;
    for _ in 0..data.len() * 4 + 256 {
        fed.calls = 0;
        let wait = app.poll(now, &mut fed);
        assert!(fed.calls <= 1, "one thing that costs time, not {}", fed.calls);
        now = match wait {
            Wait::Again => now.after_nanos(20_000),
            Wait::Change => now.after_nanos(1_000_000),
            Wait::Until(at) | Wait::Spin(_, at) => {
                // Something comes, or the time does.
                let soon = now.after_nanos(1_000_000);
                if fed.byte() & 1 == 0 { soon } else { at.max(now).min(soon.after_nanos(10 << 30)) }
            }
            Wait::Sleep(at) => at.max(now).min(now.after_nanos(10 << 30)),
            Wait::Done => return,
        };
    }
}

fn echo(kind: u8) -> UdpEcho {
    UdpEcho {
        size: 16 + u32::from(kind >> 4),
        count: 20,
        discard: 1,
        format: if kind & 1 == 0 { EchoFormat::Ascii } else { EchoFormat::Binary },
        in_flight: 4,
        interval: (kind & 2 != 0).then_some(Duration::from_millis(1)),
        timeout: Duration::from_millis(5),
    }
}

fn iperf(kind: u8, transport: Transport) -> IperfSetup {
    let style = [IperfStyle::Pc, IperfStyle::EspIdf, IperfStyle::EspIdfV4, IperfStyle::EspConn]
        [usize::from(kind >> 6)];
    let work = Iperf {
        transport,
        direction: Direction::Forward,
        time: Duration::from_millis(50),
        bytes: (kind & 2 != 0).then_some(500),
        interval: Duration::from_millis(10),
        length: u32::from(kind >> 2 & 15) * 8,
        bandwidth: (kind & 32 != 0).then_some(1_000_000),
        parallel: 2,
        window: None,
        no_delay: false,
        ..Iperf::DEFAULT
    };
    IperfSetup::of(&work, style)
}

fn rate() -> TcpRate {
    TcpRate { size: 20, runs: 2, discard: 1, run_time: Duration::from_millis(3), no_delay: true }
}

fn mode(kind: u8) -> MqttMode {
    if kind & 8 == 0 { MqttMode::Saturate } else { MqttMode::Offered(50.0) }
}

fn smooth(qos: u8, kind: u8) -> SmoothSetup {
    let work = MqttRate {
        version: Version::V311,
        qos,
        size: 20,
        mode: mode(kind),
        in_flight: 1,
        time: Duration::from_secs(1),
        count: Some(30),
        queue: 10,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    };
    SmoothSetup {
        work,
        link: Link(0),
        topic: "t",
        client_id: "c",
        subscribes: kind & 16 != 0,
        draws: (kind & 8 != 0).then_some(u64::from(kind)),
        drain: Duration::from_secs(1),
    }
}

fn mqtt(qos: u8, kind: u8) -> MqttSettings<'static> {
    MqttSettings {
        version: if kind & 32 == 0 { Version::V311 } else { Version::V5 },
        qos,
        size: 20,
        topic: "t",
        client_ids: ["a", "b"],
        username: None,
        password: None,
        pace: if kind & 8 == 0 { OfferedLoad::Saturate } else { OfferedLoad::Rate(50.0) },
        in_flight: 4,
        queue: 8,
        time: Duration::from_secs(1),
        count: Some(30),
        drain: Duration::from_millis(100),
        patience: Duration::from_secs(1),
        resume: kind & 16 != 0,
        clean_start: true,
        session_expiry: None,
        sender: 0,
        retain: false,
        keep_alive: espbench_proto::node::mqtt::KEEP_ALIVE,
        link: Link(0),
    }
}

/// Sockets that answer with the next bytes of the input, and with nothing when it is used up.
struct Fed<'a> {
    data: &'a [u8],
    sockets: u16,
    calls: u32,
}

impl Fed<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.data.split_first() else { return 0 };
        self.data = rest;
        *first
    }

    fn open(&mut self) -> Result<SocketId, SocketError> {
        if self.byte() == 255 {
            return Err(SocketError::NotConnected);
        }
        self.sockets = self.sockets.wrapping_add(1);
        Ok(SocketId(self.sockets))
    }

    /// Takes up to `len` bytes of the input, as many as there are and fit.
    fn fill(&mut self, len: u8, buf: &mut [u8]) -> usize {
        let len = usize::from(len).min(buf.len()).min(self.data.len());
        let (bytes, rest) = self.data.split_at(len);
        buf[..len].copy_from_slice(bytes);
        self.data = rest;
        len
    }
}

impl Sockets for Fed<'_> {
    fn udp_bind(&mut self, _port: u16) -> Result<SocketId, SocketError> {
        self.open()
    }

    fn udp_send(&mut self, _: SocketId, _: Endpoint, _: &[u8]) -> Result<(), SocketError> {
        self.calls += 1;
        match self.byte() {
            255 => Err(SocketError::NotConnected),
            254 => Err(SocketError::TooLong),
            240..254 => Err(SocketError::NoMemory),
            _ => Ok(()),
        }
    }

    fn udp_receive(&mut self, _: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let len = self.byte().checked_sub(1)?;
        self.calls += 1;
        let from = Endpoint::new([10, 0, 0, self.byte() & 3], 9);
        Some(ReceivedDatagram { len: self.fill(len, buf), from, stamped: None })
    }

    fn tcp_connect(&mut self, _: Endpoint) -> Result<SocketId, SocketError> {
        self.open()
    }

    fn tcp_listen(&mut self, _port: u16) -> Result<SocketId, SocketError> {
        self.open()
    }

    fn tcp_accept(&mut self, _: SocketId) -> Option<(SocketId, Endpoint)> {
        (self.byte() == 1).then(|| self.open().ok()).flatten().map(|handle| (handle, PEER))
    }

    fn tcp_stream(&self, _: SocketId) -> StreamState {
        match self.data.first() {
            Some(255) => StreamState::Closed,
            Some(254) => StreamState::HalfClosed,
            Some(253) => StreamState::Connecting,
            _ => StreamState::Open,
        }
    }

    fn tcp_no_delay(&mut self, _: SocketId, _: bool) {}

    fn tcp_send(&mut self, _: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        match self.byte() {
            255 => Err(SocketError::NotConnected),
            most => {
                let len = usize::from(most).min(bytes.len());
                self.calls += u32::from(len > 0);
                Ok(len)
            }
        }
    }

    fn tcp_unacknowledged(&self, _: SocketId) -> usize {
        self.data.first().copied().unwrap_or(0).into()
    }

    fn tcp_receive(&mut self, _: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        match self.byte() {
            255 => Err(SocketError::NotConnected),
            len => {
                let len = self.fill(len, buf);
                self.calls += u32::from(len > 0);
                Ok(len)
            }
        }
    }

    fn close(&mut self, _: SocketId) {}

    fn spend(&mut self, _: ProgramWork) {
        self.calls += 1;
    }

    fn print(&mut self, _: &[u8]) {
        self.calls += 1;
    }

    fn sample(&mut self, _: Sample) {}

    fn count(&mut self, _: &'static str, _: u64) {}
}
