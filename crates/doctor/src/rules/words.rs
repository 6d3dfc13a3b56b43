//! Findings in programs' own words. They are of low certainty, and come only where nothing else is found:
//! a line in a known form tells more.

use super::{Certainty, ReasonGroup, TroubleCause, finding, network, words_of};
use crate::finding::CauseFinding;
use crate::log::{EspNowError, LogEvent, LogSummary, WordCause};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Failures that were made good and still are a finding: they come again and again.
const RECURRING: u64 = 3;

/// States, such as "not connected", from which on they are a finding.
const STATES: u64 = 3;

/// Tries to join, with which a log ends, from which on they are a finding.
const TRIES: u64 = 5;

/// Causes by what their finding is, the more telling first.
const CAUSES: [(WordCause, TroubleCause); 18] = [
    (WordCause::Power, TroubleCause::Brownout),
    (WordCause::Stack, TroubleCause::StackOverflow),
    (WordCause::Watchdog, TroubleCause::Watchdog),
    (WordCause::Heap, TroubleCause::Heap),
    (WordCause::Storage, TroubleCause::Storage),
    (WordCause::Update, TroubleCause::Update),
    (WordCause::EspNowInit, TroubleCause::EspNow(EspNowError::NotInitialized)),
    (WordCause::PeerNotFound, TroubleCause::EspNow(EspNowError::PeerNotFound)),
    (WordCause::Password, TroubleCause::Disconnections(ReasonGroup::Password)),
    (WordCause::Absent, TroubleCause::Disconnections(ReasonGroup::Absent)),
    (WordCause::NoAddress, TroubleCause::NoAddress),
    (WordCause::Refused, TroubleCause::BrokerRefused),
    (WordCause::Tls, TroubleCause::Tls),
    (WordCause::Names, TroubleCause::Names),
    (WordCause::WifiCall, TroubleCause::WifiCalls),
    (WordCause::Signal, TroubleCause::Disconnections(ReasonGroup::Signal)),
    (WordCause::LinkFailed, TroubleCause::Disconnections(ReasonGroup::Other)),
    (WordCause::Connections, TroubleCause::Connections),
];

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    if out.is_empty() {
        of_words(log, out);
        return;
    }
    // Where a link ends, connections end with it: their finding does not hide it.
    if out.iter().all(|it| it.cause == TroubleCause::Connections) {
        out.extend(ended(log));
    }
    // A program that does not reach its server may leave the network, to join it anew.
    if out.iter().all(|it| it.cause == TroubleCause::Disconnections(ReasonGroup::Local)) {
        let mut words = Vec::new();
        of_words(log, &mut words);
        let first =
            |it: &[CauseFinding]| it.iter().flat_map(|it| &it.evidence).map(|it| it.line).min();
        words.retain(|it| SERVERS.contains(&it.cause) || it.cause == TroubleCause::Connections);
        if !words.is_empty() && first(&words) < first(out) {
            *out = words;
        }
    }
}

/// Causes at a server, or on the way to it, that have a name.
const SERVERS: [TroubleCause; 4] =
    [TroubleCause::BrokerRefused, TroubleCause::Tls, TroubleCause::Names, TroubleCause::Update];

/// Finds what programs tell in words of their own.
fn of_words(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    for (cause, finds) in CAUSES {
        out.extend(found(log, cause, finds));
    }
    // A cause with a name hides those that only say that it does not work.
    let link = |it: &CauseFinding| {
        matches!(it.cause, TroubleCause::Disconnections(_) | TroubleCause::NoAddress)
    };
    let other = TroubleCause::Disconnections(ReasonGroup::Other);
    if out.iter().any(|it| link(it) && it.cause != other) {
        out.retain(|it| it.cause != other);
    }
    if !out.iter().any(link) {
        out.extend(ended(log));
    }
    if out.iter().any(|it| SERVERS.contains(&it.cause)) {
        out.retain(|it| it.cause != TroubleCause::Connections);
    }
}

/// Returns whether an event makes good what failed in the link.
const fn links(it: &LogEvent) -> bool {
    matches!(it, LogEvent::GotIp | LogEvent::Associated)
}

/// Returns whether a link was made between what a test picks: it failed, held, and failed again.
fn again(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> bool {
    let first = log.places(&is).first().map(|it| it.line);
    let last = log.last_line(is);
    log.places(links).iter().any(|it| Some(it.line) > first && it.line < last)
}

/// Finds links that a program says to have ended, without a reason.
fn ended(log: &LogSummary) -> Option<CauseFinding> {
    if log.count(|it| matches!(it, LogEvent::Disconnected(_))) > 0 {
        return None;
    }
    let is = |it: &LogEvent| *it == LogEvent::Words(WordCause::LinkEnded);
    let open = log.last_line(is) > log.last_line(links);
    // What was made good once is in order: it may be the first attempt of a program that joins, which may say so twice.
    if !open && !again(log, is) {
        return None;
    }
    let cause = TroubleCause::Disconnections(ReasonGroup::Other);
    let words = (
        "the link ends, and the log does not say why",
        "log the reason of the event of the disconnection (wifi_event_sta_disconnected_t), or raise the level of log of \
         wifi; see whether the program itself calls WiFi.begin() or disconnect() again",
        "with the reason the doctor names the cause",
    );
    finding(log, cause, Certainty::Low, words, is)
}

fn found(log: &LogSummary, cause: WordCause, finds: TroubleCause) -> Option<CauseFinding> {
    let of = |it: &LogEvent, which: WordCause| *it == LogEvent::Words(which);
    let is = |it: &LogEvent| match cause {
        WordCause::LinkFailed => [WordCause::LinkFailed, WordCause::LinkDown, WordCause::LinkTry]
            .iter()
            .any(|which| of(it, *which)),
        WordCause::Connections => {
            of(it, WordCause::Connections)
                || of(it, WordCause::ServerDown)
                || of(it, WordCause::ServerTry)
                || network::is_connection(it)
        }
        cause => of(it, cause),
    };
    let count = |which: WordCause| log.count(|it| of(it, which));
    let since = |made: fn(&LogEvent) -> bool| log.last_line(is) > log.last_line(made);
    let is_end = log.last_line(is) == log.last_line(|_| true);
    let tells = match cause {
        WordCause::LinkFailed => {
            let failed = count(WordCause::LinkFailed);
            let open = since(links);
            (failed > 0 && open)
                || (failed >= RECURRING && again(log, is))
                || (count(WordCause::LinkDown) >= STATES && open)
                || (count(WordCause::LinkTry) >= TRIES && open && is_end)
        }
        WordCause::Connections => {
            let failed =
                log.count(|it| of(it, WordCause::Connections) || network::is_connection(it));
            let open = since(|it| *it == LogEvent::ConnectionMade);
            // One lost connection is usual where a link works, and is the complaint where it is the log's end.
            let ends = log.last.as_ref().is_some_and(is);
            (failed > 0 && open && (failed > 1 || ends || !network::linked(log)))
                || failed >= RECURRING
                || (count(WordCause::ServerDown) >= STATES && open)
                || (count(WordCause::ServerTry) >= TRIES && open && is_end)
        }
        WordCause::Password | WordCause::Absent | WordCause::NoAddress | WordCause::Signal => {
            count(cause) > 0 && (since(links) || count(cause) >= RECURRING)
        }
        WordCause::Refused | WordCause::Tls | WordCause::Names => {
            let open = since(|it| *it == LogEvent::ConnectionMade);
            count(cause) > 0 && (open || count(cause) >= RECURRING)
        }
        // A namespace that nobody has written to cannot be opened at a program's first start.
        WordCause::Storage => count(cause) > 1 || (count(cause) > 0 && !network::linked(log)),
        cause => count(cause) > 0,
    };
    if !tells {
        return None;
    }
    let words = told(cause);
    finding(log, finds, Certainty::Low, (&*words.0, &*words.1, &*words.2), is)
}

/// Finds a device that says that it is not joined, and no more.
pub(super) fn unjoined(log: &LogSummary, is: impl Fn(&LogEvent) -> bool) -> Option<CauseFinding> {
    let words = told(WordCause::LinkFailed);
    let cause = TroubleCause::Disconnections(ReasonGroup::Other);
    finding(log, cause, Certainty::Low, (&*words.0, &*words.1, &*words.2), is)
}

fn plain(title: &str, remedy: &str, confirm: &str) -> (String, String, String) {
    (format!("{title} (by the program's own words)"), remedy.into(), confirm.into())
}

/// Returns title, remedy and confirmation.
fn told(cause: WordCause) -> (String, String, String) {
    let group = |group: ReasonGroup, code: u8| {
        let words = words_of(group, code);
        (format!("{} (by the program's own words)", group.words()), words.1, words.2)
    };
    match cause {
        WordCause::Password => group(ReasonGroup::Password, 202),
        WordCause::Absent => group(ReasonGroup::Absent, 201),
        WordCause::Signal => group(ReasonGroup::Signal, 205),
        WordCause::Power => plain(
            "the supply falls too low",
            "use a supply and a cable for 500 mA and more, and put 100 uF and more beside the module",
            "measure 3.3 V at the module with an oscilloscope while it sends",
        ),
        WordCause::Stack => plain(
            "a task's stack is too small",
            "give the task a larger stack, or keep large arrays off it",
            "uxTaskGetStackHighWaterMark() of that task",
        ),
        WordCause::Watchdog => plain(
            "a watchdog restarts the device",
            "look for loops that never wait, and let each task wait (vTaskDelay, yield)",
            "with a delay in each loop it stays up",
        ),
        WordCause::Heap => plain(
            "memory cannot be had",
            "free what is kept, use fewer or smaller buffers of Wi-Fi and TLS, or PSRAM",
            "esp_get_minimum_free_heap_size() falls with time or with load",
        ),
        WordCause::Storage => plain(
            "the storage of keys and values (NVS) refuses a call",
            "call nvs_flash_init() before it, and log what it and the call return; see that the partition table has a \
             partition nvs",
            "after erase-flash the same call succeeds",
        ),
        WordCause::EspNowInit => plain(
            "ESP-NOW cannot be started",
            "start Wi-Fi (esp_wifi_start, WiFi.mode) before esp_now_init()",
            "esp_now_init() returns ESP_OK after it",
        ),
        WordCause::Update => plain(
            "an update of the firmware fails",
            "check that the partition table has two app partitions that are large enough, and that the image is whole and of \
             this chip",
            "esp_ota_begin() and esp_ota_end() return ESP_OK",
        ),
        WordCause::PeerNotFound => plain(
            "an ESP-NOW peer is not known",
            "call esp_now_add_peer() first, with all of its structure set to zero before",
            "esp_now_is_peer_exist() tells true",
        ),
        cause => told_of_network(cause),
    }
}

/// Returns the words of causes in the network.
fn told_of_network(cause: WordCause) -> (String, String, String) {
    match cause {
        WordCause::NoAddress => plain(
            "the device gets no IP address",
            "see the router's list of leases and its range of addresses, and try a fixed address",
            "with a fixed address it reaches the router",
        ),
        WordCause::Refused => plain(
            "a broker or server does not accept who the client says that it is",
            "check user, password or token, the client's id and its rights",
            "a client on a PC with the same data is refused, too",
        ),
        WordCause::Tls => plain(
            "TLS cannot be set up",
            "check the clock, the root certificate and the host name; then the free heap",
            "openssl s_client from a PC in the same network ends its handshake",
        ),
        WordCause::Names => plain(
            "names cannot be resolved",
            "wait for the event of the IP address; then check the name and the DNS server that the router hands out",
            "with the server's IP address in place of its name it works",
        ),
        WordCause::WifiCall => plain(
            "the Wi-Fi driver cannot be started or set up",
            "start NVS (nvs_flash_init) and the network interfaces before esp_wifi_init(), and log what it returns",
            "the driver's own lines say which call it refuses",
        ),
        WordCause::Connections | WordCause::ServerDown => plain(
            "connections end or cannot be made",
            "see whether the server runs and listens, and what it answers; whether the router lets stations reach it",
            "a PC in the same network reaches the server",
        ),
        _ => plain(
            "the device does not join the network, and the log does not say why",
            "log the reason of the event of the disconnection (wifi_event_sta_disconnected_t); check name, password, 2.4 GHz \
             and signal",
            "with the reason the doctor names the cause",
        ),
    }
}
