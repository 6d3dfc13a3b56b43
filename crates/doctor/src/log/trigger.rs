//! Words without which a record tells nothing: most lines of a long log are passed over after one look at each byte.

use super::record::{LogRecord, RecordLevel};

/// Words in lower case; each line that tells something has one of them (a test holds all readers against it).
const WORDS: &[&str] = &[
    // Restarts, memory, flash.
    "brownout",
    "brown_out",
    "bod:",
    "stack",
    "heap",
    "smash",
    "esf_buf",
    "tlsf",
    "umm_",
    "alloc",
    "watchdog",
    "watch dog",
    "trap ",
    "wdt",
    "guru",
    "abort",
    "assert",
    "error_check",
    "expression",
    "nvs",
    "exception",
    "fatal error",
    "panic",
    "exccause",
    "epc1=",
    "busy ",
    "++++",
    "fragment",
    "core code",
    "hard fault",
    "reason: fault",
    "crash detected",
    "flash read",
    "invalid header",
    "bootable",
    "partition",
    "mounted",
    "formatt",
    "corrupt",
    "magic",
    "image",
    "segment",
    "ets",
    "load:0x",
    "entry 0x",
    "wait usb",
    "memory",
    "mem ",
    "rst",
    "no_mem",
    "rx buffer",
    "esp_wifi_init",
    "esp_wifi_start",
    "initializing wifi",
    "unknown error",
    "esp_bt_controller",
    "traceback",
    "keyboardinterrupt",
    // Settings and start-up.
    "buffer num",
    " win",
    "rx ba",
    "mbox",
    "mss",
    "iram op",
    "esp-rom:",
    "chip",
    "model=",
    "esp-idf",
    "cpu freq",
    // The air and ESP-NOW.
    "dtim",
    "winsize",
    "phy: ",
    "phy_rate",
    "bytes from",
    "reply from",
    "request time",
    "peer",
    "espnow",
    "esp_now",
    "esp-now",
    "deliver",
    "send",
    "0x306",
    // The link.
    "state: ",
    "connect",
    "wifi-event",
    "wifi event",
    "reason",
    "wl_",
    "station_",
    "no matching network",
    "scan number",
    "bcn_tim",
    "ip ",
    "ip:",
    "ip=",
    "got ip",
    "got_ip",
    "local ip",
    "ipv4 ",
    "network config",
    "rssi",
    "signal",
    "pm start",
    "ps type",
    "pm open",
    "power",
    "wifi internal",
    "invalid mbox",
    "esp-hosted",
    "wifi not",
    "err_wifi",
    "errwifi",
    "new:<",
    // Beyond it.
    "host",
    "dns",
    "resolv",
    "255.255.255.255",
    "0.0.0.0",
    "connack",
    "sockets",
    "accept",
    "addrinfo",
    "gaierror",
    "oserror",
    "service",
    "mqtt",
    "broker",
    "rc=",
    "refuse",
    "authori",
    "user",
    "credential",
    "identifier",
    "ssl",
    "tls",
    "x509",
    "certificate",
    "errno",
    "transport",
    "eai_fail",
    "lookup",
    "dhcp",
    "oom(",
    "m f ",
    "mem fail",
    "fail to alloc",
    "e:m ",
    "backtrace",
    "stack trace",
    "warning decoded",
    "register dump",
    "core dump",
    "terminate called",
    "cached",
    "cwjap",
    "unknown failure",
    "wrong_",
    "authentication f",
    "pre-shared",
    "psk-mismatch",
    "inactivity",
    "probe_send over",
    "sta must",
    "ap must",
    "wifi is not",
    "wifi stop",
    "0x300",
    "0x301",
    "restart reason",
    "restartreason",
    "reset",
    "http",
    "timeout",
    "timed out",
    "unresponsive",
    "not responding",
    "unreachable",
    "no route",
    "broken pipe",
    "ping_resp",
    "tcp",
    "eof",
    "auth error",
    "no_ap_found",
    "rc ",
    "br_err_",
    "wifi invalid",
    "wifi would",
    // Signs of failure, for the reading by words.
    "fail",
    "error",
    "err",
    "unable",
    "cannot",
    "can't",
    "cant ",
    "can not",
    "could",
    "couldn",
    "not",
    "abort",
    "unexpected",
    "exhaust",
    "exceeded",
    "giving up",
    "gave up",
    "no luck",
    "no response",
    "no answer",
    "no reply",
    "didn",
    "does",
    "returned -",
    "ret",
    "result: -",
    "unsuccessful",
    "no success",
    "without success",
    "never",
    "problem",
    "fehl",
    "fall",
    "no se pudo",
    "falha",
    "falhou",
    "erro",
    "échec",
    "echec",
    "impossib",
    "mislukt",
    "ошибк",
    "失败",
    "错误",
    "wrong",
    "refus",
    "expired",
    "incorrect",
    "invalid",
    "bad",
    "mismatch",
    "reject",
    "denied",
    "unauthori",
    "forbidden",
    "falsch",
    "ungültig",
    "inválid",
    "incorrét",
    "errat",
    "неверн",
    "no such",
    "unavailable",
    "out of",
    "no known",
    "no suitable",
    "nicht",
    "no encontr",
    "não",
    "introuvable",
    "non ",
    "niet",
    "не найден",
    "未",
    "no ",
    "time",
    "zeit",
    "超时",
    "is disconnected",
    "isn",
    "keine",
    "非连接",
    "disconnect",
    "lost",
    "dropped",
    "went away",
    "getrennt",
    "verloren",
    "unterbrochen",
    "desconect",
    "perdid",
    "perdu",
    "déconnect",
    "disconness",
    "verbroken",
    "断开",
    "low",
    "kein ",
    "sin ",
    "sem ",
    "内存",
    "insufficient",
    "too ",
    "under",
    "voltage",
    "weak",
    "signal",
    "retry",
    "waiting",
    "trying",
    "attempting",
    "advertising",
    "code",
    "state",
    "status",
    "critical",
];

/// Threes of letters that words begin with, one bit each.
const THREES: [u64; 512] = {
    let mut threes = [0; 512];
    let mut at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].as_bytes();
        let bit = mixed(mixed(mixed(0, word[0]), word[1]), word[2]);
        threes[bit / 64] |= 1 << (bit % 64);
        at += 1;
    }
    threes
};

/// Adds a byte to a number of the last three: what is older falls out at the top.
const fn mixed(before: usize, byte: u8) -> usize {
    (before << 5 ^ byte as usize) & 0x7fff
}

/// Returns whether a record may tell something.
pub(super) fn may_tell(record: &LogRecord<'_>) -> bool {
    let tag = record.tag.as_bytes();
    // A chip in the tag of the bootloader, the watchdog's list of tasks, and a reason that is the whole text.
    has_word(record.text.as_bytes())
        || tag.starts_with(b"boot.")
        || tag == b"task_wdt"
        || (!record.text.is_empty() && record.text.bytes().all(|it| it.is_ascii_digit()))
        || record.level == Some(RecordLevel::Error)
        // A program that waits.
        || record.text.as_bytes().ends_with(b"....................")
        || is_bare_state(record.text.as_bytes())
}

/// Returns whether a record of a line may tell something.
pub(super) fn line_may_tell(line: &str) -> bool {
    let bytes = line.trim_end().as_bytes();
    // A number that is the whole text.
    let number = bytes.iter().rev().take_while(|it| it.is_ascii_digit()).count();
    let front = &bytes[..bytes.len() - number];
    has_word(bytes)
        || line.contains("boot.")
        || bytes.ends_with(b"....................")
        || is_bare_state(&bytes[bytes.len().saturating_sub(3)..])
        || (number > 0 && (front.is_empty() || front.ends_with(b": ")))
}

fn has_word(text: &[u8]) -> bool {
    let mut last = 0;
    text.iter().enumerate().any(|(at, byte)| {
        last = mixed(last, byte.to_ascii_lowercase());
        THREES[last / 64] & 1 << (last % 64) != 0 && at > 1 && begins(&text[at - 2..])
    })
}

/// For each word, and behind them for each byte, the next word that begins with the same byte; the number of words is an end.
const NEXT: [u16; WORDS.len() + 256] = {
    let mut next = [WORDS.len() as u16; WORDS.len() + 256];
    let mut at = 0;
    while at < WORDS.len() {
        let first = WORDS.len() + WORDS[at].as_bytes()[0] as usize;
        next[at] = next[first];
        next[first] = at as u16;
        at += 1;
    }
    next
};

fn begins(text: &[u8]) -> bool {
    let first = WORDS.len() + usize::from(text[0].to_ascii_lowercase());
    let following = |at: &u16| Some(NEXT[usize::from(*at)]);
    core::iter::successors(Some(NEXT[first]), following)
        .map_while(|at| WORDS.get(usize::from(at)))
        .any(|it| text.get(..it.len()).is_some_and(|text| text.eq_ignore_ascii_case(it.as_bytes())))
}

/// Returns whether a text is ".-2": a state of PubSubClient between the dots of a loop that waits.
const fn is_bare_state(text: &[u8]) -> bool {
    matches!(text, [b'.', b'-', b'1'..=b'4'])
}

#[cfg(test)]
mod tests {
    use super::super::event::all_events;
    use super::super::record::{plain, records};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_lines_of_the_cases_that_tell_something_have_a_word() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let mut told = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for line in alloc::string::String::from_utf8_lossy(&bytes).lines() {
                let line = plain(line);
                for record in records(&line) {
                    let events = all_events(&record, None, &[]);
                    told += events.len();
                    assert!(events.is_empty() || may_tell(&record), "{record:?} tells {events:?}");
                }
            }
        }
        assert!(told > 300, "{told}");
    }

    #[test]
    fn signs_of_failure_are_words() {
        for word in super::super::signs::SIGNS.iter().flat_map(|it| it.words) {
            assert!(has_word(word.as_bytes()), "{word}");
        }
    }

    proptest! {
        #[test]
        fn what_tells_something_has_a_word(text in "([a-z]{0,3}|I \\(5\\) wifi:|rssi: -7|[Ii][Pp] address: 1.2.3.4|errno 1|Reason: 2|free heap: 9|[ -~]){0,6}") {
            let line = plain(&text);
            for record in records(&line) {
                prop_assert!(all_events(&record, None, &[]).is_empty() || may_tell(&record), "{:?}", record);
            }
        }
    }
}
