//! Answers of devices, and their consequences (`espnow_ota_request_status`).

use super::{ATTEMPTS, JobStage, OtaInitiator, SHORT_WAIT_MS, Send, TAG};
use crate::component::ota::{OtaCode, OtaStatus};
use crate::node::ota::devices::{DeviceNote, OtaDevice, UpgradeFate};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, TaskStep};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

impl OtaDevice {
    /// Records that a device refused the image. The first refusal is forgiven if another try may
    /// help.
    fn refuse(&mut self, for_good: bool) {
        self.refusals = self.refusals.saturating_add(1);
        if for_good || self.refusals > 1 {
            self.fate = UpgradeFate::Refused;
        }
    }

    fn leave(&mut self, fate: UpgradeFate) {
        (self.fate, self.leaves) = (fate, true);
    }
}

impl<const D: usize, const A: usize, const B: usize> OtaInitiator<D, A, B> {
    /// Takes a device's answer about its progress.
    pub(super) fn answered(&mut self, cx: &mut Cx<'_>, from: Mac, status: &OtaStatus, row: &[u8]) {
        if !matches!(self.stage, JobStage::Ask | JobStage::Wait(_)) {
            return self.take_note(from, status);
        }
        let ours = status.same_image(&self.status);
        let Some(device) = self.devices.find(from).filter(|d| d.fate == UpgradeFate::Open) else {
            return;
        };
        match status.code {
            OtaCode::Stop | OtaCode::Finish => {
                device.answered = true;
                device.leave(if status.code == OtaCode::Stop {
                    UpgradeFate::Stopped
                } else {
                    UpgradeFate::Had
                });
                // The component prints this text for both codes.
                let text = "<ESP_ERR_ESPNOW_OTA_FIRMWARE_PARTITION> response_data->error_code: ";
                cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            }
            _ if !ours => return,
            OtaCode::NotInit => {
                self.wait_ms = self.options.erase_ms;
                self.erasing = Some(from);
            }
            code => {
                if self.erasing == Some(from) && self.wait_ms == self.options.erase_ms {
                    self.wait_ms = SHORT_WAIT_MS;
                }
                let first = !device.answered;
                device.answered = true;
                match code {
                    _ if !first => {}
                    OtaCode::Partition => device.refuse(true),
                    OtaCode::Invalid | OtaCode::Download => device.refuse(false),
                    _ if status.written == status.total => device.leave(UpgradeFate::Done),
                    _ => {
                        let row_len = cx.shared.settings.compat.ota_row();
                        self.lacks(status, row.get(..row_len).unwrap_or(row), row_len);
                    }
                }
            }
        }
        if let JobStage::Wait(_) = self.stage {
            self.stage = JobStage::Wait(None);
        }
    }

    /// Marks the packets that a device lacks: those whose bits are 0 in its row, or all.
    fn lacks(&mut self, status: &OtaStatus, row: &[u8], row_len: usize) {
        self.requested = self.requested.saturating_add(1);
        let bytes = usize::from(self.status.packets).div_ceil(8);
        if status.written == 0 || row.is_empty() {
            return self.bits.iter_mut().take(bytes).for_each(|b| *b = 0);
        }
        let from = usize::from(status.index).saturating_mul(row_len);
        for (bits, has) in self.bits.iter_mut().take(bytes).skip(from).zip(row) {
            *bits &= has;
        }
    }

    /// Stores an answer that came while data are being sent; it is considered when the next round
    /// begins.
    fn take_note(&mut self, from: Mac, status: &OtaStatus) {
        let ours = status.same_image(&self.status);
        let note = match status.code {
            OtaCode::Finish => DeviceNote::Has,
            OtaCode::Stop => DeviceNote::Stopped,
            OtaCode::Partition if ours => DeviceNote::Refused(true),
            OtaCode::Invalid | OtaCode::Download if ours => DeviceNote::Refused(false),
            OtaCode::Ok if ours && status.written == status.total => DeviceNote::Has,
            _ => return,
        };
        if let Some(device) = self.devices.find(from) {
            device.note = Some(note);
        }
    }

    pub(super) fn hear_notes(&mut self) {
        for device in self.devices.iter_mut().filter(|d| d.fate == UpgradeFate::Open) {
            match device.note.take() {
                Some(DeviceNote::Has) => device.leave(UpgradeFate::Done),
                Some(DeviceNote::Stopped) => device.leave(UpgradeFate::Stopped),
                Some(DeviceNote::Refused(for_good)) => device.refuse(for_good),
                None => {}
            }
        }
    }

    /// Sends the devices that are to leave the group out of it, one after the other.
    pub(super) fn leaver(&mut self) -> Option<TaskStep> {
        let at = self.devices.iter().position(|d| d.leaves)?;
        Some(self.send_now(Send::LeaveOne(at as u16)))
    }

    pub(super) fn wait(&mut self, cx: &mut Cx<'_>, until: Option<Instant>) -> TaskStep {
        if let Some(step) = self.leaver() {
            return step;
        }
        if self.stop || self.silent() == 0 {
            return self.verdict(cx);
        }
        let tick = cx.shared.settings.tick;
        let Some(until) = until else {
            let until = tick.delay_ms(cx.now, self.wait_ms);
            self.stage = JobStage::Wait(Some(until));
            return TaskStep::Until(until);
        };
        if cx.now < until {
            return TaskStep::Until(until);
        }
        let ticks = tick.ticks(self.wait_ms);
        let text = format_args!("[espnow_ota_request_status, 289]: <ESP_OK> wait_ticks: {ticks}");
        cx.log(LogLevel::Warn, TAG, text);
        self.attempt = self.attempt.saturating_add(1);
        if self.attempt >= ATTEMPTS {
            return self.verdict(cx);
        }
        (self.wait_ms, self.erasing) = (self.options.waits_ms[1], None);
        self.stage = JobStage::Ask;
        TaskStep::Until(cx.now)
    }

    /// Counts the devices from which an answer is missing.
    fn silent(&self) -> u16 {
        self.devices.iter().filter(|d| d.fate == UpgradeFate::Open && !d.answered).count() as u16
    }

    /// Evaluates a round whose answers are in, or will not come.
    fn verdict(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let (silent, open) = (self.silent(), self.devices.count(UpgradeFate::Open));
        self.stage = JobStage::Leave(0);
        if silent > 0 && silent == open {
            cx.log(LogLevel::Warn, TAG, format_args!("ESP_ERR_ESPNOW_OTA_DEVICE_NO_EXIST"));
            return TaskStep::Until(cx.now);
        }
        if silent > 0 {
            cx.log(LogLevel::Warn, TAG, format_args!("ESP_ERR_ESPNOW_OTA_SEND_PACKET_LOSS"));
        }
        if open == 0 || self.stop {
            return TaskStep::Until(cx.now);
        }
        let left = open.saturating_add(self.devices.count(UpgradeFate::Refused));
        let (round, requested, done) =
            (self.round, self.requested, self.devices.count(UpgradeFate::Done));
        // The first two numbers are swapped, as in the component.
        let text = format_args!(
            "count: {round}, Upgrade_initiator_send, requested_num: {left}, \
             unfinished_num: {requested}, successed_num: {done}"
        );
        cx.log(LogLevel::Info, TAG, text);
        self.stage = JobStage::Data(if requested > 0 { 0 } else { u16::MAX });
        TaskStep::Until(cx.now)
    }

    /// Returns the devices that are in the group when the job ends.
    pub(super) fn leftovers(&self) -> impl Iterator<Item = Mac> + '_ {
        let left =
            |d: &&OtaDevice| d.leaves || matches!(d.fate, UpgradeFate::Open | UpgradeFate::Refused);
        self.devices.iter().filter(left).map(|d| d.mac)
    }
}
