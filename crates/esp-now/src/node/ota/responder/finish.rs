//! End of a download: checks whether the image is valid, and the one that was announced.

use super::{OtaResponder, RefusedImage, Reply, ResponderStage, RunningImage, SessionState, TAG};
use crate::component::ota::{AsciiText, OtaCode, OtaStatus};
use crate::node::board::NvsKey;
use crate::node::board::Slot;
use crate::node::ota::image::{self, Flaw, Image, ImageCheck};
use crate::node::ota::seconds;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent};

impl<const N: usize> OtaResponder<N> {
    /// Makes the cheap check first, now that all packets are there: is the image of another
    /// version?
    pub(super) fn judge(&mut self, cx: &mut Cx<'_>) -> ResponderStage {
        let total = self.progress.status().total;
        let seconds = seconds(cx, self.started);
        cx.log(
            LogLevel::Info,
            TAG,
            format_args!(
                "Write total_size: {total}, written_size: {total}, spend time: {seconds}s"
            ),
        );
        let running = image::describe(cx.board, Slot::Running);
        let new = image::describe(cx.board, Slot::Spare);
        for app in [&running, &new].into_iter().flatten() {
            let version = AsciiText(app.version());
            cx.log(LogLevel::Info, TAG, format_args!("Running firmware version: {version}"));
        }
        let equal = running
            .zip(new)
            .is_some_and(|(running, new)| running.version_field() == new.version_field());
        if equal && !self.options.skip_version_check {
            let text = "Current running version is the same as a new. We will not continue the \
                        update.";
            cx.log(LogLevel::Warn, TAG, format_args!("{text}"));
            return self.refuse(cx, true);
        }
        self.check = Some(ImageCheck::new(Slot::Spare, total));
        ResponderStage::Check
    }

    /// Checks whether the image is whole, and the one that was announced.
    pub(super) fn check(&mut self, cx: &mut Cx<'_>) -> Option<ResponderStage> {
        let verdict = self.check.as_mut().map_or(Some(Err(Flaw::Flash)), |c| c.step(cx))?;
        self.check = None;
        let ours = |image: Image| match self.running {
            RunningImage::Known(running) => running.chip == image.chip,
            _ => true,
        };
        let announced = self.progress.status().digest;
        let good = verdict.is_ok_and(|image| image.digest() == announced && ours(image));
        if !good || !cx.board.boot(Slot::Spare) {
            return Some(self.refuse(cx, false));
        }
        self.session = SessionState::Finished;
        self.armed = false;
        cx.board.forget(NvsKey::Upgrade);
        Some(ResponderStage::Reply(Reply::Finished))
    }

    pub(super) fn refuse(&mut self, cx: &mut Cx<'_>, for_good: bool) -> ResponderStage {
        let OtaStatus { digest, total, .. } = self.progress.status();
        let again = self.refused.is_some_and(|r| r.digest == digest && r.total == total);
        let for_good = for_good || again;
        self.refused = Some(RefusedImage { digest, total, for_good });
        self.asked = self.progress.status();
        self.forget(cx);
        cx.event(EspNowEvent::UpgradeRefused);
        ResponderStage::Reply(Reply::Code(if for_good { OtaCode::Stop } else { OtaCode::Invalid }))
    }

    /// Executes [`stop`](Self::stop), once nothing else is being done.
    pub(super) fn halt(&mut self, cx: &mut Cx<'_>) -> ResponderStage {
        self.stop = false;
        self.load(cx);
        if self.session == SessionState::None {
            return ResponderStage::Idle;
        }
        if self.session == SessionState::Finished && !cx.board.boot(Slot::Running) {
            return ResponderStage::Idle;
        }
        self.asked = self.progress.status();
        self.forget(cx);
        self.session = SessionState::Stopped;
        cx.event(EspNowEvent::UpgradeStopped);
        ResponderStage::Reply(Reply::Stopped)
    }
}
