//! The device: finds a holder, asks, and waits; again until it has credentials.

use super::{COMMAND_TAG, STORED_LEN, TAG, error_name, outgoing};
use crate::node::esp_now::board::{Key, Work};
use crate::node::esp_now::print::Level;
use crate::node::esp_now::task::{Cx, Event, Outcome, Outgoing, Received, Step};
use crate::time::Instant;
use crate::wire::component::prov::{Device as Asking, Identity, Prov, Wifi};
use crate::wire::component::{DataType, FrameConfig};
use crate::wire::mac::Mac;
use zeroize::Zeroize;

/// Stay on a channel: one period of the beacons, and a little.
const HOP_MS: u32 = 110;
/// The command's time for a scan, and for an answer.
const WAIT_MS: u32 = 3000;
/// How often the answer is looked for.
const POLL_MS: u32 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Off,
    /// On the `index`-th channel of the country until then.
    Scanning {
        index: u8,
        hop: Instant,
    },
    /// Wants the lock for DEVICE.
    Wanted,
    InFlight,
    Sent(Outcome),
    /// Looks for the answer at that time.
    Waiting(Instant),
    Done,
}

/// The holder that was heard.
#[derive(Clone, Copy, Debug)]
struct Beacon {
    from: Mac,
    channel: u8,
    rssi: i8,
    identity: Identity,
}

#[derive(Debug, Default)]
pub(super) struct Device {
    phase: Phase,
    /// The end of the scan, or of the wait for an answer.
    deadline: Instant,
    beacon: Option<Beacon>,
    provisioned: bool,
}

impl Device {
    pub(super) fn is_started(&self) -> bool {
        self.phase != Phase::Off
    }

    pub(super) const fn is_seeking(&self) -> bool {
        !matches!(self.phase, Phase::Off | Phase::Done)
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
            Phase::Scanning { index, hop: cx.shared.settings.tick.pause_ms(cx.now, HOP_MS) };
    }

    /// A beacon: the scan ends with this hop, and the last one that came in it counts.
    pub(super) fn beacon(&mut self, frame: &Received<'_>, identity: Identity) {
        if matches!(self.phase, Phase::Scanning { .. }) {
            let Received { from, channel, rssi, .. } = *frame;
            self.beacon = Some(Beacon { from, channel, rssi, identity });
        }
    }

    /// Credentials, from whomever.
    pub(super) fn wifi(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>, wifi: &Wifi) {
        if !matches!(self.phase, Phase::Waiting(_)) {
            return;
        }
        let (from, channel, rssi) = (frame.from, frame.channel, frame.rssi);
        let (mode, ssid, token) = (wifi.mode.cast_signed(), wifi.ssid, wifi.token);
        let password = &wifi.password;
        let text = format_args!(
            "MAC: {from}, Channel: {channel}, RSSI: {rssi}, wifi_mode: {mode}, ssid: {ssid}, \
             password: {password}, token: {token}"
        );
        cx.log(Level::Info, COMMAND_TAG, text);
        let mut stored = [0; STORED_LEN];
        let (ssid, password) = stored.split_at_mut(wifi.ssid.0.len());
        ssid.copy_from_slice(&wifi.ssid.0);
        password.copy_from_slice(&wifi.password.0);
        cx.spend(Work::Write { bytes: STORED_LEN as u32 });
        let saved = cx.board.save(Key::Wifi, &stored);
        stored.zeroize();
        if !saved {
            cx.log(Level::Error, COMMAND_TAG, format_args!("credentials were not stored"));
        } else if !self.provisioned {
            self.provisioned = true;
            cx.event(Event::Provisioned(from));
        }
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_>) -> Step {
        // At most: the end of a wait, a new scan, its first hop.
        loop {
            match self.phase {
                Phase::Off | Phase::Done | Phase::InFlight => return Step::Idle,
                Phase::Wanted => return Step::Send,
                Phase::Scanning { hop, .. } | Phase::Waiting(hop) if cx.now < hop => {
                    return Step::Until(hop);
                }
                Phase::Scanning { index, .. } => self.look_around(cx, index),
                Phase::Sent(outcome) => self.settle(cx, outcome),
                Phase::Waiting(_) => self.look_for_answer(cx),
            }
        }
    }

    /// A hop is over.
    fn look_around(&mut self, cx: &mut Cx<'_>, index: u8) {
        if let Some(beacon) = self.beacon {
            cx.shared.air.listen(DataType::Prov, false);
            let Beacon { from, channel, rssi, identity } = beacon;
            let Identity { product_id, device_name } = identity;
            let text = format_args!(
                "MAC: {from}, Channel: {channel}, RSSI: {rssi}, Product_id: {product_id}, \
                 Device Name: {device_name}"
            );
            cx.log(Level::Info, COMMAND_TAG, text);
            self.deadline = deadline(cx);
            self.phase = Phase::Wanted;
            return;
        }
        let next = index.saturating_add(1);
        if next < cx.shared.air.country.count {
            self.hop(cx, next);
        } else if cx.now < self.deadline {
            // The time is only looked at after a round over all channels.
            self.hop(cx, 0);
        } else {
            self.scan(cx);
        }
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        identity: Identity,
        payload: &mut [u8],
    ) -> Option<Outgoing> {
        if self.phase != Phase::Wanted {
            return None;
        }
        let asking = Asking { identity, ..Asking::default() };
        let len = Prov::Device(asking).emit(payload, cx.shared.settings.compat);
        let (Some(beacon), Some(len)) = (self.beacon, len) else {
            self.phase = Phase::Sent(Outcome::Refused);
            return None;
        };
        self.phase = Phase::InFlight;
        let config = FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST };
        Some(outgoing(cx, beacon.from, config, len))
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, outcome: Outcome) {
        if self.phase != Phase::InFlight {
            return;
        }
        if outcome.is_done() {
            // Now, not in `run`: the answer may be the next frame.
            cx.shared.air.listen(DataType::Prov, true);
            self.provisioned = false;
            self.phase = Phase::Waiting(cx.now);
        } else {
            self.phase = Phase::Sent(outcome);
        }
    }

    /// DEVICE was not delivered.
    fn settle(&mut self, cx: &mut Cx<'_>, outcome: Outcome) {
        let name = error_name(outcome);
        let text = format_args!("[espnow_prov_initiator_send, 212] <{name}> espnow_write");
        cx.log(Level::Warn, TAG, text);
        self.again(cx, name);
    }

    fn look_for_answer(&mut self, cx: &mut Cx<'_>) {
        if !self.provisioned && cx.now < self.deadline {
            self.phase = Phase::Waiting(cx.shared.settings.tick.pause_ms(cx.now, POLL_MS));
            return;
        }
        cx.shared.air.listen(DataType::Prov, false);
        if self.provisioned {
            cx.log(Level::Info, COMMAND_TAG, format_args!("provisioning initiator exit"));
            self.phase = Phase::Done;
        } else {
            self.again(cx, "ESP_FAIL");
        }
    }

    fn again(&mut self, cx: &mut Cx<'_>, name: &str) {
        // The function's name is the component's mistake.
        let text =
            format_args!("[provisioning_initiator, 318]: <{name}> espnow_prov_responder_add");
        cx.log(Level::Warn, COMMAND_TAG, text);
        self.scan(cx);
    }
}

/// The end of a wait that begins now.
fn deadline(cx: &Cx<'_>) -> Instant {
    cx.shared.settings.tick.delay_ms(cx.now, WAIT_MS)
}
