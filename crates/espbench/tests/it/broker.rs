//! The embedded MQTT broker over sockets: mosquitto's clients, a thousand connections, its limits.

use crate::util::peer;
use espbench::respond::mqtt::broker::limits::BrokerCounter;
use espbench::respond::mqtt::{BrokerLimits, SharedCounts, start_with};
use espbench::respond::{Service, ServiceLog};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Broker {
    service: Service,
    tally: SharedCounts,
    lines: Arc<Mutex<Vec<String>>>,
}

fn broker(limits: BrokerLimits) -> Broker {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let log: ServiceLog = Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_string()));
    let (service, tally) =
        start_with(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), limits, &log).expect("a broker");
    Broker { service, tally, lines }
}

impl Broker {
    fn open(&self) -> TcpStream {
        let socket = TcpStream::connect(self.service.address).expect("a connection");
        // It bounds a hang, it measures nothing.
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        socket
    }

    /// Opens a connection and sends its CONNECT in version 3.1.1.
    fn connect(&self, name: &str) -> TcpStream {
        let mut socket = self.open();
        let mut bytes = vec![0x10, 12 + name.len() as u8];
        bytes.extend_from_slice(b"\0\x04MQTT\x04\x02\0\0\0");
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name.as_bytes());
        socket.write_all(&bytes).expect("a CONNECT");
        assert_eq!(read(&mut socket, 4), b"\x20\x02\0\0");
        socket
    }

    /// Runs one of mosquitto's clients with these arguments.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let port = self.service.address.port().to_string();
        let mut command = Command::new(program);
        command.args(["-h", "127.0.0.1", "-p", &port]).args(arguments);
        command.output().expect("it runs")
    }

    #[track_caller]
    fn ok(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.run(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }
}

fn read(socket: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    socket.read_exact(&mut bytes).expect("so many bytes");
    bytes
}

/// D9 of the review. In all versions and at all QoS: messages for a client that is away are there when it
/// comes back, and retained ones for whoever comes.
#[test]
fn mosquittos_clients_find_kept_and_retained_messages() {
    if !peer("mosquitto_sub") || !peer("mosquitto_pub") {
        return;
    }
    let broker = broker(BrokerLimits::default());
    for version in ["mqttv31", "mqttv311", "mqttv5"] {
        for qos in ["0", "1", "2"] {
            let topic = format!("{version}/{qos}");
            let common = ["-V", version, "-q", qos, "-t", &topic];
            let with = |more: &[&'static str]| [&common[..], more].concat();
            broker.ok("mosquitto_pub", &with(&["-r", "-m", "kept"]));
            let seen = broker.ok("mosquitto_sub", &with(&["-C", "1", "-W", "50"]));
            assert_eq!(seen, "kept\n", "{topic}");
            if qos == "0" {
                continue;
            }
            let id = format!("away-{qos}");
            let mut session = vec!["-c", "-i", &id, "-R", "-W", "50"];
            if version == "mqttv5" {
                session.extend(["-x", "600"]);
            }
            let session = [&common[..], &session].concat();
            broker.ok("mosquitto_sub", &[&session[..], &["-E"]].concat());
            for text in ["one", "two", "three"] {
                broker.ok("mosquitto_pub", &with(&["-m", text]));
            }
            let seen = broker.ok("mosquitto_sub", &[&session[..], &["-C", "3"]].concat());
            assert_eq!(seen, "one\ntwo\nthree\n", "{topic}");
            // The next version begins anew.
            broker.ok("mosquitto_sub", &["-V", version, "-i", &id, "-t", &topic, "-E"]);
        }
    }
}

#[test]
fn a_thousand_clients_at_once() {
    espbench::sys::files::allow_many();
    let broker = broker(BrokerLimits::default());
    let mut clients: Vec<TcpStream> = (0..1000)
        .map(|nth| {
            let mut client = broker.connect(&format!("client{nth}"));
            client.write_all(b"\x82\x06\0\x01\0\x01t\0").expect("a SUBSCRIBE");
            client
        })
        .collect();
    for client in &mut clients {
        assert_eq!(read(client, 5), b"\x90\x03\0\x01\0");
    }
    clients[0].write_all(b"\x30\x05\0\x01tab").expect("a message");
    for client in &mut clients {
        assert_eq!(read(client, 7), b"\x30\x05\0\x01tab");
    }
    assert_eq!(broker.tally.get(BrokerCounter::ConnectionsRefused), 0);
}

/// D5 of the review, on a small scale and over sockets: one that does not read costs its queue, no more,
/// and all that it does not get is counted.
#[test]
fn a_subscriber_that_does_not_read_costs_no_more_than_its_queue() {
    let broker = broker(BrokerLimits { queue: 100_000, ..BrokerLimits::default() });
    let mut deaf = broker.connect("deaf");
    deaf.write_all(b"\x82\x06\0\x01\0\x01t\0").expect("a SUBSCRIBE");
    assert_eq!(read(&mut deaf, 5), b"\x90\x03\0\x01\0");
    let mut publisher = broker.connect("publisher");
    // 60 MB: more than the system's buffers take.
    let message = [&[0x30, 0xe3, 0xd4, 0x03, 0, 1, b't'][..], &[0; 60_000]].concat();
    for _ in 0..1000 {
        publisher.write_all(&message).expect("a message");
    }
    publisher.write_all(b"\xc0\0").expect("a ping");
    assert_eq!(read(&mut publisher, 2), b"\xd0\0");
    assert!(broker.tally.get(BrokerCounter::DroppedQueue) > 0, "nothing was dropped");
    // All that was not dropped comes.
    let mut seen = 0;
    while seen + broker.tally.get(BrokerCounter::DroppedQueue) < 1000 {
        assert_eq!(read(&mut deaf, message.len()), message);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn what_speaks_another_protocol_is_named() {
    let broker = broker(BrokerLimits::default());
    for bytes in [&b"\x16\x03\x01\x02\0\x01\0\x01\xfc"[..], b"GET / HTTP/1.1\r\n\r\n"] {
        let mut socket = broker.open();
        socket.write_all(bytes).expect("bytes");
        // It is closed without an answer: in order, or with a reset.
        assert!(matches!(socket.read(&mut [0; 10]), Ok(0) | Err(_)));
    }
    let Broker { service, lines, .. } = broker;
    drop(service);
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains("speaks TLS to the plain port"), "{lines}");
    assert!(lines.contains("speaks HTTP"), "{lines}");
}

#[test]
fn a_broker_that_ends_says_goodbye_and_what_it_counted() {
    let broker = broker(BrokerLimits::default());
    let mut socket = broker.open();
    socket.write_all(b"\x10\x0e\0\x04MQTT\x05\x02\0\0\0\0\x01x").expect("a CONNECT");
    assert_eq!(read(&mut socket, 13)[..4], *b"\x20\x0b\0\0");
    socket.write_all(b"\x30\x05\0\x01t\0!\xc0\0").expect("a message and a ping");
    assert_eq!(read(&mut socket, 2), b"\xd0\0");
    let Broker { service, lines, .. } = broker;
    let address = service.address;
    drop(service);
    assert_eq!(read(&mut socket, 3), b"\xe0\x01\x8b");
    let port = address.port();
    let told = format!("MQTT broker, port {port}: 1 message received, 0 passed on");
    assert_eq!(lines.lock().unwrap()[..], [told]);
}
