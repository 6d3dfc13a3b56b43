//! A second reading, by words, of records that no other reader understands: a sign of failure beside a subject, in one clause.
//!
//! Programs say the same thing in words of their own: "could not join the network", "MQTT: no luck, rc -2". A clause that names a
//! subject and a failure tells a cause; what a clause denies, asks or expects ("no error", "if it fails") tells none.

use super::clause::{Clause, Signs, clauses};
use super::device::{device, stores, updates};
use super::event::{LogEvent, number};
use super::record::{LogRecord, RecordLevel};
use super::topic::{Family, Subject, family};
use super::waits::{DOTS, dots, waits};
use super::wordlist as list;
use super::{signs, subjects};
use crate::reason::by_code;

/// Until then what has the tag `boot` is the bootloader's, in milliseconds.
const BOOTS_MS: u64 = 5000;

/// A cause that the words of a record name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordCause {
    /// A program waits for the network, or says that it tries to join it.
    LinkTry,
    /// A program says that it tries to reach its broker.
    ServerTry,
    /// There is no link.
    LinkDown,
    /// There is no connection.
    ServerDown,
    /// A connection ended or could not be made.
    Connections,
    /// The link ended.
    LinkEnded,
    /// The network could not be joined.
    LinkFailed,
    /// The driver could not be started or set up.
    WifiCall,
    /// The signal is weak.
    Signal,
    /// The network is not there.
    Absent,
    /// The password is wrong.
    Password,
    /// No IP address could be had.
    NoAddress,
    /// A name could not be resolved.
    Names,
    /// TLS could not be set up.
    Tls,
    /// A server does not accept who the client says that it is.
    Refused,
    /// An ESP-NOW frame was not delivered.
    Unheard,
    /// An ESP-NOW peer is not known.
    PeerNotFound,
    /// ESP-NOW could not be started.
    EspNowInit,
    /// Memory could not be had.
    Heap,
    /// An update of the firmware failed.
    Update,
    /// A watchdog restarted the device.
    Watchdog,
    /// A stack overflowed.
    Stack,
    /// The supply is too low.
    Power,
    /// The storage of keys and values refuses a call.
    Storage,
}

/// Returns what a record tells by its words. `before` is what the lines before it speak of.
pub(super) fn told(record: &LogRecord<'_>, before: Option<Subject>) -> Option<LogEvent> {
    // What a program writes for those who look for its mistakes has failures that are none.
    if matches!(record.level, Some(RecordLevel::Debug | RecordLevel::Verbose)) {
        return None;
    }
    // Before a program runs there is no network: what the bootloader does without is in order, or told in a known form.
    if record.tag == "boot" && record.uptime_ms.is_some_and(|it| it < BOOTS_MS) {
        return None;
    }
    let tag = record.tag.to_ascii_lowercase();
    let lower = record.text.to_lowercase();
    // ESP-IDF's examples tell of each number of an error that is not 0, of TLS also where nothing of it was asked for.
    // ESPHome tells of the state of each component, whatever it is.
    let states =
        ["reported from tls stack", "set error flag", "set warning flag", "already disconnected"];
    if states.iter().any(|it| lower.contains(it)) || is_own_server(&lower) {
        return None;
    }
    // WLED says no more of its link.
    let of_server = matches!(before.map(|it| it.family), Some(Family::Broker | Family::Server));
    if lower == "disconnected!" && !of_server {
        return Some(LogEvent::Words(WordCause::LinkEnded));
    }
    // A library's name is no word of Wi-Fi.
    let lower = lower.strip_prefix("[wifiesp] ").unwrap_or(&lower);
    let has_sign = signs::SIGNS.iter().any(|it| it.is_in(lower)) || dots(lower) >= DOTS;
    if is_decoded(lower)
        || subjects::OTHER_TAGS.is_in(&tag)
        || !(has_sign || signs::PHRASES.is_in(lower))
    {
        return None;
    }
    let mut context = family(&tag).or(before.map(|it| it.family));
    let mut found = waits(lower, context, family(&tag));
    if let Some(before) = before.filter(|it| it.pending && is_bare(lower)) {
        found = found.max(match before.family {
            Family::Wifi => Some(WordCause::LinkFailed),
            Family::Broker | Family::Server => Some(WordCause::Connections),
            Family::EspNow | Family::Other => None,
        });
    }
    for clause in clauses(lower) {
        let own = family(clause.text);
        context = own.or(context);
        found = found.max(clause.cause(own, context, &tag));
    }
    if found == Some(WordCause::LinkEnded) && before.is_some_and(|it| it.restarts) {
        return None;
    }
    match found? {
        WordCause::Unheard => Some(LogEvent::EspNowUnheard),
        cause @ (WordCause::LinkEnded
        | WordCause::LinkFailed
        | WordCause::Absent
        | WordCause::Password) => {
            Some(reason(lower).map_or(LogEvent::Words(cause), LogEvent::Disconnected))
        }
        cause => Some(LogEvent::Words(cause)),
    }
}

/// Returns whether a text tells that a client of the device's own server has left.
fn is_own_server(lower: &str) -> bool {
    ["websrv", "webserver", "web server"].iter().any(|it| lower.contains(it))
        && lower.contains("closed")
        && !signs::FAILS.is_in(lower)
}

/// Returns whether a text is an address of a backtrace with its function: "0x40081234: heap_caps_malloc at heap_caps.c:98".
fn is_decoded(lower: &str) -> bool {
    let address = lower.strip_prefix("0x").and_then(|it| it.split_once(": "));
    address.is_some_and(|(it, function)| {
        it.bytes().all(|it| it.is_ascii_hexdigit()) && function.contains(" at ")
    })
}

/// Reads the number of a reason that stands in brackets, "Disconnected (201, no AP)", or behind its word, "because: 200".
fn reason(lower: &str) -> Option<u8> {
    let because =
        lower.split_once("because").and_then(|it| number(it.1.trim_start_matches([':', ' '])));
    if let Some(it) = because.and_then(|it| by_code(u8::try_from(it).ok()?)) {
        return Some(it.code);
    }
    lower.match_indices('(').find_map(|(at, _)| {
        let code = number(&lower[at + 1..])?;
        let own = code >= 200 || lower[..at].trim_end().ends_with("disconnected");
        let behind = lower[at + 1..].trim_start_matches(|it: char| it.is_ascii_digit());
        let code =
            u8::try_from(code).ok().filter(|_| own && behind.starts_with([')', ',', ' ', ':']))?;
        by_code(code).map(|it| it.code)
    })
}

/// Returns whether a text says that something failed, and not what: "[FAILED] : trying again".
fn is_bare(lower: &str) -> bool {
    let text = lower.trim_start_matches([' ', '[', '.', '-', '>', ':', '*']);
    ["failed", "failure_number", "failure", "fail", "error", "timeout", "refused"].iter().any(
        |it| {
            text.strip_prefix(it).is_some_and(|rest| {
                let rest = rest.trim_start_matches([']', ' ', '!', '.', ':', ',', ';', '-', '(']);
                rest.is_empty()
                    || list::has(rest, &["retry", "again", "rc", "code", "state", "next"])
            })
        },
    )
}

/// Returns what a success that a record tells makes good: a link, or a connection.
pub(super) fn made(record: &LogRecord<'_>, before: Option<Subject>) -> Option<LogEvent> {
    let lower = record.text.to_ascii_lowercase();
    let at = list::find(&lower, &["connected", "connection established", "connection success"])?;
    let (front, behind) = (&lower[..at], &lower[at..]);
    let negated = ["not ", "n't ", "not_", "if ", "when ", "until ", "while ", "be "];
    if negated.iter().any(|it| front.ends_with(it))
        || signs::FAILS.is_in(&lower)
        || behind.contains("will ")
    {
        return None;
    }
    let tag = record.tag.to_ascii_lowercase();
    // "Connected to wifi, SSID: …": a network's name may have any word.
    let named = lower.split_once("connected to ").and_then(|it| it.1.split(' ').next());
    // A bare "connected" makes a bare "disconnected" good.
    let of = named
        .and_then(family)
        .or_else(|| family(&lower))
        .or_else(|| family(&tag))
        .or(before.map(|it| it.family));
    if of.is_none() && !bare_connection(&lower) {
        return None;
    }
    Some(match of.unwrap_or(Family::Server) {
        Family::Wifi => LogEvent::GotIp,
        Family::Broker | Family::Server => LogEvent::ConnectionMade,
        Family::EspNow | Family::Other => return None,
    })
}

/// Returns whether a text is "connected" and little else.
fn bare_connection(lower: &str) -> bool {
    lower.trim_end_matches(['.', '!', ' ']).ends_with("connected") && lower.split(' ').count() <= 2
}

impl Clause<'_> {
    /// Returns the cause that the clause names.
    fn cause(&self, own: Option<Family>, context: Option<Family>, tag: &str) -> Option<WordCause> {
        let text = self.text;
        let has = |words: &[&str]| list::has(text, words);
        if self.asks {
            return None;
        }
        if let Some(cause) = whole(text) {
            return Some(cause);
        }
        let signs = Signs::of(text)?;
        // "Status changed from disconnected to idle": a state that ends.
        if signs.ended && has(&["from disconnected", "from status disconnected"]) {
            return None;
        }
        // "If the connection fails", "no success yet" beside "success".
        let expected = signs::EXPECTED.find(text).is_some_and(|it| it < signs.first);
        if expected
            || (has(&["success"]) && !has(&["no success", "not success", "without success"]))
        {
            return None;
        }
        if signs.fails && !signs.absent && stores(text) {
            return Some(WordCause::Storage);
        }
        let cause = device(text).filter(|_| signs.happened());
        if cause.is_some() || subjects::OTHERS.is_in(text) {
            return cause;
        }
        if updates(text) && (signs.fails || signs.wrong) {
            return Some(WordCause::Update);
        }
        if signs.happened()
            && let Some(cause) = named(text, &signs, own, context, tag)
        {
            return Some(cause);
        }
        linked(text, &signs, own, context)
    }
}

/// Returns the cause of phrases that need no second sign.
fn whole(text: &str) -> Option<WordCause> {
    let has = |words: &[&str]| list::has(text, words);
    if signs::NO_MEMORY.is_in(text) && !has(&["no low"]) {
        return Some(WordCause::Heap);
    }
    if signs::LOW_VOLTAGE.is_in(text) {
        return Some(WordCause::Power);
    }
    let watchdog = has(&["watchdog", "watch dog", "wdt"])
        && !text.contains("wdt_")
        && !subjects::CONNECTS.is_in(text);
    if watchdog && signs::FIRES.is_in(text) && !signs::SETS_UP.is_in(text) {
        return Some(WordCause::Watchdog);
    }
    if signs::STACK.is_in(text) {
        return Some(WordCause::Stack);
    }
    // What the driver says where it is asked for its access point and has none.
    if has(&["connect to a suitable ap"]) {
        return Some(WordCause::LinkFailed);
    }
    // Without its loop of events the driver tells nobody that it is joined.
    if has(&["event loop not init", "event loop is not init", "event loop has not been"]) {
        return Some(WordCause::WifiCall);
    }
    signs::WEAK.is_in(text).then_some(WordCause::Signal)
}

/// Returns a cause whose subject the clause names.
fn named(
    text: &str,
    signs: &Signs,
    own: Option<Family>,
    context: Option<Family>,
    tag: &str,
) -> Option<WordCause> {
    let has = |words: &[&str]| list::has(text, words);
    let whole = |words: &[&str]| list::has_whole(text, words);
    if own == Some(Family::EspNow)
        || (context == Some(Family::EspNow) && subjects::DELIVERS.is_in(text))
    {
        return esp_now(text, signs);
    }
    let wifi = own == Some(Family::Wifi) || (own.is_none() && context == Some(Family::Wifi));
    if subjects::TLS.is_in(text) && !has(&["websocket handshake", "4-way", "4way"]) {
        return Some(WordCause::Tls);
    }
    if subjects::NAMES.is_in(text)
        && !has(&["set hostname", "dns server", "setting hostname", "set host"])
    {
        return Some(WordCause::Names);
    }
    // A clock that is not set yet is asked again.
    if whole(&["ntp", "sntp", "time", "epoch", "clock"]) && !signs.timeout {
        return None;
    }
    if subjects::ADDRESSES.is_in(text) && !has(&["dhcp server", "dhcps", "softap"]) {
        return Some(WordCause::NoAddress);
    }
    let credentials = subjects::CREDENTIALS.is_in(text);
    let authenticates = subjects::AUTHENTICATES.is_in(text);
    // A reason of Wi-Fi, in words.
    if has(&["auth expire", "auth leave"]) {
        return Some(WordCause::LinkFailed);
    }
    let clients = subjects::CLIENTS.is_in(text);
    // HTTP answers 400, too, to a client that it does not know.
    let bad_request = signs.fails && whole(&["400"]);
    let shows = (credentials && signs.wrong) || (clients && (signs.wrong || bad_request));
    if shows || (authenticates && (signs.wrong || signs.fails)) {
        let either = has(&["ssid", "network name"])
            && [" or ", " and ", "/", "&", "ssid,"].iter().any(|it| text.contains(it));
        let advice = (either || has(&["check", "verify", "maybe", "possib"])) && credentials;
        let server = clients || matches!(own, Some(Family::Broker | Family::Server));
        if server || subjects::BROKER.is_in(tag) {
            return Some(WordCause::Refused);
        }
        let of_wifi =
            wifi || list::has_whole(text, &["sta", "ap", "wpa"]) || subjects::WIFI.is_in(tag);
        return match (advice, of_wifi, credentials) {
            (true, ..) => Some(WordCause::LinkFailed),
            (_, true, _) | (_, _, true) => Some(WordCause::Password),
            _ => Some(WordCause::Refused),
        };
    }
    if signs.absent
        && (subjects::NETWORKS.is_in(text) || whole(&["ap", "aps"]))
        && !subjects::NO_NETWORKS.is_in(text)
        && !matches!(own, Some(Family::Broker | Family::Server))
    {
        return Some(WordCause::Absent);
    }
    None
}

fn esp_now(text: &str, signs: &Signs) -> Option<WordCause> {
    let has = |words: &[&str]| list::has(text, words);
    if has(&["peer"]) && (signs.absent || has(&["add", "unknown", "not exist"])) {
        return Some(WordCause::PeerNotFound);
    }
    if has(&["init", "start"]) {
        return Some(WordCause::EspNowInit);
    }
    (subjects::DELIVERS.is_in(text) && (signs.fails || signs.timeout || signs.ended))
        .then_some(WordCause::Unheard)
}

/// Returns what a clause says of a link or of a connection.
fn linked(
    text: &str,
    signs: &Signs,
    own: Option<Family>,
    context: Option<Family>,
) -> Option<WordCause> {
    let has = |words: &[&str]| list::has(text, words);
    let connects = subjects::CONNECTS.is_in(text);
    match own {
        Some(Family::Wifi) => {}
        Some(Family::Broker | Family::Server) => {
            return if signs.happened() {
                (!signs.absent || signs.fails || connects).then_some(WordCause::Connections)
            } else {
                Some(WordCause::ServerDown)
            };
        }
        Some(Family::EspNow | Family::Other) => return None,
        // Bare words, such as "connection failed!": of what stands before them.
        None if !(connects || signs.ended || has(&["login"])) => {
            let short = text.split_whitespace().count() <= 4;
            let failed = signs.fails || signs.timeout;
            return (short && failed && context == Some(Family::Wifi) && connects)
                .then_some(WordCause::LinkFailed);
        }
        // "Disconnected from printer": a name that is none of a network.
        None if signs.ended && text.contains("disconnected from ") => {
            return Some(WordCause::Connections);
        }
        None if context == Some(Family::Wifi) || has(&["rebooting"]) => {}
        None if matches!(context, Some(Family::EspNow | Family::Other)) => return None,
        None => {
            return Some(if signs.happened() {
                WordCause::Connections
            } else {
                WordCause::ServerDown
            });
        }
    }
    if signs.ended && !(signs.fails && connects) {
        return Some(WordCause::LinkEnded);
    }
    if !signs.happened() {
        return Some(WordCause::LinkDown);
    }
    // A scan that fails is none of the link.
    if text.contains("scan") && !connects {
        return None;
    }
    let joins = connects || has(&["join", "associat", "begin", "sta ", "station"]);
    let short = text.split_whitespace().count() <= 4;
    if joins || (short && (signs.fails || signs.timeout)) {
        return Some(WordCause::LinkFailed);
    }
    (has(&["init", "start", "esp_wifi_", "set mode"]) && signs.fails).then_some(WordCause::WifiCall)
}

#[cfg(test)]
mod tests {
    use super::super::LogEvent;
    use super::super::event::told as all;
    use super::super::record::{plain, records};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_failure_beside_a_subject_tells_a_cause() {
        use WordCause::{
            Absent, Connections, EspNowInit, Heap, LinkEnded, LinkFailed, Names, NoAddress,
            Password, PeerNotFound, Power, Refused, Signal, Tls, Update, Watchdog, WifiCall,
        };
        for (line, cause) in [
            ("could not join the wlan of the shed", LinkFailed),
            ("E (5) net: Unable to connect to wifi", LinkFailed),
            ("Connecting to WiFi ..................................................", LinkFailed),
            ("Wifi lost. Trying again", LinkEnded),
            ("the network of the shed is not in range", Absent),
            ("E (5) wifi_up: password incorrect", Password),
            ("WLAN: Passwort falsch", Password),
            ("could not get an IP", NoAddress),
            ("name lookup was unsuccessful", Names),
            ("server certificate expired", Tls),
            ("login was refused: invalid token", Refused),
            ("the token's request ends with error 400", Refused),
            ("upload to the server failed", Connections),
            ("[relay] Disconnected!", Connections),
            ("could not allocate 4096 bytes for the frame", Heap),
            ("Unable to create the task of the radio", Heap),
            ("restarted by the watchdog", Watchdog),
            ("undervoltage", Power),
            ("nvs_set_str failed!", WordCause::Storage),
            ("the WiFi has a weak signal", Signal),
            ("esp-now error: unknown peer", PeerNotFound),
            ("could not start esp-now", EspNowInit),
            ("E (5) depot: Updating firmware: failed: ESP_ERR_INVALID_SIZE", Update),
            ("[depot] Failed to start the flash updater of this board", Update),
            ("Download of the firmware failed", Update),
            ("could not connect to the server of firmware updates", Connections),
            ("E (5) event: default event loop not initialized", WifiCall),
        ] {
            let told = all(line);
            let memory = cause == Heap && told == [LogEvent::NoMemory];
            assert!(told == [LogEvent::Words(cause)] || memory, "{line}: {told:?}");
        }
        assert_eq!(all("ESP-NOW packet to 00:00:5e:00:53:07: FAILED"), [LogEvent::EspNowUnheard]);
        assert_eq!(all("[WIFI] Disconnected (200, Timeout)"), [LogEvent::Disconnected(200)]);
        assert_eq!(all("WiFi: no luck (201), trying again"), [LogEvent::Disconnected(201)]);
    }

    #[test]
    fn what_is_denied_asked_or_expected_is_no_failure() {
        for line in [
            "wifi errors: 0",
            "wifi invalid_password: NO",
            "invalid_password = false",
            "mqtt: no error",
            "0 failed requests",
            "Last error reported from esp-tls: 0x0",
            "If the connection fails, the device restarts",
            "wifi timeout: 30",
            "Are the wifi credentials wrong?",
            "wifi password: ****",
            "publish: success, 0 lost",
            "Failed to read from the sensor",
            "BLE connection lost",
            "sd card not found",
            "E (5) httpd: connection lost",
            "D (5) wifi: connect failed",
            "no saved wifi credentials",
            "Could not publish state of sensor 'attic' with value 20.5",
            "failed to read nvs settings",
            "nvs_open failed: NOT_FOUND",
            "heap fragmentation: 23 %",
            "0x4080091c: heap_caps_alloc_failed at /idf/components/heap/heap_caps.c:98",
        ] {
            assert!(all(line).is_empty(), "{line}: {:?}", all(line));
        }
    }

    #[test]
    fn a_bare_failure_is_of_what_stands_before_it() {
        let told = |line: &str, before: Option<Family>| {
            let line = plain(line);
            let before = before.map(|family| Subject { family, pending: true, restarts: false });
            records(&line).iter().find_map(|it| told(it, before))
        };
        let failed = "connection failed";
        let words = |it| Some(LogEvent::Words(it));
        assert_eq!(told(failed, Some(Family::Wifi)), words(WordCause::LinkFailed));
        assert_eq!(told(failed, Some(Family::Broker)), words(WordCause::Connections));
        assert_eq!(told(failed, None), words(WordCause::Connections));
        assert_eq!(told("disconnected", Some(Family::EspNow)), None);
        let again = "[FAILED] : retry in 5 seconds";
        assert_eq!(told(again, Some(Family::Server)), words(WordCause::Connections));
        assert_eq!(told(again, None), None);
    }

    #[test]
    fn a_link_that_a_program_restarts_is_none_that_ends() {
        let read = |log: &str| {
            let mut reader = super::super::LogReader::new();
            reader.push(log.as_bytes());
            reader.finish().count(|it| *it == LogEvent::Words(WordCause::LinkEnded))
        };
        assert_eq!(read("no answer of the gateway, restart WiFi\nWiFi disconnected\n"), 0);
        assert_eq!(read("no answer of the gateway\nWiFi disconnected\n"), 1);
    }

    #[test]
    fn successes_are_told() {
        for (line, event) in [
            ("Connected to Wi-Fi network attic", LogEvent::GotIp),
            ("Connected to wifi, SSID: port of the client", LogEvent::GotIp),
            ("[hub] websocket connected", LogEvent::ConnectionMade),
        ] {
            assert_eq!(all(line), [event], "{line}");
        }
        assert!(all("WLAN not connected yet").iter().all(|it| *it != LogEvent::GotIp));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(wifi|Fehler|échec|失败|timeout|no |err|: 0|0x0|[,.;!?]|[ -~é\u{130}]){0,12}") {
            let _ = all(&text);
        }
    }
}
