//! MQTT over TLS and WebSocket, against mosquitto's listeners and others that are none.

use crate::mqtt::{Mosquitto, free_address, listener, readable_by_all, work};
use crate::sink::KeptSamples;
use crate::util::{Ran, TestDir, peer};
use espbench::target::mqtt::MqttTarget;
use espbench::target::spec::{Access, broker};
use espbench::target::{Target as _, TargetError};
use espbench::transport::TlsFiles;
use espbench_measure::run::Site;
use espbench_model::fact;
use espbench_model::sample::Fate;
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, Workload};
use espbench_proto::wire::websocket::{DeframedPiece, Deframer, FrameHeader, Role, handshake};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

/// An authority, a broker's certificate for `localhost` and 127.0.0.1, and a client's.
struct Certificates {
    bench: TestDir,
}

impl Certificates {
    fn make() -> Option<Self> {
        if !peer("openssl") {
            return None;
        }
        let it = Self { bench: TestDir::new() };
        it.authority("ca");
        it.signed("server", "ca", "subjectAltName=DNS:localhost,IP:127.0.0.1", "3");
        it.signed("client", "ca", "extendedKeyUsage=clientAuth", "3");
        Some(it)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    fn openssl(&self, args: &[&str]) {
        let mut command = Command::new("openssl");
        Ran::of(command.args(args).current_dir(self.bench.dir.path())).ok();
    }

    fn authority(&self, name: &str) {
        let (key, pem) = (format!("{name}.key"), format!("{name}.pem"));
        self.openssl(&[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            &key,
            "-out",
            &pem,
            "-days",
            "3",
            "-subj",
            &format!("/CN={name}"),
            "-addext",
            "keyUsage=critical,keyCertSign",
        ]);
    }

    fn signed(&self, name: &str, authority: &str, extension: &str, days: &str) {
        let file = |ending: &str| format!("{name}.{ending}");
        self.openssl(&[
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            &file("key"),
            "-out",
            &file("csr"),
            "-subj",
            &format!("/CN={name}"),
        ]);
        self.bench.write(&file("ext"), &format!("basicConstraints=CA:FALSE\n{extension}\n"));
        let (ca, key) = (format!("{authority}.pem"), format!("{authority}.key"));
        self.openssl(&[
            "x509",
            "-req",
            "-in",
            &file("csr"),
            "-CA",
            &ca,
            "-CAkey",
            &key,
            "-CAcreateserial",
            "-out",
            &file("pem"),
            "-days",
            days,
            "-extfile",
            &file("ext"),
        ]);
        readable_by_all(&self.file(&file("key")));
    }

    /// Returns the settings of a TLS listener with that certificate.
    fn settings(&self, name: &str) -> String {
        format!(
            "cafile {}\ncertfile {}\nkeyfile {}",
            self.file("ca.pem").display(),
            self.file(&format!("{name}.pem")).display(),
            self.file(&format!("{name}.key")).display(),
        )
    }

    fn trusting(&self) -> TlsFiles {
        TlsFiles { ca: Some(self.file("ca.pem")), ..TlsFiles::default() }
    }

    fn as_client(&self) -> TlsFiles {
        let (cert, key) = (Some(self.file("client.pem")), Some(self.file("client.key")));
        TlsFiles { cert, key, ..self.trusting() }
    }
}

/// Starts a mosquitto with a WebSocket listener of these settings; returns its port, too. Mosquitto
/// 2.0 does not start without a listener of another kind beside it.
fn websocket(settings: &str) -> Option<(Mosquitto, u16)> {
    let port = free_address().port();
    let settings =
        format!("allow_anonymous true\nlistener {port} 127.0.0.1\nprotocol websockets\n{settings}");
    Some((Mosquitto::start(&settings)?, port))
}

/// Starts a mosquitto with a TLS listener of these settings.
fn tls_listener(settings: String) -> Option<Mosquitto> {
    Mosquitto::start(&format!("allow_anonymous true\n{settings}"))
}

fn target(url: &str, tls: TlsFiles) -> MqttTarget {
    let target = broker(url, &Access { tls, ..Access::default() }).expect("a target");
    MqttTarget { patience: Duration::from_secs(20), site: Site::default(), ..target }
}

fn run(target: &MqttTarget, work: MqttRate) -> Result<KeptSamples, String> {
    let mut kept = KeptSamples::default();
    match target.clone().run(&Workload::MqttRate(work), &mut kept) {
        Ok(()) => Ok(kept),
        Err(TargetError::Cancelled) => panic!("nobody stopped it"),
        Err(error) => Err(error.to_string()),
    }
}

/// Asserts that small and large messages of every version and quality come, and that the
/// connections are recorded.
fn everything_goes_through(url: &str, tls: &TlsFiles, largest: u32) -> KeptSamples {
    let target = target(url, tls.clone());
    let mut last = KeptSamples::default();
    for version in [MqttVersion::V311, MqttVersion::V5] {
        for (qos, size) in [(0, 64), (1, 2000), (2, largest)] {
            let mode = MqttMode::Saturate;
            let time = Duration::from_secs(60);
            let some = MqttRate { version, qos, size, mode, count: Some(5), time, ..work() };
            let kept = run(&target, some).unwrap_or_else(|e| panic!("{url}, QoS {qos}: {e}"));
            let fates: Vec<Fate> = kept.probes().map(|probe| probe.fate).collect();
            assert_eq!(fates, [Fate::Delivered; 5], "{url}, {version:?}, QoS {qos}, {size}");
            last = kept;
        }
    }
    let connections = last.connections();
    assert_eq!(connections.len(), 2);
    let (tls, upgraded) = (last.facts["carried_by"].contains("TLS"), url.starts_with("ws"));
    for connection in connections {
        assert_eq!((connection.sent.is_some(), connection.acked.is_some()), (tls, upgraded));
        assert!(connection.queued.is_some() && connection.queued < connection.received);
    }
    last
}

#[test]
fn tls_to_mosquitto_with_an_authority_of_ones_own() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(broker) = tls_listener(certificates.settings("server")) else { return };
    let port = broker.address.port();
    let url = format!("mqtts://localhost:{port}");
    let kept = everything_goes_through(&url, &certificates.trusting(), 1 << 20);
    assert_eq!(kept.facts["carried_by"], "TLS");
    assert_eq!(kept.facts["tls_version"], "1.3");
    assert!(kept.facts["tls_cipher_suite"].starts_with("TLS13_"), "{:?}", kept.facts);
    assert_eq!(kept.facts[fact::TLS_CERTIFICATE.name()], "verified");
    assert_eq!(kept.facts[fact::TLS_SERVER_NAME], "localhost");
    // An address is a name of the certificate, too.
    run(&target(&format!("mqtts:127.0.0.1:{port}"), certificates.trusting()), work()).unwrap();
}

#[test]
fn mosquittos_websocket_listener_with_and_without_tls() {
    let Some(certificates) = Certificates::make() else { return };
    let Some((_broker, port)) = websocket("") else { return };
    let url = format!("ws://127.0.0.1:{port}/mqtt");
    // Mosquitto sends 4116 octets to a WebSocket in each turn of its loop, ten times a second: see below.
    let kept = everything_goes_through(&url, &TlsFiles::default(), 10_000);
    assert_eq!(kept.facts["carried_by"], "WebSocket");
    let Some((_broker, port)) = websocket(&certificates.settings("server")) else { return };
    let url = format!("wss://localhost:{port}");
    let kept = everything_goes_through(&url, &certificates.trusting(), 10_000);
    assert_eq!(kept.facts["carried_by"], "WebSocket over TLS");
}

/// A message of 400 kB takes mosquitto ten seconds over a WebSocket, when nothing else turns its loop, and
/// its answers to pings wait behind it.
#[test]
fn a_message_that_mosquittos_websocket_listener_takes_long_for_is_delivered() {
    let Some((_broker, port)) = websocket("") else { return };
    let mut target = target(&format!("ws://127.0.0.1:{port}"), TlsFiles::default());
    (target.patience, target.keep_alive) = (Duration::from_secs(5), 2);
    for (size, count) in [(65_536, 3), (400_000, 1)] {
        let (mode, time) = (MqttMode::Saturate, Duration::from_secs(60));
        let some = MqttRate { qos: 1, size, mode, count: Some(count), time, ..work() };
        let kept = run(&target, some).unwrap_or_else(|e| panic!("{size}: {e}"));
        let delivered = kept.probes().filter(|p| p.fate == Fate::Delivered && p.bytes == size);
        assert_eq!(delivered.count(), count as usize, "{size}");
    }
}

#[test]
fn client_certificates_are_shown_where_the_broker_wants_them() {
    let Some(certificates) = Certificates::make() else { return };
    let settings = format!("{}\nrequire_certificate true", certificates.settings("server"));
    let Some(broker) = tls_listener(settings) else { return };
    let url = format!("mqtts://localhost:{}", broker.address.port());
    run(&target(&url, certificates.as_client()), work()).unwrap();
    let error = run(&target(&url, certificates.trusting()), work()).err().expect("a refusal");
    assert!(error.contains("--cert and --key"), "{error}");

    certificates.authority("other");
    certificates.signed("stranger", "other", "extendedKeyUsage=clientAuth", "3");
    let (cert, key) = (certificates.file("stranger.pem"), certificates.file("stranger.key"));
    let files = TlsFiles { cert: Some(cert), key: Some(key), ..certificates.trusting() };
    let error = run(&target(&url, files), work()).err().expect("a refusal");
    assert!(error.contains("--cert and --key"), "{error}");
}

#[test]
fn a_certificate_that_is_not_trusted_is_said_with_what_to_do() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(broker) = tls_listener(certificates.settings("server")) else { return };
    let url = format!("mqtts://localhost:{}", broker.address.port());
    certificates.authority("other");
    let other = TlsFiles { ca: Some(certificates.file("other.pem")), ..TlsFiles::default() };
    let error = run(&target(&url, other.clone()), work()).err().expect("not trusted");
    assert!(error.contains("not trusted here") && error.contains("--ca FILE"), "{error}");

    let insecure = TlsFiles { insecure: true, ..TlsFiles::default() };
    let kept = run(&target(&url, insecure), work()).unwrap();
    assert_eq!(kept.facts[fact::TLS_CERTIFICATE.name()], "not-verified");

    let named = |name: &str| TlsFiles { server_name: Some(name.into()), ..certificates.trusting() };
    let error = run(&target(&url, named("broker.example")), work()).err().expect("another name");
    assert!(error.contains("not for that name") && error.contains("--server-name"), "{error}");
    run(&target(&url, named("localhost")), work()).unwrap();
}

/// On stderr at the start, even with --quiet, and in every form of the report.
#[test]
fn an_insecure_run_says_so_on_stderr_and_in_every_report() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(broker) = tls_listener(certificates.settings("server")) else { return };
    let bench = TestDir::new();
    let url = format!("mqtts://localhost:{}", broker.address.port());
    let plan = "name = \"x\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"100 /s\"\ncount = 5\n";
    let plan = bench.write("x.toml", plan).display().to_string();
    let rate = ["rate", "mqtt", &url, "--rate", "100", "--count", "5"];
    let planned = ["run", &plan, "--on", &url];
    for (command, format) in [(&rate[..], "text"), (&rate, "html"), (&planned, "json")] {
        let flags = ["--insecure", "--quiet", "--format", format];
        let ran = bench.run(&[command, &flags].concat());
        let first = ran.err.lines().next().unwrap_or_default();
        assert!(first.contains("certificate is not checked, so another machine"), "{}", ran.err);
        let out = ran.ok();
        let word = if format == "json" {
            "certificate-not-verified"
        } else {
            "certificate was not checked"
        };
        assert!(out.contains(word), "{format}: {out}");
    }
    let ca = certificates.file("ca.pem").display().to_string();
    let ran = bench.run(&[&rate[..], &["--ca", &ca, "--format", "json"]].concat());
    assert!(!ran.err.contains("not checked"), "{}", ran.err);
    assert!(!ran.ok().contains("certificate-not-verified"));
}

#[test]
fn a_certificate_that_has_expired_is_said() {
    let Some(certificates) = Certificates::make() else { return };
    certificates.signed("old", "ca", "subjectAltName=DNS:localhost", "-1");
    let Some(broker) = tls_listener(certificates.settings("old")) else { return };
    let url = format!("mqtts://localhost:{}", broker.address.port());
    let error = run(&target(&url, certificates.trusting()), work()).err().expect("expired");
    assert!(error.contains("has expired"), "{error}");
}

/// Each port spoken to with each protocol that is not its own: what it is, is said at once.
#[test]
fn ports_that_speak_something_else() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(plain) = Mosquitto::start("allow_anonymous true") else { return };
    let Some(tls) = tls_listener(certificates.settings("server")) else { return };
    let Some((_web, web)) = websocket("") else { return };
    let (plain, tls) = (plain.address.port(), tls.address.port());
    let said = |scheme: &str, port: u16, files: TlsFiles| {
        let url = format!("{scheme}://localhost:{port}");
        run(&target(&url, files), work()).err().unwrap_or_else(|| panic!("{url} works"))
    };
    let trusting = || certificates.trusting();
    let error = said("mqtts", plain, trusting());
    assert!(error.contains("mqtt://"), "{error}");
    let error = said("mqtt", tls, TlsFiles::default());
    assert!(error.contains("mqtts://"), "{error}");
    let error = said("ws", plain, TlsFiles::default());
    assert!(error.contains("WebSocket") && error.contains("listener"), "{error}");
    let error = said("ws", tls, TlsFiles::default());
    assert!(error.contains("wss://") || error.contains("WebSocket"), "{error}");
    let error = said("mqtts", web, trusting());
    assert!(error.contains("mqtt://"), "{error}");
    let error = said("mqtt", web, TlsFiles::default());
    assert!(error.contains("ws://"), "{error}");
}

/// Returns the error where the first client of a listener gets `answer`, and then nothing.
fn answered(url: &str, answer: &'static [u8], files: TlsFiles) -> String {
    let (address, thread) = listener(1, move |mut client| {
        let _ = client.read(&mut [0; 2000]);
        let _ = client.write_all(answer);
        if answer.is_empty() {
            let _ = client.read(&mut [0; 2000]);
        }
    });
    let url = url.replace("PORT", &address.port().to_string());
    let target = MqttTarget { patience: Duration::from_millis(500), ..target(&url, files) };
    let error = run(&target, work()).err().expect("a fault");
    thread.join().unwrap();
    error
}

#[test]
fn servers_that_are_no_websocket_of_a_broker() {
    let ws = |answer| answered("ws://127.0.0.1:PORT/mqtt", answer, TlsFiles::default());
    for (answer, words) in [
        (&b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..], ["HTTP status 404", "/mqtt"]),
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", ["HTTP status 401", "login"]),
        (b"HTTP/1.1 301 Moved\r\nLocation: wss://b/ws\r\n\r\n", ["301", "wss://b/ws"]),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", ["HTTP status 200", "port and path"]),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", ["WebSocket handshake", "mqtt://"]),
        (b"HTTP/1.1 101 \xff\r\n\r\n", ["WebSocket handshake", "mqtt://"]),
        (b"\x20\x02\0\0\r\n\r\n", ["WebSocket handshake", "mqtt://"]),
        (b"HTTP/1.1 10", ["closed the connection during the WebSocket handshake", "path"]),
        (b"", ["WebSocket handshake was not answered", "path"]),
    ] {
        let error = ws(answer);
        for word in words {
            assert!(error.contains(word), "{answer:?}: {error}");
        }
    }
}

#[test]
fn servers_that_are_no_tls() {
    let tls = |answer| {
        let insecure = TlsFiles { insecure: true, ..TlsFiles::default() };
        answered("mqtts://127.0.0.1:PORT", answer, insecure)
    };
    for (answer, word) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "does not speak TLS"),
        (b"\x20\x02\0\0", "does not speak TLS"),
        (&[0xff; 300], "does not speak TLS"),
        (&[0x16, 3, 3, 0xff, 0xff, 0, 0], "TLS"),
        (&[0x15, 3, 3, 0, 2, 2, 70], "TLS 1.2 or 1.3"),
        (&[0x15, 3, 3, 0, 2, 2, 40], "refuses the TLS handshake"),
        (b"\x16\x03\x03\x00", "closed the connection during the TLS handshake"),
        (b"", "TLS handshake was not answered"),
    ] {
        let error = tls(answer);
        assert!(error.contains(word), "{answer:?}: {error}");
    }
}

#[test]
fn files_that_are_none_are_refused_before_measuring() {
    let Some(certificates) = Certificates::make() else { return };
    let bench = TestDir::new();
    let nobody = format!("mqtts://{}", free_address());
    let text = |path: &Path| path.display().to_string();
    let (ca, key) = (text(&certificates.file("ca.pem")), text(&certificates.file("client.key")));
    for (args, words) in [
        (vec!["--ca", "/no/such.pem"], "/no/such.pem"),
        (vec!["--ca", &key], "no certificate in PEM"),
        (vec!["--cert", &ca], "--key"),
        (vec!["--cert", &ca, "--key", &key], "do not go together"),
        (vec!["--server-name", "not a name"], "--server-name"),
    ] {
        let ran = bench.run(&[&["rate", "mqtt", &nobody], &args[..]].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    let plain = nobody.replace("mqtts", "mqtt");
    let ran = bench.run(&["rate", "mqtt", &plain, "--insecure"]);
    assert!(ran.status == Some(2) && ran.err.contains("has no TLS"), "{}", ran.err);
}

/// Through the whole command: the user and the password are in no record, and neither on stdout.
#[test]
fn secrets_are_neither_stored_nor_shown() {
    if !peer("mosquitto_passwd") {
        return;
    }
    let bench = TestDir::new();
    let users = bench.write("users", "");
    let mut made = Command::new("mosquitto_passwd");
    Ran::of(made.arg("-b").arg(&users).args(["myself", "hushhush"])).ok();
    readable_by_all(&users);
    let settings = format!("allow_anonymous false\npassword_file {}", users.display());
    let Some((_broker, port)) = websocket(&settings) else { return };
    let url = format!("ws://myself:hushhush@127.0.0.1:{port}/mqtt");
    let plan = "name = \"x\"\n[[measure]]\nkind = \"mqtt-rate\"\noffered = \"100 /s\"\ncount = 5\n";
    let plan = bench.write("x.toml", plan).display().to_string();
    let file = bench.write("password", "hushhush\n").display().to_string();
    let bare = format!("ws:127.0.0.1:{port}");
    let flags = ["--username", "myself", "--password-file", &file];
    for args in [
        vec!["rate", "mqtt", &url, "--rate", "100", "--count", "5", "--format", "json"],
        vec!["run", &plan, "--on", &url, "--format", "json"],
        [&["run", &plan, "--on", &bare, "--format", "json"], &flags[..]].concat(),
    ] {
        let ran = bench.run(&args);
        assert!(!ran.err.contains("hushhush"), "{}", ran.err);
        let out = ran.ok();
        assert!(out.contains(&format!("127.0.0.1:{port}")), "{out}");
        assert!(!out.contains("hushhush") && !out.contains("myself"), "{out}");
    }
    for entry in std::fs::read_dir(bench.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains("sqlite")) {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(8).any(|w| w == b"hushhush"), "{}", path.display());
        }
    }
}

/// Starts a server of WebSockets before a broker without: a proxy for two connections.
fn proxy(to: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let both = [(); 2].map(|()| {
            let client = listener.accept().unwrap().0;
            std::thread::spawn(move || serve(client, TcpStream::connect(to).unwrap()))
        });
        for thread in both {
            thread.join().unwrap();
        }
    });
    (address, thread)
}

fn serve(mut client: TcpStream, mut broker: TcpStream) {
    let mut head = Vec::new();
    while handshake::head(&head).unwrap().is_none() {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let asked = handshake::asked(&head).unwrap();
    assert!(asked.path == "/mqtt" && asked.protocol);
    let mut response = String::new();
    handshake::response(&mut response, asked.key.as_bytes(), asked.protocol).unwrap();
    client.write_all(response.as_bytes()).unwrap();
    let (mut to_client, mut from_broker) =
        (client.try_clone().unwrap(), broker.try_clone().unwrap());
    let back = std::thread::spawn(move || {
        let mut buf = vec![0; 200_000];
        // A ping between two frames, as servers send them.
        let _ = to_client.write_all(&[0x89, 2, b'h', b'i']);
        while let Ok(len @ 1..) = from_broker.read(&mut buf) {
            let (head, size) = FrameHeader::binary(len as u64, None).emit();
            if to_client.write_all(&[&head[..size], &buf[..len]].concat()).is_err() {
                break;
            }
        }
    });
    let (mut deframer, mut buf) = (Deframer::new(Role::Server), vec![0; 100_000]);
    'open: while let Ok(len @ 1..) = client.read(&mut buf) {
        let mut chunk = &mut buf[..len];
        while let Some(piece) = deframer.next(&mut chunk).expect("frames") {
            match piece {
                DeframedPiece::Data(bytes) => broker.write_all(bytes).unwrap(),
                DeframedPiece::Ping => panic!("nobody asked"),
                DeframedPiece::Close(code) => {
                    assert_eq!(code, Some(1000));
                    break 'open;
                }
            }
        }
    }
    let _ = broker.shutdown(Shutdown::Both);
    back.join().unwrap();
}

#[test]
fn large_messages_go_through_a_websocket() {
    let Some(broker) = Mosquitto::start("allow_anonymous true") else { return };
    for size in [60_000, 65_540, 1 << 20] {
        let (address, thread) = proxy(broker.address);
        let target = target(&format!("ws://{address}"), TlsFiles::default());
        let (mode, time) = (MqttMode::Saturate, Duration::from_secs(60));
        let some = MqttRate { qos: 2, size, mode, count: Some(10), time, ..work() };
        let kept = run(&target, some).unwrap();
        assert_eq!(kept.probes().filter(|p| p.fate == Fate::Delivered).count(), 10, "{size}");
        thread.join().unwrap();
    }
}
