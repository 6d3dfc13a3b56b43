//! The device: finds a holder, asks, and waits; repeats this until it has credentials.

use super::{COMMAND_TAG, STORED_LEN, TAG, error_name, outgoing};
use crate::component::prov::{ProvDevice, ProvIdentity, ProvMessage, WifiCredentials};
use crate::component::{DataType, FrameConfig};
use crate::node::board::{CpuWork, NvsKey};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, Received, SendRequest, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use zeroize::Zeroize;

/// Time on a channel, in ms: one period of the beacons, and a little.
const HOP_MS: u32 = 110;
/// Time of the command for a scan, and for an answer, in ms.
const WAIT_MS: u32 = 3000;
/// Period at which the answer is looked for, in ms.
const POLL_MS: u32 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DevicePhase {
    #[default]
    Off,
    /// Receives on the `index`-th channel of the country until `hop`.
    Scanning {
        index: u8,
        hop: Instant,
    },
    /// Waits for the lock to send DEVICE.
    Wanted,
    InFlight,
    Sent(TransmitOutcome),
    /// Looks for the answer at this instant.
    Waiting(Instant),
    Done,
}

/// Beacon of a holder.
#[derive(Clone, Copy, Debug)]
struct HeardBeacon {
    from: Mac,
    channel: u8,
    rssi: i8,
    identity: ProvIdentity,
}

#[derive(Debug, Default)]
pub(super) struct DeviceRole {
    phase: DevicePhase,
    /// End of the scan, or of the wait for an answer.
    deadline: Instant,
    beacon: Option<HeardBeacon>,
    provisioned: bool,
}

impl DeviceRole {
    pub(super) fn is_started(&self) -> bool {
        self.phase != DevicePhase::Off
    }

    pub(super) const fn is_seeking(&self) -> bool {
        !matches!(self.phase, DevicePhase::Off | DevicePhase::Done)
    }

    /// Begins a scan.
    pub(super) fn scan(&mut self, cx: &mut Cx<'_>) {
        self.beacon = None;
        self.deadline = deadline(cx);
        cx.shared.air.listen(DataType::Prov, true);
        self.hop(cx, 0);
    }

    fn hop(&mut self, cx: &mut Cx<'_>, index: u8) {
        let country = cx.shared.air.country;
        if index < country.count {
            cx.shared.air.tune(country.first.saturating_add(index));
        }
        self.phase =
            DevicePhase::Scanning { index, hop: cx.shared.settings.tick.pause_ms(cx.now, HOP_MS) };
    }

    /// Takes a beacon: the scan ends with this hop, and the last beacon in it counts.
    pub(super) fn beacon(&mut self, frame: &Received<'_>, identity: ProvIdentity) {
        if matches!(self.phase, DevicePhase::Scanning { .. }) {
            let Received { from, channel, rssi, .. } = *frame;
            self.beacon = Some(HeardBeacon { from, channel, rssi, identity });
        }
    }

    /// Takes credentials, from any sender.
    pub(super) fn wifi(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>, wifi: &WifiCredentials) {
        if !matches!(self.phase, DevicePhase::Waiting(_)) {
            return;
        }
        let (from, channel, rssi) = (frame.from, frame.channel, frame.rssi);
        let (mode, ssid, token) = (wifi.mode.cast_signed(), wifi.ssid, wifi.token);
        let password = &wifi.password;
        let text = format_args!(
            "MAC: {from}, Channel: {channel}, RSSI: {rssi}, wifi_mode: {mode}, ssid: {ssid}, \
             password: {password}, token: {token}"
        );
        cx.log(LogLevel::Info, COMMAND_TAG, text);
        let mut stored = [0; STORED_LEN];
        let (ssid, password) = stored.split_at_mut(wifi.ssid.0.len());
        ssid.copy_from_slice(&wifi.ssid.0);
        password.copy_from_slice(&wifi.password.0);
        cx.spend(CpuWork::Write { bytes: STORED_LEN as u32 });
        let saved = cx.board.save(NvsKey::Wifi, &stored);
        stored.zeroize();
        if !saved {
            cx.log(LogLevel::Error, COMMAND_TAG, format_args!("credentials were not stored"));
        } else if !self.provisioned {
            self.provisioned = true;
            cx.event(EspNowEvent::Provisioned(from));
        }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        // At most: the end of a wait, a new scan, its first hop.
        loop {
            match self.phase {
                DevicePhase::Off | DevicePhase::Done | DevicePhase::InFlight => {
                    return TaskStep::Idle;
                }
                DevicePhase::Wanted => return TaskStep::Send,
                DevicePhase::Scanning { hop, .. } | DevicePhase::Waiting(hop) if cx.now < hop => {
                    return TaskStep::Until(hop);
                }
                DevicePhase::Scanning { index, .. } => self.look_around(cx, index),
                DevicePhase::Sent(outcome) => self.settle(cx, outcome),
                DevicePhase::Waiting(_) => self.look_for_answer(cx),
            }
        }
    }

    /// Ends a hop: with a beacon, wants to send DEVICE; else goes to the next channel.
    fn look_around(&mut self, cx: &mut Cx<'_>, index: u8) {
        if let Some(beacon) = self.beacon {
            cx.shared.air.listen(DataType::Prov, false);
            let HeardBeacon { from, channel, rssi, identity } = beacon;
            let ProvIdentity { product_id, device_name } = identity;
            let text = format_args!(
                "MAC: {from}, Channel: {channel}, RSSI: {rssi}, Product_id: {product_id}, \
                 Device Name: {device_name}"
            );
            cx.log(LogLevel::Info, COMMAND_TAG, text);
            self.deadline = deadline(cx);
            self.phase = DevicePhase::Wanted;
            return;
        }
        let next = index.saturating_add(1);
        if next < cx.shared.air.country.count {
            self.hop(cx, next);
        } else if cx.now < self.deadline {
            // The time is only checked after a round over all channels.
            self.hop(cx, 0);
        } else {
            self.scan(cx);
        }
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        identity: ProvIdentity,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        if self.phase != DevicePhase::Wanted {
            return None;
        }
        let asking = ProvDevice { identity, ..ProvDevice::default() };
        let len = ProvMessage::Device(asking).emit(payload, cx.shared.settings.compat);
        let (Some(beacon), Some(len)) = (self.beacon, len) else {
            self.phase = DevicePhase::Sent(TransmitOutcome::Refused);
            return None;
        };
        self.phase = DevicePhase::InFlight;
        let config = FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST };
        Some(outgoing(cx, beacon.from, config, len))
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if self.phase != DevicePhase::InFlight {
            return;
        }
        if outcome.is_done() {
            // Now, not in `run`: the answer may be the next frame.
            cx.shared.air.listen(DataType::Prov, true);
            self.provisioned = false;
            self.phase = DevicePhase::Waiting(cx.now);
        } else {
            self.phase = DevicePhase::Sent(outcome);
        }
    }

    /// Prints that DEVICE was not delivered, and begins a new scan.
    fn settle(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        let name = error_name(outcome);
        let text = format_args!("[espnow_prov_initiator_send, 212] <{name}> espnow_write");
        cx.log(LogLevel::Warn, TAG, text);
        self.again(cx, name);
    }

    fn look_for_answer(&mut self, cx: &mut Cx<'_>) {
        if !self.provisioned && cx.now < self.deadline {
            self.phase = DevicePhase::Waiting(cx.shared.settings.tick.pause_ms(cx.now, POLL_MS));
            return;
        }
        cx.shared.air.listen(DataType::Prov, false);
        if self.provisioned {
            cx.log(LogLevel::Info, COMMAND_TAG, format_args!("provisioning initiator exit"));
            self.phase = DevicePhase::Done;
        } else {
            self.again(cx, "ESP_FAIL");
        }
    }

    fn again(&mut self, cx: &mut Cx<'_>, name: &str) {
        // The component prints this wrong function name.
        let text =
            format_args!("[provisioning_initiator, 318]: <{name}> espnow_prov_responder_add");
        cx.log(LogLevel::Warn, COMMAND_TAG, text);
        self.scan(cx);
    }
}

/// Returns the end of a wait that begins now.
fn deadline(cx: &Cx<'_>) -> Instant {
    cx.shared.settings.tick.delay_ms(cx.now, WAIT_MS)
}
