//! A device joins a router: what its Wi-Fi does when the application calls `esp_wifi_connect`.
//!
//! It tunes to one channel after the other of those that its country and ESP-IDF's release make it
//! scan (`Country::scanned`), for the profile's `scan_dwell` each: no longer where ESP-IDF only
//! listens, since it waits for beacons on all of them here. It hears the beacons that are really on
//! the air there, and takes the router of its SSID that it heard best. Then the
//! profile's `join` goes by: authentication, association, the four-way handshake and DHCP are time
//! here, not frames. From then on its channel is the router's, and locked. Without such a router,
//! or with a password that is not the router's, the application tries [`RETRIES`] times again and
//! gives up. It counts as Espressif's `solution` does: from its start, or since it last joined, so
//! that new credentials after it gave up are tried once.

use super::mac_host::MacHost;
use super::tap::Tap;
use crate::lab::nodes::node::Node;
use crate::lab::nodes::{MemoryBoard, NodeId};
use crate::lab::scene::Device;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::node::Input;
use esp_now::node::board::{Board, NvsKey};
use esp_now::node::print::LogLevel;
use esp_now::node::prov::STORED_LEN;
use esp_now::node::task::EspNowEvent;
use espbench_dot11::mac::{Reception, WirelessMedium};
use espbench_model::time::Instant;

/// Bytes of an SSID in [`NvsKey::Wifi`].
const SSID_LEN: usize = 32;

/// `EXAMPLE_ESP_MAXIMUM_RETRY` in examples/solution/components/espnow_device/responder.c of
/// espressif/esp-now.
const RETRIES: u8 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Scanning, last on this channel: 0 at the beginning.
    Scan(u8),
    /// To have joined this router.
    Join(u32),
    Joined,
    /// To try no more, since then.
    GivenUp(Instant),
    /// To leave.
    Leave,
}

#[derive(Clone, Debug)]
struct Joiner {
    phase: Phase,
    ssid: Vec<u8>,
    password: Vec<u8>,
    /// The router that was heard best, and how well.
    best: Option<(u32, i8)>,
}

/// Devices that are joining, or have joined.
#[derive(Debug, Default)]
pub(super) struct JoiningDevices {
    devices: BTreeMap<NodeId, Joiner>,
    /// Number of devices that listen to beacons.
    scanning: u32,
    /// Number of times that each device has tried again since it started or last joined.
    retries: BTreeMap<NodeId, u8>,
    /// Time at which each device joined, and its router.
    pub(super) joined: BTreeMap<NodeId, (Instant, u32)>,
    /// Devices whose address is printed.
    printing: BTreeSet<NodeId>,
}

/// Returns the bytes up to the first zero.
fn text(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default().into()
}

impl JoiningDevices {
    /// Returns what is known of devices that have not started.
    pub(super) fn of(devices: &[Device]) -> Self {
        let printing = devices.iter().enumerate().filter(|(_, device)| device.prints_address);
        let printing = printing.map(|(node, _)| NodeId(node as u16)).collect();
        Self { printing, ..Self::default() }
    }

    /// Takes an event of a device's application; returns whether the device now has something to do
    /// at once.
    pub(super) fn told(
        &mut self,
        node: NodeId,
        event: EspNowEvent,
        board: &mut MemoryBoard,
    ) -> bool {
        match event {
            EspNowEvent::Provisioned(_) | EspNowEvent::Connect => {
                let mut stored = [0; STORED_LEN];
                let Some(len) = board.load(NvsKey::Wifi, &mut stored) else { return false };
                let (ssid, password) = stored[..len].split_at(SSID_LEN.min(len));
                self.stop(node);
                self.scanning += 1;
                let (ssid, password) = (text(ssid), text(password));
                let joiner = Joiner { phase: Phase::Scan(0), ssid, password, best: None };
                self.devices.insert(node, joiner);
                true
            }
            EspNowEvent::Disconnect => {
                let was = self.devices.contains_key(&node);
                self.stop(node);
                if was {
                    let (ssid, password) = (Vec::new(), Vec::new());
                    let joiner = Joiner { phase: Phase::Leave, ssid, password, best: None };
                    self.devices.insert(node, joiner);
                }
                was
            }
            _ => false,
        }
    }

    /// Forgets a device that is switched off.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.stop(node);
        self.retries.remove(&node);
    }

    /// Returns whether the application of a device that could not join tries again.
    fn retry(&mut self, node: NodeId) -> bool {
        let retries = self.retries.entry(node).or_default();
        let again = *retries < RETRIES;
        *retries += u8::from(again);
        again
    }

    /// Lets a device begin anew.
    fn stop(&mut self, node: NodeId) {
        let before = self.devices.remove(&node);
        self.scanning -= u32::from(before.is_some_and(|it| matches!(it.phase, Phase::Scan(_))));
        self.joined.remove(&node);
    }

    /// Returns how far a device has got.
    pub(super) fn progress(&self, node: NodeId) -> super::Joining {
        let phase = self.devices.get(&node).map(|it| it.phase);
        match (self.joined.get(&node), phase) {
            (Some((at, _)), _) => super::Joining::Joined(*at),
            (None, Some(Phase::Scan(_) | Phase::Join(_))) => super::Joining::Trying,
            (None, Some(Phase::GivenUp(at))) => super::Joining::GivenUp(at),
            _ => super::Joining::Idle,
        }
    }

    /// Returns whether anybody wants beacons.
    #[inline]
    pub(super) const fn listens(&self) -> bool {
        self.scanning > 0
    }

    /// Takes a beacon with that SSID, heard on that channel. A beacon states its channel (9.4.2.4),
    /// and so does not count where it was overheard from another one.
    pub(super) fn beacon(&mut self, router: u32, channel: u8, ssid: &[u8], heard: &[Reception]) {
        for (node, joiner) in &mut self.devices {
            if joiner.phase != Phase::Scan(channel) || joiner.ssid != ssid {
                continue;
            }
            let station = u32::from(node.0);
            let Ok(at) = heard.binary_search_by_key(&station, |it| it.station) else { continue };
            let rssi = heard[at].rssi;
            if joiner.best.is_none_or(|(_, best)| rssi > best) {
                joiner.best = Some((router, rssi));
            }
        }
    }
}

impl<W: Tap> MacHost<'_, '_, W> {
    /// Continues a device's joining.
    pub(super) fn join(&mut self, room: &mut WirelessMedium, node: NodeId, token: u64) {
        let lab_drivers = &mut *self.lab_drivers;
        let Some(joiner) = lab_drivers.joining.devices.get_mut(&node) else { return };
        let profile = lab_drivers.drivers[node.index()].profile.clone();
        let device = self.device_set.members[node.index()].device.as_ref();
        let mut channels = device.map_or(0..0, |it| {
            let shared = it.shared();
            shared.air.wifi_country.scanned(shared.settings.compat.idf)
        });
        match joiner.phase {
            Phase::Scan(last) => {
                if let Some(channel) = channels.find(|&it| it > last) {
                    joiner.phase = Phase::Scan(channel);
                    room.tune(u32::from(node.0), channel, profile.hop);
                    room.wake_in(profile.hop + profile.scan_dwell, token);
                    return;
                }
                let found = joiner
                    .best
                    .take()
                    .map(|(router, _)| router)
                    .filter(|router| lab_drivers.others.password(*router) == joiner.password);
                joiner.phase = found.map_or(Phase::Scan(0), Phase::Join);
                if found.is_some() {
                    lab_drivers.joining.scanning -= 1;
                    room.wake_in(profile.join, token);
                } else if lab_drivers.joining.retry(node) {
                    room.wake_in(Duration::ZERO, token);
                } else {
                    self.give_up(room.now(), node);
                }
            }
            Phase::Join(router) => {
                joiner.phase = Phase::Joined;
                lab_drivers.joining.joined.insert(node, (room.now(), router));
                lab_drivers.joining.retries.remove(&node);
                self.device_set.news += 1;
                let channel = room.channel(lab_drivers.others.first[0] + router);
                self.on_channel(room, node, channel, true);
                if self.lab_drivers.joining.printing.contains(&node) {
                    self.print_address(room, node);
                }
            }
            Phase::Leave => {
                lab_drivers.joining.devices.remove(&node);
                let channel = room.channel(u32::from(node.0));
                self.on_channel(room, node, channel, false);
            }
            Phase::Joined | Phase::GivenUp(_) => {}
        }
    }

    /// Prints the address that a device got from the network's DHCP server, as ESP-IDF's
    /// `esp_netif_handlers` do.
    fn print_address(&mut self, room: &mut WirelessMedium, node: NodeId) {
        let [high, low] = (node.0 + 2).to_be_bytes();
        self.act(room, |device_set, link| {
            let print = |device: &mut Box<Node>, now: Instant, board: &mut dyn Board| {
                let text = format_args!(
                    "sta ip: 192.168.{high}.{low}, mask: 255.255.0.0, gw: 192.168.0.1"
                );
                device.log(now, board, LogLevel::Info, "esp_netif_handlers", text);
            };
            device_set.apply(link, node, print).map(|_| ())
        });
    }

    fn give_up(&mut self, now: Instant, node: NodeId) {
        let joining = &mut self.lab_drivers.joining;
        if let Some(joiner) = joining.devices.get_mut(&node) {
            joiner.phase = Phase::GivenUp(now);
            joining.scanning -= 1;
            self.device_set.news += 1;
        }
    }

    /// Tunes a device to a channel, and tells it whether it may leave it.
    fn on_channel(&mut self, room: &mut WirelessMedium, node: NodeId, channel: u8, locked: bool) {
        let hop = self.lab_drivers.drivers[node.index()].profile.hop;
        room.tune(u32::from(node.0), channel, hop);
        if let Some(device) = &mut self.device_set.members[node.index()].device {
            device.shared_mut().air.channel = channel;
        }
        self.act(room, |device_set, link| {
            device_set.input(link, node, Input::ChannelLocked(locked))
        });
    }
}
