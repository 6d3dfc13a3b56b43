//! Answer to a request for status: compares the running image with the announced one, and reports
//! the progress.

use super::{OtaResponder, Reply, ResponderStage, RunningImage, SessionState, TAG};
use crate::component::ota::{OtaCode, OtaStatus};
use crate::node::board::{CpuWork, NvsKey, Slot};
use crate::node::ota::image::ImageCheck;
use crate::node::ota::progress::ImageProgress;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent};

impl<const N: usize> OtaResponder<N> {
    /// Computes the SHA-256 of the running image, which the component does for every status. Here
    /// it is computed once; after that only the time for it is spent.
    pub(super) fn weigh(&mut self, cx: &mut Cx<'_>) -> Option<ResponderStage> {
        let bytes = cx.board.image_len(Slot::Running);
        if let RunningImage::Unknown = self.running {
            let check = self.check.get_or_insert_with(|| ImageCheck::new(Slot::Running, bytes));
            let verdict = check.step(cx)?;
            self.check = None;
            self.running = verdict.map_or(RunningImage::None, RunningImage::Known);
        } else {
            cx.spend(CpuWork::Read { bytes });
            cx.spend(CpuWork::Hash { bytes });
        }
        Some(self.decide(cx))
    }

    pub(super) fn decide(&mut self, cx: &mut Cx<'_>) -> ResponderStage {
        if let RunningImage::Known(image) = self.running
            && image.digest() == self.asked.digest
        {
            let text = "The firmware to be upgraded is the same as the currently running firmware, \
                        so no upgrade";
            cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            return ResponderStage::Reply(Reply::Code(OtaCode::Finish));
        }
        self.load(cx);
        let known = self.refused.filter(|r| r.digest == self.asked.digest);
        if known.is_some_and(|r| r.total == self.asked.total && r.for_good) {
            return ResponderStage::Reply(Reply::Code(OtaCode::Stop));
        }
        let same = self.progress.is_begun() && self.progress.status().same_image(&self.asked);
        match self.session {
            SessionState::Open if same => {
                self.armed = true;
                if self.progress.is_complete() {
                    return ResponderStage::Judge;
                }
                ResponderStage::Reply(Reply::Progress)
            }
            SessionState::Finished if same => ResponderStage::Reply(Reply::Progress),
            _ if !ImageProgress::<N>::takes(&self.asked, cx.shared.settings.compat) => {
                ResponderStage::Reply(Reply::Code(OtaCode::Invalid))
            }
            _ => ResponderStage::Reply(Reply::Code(OtaCode::NotInit)),
        }
    }

    /// Restores an upgrade that a reset has interrupted.
    pub(super) fn load(&mut self, cx: &mut Cx<'_>) {
        if self.loaded {
            return;
        }
        self.loaded = true;
        let board = &mut *cx.board;
        let compat = cx.shared.settings.compat;
        if !self.progress.restore(compat, |out| board.load(NvsKey::Upgrade, out)) {
            return;
        }
        if self.progress.status().total > cx.board.slot_size(Slot::Spare) {
            return self.progress.clear();
        }
        self.session = SessionState::Open;
        self.started = cx.now;
        self.next_percent = self.after(self.progress.percent());
    }

    pub(super) fn after(&self, percent: u8) -> u8 {
        let interval = self.options.interval;
        percent.checked_div(interval).unwrap_or(0).saturating_add(1).saturating_mul(interval)
    }

    /// Erases the flash for the image, as `esp_ota_begin` does.
    pub(super) fn erase(&mut self, cx: &mut Cx<'_>) -> ResponderStage {
        cx.log(LogLevel::Info, TAG, format_args!("The device starts to upgrade"));
        let total = self.asked.total;
        if total > cx.board.slot_size(Slot::Spare) {
            self.forget(cx);
            return ResponderStage::Reply(Reply::Code(OtaCode::Partition));
        }
        cx.spend(CpuWork::Erase { bytes: total.div_ceil(4096).saturating_mul(4096) });
        if !cx.board.erase(total) {
            self.forget(cx);
            return ResponderStage::Reply(Reply::Code(OtaCode::Download));
        }
        self.progress
            .begin(&OtaStatus { code: OtaCode::Ok, ..self.asked }, cx.shared.settings.compat);
        self.session = SessionState::Open;
        self.armed = true;
        self.started = cx.now;
        self.next_percent = self.options.interval;
        self.save(cx);
        cx.event(EspNowEvent::UpgradeStarted);
        ResponderStage::Reply(Reply::Progress)
    }

    pub(super) fn save(&mut self, cx: &mut Cx<'_>) {
        let stored = self.progress.stored();
        // Without the stored state a reset begins anew; the upgrade itself goes on.
        let _ = cx.board.save(NvsKey::Upgrade, stored);
        let bytes = stored.len() as u32;
        cx.spend(CpuWork::Write { bytes });
    }

    pub(super) fn forget(&mut self, cx: &mut Cx<'_>) {
        self.progress.clear();
        self.session = SessionState::None;
        self.armed = false;
        cx.board.forget(NvsKey::Upgrade);
    }
}
