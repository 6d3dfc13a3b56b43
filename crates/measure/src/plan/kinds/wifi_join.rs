//! Keys of `wifi-join`.

use super::{DAY, Kind, MILLISECOND};
use crate::plan::print::quoted;
use crate::plan::read::Scalar;
use crate::units::print_duration;
use alloc::string::{String, ToString};
use core::time::Duration;
use espbench_model::workload::WifiJoin;

/// A join every five seconds, each as after a start. ESP-IDF waits 10 s for the keys alone.
pub(super) const DEFAULT: WifiJoin = WifiJoin {
    count: 20,
    discard: 0,
    interval: Duration::from_secs(5),
    timeout: Duration::from_secs(20),
    cold: true,
};

impl Kind for WifiJoin {
    const KEYS: &'static [&'static str] = &["count", "discard", "interval", "timeout", "cold"];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "count" => self.count = value.int(1..=1_000_000)? as u32,
            "discard" => self.discard = value.int(0..=1_000_000)? as u32,
            "interval" => self.interval = value.duration(MILLISECOND..=DAY)?,
            "timeout" => self.timeout = value.duration(MILLISECOND..=Duration::from_secs(3600))?,
            _ => self.cold = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "timeout" => quoted(&print_duration(self.timeout)),
            _ => self.cold.to_string(),
        })
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
