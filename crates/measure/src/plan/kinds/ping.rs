//! Keys of `ping`.

use super::{DAY, Kind, MILLISECOND};
use crate::plan::print::quoted;
use crate::plan::read::Scalar;
use crate::units::print_duration;
use alloc::string::{String, ToString};
use core::time::Duration;
use espbench_model::workload::Ping;
use espbench_proto::wire::icmp::MAX_DATA;

/// The size is that of every ping. A device that sleeps until the beacon of every tenth 102.4 ms still
/// answers within the time-out.
pub(super) const DEFAULT: Ping = Ping {
    size: 56,
    count: 100,
    discard: 0,
    interval: Duration::from_millis(100),
    timeout: Duration::from_secs(2),
    tos: None,
    ttl: None,
};

impl Kind for Ping {
    const KEYS: &'static [&'static str] =
        &["size", "count", "discard", "interval", "timeout", "tos", "ttl"];

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes(0..=MAX_DATA as u64)? as u32,
            "count" => self.count = value.int(1..=100_000_000)? as u32,
            "discard" => self.discard = value.int(0..=1_000_000)? as u32,
            "interval" => self.interval = value.duration(MILLISECOND..=DAY)?,
            "timeout" => self.timeout = value.duration(MILLISECOND..=Duration::from_secs(3600))?,
            "tos" => self.tos = Some(value.int(0..=255)? as u8),
            _ => self.ttl = Some(value.int(1..=255)? as u8),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "timeout" => quoted(&print_duration(self.timeout)),
            "tos" => self.tos?.to_string(),
            _ => self.ttl?.to_string(),
        })
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
