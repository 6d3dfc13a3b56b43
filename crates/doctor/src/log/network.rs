//! Beyond the link: names, TLS, brokers, sockets.

use super::event::{LogEvent, TlsFailure, has_number, number};
use super::record::LogRecord;

/// Errors of sockets that say that a connection ended or cannot be made: of newlib as ESP-IDF 4 and later have it, of lwIP
/// as older releases and MicroPython have it, and of Linux. Those that say "wait" (11, 115, 119) are none.
const LOST: [u32; 12] = [101, 103, 104, 107, 110, 111, 113, 114, 116, 117, 118, 128];

/// Returns what a record tells of names, TLS, brokers and sockets.
pub(super) fn network(record: &LogRecord<'_>) -> Option<LogEvent> {
    let lower = record.text.to_ascii_lowercase();
    if name_failed(&lower) {
        return Some(LogEvent::NameFailed);
    }
    if broker_refused(record, &lower) {
        return Some(LogEvent::BrokerRefused);
    }
    tls(&lower).map(LogEvent::TlsFailed).or_else(|| socket(&lower))
}

fn name_failed(lower: &str) -> bool {
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
    ];
    // MicroPython's number is the whole text.
    words.iter().any(|it| {
        lower.find(it).is_some_and(|at| {
            let next = lower.as_bytes().get(at + it.len());
            !(it.ends_with(|it: char| it.is_ascii_digit()) && next.is_some_and(u8::is_ascii_digit))
        })
    })
}

fn broker_refused(record: &LogRecord<'_>, lower: &str) -> bool {
    let refused = [
        "not authorized",
        "not authorised",
        "bad username",
        "bad user name",
        "bad_credentials",
        "identifier rejected",
        "mqtt_connection_refuse",
        "connection refuse, reason code",
        "connection refused, server unavailable",
    ];
    let of_broker = lower.contains("mqtt")
        || lower.contains("connection refuse")
        || lower.contains("broker")
        || record.tag.to_ascii_lowercase().contains("mqtt");
    // PubSubClient's state 4 and 5 are MQTT's return codes.
    let code = lower.split_once("rc=").is_some_and(|it| matches!(number(it.1), Some(4 | 5)));
    (of_broker && refused.iter().any(|it| lower.contains(it)))
        || (code && (lower.contains("fail") || lower.contains("try again")))
}

fn tls(lower: &str) -> Option<TlsFailure> {
    let speaks = ["ssl", "tls", "x509", "certificate"].iter().any(|it| lower.contains(it));
    if !speaks {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    let code = |codes: &[&str]| codes.iter().any(|it| has_number(lower, it));
    let handshake = has(&[
        "handshake returned",
        "handshake failed",
        "start_ssl_client",
        "last mbedtls failure",
    ]);
    if code(&["-0x2700", "-0x3000", "-9984", "-0x2180", "-0x7a00"])
        || has(&[
            "certificate verification failed",
            "failed to verify peer certificate",
            "certificate verify failed",
            "certificate has expired",
            "certificate is expired",
            "certificate is not yet valid",
            "no matching trusted root",
            "failed to verify certificate",
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
        let other = has(&["handshake returned -0x", "handshake failed"]);
        (other && super::crash::memory(lower) != Some(LogEvent::NoMemory))
            .then_some(TlsFailure::Other)
    }
}

fn socket(lower: &str) -> Option<LogEvent> {
    let generic = [
        "error transport connect",
        "connection failed, sock <",
        "failed, rc=-2",
        "failed, rc=-4",
        "failed to connect to mqtt broker",
        "failed to connect to broker",
        "error: connection refused",
        "mqtt connect failed",
        "connection to server failed",
    ];
    let at = ["errno", "oserror:"].iter().find_map(|it| Some(lower.find(it)? + it.len()));
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
        _ => generic.iter().any(|it| lower.contains(it)).then_some(LogEvent::ConnectionFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{plain, records};
    use super::super::{LogEvent, TlsFailure, events};
    use alloc::vec::Vec;

    fn told(line: &str) -> Vec<LogEvent> {
        records(&plain(line)).iter().flat_map(events).collect()
    }

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
        ] {
            assert_eq!(told(line), [event], "{line}");
        }
        // Waiting is no failure, and a digit more is another number.
        for line in [
            "Last captured errno : 119",
            "E (5) a: errno 11",
            "OSError: -2021",
            "E (5) mbedtls: 0x10 bytes",
        ] {
            assert!(told(line).is_empty(), "{line}: {:?}", told(line));
        }
    }
}
