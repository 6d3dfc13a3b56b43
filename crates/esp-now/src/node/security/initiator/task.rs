//! The initiator as a task: its steps, its messages, and its last lines.

use super::{CONFIG, ExchangePhase, ReportForm, SecurityInitiator, TAG};
use crate::component::handshake::SecurityMessage;
use crate::component::{DataType, FrameConfig, group};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;

impl<const DEVICES: usize, const SESSIONS: usize> Task for SecurityInitiator<DEVICES, SESSIONS> {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        // Every phase is left after a bounded number of turns, or waits.
        loop {
            let wait = match self.phase {
                ExchangePhase::Idle => Some(TaskStep::Idle),
                ExchangePhase::Ask(round) => self.check_ask(cx, round),
                ExchangePhase::Listen(_, until) if cx.now < until => Some(TaskStep::Until(until)),
                ExchangePhase::Listen(round, _) => {
                    self.phase = ExchangePhase::Ask(round.saturating_add(1));
                    None
                }
                ExchangePhase::List(line) => Some(self.print_list(cx, line)),
                ExchangePhase::Begin => self.begin_round(cx),
                ExchangePhase::Join(_)
                | ExchangePhase::Offer
                | ExchangePhase::Leave(_)
                | ExchangePhase::Answer(_) => Some(TaskStep::Send),
                ExchangePhase::Collect(until) => self.collect(cx, until),
                ExchangePhase::Finish => {
                    self.finish(cx);
                    None
                }
            };
            if let Some(step) = wait {
                return step;
            }
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let outgoing = self.write(payload);
        self.offered |= self.phase == ExchangePhase::Offer;
        if outgoing.is_none() {
            // The session was finished while its answer waited for the lock.
            self.sent(cx, TransmitOutcome::Done { attempts: 0 });
        }
        outgoing
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match self.phase {
            ExchangePhase::Ask(round) if outcome.is_done() => self.asked(cx, round),
            ExchangePhase::Ask(_) => {
                self.end_scan(cx, ExchangePhase::Idle);
                self.wipe();
            }
            ExchangePhase::Join(from) => self.grouped(cx, from, true),
            ExchangePhase::Leave(from) => self.grouped(cx, from, false),
            ExchangePhase::Offer if outcome.is_done() => {
                self.magic = cx.magic();
                self.phase = ExchangePhase::Leave(0);
            }
            ExchangePhase::Offer => {
                cx.log(LogLevel::Warn, TAG, format_args!("espnow-session cm0 send failed"));
                self.end_round();
            }
            ExchangePhase::Answer(_) => {
                if !outcome.is_done() {
                    cx.log(LogLevel::Warn, TAG, format_args!("espnow-session send failed"));
                }
                self.collect_on(cx);
            }
            _ => {}
        }
    }
}

impl<const DEVICES: usize, const SESSIONS: usize> SecurityInitiator<DEVICES, SESSIONS> {
    /// Writes the message of the phase.
    fn write(&self, payload: &mut [u8]) -> Option<SendRequest> {
        let (data_type, dest, config, magic, len) = match self.phase {
            ExchangePhase::Ask(_) => {
                let config = FrameConfig { broadcast: true, copies: 10, ..CONFIG };
                let len = SecurityMessage::Request.emit(payload)?;
                (DataType::Security, Mac::BROADCAST, config, self.magic, len)
            }
            ExchangePhase::Join(from) | ExchangePhase::Leave(from) => {
                let len = self.write_group(from, payload)?;
                let magic = group::magic(self.magic, u16::from(from) / group::MEMBERS_MAX as u16);
                (DataType::Group, Mac::BROADCAST, FrameConfig::default(), magic, len)
            }
            ExchangePhase::Offer => {
                let config = FrameConfig { broadcast: true, group: true, ..CONFIG };
                (DataType::Security, group::SEC, config, 0, self.write_offer(payload)?)
            }
            ExchangePhase::Answer(slot) => {
                let (to, len) = self.write_answer(slot, payload)?;
                (DataType::Security, to, CONFIG, 0, len)
            }
            _ => return None,
        };
        Some(SendRequest { data_type, dest, config, magic, len, wait: Duration::MAX })
    }

    /// Prints the last lines, and ends.
    fn finish(&mut self, cx: &mut Cx<'_>) {
        let (done, unfinished) = self.result();
        let tick = cx.shared.settings.tick;
        let spent = tick.ms(tick.between(self.began, cx.now));
        match self.report {
            ReportForm::Command => {
                let line = format_args!(
                    "App key is sent to the device to complete, Spend time: {spent}ms"
                );
                cx.log(LogLevel::Info, "espnow_cmd", line);
            }
            ReportForm::Application(tag) => {
                let scan = tick.ms(tick.between(self.began, self.scanned));
                let line = format_args!(
                    "App key is sent to the device to complete, Spend time: {spent}ms, Scan time: {scan}ms"
                );
                cx.log(LogLevel::Info, tag, line);
            }
        }
        let tag = self.tag();
        let line = format_args!(
            "Devices security completed, successed_num: {done}, unfinished_num: {unfinished}"
        );
        cx.log(LogLevel::Info, tag, line);
        cx.event(EspNowEvent::KeysSent { done, unfinished });
        cx.shared.air.listen(DataType::Security, self.listened);
        self.wipe();
        self.phase = ExchangePhase::Idle;
    }

    fn tag(&self) -> &'static str {
        match self.report {
            ReportForm::Command => "espnow_cmd",
            ReportForm::Application(tag) => tag,
        }
    }
}
