//! A group of a lab with variants whose devices run the esp-now component.

use super::super::Overrides;
use super::super::build;
use super::super::lab::Group;
use super::super::wrong::Wrong;
use super::build::Table;
use super::keys::ESP_NOW;
use super::layer::{FIRMWARE, PATTERN};
use crate::lab::scene::{AccessPoint, Application, Device, Pc};
use alloc::format;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_dot11::random::RngStream;

/// Keys of a group that say something of such devices.
const KEYS: [&str; 14] = [
    "name",
    "program",
    "profile",
    "count",
    "at",
    "distance_m",
    "channel",
    "power_dbm",
    "esp_now_mode",
    "application",
    "report_bytes",
    "report_ms",
    FIRMWARE,
    PATTERN,
];

impl Table<'_> {
    /// Returns whether its devices run the esp-now component.
    pub(super) fn runs_esp_now(&self) -> bool {
        self.layers.word(self.table, "program") == ESP_NOW
    }

    /// Returns its devices, as they stand; `random` draws the places of a cluster.
    pub(super) fn nodes(
        &self,
        (routers, pc): (&[AccessPoint], &Pc),
        mut random: RngStream,
    ) -> Result<Vec<Device>, Wrong> {
        let layer = self.layers.variant;
        if let Some(it) = layer.values.iter().find(|it| !KEYS.contains(&it.key)) {
            let message = format!("`{}`: a device with `program = \"esp-now\"` has none", it.key);
            return Err(self.wrong(it.key, message));
        }
        if let Some(&(key, _, at)) = layer.sdk.first() {
            let message = format!("`{}`: the esp-now component has [group.firmware]", key.name());
            return Err(self.build.text.wrong(at, message));
        }
        let (count, pattern) = self.places()?;
        let profile = self.profile()?;
        let channel = self.number("channel").map(|it| it as u8);
        let modes = self.layers.modes(self.table, "esp_now_mode");
        let group = Group {
            name: self.name.clone(),
            profile: (profile.name.clone(), layer.start),
            count,
            at: Some(self.at(routers.first(), pc)),
            distance_m: 0.0,
            channel: channel.or_else(|| routers.first().map(|it| it.channel)).unwrap_or(1),
            mode: modes.and_then(|it| it.first().copied()).unwrap_or(WifiMode::ESP_NOW),
            fallback: Vec::new(),
            power_dbm: self.number("power_dbm"),
            pattern,
            firmware: self.layers.firmware(self.table),
            start: layer.start,
        };
        if let Some(message) = group.unable(profile.chip) {
            return Err(self.wrong("esp_now_mode", message));
        }
        let middle = group.at.unwrap_or_default();
        let first = Device {
            application: self.application(),
            ..build::device(&group, &profile, middle, &Overrides::default())
        };
        self.reports(&first)?;
        let place = |number: u16| Device {
            at: pattern
                .filter(|_| count > 1)
                .map_or(middle, |pattern| pattern.place(middle, number, count, &mut random)),
            ..first.clone()
        };
        Ok((0..count).map(place).collect())
    }

    /// Checks that a node can do what its application is to do.
    fn reports(&self, node: &Device) -> Result<(), Wrong> {
        match node.application {
            Application::None => Ok(()),
            Application::Reports { bytes, .. } => {
                let most = node.settings.compat.data_max();
                if bytes as usize <= most {
                    return Ok(());
                }
                let message =
                    format!("`report_bytes`: its firmware sends {most} bytes at the most");
                Err(self.wrong("report_bytes", message))
            }
            Application::Upload | Application::Download => {
                let message = "`application`: over ESP-NOW there are reports, or none";
                Err(self.wrong("application", message))
            }
        }
    }
}
