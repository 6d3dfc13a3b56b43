//! The responder: receives an image from the air, checks it, and selects it for the next start
//! (esp-now component, `espnow_ota_responder.c`).
//!
//! It differs from the component, for these reasons:
//!
//! * The image is checked as a whole (segments, checksum, appended SHA-256), its SHA-256 is
//!   compared with the announced one, and its chip with the running image's, before the upgrade is
//!   reported as done. The component relies on ESP-IDF's check of the image alone (trap 17). A
//!   failure is answered with `Invalid`; when the same image fails a second time, with `Stop`, on
//!   which every initiator gives up, so that an image that was bad from the start does not wear out
//!   the flash.
//! * An equal version is refused with `Stop`, at once and whenever the same image is announced
//!   again. The component says nothing, and then that everything is written, which an initiator
//!   takes for success (trap 15).
//! * A data message must be as long as it announces, belong to the image, and have the size that
//!   its place requires. Data are accepted only for the image that was last announced.
//! * When the first answer does not get through, the session is given up. The component keeps one
//!   without a partition and fails at the first write.
//! * The number of packets must match the image's length; it does not when the two ends were built
//!   with different chunks, which corrupts the image in the component.
//! * After a stop the next announcement begins anew, with an erase.
//! * Progress is stored when a multiple of the interval is reached or passed, not only when it is
//!   hit exactly.

mod finish;
mod status;

use super::image::{self, Image, ImageCheck};
use super::progress::{ImageProgress, STORE};
use crate::component::ota::{Chunk, DIGEST_LEN, OtaCode, OtaInfo, OtaStatus, OtaType, STATUS_LEN};
use crate::component::{DataType, FrameConfig};
use crate::node::board::{CpuWork, Slot};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

const TAG: &str = "espnow_ota_responder";
/// Number of attempts of an answer (`CONFIG_ESPNOW_OTA_RETRANSMISSION_TIMES`).
const ATTEMPTS: u8 = 2;

/// Options of a responder (`espnow_ota_config_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtaConfig {
    /// Whether an image of the running version is accepted, too.
    pub skip_version_check: bool,
    /// Percentage between two stored states, which are events, too; 0 for none.
    pub interval: u8,
}

impl Default for OtaConfig {
    /// Returns the options of the component's examples.
    fn default() -> Self {
        Self { skip_version_check: true, interval: 10 }
    }
}

/// Counters of a responder since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtaCounters {
    /// Packets written.
    pub written: u32,
    /// Packets that were there already.
    pub duplicates: u32,
    /// Messages that were malformed, or for no image that is being received.
    pub refused: u32,
    /// Messages that came while another was being handled, which the node prevents.
    pub dropped: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionState {
    None,
    Open,
    Finished,
    Stopped,
}

/// An answer that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Info,
    /// Status of the image that was asked for, with nothing written.
    Code(OtaCode),
    /// Progress of the session.
    Progress,
    /// The image is complete; the event follows.
    Finished,
    /// To all: stopped.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponderStage {
    Idle,
    /// Computes the digest of the running image, because a status was requested.
    Weigh,
    /// Erases the flash.
    Erase,
    /// Checks the version, because all packets are there.
    Judge,
    /// Checks whether the image is valid.
    Check,
    Reply(Reply),
}

/// Knowledge of the running image.
#[derive(Clone, Copy, Debug)]
enum RunningImage {
    Unknown,
    None,
    Known(Image),
}

/// An image that was refused.
#[derive(Clone, Copy, Debug)]
struct RefusedImage {
    digest: [u8; DIGEST_LEN],
    total: u32,
    /// Whether it would be refused again.
    for_good: bool,
}

/// Responder of upgrades. `N` bytes hold the stored state, [`STORE`] for the largest image of any
/// release.
#[derive(Debug)]
pub struct OtaResponder<const N: usize = STORE> {
    options: OtaConfig,
    progress: ImageProgress<N>,
    session: SessionState,
    stage: ResponderStage,
    /// Whether data are for the session: it was the last that was announced.
    armed: bool,
    loaded: bool,
    stop: bool,
    next_percent: u8,
    running: RunningImage,
    check: Option<ImageCheck>,
    asked: OtaStatus,
    from: Mac,
    started: Instant,
    refused: Option<RefusedImage>,
    counters: OtaCounters,
}

impl<const N: usize> Default for OtaResponder<N> {
    fn default() -> Self {
        Self::new(OtaConfig::default())
    }
}

impl<const N: usize> OtaResponder<N> {
    /// Creates a responder that has just started. It receives once [`start`](Self::start) is
    /// called.
    #[must_use]
    pub fn new(options: OtaConfig) -> Self {
        Self {
            options,
            progress: ImageProgress::default(),
            session: SessionState::None,
            stage: ResponderStage::Idle,
            armed: false,
            loaded: false,
            stop: false,
            next_percent: 0,
            running: RunningImage::Unknown,
            check: None,
            asked: OtaStatus::default(),
            from: Mac::ZERO,
            started: Instant::ZERO,
            refused: None,
            counters: OtaCounters::default(),
        }
    }

    /// Enables the reception of upgrades (`espnow_ota_responder_start`).
    pub fn start(&mut self, cx: &mut Cx<'_>) {
        cx.shared.air.listen(DataType::OtaData, true);
    }

    /// Stops the upgrade (`espnow_ota_responder_stop`): all devices are told, the received data are
    /// forgotten, and an image that was complete is not started. Run the task afterwards.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> OtaCounters {
        self.counters
    }

    /// Returns, for the image being received or received last, the bytes that are there, and its
    /// length.
    #[must_use]
    pub fn progress(&self) -> Option<(u32, u32)> {
        let status = self.progress.status();
        self.progress.is_begun().then_some((status.written, status.total))
    }

    /// Returns whether an image is complete, valid, and selected for the next start.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.session == SessionState::Finished
    }

    /// Takes a message of type [`DataType::OtaData`].
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if self.stage != ResponderStage::Idle {
            self.counters.dropped = self.counters.dropped.saturating_add(1);
            return;
        }
        match OtaType::of(frame.data) {
            Some(OtaType::Request) => {
                self.from = frame.from;
                self.stage = ResponderStage::Reply(Reply::Info);
            }
            Some(OtaType::Status) => self.asked(cx, frame),
            Some(OtaType::Data) => self.data(cx, frame),
            Some(OtaType::Info) | None => self.refuse_message(),
        }
    }

    fn refuse_message(&mut self) {
        self.counters.refused = self.counters.refused.saturating_add(1);
    }

    fn asked(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        let Some((status, _)) = OtaStatus::parse(frame.data) else {
            self.refuse_message();
            let len = frame.data.len();
            let text = format_args!(
                "[espnow_ota_status_handle, 136] <ESP_ERR_INVALID_ARG> \
                 OTA STATUS frame too short: {len} < {STATUS_LEN}"
            );
            return cx.log(LogLevel::Warn, TAG, text);
        };
        let most = cx.shared.settings.compat.ota_packets();
        if status.packets > most {
            self.refuse_message();
            let packets = status.packets;
            let text = format_args!(
                "[espnow_ota_status_handle, 142] <ESP_ERR_INVALID_ARG> \
                 OTA packet_num {packets} exceeds bitmap capacity (max {most})"
            );
            return cx.log(LogLevel::Warn, TAG, text);
        }
        self.from = frame.from;
        self.asked = status;
        self.armed = false;
        self.check = None;
        self.stage = ResponderStage::Weigh;
    }

    fn data(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if self.session == SessionState::Stopped {
            self.from = frame.from;
            self.stage = ResponderStage::Reply(Reply::Code(OtaCode::Stop));
            return;
        }
        if self.session != SessionState::Open || !self.armed {
            return self.refuse_message();
        }
        let Some(chunk) = Chunk::parse(frame.data) else { return self.refuse_message() };
        let most = cx.shared.settings.compat.ota_packets();
        if chunk.seq > most {
            self.refuse_message();
            let text = format_args!(
                "[espnow_ota_write, 302] <ESP_ERR_INVALID_ARG> \
                 OTA packet seq {} exceeds bitmap capacity (max {most})",
                chunk.seq
            );
            return cx.log(LogLevel::Warn, TAG, text);
        }
        let Some((offset, len)) = self.progress.place(chunk.seq) else {
            self.refuse_message();
            let text = format_args!(
                "[espnow_ota_write, 306] <ESP_ERR_INVALID_ARG> packet->seq: {}",
                chunk.seq
            );
            return cx.log(LogLevel::Warn, TAG, text);
        };
        if chunk.data.len() != len as usize {
            return self.refuse_message();
        }
        if self.progress.has(chunk.seq) {
            self.counters.duplicates = self.counters.duplicates.saturating_add(1);
            return;
        }
        cx.spend(CpuWork::Write { bytes: len });
        if !cx.board.write(offset, chunk.data) {
            self.refuse_message();
            let text = format_args!(
                "[espnow_ota_write, 318] <ESP_ERR_ESPNOW_OTA_FIRMWARE_DOWNLOAD> \
                 esp_partition_write ESP_FAIL"
            );
            return cx.log(LogLevel::Warn, TAG, text);
        }
        self.counters.written = self.counters.written.saturating_add(1);
        self.progress.note(chunk.seq);
        self.from = frame.from;
        self.noted(cx);
    }

    /// Continues after a packet has been written.
    fn noted(&mut self, cx: &mut Cx<'_>) {
        let percent = self.progress.percent();
        let complete = self.progress.is_complete();
        if self.options.interval > 0 && percent >= self.next_percent {
            self.next_percent = self.after(percent);
            if !complete {
                self.save(cx);
            }
            cx.event(EspNowEvent::UpgradeProgress(percent));
        }
        if complete {
            self.asked = self.progress.status();
            self.stage = ResponderStage::Judge;
        }
    }
}

impl<const N: usize> Task for OtaResponder<N> {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.stage == ResponderStage::Idle && self.stop {
            self.stage = self.halt(cx);
        }
        let next = match self.stage {
            ResponderStage::Idle => return TaskStep::Idle,
            ResponderStage::Reply(_) => return TaskStep::Send,
            ResponderStage::Weigh => self.weigh(cx),
            ResponderStage::Erase => Some(self.erase(cx)),
            ResponderStage::Judge => Some(self.judge(cx)),
            ResponderStage::Check => self.check(cx),
        };
        self.stage = next.unwrap_or(self.stage);
        TaskStep::Until(cx.now)
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let ResponderStage::Reply(reply) = self.stage else { return None };
        let outgoing = self.answer(cx, reply, payload);
        if outgoing.is_none() {
            self.stage = ResponderStage::Idle;
        }
        outgoing
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        let ResponderStage::Reply(reply) = self.stage else { return };
        self.stage = match reply {
            Reply::Code(OtaCode::NotInit) if outcome.is_done() => ResponderStage::Erase,
            Reply::Finished => {
                cx.event(EspNowEvent::UpgradeFinished);
                ResponderStage::Idle
            }
            _ => ResponderStage::Idle,
        };
    }
}

impl<const N: usize> OtaResponder<N> {
    fn answer(&self, cx: &mut Cx<'_>, reply: Reply, payload: &mut [u8]) -> Option<SendRequest> {
        let mut config = FrameConfig { copies: ATTEMPTS, ..FrameConfig::UNICAST };
        let mut dest = self.from;
        let asked = OtaStatus { written: 0, index: 0, ..self.asked };
        let len = match reply {
            Reply::Info => {
                let app = image::describe(cx.board, Slot::Running).unwrap_or_default();
                OtaInfo(app).emit(payload)?
            }
            Reply::Code(code) => OtaStatus { code, ..asked }.emit(&[], payload)?,
            Reply::Stopped => {
                (config, dest) = (FrameConfig::default(), Mac::BROADCAST);
                OtaStatus { code: OtaCode::Stop, ..asked }.emit(&[], payload)?
            }
            Reply::Progress | Reply::Finished => {
                let status = self.progress.status();
                let row_len = cx.shared.settings.compat.ota_row();
                match self.progress.missing_row(row_len).filter(|_| status.written > 0) {
                    None => status.emit(&[], payload)?,
                    Some((index, row)) => {
                        config = FrameConfig::default();
                        let to = payload.get_mut(..STATUS_LEN + row_len)?;
                        to.fill(0);
                        OtaStatus { index, ..status }.emit(row, to)?;
                        to.len()
                    }
                }
            }
        };
        config.security = cx.shared.settings.encrypt.ota;
        Some(SendRequest {
            data_type: DataType::OtaStatus,
            dest,
            config,
            magic: 0,
            len,
            wait: Duration::MAX,
        })
    }
}
