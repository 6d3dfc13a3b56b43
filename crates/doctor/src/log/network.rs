//! Beyond the link: names, TLS, brokers, sockets.

use super::answer;
use super::event::{LogEvent, TlsFailure, number};
use super::search::{SearchRecord, SearchText};

/// Errors of sockets that say that a connection ended or cannot be made: of newlib as ESP-IDF 4 and later have it, of lwIP
/// as older releases and MicroPython have it, and of Linux. Those that say "wait" (11, 115, 119) are none.
const LOST: [u32; 12] = [101, 103, 104, 107, 110, 111, 113, 114, 116, 117, 118, 128];

/// Number of lwIP's error where no socket is left.
pub(crate) const NO_SOCKET: u16 = 23;

/// Returns what a record tells of names, TLS, brokers and sockets.
pub(super) fn network(record: &SearchRecord<'_>) -> Option<LogEvent> {
    let lower = &record.lower;
    if name_failed(lower) {
        return Some(LogEvent::NameFailed);
    }
    if let Some(event) = answer::answer(lower) {
        return Some(event);
    }
    if broker_refused(record, lower) {
        return Some(LogEvent::BrokerRefused);
    }
    tls(lower).map(LogEvent::TlsFailed).or_else(|| socket(lower)).or_else(|| {
        let made =
            ["mqtt_event_connected", "connected to mqtt", "mqtt connected", "connected to broker"];
        made.iter().any(|it| lower.contains(it)).then_some(LogEvent::ConnectionMade)
    })
}

fn name_failed(lower: &SearchText<'_>) -> bool {
    let words = [
        "couldn't get hostname",
        "dns failed",
        "dns lookup failed",
        "dns lookup fail",
        "dns resolution failed",
        "dns resolve failed",
        "couldn't resolve",
        "could not resolve",
        "can't resolve",
        "cannot resolve",
        "failed to resolve",
        "unable to resolve",
        "getaddrinfo failed",
        "gaierror",
        "oserror: -202",
        "oserror: -6",
        "oserror: -2",
        "name or service not known",
        "hostbyname failed",
        "could not get host from dns",
        "name resolution failed",
        "dns request failed",
        "dns error",
        "dns timeout",
        "failed dns lookup",
        "lookup failed",
        "eai_fail",
        "unknown host",
        "failure in name resolution",
        "mqtt dns fail",
    ];
    // "ERROR hostByName": the call's name beside a sign.
    let call = ["hostbyname", "getaddrinfo"].iter().any(|it| lower.contains(it));
    if call
        && ["fail", "error", "status: -", "returned -", "returned: -"]
            .iter()
            .any(|it| lower.contains(it))
    {
        return true;
    }
    // MicroPython's number is the whole text.
    words.iter().any(|it| {
        lower.find(it).is_some_and(|at| {
            let next = lower.as_bytes().get(at + it.len());
            !(it.ends_with(|it: char| it.is_ascii_digit()) && next.is_some_and(u8::is_ascii_digit))
        })
    })
}

/// Words of a broker, or of its client, for a client that it does not take.
const REFUSED: &[&str] = &[
    "not authorized",
    "not authorised",
    "not_authorized",
    "bad username",
    "bad user name",
    "bad_credentials",
    "bad credentials",
    // Names of Rust's crates.
    "notauthorized",
    "badusername",
    "malformed credentials",
    "identifier rejected",
    "auth error",
    "mqtt_connection_refuse",
    "connection refuse, reason code",
    "connection refused, server unavailable",
    // Two clients of one name take the session from each other.
    "already connected, closing old connection",
];

fn broker_refused(record: &SearchRecord<'_>, lower: &SearchText<'_>) -> bool {
    let of_broker = [
        "mqtt",
        "connection refuse",
        "connectionrefused",
        "broker",
        "disconnected",
        "client",
        "auth error with",
    ]
    .iter()
    .any(|it| lower.contains(it))
        || record.tag.contains("mqtt");
    // Return codes of MQTT 3.1.1 from 1 (protocol) to 5 (rights).
    let refused = |code: Option<u32>| matches!(code, Some(1..=5));
    let code_after = |words: &str| lower.split_once(words).and_then(|it| number(it.1));
    let failed = ["fail", "try again"].iter().any(|it| lower.contains(it));
    (of_broker && REFUSED.iter().any(|it| lower.contains(it)))
        || (failed && return_code(lower).is_some_and(|it| matches!(it, Some(1..=5))))
        || super::codes::client_state(lower) == Some(LogEvent::BrokerRefused)
        || refused(code_after("mqttexception: "))
        || refused(code_after("connection refused error: 0x"))
        || (lower.contains("mqtt")
            && ["reason: ", "reason ", "return code ", "return code: "]
                .iter()
                .any(|it| matches!(code_after(it), Some(2 | 4 | 5))))
}

/// Reads the state of PubSubClient and of Tasmota (`rc=-2`, `rc = 5`, `rc -2.`); the inner `None` is a negative one.
fn return_code(lower: &SearchText<'_>) -> Option<Option<u32>> {
    let rest = ["rc=", "rc =", ", rc "].iter().find_map(|it| Some(lower.split_once(it)?.1))?;
    let rest = rest.trim_start();
    match rest.strip_prefix('-') {
        Some(rest) => number(rest).map(|_| None),
        None => number(rest).map(Some),
    }
}

fn tls(lower: &SearchText<'_>) -> Option<TlsFailure> {
    // The ESP8266's SDK says so at each start of a program that asks for the time before it set it.
    if lower.as_str() == "please start sntp first !" {
        return None;
    }
    let speaks = ["ssl", "tls", "x509", "certificate", "start sntp first"]
        .iter()
        .any(|it| lower.contains(it));
    if !speaks {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    let code = |codes: &[&str]| codes.iter().any(|it| lower.has_number(it));
    // BearSSL and axTLS of the ESP8266, and the libraries that wrap them, speak of an engine, of errors and of alerts.
    let engine = has(&[
        "wait_for_handshake: failed",
        "ssl engine closed",
        "the ssl layer",
        "ssl error",
        "br_err_",
        "getlastsslerror",
    ]);
    let handshake = has(&[
        "handshake returned",
        "tls connection error",
        "oserror: (-",
        "handshake failed",
        "start_ssl_client",
        "last mbedtls failure",
    ]);
    // BearSSL's 54 and 62: expired, and not trusted.
    let bear = lower.split_once("tls connection error: ").and_then(|it| number(it.1));
    if code(&["-0x2700", "-0x3000", "-9984", "-0x2180", "-0x7a00"])
        || matches!(bear, Some(54 | 62))
        || has(&[
            "certificate verification failed",
            "failed to verify peer certificate",
            "certificate verify failed",
            "certificate has expired",
            "certificate is expired",
            "x509_expired",
            "x509_not_trusted",
            "certificate is not yet valid",
            "invalid x509",
            // axTLS of the ESP8266, of a clock that is not set.
            "start sntp first",
            "no matching trusted root",
            "failed to verify certificate",
            "tls_bad_fingerprint",
            "bad fingerprint",
            "bad server fingerprint",
            "no authentication method is setup",
        ])
    {
        Some(TlsFailure::Certificate)
    } else if handshake
        && (code(&["-0x7780", "-30592", "-0x6e00", "-0x7300"]) || has(&["fatal alert"]))
    {
        Some(TlsFailure::Refused)
    } else if handshake
        && code(&[
            "-0x7280", "-29312", "-0x50", "-0x0050", "-0x4c", "-0x004c", "-0x4e", "-0x004e",
            "-0x44", "-0x0044", "-0x6800", "-0x7880", "0050", "-80",
        ])
    {
        Some(TlsFailure::Ended)
    } else {
        // What memory is missing for is told elsewhere.
        let other = has(&[
            "handshake returned -0x",
            "handshake returned -",
            "mbedtls_ssl_handshake error",
            "handshake failed",
            "tls connection error",
            "ssl connection fail",
            "tls connection fail",
        ]);
        let ended = engine && !has(&["getlastsslerror = 0", "ssl error 0"]);
        ((other || ended) && super::crash::memory(lower) != Some(LogEvent::NoMemory))
            .then_some(TlsFailure::Other)
    }
}

/// Words for a connection that ended or could not be made, without a number.
const ENDED: &[&str] = &[
    "error transport connect",
    "esp_transport_connect failed",
    "connection failed, sock <",
    "failed to connect to mqtt broker",
    "failed to connect to broker",
    "error: connection refused",
    "error: connection lost",
    "error: read timeout",
    "get failed: -",
    "post failed: -",
    "error: send header failed",
    "mqtt connect failed",
    "mqtt connection failed",
    "mqtt connection lost",
    "connection to server failed",
    "tcp disconnected",
    "tcp_disconnected",
    "lost mqtt connection",
    "no ping_resp",
    "ping_resp timeout",
    "transport_read(): eof",
    // ESP-IDF's examples, where a server says nothing more: errno 11 is a time-out there.
    "read return=-1",
    "mqtt_message_receive() returned -",
    "tcp:reconect",
    "tcp: reconnect",
    "select returned due to timeout",
    "ack timeout",
    "disconnected: exceeded timeout",
    "is unresponsive; disconnecting",
    "not responding; disconnecting",
    "timeout while waiting for message response",
    "connection reset by peer",
    "software caused connection abort",
    "host is unreachable",
    "no route to host",
    "broken pipe",
    "lwmqtt_",
    // Arduino's client, whose socket has an error; 0 is the end of what the other side has to say.
    "connected(): disconnected: res: -",
    "econnreset",
    "econnaborted",
    "ehostunreach",
    "enotconn",
    "econnrefused",
    "etimedout",
];

/// Returns whether a text tells of a connection that ended or could not be made, without an error of sockets.
fn connection_ended(lower: &SearchText<'_>) -> bool {
    let client = lower.contains("fail") && return_code(lower) == Some(None);
    // "Enter MQTTDisconnected": a state that a program begins with.
    let of_broker =
        ["mqtt", "broker"].iter().any(|it| lower.contains(it)) && !lower.contains("enter mqtt");
    let mqtt = of_broker
        && ["disconnected", "connection failed", "failed, reason", "connection lost"]
            .iter()
            .any(|it| lower.contains(it));
    // Arduino's HTTP client: -1 is a connection that is refused, -11 a time-out.
    let refused =
        |it: &&str| matches!(lower.split_once(it).and_then(|it| number(it.1)), Some(1 | 11));
    // Arduino's client for TLS, where the connection below it cannot be made.
    let below = lower.contains("start_ssl_client")
        && (lower.has_number("-1") || lower.contains("connect to server"));
    let http = lower.contains("http")
        && ["code: -", "code -", "error: -", "status: -", "status = -", "code = -", "code=-"]
            .iter()
            .any(refused);
    // ESP-AT, of what it was to send.
    let unsent = ["send fail", "link is not valid"].contains(&lower.as_str());
    // Mongoose OS names its events.
    let event = lower.ends_with("mqtt disconnect");
    // The same words of a network that cannot be joined are read elsewhere.
    let late = lower.contains("connection timed out")
        && (lower.contains("errno")
            || !["wifi", "wi-fi", "wlan"].iter().any(|it| lower.contains(it)));
    client
        || late
        || unsent
        || mqtt
        || event
        || http
        || below
        || ENDED.iter().any(|it| lower.contains(it))
}

fn socket(lower: &SearchText<'_>) -> Option<LogEvent> {
    // Arduino's class for UDP has the number of the error alone, other programs its words.
    let full =
        ["not enough space", "no buffer space available"].iter().any(|it| lower.contains(it))
            && lower.contains("send");
    // Zephyr has the number of the error behind the words.
    let refused = lower.contains("send") && lower.contains("fail") && lower.has_number("-12");
    if full || refused || lower.contains("could not send data: 12") {
        return Some(LogEvent::SendBuffersFull);
    }
    // All sockets are taken. Files have the same number.
    let taken = [" (23)", "errno 23", "errno: 23", "errno=23", "errno = 23", "too many open files"];
    let opens = ["accept", "create socket", "oserror"].iter().any(|it| lower.contains(it));
    if opens && taken.iter().any(|it| lower.contains(it)) {
        return Some(LogEvent::SocketError(NO_SOCKET));
    }
    // A poll that fails has the number of the socket's error in front of the words.
    let at = ["errno", "oserror:", "select error"]
        .iter()
        .find_map(|it| Some(lower.find(it)? + it.len()));
    let rest = at.map(|at| lower[at..].trim_start_matches([' ', ':', '=', '(', '[', '"']));
    let rest = rest.map(|it| it.strip_prefix("errno ").unwrap_or(it));
    let words = [
        ("socket is not connected", 128),
        ("connection reset by peer", 104),
        ("software caused connection abort", 113),
        ("host is unreachable", 118),
        ("no route to host", 118),
        ("connection timed out", 116),
    ];
    let named = at.and_then(|_| words.iter().find(|it| lower.contains(it.0)).map(|it| it.1));
    // Some releases print the negative.
    let rest = rest.map(|it| it.strip_prefix('-').unwrap_or(it));
    match rest.and_then(number).or(named) {
        // A send that finds no packet buffer; elsewhere memory is missing.
        Some(12 | 105) if lower.contains("send") || lower.contains("udp") => {
            Some(LogEvent::SendBuffersFull)
        }
        Some(12) => Some(if lower.contains("oserror") {
            LogEvent::NoMemory
        } else {
            LogEvent::SendBuffersFull
        }),
        Some(code) if LOST.contains(&code) => u16::try_from(code).ok().map(LogEvent::SocketError),
        // ESPHome's API: who was connected to the device.
        _ if lower.contains("): connection closed") => Some(LogEvent::ClientLeft),
        _ => connection_ended(lower).then_some(LogEvent::ConnectionFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::told;
    use super::super::{LogEvent, TlsFailure};

    #[test]
    fn what_is_not_the_link_is_told_apart() {
        use LogEvent::{
            BrokerRefused, ConnectionFailed, NameFailed, NoMemory, SocketError, TlsFailed,
        };
        for (line, event) in [
            (
                "E (5) esp-tls: couldn't get hostname for :a.example: getaddrinfo() returns 202",
                NameFailed,
            ),
            ("[E][WiFiGeneric.cpp:652] hostByName(): DNS Failed for a.example", NameFailed),
            ("OSError: -202", NameFailed),
            ("start:: ERROR hostByName hub", NameFailed),
            (
                "E (5) esp-tls: mbedtls_ssl_handshake returned -0x2700",
                TlsFailed(TlsFailure::Certificate),
            ),
            (
                "E (5) esp-tls: mbedtls_ssl_handshake returned -0x7780",
                TlsFailed(TlsFailure::Refused),
            ),
            ("E (5) esp-tls: mbedtls_ssl_handshake returned -0x7280", TlsFailed(TlsFailure::Ended)),
            ("E (5) esp-tls: mbedtls_ssl_handshake returned -0x7f00", NoMemory),
            ("W (5) mqtt_client: Connection refused, not authorized", BrokerRefused),
            ("Attempting MQTT connection...failed, rc=5 try again", BrokerRefused),
            ("Attempting MQTT connection...failed, rc=-2 try again", ConnectionFailed),
            ("OSError: [Errno 113] EHOSTUNREACH", SocketError(113)),
            (
                "E (5) transport_base: tcp_read error, errno=Socket is not connected",
                SocketError(128),
            ),
            ("E (5) MQTT: transport_read() error: errno=-128", SocketError(128)),
            ("W (5) httpd: httpd_accept_conn: error in accept (23)", SocketError(23)),
            ("E (5) client: Unable to create socket: errno 23", SocketError(23)),
            ("[E][a.cpp:1] connect(): start_ssl_client: -1", ConnectionFailed),
            ("<err> app: getaddrinfo status: -2", NameFailed),
            ("net_ctx: send failed: -12", LogEvent::SendBuffersFull),
            ("Error: ConnectionRefused(NotAuthorized)", BrokerRefused),
            ("[W][api.connection:81]: probe (192.0.2.9): Connection closed", LogEvent::ClientLeft),
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        // Waiting is no failure, and a digit more is another number.
        for line in [
            "Last captured errno : 119",
            "E (5) a: errno 11",
            "E (5) files: cannot open a.txt: errno 23",
            "OSError: -2021",
            "I (5) mbedtls: 0x10 bytes",
        ] {
            assert!(told(line).is_empty(), "{line}: {:?}", told(line));
        }
    }
}
