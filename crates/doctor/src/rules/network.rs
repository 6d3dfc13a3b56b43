//! Addresses, names, TLS, brokers, connections, calls of the driver: most are not the link.

use super::{finding, words};
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{LogEvent, LogPlace, LogSummary, TlsFailure};
use alloc::vec::Vec;

/// Number of lwIP's error where no socket is left.
const NO_SOCKET: u16 = 23;

/// Errors of a socket from which on they are a finding: one is a server that restarts.
pub(super) const SOCKETS: u64 = 3;

/// Connections without a route from which on they are a finding.
const UNROUTED: u64 = 2;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let words = (
        "the device is associated and gets no IP address: DHCP does not answer, or its frames are lost",
        "see the router's list of leases and its range of addresses, whether another DHCP server answers, and try a fixed \
         address",
        "with a fixed address it reaches the router",
    );
    let is = |it: &LogEvent| *it == LogEvent::NoAddress;
    out.extend(finding(log, TroubleCause::NoAddress, Certainty::Medium, words, is));
    let words = (
        "the program calls the Wi-Fi driver at a wrong time: before it is started, or while it connects",
        "call esp_wifi_connect() (WLAN.connect) once, and again only after the event of a disconnection; after \
         esp_wifi_start(), and not before",
        "with a disconnect and a wait before it the call succeeds",
    );
    let hurries = |it: &LogEvent| *it == LogEvent::ConnectsTwice;
    let is = |it: &LogEvent| *it == LogEvent::WifiCall || hurries(it);
    // A device that does not join is told to join again, and again: that it is told so is no cause.
    let told = log.count(|it| {
        matches!(it, LogEvent::WifiCall | LogEvent::Traceback | LogEvent::Disconnected(_))
    });
    if told == 0 && log.count(hurries) > 0 && !linked(log) {
        out.extend(words::unjoined(log, hurries));
    } else if log.count(is) != 1 || !is_overcome(log, is) {
        // One call that failed before a link that holds did no harm.
        out.extend(finding(log, TroubleCause::WifiCalls, Certainty::High, words, is));
    }
    let words = (
        "the MQTT broker refuses the client: user, password, client id or rights",
        "check user name and password, that each client has an id of its own, and the broker's list of rights",
        "mosquitto_pub on a PC with the same user is refused, too; the broker's log says why",
    );
    let is = |it: &LogEvent| *it == LogEvent::BrokerRefused;
    out.extend(finding(log, TroubleCause::BrokerRefused, Certainty::High, words, is));
    names(log, out);
    tls(log, out);
    connections(log, out);
}

/// Returns whether the device gets an address behind the first of some events, and neither ends nor restarts behind it.
fn is_overcome(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> bool {
    let Some(first) = log.places(is).first().map(|it| it.line) else { return false };
    let address = log.places(|it| *it == LogEvent::GotIp);
    let ended =
        log.places(|it| matches!(it, LogEvent::Traceback | LogEvent::Panic | LogEvent::Reset(_)));
    let behind = |places: &[&LogPlace]| places.iter().any(|it| it.line > first);
    behind(&address) && !behind(&ended)
}

/// Returns whether the log ever shows a link.
pub(super) fn linked(log: &LogSummary) -> bool {
    log.count(|it| matches!(it, LogEvent::GotIp | LogEvent::Associated)) > 0
}

fn names(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let words = if linked(log) {
        (
            "names cannot be resolved although the device is in the network: it is not the link",
            "check the name, the DNS server that the router hands out (or set 1.1.1.1), and whether the router reaches the \
             internet",
            "with the server's IP address in place of its name it works",
        )
    } else {
        (
            "names cannot be resolved, and the log shows no network at that time",
            "wait for the event of the IP address before the first connection; then check the DNS server",
            "with the server's IP address in place of its name it fails as well while there is no network",
        )
    };
    let is = |it: &LogEvent| *it == LogEvent::NameFailed;
    out.extend(finding(log, TroubleCause::Names, Certainty::Medium, words, is));
}

fn tls(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let is = |it: &LogEvent| matches!(it, LogEvent::TlsFailed(_));
    let has = |failure| log.count(|it| *it == LogEvent::TlsFailed(failure)) > 0;
    let (sure, words) = if has(TlsFailure::Certificate) {
        (
            Certainty::High,
            (
                "TLS does not accept the server's certificate: it is not the link",
                "set the clock first (SNTP), and give the program the root certificate that the server's chain ends in, for \
                 the host name that it connects to",
                "openssl s_client -connect HOST:PORT -CAfile FILE with the same file fails, too",
            ),
        )
    } else if has(TlsFailure::Refused) {
        (
            Certainty::Medium,
            (
                "the server ends the TLS handshake with an alert: it is not the link",
                "check the client's certificate and key, the server name (SNI), and which versions and ciphers the server takes",
                "the server's log names the alert; so does openssl s_client with the same certificate",
            ),
        )
    } else {
        (
            Certainty::Low,
            (
                "the TLS handshake does not end: the server or what is between closes the connection",
                "check the port, the client's certificate, and the server's log; then the free heap and the signal",
                "openssl s_client from a PC in the same network ends its handshake",
            ),
        )
    };
    out.extend(finding(log, TroubleCause::Tls, sure, words, is));
}

/// Title, remedy and confirmation of connections that fail.
const CONNECTIONS: (&str, &str, &str) = (
    "connections end or cannot be made although the device is in the network",
    "see whether the server runs and listens, and whether the router lets stations reach it (client isolation)",
    "a PC in the same network reaches the server",
);

const NO_SOCKETS: (&str, &str, &str) = (
    "no socket is left for another connection",
    "close what is not used, let the server drop its oldest connection (`lru_purge_enable`), or raise `CONFIG_LWIP_MAX_SOCKETS`",
    "the error comes when one more client opens a connection, and goes with its end",
);

pub(super) const fn is_connection(it: &LogEvent) -> bool {
    matches!(it, LogEvent::SocketError(_) | LogEvent::ConnectionFailed | LogEvent::ClientLeft)
}

/// Finds connections that fail, however few.
pub(super) fn any_connection(log: &LogSummary) -> Option<CauseFinding> {
    let taken = log.count(|it| *it == LogEvent::SocketError(NO_SOCKET));
    let texts = if 2 * taken > log.count(is_connection) { NO_SOCKETS } else { CONNECTIONS };
    finding(log, TroubleCause::Connections, Certainty::Low, texts, is_connection)
}

/// Number of lwIP's error where no interface that is up has a route (`ERR_RTE`): a station with an address has one to all hosts.
const NO_ROUTE: u16 = 118;

/// Finds a device that has no address from its start on: each of its connections fails for want of a route.
fn unrouted(log: &LogSummary) -> Option<CauseFinding> {
    let words = (
        "the device has no IP address when it connects: no interface has a route (errno 118)",
        "wait for the event of the IP address before the first connection; where none comes, see the router's list of leases \
         and its range of addresses",
        "the program prints its address before it connects: it is 0.0.0.0",
    );
    let is = |it: &LogEvent| *it == LogEvent::SocketError(NO_ROUTE);
    let other = |it: &LogEvent| matches!(it, LogEvent::SocketError(_)) && !is(it);
    let first = log.places(is).first()?.line;
    let starts =
        log.places(|it| matches!(it, LogEvent::Reset(_))).first().is_some_and(|it| it.line < first);
    (starts && !linked(log) && log.count(is) >= UNROUTED && log.count(other) == 0)
        .then(|| finding(log, TroubleCause::NoAddress, Certainty::Low, words, is))?
}

fn connections(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let socket = |it: &LogEvent| matches!(it, LogEvent::SocketError(_));
    // A connection that is refused follows from a name, from TLS or from the broker.
    let explained = log.count(|it| {
        matches!(
            it,
            LogEvent::NameFailed
                | LogEvent::TlsFailed(_)
                | LogEvent::BrokerRefused
                | LogEvent::NoMemory
        )
    }) > 0;
    // An error that nobody catches ends a Python program.
    let ended = log.count(socket) > 0 && log.count(|it| *it == LogEvent::Traceback) > 0;
    let failed = log.count(is_connection);
    if let Some(it) = unrouted(log).filter(|_| !explained) {
        out.push(it);
        return;
    }
    if !(failed >= SOCKETS || ended) || (explained && log.count(socket) < SOCKETS) {
        return;
    }
    out.extend(any_connection(log));
}
