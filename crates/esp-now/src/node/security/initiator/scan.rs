//! Search for devices that wait for a key, and the printed list of them.

use super::{ExchangePhase, FoundDevice, KeyMark, ReportForm, SecurityInitiator, count};
use crate::component::DataType;
use crate::component::handshake::SecurityInfo;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, Received, TaskStep};
use core::fmt;
use espbench_ieee80211::mac::Mac;

/// Number of requests.
const ASKS: u8 = 5;

/// Number of addresses in one part of the printed list.
const LIST_PART: usize = 40;

impl<const DEVICES: usize, const SESSIONS: usize> SecurityInitiator<DEVICES, SESSIONS> {
    pub(super) fn ask(&mut self, cx: &mut Cx<'_>, wait_ms: u32) {
        self.devices.clear();
        self.wait_ticks = cx.shared.settings.tick.ticks(wait_ms);
        self.began = cx.now;
        // One packet id for all five rounds (section 3.4): a device that has answered once drops
        // the rest as duplicates.
        self.magic = cx.magic();
        cx.shared.air.listen(DataType::SecurityStatus, true);
        self.phase = ExchangePhase::Ask(0);
    }

    /// Returns the next step: one more request, or the end of the search. The component compares
    /// unsigned numbers, so that its time is over only if it is exactly over at this point (section
    /// 3.4).
    pub(super) fn check_ask(&mut self, cx: &mut Cx<'_>, round: u8) -> Option<TaskStep> {
        let elapsed = cx.shared.settings.tick.between(self.began, cx.now) as u32;
        if round < ASKS && self.wait_ticks != elapsed {
            return Some(TaskStep::Send);
        }
        self.scanned = cx.now;
        match self.report {
            ReportForm::Command if self.devices.is_empty() => {
                self.end_scan(cx, ExchangePhase::Idle)
            }
            ReportForm::Command => self.end_scan(cx, ExchangePhase::List(0)),
            ReportForm::Application(tag) => {
                let num = self.devices.len();
                cx.log(LogLevel::Warn, tag, format_args!("espnow wait security num: {num}"));
                self.end_scan(cx, ExchangePhase::Idle);
                if num == 0 {
                    cx.event(EspNowEvent::KeysSent { done: 0, unfinished: 0 });
                    self.wipe();
                } else {
                    self.want(Mac::BROADCAST);
                    self.begin_exchange(cx);
                }
            }
        }
        None
    }

    /// Waits after a request. The first wait is 500 ticks, the others are 500 ms (section 3.4).
    pub(super) fn asked(&mut self, cx: &mut Cx<'_>, round: u8) {
        let tick = cx.shared.settings.tick;
        let until = if round == 0 { tick.delay(cx.now, 500) } else { tick.delay_ms(cx.now, 500) };
        self.phase = ExchangePhase::Listen(round, until);
    }

    pub(super) fn end_scan(&mut self, cx: &mut Cx<'_>, next: ExchangePhase) {
        cx.shared.air.listen(DataType::SecurityStatus, false);
        self.phase = next;
    }

    /// Takes the answer of a device.
    pub(super) fn found(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>, info: SecurityInfo) {
        if !matches!(self.phase, ExchangePhase::Ask(_) | ExchangePhase::Listen(..)) {
            return count(&mut self.counts.refused);
        }
        let ours = info.version == 1 && info.client == cx.shared.air.mac;
        if ours || self.devices.iter().any(|device| device.mac == frame.from) {
            return;
        }
        let device = FoundDevice {
            mac: frame.from,
            rssi: frame.rssi,
            channel: frame.channel,
            version: info.version,
            mark: KeyMark::Idle,
        };
        if self.devices.push(device).is_err() {
            count(&mut self.counts.no_room);
        }
    }

    /// Prints the next part of the list: addresses on one line, a head, one line for each.
    pub(super) fn print_list(&mut self, cx: &mut Cx<'_>, line: u16) -> TaskStep {
        const TAG: &str = "espnow_cmd";
        let parts = self.devices.len().div_ceil(LIST_PART);
        let line = usize::from(line);
        if line < parts {
            self.print_addresses(cx, line, parts);
        } else if line == parts {
            let head = "|         mac       | Channel | Rssi | Security version |";
            cx.log(LogLevel::Info, TAG, format_args!("{head}"));
        } else if let Some(device) = self.devices.get(line - parts - 1) {
            let FoundDevice { mac, channel, rssi, version, .. } = *device;
            let row = format_args!("| {mac} |   {channel}   |  {rssi}  | {version} |");
            cx.log(LogLevel::Info, TAG, row);
        } else {
            self.phase = ExchangePhase::Idle;
            return TaskStep::Idle;
        }
        self.phase = ExchangePhase::List((line as u16).saturating_add(1));
        TaskStep::Until(cx.now)
    }

    /// Prints a part of the addresses, which are one line however long it is, as on the device. A
    /// long line is printed in parts, on the console only: the remote log would cut it after 250
    /// bytes in any case.
    fn print_addresses(&self, cx: &mut Cx<'_>, part: usize, parts: usize) {
        let num = self.devices.len();
        let list = DeviceAddresses(self.devices.chunks(LIST_PART).nth(part).unwrap_or(&[]));
        if parts == 1 {
            let line = format_args!("info, num: {num}, list: {list}");
            return cx.log(LogLevel::Info, "espnow_cmd", line);
        }
        if cx.shared.print.uart < LogLevel::Info {
            return;
        }
        let ms = cx.now.as_nanos() / 1_000_000;
        if part == 0 {
            cx.text(format_args!("I ({ms}) espnow_cmd: info, num: {num}, list: {list}"));
        } else {
            cx.text(format_args!("{list}{}", if part + 1 == parts { "\n" } else { "" }));
        }
    }
}

struct DeviceAddresses<'a>(&'a [FoundDevice]);

impl fmt::Display for DeviceAddresses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|device| write!(f, "{}|", device.mac))
    }
}
