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

/// A client that is about to be dropped for its silence.
const IDLE: &str = "ap-client-idle";

/// A client that was dropped for its silence each time that it had come back.
const SILENT: &str = "ap-client-silent";

/// Lines within which the program says again what the driver has said.
const AGAIN: u64 = 3;

/// Drops for silence of one client from which on they are more than a device that was taken away.
const DROPS: u64 = 3;

/// Signs that are told here, and by no rule.
pub(crate) const MACHINE_SIGNS: [&str; 3] = [UNPROVED, UNANSWERED, SILENT];

/// A client.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    /// Whether it is there.
    is_here: bool,
    /// Whether it has an address.
    is_served: bool,
    /// How often it was dropped for its silence.
    drops: u64,
}

/// The device's own access point.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnAccessPoint {
    /// Clients that are or were on it, by their addresses.
    clients: BTreeMap<u64, Client>,
    /// Whether the last line about clients was of one that joined.
    used: bool,
    /// Whether the device joins a network.
    joins: bool,
    /// Whether it moved to another channel under its clients, and none has joined since.
    moved: bool,
    /// Whether a client ever had an address of it.
    served: bool,
    /// The client that has just left, its reason, and the line that said so.
    gone: Option<(u64, u8, u64)>,
}

impl OwnAccessPoint {
    /// Takes an event of a line in, with the address of the client, and whether the line has a level. Returns what a log keeps of it.
    pub(super) fn take(
        &mut self,
        event: LogEvent,
        client: Option<u64>,
        has_level: bool,
        line: u64,
    ) -> Vec<LogEvent> {
        let client = client.unwrap_or_default();
        match event {
            LogEvent::JoinBegins => self.joins = true,
            LogEvent::JoinEnds => self.joins = false,
            LogEvent::ClientJoinedAp => {
                self.used = true;
                self.moved = false;
                self.gone = None;
                self.make_room(client);
                if self.clients.len() < CLIENTS || self.clients.contains_key(&client) {
                    let known = self.clients.entry(client).or_default();
                    (known.is_here, known.is_served) = (true, false);
                }
            }
            LogEvent::ClientServed => {
                self.served = true;
                // The line has the address that it gives, and not whose it is: the clients that wait have theirs soon.
                self.clients.values_mut().for_each(|it| it.is_served |= it.is_here);
                return alloc::vec![event];
            }
            LogEvent::ClientLeftAp(reason) => {
                self.used = false;
                return self.leaves(client, reason, has_level, line);
            }
            // Of a client that the log has followed, its leaving tells more.
            LogEvent::Sign(SignName(IDLE)) if self.is_here(client) => {}
            LogEvent::SoftApMoved if !self.used => {}
            LogEvent::SoftApMoved => {
                self.moved = true;
                return alloc::vec![event];
            }
            event => return alloc::vec![event],
        }
        Vec::new()
    }

    /// Forgets a client that is not here, where there is no room for another.
    fn make_room(&mut self, client: u64) {
        if self.clients.len() < CLIENTS || self.clients.contains_key(&client) {
            return;
        }
        let gone = self.clients.iter().find(|it| !it.1.is_here).map(|it| *it.0);
        gone.and_then(|it| self.clients.remove(&it));
    }

    /// Returns whether a client is on it.
    pub(super) fn has_clients(&self) -> bool {
        self.clients.values().any(|it| it.is_here)
    }

    fn is_here(&self, client: u64) -> bool {
        self.clients.get(&client).is_some_and(|it| it.is_here)
    }

    /// Takes a client in that leaves; returns what that tells.
    fn leaves(&mut self, client: u64, reason: u8, has_level: bool, line: u64) -> Vec<LogEvent> {
        let known = self.clients.get_mut(&client).filter(|it| it.is_here);
        let before = self.gone.replace((client, reason, line));
        let is_same = |it: (u64, u8, u64)| {
            it.0 == client && it.1 == reason && line.saturating_sub(it.2) <= AGAIN
        };
        if known.is_none() && before.is_some_and(is_same) {
            return Vec::new();
        }
        let served = known.map(|it| {
            it.is_here = false;
            it.drops += u64::from(reason == INACTIVE && it.is_served);
            *it
        });
        self.left(reason, served, has_level)
    }

    /// Returns what a client that leaves tells, of which more is known where the log shows when it joined.
    fn left(&self, reason: u8, client: Option<Client>, has_level: bool) -> Vec<LogEvent> {
        let sign = |name| alloc::vec![LogEvent::Sign(SignName(name))];
        if reason == SA_QUERY {
            return sign(UNANSWERED);
        }
        let is_served = client.is_some_and(|it| it.is_served);
        let is_unserved = client.is_some_and(|it| !it.is_served);
        if HANDSHAKE.contains(&reason) && !is_served || reason == EXPIRED && is_unserved {
            return sign(UNPROVED);
        }
        if self.joins || self.moved {
            return alloc::vec![LogEvent::StationLost];
        }
        match client.map_or(0, |it| it.drops) {
            DROPS if reason == INACTIVE => return sign(SILENT).repeat(DROPS as usize),
            drops if drops > DROPS && reason == INACTIVE => return sign(SILENT),
            _ => {}
        }
        // The ESP8266's driver, whose lines have no level, does not tell of addresses.
        if is_unserved && !self.served && has_level {
            return alloc::vec![LogEvent::StationUnserved];
        }
        Vec::new()
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
    fn each_client_is_followed_by_its_address() {
        let joins = |it: u8| {
            std::format!(
                "I (9) wifi:station: 00:00:5e:00:53:{it:02x} join, AID=1, bgn, 20\n\
                 I (60) esp_netif_lwip: DHCP server assigned IP to a client, IP is: 192.168.4.2\n"
            )
        };
        let drops = |it: u8| {
            std::format!(
                "W (99) wifi:inactive timer: now=713bb last_rx_time=ee0e5bf3 diff=499c8, aid[1]00:00:5e:00:53:{it:02x} leave\n\
                 I (99) wifi:station: 00:00:5e:00:53:{it:02x} leave, AID = 1, reason = 4, bss_flags is 756835, bss:0x3fcb1000\n\
                 I (99) wifi softAP: station 00:00:5e:00:53:{it:02x} leave, AID=1, reason=4\n"
            )
        };
        let once = |it: u8| [joins(it), drops(it)].concat();
        let silent = |log: &str| count(log, LogEvent::Sign(super::SignName(super::SILENT)));
        assert_eq!(silent(&once(1).repeat(3)), 3);
        assert_eq!(silent(&once(1).repeat(4)), 4);
        assert_eq!(silent(&[once(1), once(2), once(3)].concat()), 0);
        // Of a client that was there before the log began, one drop counts once.
        assert_eq!(count(&drops(1), LogEvent::Sign(super::SignName(super::IDLE))), 1);
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
