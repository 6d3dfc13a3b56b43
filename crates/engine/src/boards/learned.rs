//! Facts that a board's console tells of the board: address, releases, chip and commands.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString as _};
use esp_now::transcript::item::{DeviceLine, IperfLine};
use esp_now::transcript::{TranscriptEntry, TranscriptItem};
use espbench_ieee80211::mac::Mac;

/// Command of ESP-IDF's example `wifi/iperf`.
pub(super) const IPERF: &str = "iperf";
/// Most commands that are kept; stock firmware has about thirty.
const COMMANDS: usize = 256;

/// Unit of the rate that `iperf -b` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateOption {
    /// A whole number of Mbit/s: ESP-IDF v5.0 to v5.4.
    Megabits,
    /// A number with `k` or `m` behind it: from version 1.0 of the component `iperf` on.
    Suffixed,
}

/// Options of the command `iperf` of ESP-IDF's example, as its `help` tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IperfFlags {
    /// `-b`, and what it takes.
    pub rate: Option<RateOption>,
    /// `-l`
    pub length: bool,
    /// `-P` of a client: from version 1.0 of the component `iperf-cmd` on.
    pub parallel: bool,
    /// `-f`: the release's rows in columns have 2^20 bits to their Mbit.
    pub format: bool,
}

/// Facts of a board, as far as it printed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedFacts {
    /// Address of its station interface.
    pub mac: Option<Mac>,
    /// Name of the chip.
    pub chip: Option<String>,
    /// Release of the esp-now component.
    pub release: Option<(u16, u16, u16)>,
    /// Version of ESP-IDF.
    pub idf: Option<String>,
    /// Commands that `help` listed.
    pub commands: BTreeSet<String>,
    /// Options of the command `iperf`.
    pub iperf: IperfFlags,
    /// Number of starts that were seen.
    pub starts: u32,
    /// Whether `help` is telling of `iperf`.
    pub(super) in_iperf: bool,
}

impl LearnedFacts {
    /// Takes note of a line. `helping` says whether it follows `help`.
    pub(super) fn take(&mut self, entry: &TranscriptEntry<'_>, helping: bool) {
        match entry.item {
            TranscriptItem::Device(DeviceLine::Own(mac, _)) => self.mac = Some(mac),
            TranscriptItem::Device(DeviceLine::Component(major, minor, patch)) => {
                self.release = Some((major, minor, patch));
            }
            TranscriptItem::Device(DeviceLine::Idf(version)) => self.idf = Some(version.into()),
            TranscriptItem::Device(DeviceLine::Chip { name, .. }) => self.chip = Some(name.into()),
            TranscriptItem::Iperf(IperfLine::Responder(own) | IperfLine::Initiator { own, .. }) => {
                self.mac = Some(own)
            }
            TranscriptItem::Other if entry.line.tag().starts_with("wifi:mode") => {
                // `wifi:mode : sta (24:0a:c4:00:00:01)`, by the Wi-Fi driver.
                let mac = entry.line.text.strip_prefix("sta (");
                let mac = mac.and_then(|rest| Mac::parse(rest.strip_suffix(')')?.as_bytes()));
                self.mac = mac.or(self.mac);
            }
            TranscriptItem::Other if helping => self.command(entry.line.text),
            // `version` of ESP-IDF's examples: `model:ESP32-C3`.
            TranscriptItem::Other => {
                if let Some(name) = entry.line.text.trim().strip_prefix("model:ESP") {
                    let name = name.chars().filter(char::is_ascii_alphanumeric);
                    let name: String = name.map(|c| c.to_ascii_lowercase()).collect();
                    self.chip = Some(alloc::format!("esp{name}"));
                }
            }
            _ => {}
        }
    }

    /// Notes a command that `help` lists: its name stands at the beginning of a line.
    fn command(&mut self, text: &str) {
        let name = text.split(' ').next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if is_name && self.commands.len() < COMMANDS {
            self.commands.insert(name.to_string());
        }
        if is_name {
            self.in_iperf = name == IPERF;
        } else if self.in_iperf {
            self.option(text.trim_start());
        }
    }

    /// Notes an option of `iperf`: a line of its own, with its meaning.
    fn option(&mut self, text: &str) {
        if text.starts_with("-b, ") {
            let is_suffixed = text.contains("[kmgKMG]");
            self.iperf.rate =
                Some(if is_suffixed { RateOption::Suffixed } else { RateOption::Megabits });
        }
        self.iperf.parallel |= text.starts_with("-P, ");
        self.iperf.length |= text.starts_with("-l, ");
        self.iperf.format |= text.starts_with("-f, ");
    }

    /// Returns whether the board has our firmware, whose `help` lists commands of its own.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.commands.contains("espbench")
    }

    /// Returns whether the board has a command; one that did not print its list may have any.
    #[must_use]
    pub fn can(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(command)
    }
}

/// Returns the name under which a release of the component is known: that of the last one whose frames
/// are the same.
pub(super) fn release_name((major, minor, patch): (u16, u16, u16)) -> Option<&'static str> {
    Some(match (major, minor, patch) {
        (2, 5, 3..) => "2.5.3",
        (2, 5, _) => "2.5.2",
        (2, 4, _) => "2.4",
        (2, 3, _) => "2.3",
        (2, 0..=2, _) => "2.0",
        (1, ..) => "1.0",
        _ => return None,
    })
}

/// Returns the name under which a version of ESP-IDF is known, such as `v5.1.2-dirty`: that of the
/// last one whose structures are the same.
pub(super) fn idf_name(version: &str) -> Option<&'static str> {
    let mut parts = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u16>);
    let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let patch = parts.next().and_then(Result::ok).unwrap_or(0);
    Some(match (major, minor, patch) {
        (4, 4, ..8) => "4.4",
        (5, 0, ..8) => "5.0",
        (4, 4, _) | (5, 0, _) => "5.0.8",
        (5, 1..=3, _) => "5.1",
        (5, 4, ..2) => "5.4",
        (5, _, _) | (6.., _, _) => "5.4.2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_names_of_the_last_release_like_them() {
        let names = [(2, 5, 3), (2, 5, 0), (2, 4, 1), (2, 1, 0), (1, 0, 0)].map(release_name);
        assert_eq!(names.map(Option::unwrap), ["2.5.3", "2.5.2", "2.4", "2.0", "1.0"]);
        assert_eq!(release_name((3, 0, 0)), None);
        let names =
            ["v5.1", "v4.4.7-dirty", "v4.4.8", "v5.4.1", "v5.5-dev-12", "6.1"].map(idf_name);
        assert_eq!(names.map(Option::unwrap), ["5.1", "4.4", "5.0.8", "5.4", "5.4.2", "5.4.2"]);
        assert_eq!(["", "v", "master", "v3.3"].map(idf_name), [None; 4]);
    }
}
