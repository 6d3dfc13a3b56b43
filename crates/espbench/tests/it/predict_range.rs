//! Doubts about a range, as its interval tells them.

use crate::util::TestDir;
use serde_json::Value;

/// A range has the interval of what is not known: wider behind walls of which nobody has said the loss.
#[test]
fn ranges_hold_the_doubt_about_walls_and_path_loss() {
    let range = |wall: &str| {
        let walls = ["--room", "hall", "--walls", "2", "--wall", wall, "--phy-rates", "1M"];
        let args = [&["predict", "range", "--format", "json"], &walls[..]].concat();
        let report: Value = serde_json::from_str(&TestDir::new().run(&args).ok()).unwrap();
        let row = &report["prediction"]["rows"][0];
        ["range_low_m", "range_m", "range_high_m"].map(|it| row[it].as_f64().expect("metres"))
    };
    let (said, material) = (range("14.7"), range("concrete"));
    for [low, range, high] in [said, material] {
        assert!(low < 0.9 * range && high > 1.1 * range, "{low} {range} {high}");
    }
    assert_eq!(said[1], material[1], "the loss is the same");
    assert!(material[2] / material[0] > 1.1 * said[2] / said[0], "{material:?} {said:?}");
}
