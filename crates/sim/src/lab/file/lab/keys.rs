//! Keys of labs and of their variants, groups and routers.

use super::super::block::Keys;
use super::super::constant::{ASSUMED, BY_HAND, CONFIDENCE, FITTED, LOOKED_AT, ORIGIN, SOURCE};
use super::super::environment::FALLBACK;
use super::super::key::{KeySpec, KeyType, ROOM_M, key};
use super::super::pattern::{CLUSTER_TABLE, GRID_TABLE, LINE_TABLE, RING_TABLE};
use espbench_model::messages::BluetoothState;

pub(super) const SECURITIES: [&str; 3] = ["open", "wpa2", "wpa3"];
pub(super) const ROLES: [&str; 3] = ["station", "softap", "alone"];
pub(super) const WIDTHS: [&str; 2] = ["HT20", "HT40"];
pub(super) const PROGRAMS: [&str; 8] =
    ["plain", "plain-v4", "arduino", "printing", "smooth", "smooth-example", "callback", "esp-now"];
/// The program of devices that run the esp-now component.
pub(super) const ESP_NOW: usize = 7;
pub(super) const SLEEPS: [&str; 3] = ["none", "min", "max"];
pub(super) const SCANS: [&str; 3] = ["fast", "all", "channel"];
pub(super) const MOMENTS: [&str; 2] = ["at-once", "at-interval"];
pub(super) const CASTS: [&str; 2] = ["unicast", "multicast"];
pub(super) const APPLICATIONS: [&str; 4] = ["none", "reports", "upload", "download"];
/// Kinds of antennas, with their mean effective gains in dBi: see `antenna`.
pub(in crate::lab) const ANTENNAS: [&str; 3] = ["pcb", "chip", "external"];
pub(in crate::lab) const ANTENNA_DBI: [f64; 3] = [-3.5, -6.5, -1.0];
/// States of Bluetooth.
pub(super) const BLUETOOTH: [&str; BluetoothState::NAMED.len()] = {
    let mut names = [""; BluetoothState::NAMED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = BluetoothState::NAMED[at].0;
        at += 1;
    }
    names
};
pub(super) const LINKS: [&str; 2] = ["wire", "air"];

/// The most devices that speak IP: what the addresses of a LAN and the tests were tried with.
pub(super) const MOST_DEVICES: usize = 1000;
/// The most nodes of ESP-NOW: what the room's numbers of stations were tried with.
pub(super) const MOST_NODES: usize = 20_000;

/// Microseconds of a delay.
const US: KeyType = KeyType::Number(0.0, 10_000_000.0);
const MS: KeyType = KeyType::Number(0.1, 60_000.0);
const POWER: KeyType = KeyType::Number(-20.0, 36.0);

const TITLE: KeySpec = key("title", KeyType::Text, "", "one line for people");
const ENVIRONMENT: KeySpec = key("environment", KeyType::Text, "", "name of the environment");
const SECURITY: KeySpec =
    key("security", KeyType::Word(&SECURITIES), "\"wpa2\"", "how the network is protected");
const MODE_COLUMN: KeySpec =
    key("column_mode", KeyType::Text, "the device's role", "identity column `mode` of results");
const SECURITY_COLUMN: KeySpec =
    key("column_security", KeyType::Text, "as `security`", "identity column `security` of results");
const ENVIRONMENT_COLUMN: KeySpec = key(
    "column_environment",
    KeyType::Text,
    "as `environment`",
    "identity column `environment` of results",
);
const DEVICE_TABLE: KeySpec = key("device", KeyType::Table, "none", "the device that is measured");
const OTHER_TABLE: KeySpec = key("other", KeyType::Table, "none", "a second device");
const SDKCONFIG_TABLE: KeySpec = key(
    "sdkconfig",
    KeyType::Table,
    "ESP-IDF's defaults",
    "settings of the measured device's firmware by their names in `sdkconfig`, with or without `CONFIG_`: whole numbers, or true and false",
);
const ACCESS_POINT_TABLE: KeySpec = key("access_point", KeyType::Table, "none", "the router");
const PC_TABLE: KeySpec = key("pc", KeyType::Table, "none", "the other end of the tests");
const ROUTER_BLOCKS: KeySpec = key(
    "router",
    KeyType::Blocks,
    "none",
    "with variants, routers beside that of `[access_point]`, on the same LAN: what one does not say is as there; with an `ssid`, routers that nodes join",
);
const GROUP_BLOCKS: KeySpec = key(
    "group",
    KeyType::Blocks,
    "none",
    "groups of devices; with variants, those that are not measured, each with an application of its own",
);

/// Keys of a lab.
pub(in super::super) static KEYS: [KeySpec; 25] = [
    TITLE,
    ENVIRONMENT,
    key(
        "initiator",
        KeyType::Text,
        "the first group",
        "without variants: group of the device that tests start from, and that distances are counted from; its first device is node 0",
    ),
    key(
        "varied",
        KeyType::Text,
        "the last group",
        "without variants: group whose number of devices a test changes",
    ),
    SECURITY,
    MODE_COLUMN,
    SECURITY_COLUMN,
    ENVIRONMENT_COLUMN,
    DEVICE_TABLE,
    OTHER_TABLE,
    SDKCONFIG_TABLE,
    ACCESS_POINT_TABLE,
    ROUTER_BLOCKS,
    GROUP_BLOCKS,
    PC_TABLE,
    key(
        "variant",
        KeyType::Blocks,
        "none: it has nodes of ESP-NOW alone",
        "devices over IP that are measured in it: each says what differs from the lab",
    ),
    key(
        "background",
        KeyType::Blocks,
        "none",
        "other people's stations, beside those of the environment",
    ),
    key(
        "interferer",
        KeyType::Blocks,
        "none",
        "microwave ovens, and what else emits noise, beside those of the environment",
    ),
    key(
        "wall",
        KeyType::Blocks,
        "none",
        "walls, which weaken each link whose straight line crosses them",
    ),
    key(
        "floor",
        KeyType::Blocks,
        "none",
        "floors between storeys, which weaken links from one to another",
    ),
    key(
        "link",
        KeyType::Table,
        "none",
        "measured links, which behave as in a trace and not as the environment says",
    ),
    key(
        "fitted",
        KeyType::Blocks,
        "none",
        "runs that the lab was fitted to, as `espbench fit` writes them: reports mark these figures",
    ),
    KeySpec { usual: "not said", ..SOURCE },
    KeySpec { about: "where numbers are from of which their table does not say it", ..ORIGIN },
    KeySpec { usual: "not said", ..LOOKED_AT },
];

/// Keys of a variant.
pub(in super::super) static VARIANT: [KeySpec; 14] = [
    key("name", KeyType::Text, "", "its name, which plans say: letters, digits, `-`, `_`, `.`"),
    KeySpec { usual: "that of the lab", ..TITLE },
    KeySpec { usual: "that of the lab", ..ENVIRONMENT },
    KeySpec { usual: "that of the lab", ..SECURITY },
    KeySpec { usual: "that of the lab", ..MODE_COLUMN },
    KeySpec { usual: "that of the lab", ..SECURITY_COLUMN },
    KeySpec { usual: "that of the lab", ..ENVIRONMENT_COLUMN },
    DEVICE_TABLE,
    OTHER_TABLE,
    SDKCONFIG_TABLE,
    ACCESS_POINT_TABLE,
    KeySpec {
        usual: "those of the lab",
        about: "what differs of a router of the lab, by its name, or one more",
        ..ROUTER_BLOCKS
    },
    KeySpec {
        usual: "those of the lab",
        about: "what differs of a group of the lab, by its name, or one more",
        ..GROUP_BLOCKS
    },
    PC_TABLE,
];

const NAME: KeySpec = key("name", KeyType::Text, "", "its name");
const COUNT: KeySpec = key(
    "count",
    KeyType::Whole(0, MOST_DEVICES as i64),
    "1",
    "how many devices: those of `[device]` are all measured at once, link n is device n + 1",
);

/// Keys of `[device]`, `[other]` and `[[group]]`.
pub(in super::super) static DEVICE: [KeySpec; 41] = [
    COUNT,
    LINE_TABLE,
    GRID_TABLE,
    RING_TABLE,
    CLUSTER_TABLE,
    key(
        "router",
        KeyType::Text,
        "the strongest at its place",
        "name of the router whose station it is: that of a `[[router]]`, or \"access point\"",
    ),
    key("profile", KeyType::Text, "", "name of its profile"),
    key("role", KeyType::Word(&ROLES), "\"station\"", "alone: in no network, it speaks ESP-NOW"),
    key("at", KeyType::Place, "at `distance_m`", "where it is"),
    key(
        "distance_m",
        KeyType::Number(0.0, ROOM_M),
        "2; without variants 0",
        "metres from the router, or from the PC where there is none, to the right; without variants from the initiator",
    ),
    key(CLOCK, KeyType::Whole(10, 1000), "that of the profile", "clock of its processor"),
    key(
        IDLE_CLOCK,
        KeyType::Whole(10, 1000),
        "`clock_mhz`",
        "clock of its processor while nothing runs, as `min_freq_mhz` of `esp_pm_configure`, 80 or more since Wi-Fi is on; an interrupt then takes longer, and less current is drawn",
    ),
    key("idf", KeyType::Text, "\"v5.2\"", "release of ESP-IDF, for the defaults of its settings"),
    key(
        "channel",
        KeyType::Whole(1, 165),
        "that of the network, else 1",
        "its channel, where it is the access point or alone: 1 to 14, and for ESP-NOW on an ESP32-C5 36 to 64 and 149 to 165 in steps of 4, which are in 5 GHz",
    ),
    key(
        "width",
        KeyType::Word(&WIDTHS),
        "as the router, where the chip can",
        "width of its channel",
    ),
    key(
        "rates",
        KeyType::Modes,
        "all of its width, MCS 7 with the short guard interval at the end; 11g where the chip sends no HT",
        "how it sends data frames, slow first: the best of them by what is acknowledged",
    ),
    key("power_dbm", KeyType::Number(-20.0, 30.0), "that of the profile", "transmit power"),
    key(
        "antenna_dbi",
        KeyType::Number(-30.0, 20.0),
        "that of the profile",
        "mean effective gain of its antenna, over directions and polarizations and with its losses, in place of `antenna`",
    ),
    key(
        "antenna",
        KeyType::Word(&ANTENNAS),
        "as `antenna_dbi`",
        "kind of its antenna: -3.5 dBi (a printed one: 71, 50 and 73 % efficiency, Microchip RNWF11, RNBD451, BM2x, are -2 dB), -6.5 dBi (a chip antenna over metal: 30 %, Johanson 2450AT42E0100), each with half of what two antennas lose whose polarizations stand at any angle, 3 dB in the mean; -1 dBi (an upright dipole: a lossless one has 0 dBi in the mean; its cable and plug are taken for 1 dB)",
    ),
    key(
        "program",
        KeyType::Word(&PROGRAMS),
        "\"plain\"; without variants \"esp-now\"",
        "how its programs are written: as ESP-IDF's examples; as those before v5.0; byte by byte; printing at each send; with Smooth's queue; as Smooth's MQTT example, which draws each message's QoS; from callbacks of espconn; or, of a `[[group]]`, the esp-now component, in no network",
    ),
    key(
        "sleep",
        KeyType::Word(&SLEEPS),
        "\"none\"",
        "`WIFI_PS_NONE`, `WIFI_PS_MIN_MODEM`, `WIFI_PS_MAX_MODEM`",
    ),
    key(
        "listen_interval",
        KeyType::Whole(1, 100),
        "3",
        "with `sleep = \"max\"`: it wakes for every so many beacons",
    ),
    key("light_sleep", KeyType::Switch, "false", "automatic light sleep"),
    key("window_ms", MS, "always", "how long it listens for ESP-NOW in each interval"),
    key("interval_ms", MS, "always", "from one such window to the next"),
    key(
        "bluetooth",
        KeyType::Word(&BLUETOOTH),
        "\"off\"",
        "what Bluetooth Low Energy does on the chip, which has the radio meanwhile: half of each 120 ms, as beside a connected station; scanning for 30 of 50 ms; advertising for 2.1 ms every 35 ms; a connection's 0.8 ms every 40 ms",
    ),
    key("coexist_wifi_ms", MS, "always", "how long it is Wi-Fi's turn, where Bluetooth is on"),
    key("coexist_period_ms", MS, "always", "from one such turn to the next"),
    key("esp_now_mode", KeyType::Mode, "\"1M\"", "how it sends ESP-NOW frames"),
    key(
        "esp_now",
        KeyType::Switch,
        "true where it is alone",
        "messages go to and from `[other]` over ESP-NOW, in the network or beside it",
    ),
    key(
        "esp_now_send",
        KeyType::Word(&MOMENTS),
        "\"at-once\"",
        "when it sends what it has to send over ESP-NOW: at once, or as its next interval begins (`WIFI_EVENT_CONNECTIONLESS_MODULE_WAKE_INTERVAL_START`)",
    ),
    key(
        "scan",
        KeyType::Word(&SCANS),
        "\"fast\"",
        "how it looks for its network: on one channel after the other until it is found, on all of them, or on its channel alone (`WIFI_FAST_SCAN`, `WIFI_ALL_CHANNEL_SCAN`, `channel` of `wifi_sta_config_t`)",
    ),
    key(
        "disconnected_sleep",
        KeyType::Switch,
        "that of `sdkconfig`",
        "the radio is off while it is in no network",
    ),
    key(
        "min_active_ms",
        KeyType::Whole(1, 10_000),
        "that of `sdkconfig`",
        "how long it stays awake after traffic",
    ),
    SOURCE_OF_LAB,
    CONFIDENCE,
    FITTED,
    ORIGIN,
    ASSUMED,
    BY_HAND,
    LOOKED_AT,
];

/// Keys of `[[group]]`: those of devices, and these.
pub(in super::super) static GROUP: [KeySpec; 49] = {
    let mut keys = [NAME; 49];
    let mut at = 0;
    while at < DEVICE.len() {
        keys[at] = DEVICE[at];
        at += 1;
    }
    keys[0] = KeySpec { is: KeyType::Whole(0, MOST_NODES as i64), ..COUNT };
    keys[41] = NAME;
    keys[42] = key(
        "application",
        KeyType::Word(&APPLICATIONS),
        "\"none\"",
        "what each does while others are measured: datagrams to the PC and back, or a stream of TCP to it or from it; with `program = \"esp-now\"` payloads to the first device that runs it",
    );
    keys[43] = key(
        "report_bytes",
        KeyType::Whole(16, 1472),
        "64",
        "with `application = \"reports\"`: bytes",
    );
    keys[44] =
        key("report_ms", MS, "1000", "with `application = \"reports\"`: time from one to the next");
    keys[45] = SDKCONFIG_TABLE;
    keys[46] = key(
        "mode",
        KeyType::Mode,
        "as `esp_now_mode`",
        "with `program = \"esp-now\"`: another name of `esp_now_mode`",
    );
    keys[47] = KeySpec {
        about: "with `program = \"esp-now\"`: how the second and later attempts of a unicast frame are sent; the last one is kept",
        ..FALLBACK
    };
    keys[48] = key(
        "firmware",
        KeyType::Table,
        "none",
        "with `program = \"esp-now\"`: settings of the component",
    );
    keys
};

/// Key of the clock of a processor.
pub(super) const CLOCK: &str = "clock_mhz";

/// Key of the clock of a processor while nothing runs.
pub(super) const IDLE_CLOCK: &str = "idle_clock_mhz";

/// Keys of a group that say something of devices with `program = "esp-now"`.
pub(super) const OF_NODES: [&str; 23] = [
    "name",
    "program",
    "profile",
    "count",
    "at",
    "distance_m",
    "channel",
    "power_dbm",
    "antenna_dbi",
    "antenna",
    CLOCK,
    IDLE_CLOCK,
    "bluetooth",
    "coexist_wifi_ms",
    "coexist_period_ms",
    "esp_now_mode",
    "mode",
    FALLBACK.name,
    "application",
    "report_bytes",
    "report_ms",
    super::layer::FIRMWARE,
    super::layer::PATTERN,
];

/// Key of the source of a lab's numbers, where that matters.
const SOURCE_OF_LAB: KeySpec = KeySpec { usual: "not said", ..SOURCE };
/// Key of the source of a table with delays.
const SOURCE_OF_DELAYS: KeySpec = KeySpec { usual: "must be given with a delay", ..SOURCE };

/// Keys of `[access_point]`.
pub(in super::super) static ACCESS_POINT: [KeySpec; 23] = [
    key("at", KeyType::Place, "[0, 0, 1.5]", "where it is"),
    key("channel", KeyType::Whole(1, 14), "6", "its channel"),
    key("width", KeyType::Word(&WIDTHS), "\"HT20\"", "width of its channel"),
    key("power_dbm", POWER, "20", "transmit power"),
    key(
        "rates",
        KeyType::Modes,
        "all of its width, MCS 7 with the short guard interval at the end",
        "how it sends data frames, slow first",
    ),
    key("ampdu", KeyType::Whole(0, 64), "32", "frames of an A-MPDU at most; 0: it sends none"),
    key("rts", KeyType::Switch, "false", "whether aggregates are preceded by RTS"),
    key(
        "burst_us",
        KeyType::Number(0.0, 10_000.0),
        "0",
        "how long it keeps the medium once it has it (a TXOP), microseconds: its next frames follow after a SIFS; 0: one frame or aggregate",
    ),
    key("beacon_ms", KeyType::Number(1.0, 70_000.0), "102.4", "time between beacons"),
    key("dtim", KeyType::Whole(1, 255), "1", "every so many beacons is a DTIM"),
    key("queue", KeyType::Whole(1, 10_000), "256", "frames that wait for the air"),
    key(
        "multicast_buffer",
        KeyType::Whole(0, 10_000),
        "128",
        "multicast frames that it keeps for the DTIM while a station sleeps; 0: it sends them at once, as an ESP's access point does",
    ),
    key("forward_us", US, "50", "from a packet's coming in to its being queued"),
    key("forward_random_us", US, "0", "the mean of what comes on top of that, by chance"),
    key(
        "gather_us",
        US,
        "0",
        "packets from the air go to the wire together, when no further one has come for this time; 0: each by itself",
    ),
    key(
        "gather_frames",
        KeyType::Whole(1, 1000),
        "1000",
        "with `gather_us`: with this number of packets they go to the wire at once",
    ),
    SOURCE_OF_DELAYS,
    CONFIDENCE,
    FITTED,
    ORIGIN,
    ASSUMED,
    BY_HAND,
    LOOKED_AT,
];

/// Keys of `[[router]]`: those of `[access_point]`, a name, and these.
pub(in super::super) static ROUTER: [KeySpec; 24] = {
    let mut keys = [NAME; 24];
    let mut at = 0;
    while at < ACCESS_POINT.len() {
        keys[at + 1] = ACCESS_POINT[at];
        at += 1;
    }
    keys[21] = key(
        "ssid",
        KeyType::Text,
        "it is on the LAN; must be given without variants",
        "1 to 32 bytes: nodes of ESP-NOW that have them join it; it only sends beacons",
    );
    keys[22] = key("password", KeyType::Text, "must be given with an `ssid`", "8 to 63 bytes");
    keys[23] = key(
        "beacon_octets",
        KeyType::Whole(60, 2000),
        "250",
        "with an `ssid`: length of a beacon with its FCS",
    );
    keys
};

/// Keys of a router that say something of one with an `ssid`.
pub(super) const OF_BEACONS: [&str; 8] =
    ["name", "ssid", "password", "at", "channel", "power_dbm", "beacon_ms", "beacon_octets"];

/// Keys of `[pc]`.
pub(in super::super) static PC: [KeySpec; 19] = [
    key("link", KeyType::Word(&LINKS), "\"wire\"", "a wire to the router, or Wi-Fi of its own"),
    key("cast", KeyType::Word(&CASTS), "\"unicast\"", "how it sends the requests of an echo"),
    key("wire_mbit", KeyType::Number(0.1, 100_000.0), "1000", "speed of the wire"),
    key("delay_us", US, "0", "one way over the wire, beside the time of the bits"),
    key("delay_random_us", US, "0", "the mean of what comes on top of that, by chance"),
    key("turn_us", US, "20", "from a packet's arrival to the program, and from it to the wire"),
    key("turn_random_us", US, "0", "the mean of what comes on top of that, by chance"),
    key("at", KeyType::Place, "[0, 0, 1]", "where it is, with Wi-Fi"),
    key("power_dbm", POWER, "17", "transmit power, with Wi-Fi"),
    key("rates", KeyType::Modes, "as the router", "how it sends data frames, with Wi-Fi"),
    key("ampdu", KeyType::Whole(0, 64), "32", "frames of an A-MPDU at most, with Wi-Fi"),
    key(
        "distance_m",
        KeyType::Number(0.0, ROOM_M),
        "at `at`",
        "metres from the router, to the left, with Wi-Fi",
    ),
    SOURCE_OF_DELAYS,
    CONFIDENCE,
    FITTED,
    ORIGIN,
    ASSUMED,
    BY_HAND,
    LOOKED_AT,
];

/// Keys of a lab that only a lab with variants has.
pub(super) const OF_VARIANTS: [&str; 9] = [
    SECURITY.name,
    MODE_COLUMN.name,
    SECURITY_COLUMN.name,
    ENVIRONMENT_COLUMN.name,
    DEVICE_TABLE.name,
    OTHER_TABLE.name,
    SDKCONFIG_TABLE.name,
    ACCESS_POINT_TABLE.name,
    PC_TABLE.name,
];
/// Keys of a lab that only a lab without variants has.
pub(super) const OF_TESTS: [&str; 2] = ["initiator", "varied"];

/// The tables of a lab and of a variant.
pub(super) const TABLES: [(&str, Keys); 4] =
    [("device", &DEVICE), ("other", &DEVICE), ("access_point", &ACCESS_POINT), ("pc", &PC)];
