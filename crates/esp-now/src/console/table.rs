//! The table of commands with their options, which the parser follows and `help` prints.

/// Type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// No value.
    Flag,
    /// An integer.
    Int,
    /// A text.
    Text,
}

/// An option, or an unnamed argument.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Letters of the option; several letters are spellings of one option. Empty for an unnamed
    /// argument.
    pub short: &'static str,
    /// Long name of the option; for an unnamed argument, the name of its value.
    pub long: &'static str,
    /// Type of the value.
    pub kind: OptionType,
    /// Name of the value in `help`.
    pub value: &'static str,
    /// Least number of times that it must be given.
    pub min: u8,
    /// Greatest number of times that it may be given.
    pub max: u8,
    /// Purpose of the option.
    pub help: &'static str,
}

impl Opt {
    /// Returns whether it is an unnamed argument.
    #[must_use]
    pub const fn positional(&self) -> bool {
        self.short.is_empty() && self.value.is_empty()
    }
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// Name of the command.
    pub name: &'static str,
    /// Purpose of the command.
    pub help: &'static str,
    /// Options, in the order in which `help` lists them.
    pub options: &'static [Opt],
}

/// Finds the command of that name.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    TABLE.iter().find(|spec| spec.name.as_bytes() == name)
}

const fn flag(short: &'static str, long: &'static str, help: &'static str) -> Opt {
    Opt { short, long, kind: OptionType::Flag, value: "", min: 0, max: 1, help }
}

const fn int(
    short: &'static str,
    long: &'static str,
    value: &'static str,
    help: &'static str,
) -> Opt {
    Opt { short, long, kind: OptionType::Int, value, min: 0, max: 1, help }
}

const fn text(
    short: &'static str,
    long: &'static str,
    value: &'static str,
    help: &'static str,
) -> Opt {
    Opt { short, long, kind: OptionType::Text, value, min: 0, max: 1, help }
}

/// Returns an unnamed argument.
const fn word(name: &'static str, min: u8, help: &'static str) -> Opt {
    Opt { short: "", long: name, kind: OptionType::Text, value: "", min, max: 1, help }
}

const fn cmd(name: &'static str, help: &'static str, options: &'static [Opt]) -> CommandSpec {
    CommandSpec { name, help, options }
}

/// All commands, as section 7.4 to 7.7 of the protocol reference lists them.
pub const TABLE: &[CommandSpec] = &[
    cmd("help", "Lists the commands", &[word("command", 0, "Only this one")]),
    cmd("version", "Prints version and chip", &[]),
    cmd("heap", "Prints the memory that is free", &[]),
    cmd("restart", "Restarts the device", &[flag("i", "info", "Only print why it started")]),
    cmd("reset", "Erases stored data and restarts", &[]),
    cmd("rollback", "Starts the other image after the next restart", &[]),
    cmd("time", "Reads and sets the time of day", TIME),
    cmd("coredump", "Prints the core dump", COREDUMP),
    cmd("tasks", "Lists the tasks", &[]),
    cmd("deep_sleep", "Sleeps, and starts anew", SLEEP),
    cmd("light_sleep", "Sleeps, and goes on", SLEEP),
    cmd("gpio", "Sets and reads a pin", GPIO),
    cmd("uart", "Uses a UART", UART),
    cmd("wifi_config", "Sets up and prints Wi-Fi", WIFI_CONFIG),
    cmd("wifi_scan", "Looks for access points", WIFI_SCAN),
    cmd("ping", "Sends ICMP echo requests", PING),
    cmd(
        "ap",
        "Opens an access point",
        &[word("ssid", 1, "Its name"), word("password", 0, "Its password")],
    ),
    cmd("log", "Sets which log lines go where", LOG),
    cmd("espnow_config", "Sets up and prints the radio", ESPNOW_CONFIG),
    cmd("espnow_iperf", "Measures throughput and round trips", IPERF),
    cmd("command", "Runs a command on other devices", COMMAND),
    cmd("scan", "Looks for devices that have a console", SCAN),
    cmd("beacon", "Tells who this device is", &[]),
    cmd("provisioning", "Gives and takes Wi-Fi credentials", PROVISIONING),
    cmd("control", "Binds devices and sets attributes", CONTROL),
    cmd("ota", "Upgrades other devices", OTA),
    cmd("security", "Hands the key to other devices", SECURITY),
    cmd("sec_test", "Measures encryption on this device", SEC_TEST),
];

const TIME: &[Opt] = &[
    flag("g", "get", "Print the time"),
    text("s", "set", "<s>", "Seconds since 1970"),
    text("z", "time_zone", "<zone>", "Time zone (CST-8)"),
];

const COREDUMP: &[Opt] = &[
    flag("l", "length", "Print its length"),
    flag("o", "output", "Print it in base64"),
    flag("e", "erase", "Erase it"),
];

const SLEEP: &[Opt] = &[
    int("t", "time", "<ms>", "How long"),
    int("", "io", "<pin>", "Pin that wakes the device"),
    int("", "io_level", "<0|1>", "Level that wakes the device"),
];

const GPIO: &[Opt] = &[
    int("c", "config", "<pin>", "Make it an output"),
    int("g", "get", "<pin>", "Print its level"),
    int("s", "set", "<pin>", "Set its level"),
    int("l", "level", "<0|1>", "The level"),
];

const UART: &[Opt] = &[
    flag("s", "start", "Open it"),
    int("r", "read", "<ms>", "Read for so long"),
    text("w", "write", "<text>", "Write"),
    int("b", "baud_rate", "<baud>", "Baud rate"),
    int("p", "port_num", "<port>", "Number of the UART"),
    int("", "tx_io", "<pin>", "Pin to send on"),
    int("", "rx_io", "<pin>", "Pin to receive on"),
];

const WIFI_CONFIG: &[Opt] = &[
    text("s", "ssid", "<ssid>", "Network to join"),
    text("p", "password", "<password>", "Its password"),
    text("b", "bssid", "<mac>", "Address of its access point"),
    int("c", "channel", "<1..14>", "Channel"),
    text("C", "country_code", "<CN|JP|US>", "Country"),
    int("t", "tx_power", "<8..84>", "Transmit power in 0.25 dBm"),
    flag("i", "info", "Print what is set"),
    flag("d", "disconnect", "Leave the network"),
];

const WIFI_SCAN: &[Opt] = &[
    int("r", "rssi", "<dBm>", "Leave out what is weaker"),
    text("s", "ssid", "<ssid>", "Only this network"),
    text("b", "bssid", "<mac>", "Only this access point"),
    int("p", "passive", "<ms>", "Listen so long on each channel"),
];

const PING: &[Opt] = &[
    int("W", "timeout", "<s>", "Wait so long for an answer"),
    int("i", "interval", "<s>", "Wait so long between two"),
    int("s", "size", "<bytes>", "Bytes of data"),
    int("c", "count", "<n>", "How many"),
    int("Q", "tos", "<n>", "Type of service"),
    word("host", 1, "To whom"),
];

const LOG: &[Opt] = &[
    text("t", "tag", "<tag>", "Only lines of this tag"),
    text("l", "level", "<NONE|ERR|WARN|INFO|DEBUG|VER>", "Lines down to this severity"),
    text("m", "mode", "<uart|flash|espnow|custom>", "Only lines that go there"),
    text("f", "flash", "<size|data|espnow>", "Size of the stored log, print or send it"),
    flag("i", "info", "Print what is set"),
];

const ESPNOW_CONFIG: &[Opt] = &[
    int("c", "channel", "<1..14>", "Channel"),
    text("C", "country_code", "<CN|JP|US>", "Country"),
    Opt { max: 4, ..int("r", "rate", "<n>", "Rate; from IDF 5.1 mode, rate, ersu, dcm") },
    int("p", "protocol", "<bitmap>", "Protocols"),
    int("t", "tx_power", "<8..84>", "Transmit power in 0.25 dBm"),
    flag("i", "info", "Print what is set"),
];

const IPERF: &[Opt] = &[
    text("c", "initiator", "<mac>", "Send to this responder"),
    flag("s", "responder", "Receive"),
    flag("p", "ping", "Measure round trips"),
    int("C", "count", "<n>", "Round trips (64)"),
    int("i", "interval", "<s>", "Seconds between two lines (3)"),
    int("t", "time", "<s>", "Seconds to send (60)"),
    int("l", "len", "<bytes>", "Bytes of payload (as many as fit)"),
    int("b", "broadcast", "<n>", "Broadcast in so many copies"),
    flag("g", "group", "Send to a group"),
    flag("A", "ack", "Ask for acknowledgement"),
    int("G", "gpio", "<pin>", "Pull this pin low while sending a ping"),
    flag("a", "abort", "Stop"),
];

const COMMAND: &[Opt] = &[
    word("mac[,mac...]", 1, "To whom"),
    word("line", 1, "What to run, in quotes"),
    flag("a", "channel_all", "On every channel"),
];

const SCAN: &[Opt] = &[
    word("mac", 0, "Only this device"),
    int("r", "rssi", "<dBm>", "Leave out what is weaker"),
    flag("a", "all", "On every channel"),
];

const PROVISIONING: &[Opt] = &[
    flag("e", "erase", "Forget the credentials and restart"),
    flag("r", "responder", "Ask for credentials"),
    int("i", "initiator", "<ms>", "Give credentials for so long"),
    word("ssid", 0, "Network"),
    word("password", 0, "Its password"),
];

const CONTROL: &[Opt] = &[
    flag("l", "list", "Print the bound devices"),
    int("b", "bind", "<attribute>", "Bind devices to this attribute"),
    int("u", "unbind", "<attribute>", "Unbind devices from this attribute"),
    int("c", "command", "<attribute>", "Attribute of this device"),
    int("t", "responder_attribute", "<attribute>", "Attribute of the other device"),
    int("v", "responder_value", "<value>", "Value to set"),
    text("m", "mac", "<mac>", "Has no effect"),
    flag("a", "ack", "Ask for acknowledgement"),
    int("", "broadcast", "<0|1>", "Broadcast"),
    flag("s", "filter_weak_signal", "Receivers drop what is weak"),
    flag("C", "filter_adjacent_channel", "Receivers drop what another channel carried"),
    int("", "forward_ttl", "<n>", "Hops"),
    int("r", "forward_rssi", "<dBm>", "What is weaker is not forwarded"),
];

const OTA: &[Opt] = &[
    text("d", "download", "<url>", "Fetch an image into the spare slot"),
    int("f", "find", "<ms>", "Look for devices"),
    text("s", "send", "<mac,...>", "Send the image to these devices"),
];

const SECURITY: &[Opt] = &[
    flag("e", "erase", "Forget the key and restart"),
    int("f", "find", "<ms>", "Look for devices"),
    text("s", "send", "<mac,...>", "Hand the key to these devices"),
];

const SEC_TEST: &[Opt] = &[
    // The performance report types -C, the component's help -c.
    int("cC", "count", "<n>", "How often (100)"),
    int("l", "len", "<bytes>", "Bytes to encrypt (as many as fit)"),
];
