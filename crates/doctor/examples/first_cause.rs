//! The first cause of a log.

use espbench_doctor::log::LogReader;
use espbench_doctor::rules::diagnose;

fn main() {
    let mut reader = LogReader::new();
    reader.push(b"I (910) wifi:security: WPA2-PSK, phy: bgn, rssi: -88\n");
    reader.push(b"I (95683) wifi:bcn_timeout,ap_probe_send_start\n");
    reader.push(b"I (98187) wifi:state: run -> init (0xc800)\n");
    let found = diagnose(&reader.finish());
    let first = &found.findings[0];
    println!("{}\ndo: {}", first.title, first.remedy);
    assert!(first.title.starts_with("the signal is weak (-88 dBm)"));
}
