//! Rooms whose stations are all alike.

use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::check::OCTETS;
use espbench_dot11::mac::{MacConfig, TxFrame, WirelessMedium};
use espbench_dot11::radio::WifiMode;

const DBM: f64 = -40.0;

/// Makes a room of `stations` that all hear each other.
pub(crate) fn room(seed: u64, stations: u32) -> WirelessMedium {
    room_of(seed, RadioLinks::uniform(stations, DBM), &MacConfig::default())
}

/// Stations that are all alike.
pub(crate) fn room_of(seed: u64, links: RadioLinks, settings: &MacConfig) -> WirelessMedium {
    room_with(seed, links, settings, ReceiverConfig::default())
}

/// Makes a room with another receiver.
pub(crate) fn room_with(
    seed: u64,
    links: RadioLinks,
    settings: &MacConfig,
    receiver: ReceiverConfig,
) -> WirelessMedium {
    let count = links.stations();
    let settings = (0..count).map(|_| settings.clone());
    WirelessMedium::new(seed, links, &[receiver], settings)
}

/// Makes a frame to everybody, or to a station.
pub(crate) const fn packet(to: u32) -> TxFrame {
    TxFrame::new(to, OCTETS, WifiMode::ESP_NOW, 0)
}
