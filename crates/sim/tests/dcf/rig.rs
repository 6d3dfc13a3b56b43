//! Rooms whose stations are all alike.

use espbench_sim::air::{Links, Receiver};
use espbench_sim::check::OCTETS;
use espbench_sim::mac::{Packet, Room, Settings};
use espbench_sim::radio::Mode;

const DBM: f64 = -40.0;

/// A room of `stations` that all hear each other.
pub(crate) fn room(seed: u64, stations: u32) -> Room {
    room_of(seed, Links::uniform(stations, DBM), &Settings::default())
}

/// Stations that are all alike.
pub(crate) fn room_of(seed: u64, links: Links, settings: &Settings) -> Room {
    room_with(seed, links, settings, Receiver::default())
}

/// With another receiver.
pub(crate) fn room_with(seed: u64, links: Links, settings: &Settings, receiver: Receiver) -> Room {
    let count = links.stations();
    let settings = (0..count).map(|_| settings.clone());
    Room::new(seed, links, &[receiver], settings)
}

/// A frame to everybody, or to a station.
pub(crate) const fn packet(to: u32) -> Packet {
    Packet::new(to, OCTETS, Mode::ESP_NOW, 0)
}
