//! The stations of a scene, as the medium has them: their order, places, powers and MACs.

use super::link_trace::TracedLinks;
use super::{AccessPoint, Dongle, NetDevice, NetRole, PcLink, Scene};
use crate::lab::radio::{Radio, StationRadio, receivers};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use espbench_dot11::air::AdjacentChannels;
use espbench_dot11::mac::{AmpduConfig, MacConfig, MediumConfig};
use espbench_dot11::radio::{
    BasicRates, Channel, ErrorModelDecoder, ErrorTable, RadioChip, Receiver, Timing, TxPower,
};
use espbench_dot11::wifi::{Membership, Memberships};
use espbench_model::sdkconfig::SdkConfig;

/// Best effort, as all data here: AIFSN 3 and windows of 15 to 1023 slots (Table 9-155).
const BEST_EFFORT: Timing = Timing { aifsn: 3, cw_min: 15, cw_max: 1023, ..Timing::ERP_SHORT_SLOT };

/// The number of PCs' and routers' A-MPDU windows where nothing limits them.
const MOST: u8 = 64;

/// The numbers of a scene's stations in the room, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationNumbers {
    /// Nodes of ESP-NOW.
    pub nodes: Range<u32>,
    /// Routers that only send beacons.
    pub routers: Range<u32>,
    /// Access points.
    pub access_points: Range<u32>,
    /// Devices that speak IP.
    pub devices: Range<u32>,
    /// The PC's radio, if it has one.
    pub dongle: Range<u32>,
    /// Stations of other people.
    pub background: Range<u32>,
}

/// The access points as they arrive at a device.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardAccessPoints {
    /// Number of the one that it joins; `None` for a device in no network.
    pub joins: Option<u16>,
    /// Mean power of each, in dBm.
    pub rssi_dbm: Vec<f64>,
}

impl Scene {
    /// Returns the numbers of its stations.
    #[must_use]
    pub fn numbers(&self) -> StationNumbers {
        let mut next = 0;
        let mut of = |count: usize| {
            let first = next;
            next += count as u32;
            first..next
        };
        StationNumbers {
            nodes: of(self.nodes.len()),
            routers: of(self.routers.len()),
            access_points: of(self.access_points.len()),
            devices: of(self.devices.len()),
            dongle: of(usize::from(self.dongle().is_some())),
            background: of(self.background.len()),
        }
    }

    /// Returns the number of stations.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.numbers().background.end as usize
    }

    /// Returns the radio of the PC, if it has one.
    pub(super) fn dongle(&self) -> Option<&Dongle> {
        match &self.pc.as_ref()?.link {
            PcLink::Air(dongle) => Some(dongle),
            PcLink::Wire { .. } => None,
        }
    }

    /// Returns the names of its stations, by their numbers in the room, and after them of a PC on a
    /// wire.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let nodes = (0..self.nodes.len()).map(|number| format!("node{number}"));
        let routers = self.routers.iter().map(|it| it.name.clone());
        let access_points = self.access_points.iter().map(|it| it.name.clone());
        let devices = self.devices.iter().map(|it| it.name.clone());
        let dongle = self.dongle().map(|_| "PC".into());
        let wired = (self.pc.is_some() && dongle.is_none()).then(|| "PC".into());
        let others = self.background.iter().map(|it| it.name.clone());
        let names = nodes.chain(routers).chain(access_points).chain(devices);
        names.chain(dongle).chain(others).chain(wired).collect()
    }

    /// Returns the access point of each device: the one that its file names, else the one that is
    /// strongest at its place. `None` for a device in no network, and where a device is the access
    /// point.
    #[must_use]
    pub fn networks(&self, seed: u64) -> Vec<Option<u16>> {
        let StationNumbers { access_points, devices, .. } = self.numbers();
        let radios = if access_points.len() > 1 { self.radios_of(&[]) } else { Vec::new() };
        let strongest = |device: u32| {
            let arrives = |ap: &u16| {
                let (from, to) = (access_points.start + u32::from(*ap), devices.start + device);
                self.environment.arriving_dbm(&radios, seed, from, to)
            };
            // The last of equal ones would be taken.
            let routers = (0..access_points.len() as u16).rev();
            routers.max_by(|a, b| arrives(a).total_cmp(&arrives(b)))
        };
        let network = |(number, it): (usize, &NetDevice)| match it.role {
            NetRole::Station => it.access_point.or_else(|| strongest(number as u32)),
            NetRole::SoftAp | NetRole::Alone => None,
        };
        self.devices.iter().enumerate().map(network).collect()
    }

    /// Returns how each access point arrives at each device, and which one it joins.
    #[must_use]
    pub fn heard_access_points(&self, seed: u64) -> Vec<HeardAccessPoints> {
        let StationNumbers { access_points, devices, .. } = self.numbers();
        let (networks, radios) = (self.networks(seed), self.radios(seed));
        let heard = |(to, joins): (u32, Option<u16>)| {
            let arrives = |from| self.environment.arriving_dbm(&radios, seed, from, to);
            HeardAccessPoints { joins, rssi_dbm: access_points.clone().map(arrives).collect() }
        };
        devices.zip(networks).map(heard).collect()
    }

    /// Returns which access point each measured device is in; one in no network, and one that is the access point
    /// itself, is left out.
    #[must_use]
    pub fn measured_memberships(&self, seed: u64) -> Memberships {
        let heard = self.heard_access_points(seed);
        let measured = self.devices.iter().zip(heard).take(self.measured.into());
        let member = |(device, heard): (&NetDevice, HeardAccessPoints)| {
            let ap = usize::from(heard.joins?);
            let it = self.access_points.get(ap)?;
            Some(Membership {
                station: device.name.clone(),
                access_point: it.name.clone(),
                channel: it.channel,
                rssi_dbm: *heard.rssi_dbm.get(ap)?,
            })
        };
        Memberships(measured.filter_map(member).collect())
    }

    /// Returns for each station the station that is its access point, and its number among the
    /// stations of that, from 1; an access point, or a station of no network, is its own, with
    /// number 0.
    #[must_use]
    pub fn memberships(&self, seed: u64) -> Vec<(u32, u16)> {
        let StationNumbers { access_points, devices, background, .. } = self.numbers();
        let without = access_points.is_empty();
        let soft_ap = self.devices.iter().position(|it| it.role == NetRole::SoftAp);
        let usual = match soft_ap.filter(|_| without) {
            Some(number) => devices.start + number as u32,
            None => access_points.start,
        };
        let networks = self.networks(seed);
        let mut counts = BTreeMap::new();
        let of = |station: u32| {
            if station < devices.start || without && station == usual {
                return (station, 0);
            }
            let network = networks.get((station - devices.start) as usize).copied().flatten();
            let ap = network.map_or(usual, |it| access_points.start + u32::from(it));
            let count = counts.entry(ap).or_insert(0);
            *count += 1;
            (ap, *count)
        };
        (0..background.end).map(of).collect()
    }

    /// Returns how strongly one station arrives at another, dBm, before any receiver: negative
    /// infinity for one that is not there.
    #[must_use]
    pub fn arriving_dbm(&self, seed: u64, from: u32, to: u32) -> f64 {
        self.environment.arriving_dbm(&self.radios(seed), seed, from, to)
    }

    /// Returns the channel of a network; without routers, that of the first device.
    pub(super) fn channel(&self, network: Option<u16>) -> u8 {
        let router = self.access_points.get(usize::from(network.unwrap_or(0)));
        router.map_or_else(
            || self.devices.first().map_or(1, |it| it.channel),
            |router| router.channel,
        )
    }

    /// Returns the stations as radio sees them.
    pub(in crate::lab) fn radios(&self, seed: u64) -> Vec<StationRadio> {
        self.radios_of(&self.networks(seed))
    }

    /// Returns the stations as radio sees them, with the devices in these networks.
    fn radios_of(&self, networks: &[Option<u16>]) -> Vec<StationRadio> {
        // Receivers of routers, PCs and other people's stations are taken for those of an ESP32, with
        // dipoles whose gain the loss of their cables takes.
        let flat = |at, power_dbm, channel| StationRadio {
            at,
            output: Arc::new(TxPower::flat(power_dbm)),
            channel,
            chip: RadioChip::Esp32,
            antenna_dbi: 0.0,
            walls_db: 0.0,
        };
        let nodes = self.nodes.iter().map(|it| StationRadio {
            at: it.at,
            output: Arc::new(TxPower::on(it.profile.chip, it.power_dbm(), it.channel)),
            channel: it.channel,
            chip: it.profile.chip,
            antenna_dbi: it.antenna_dbi(),
            walls_db: it.walls_db,
        });
        let routers = self.routers.iter().map(|it| flat(it.at, it.power_dbm, it.channel));
        let aps = self.access_points.iter().map(|it| flat(it.at, it.power_dbm, it.channel));
        let devices = self.devices.iter().enumerate().map(|(number, it)| StationRadio {
            at: it.at,
            output: Arc::new(TxPower::of(it.profile.chip, it.power_dbm)),
            channel: match it.role {
                NetRole::Alone => it.channel,
                _ => self.channel(networks.get(number).copied().flatten()),
            },
            chip: it.profile.chip,
            antenna_dbi: it.antenna_dbi,
            walls_db: 0.0,
        });
        let dongle = self.dongle().map(|it| flat(it.at, it.power_dbm, self.channel(None)));
        let others = self.background.iter().map(|it| flat(it.at, it.power_dbm, it.channel));
        nodes.chain(routers).chain(aps).chain(devices).chain(dongle).chain(others).collect()
    }

    /// Returns the medium of this scene; the seed draws the shadowing.
    #[must_use]
    pub fn radio(&self, seed: u64) -> Radio {
        let radios: Arc<[StationRadio]> = self.radios(seed).into();
        let links = self.environment.links(&radios, seed, self.traced_links(&radios));
        let (kinds, receivers) = receivers(&self.environment, &radios, &ErrorTable::shared());
        let settings = self.macs().into_iter().zip(radios.iter()).zip(kinds).map(
            |((mac, radio), receiver)| MacConfig {
                channel: radio.channel,
                receiver,
                output: Some(radio.output.clone()),
                ..mac
            },
        );
        let adjacent = AdjacentChannels::shared().clone();
        Radio {
            links,
            receivers,
            medium: MediumConfig { adjacent, ..MediumConfig::default() },
            settings: settings.collect(),
        }
    }

    /// Returns the links that a trace drives.
    pub(in crate::lab) fn traced_links(&self, radios: &[StationRadio]) -> Option<TracedLinks> {
        let trace = self.link_trace.as_ref()?;
        let names = self.names();
        let station = |name: &str| names.iter().position(|it| it == name).map(|it| it as u32);
        let errors = ErrorTable::shared();
        let mode = trace.frame.mode;
        Some(TracedLinks::new(trace, station, |number| {
            let chip = radios.get(number as usize).map_or(RadioChip::Esp32, |it| it.chip);
            let receiver = Receiver::of(chip);
            let found = ErrorModelDecoder::new(errors.clone(), receiver.clone()).found_dbm(mode);
            (found, receiver)
        }))
    }

    /// Returns the MAC of each station, but for channel, receiver and power.
    fn macs(&self) -> Vec<MacConfig> {
        // A network without 802.11b stations uses short slots (18.4.5), which a station of no
        // network is not told of: it gets its turn late (docs/fit.md).
        let other = || MacConfig {
            timing: Timing::ERP_SHORT_SLOT,
            basic: BasicRates::BG,
            buffers: 256,
            ..MacConfig::default()
        };
        let nodes = self.nodes.iter().map(|it| MacConfig {
            fallback: it.fallback.clone(),
            ..esp_now(&it.profile, it.channel)
        });
        let routers = self.routers.iter().map(|_| other());
        let access_points = self.access_points.iter().map(access_point);
        let devices = self.devices.iter().map(device);
        let dongle = self.dongle().map(|it| data(window(it.ampdu, MOST.into()), 1024));
        let others = (self.background.iter())
            .map(|it| MacConfig { fallback: it.fallback.clone(), ..other() });
        nodes
            .chain(routers)
            .chain(access_points)
            .chain(devices)
            .chain(dongle)
            .chain(others)
            .collect()
    }
}

/// Returns the times of ESP-NOW on a channel: the long slot in 2.4 GHz; in 5 GHz there is no other than the short one, and
/// `CWmin` is 15 where the profile's is of 11b.
pub(in crate::lab) fn esp_now_timing((least, most): (u16, u16), channel: u8) -> Timing {
    if Channel::of(channel).is_some_and(Channel::is_5_ghz) {
        let usual = Timing::BAND_5_GHZ;
        return Timing { cw_min: least.min(usual.cw_min), cw_max: most, ..usual };
    }
    Timing { cw_min: least, cw_max: most, ..Timing::HR }
}

/// Returns the MAC of a device that sends ESP-NOW in no network.
fn esp_now(profile: &crate::lab::profile::Profile, channel: u8) -> MacConfig {
    MacConfig {
        timing: esp_now_timing(profile.window, channel),
        short_retry_limit: profile.attempts,
        long_retry_limit: profile.attempts,
        buffers: usize::from(profile.tx_buffers),
        ..MacConfig::default()
    }
}

/// Returns the MAC of a station that sends data of a network.
fn data(ampdu: Option<AmpduConfig>, buffers: usize) -> MacConfig {
    MacConfig { timing: BEST_EFFORT, basic: BasicRates::BG, ampdu, buffers, ..MacConfig::default() }
}

fn access_point(it: &AccessPoint) -> MacConfig {
    MacConfig {
        rts: it.rts,
        txop_ns: it.burst.as_nanos() as u64,
        rts_threshold: if it.rts { 2346 } else { u32::MAX },
        ..data(window(it.ampdu, MOST.into()), usize::from(it.queue))
    }
}

fn device(it: &NetDevice) -> MacConfig {
    if it.role == NetRole::Alone {
        return esp_now(&it.profile, it.channel);
    }
    let SdkConfig { tx, tx_ba_window, rx_ba_window, .. } = it.sdk;
    // Management frames do not take from the buffers for data.
    let buffers = usize::from(tx) + 8;
    data(window(tx_ba_window.into(), rx_ba_window.into()), buffers)
}

/// Returns how many MPDUs a station aggregates and takes; nothing where both are none.
fn window(send: u16, receive: u16) -> Option<AmpduConfig> {
    let within = |it: u16| it.clamp(1, MOST.into()) as u8;
    (send > 0 || receive > 0).then(|| AmpduConfig {
        send: within(send),
        receive: within(receive),
        ..AmpduConfig::MOST
    })
}
