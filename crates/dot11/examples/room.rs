//! Ten stations that always have something to send: `cargo run -p espbench-dot11 --example room`.

use espbench_dot11::air::{RadioLinks, ReceiverConfig};
use espbench_dot11::check::bianchi::refined;
use espbench_dot11::mac::source::Saturated;
use espbench_dot11::mac::{MacConfig, TxFrame, WirelessMedium};
use espbench_dot11::radio::WifiMode;
use espbench_model::time::{Duration, Instant};

fn main() {
    // All send to station 0, and hear each other at -40 dBm.
    let (senders, octets, seconds) = (10, 293, 60);
    let links = RadioLinks::uniform(senders + 1, -40.0);
    let stations = (0..=senders).map(|_| MacConfig::default());
    let mut medium = WirelessMedium::new(1, links, &[ReceiverConfig::default()], stations);
    let frame = TxFrame::new(0, octets, WifiMode::ESP_NOW, 0);
    let mut load = Saturated { packet: frame, frames: 2 };
    load.start(&mut medium, 1..=senders);
    medium.run(&mut load, Instant::ZERO + Duration::from_secs(seconds));

    let counters = || (1..=senders).map(|station| medium.counters(station));
    let sent: u64 = counters().map(|it| it.sent).sum();
    let acknowledged: u64 = counters().map(|it| it.acknowledged).sum();
    let rate = acknowledged as f64 / seconds as f64;
    let model = refined(senders as usize, octets, true).good;
    println!("{rate:.1} frames a second of {sent} sent; Bianchi's model: {model:.1}");
    assert!((rate / model - 1.0).abs() < 0.02);
}
