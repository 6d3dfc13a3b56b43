//! A lab's file to a scene.

use super::key::ROOM_M;
use super::lab::{File, Group, MOST_DEVICES};
use super::wrong::Wrong;
use super::{Overrides, Surroundings};
use crate::lab::profile::Profile;
use crate::lab::scene::{Background, Device, Point, Scene};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_dot11::random::{Purpose, RngStream};

/// A lab and what it refers to.
pub(super) struct Build<'l> {
    pub(super) name: &'l str,
    /// As errors call it.
    pub(super) file: &'l str,
    pub(super) lab: &'l File,
    pub(super) surroundings: Surroundings,
    /// One for each group.
    pub(super) profiles: Vec<Arc<Profile>>,
}

impl Build<'_> {
    /// The scene.
    pub(super) fn scene(self, change: &Overrides, seed: u64) -> Result<Scene, Wrong> {
        let groups = self.changed(change)?;
        let first = &groups[self.lab.initiator];
        let origin = first.at.unwrap_or_default();
        let mut nodes = Vec::new();
        // The initiator is node 0; the others follow in the order of the file.
        let order = core::iter::once(self.lab.initiator)
            .chain((0..groups.len()).filter(|&at| at != self.lab.initiator));
        for at in order {
            let group = &groups[at];
            let mut random = RngStream::stream(seed, at as u32, Purpose::Place);
            let middle = group.at.unwrap_or(Point { x: origin.x + group.distance_m, ..origin });
            for number in 0..group.count {
                let place = group.pattern.map_or(middle, |pattern| {
                    pattern.place(middle, number, group.count, &mut random)
                });
                nodes.push(device(group, &self.profiles[at], place, change));
            }
        }
        let mut environment = self.surroundings.environment;
        environment.sources.extend(self.lab.sources.iter().cloned());
        Ok(Scene {
            title: self.lab.title.clone(),
            nodes,
            routers: self.lab.routers.clone(),
            background: joined(self.surroundings.background, &self.lab.background),
            ..Scene::new(self.name, environment)
        })
    }

    /// The groups, as a test wants them.
    fn changed(&self, change: &Overrides) -> Result<Vec<Group>, Wrong> {
        let mut groups = self.lab.groups.clone();
        if let Some(devices) = change.devices {
            self.count(&mut groups, devices)?;
        }
        if let Some((nearest, farthest)) = change.distance_m {
            self.distance(&mut groups, nearest, farthest)?;
        }
        Ok(groups)
    }

    fn wrong(&self, message: impl Into<alloc::string::String>) -> Wrong {
        Wrong::whole(self.file, message)
    }

    /// So many devices beside the initiator: those of the varied group and of the others.
    fn count(&self, groups: &mut [Group], devices: u16) -> Result<(), Wrong> {
        let varied = self.lab.varied;
        if varied == self.lab.initiator {
            return Err(self.wrong("it has one device: no group could have another number"));
        }
        let fixed: u16 = (groups.iter().enumerate())
            .filter(|(at, _)| *at != varied && *at != self.lab.initiator)
            .map(|(_, group)| group.count)
            .sum();
        let group = &mut groups[varied];
        let Some(count) = devices.checked_sub(fixed).filter(|&it| it > 0) else {
            let least = fixed + 1;
            return Err(self.wrong(format!("it has at least {least} devices beside the initiator")));
        };
        if usize::from(devices) > MOST_DEVICES {
            return Err(self.wrong(format!("a lab has at most {MOST_DEVICES} devices")));
        }
        if count > 1 && group.pattern.is_none() {
            let name = &group.name;
            return Err(self.wrong(format!(
                "{count} devices in `{name}` need [group.line], .grid, .ring or .cluster"
            )));
        }
        group.count = count;
        Ok(())
    }

    fn distance(&self, groups: &mut [Group], nearest: f64, farthest: f64) -> Result<(), Wrong> {
        if !(0.0..=farthest).contains(&nearest) || farthest > ROOM_M {
            return Err(self.wrong(format!(
                "{nearest} to {farthest} m: distances are 0 to {ROOM_M} m, and the nearest is the first"
            )));
        }
        let mut moved = false;
        for (at, group) in groups.iter_mut().enumerate() {
            if at == self.lab.initiator || group.at.is_some() {
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
        Err(self.wrong(
            "its devices stand where `at` says: another distance needs a group with `distance_m`",
        ))
    }
}

/// Returns a device of a group, at its place.
pub(super) fn device(
    group: &Group,
    profile: &Arc<Profile>,
    at: Point,
    change: &Overrides,
) -> Device {
    Device {
        settings: group.firmware.settings(
            profile.chip.name(),
            profile.tick_hz,
            profile.tx_buffers,
            change.encrypted,
        ),
        services: group.firmware.services(),
        mode: group.mode,
        fallback: group.fallback.clone(),
        channel: group.channel,
        power_dbm: group.power_dbm,
        log: group.firmware.log,
        remote_log: group.firmware.remote_log,
        ..Device::new(&group.name, profile.clone(), at)
    }
}

/// Stations of the environment, then those of the lab, whose partners are counted on.
fn joined(mut first: Vec<Background>, more: &[Background]) -> Vec<Background> {
    let before = first.len() as u16;
    first
        .extend(more.iter().map(|it| Background { to: it.to.map(|to| to + before), ..it.clone() }));
    first
}
