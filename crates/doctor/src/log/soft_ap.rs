//! The device's own access point: it is on the channel of the network that the device joins, and who is on it has to follow.

use super::event::{LogEvent, number};
use super::record::LogRecord;

/// First words of the driver, of all chips, for a station that joins or leaves the device's own access point.
const STATION: &str = "station: ";

/// First words of the driver's states when the device begins to join a network: of all chips, and of the ESP8266.
const JOINS: [&str; 2] = ["state: init -> auth", "state: 0 -> 2"];

/// First words of the driver when that has ended, well or not.
const JOINED: [&str; 4] = ["connected with ", "ip:", "sta ip:", "state: "];

/// The device's own access point, as the lines of the driver tell of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SoftAp {
    /// Whether a station is on it.
    used: bool,
    /// Whether the device joins a network.
    joins: bool,
    /// Whether a station ever had an IP address of it.
    served: bool,
}

/// Words of ESP-IDF's server of addresses, of all releases, and of Arduino's event.
const SERVES: [&str; 3] = ["assigned IP to", "assign IP to", "AP_STAIPASSIGNED"];

impl SoftAp {
    /// Takes the next record in, and returns what it tells of who is on the access point.
    pub(super) fn see(&mut self, record: &LogRecord<'_>) -> Option<LogEvent> {
        let text = record.text;
        if let Some(station) = text.strip_prefix(STATION) {
            // Its address, and what it does.
            let (_, does) = station.split_once(' ')?;
            let leaves = does.starts_with("leave");
            let thrown = leaves && self.joins;
            self.used = does.starts_with("join");
            // The ESP8266's driver, whose lines have no level, does not tell of addresses.
            let unserved = leaves && !self.served && record.level.is_some();
            return match (thrown, unserved) {
                (true, _) => Some(LogEvent::StationLost),
                (_, true) => Some(LogEvent::StationUnserved),
                _ => None,
            };
        }
        self.served |= SERVES.iter().any(|it| text.contains(it));
        if let Some(channels) = text.strip_prefix("ap channel adjust o:") {
            let moved = self.used && has_moved(channels);
            return moved.then_some(LogEvent::SoftApMoved);
        }
        let is = |words: &[&str]| words.iter().any(|it| text.starts_with(it));
        if is(&JOINS) {
            self.joins = true;
        } else if self.joins && is(&JOINED) {
            // Until the association the radio goes from channel to channel.
            self.joins =
                ["state: 2 -> 3", "state: auth -> assoc"].iter().any(|it| text.starts_with(it));
        }
        None
    }
}

/// Returns whether `1,1 n:4,1` are two channels: each has the place of its second half behind it.
fn has_moved(channels: &str) -> bool {
    let primary = |it: &str| it.split(',').next().and_then(number);
    channels.split_once(" n:").is_some_and(|(old, new)| primary(old) != primary(new))
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader};

    fn count(log: &str, event: LogEvent) -> u64 {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        reader.finish().count(|it| *it == event)
    }

    #[test]
    fn a_channel_that_changes_under_a_station_is_told() {
        let joins = "I (9) wifi:station: 00:00:5e:00:53:07 join, AID=1, bgn, 20\n";
        let moves = "I (60) wifi:ap channel adjust o:6,1 n:11,2\n";
        let stays = "I (60) wifi:ap channel adjust o:6,1 n:6,2\n";
        let moved = |log: &str| count(log, LogEvent::SoftApMoved);
        assert_eq!(moved(&[joins, moves].concat()), 1);
        assert_eq!(moved(&[joins, stays].concat()), 0);
        assert_eq!(moved(moves), 0);
    }

    #[test]
    fn a_station_that_leaves_while_the_device_joins_is_lost() {
        let leaves = "station: 00:00:5e:00:53:07 leave, AID = 1\n";
        let lost = |log: &str| count(log, LogEvent::StationLost);
        assert_eq!(lost(&["state: 0 -> 2 (b0)\n", leaves].concat()), 1);
        assert_eq!(lost(&["state: 0 -> 2 (b0)\nstate: 2 -> 3 (0)\n", leaves].concat()), 1);
        assert_eq!(
            lost(&["state: 0 -> 2 (b0)\nconnected with attic, channel 3\n", leaves].concat()),
            0
        );
        assert_eq!(lost(leaves), 0);
    }
}
