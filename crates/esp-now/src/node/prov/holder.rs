//! The holder: beacons, and answers to devices.

use super::{ASKED_MAX, COMMAND_TAG, TAG, error_name, outgoing};
use crate::component::prov::{ProvDevice, ProvIdentity, ProvMessage, WifiCredentials};
use crate::component::{DataType, FrameConfig};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Received, SendRequest, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use heapless::Deque;

/// Period of the beacons, in ms (`ESPNOW_PROV_BEACON_INTERVAL`).
const BEACON_MS: u32 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HolderPhase {
    #[default]
    Free,
    /// Waits for the lock to send a beacon.
    Beacon,
    /// Waits for the lock to send an answer.
    Answer,
    BeaconSent,
    AnswerSent,
}

#[derive(Debug, Default)]
pub(super) struct HolderRole {
    phase: HolderPhase,
    /// Credentials; present while the holder is on.
    wifi: Option<WifiCredentials>,
    /// Tick at which the time is over; the first beacon after it ends it.
    until: Instant,
    next: Instant,
    found: u32,
    asked: Deque<Mac, ASKED_MAX>,
}

impl HolderRole {
    pub(super) fn start(&mut self, cx: &mut Cx<'_>, ms: u32, wifi: WifiCredentials) {
        let tick = cx.shared.settings.tick;
        let ticks = tick.ticks(ms);
        if !self.is_on() {
            self.next = tick.pause_ms(cx.now, BEACON_MS);
        }
        self.until = tick.delay(cx.now, ticks);
        self.wifi = Some(wifi);
        self.found = 0;
        cx.shared.air.listen(DataType::Prov, true);
        let seconds = tick.ms(ticks.into()) / 1000;
        let text = format_args!("Responder beacon start, timer: {seconds}s");
        cx.log(LogLevel::Info, TAG, text);
    }

    pub(super) const fn is_on(&self) -> bool {
        self.wifi.is_some()
    }

    /// Queues the request of a device; returns false if too many wait.
    pub(super) fn asked(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &Received<'_>,
        device: &ProvDevice,
    ) -> bool {
        if !self.is_on() {
            return true;
        }
        self.found = self.found.saturating_add(1);
        let (num, from, channel, rssi) = (self.found, frame.from, frame.channel, frame.rssi);
        let ProvIdentity { product_id, device_name } = device.identity;
        let (mode, secret) = (device.auth_mode.cast_signed(), device.secret);
        let text = format_args!(
            "NUM: {num}, MAC: {from}, Channel: {channel}, RSSI: {rssi}, Product_id: {product_id}, \
             Device Name: {device_name}, Auth Mode: {mode}, device_secret: {secret}"
        );
        cx.log(LogLevel::Info, COMMAND_TAG, text);
        self.asked.push_back(from).is_ok()
    }

    pub(super) fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        match self.phase {
            HolderPhase::Beacon | HolderPhase::Answer => return TaskStep::Send,
            HolderPhase::BeaconSent | HolderPhase::AnswerSent => return TaskStep::Idle,
            HolderPhase::Free => {}
        }
        if !self.is_on() {
            return TaskStep::Idle;
        }
        if !self.asked.is_empty() {
            self.phase = HolderPhase::Answer;
            return TaskStep::Send;
        }
        if cx.now < self.next {
            return TaskStep::Until(self.next);
        }
        // The component compares ticks: it ends after the tick, not at it.
        if cx.now >= self.until + cx.shared.settings.tick.period() {
            self.wifi = None;
            cx.shared.air.listen(DataType::Prov, false);
            cx.log(LogLevel::Info, TAG, format_args!("Responder beacon end"));
            return TaskStep::Idle;
        }
        self.phase = HolderPhase::Beacon;
        TaskStep::Send
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        identity: ProvIdentity,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        let compat = cx.shared.settings.compat;
        match self.phase {
            HolderPhase::Beacon => {
                self.phase = HolderPhase::BeaconSent;
                let Some(len) = ProvMessage::Beacon(identity).emit(payload, compat) else {
                    self.sent(cx, TransmitOutcome::Refused);
                    return None;
                };
                let config = FrameConfig { filter_adjacent: true, ..FrameConfig::default() };
                let magic = cx.magic();
                Some(SendRequest { magic, ..outgoing(cx, Mac::BROADCAST, config, len) })
            }
            HolderPhase::Answer => {
                self.phase = HolderPhase::AnswerSent;
                let wifi = self.wifi.clone().map(ProvMessage::Wifi);
                let len = wifi.and_then(|wifi| wifi.emit(payload, compat));
                let (Some(&to), Some(len)) = (self.asked.front(), len) else {
                    self.sent(cx, TransmitOutcome::Refused);
                    return None;
                };
                Some(outgoing(cx, to, FrameConfig::default(), len))
            }
            _ => None,
        }
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match self.phase {
            HolderPhase::BeaconSent => {
                let tick = cx.shared.settings.tick;
                let period = tick.period().saturating_mul(tick.ticks(BEACON_MS).max(1));
                self.next = (self.next + period).max(cx.now);
            }
            HolderPhase::AnswerSent => {
                let _ = self.asked.pop_front();
                if !outcome.is_done() {
                    let name = error_name(outcome);
                    let text =
                        format_args!("[espnow_prov_responder_send, 350] <{name}> espnow_send");
                    cx.log(LogLevel::Warn, TAG, text);
                }
            }
            _ => return,
        }
        self.phase = HolderPhase::Free;
    }
}
