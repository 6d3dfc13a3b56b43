//! Changes of a live lab while it runs.

use super::LiveLab;
use super::network::{LiveNetwork, LiveRole};
use crate::lab::nodes::NodeId;
use crate::lab::run::{Lab, Tap};
use crate::lab::scene::{Background, Point, Scene};
use crate::lab::wifi::MachineId;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use espbench_dot11::radio::{Channel, Ofdm, WifiMode, airtime};
use espbench_dot11::wifi::PowerSave;

/// Name of the station that makes the load of others.
pub const WHAT_IF_LOAD: &str = "what-if";

/// Octets of its frames, with their headers.
const LOAD_OCTETS: u32 = 1500;

/// Mode of its frames.
const LOAD_MODE: WifiMode = WifiMode::Ofdm(Ofdm::M24);

/// A property that is changed while a live network runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WhatIf {
    /// Chance with which each frame to and from a device is lost, beside what the radio loses.
    Loss(f64),
    /// Distance of a device from its access point in metres: all its links change by what that one
    /// changes, and walls stay.
    Distance(f64),
    /// Share of the channel's time that the frames of others take.
    Load(f64),
    /// Power save of a device's radio.
    Sleep(PowerSave),
}

/// Adds a silent station near the first access point, or where there is none near the first node, which makes the
/// load of others later.
pub fn add_load(scene: &mut Scene) {
    let ap = scene.access_points.first().map(|it| (it.at, it.channel, it.power_dbm));
    let node = || scene.nodes.first().map(|it| (it.at, it.channel, it.power_dbm()));
    let Some((near, channel, power_dbm)) = ap.or_else(node) else { return };
    let at = Point { x: near.x + 2.0, ..near };
    scene.background.push(Background {
        name: WHAT_IF_LOAD.to_string(),
        at,
        channel,
        power_dbm,
        rate: 0.0,
        burst: 1.0,
        octets: LOAD_OCTETS,
        mode: LOAD_MODE,
        fallback: Vec::new(),
        to: None,
        noise: None,
    });
}

impl LiveNetwork<'_> {
    /// Changes a property of a device, or of all devices, from now on; returns whether there was
    /// something to change.
    pub fn change(&mut self, device: Option<u16>, what: WhatIf) -> bool {
        if let WhatIf::Load(share) = what {
            return self.set_load(share);
        }
        let numbers = (0..).zip(&self.hosts);
        let meant = numbers.filter(|(number, host)| {
            matches!(host.role, LiveRole::Device | LiveRole::Apart)
                && device.is_none_or(|it| it == *number)
        });
        let meant: Vec<u16> = meant.map(|it| it.0).collect();
        let mut changed = false;
        for number in meant {
            changed |= self.change_one(number, what);
        }
        changed
    }

    fn change_one(&mut self, number: u16, what: WhatIf) -> bool {
        let machine = MachineId(number);
        let Some(station) = self.lab.station_of(machine) else { return false };
        match what {
            WhatIf::Loss(chance) => self.lab.set_loss(self.seed, station, chance),
            WhatIf::Distance(metres) => {
                let Some(gain_db) = self.gain_at(number, metres) else { return false };
                self.lab.set_gain(station, gain_db);
            }
            WhatIf::Sleep(sleep) => self.lab.set_sleep(machine, sleep),
            WhatIf::Load(_) => return false,
        }
        true
    }

    /// Returns how much more arrives of a device at a distance from its access point, in dB.
    fn gain_at(&self, number: u16, metres: f64) -> Option<f64> {
        let device = self.scene.devices.get(usize::from(number))?;
        let network = self.scene.networks(self.seed).get(usize::from(number)).copied()??;
        let ap = self.scene.access_points.get(usize::from(network))?;
        let mhz = Channel::of(ap.channel).map_or(2437, Channel::centre_mhz);
        let room = self.scene.environment.room_at(self.seed, mhz);
        // What shadows the link shadows it at each distance.
        let loss = |metres: f64| room.distance_db(metres.max(0.1), mhz);
        Some(loss(device.at.to(ap.at)) - loss(metres))
    }

    /// Lets a station of other people take a share of the channel's time.
    fn set_load(&mut self, share: f64) -> bool {
        set_load(&mut self.lab, &self.scene, share)
    }
}

impl<W: Tap> LiveLab<W> {
    /// Changes a property of a node, or of all nodes, from now on; returns whether there was something to
    /// change. Distances are those from the first node, and nodes do not sleep.
    pub fn change(&mut self, node: Option<NodeId>, what: WhatIf) -> bool {
        if let WhatIf::Load(share) = what {
            return set_load(&mut self.lab, &self.scene, share);
        }
        let nodes = (0..self.scene.nodes.len()).map(|it| NodeId(it as u16));
        let meant: Vec<NodeId> = nodes.filter(|it| node.is_none_or(|node| node == *it)).collect();
        let mut changed = false;
        for node in meant {
            let station = u32::from(node.0);
            match what {
                WhatIf::Loss(chance) => self.lab.set_loss(self.seed, station, chance),
                WhatIf::Distance(metres) => {
                    let Some(gain_db) = self.gain_at(node, metres) else { continue };
                    self.lab.set_gain(station, gain_db);
                }
                WhatIf::Sleep(_) | WhatIf::Load(_) => continue,
            }
            changed = true;
        }
        changed
    }

    /// Returns how much more arrives of a node at a distance from the first, in dB.
    fn gain_at(&self, node: NodeId, metres: f64) -> Option<f64> {
        let first = self.scene.nodes.first()?;
        let device = self.scene.nodes.get(node.index()).filter(|_| node.index() > 0)?;
        let mhz = Channel::of(first.channel).map_or(2437, Channel::centre_mhz);
        let room = self.scene.environment.room_at(self.seed, mhz);
        let loss = |metres: f64| room.distance_db(metres.max(0.1), mhz);
        Some(loss(device.at.to(first.at)) - loss(metres))
    }
}

/// Lets the station of the load take a share of the channel's time; returns whether there is one.
fn set_load<W: Tap>(lab: &mut Lab<'_, W>, scene: &Scene, share: f64) -> bool {
    let number = scene.background.iter().position(|it| it.name == WHAT_IF_LOAD);
    let Some(number) = number else { return false };
    let each = airtime(LOAD_MODE, LOAD_OCTETS) as f64 / 1e9;
    lab.set_background(number as u32, share / each);
    true
}
