//! Lines that a terminal wrapped: what fills its width may go on in the next line.

use super::event::{LogEvent, line_events};
use super::open_crash::is_of_crash;
use super::record::records;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A line, or several that a terminal made of one.
#[derive(Clone, Debug, Default)]
pub(super) struct WrappedLine {
    /// Text without colours.
    pub(super) line: String,
    /// Number of the first line, from 1.
    pub(super) number: u64,
    /// Events that the line tells by itself, where it was asked.
    told: Option<Vec<LogEvent>>,
}

/// Bytes that lines of one kind begin with: of a time stamp, or of a word.
const ALIKE: usize = 4;

impl WrappedLine {
    pub(super) const fn new(line: String, number: u64) -> Self {
        Self { line, number, told: None }
    }

    /// Returns the line with its rest, where the next line is that: it has no head of a record, and both lines as one tell
    /// what it tells, and more than each for itself.
    pub(super) fn with(&mut self, next: &str) -> Option<String> {
        // A line that begins as the one before it is another of its kind.
        let alike = self.line.bytes().zip(next.bytes()).take(ALIKE).filter(|it| it.0 == it.1);
        if next.trim().is_empty() || alike.count() == ALIKE {
            return None;
        }
        let rest = records(next);
        if rest.iter().any(|it| it.level.is_some()) {
            return None;
        }
        let own = line_events(next);
        // A crash begins a line of its own.
        if own.iter().any(|it| is_of_crash(*it)) {
            return None;
        }
        let first = &*self.told.get_or_insert_with(|| line_events(&self.line));
        let mut both: Vec<LogEvent> = first.iter().chain(&own).copied().collect();
        both.sort_unstable();
        let whole = [format!("{}{next}", self.line), format!("{} {next}", self.line)];
        whole.into_iter().find(|whole| {
            let mut all = line_events(whole);
            let as_first = all == *first;
            all.sort_unstable();
            !as_first
                && all != both
                && own.iter().all(|it| all.contains(it))
                && all.len() >= first.len()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader};
    use alloc::string::String;
    use alloc::vec::Vec;

    /// Wraps a text as a terminal of that many columns.
    fn wrapped(log: &str, columns: usize) -> String {
        let lines = log.lines().flat_map(|it| {
            let chars: Vec<char> = it.chars().collect();
            chars.chunks(columns).map(|it| it.iter().collect::<String>()).collect::<Vec<_>>()
        });
        lines.map(|it| it + "\n").collect()
    }

    fn told(log: &str) -> Vec<(LogEvent, u64)> {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        let all = reader.finish().events.into_iter().map(|it| (it.0, it.1.count));
        // A piece without its reason says in words that a link ended; where a reason is known that is no finding.
        all.filter(|it| !matches!(it.0, LogEvent::Words(_))).collect()
    }

    #[test]
    fn wrapped_lines_tell_what_whole_ones_do_at_any_width() {
        let log = "[21:04:11.123][D][wifi_esp32:401]: some line that is long enough to fill any of the terminals that are tried in \
                   this test, and which tells nothing at all\n\
                   [21:04:11.123][W][wifi_esp32:482]: Event: Disconnected ssid='barn of the neighbours' bssid=00:00:5E:00:53:01 reason='Association Leave'\n\
                   I (95683) app: the access point that has the strength of this line is far away and its rssi: -87\n\
                   E (95684) mqtt_client: esp_mqtt_handle_transport_read_error: transport_read() error: errno=104\n";
        let whole = told(log);
        assert_eq!(whole.len(), 3, "{whole:?}");
        for columns in 60..=132 {
            assert_eq!(told(&wrapped(log, columns)), whole, "{columns} columns");
        }
    }

    /// Two events in another order are no more than each line tells for itself.
    #[test]
    fn a_line_that_tells_something_by_itself_stays_one() {
        let log = "I (2600) esp_netif_handlers: sta ip: 192.0.2.20, mask: 255.255.255.0, gw: 192.0.2.1\n\
                   HTTP GET failed, error: connection refused\n";
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        let summary = reader.finish();
        let lines: Vec<u64> = summary.events.values().map(|it| it.last).collect();
        assert!(lines.contains(&1) && lines.contains(&2), "{:?}", summary.events);
    }

    #[test]
    fn lines_of_one_length_that_are_not_wrapped_stay_two() {
        let line = "E (5) tcp: connect of the pump in the cellar of the house failed: errno 113";
        let log =
            alloc::format!("{line}\nstate: 5 -> 0 (200)\n{line}\nbcn_timout,ap_probe_send_start\n");
        let told = told(&log);
        let expected = [
            (LogEvent::Disconnected(2), 1),
            (LogEvent::BeaconTimeout, 1),
            (LogEvent::SocketError(113), 1),
            (LogEvent::FailedUnlinked, 1),
        ];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        assert!(expected.iter().all(|it| told.contains(it)), "{told:?}");
    }
}
