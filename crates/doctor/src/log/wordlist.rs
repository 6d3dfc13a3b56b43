//! Words of the second reading, in lower case, and how they are found: each at the begin of a word.
//!
//! People write their programs in their own languages; what German, French, Spanish, Portuguese, Italian, Dutch, Russian and Chinese
//! ones print for "failed", "lost", "password" and the like is here, too.

/// A sign of failure and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Hit {
    pub(super) const fn plain(start: usize) -> Self {
        Self { start, end: start }
    }
}

/// Something failed.
pub(super) const FAILS: &[&str] = &[
    "fail",
    "faild",
    "error",
    "err",
    "unable",
    "cannot",
    "can't",
    "cant ",
    "can not",
    "could not",
    "couldn't",
    "couldnt",
    "couldn´t",
    "couldn’t",
    "not able",
    "refus",
    "abort",
    "unexpected",
    "exhaust",
    "exceeded",
    "giving up",
    "gave up",
    "no luck",
    "not respond",
    "no response",
    "no answer",
    "no reply",
    "unreachable",
    "not reachable",
    "did not",
    "didn't",
    "does not",
    "doesn't",
    "returned -",
    "ret=-",
    "ret: -",
    "ret -",
    "rc=-",
    "code: -",
    "code -",
    "code=-",
    "result: -",
    "unsuccessful",
    "no success",
    "not success",
    "without success",
    "never",
    "problem",
    "no ack",
    "fehl",
    "nicht möglich",
    "nicht erreich",
    "konnte nicht",
    "fallo",
    "falló",
    "fallid",
    "no se pudo",
    "falha",
    "falhou",
    "não foi",
    "erro ",
    "erro:",
    "échec",
    "echec",
    "erreur",
    "impossible",
    "impossibile",
    "fallit",
    "errore",
    "mislukt",
    "ошибк",
    "失败",
    "错误",
];

/// Something is not right.
pub(super) const WRONG: &[&str] = &[
    "wrong",
    "incorrect",
    "invalid",
    "bad",
    "mismatch",
    "not correct",
    "not valid",
    "not match",
    "doesn't match",
    "reject",
    "expired",
    "denied",
    "not accepted",
    "not authori",
    "unauthori",
    "forbidden",
    "falsch",
    "ungültig",
    "incorrect",
    "inválid",
    "incorrét",
    "errat",
    "неверн",
];

/// Something is not there.
pub(super) const ABSENT: &[&str] = &[
    "not found",
    "not_found",
    "notfound",
    "no such",
    "not available",
    "unavailable",
    "not avail",
    "can't find",
    "cannot find",
    "could not find",
    "couldn't find",
    "unable to find",
    "failed to find",
    "did not find",
    "didn't find",
    "not in range",
    "out of range",
    "out of reach",
    "not visible",
    "not detected",
    "not reachable",
    "no known",
    "no suitable",
    "no ip received",
    "no ip address",
    "unknown host",
    "no ssid",
    "error finding",
    "failed finding",
    "nicht gefunden",
    "nicht verfügbar",
    "no encontr",
    "não encontr",
    "introuvable",
    "non trovat",
    "niet gevonden",
    "не найден",
    "未找到",
];

/// Something took too long.
pub(super) const TIMEOUT: &[&str] = &[
    "timeout",
    "time out",
    "time-out",
    "timed out",
    "timed-out",
    "timedout",
    "zeitüberschreitung",
    "超时",
];

/// There is none.
pub(super) const DOWN: &[&str] = &[
    "not connected",
    "not_connected",
    "notconnected",
    "is disconnected",
    "isn't connected",
    "no connection",
    "no wifi",
    "no wi-fi",
    "no network",
    "no internet",
    "not connect ",
    "connection down",
    "nicht verbunden",
    "keine verbindung",
    "no conectado",
    "não conectado",
    "non connecté",
    "非连接",
    "未连接",
];

/// Something ended.
pub(super) const ENDED: &[&str] = &[
    "disconnected",
    "sta_disconnected",
    "disconnection",
    "disconnect event",
    "lost",
    "dropped",
    "connection closed",
    "closed connection",
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
];

/// What happens later, or under a condition.
pub(super) const EXPECTED: &[&str] = &[
    "if ",
    "when ",
    "whenever",
    "in case",
    "should ",
    "unless",
    "until ",
    "before ",
    "wenn ",
    "falls ",
    "on error",
    "on fail",
    "handle",
    "ignor",
    "no error",
    "without error",
    "clear",
    "avoid",
    "prevent",
    "recover",
];

/// Memory is missing.
pub(super) const NO_MEMORY: &[&str] = &[
    "low memory",
    "memory low",
    "memory is low",
    "memory too low",
    "low on memory",
    "out of memory",
    "out of ram",
    "no memory",
    "no free memory",
    "no more memory",
    "not enough ram",
    "not enough heap",
    "not enough memory",
    "not enough free",
    "insufficient memory",
    "insufficient ram",
    "insufficient heap",
    "memory full",
    "heap exhausted",
    "memory exhausted",
    "low heap",
    "heap low",
    "heap is low",
    "heap too low",
    "heap critical",
    "too less ram",
    "too little memory",
    "memory fragment",
    "heap fragment",
    "memory critical",
    "kein speicher",
    "sin memoria",
    "sem memória",
    "内存不足",
];

/// The supply is too low.
pub(super) const LOW_VOLTAGE: &[&str] = &[
    "undervoltage",
    "under-voltage",
    "under voltage",
    "voltage too low",
    "low voltage",
    "voltage drop",
];

/// A watchdog does what it is for.
pub(super) const FIRES: &[&str] =
    &["reset", "restart", "reboot", "trigger", "fired", "bite", "expired", "timeout", "timed out"];

/// A watchdog is set up or fed.
pub(super) const SETS_UP: &[&str] = &[
    "timeout:",
    "timeout =",
    "timeout=",
    "set",
    "start",
    "init",
    "enable",
    "config",
    "disable",
    "feed",
    "fed",
];

/// A stack is too small.
pub(super) const STACK: &[&str] =
    &["stack overflow", "stack corrupt", "stack exhausted", "overflowed its stack", "stack smash"];

/// The signal is weak.
pub(super) const WEAK: &[&str] = &[
    "weak signal",
    "signal weak",
    "signal too weak",
    "signal is weak",
    "signal too low",
    "rssi too low",
    "poor signal",
    "signal is too",
    "low signal",
    "bad signal",
];

/// Signs that need no other.
pub(super) const PHRASES: &[&str] = &[
    "undervoltage",
    "under-voltage",
    "under voltage",
    "voltage",
    "low voltage",
    "watchdog",
    "wdt",
    "stack",
    "weak",
    "signal",
    "rssi too",
    "poor signal",
    "low signal",
    "bad signal",
    "overflowed",
];

/// Words for taking memory.
pub(super) const ALLOCATES: &[&str] = &[
    "alloc",
    "malloc",
    "calloc",
    "realloc",
    "ps_malloc",
    "heap_caps_malloc",
    "memory",
    "heap",
    "xtaskcreate",
];

/// What is allocated and is no memory, or memory that is none of the heap.
pub(super) const OTHER_ALLOCATIONS: &[&str] = &[
    "intr",
    "interrupt",
    "gpio",
    "timer",
    "rmt",
    "memory card",
    "memory usage",
    "memory access",
    "flash memory",
    "memory stick",
    "free heap",
    "free memory",
    "heap size",
    "memory-mapped",
    "channel",
];

/// Tries.
pub(super) const TRIES: &[&str] =
    &["connecting", "reconnecting", "retry", "waiting for", "trying to"];

/// Wi-Fi.
pub(super) const WIFI: &[&str] = &[
    "wifi",
    "wi-fi",
    "wlan",
    "ssid",
    "access point",
    "accesspoint",
    "station",
    "sta_",
    "router",
    "hotspot",
    "wm:",
    "wif",
    "home network",
    "connecting_failed",
    "sta connect",
    "sta disconnect",
    "to ap",
    "to the ap",
    "to network",
    "network lost",
    "network conn",
    "from network",
    "the network",
    "netzwerk",
    "rede ",
    "réseau",
];

/// A broker of MQTT.
pub(super) const BROKER: &[&str] = &[
    "mqtt",
    "mqt",
    "broker",
    "mosquitto",
    "publish",
    "subscri",
    "pubsub",
    "hivemq",
    "adafruit io",
    "adafruit.io",
];

/// A server, and what speaks to it.
pub(super) const SERVER: &[&str] = &[
    "server",
    "http",
    "socket",
    "websocket",
    "wsc",
    "ws-client",
    "wsclient",
    "tcp",
    "udp",
    "request",
    "response",
    "url",
    "cloud",
    "upload",
    "download",
    "ota",
    "httpupdate",
    "update fail",
    "ftp",
    "smtp",
    "imap",
    "telnet",
    "ping ",
    "internet",
    "influx",
    "telegram",
    "firebase",
    "blynk",
    "thingspeak",
    "ubidots",
    "iot hub",
    "iothub",
    "aws",
    "azure",
    "remote",
    "host",
    "endpoint",
    "peer closed",
    "client",
    "stream connect",
    "api ",
    "esp-tls",
    "transport",
    "token",
    "servidor",
    "serveur",
    "coap",
    "modem",
    "home assistant",
    "webhook",
    "port ",
    "io_open",
    "address ",
];

/// ESP-NOW.
pub(super) const ESP_NOW: &[&str] = &["espnow", "esp-now", "esp_now", "esp now"];

/// Words for the way of a frame.
pub(super) const DELIVERS: &[&str] = &[
    "send",
    "sent",
    "deliver",
    "data",
    "packet",
    "message",
    "frame",
    "ack",
    "received by",
    "transmi",
    "broadcast",
];

/// TLS.
pub(super) const TLS: &[&str] = &[
    "tls",
    "ssl",
    "mbedtls",
    "x509",
    "certificate",
    "cert ",
    "certs",
    "secure connection",
    "bearssl",
    "wificlientsecure",
    "sslclient",
    "root ca",
    "ca cert",
    "zertifikat",
    "certificado",
    "certificat",
];

/// Names of hosts.
pub(super) const NAMES: &[&str] = &[
    "dns",
    "hostname",
    "host name",
    "resolve",
    "resolving",
    "lookup",
    "look up",
    "hostbyname",
    "getaddrinfo",
    "gethostbyname",
    "unknown host",
    "host not found",
    "domain name",
];

/// An IP address of one's own.
pub(super) const ADDRESSES: &[&str] = &[
    "dhcp",
    "ip lease",
    "lease",
    "ipv4addr",
    "get ip",
    "get an ip",
    "obtain ip",
    "obtain an ip",
    "obtaining ip",
    "getting ip",
    "acquire ip",
    "no ip",
    "ip address assign",
    "receive ip",
    "received ip",
    "for ip",
];

/// What Wi-Fi and servers ask for.
pub(super) const CREDENTIALS: &[&str] = &[
    "password",
    "passphrase",
    "passwd",
    "psk",
    "credential",
    "pass phrase",
    "wpa key",
    "wifi key",
    "passwort",
    "kennwort",
    "contraseña",
    "senha",
    "mot de passe",
    "wachtwoord",
    "пароль",
    "密码",
];

/// Words for the check of who one is.
pub(super) const AUTHENTICATES: &[&str] = &[
    "auth",
    "login",
    "log in",
    "access denied",
    "permission",
    "unauthori",
    "not authori",
    "forbidden",
    "401",
    "403",
    "sign in",
    "anmeldung",
];

/// Who checks that is not an access point.
pub(super) const CLIENTS: &[&str] = &[
    "user",
    "token",
    "api key",
    "apikey",
    "access key",
    "account",
    "device id",
    "client id",
    "401",
    "403",
    "permission",
    "login",
    "subscri",
    "publish",
];

/// Networks.
pub(super) const NETWORKS: &[&str] = &[
    "ssid",
    "access point",
    "accesspoint",
    "wifi",
    "wi-fi",
    "wlan",
    "network",
    "router",
    "hotspot",
    "suitable ap",
    "netzwerk",
    "red ",
    "réseau",
    "rete ",
    "rede ",
];

/// What is not a network although it has the word.
pub(super) const NO_NETWORKS: &[&str] = &[
    "credential",
    "saved",
    "stored",
    "config",
    "interface",
    "server",
    "file",
    "setting",
    "wifi module",
    "wifi shield",
    "wifi hardware",
    "shield",
    "library",
    "driver",
    "no ssid set",
    "no ssid conf",
    "not set",
    "suitable ap now",
    "handler",
];

/// Words for making a connection.
pub(super) const CONNECTS: &[&str] = &[
    "connect",
    "reconnect",
    "connection",
    "join",
    "verbind",
    "verbund",
    "conect",
    "conex",
    "connex",
    "conness",
    "подключ",
    "соединен",
    "连接",
    "联网",
];

/// Subjects that are neither a link nor a server: what fails there is not read.
pub(super) const OTHERS: &[&str] = &[
    "ble",
    "bluetooth",
    "gatt",
    "nimble",
    "lora",
    "modbus",
    "i2c",
    "i2s",
    "spi ",
    "uart",
    "can bus",
    "sd card",
    "sdcard",
    "sd_",
    "spiffs",
    "littlefs",
    "file",
    "camera",
    "display",
    "gps",
    "rfid",
    "nfc",
    "zigbee",
    "usb",
    "printer",
    "inverter",
    "dht",
    "bme",
    "bmp",
    "mount",
    "mdns",
    "handler",
    "favicon",
    "webserver",
    "web server",
    "softap",
    "soft ap",
    "captive",
    "portal",
    "gpio",
    "isr",
    "eeprom",
    "rtc",
    "battery",
    "oled",
    "lcd",
    "touch",
    "core dump",
    "coredump",
    "nvs",
    "library",
    "web interface",
    "client disconnected",
    "ap_sta",
    "stadisconnected",
    "station disconnected from ap",
    "compil",
    "scan fail",
    "json",
    "parse",
];

/// Parts of programs that serve others, or have nothing to do with a link.
pub(super) const OTHER_TAGS: &[&str] = &[
    "httpd",
    "webserver",
    "ble",
    "bt_",
    "bluetooth",
    "nimble",
    "gatt",
    "i2c",
    "i2s",
    "spi",
    "uart",
    "gpio",
    "camera",
    "sensor",
    "lora",
    "modbus",
    "sdmmc",
    "vfs",
    "spiffs",
    "littlefs",
    "display",
    "nvs",
    "preferences",
    "esp_core_dump",
    "chip[zcl",
];

/// All signs of failure.
pub(super) const SIGNS: [&[&str]; 8] =
    [FAILS, WRONG, ABSENT, TIMEOUT, DOWN, ENDED, NO_MEMORY, TRIES];

/// Returns whether a text has one of the words, each at the begin of a word.
pub(super) fn has(text: &str, words: &[&str]) -> bool {
    find(text, words).is_some()
}

/// Returns whether a text has one of the words, each by itself.
pub(super) fn has_whole(text: &str, words: &[&str]) -> bool {
    begins(text).any(|at| {
        words.iter().any(|word| {
            text[at..]
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|it: char| it.is_ascii_alphanumeric()))
        })
    })
}

/// Returns the place of the first of the words that a text has, each at the begin of a word.
pub(super) fn find(text: &str, words: &[&str]) -> Option<usize> {
    begins(text).find(|at| words.iter().any(|word| text[*at..].starts_with(word)))
}

/// Returns the first sign of failure that is not denied: "error: 0", "0 errors", "no errors" are none.
pub(super) fn hit(text: &str, words: &[&str]) -> Option<Hit> {
    begins(text).find_map(|start| {
        words
            .iter()
            .filter(|word| text[start..].starts_with(**word))
            .map(|word| Hit { start, end: start + word.len() })
            .find(|it| !is_short(text, *it) && !is_denied(text, *it))
    })
}

/// Returns the places where words begin. Signs beyond ASCII stand without spaces between words, and "wifi" ends names of functions.
fn begins(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(move |at| {
        let byte = bytes[*at];
        let first = *at == 0 || !bytes[*at - 1].is_ascii_alphanumeric();
        (byte.is_ascii_alphanumeric() && first)
            || (byte >= 0xc0)
            || (byte == b'w' && bytes[*at..].starts_with(b"wifi"))
    })
}

/// Returns whether "err" is a part of another word.
fn is_short(text: &str, hit: Hit) -> bool {
    &text[hit.start..hit.end] == "err"
        && text[hit.end..].starts_with(|it: char| it.is_ascii_alphabetic())
}

/// Returns whether a sign of failure is denied by what stands around it.
fn is_denied(text: &str, hit: Hit) -> bool {
    let before = text[..hit.start].trim_end_matches([' ', '_', '-', '=', ':']);
    let word = before.rsplit(|it: char| !it.is_alphanumeric() && it != '\'').next().unwrap_or("");
    if matches!(word, "no" | "not" | "0" | "without" | "zero" | "never" | "any" | "kein" | "keine")
    {
        return true;
    }
    // Behind the rest of the word and of "error code", a zero.
    let rest = text[hit.end..].trim_start_matches(|it: char| it.is_ascii_alphabetic() || it == '_');
    let rest = rest.trim_start_matches([' ', ':', '=', '(', '[', '#']);
    let rest = [
        "code",
        "count",
        "number",
        "status",
        "s",
        "reported from esp-tls",
        "captured from",
        "codes",
    ]
    .iter()
    .find_map(|it| rest.strip_prefix(it))
    .unwrap_or(rest)
    .trim_start_matches([' ', ':', '=', '(', '[']);
    let zero = rest.strip_prefix("0x0").or_else(|| rest.strip_prefix('0'));
    zero.is_some_and(|it| {
        let it = it.trim_start_matches('0');
        !it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '.')
    })
}
