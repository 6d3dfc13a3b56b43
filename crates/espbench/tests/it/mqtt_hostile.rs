//! `espbench rate mqtt` as a whole command against brokers that break the standard, each in one place.

use crate::util::{Ran, TestDir};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

const CONNECT: u8 = 1;
const PUBLISH: u8 = 3;
const SUBSCRIBE: u8 = 8;
const CONNACK: &[u8] = b"\x20\x02\0\0";

/// Messages of a case that the standard lets go on.
const COUNT: u64 = 20;

/// Cases under way at once.
const LANES: usize = 4;

/// Answer of a broker to one packet.
enum Do {
    /// The answer that the standard asks for.
    Right,
    /// The right answer, and these bytes in one piece with it.
    Also(Vec<u8>),
    /// These bytes instead.
    Send(Vec<u8>),
    /// These bytes, and then the end of the connection.
    Close(Vec<u8>),
}

/// Which packet is answered wrongly, the QoS asked for, how, and what has to come of it.
struct Case {
    name: String,
    qos: u8,
    at: u8,
    how: fn(&[u8]) -> Do,
    expected: Expected,
}

enum Expected {
    /// Exit status 2, and one of these in the cause on stderr.
    Fault(&'static [&'static str]),
    /// A result without loss.
    Goes,
}

fn case(name: &str, qos: u8, at: u8, how: fn(&[u8]) -> Do, expected: Expected) -> Case {
    Case { name: name.into(), qos, at, how, expected }
}

/// Returns the packet identifier of a PUBLISH.
fn id(publish: &[u8]) -> [u8; 2] {
    let at = 2 + usize::from(u16::from_be_bytes([publish[0], publish[1]]));
    [publish[at], publish[at + 1]]
}

fn after_connack(bytes: &[u8]) -> Do {
    Do::Send([CONNACK, bytes].concat())
}

/// Returns bytes that look like nothing, the same at each call (xorshift).
fn noise(mut seed: u32) -> Vec<u8> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed.to_le_bytes()[1]
    };
    (0..300).map(|_| next()).collect()
}

fn before_the_connack() -> Vec<Case> {
    use Expected::Fault;
    let closed = || Fault(&["before its CONNACK"]);
    let case = |name, how, expected| case(name, 0, CONNECT, how, expected);
    vec![
        case("closes at byte 0", |_| Do::Close(vec![]), closed()),
        case("closes at byte 1", |_| Do::Close(CONNACK[..1].into()), closed()),
        case("closes at byte 2", |_| Do::Close(CONNACK[..2].into()), closed()),
        case("closes at byte 3", |_| Do::Close(CONNACK[..3].into()), closed()),
        case(
            "endless remaining length",
            |_| Do::Send(b"\x20\xff\xff\xff\xff\xff".into()),
            Fault(&["a length of more than four bytes"]),
        ),
        case(
            "CONNACK of 256 MiB",
            |_| Do::Send(b"\x20\xff\xff\xff\x7f".into()),
            Fault(&["a packet larger than the receive buffer"]),
        ),
        case(
            "CONNACK of one byte",
            |_| Do::Send(b"\x20\x01\0".into()),
            Fault(&["what MQTT does not allow"]),
        ),
        case("SUBACK instead", |_| Do::Send(b"\x90\x03\0\x01\0".into()), Fault(&["no CONNACK"])),
        case("PUBLISH before", |_| Do::Send(b"\x30\x05\0\x01xhi".into()), Fault(&["no CONNACK"])),
        case("refuses", |_| Do::Send(b"\x20\x02\0\x03".into()), Fault(&["unavailable"])),
        case(
            "HTTP",
            |_| Do::Close(b"HTTP/1.1 400 Bad Request\r\n\r\n".into()),
            Fault(&["answers in HTTP"]),
        ),
        case(
            "TLS",
            |_| Do::Close(b"\x15\x03\x01\0\x02\x02\x46".into()),
            Fault(&["answers in TLS"]),
        ),
        case("noise 1", |_| Do::Close(noise(1)), Fault(&["what MQTT does not allow"])),
        case("noise 2", |_| Do::Close(noise(0xdead_beef)), Fault(&["what MQTT does not allow"])),
    ]
}

fn after_the_connack() -> Vec<Case> {
    use Expected::Fault;
    vec![
        case("second CONNACK", 0, CONNECT, |_| after_connack(CONNACK), Fault(&["second CONNACK"])),
        case(
            "garbage",
            0,
            CONNECT,
            |_| after_connack(&[0xff; 64]),
            Fault(&["what MQTT does not allow"]),
        ),
        case(
            "PUBLISH of 256 MiB",
            0,
            CONNECT,
            |_| after_connack(b"\x30\xff\xff\xff\x7f"),
            Fault(&["a packet larger than the receive buffer"]),
        ),
        case(
            "noise after it",
            0,
            CONNECT,
            |_| Do::Close([CONNACK, &noise(7)].concat()),
            Fault(&["what MQTT does not allow"]),
        ),
        case(
            "SUBACK of another identifier",
            0,
            SUBSCRIBE,
            |_| Do::Send(b"\x90\x03\x12\x34\0".into()),
            Fault(&["a SUBACK to a SUBSCRIBE that was not sent"]),
        ),
        case(
            "SUBACK that refuses",
            0,
            SUBSCRIBE,
            |_| Do::Send(b"\x90\x03\0\x01\x80".into()),
            Fault(&["refused the subscription"]),
        ),
        case(
            "closes at SUBSCRIBE",
            0,
            SUBSCRIBE,
            |_| Do::Close(vec![]),
            Fault(&["closed the connection", "ended the connection"]),
        ),
    ]
}

fn in_answer_to_messages() -> Vec<Case> {
    use Expected::{Fault, Goes};
    vec![
        case(
            "closes at PUBLISH",
            1,
            PUBLISH,
            |_| Do::Close(vec![]),
            Fault(&["closed the connection", "ended the connection"]),
        ),
        case(
            "PUBREC at QoS 1",
            1,
            PUBLISH,
            |publish| Do::Send([&b"\x50\x02"[..], &id(publish)].concat()),
            Fault(&["an acknowledgement that does not fit"]),
        ),
        case(
            "PUBACK of two bytes less",
            1,
            PUBLISH,
            |_| Do::Send(b"\x40\0".into()),
            Fault(&["what MQTT does not allow"]),
        ),
        case(
            "PUBACK of an unknown identifier",
            1,
            PUBLISH,
            |_| Do::Also(b"\x40\x02\xff\xf0".into()),
            Goes,
        ),
        case(
            "duplicate PUBACK",
            1,
            PUBLISH,
            |publish| Do::Also([&b"\x40\x02"[..], &id(publish)].concat()),
            Goes,
        ),
        case(
            "PUBLISH of a foreign topic",
            1,
            SUBSCRIBE,
            |_| Do::Also(b"\x30\x05\0\x01xhi".into()),
            Goes,
        ),
    ]
}

/// A broker of two clients that is right but for one thing.
struct Broker {
    address: SocketAddr,
    done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

type Subscriber = Arc<Mutex<Option<TcpStream>>>;

impl Broker {
    fn start(at: u8, how: fn(&[u8]) -> Do) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&done);
        let thread = std::thread::spawn(move || {
            let subscriber = Subscriber::default();
            let mut clients = Vec::new();
            for client in listener.incoming().take_while(|_| !over.load(Ordering::SeqCst)) {
                let subscriber = Arc::clone(&subscriber);
                let client = client.unwrap();
                // An error is the client's end of a conversation that it was right to end.
                clients.push(std::thread::spawn(move || {
                    let _ = serve(client, at, how, &subscriber);
                }));
            }
            for client in clients {
                client.join().unwrap();
            }
        });
        Self { address, done, thread }
    }

    /// Ends it, once its clients have gone.
    fn end(self) {
        self.done.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        self.thread.join().unwrap();
    }
}

fn serve(mut client: TcpStream, at: u8, how: fn(&[u8]) -> Do, to: &Subscriber) -> io::Result<()> {
    client.set_nodelay(true)?;
    loop {
        let (first, body) = packet(&mut client)?;
        let deed = if first >> 4 == at { how(&body) } else { Do::Right };
        let answer = match &deed {
            Do::Right => right(first, &body),
            Do::Also(more) => [right(first, &body), more.clone()].concat(),
            Do::Send(bytes) | Do::Close(bytes) => bytes.clone(),
        };
        // Whoever has the SUBACK may publish at once: the subscriber is known before.
        if first >> 4 == SUBSCRIBE && !matches!(deed, Do::Close(_)) {
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            client.write_all(&answer)?;
            *to = Some(client.try_clone()?);
        } else {
            client.write_all(&answer)?;
        }
        match (first >> 4, deed) {
            (_, Do::Close(_)) => return Ok(()),
            (PUBLISH, Do::Right | Do::Also(_)) => {
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(subscriber) = to.as_mut() {
                    subscriber.write_all(&[&[first, body.len() as u8][..], &body].concat())?;
                }
            }
            _ => {}
        }
    }
}

/// Reads first byte and body of the next packet; those of this test are shorter than 128 bytes.
fn packet(client: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    client.read_exact(&mut head)?;
    assert!(head[1] < 128, "a longer packet than this broker reads");
    let mut body = vec![0; head[1].into()];
    client.read_exact(&mut body)?;
    Ok((head[0], body))
}

/// Returns the answer that the standard asks for.
fn right(first: u8, body: &[u8]) -> Vec<u8> {
    match (first >> 4, first >> 1 & 3) {
        (CONNECT, _) => CONNACK.into(),
        (PUBLISH, 1) => [&b"\x40\x02"[..], &id(body)].concat(),
        (SUBSCRIBE, _) => vec![0x90, 3, body[0], body[1], body[body.len() - 1]],
        (12, _) => vec![0xd0, 0],
        _ => Vec::new(),
    }
}

fn check(case: &Case) {
    let Case { name, qos, at, how, expected } = case;
    let bench = TestDir::new();
    let broker = Broker::start(*at, *how);
    let (address, qos, count) = (broker.address.to_string(), qos.to_string(), COUNT.to_string());
    let ran = bench.run(&[
        "rate",
        "mqtt",
        &address,
        "--time",
        "30 s",
        "--rate",
        "500",
        "--count",
        &count,
        "--qos",
        &qos,
        "--topic",
        "t",
        "--client-id",
        "c",
        "--format",
        "json",
    ]);
    broker.end();
    assert!(!ran.err.contains("panicked"), "{name}: {}", ran.err);
    match expected {
        Expected::Fault(words) => {
            assert_eq!(ran.status, Some(2), "{name}: {}\n{}", ran.err, ran.out);
            assert!(words.iter().any(|word| ran.err.contains(word)), "{name}: {}", ran.err);
        }
        Expected::Goes => goes(name, ran),
    }
}

fn goes(name: &str, ran: Ran) {
    assert_eq!(ran.status, Some(0), "{name}: {}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.ok()).unwrap();
    let cells = report["cells"].as_array().unwrap();
    let cell = |metric: &str| cells.iter().find(|cell| cell["metric"] == metric).unwrap();
    assert_eq!(cell("messages_lost")["value"], 0.0, "{name}");
    assert_eq!(cell("latency_p50")["n"], COUNT, "{name}: each message once");
}

/// Each ends by itself, long before what was asked for, or with the right figures.
#[test]
fn brokers_that_break_the_standard_are_named_or_borne() {
    let mut cases = before_the_connack();
    cases.append(&mut after_the_connack());
    cases.append(&mut in_answer_to_messages());
    // Those that wait for the end of a drain are neighbours.
    std::thread::scope(|scope| {
        for first in 0..LANES {
            let some = cases.iter().skip(first).step_by(LANES);
            scope.spawn(|| some.for_each(check));
        }
    });
}
