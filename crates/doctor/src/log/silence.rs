//! Silence that tells: no address behind DHCP's start, and nothing behind the start of the radio; and an address that stands in
//! the line behind its label; answers that are all of a line.

use super::address;
use super::event::{LogEvent, ResetReason};
use super::record::{LogRecord, is_rom_banner};

/// First words of the driver of the ESP8266 when DHCP starts.
const ASKS: &str = "dhcp client start";

/// First words of the same driver when it begins to sleep, 10 s behind the association.
const SLEEPS: &str = "pm open,";

/// Tag of Tasmota's lines of Wi-Fi.
const TASMOTA: &str = "WIF";

/// First words of ESPHome's component when it starts the radio; the last breaks off where the supply falls.
const ESPHOME: [&str; 3] = ["Setting up WiFi", "Starting WiFi", "Loca"];

/// First words of ESPHome when its attempt took longer than the driver takes to associate or to fail.
const GIVES_UP: &str = "Connection timeout, aborting";

/// First words of the driver when it has started.
const STARTED: [&str; 2] = ["mode :", "state: "];

/// Lines behind which others have to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Silence {
    /// Whether the driver of Wi-Fi has begun to start.
    driver: bool,
    /// Whether the radio's start is the last that a record told. Its calibration takes the most current, and the next line
    /// comes within some 100 ms.
    radio: bool,
    /// Whether the driver has begun to start, and no line of its modes or states has come.
    starting: bool,
    /// Whether Tasmota has said something of Wi-Fi.
    tasmota: bool,
    /// Whether DHCP has started.
    asks: bool,
    /// Whether ESPHome gave its attempt up for its own time, and no end of a link has come since.
    gave_up: bool,
    /// Whether the last record is the label of an address, and no more.
    label: bool,
    /// Whether the last record is the address of a page, and no more.
    page: bool,
}

impl Silence {
    /// Takes the next record in.
    pub(super) fn see(&mut self, record: &LogRecord<'_>) {
        self.asks |= record.text.starts_with(ASKS);
        self.label = address::asks_address(record.text);
        self.page = is_page(record.text.trim());
        if record.level.is_some() {
            // Tasmota starts the radio with its first word of Wi-Fi.
            let first = record.tag == TASMOTA && !self.tasmota;
            self.tasmota |= first;
            let text = record.text.trim_start();
            let esphome = record.tag == "wifi" && ESPHOME.iter().any(|it| text.starts_with(it));
            self.gave_up |= record.tag == "wifi" && text.starts_with(GIVES_UP);
            self.radio = self.driver && text.starts_with("phy_v") || first || esphome;
            if record.tag == "wifi" {
                self.starting |= !self.driver;
                self.driver = true;
                self.starting &= !STARTED.iter().any(|it| record.text.starts_with(it));
            }
        }
    }

    /// Takes a record in that nobody awaits.
    pub(super) const fn pass(&mut self, has_level: bool) {
        (self.label, self.page) = (false, false);
        self.radio &= !has_level;
    }

    /// Reads what a terminal says of its port of USB that is gone while the driver starts.
    pub(super) fn unplugged(&self, record: &LogRecord<'_>) -> Option<LogEvent> {
        (self.starting && is_unplugged(record.text)).then_some(LogEvent::Reset(ResetReason::Silent))
    }

    /// Reads the ROM's first words in a line that the radio's start began: the device was reset while it printed it.
    pub(super) fn cut_off(&self, record: &LogRecord<'_>) -> Option<LogEvent> {
        (self.radio && is_rom_banner(record)).then_some(LogEvent::Reset(ResetReason::Silent))
    }

    /// Reads the address behind its label.
    pub(super) fn address(&self, record: &LogRecord<'_>) -> Option<LogEvent> {
        if self.label { address::bare_address(record.text) } else { None }
    }

    /// Reads a line that is an answer and no more: 0.0.0.0 where a joined device asks for a name, and behind the address of a page
    /// the number of an error of Arduino's `HTTPClient` (-1 to -11).
    pub(super) fn answer(&self, record: &LogRecord<'_>, linked: bool) -> Option<LogEvent> {
        let text = record.text.trim();
        if linked && !self.label && text == "0.0.0.0" {
            return Some(LogEvent::NameFailed);
        }
        let code = text.strip_prefix('-').and_then(|it| it.parse::<u8>().ok())?;
        (self.page && matches!(code, 1..=11)).then_some(LogEvent::ConnectionFailed)
    }

    /// Takes the end of a link in, and returns whether a program ended it for want of an address: the driver tells of an attempt that
    /// fails at once, so that one without a word, which the program leaves after its own time, was associated.
    pub(super) const fn ends(&mut self, left: bool) -> bool {
        core::mem::replace(&mut self.gave_up, false) && left
    }

    /// Returns whether DHCP has asked for an address.
    pub(super) const fn asks(&self) -> bool {
        self.asks
    }

    /// Begins anew with an association.
    pub(super) const fn joined(&mut self) {
        self.asks = false;
    }

    /// Returns whether a record comes when an address must have come, where DHCP was started.
    pub(super) fn asks_in_vain(&self, record: &LogRecord<'_>) -> bool {
        self.asks && record.text.starts_with(SLEEPS)
    }

    /// Begins anew with a start of the device, and returns whether the log broke off while the radio started.
    pub(super) fn restart(&mut self) -> bool {
        core::mem::take(self).radio
    }
}

/// Returns whether a record may matter to what is awaited, or be awaited: by its tag, or by its text whatever its digits.
pub(super) fn concerns(record: &LogRecord<'_>) -> bool {
    let text = record.text.trim_start();
    ["wifi", TASMOTA].contains(&record.tag)
        || text.starts_with("phy_v")
        || text.contains("ESP-ROM:")
        || text.starts_with(ASKS)
        || is_unplugged(text)
        || address::asks_address(text)
        || address::bare_address(text).is_some()
        || is_page(text.trim())
        // An address or a number.
        || !text.bytes().any(|it| it.is_ascii_alphabetic() || it >= 0x80)
}

/// Returns whether a terminal says that its port of USB is gone.
fn is_unplugged(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("usb serial device") && lower.ends_with("disconnected")
}

/// Returns whether a text is the address of a page.
fn is_page(text: &str) -> bool {
    ["http://", "https://"].iter().any(|it| text.starts_with(it)) && !text.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader, LogSummary, ResetReason};

    fn read(log: &str) -> LogSummary {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        reader.finish()
    }

    #[test]
    fn a_start_of_the_radio_that_breaks_off_is_no_press_of_a_button() {
        let silent = |log: &str| read(log).count(|it| *it == LogEvent::Reset(ResetReason::Silent));
        let driver = "I (610) wifi:wifi driver task: 3ffc0000\n";
        let radio = "I (640) phy_init: phy_version 4830,54550f7\n";
        let reset = "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\n";
        assert_eq!(silent(&[driver, radio, reset].concat()), 1);
        let mode = "I (740) wifi:mode : sta (00:00:5e:00:53:07)\n";
        assert_eq!(silent(&[driver, radio, mode, reset].concat()), 0);
        // Bluetooth starts the same radio, and may be quiet behind it.
        assert_eq!(silent(&[radio, reset].concat()), 0);
        let pin = "rst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\n";
        assert_eq!(silent(&[driver, radio, pin].concat()), 0);
        // Tasmota's tag for the same; a later line of it is of a network.
        let tasmota = "00:00:00.232 WIF: WifiManager active for 3 minutes\n";
        assert_eq!(silent(&[tasmota, reset].concat()), 1);
        assert_eq!(silent(&[tasmota, tasmota, reset].concat()), 0);
        let esphome = "[C][wifi:062]:   Local MAC: 00:00:5E:00:53:07\n";
        assert_eq!(silent(&[esphome, reset].concat()), 1);
        assert_eq!(
            silent(&[esphome, "[I][wifi:313]: WiFi Connecting to 'mill'...\n", reset].concat()),
            0
        );
    }

    #[test]
    fn a_line_of_the_radio_that_the_rom_ends_is_a_reset() {
        let silent = |log: &str| read(log).count(|it| *it == LogEvent::Reset(ResetReason::Silent));
        let driver = "I (610) wifi: wifi driver task: 3ffc0000\n";
        let cut = "I (640) phy: phy_vets Jun  8 2016 00:22:57\n";
        assert_eq!(silent(&[driver, cut].concat()), 1);
        let reset = "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\n";
        assert_eq!(silent(&[driver, cut, reset].concat()), 1);
        // Where the ROM begins a line, the reason behind it tells whether it was a button.
        let whole = "I (640) phy: phy_version 4830\nets Jun  8 2016 00:22:57\n";
        assert_eq!(silent(&[driver, whole].concat()), 0);
        assert_eq!(silent(cut), 0);
    }

    #[test]
    fn a_port_that_goes_away_while_the_radio_starts_is_a_reset() {
        let silent = |log: &str| read(log).count(|it| *it == LogEvent::Reset(ResetReason::Silent));
        let driver = "I (610) wifi: wifi driver task: 3ffc0000\n";
        let gone = "USB Serial device '/dev/ttyUSB0' disconnected\n";
        assert_eq!(silent(&[driver, gone].concat()), 1);
        assert_eq!(
            silent(&[driver, "I (740) wifi:mode : sta (00:00:5e:00:53:07)\n", gone].concat()),
            0
        );
        assert_eq!(silent(gone), 0);
    }

    #[test]
    fn an_attempt_that_esphome_leaves_after_its_own_time_had_no_address() {
        let none = |log: &str| read(log).count(|it| *it == LogEvent::NoAddress);
        let gives_up =
            "[04:20:58][W][wifi:1626]: Connection timeout, aborting connection attempt\n";
        let left = "[04:20:58][W][wifi_esp32:781]: Disconnected ssid='mill' bssid=00:00:5E:00:53:07 reason='Association Leave'\n";
        assert_eq!(none(&[gives_up, left].concat()), 1);
        assert_eq!(none(left), 0);
        // The driver knows better why.
        let failed = left.replace("Association Leave", "Auth Expired");
        assert_eq!(none(&[gives_up, &*failed, left].concat()), 0);
    }

    #[test]
    fn an_esp8266_that_sleeps_without_an_address_gets_none() {
        let none = |log: &str| read(log).count(|it| *it == LogEvent::NoAddress);
        let joined = "connected with attic, channel 3\n";
        let sleeps = "pm open,type:2 0\n";
        assert_eq!(none(&[joined, "dhcp client start...\n", sleeps].concat()), 1);
        let address = "ip:192.0.2.7,mask:255.255.255.0,gw:192.0.2.1\n";
        assert_eq!(none(&[joined, "dhcp client start...\n", address, sleeps].concat()), 0);
        // A fixed address is not asked for.
        assert_eq!(none(&[joined, sleeps].concat()), 0);
    }

    #[test]
    fn an_answer_that_is_all_of_a_line_is_of_what_stands_before() {
        let count = |log: &str, event: LogEvent| read(log).count(|it| *it == event);
        assert_eq!(count("WiFi connected\nask the pool\n0.0.0.0\n", LogEvent::NameFailed), 1);
        assert_eq!(count("ask the pool\n0.0.0.0\n", LogEvent::NameFailed), 0);
        assert_eq!(count("http://mill.example/a.txt\n-11\n", LogEvent::ConnectionFailed), 1);
        for log in ["http://mill.example/a.txt\n200\n-11\n", "http://mill.example/\n-60\n", "-11\n"]
        {
            assert_eq!(count(log, LogEvent::ConnectionFailed), 0, "{log}");
        }
    }

    #[test]
    fn an_address_stands_in_the_line_behind_its_label() {
        let count = |log: &str, event: LogEvent| read(log).count(|it| *it == event);
        assert_eq!(count("IP address: \n192.0.2.7\n", LogEvent::GotIp), 1);
        assert_eq!(count("IP address: \n0.0.0.0\n", LogEvent::AddressUnset), 1);
        assert_eq!(count("My IP address:\n169.254.7.9\n", LogEvent::NoAddress), 1);
        for log in
            ["IP address of the server:\n192.0.2.7\n", "Broker IP:\n192.0.2.7\n", "192.0.2.7\n"]
        {
            assert_eq!(count(log, LogEvent::GotIp), 0, "{log}");
        }
    }
}
