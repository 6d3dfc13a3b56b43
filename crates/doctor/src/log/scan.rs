//! Networks of a scan whose security is older than the device accepts: for the driver they are not there.

use super::event::LogEvent;
use super::record::LogRecord;
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

/// Networks with an old security that are kept.
const NETWORKS: usize = 16;

/// Bytes of a name, and of a network that is kept (IEEE 802.11-2020, 9.4.2.2).
const NAME: usize = 32;

/// Shortest name that is looked for in what a program says.
const SHORTEST: usize = 3;

/// Names of WEP and WPA in ESP-IDF's `wifi_auth_mode_t`, in lower case. A program names the least that it accepts so, too.
const OLD: [&str; 2] = ["wifi_auth_wpa_psk", "wifi_auth_wep"];

/// Their names in brackets behind a network, in lower case.
const BRACKETED: [&str; 2] = ["(wpa_psk)", "(wep)"];

/// Words in front of the number of a network's security (`wifi_auth_mode_t`: 1 is WEP, 2 is WPA).
const NUMBERED: [&str; 5] = ["enc=", "encryption type: ", "authmode=", "authmode: ", "authmode "];

/// Words without one of which a line names no network.
const HINTS: [&str; 5] = ["SSID", "ssid", "onnect", "CONNECT", "ncryption"];

/// Networks that a scan shows with an old security, and the lines of those that are not found.
#[derive(Clone, Debug, Default)]
pub(super) struct OldNetworks {
    names: Vec<String>,
    /// The last line that names a network which is to be joined, or was not found.
    wanted: String,
    /// Networks that a scan of ESPHome shows.
    heard: Vec<String>,
}

/// Begin of a network in a scan of ESPHome, and of the name of the network that a link ends with.
const ESPHOME: [&str; 2] = ["- '", "ssid='"];

impl OldNetworks {
    /// Takes the next record in. Returns that a network which is wanted has an old security, where a scan shows so.
    pub(super) fn see(&mut self, record: &LogRecord<'_>) -> Option<LogEvent> {
        let text = record.text;
        let quoted = |begin: &str| Some(text.split_once(begin)?.1.split_once('\'')?.0);
        if let Some(name) = text.starts_with(ESPHOME[0]).then(|| quoted(ESPHOME[0])).flatten() {
            let is_new = self.heard.len() < NETWORKS && !self.heard.iter().any(|it| it == name);
            if is_new && (1..=NAME).contains(&name.len()) {
                self.heard.push(name.to_owned());
            }
        } else if quoted(ESPHOME[1]).is_some_and(|it| self.heard.iter().any(|heard| heard == it)) {
            return Some(LogEvent::NetworkHeard);
        }
        if !HINTS.iter().any(|it| text.contains(it)) {
            return None;
        }
        if let Some(name) = old_network(text) {
            let is_wanted = self.wanted.contains(name);
            if self.names.len() < NETWORKS && !self.names.iter().any(|it| it == name) {
                self.names.push(name.to_owned());
            }
            return is_wanted.then_some(LogEvent::OldSecurity);
        }
        let lower = text.to_ascii_lowercase();
        if !["ssid", "connecting to", "connect to"].iter().any(|it| lower.contains(it)) {
            return None;
        }
        // The program may name the security beside the network.
        let told = BRACKETED.iter().any(|it| lower.contains(it));
        let is_old = told || self.names.iter().any(|it| text.contains(it.as_str()));
        text.clone_into(&mut self.wanted);
        is_old.then_some(LogEvent::OldSecurity)
    }
}

/// Returns whether a record may name a network, or one that is wanted.
pub(super) fn concerns(record: &LogRecord<'_>) -> bool {
    ESPHOME.iter().chain(&HINTS).any(|it| record.text.contains(it))
}

/// Returns the name of a network whose security is WEP or WPA, as a line of a scan shows it.
fn old_network(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let is_scan = ["rssi", "(-", " dbm", "dbm)"].iter().any(|it| lower.contains(it));
    let numbered = |words: &&str| {
        let rest = lower.split_once(*words)?.1;
        let word = rest.split(|it: char| !it.is_ascii_alphanumeric()).next()?;
        Some(matches!(word, "1" | "2"))
    };
    let is_old = NUMBERED.iter().find_map(numbered).unwrap_or(false)
        || has_whole(&lower, &OLD)
        || BRACKETED.iter().any(|it| lower.contains(it));
    let name = is_scan.then(|| name_of(text, &lower)).flatten()?;
    (is_old && (SHORTEST..=NAME).contains(&name.len())).then_some(name)
}

/// Returns whether a text has one of the words, each by itself.
fn has_whole(text: &str, words: &[&str]) -> bool {
    let is_end = |it: Option<char>| !it.is_some_and(|it| it.is_ascii_alphanumeric());
    words.iter().flat_map(|word| text.match_indices(word)).any(|(at, word)| {
        is_end(text[..at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
    })
}

/// Returns the name in a line of a scan: behind "SSID", in quotes or up to a comma, or what the line begins with.
fn name_of<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    let Some(at) = lower.find("ssid").filter(|at| !lower[..*at].ends_with('b')) else {
        return text.split(" (-").next().map(str::trim);
    };
    let rest = text.get(at + "ssid".len()..)?.trim_start_matches([' ', ':', '=']);
    match rest.chars().next()? {
        quote @ ('\'' | '"') => rest[1..].split(quote).next(),
        _ => rest.split([',', '\t']).next().map(str::trim),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader};

    fn is_old(log: &str) -> bool {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        reader.finish().count(|it| *it == LogEvent::OldSecurity) > 0
    }

    #[test]
    fn a_network_that_is_wanted_and_has_wpa_alone_is_told() {
        let absent = "STA Disconnected: SSID: attic, Reason: 201\n";
        let scan = "attic (-39)*Encryption Type: 2 WIFI_AUTH_WPA_PSK\n";
        assert!(is_old(&[absent, scan].concat()));
        assert!(is_old(&[scan, absent].concat()));
        assert!(is_old(
            "Connecting to attic...\n[5] SSID='attic' RSSI=-65 chan=6 enc=2 hidden=0\n"
        ));
        assert!(is_old("tryConnectToWiFi(): Connecting to attic (wpa_psk)\n"));
        for other in [
            "barn (-39)*Encryption Type: 2 WIFI_AUTH_WPA_PSK\n",
            "attic (-39)*Encryption Type: 3 WIFI_AUTH_WPA2_PSK\n",
            "[5] SSID='attic' RSSI=-65 chan=6 enc=4 hidden=0\n",
            "authmode threshold: WIFI_AUTH_WPA_PSK\n",
            "Connecting to attic, at least WIFI_AUTH_WPA_PSK\n",
        ] {
            assert!(!is_old(&[absent, other].concat()), "{other}");
        }
    }
}
