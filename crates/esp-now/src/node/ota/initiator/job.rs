//! The stages of a job.

use super::send::Send;
use super::{COMMAND, JobStage, OtaInitiator, TAG, Totals};
use crate::component::DataType;
use crate::component::group::MEMBERS_MAX;
use crate::component::ota::OtaStatus;
use crate::node::board::Slot;
use crate::node::ota::bits;
use crate::node::ota::devices::UpgradeFate;
use crate::node::ota::seconds;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, TaskStep};

impl<const D: usize, const A: usize, const B: usize> OtaInitiator<D, A, B> {
    pub(super) fn verify(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let Some(check) = self.check.as_mut() else {
            self.end(cx);
            return TaskStep::Idle;
        };
        let Some(verdict) = check.step(cx) else { return TaskStep::Until(cx.now) };
        self.check = None;
        let total = cx.board.image_len(Slot::Spare);
        let chunk = cx.shared.settings.compat.ota_chunk() as u32;
        let packets = u16::try_from(total.div_ceil(chunk)).unwrap_or(u16::MAX);
        let most = cx.shared.settings.compat.ota_packets().min((B * 8).min(65_535) as u16);
        let (Ok(image), true) = (verdict, packets <= most) else {
            let text = format_args!("The image in the spare partition cannot be sent");
            cx.log(LogLevel::Error, TAG, text);
            self.end(cx);
            return TaskStep::Idle;
        };
        self.status = OtaStatus { digest: image.digest(), packets, total, ..OtaStatus::default() };
        let text = format_args!(
            "[espnow_ota_initiator_send, 390]: total_size: {total}, packet_num: {packets}"
        );
        cx.log(LogLevel::Info, TAG, text);
        self.round = 0;
        if self.everyone {
            self.scan(cx, 3000);
        } else if self.devices.is_empty() {
            cx.log(LogLevel::Error, TAG, format_args!("No device to be upgraded was given"));
            self.stage = JobStage::Report;
        } else {
            self.stage = JobStage::Join(0);
        }
        TaskStep::Until(cx.now)
    }

    pub(super) fn join(&mut self, cx: &mut Cx<'_>, chunk: u16) -> TaskStep {
        if chunk == 0 {
            self.magic = cx.magic();
        }
        let all = if self.everyone { 1 } else { self.devices.len() };
        if usize::from(chunk) * MEMBERS_MAX < usize::from(all) && !self.stop {
            return self.send_now(Send::Join(chunk));
        }
        cx.shared.air.listen(DataType::OtaStatus, true);
        self.stage = JobStage::Round;
        TaskStep::Until(cx.now)
    }

    pub(super) fn begin_round(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if let Some(step) = self.leaver() {
            return step;
        }
        self.hear_notes();
        if let Some(step) = self.leaver() {
            return step;
        }
        let open = self.devices.count(UpgradeFate::Open);
        if self.round >= self.options.rounds || open == 0 || self.stop {
            self.stage = JobStage::Leave(0);
            return TaskStep::Until(cx.now);
        }
        self.totals.rounds = self.round.saturating_add(1);
        self.bits.fill(0xFF);
        self.requested = 0;
        (self.attempt, self.wait_ms, self.erasing) = (0, self.options.waits_ms[0], None);
        self.magic = cx.magic();
        self.devices.iter_mut().for_each(|d| d.answered = false);
        self.stage = JobStage::Ask;
        TaskStep::Until(cx.now)
    }

    pub(super) fn next_chunk(&mut self, cx: &mut Cx<'_>, from: u16) -> TaskStep {
        let next = bits::next_clear(&self.bits, from, self.status.packets);
        if let Some(seq) = next.filter(|_| !self.stop) {
            self.stage = JobStage::Data(seq);
            return self.send_now(Send::Data(seq));
        }
        self.round = self.round.saturating_add(1);
        self.stage = JobStage::Round;
        TaskStep::Until(cx.now)
    }

    pub(super) fn leave(&mut self, cx: &mut Cx<'_>, chunk: u16) -> TaskStep {
        if chunk == 0 {
            cx.shared.air.listen(DataType::OtaStatus, false);
            self.hear_notes();
            self.magic = cx.magic();
        }
        let left = self.leftovers().count();
        if usize::from(chunk) * MEMBERS_MAX < left {
            return self.send_now(Send::Leave(chunk));
        }
        self.stage = JobStage::Report;
        TaskStep::Until(cx.now)
    }

    pub(super) fn report(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let count = |fate| self.devices.count(fate);
        let totals = Totals {
            done: count(UpgradeFate::Done),
            had: count(UpgradeFate::Had),
            stopped: count(UpgradeFate::Stopped),
            refused: count(UpgradeFate::Refused),
            unfinished: count(UpgradeFate::Open),
            dropped: self.devices.dropped,
            ..self.totals
        };
        let seconds = seconds(cx, self.started);
        let text =
            format_args!("Firmware is sent to the device to complete, Spend time: {seconds}s");
        cx.log(LogLevel::Info, COMMAND, text);
        let left = totals.unfinished.saturating_add(totals.refused);
        let text = format_args!(
            "Devices upgrade completed, successed_num: {}, unfinished_num: {left}",
            totals.done
        );
        cx.log(LogLevel::Info, COMMAND, text);
        self.totals = totals;
        cx.event(EspNowEvent::UpgradeSent {
            done: totals.done.saturating_add(totals.had),
            unfinished: left.saturating_add(totals.stopped),
        });
        self.end(cx);
        TaskStep::Idle
    }
}
