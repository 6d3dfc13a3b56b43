//! Messages in flight to a client: sent, and not yet acknowledged in full (4.3, 4.4).

use super::message::PendingDelivery;
use std::collections::VecDeque;

/// Messages in flight to one client at most; less where it says so (5: 3.1.2.11.3).
pub(super) const MOST: usize = 1024;

/// Packet identifiers from the oldest in use to the next: a client that never acknowledges one
/// message may acknowledge this many after it.
const SPAN: usize = 4 * MOST;

/// State of one packet identifier.
#[derive(Debug)]
pub(super) enum PacketIdState {
    /// Acknowledged.
    Free,
    /// PUBLISH is sent; the message is kept where the session outlives its connection.
    Publish(u8, Option<PendingDelivery>),
    /// PUBREL is sent.
    Release,
}

/// Packet identifiers in the order in which they were given, which is that of resending.
#[derive(Debug)]
pub(super) struct InFlightIds {
    places: VecDeque<PacketIdState>,
    /// Identifier of the first place.
    first: u16,
    /// Places whose packet was sent on this connection.
    sent: usize,
    /// Of these, those that are not free.
    open: usize,
}

impl InFlightIds {
    pub(super) const fn new() -> Self {
        Self { places: VecDeque::new(), first: 1, sent: 0, open: 0 }
    }

    /// Returns whether one more message may be sent to a client that takes `most`.
    pub(super) fn has_room(&self, most: usize) -> bool {
        self.is_resent() && self.open < most && self.places.len() < SPAN
    }

    /// Returns whether all was sent again after the connection broke.
    pub(super) fn is_resent(&self) -> bool {
        self.sent == self.places.len()
    }

    /// Returns the identifier that the next message will get.
    pub(super) fn next(&self) -> u16 {
        nth(self.first, self.places.len())
    }

    /// Takes a message that is sent now.
    pub(super) fn push(&mut self, qos: u8, delivery: Option<PendingDelivery>) {
        self.places.push_back(PacketIdState::Publish(qos, delivery));
        self.sent += 1;
        self.open += 1;
    }

    pub(super) fn get(&self, id: u16) -> Option<&PacketIdState> {
        self.places.get(self.place(id)?)
    }

    /// Changes the state of an identifier in use and returns the old one.
    pub(super) fn set(&mut self, id: u16, state: PacketIdState) -> Option<PacketIdState> {
        let at = self.place(id)?;
        let free = matches!(state, PacketIdState::Free);
        let old = std::mem::replace(self.places.get_mut(at)?, state);
        if free && at < self.sent {
            self.open -= 1;
        }
        while let Some(PacketIdState::Free) = self.places.front() {
            self.places.pop_front();
            self.first = nth(self.first, 1);
            self.sent = self.sent.saturating_sub(1);
        }
        Some(old)
    }

    /// Begins anew: nothing is sent on this connection.
    pub(super) const fn restart(&mut self) {
        (self.sent, self.open) = (0, 0);
    }

    /// Returns the next packet to send again to a client that takes `most` at once.
    pub(super) fn resend(&self, most: usize) -> Option<(u16, &PacketIdState)> {
        if self.open >= most {
            return None;
        }
        Some((nth(self.first, self.sent), self.places.get(self.sent)?))
    }

    /// Takes note that the packet was sent again, or needs not be.
    pub(super) fn resent(&mut self) {
        if let Some(flight) = self.places.get(self.sent) {
            self.open += usize::from(!matches!(flight, PacketIdState::Free));
            self.sent += 1;
        }
    }

    /// Takes out all messages.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PendingDelivery> {
        (self.sent, self.open) = (0, 0);
        self.places.drain(..).filter_map(|flight| match flight {
            PacketIdState::Publish(_, delivery) => delivery,
            _ => None,
        })
    }

    /// Returns the place of an identifier that is in use.
    fn place(&self, id: u16) -> Option<usize> {
        const IDS: u32 = 65_535;
        let id = u32::from(id).checked_sub(1)?;
        let at = ((id + IDS - (u32::from(self.first) - 1)) % IDS) as usize;
        let flight = self.places.get(at)?;
        (!matches!(flight, PacketIdState::Free)).then_some(at)
    }
}

/// Returns the identifier `by` after `first`; 0 is left out (2.3.1).
const fn nth(first: u16, by: usize) -> u16 {
    ((first as usize - 1 + by) % 65_535 + 1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn identifiers_go_round_and_leave_out_0() {
        let mut flights = InFlightIds::new();
        for at in 0..70_000_u32 {
            let id = flights.next();
            assert_eq!(u32::from(id), at % 65_535 + 1);
            flights.push(1, None);
            assert!(flights.set(id, PacketIdState::Free).is_some());
            assert!(flights.get(id).is_none());
        }
    }

    proptest! {
        /// Compares open flights, and the order of resending, with a plain map.
        #[test]
        fn flights_are_those_not_acknowledged(steps in proptest::collection::vec(0u16..40, 1..300)) {
            let mut flights = InFlightIds::new();
            let mut open = BTreeMap::new();
            let mut given = 0u32;
            for step in steps {
                match step {
                    0..=19 if flights.has_room(16) => {
                        open.insert(given, flights.next());
                        given += 1;
                        flights.push(1, None);
                    }
                    20..=37 => {
                        let nth = open.iter().nth(usize::from(step - 20)).map(|(k, v)| (*k, *v));
                        if let Some((order, id)) = nth {
                            prop_assert!(flights.set(id, PacketIdState::Free).is_some());
                            open.remove(&order);
                        }
                    }
                    38 => {
                        flights.restart();
                        let mut again = Vec::new();
                        while let Some((id, flight)) = flights.resend(usize::MAX) {
                            if !matches!(flight, PacketIdState::Free) {
                                again.push(id);
                            }
                            flights.resent();
                        }
                        prop_assert_eq!(again, open.values().copied().collect::<Vec<_>>());
                    }
                    _ => {}
                }
                prop_assert_eq!(flights.open, open.len());
            }
        }
    }
}
