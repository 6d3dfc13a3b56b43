//! Groups whose devices run the esp-now component, and what a test changes of them.

use super::super::Overrides;
use super::super::firmware::Firmware;
use super::super::key::ROOM_M;
use super::super::overrides::{channel_refused, runs_at, scales_to, unsent};
use super::super::pattern::Pattern;
use super::super::wrong::{FileError, hint};
use super::build::{Build, NOTHING, NetworkEnds};
use super::device::DeviceTable;
use super::keys::{CLOCK, ESP_NOW, IDLE_CLOCK, MOST_NODES, OF_NODES};
use super::layer::{DEVICE_TABLE, Layers};
use crate::lab::profile::Profile;
use crate::lab::scene::{Application, Coexistence, Device, Point};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_dot11::radio::{Channel, RadioChip, WifiMode};
use espbench_model::text::counted;

/// Nodes alike.
struct NodeGroup {
    name: String,
    profile: Arc<Profile>,
    count: u16,
    at: Option<Point>,
    distance_m: f64,
    channel: u8,
    mode: WifiMode,
    fallback: Vec<WifiMode>,
    power_dbm: Option<f64>,
    antenna_dbi: Option<f64>,
    pattern: Option<Pattern>,
    firmware: Firmware,
    coexistence: Option<Coexistence>,
    application: Application,
    /// The number of the group among all of the lab.
    number: u32,
    /// The offset at which it begins in the text.
    start: usize,
}

impl Build<'_> {
    /// Returns the nodes. The initiator is node 0; the others follow in the order of the file.
    pub(super) fn nodes(
        &self,
        layers: Layers<'_>,
        ends: NetworkEnds<'_>,
    ) -> Result<Vec<Device>, FileError> {
        let mut groups = Vec::new();
        for (number, name) in (0..).zip(layers.parts(DEVICE_TABLE)) {
            let layer = layers.part(DEVICE_TABLE, name);
            let table = self.table(Layers { variant: &layer, lab: &NOTHING }, DEVICE_TABLE, name);
            if table.runs_esp_now() {
                groups.push(table.node_group(number, ends)?);
            } else if self.is_of_nodes() {
                let message = "`program`: devices that speak IP need a [[variant]]";
                return Err(table.wrong("program", message));
            }
        }
        let Some(last) = groups.len().checked_sub(1) else { return Ok(Vec::new()) };
        let initiator = self.named(layers, "initiator", &groups)?.unwrap_or(0);
        let varied = self.named(layers, "varied", &groups)?.unwrap_or(last);
        self.check(&groups, initiator)?;
        if let Some(devices) = self.change.devices {
            self.count(&mut groups, devices, (initiator, varied))?;
        }
        if let Some((nearest, farthest)) = self.change.distance_m {
            self.distance(&mut groups, (nearest, farthest), initiator)?;
        }
        let origin = groups[initiator].at.unwrap_or_default();
        let order = core::iter::once(initiator).chain((0..=last).filter(|&at| at != initiator));
        let mut nodes = Vec::new();
        for at in order {
            let group = &groups[at];
            let mut random = self.group_places(group.number);
            let middle = group.at.unwrap_or(Point { x: origin.x + group.distance_m, ..origin });
            // With variants a group of one stands where its middle is.
            let pattern = group.pattern.filter(|_| group.count > 1 || self.is_of_nodes());
            for number in 0..group.count {
                let place =
                    pattern.map_or(middle, |it| it.place(middle, number, group.count, &mut random));
                nodes.push(self.change.set_node(group.device(place, self.change)));
            }
        }
        Ok(nodes)
    }

    /// Returns the group that a key of the lab names.
    fn named(
        &self,
        layers: Layers<'_>,
        key: &str,
        groups: &[NodeGroup],
    ) -> Result<Option<usize>, FileError> {
        let Some(wanted) = layers.text("", key) else { return Ok(None) };
        let at = groups.iter().position(|it| it.name == wanted);
        at.map(Some).ok_or_else(|| {
            let known: Vec<&str> = groups.iter().map(|it| it.name.as_str()).collect();
            let hint = hint(wanted, &known);
            self.wrong(layers, "", key, format!("`{key}`: no group is called `{wanted}`{hint}"))
        })
    }

    fn check(&self, groups: &[NodeGroup], initiator: usize) -> Result<(), FileError> {
        let first = &groups[initiator];
        if self.is_of_nodes() && first.count != 1 {
            let message = format!("the initiator's group, `{}`, has one device", first.name);
            return Err(self.text.wrong(first.start, message));
        }
        let mut devices = 0;
        for group in groups {
            devices += usize::from(group.count);
            if devices > MOST_NODES {
                let name = &group.name;
                let message = format!(
                    "with `{name}` there are {devices} devices: a lab has at most {MOST_NODES}"
                );
                return Err(self.text.wrong(group.start, message));
            }
        }
        Ok(())
    }

    /// Returns an error about what a test wants.
    fn unchanged(&self, message: impl Into<String>) -> FileError {
        FileError::whole(self.text.file, message)
    }

    /// Makes so many devices beside the initiator: those of the varied group and of the others.
    fn count(
        &self,
        groups: &mut [NodeGroup],
        devices: u16,
        (initiator, varied): (usize, usize),
    ) -> Result<(), FileError> {
        if varied == initiator {
            let message = "it has one device: no group could have another number";
            return Err(self.unchanged(message));
        }
        let fixed: u16 = (groups.iter().enumerate())
            .filter(|(at, _)| *at != varied && *at != initiator)
            .map(|(_, group)| group.count)
            .sum();
        let group = &mut groups[varied];
        let Some(count) = devices.checked_sub(fixed).filter(|&it| it > 0) else {
            let least = fixed + 1;
            let message = format!(
                "it has at least {} beside the initiator",
                counted(least.into(), "device", "devices")
            );
            return Err(self.unchanged(message));
        };
        if usize::from(devices) > MOST_NODES {
            return Err(self.unchanged(format!("a lab has at most {MOST_NODES} devices")));
        }
        if count > 1 && group.pattern.is_none() {
            let name = &group.name;
            return Err(self.unchanged(format!(
                "`{name}` has one device, and {count} need places: add [group.line], [group.grid], [group.ring] or \
                 [group.cluster] to the group, or use a lab that has one, such as many-boards"
            )));
        }
        group.count = count;
        Ok(())
    }

    /// Moves the groups that do not stand where `at` says.
    fn distance(
        &self,
        groups: &mut [NodeGroup],
        (nearest, farthest): (f64, f64),
        initiator: usize,
    ) -> Result<(), FileError> {
        if !(0.0..=farthest).contains(&nearest) || farthest > ROOM_M {
            return Err(self.unchanged(format!(
                "{nearest} to {farthest} m: distances are 0 to {ROOM_M} m, and the nearest is the first"
            )));
        }
        let mut moved = false;
        for (at, group) in groups.iter_mut().enumerate() {
            if at == initiator || group.at.is_some() {
                continue;
            }
            moved = true;
            let around = group.pattern.filter(|_| group.distance_m == 0.0);
            match around.and_then(|pattern| pattern.at_distance(nearest, farthest)) {
                Some(pattern) => group.pattern = Some(pattern),
                None => group.distance_m = f64::midpoint(nearest, farthest),
            }
        }
        if moved {
            return Ok(());
        }
        Err(self.unchanged(
            "its devices stand where `at` says: another distance needs a group with `distance_m`",
        ))
    }
}

impl DeviceTable<'_> {
    /// Returns whether its devices run the esp-now component.
    pub(super) fn runs_esp_now(&self) -> bool {
        match self.layers.find(self.table, "program") {
            Some(_) => self.layers.word(self.table, "program") == ESP_NOW,
            None => self.build.is_of_nodes(),
        }
    }

    /// Returns its nodes as a group.
    fn node_group(&self, number: u32, ends: NetworkEnds<'_>) -> Result<NodeGroup, FileError> {
        let layer = self.layers.variant;
        if let Some(it) = layer.values.iter().find(|it| !OF_NODES.contains(&it.key)) {
            let message = format!("`{}`: a device with `program = \"esp-now\"` has none", it.key);
            return Err(self.wrong(it.key, message));
        }
        if let Some(&(key, _, at)) = layer.sdk.first() {
            let message = format!("`{}`: the esp-now component has [group.firmware]", key.name());
            return Err(self.build.text.wrong(at, message));
        }
        let (count, pattern) = self.places()?;
        let change = self.build.change;
        let wrong = |message: String| self.build.unchanged(message);
        let profile = match &change.profile {
            Some(name) => self.build.library.chip(name)?,
            None => self.named_profile()?,
        };
        change.check_clock(profile.chip).map_err(wrong)?;
        let (clock, idle_clock) = self.node_clocks(&profile)?;
        change.check_options_of_nodes(profile.chip).map_err(wrong)?;
        let modes = |key| self.layers.modes(self.table, key);
        let mode = modes("esp_now_mode").or_else(|| modes("mode"));
        let set = change.mode().map_err(wrong)?;
        // A mode that a plan sets is that of all attempts.
        let fallback = modes("fallback").filter(|_| set.is_none()).unwrap_or_default();
        let router = ends.routers.first();
        let own = || self.number("channel").map(|it| it as u8);
        let channel =
            change.channel.or_else(own).unwrap_or_else(|| router.map_or(1, |it| it.channel));
        let group = NodeGroup {
            name: self.name.clone(),
            count,
            at: self.node_at(ends)?,
            distance_m: self.number("distance_m").unwrap_or(0.0),
            channel,
            mode: set
                .or_else(|| mode.and_then(|it| it.first().copied()))
                .unwrap_or_else(|| WifiMode::esp_now_on(channel)),
            fallback: fallback.to_vec(),
            power_dbm: change.power_dbm.or_else(|| self.number("power_dbm")),
            antenna_dbi: self.antenna_dbi()?,
            pattern,
            firmware: self.layers.firmware(self.table),
            coexistence: self.coexistence(profile.chip)?,
            application: self.application(),
            number,
            start: layer.start,
            profile: change.profile_of_node(profile, clock, idle_clock),
        };
        if let Some(message) = channel_refused(group.profile.chip, group.channel) {
            return Err(self.wrong("channel", message));
        }
        if let Some(message) = group.unable(group.profile.chip) {
            return Err(self.wrong("esp_now_mode", message));
        }
        self.check_application(&group)?;
        Ok(group)
    }

    /// Returns the clock of its nodes, and that while nothing runs, where the plan or the file says so.
    fn node_clocks(&self, profile: &Profile) -> Result<(Option<u32>, Option<u32>), FileError> {
        let change = self.build.change;
        let own = |key| self.number(key).map(|it| it as u32);
        let (chip, key) = (profile.chip, CLOCK);
        let clock = match (change.clock_mhz, own(key)) {
            // What is said of one profile need not hold for another.
            (None, Some(mhz)) if change.profile.is_none() => {
                runs_at(chip, key, mhz).map_err(|it| self.wrong(key, it))?;
                Some(mhz)
            }
            (set, _) => set,
        };
        let (clock_mhz, key) = (clock.unwrap_or(profile.processor.clock_mhz), IDLE_CLOCK);
        let idle = match (change.idle_clock_mhz, own(key)) {
            (Some(mhz), _) => {
                scales_to(chip, clock_mhz, mhz).map_err(|it| self.build.unchanged(it))?;
                Some(mhz)
            }
            (None, Some(mhz)) if change.profile.is_none() && change.clock_mhz.is_none() => {
                scales_to(chip, clock_mhz, mhz).map_err(|it| self.wrong(key, it))?;
                Some(mhz)
            }
            // The plan's clock may be one from which the file's does not differ.
            (None, mhz) => mhz.filter(|it| scales_to(chip, clock_mhz, *it).is_ok()),
        };
        Ok((clock, idle))
    }

    /// Returns the middle of its nodes; nothing where it is so far from the initiator.
    fn node_at(&self, ends: NetworkEnds<'_>) -> Result<Option<Point>, FileError> {
        if !self.build.is_of_nodes() {
            return Ok(Some(self.at(ends.origin(ends.routers.first()))));
        }
        let at = self.layers.place(self.table, "at");
        if at.is_some() && self.number("distance_m").is_some() {
            let message = "`distance_m`: the group has `at`, too: give one of the two";
            return Err(self.wrong("distance_m", message));
        }
        Ok(at)
    }

    /// Checks that a node can do what its application is to do.
    fn check_application(&self, group: &NodeGroup) -> Result<(), FileError> {
        match group.application {
            Application::None => Ok(()),
            _ if self.build.is_of_nodes() => {
                let message = "`application`: it needs a [[variant]], in which others are measured";
                Err(self.wrong("application", message))
            }
            Application::Reports { bytes, .. } => {
                let node = group.device(Point::default(), &Overrides::default());
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

impl NodeGroup {
    /// Returns what a chip cannot do that it is to do here.
    fn unable(&self, chip: RadioChip) -> Option<String> {
        let modes = core::iter::once(&self.mode).chain(&self.fallback);
        let mut modes = modes.into_iter();
        let channel = Channel::of(self.channel);
        if let Some(mode) = modes.clone().find(|mode| !channel.is_some_and(|it| it.has(**mode))) {
            let name = &self.name;
            return Some(format!(
                "`{name}` cannot send {mode} on channel {}: 5 GHz has no DSSS, CCK and Long Range, use 6M",
                self.channel
            ));
        }
        let mode = modes.find(|mode| !chip.sends(**mode))?;
        Some(format!("`{}` cannot send {mode}: {}", self.name, unsent(chip, *mode)))
    }

    /// Returns a device of the group, at its place.
    fn device(&self, at: Point, change: &Overrides) -> Device {
        let profile = &self.profile;
        Device {
            settings: self.firmware.settings(
                profile.chip.name(),
                profile.tick_hz,
                profile.tx_buffers,
                change.encrypted,
            ),
            services: self.firmware.services(),
            mode: self.mode,
            fallback: self.fallback.clone(),
            channel: self.channel,
            power_dbm: self.power_dbm,
            antenna_dbi: self.antenna_dbi,
            log: self.firmware.log,
            remote_log: self.firmware.remote_log,
            application: self.application,
            coexistence: self.coexistence,
            ..Device::new(&self.name, profile.clone(), at)
        }
    }
}
