//! The device's own access point and its clients. It is on the channel of the network that the device joins, and its clients
//! have to follow; a client that leaves is no trouble of the device's own link.

use super::event::{LogEvent, SignName};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Clients that are followed at a time: no chip serves more than 16.
const CLIENTS: usize = 32;

/// Reasons of a client whose handshake of keys did not end: `4WAY_HANDSHAKE_TIMEOUT` and `HANDSHAKE_TIMEOUT`.
const HANDSHAKE: [u8; 2] = [15, 204];

/// `WIFI_REASON_AUTH_EXPIRE`: of a client that has joined and has no address, a handshake that did not end, too.
const EXPIRED: u8 = 2;

/// `WIFI_REASON_SA_QUERY_TIMEOUT`
const SA_QUERY: u8 = 209;

/// A client whose handshake of keys did not end.
const UNPROVED: &str = "ap-client-handshake";

/// A client that did not answer a query of protected management frames.
const UNANSWERED: &str = "ap-client-sa-query";

/// `WIFI_REASON_DISASSOC_DUE_TO_INACTIVITY`
const INACTIVE: u8 = 4;

/// A client with an address that was dropped for its silence.
const SILENT: &str = "ap-client-silent";

/// Signs that are told here, and by no rule.
pub(crate) const MACHINE_SIGNS: [&str; 3] = [UNPROVED, UNANSWERED, SILENT];

/// The device's own access point.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnAccessPoint {
    /// Clients on it, with whether they have an address.
    clients: BTreeMap<u64, bool>,
    /// Whether the last line about clients was of one that joined.
    used: bool,
    /// Whether the device joins a network.
    joins: bool,
    /// Whether it moved to another channel under its clients, and none has joined since.
    moved: bool,
    /// Whether a client ever had an address of it.
    served: bool,
    /// Reason of the client that has just left, where the log shows when it joined.
    gone: Option<u8>,
}

impl OwnAccessPoint {
    /// Takes an event in, with the address of the client, and whether its line has a level. Returns what a log keeps of it.
    pub(super) fn take(
        &mut self,
        event: LogEvent,
        client: Option<u64>,
        has_level: bool,
    ) -> Vec<LogEvent> {
        let client = client.unwrap_or_default();
        match event {
            LogEvent::JoinBegins => self.joins = true,
            LogEvent::JoinEnds => self.joins = false,
            LogEvent::ClientJoinedAp => {
                self.used = true;
                self.moved = false;
                self.gone = None;
                if self.clients.len() < CLIENTS {
                    self.clients.insert(client, false);
                }
            }
            LogEvent::ClientServed => {
                self.served = true;
                // The line has the address that it gives, and not whose it is: the clients that wait have theirs soon.
                self.clients.values_mut().for_each(|it| *it = true);
                return alloc::vec![event];
            }
            LogEvent::ClientLeftAp(reason) => {
                self.used = false;
                let served = self.clients.remove(&client);
                // The program says again what the driver has said.
                if served.is_none() && self.gone.take() == Some(reason) {
                    return Vec::new();
                }
                self.gone = served.map(|_| reason);
                return self.left(reason, served, has_level).into_iter().collect();
            }
            LogEvent::SoftApMoved if !self.used => {}
            LogEvent::SoftApMoved => {
                self.moved = true;
                return alloc::vec![event];
            }
            event => return alloc::vec![event],
        }
        Vec::new()
    }

    /// Returns what a client that leaves tells. `served` is whether it had an address, where the log shows when it joined.
    fn left(&self, reason: u8, served: Option<bool>, has_level: bool) -> Option<LogEvent> {
        if reason == SA_QUERY {
            return Some(LogEvent::Sign(SignName(UNANSWERED)));
        }
        let unproved = HANDSHAKE.contains(&reason) && served != Some(true);
        if unproved || (reason == EXPIRED && served == Some(false)) {
            return Some(LogEvent::Sign(SignName(UNPROVED)));
        }
        if self.joins || self.moved {
            return Some(LogEvent::StationLost);
        }
        if reason == INACTIVE && served != Some(false) {
            return Some(LogEvent::Sign(SignName(SILENT)));
        }
        // The ESP8266's driver, whose lines have no level, does not tell of addresses.
        (served == Some(false) && !self.served && has_level).then_some(LogEvent::StationUnserved)
    }
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

    #[test]
    fn a_client_that_leaves_is_no_end_of_the_own_link() {
        for reason in [1, 2, 3, 4, 5, 6, 7, 8, 15, 203] {
            let log = std::format!(
                "I (9) wifi:station: 00:00:5e:00:53:07 join, AID=1, bgn, 20\n\
                 I (99) wifi:station: 00:00:5e:00:53:07 leave, AID = 1, reason = {reason}, bss_flags is 756835, bss:0x3fcb1000\n"
            );
            let mut reader = LogReader::new();
            reader.push(log.as_bytes());
            let ended = reader.finish().count(|it| matches!(it, LogEvent::Disconnected(_)));
            assert_eq!(ended, 0, "{reason}");
        }
    }
}
