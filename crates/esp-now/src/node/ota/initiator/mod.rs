//! The initiator: finds devices, and sends them the image of the spare slot (esp-now component,
//! `espnow_ota_initiator.c`; the console command `ota` of `cmd_espnow.c`).
//!
//! | module | contents |
//! |---|---|
//! | `answers` | answers of devices, and their consequences (`espnow_ota_request_status`) |
//! | `job` | the stages of a job |
//! | `scan` | loading an image and finding devices: the commands that the console runs in its own task |
//! | `send` | messages of an initiator, and its progress after each |
//!
//! A job runs as in section 4.3 of the protocol reference: the devices join the group; then follow
//! up to 50 rounds, in which each device is asked for its progress and every packet that one of
//! them lacks is sent; in the end the remaining devices leave the group.
//!
//! It differs from the component, for these reasons:
//!
//! * Answers are taken into account when they come, not queued: there is a place for each device,
//!   so none is lost (the component's queue has one place for each device, with up to 230 bytes).
//! * An answer about another image counts for nothing.
//! * A job without devices ends with an error line; the component stops on an assertion (trap 14).
//! * The spare slot must hold a valid image. The component sends anything, with a digest of zeros.
//! * A device that answers `Partition`, or `Invalid` or `Download` twice, gets no more; it counts
//!   as unfinished. The component sends it the whole image 50 times.
//! * Devices that stop or have the image are left out of both printed counts, as in the component
//!   (trap 16); [`EspNowEvent::UpgradeSent`](crate::node::task::EspNowEvent::UpgradeSent) counts them.

mod answers;
mod job;
mod scan;
mod send;

use super::bits::BITMAP;
use super::devices::OtaDevices;
use super::image::ImageCheck;
use crate::component::ota::{AsciiText, OtaInfo, OtaStatus, OtaType};
use crate::component::{ComponentRelease, DataType};
use crate::node::board::Slot;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use send::Send;

/// Tag of the protocol's own lines, spelled as in the component.
const TAG: &str = "espnow_ota_initatior";
/// Tag of the console's commands.
const COMMAND: &str = "espnow_cmd";
/// Number of requests in a scan.
const REQUESTS: u8 = 5;
/// Ticks between two requests.
const REQUEST_TICKS: u32 = 500;
/// Time to wait for an answer while another device has just ended erasing, in ms.
const SHORT_WAIT_MS: u32 = 100;
/// Number of requests in a round.
const ATTEMPTS: u8 = 3;

/// Options of an initiator (`CONFIG_ESPNOW_OTA_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtaSendConfig {
    /// Number of copies of every packet of the image (`RETRANSMISSION_TIMES`).
    pub copies: u8,
    /// Number of copies of every request.
    pub request_copies: u8,
    /// Time to wait for an answer to the first request of a round, and to the later ones, in ms.
    pub waits_ms: [u32; 2],
    /// Greatest number of rounds (`RETRY_COUNT`).
    pub rounds: u8,
    /// Number of hops (`SEND_FORWARD_TTL`).
    pub ttl: u8,
    /// Weakest signal that is forwarded, in dBm (`SEND_FORWARD_RSSI`).
    pub rssi: i8,
    /// Time that a device may take to erase, in ms (`WAIT_RESPONSE_TIMEOUT`).
    pub erase_ms: u32,
}

impl Default for OtaSendConfig {
    fn default() -> Self {
        Self {
            copies: 2,
            request_copies: 2,
            waits_ms: [1000, 500],
            rounds: 50,
            ttl: 0,
            rssi: -65,
            erase_ms: 10_000,
        }
    }
}

impl OtaSendConfig {
    /// Returns the default options of a release of the component. Before 2.5.0 a packet goes out
    /// once (`CONFIG_ESPNOW_OTA_SEND_RETRY_NUM` is 1 and in no Kconfig) and a request ten times;
    /// the waits are the shorter ones (`components/ota/espnow_ota_initiator.c` at c325892,
    /// September 2022). Then one option set both to ten (8247ae5), since 2.5.1 to two (0c5d280).
    #[must_use]
    pub fn of(release: ComponentRelease) -> Self {
        match release {
            ComponentRelease::Mid2022
            | ComponentRelease::V1_0
            | ComponentRelease::V2_0
            | ComponentRelease::V2_3
            | ComponentRelease::V2_4 => {
                Self { copies: 1, request_copies: 10, waits_ms: [500, 100], ..Self::default() }
            }
            ComponentRelease::V2_5_2 | ComponentRelease::V2_5_3 | ComponentRelease::Head => {
                Self::default()
            }
        }
    }
}

/// Error: the initiator is at work already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtaBusy;

/// Result of the last job, with every device counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Devices that received the image and confirmed it.
    pub done: u16,
    /// Devices that ran it before.
    pub had: u16,
    /// Devices that stopped.
    pub stopped: u16,
    /// Devices that refused it.
    pub refused: u16,
    /// Devices that did not finish.
    pub unfinished: u16,
    /// Devices for which there was no room.
    pub dropped: u16,
    /// Data messages handed over for sending.
    pub chunks: u32,
    /// Rounds that were begun.
    pub rounds: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobStage {
    Idle,
    /// `ota -d`: prints the next line at this many bytes.
    Fetch {
        next: u32,
    },
    /// Scans for devices: this request is next, not before this instant.
    Scan {
        request: u8,
        at: Instant,
    },
    /// Prints the devices found: this row is next.
    Rows(u16),
    /// Checks whether the image is valid.
    Verify,
    /// The devices join the group: this chunk of them is next.
    Join(u16),
    /// Begins a round with the answers that came since the last one.
    Round,
    /// Asks each device for its progress.
    Ask,
    /// Waits for answers until this instant; `None` until it is decided.
    Wait(Option<Instant>),
    /// Sends data from this packet on.
    Data(u16),
    /// The remaining devices leave the group: this chunk of them is next.
    Leave(u16),
    /// Reports the result.
    Report,
}

/// Initiator of upgrades, for up to `D` devices of up to `A` kinds, and images of up to `8 B`
/// packets.
#[derive(Debug)]
pub struct OtaInitiator<const D: usize = 128, const A: usize = 4, const B: usize = BITMAP> {
    options: OtaSendConfig,
    stage: JobStage,
    /// Message that [`JobStage`] wants to send now.
    sending: Option<Send>,
    devices: OtaDevices<D, A>,
    bits: [u8; B],
    check: Option<ImageCheck>,
    status: OtaStatus,
    /// Whether it runs a whole job, not a scan for the console.
    job: bool,
    /// Whether the list was `ff:ff:ff:ff:ff:ff`.
    everyone: bool,
    stop: bool,
    started: Instant,
    scan_started: Instant,
    scan_ticks: u32,
    magic: u16,
    round: u8,
    attempt: u8,
    /// Number of devices that lack packets, in this round.
    requested: u16,
    wait_ms: u32,
    /// Device that was the last to report that it erases.
    erasing: Option<Mac>,
    totals: Totals,
}

impl<const D: usize, const A: usize, const B: usize> Default for OtaInitiator<D, A, B> {
    fn default() -> Self {
        Self::new(OtaSendConfig::default())
    }
}

impl<const D: usize, const A: usize, const B: usize> OtaInitiator<D, A, B> {
    /// Creates an initiator with nothing to do.
    #[must_use]
    pub fn new(options: OtaSendConfig) -> Self {
        Self {
            options,
            stage: JobStage::Idle,
            sending: None,
            devices: OtaDevices::default(),
            bits: [0; B],
            check: None,
            status: OtaStatus::default(),
            job: false,
            everyone: false,
            stop: false,
            started: Instant::ZERO,
            scan_started: Instant::ZERO,
            scan_ticks: 0,
            magic: 0,
            round: 0,
            attempt: 0,
            requested: 0,
            wait_ms: 0,
            erasing: None,
            totals: Totals::default(),
        }
    }

    /// Returns whether the initiator has nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.stage == JobStage::Idle
    }

    /// Returns whether the console's task is busy with it: `-d` and `-f` run there, `-s` has its
    /// own.
    #[must_use]
    pub fn holds_console(&self) -> bool {
        !self.job && !self.is_idle()
    }

    /// Returns the result of the last job.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Executes `ota -d URL`: lets the board load an image into the spare slot.
    ///
    /// # Errors
    /// [`OtaBusy`] if the initiator is at work.
    pub fn download(&mut self, cx: &mut Cx<'_>, url: &str) -> Result<(), OtaBusy> {
        self.begin(cx)?;
        let shown = AsciiText(url.as_bytes());
        cx.log(LogLevel::Info, COMMAND, format_args!("Firmware Download, url: {shown}"));
        cx.log(LogLevel::Info, COMMAND, format_args!("Open HTTP connection: {shown}"));
        if cx.board.fetch(url) {
            self.stage = JobStage::Fetch { next: 0 };
        } else {
            cx.log(LogLevel::Warn, COMMAND, format_args!("Please check the address of the server"));
        }
        Ok(())
    }

    /// Executes `ota -f MS`: finds devices and prints their applications. As in the component, the
    /// time has no effect unless the scan has taken exactly that long: then it ends.
    ///
    /// # Errors
    /// [`OtaBusy`] if the initiator is at work.
    pub fn find(&mut self, cx: &mut Cx<'_>, ms: u32) -> Result<(), OtaBusy> {
        self.begin(cx)?;
        cx.log(LogLevel::Info, COMMAND, format_args!("Find upgradeable devices"));
        self.scan(cx, cx.shared.settings.tick.ticks(ms));
        Ok(())
    }

    /// Executes `ota -s LIST`: sends the image to these devices; to every device in reach if the
    /// list is the broadcast address alone. Addresses are the 17 characters before each separator
    /// (`,` space `|` `.`), and text that is no address is left out; the component takes any bytes
    /// for one.
    ///
    /// # Errors
    /// [`OtaBusy`] if the initiator is at work.
    pub fn send_list(&mut self, cx: &mut Cx<'_>, list: &str) -> Result<(), OtaBusy> {
        self.begin(cx)?;
        let shown = AsciiText(list.as_bytes());
        cx.log(LogLevel::Info, COMMAND, format_args!("Send firmware to selected device: {shown}"));
        self.send_to(cx, addresses(list));
        Ok(())
    }

    /// Sends the image to these devices, without the console's line.
    ///
    /// # Errors
    /// [`OtaBusy`] if the initiator is at work.
    pub fn send(&mut self, cx: &mut Cx<'_>, list: &[Mac]) -> Result<(), OtaBusy> {
        self.begin(cx)?;
        self.send_to(cx, list.iter().copied());
        Ok(())
    }

    /// Ends the job (`espnow_ota_initiator_stop`). Run the task afterwards.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Takes a message of type [`DataType::OtaStatus`].
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        match OtaType::of(frame.data) {
            Some(OtaType::Info) if matches!(self.stage, JobStage::Scan { .. }) => {
                if let Some(OtaInfo(app)) = OtaInfo::parse(frame.data) {
                    self.devices.add(frame.from, frame.channel, frame.rssi, Some(&app));
                }
            }
            Some(OtaType::Status) if self.job => {
                if let Some((status, row)) = OtaStatus::parse(frame.data) {
                    self.answered(cx, frame.from, &status, row);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, cx: &Cx<'_>) -> Result<(), OtaBusy> {
        if !self.is_idle() {
            return Err(OtaBusy);
        }
        self.devices.clear();
        self.totals = Totals::default();
        self.started = cx.now;
        (self.job, self.stop, self.sending) = (false, false, None);
        Ok(())
    }

    fn send_to(&mut self, cx: &mut Cx<'_>, list: impl Iterator<Item = Mac> + Clone) {
        let bytes = cx.board.image_len(Slot::Spare);
        if bytes == 0 {
            return cx.log(LogLevel::Error, COMMAND, format_args!("Firmware not downloaded"));
        }
        self.job = true;
        self.everyone = list.clone().eq([Mac::BROADCAST]);
        if !self.everyone {
            list.for_each(|mac| self.devices.add(mac, 0, 0, None));
        }
        self.check = Some(ImageCheck::new(Slot::Spare, bytes));
        self.stage = JobStage::Verify;
    }

    fn scan(&mut self, cx: &mut Cx<'_>, ticks: u32) {
        cx.shared.air.listen(DataType::OtaStatus, true);
        self.scan_ticks = ticks;
        self.scan_started = cx.now;
        self.magic = cx.magic();
        self.stage = JobStage::Scan { request: 0, at: cx.now };
    }

    /// Ends the current activity, without a report.
    fn end(&mut self, cx: &mut Cx<'_>) {
        cx.shared.air.listen(DataType::OtaStatus, false);
        self.stage = JobStage::Idle;
        self.sending = None;
        self.job = false;
    }

    fn send_now(&mut self, what: Send) -> TaskStep {
        self.sending = Some(what);
        TaskStep::Send
    }
}

/// Returns the addresses of a list as the console parses it.
fn addresses(list: &str) -> impl Iterator<Item = Mac> + Clone {
    let words = list.as_bytes().split(|b| b", |.".contains(b));
    words.filter_map(|word| Mac::parse(word.get(word.len().checked_sub(17)?..)?))
}

impl<const D: usize, const A: usize, const B: usize> Task for OtaInitiator<D, A, B> {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.sending.is_some() {
            return TaskStep::Send;
        }
        match self.stage {
            JobStage::Idle => TaskStep::Idle,
            JobStage::Fetch { next } => self.fetching(cx, next),
            JobStage::Scan { request, at } => self.scanning(cx, request, at),
            JobStage::Rows(row) => self.row(cx, row),
            JobStage::Verify => self.verify(cx),
            JobStage::Join(chunk) => self.join(cx, chunk),
            JobStage::Round => self.begin_round(cx),
            JobStage::Ask => self.send_now(Send::Status),
            JobStage::Wait(until) => self.wait(cx, until),
            JobStage::Data(from) => self.next_chunk(cx, from),
            JobStage::Leave(chunk) => self.leave(cx, chunk),
            JobStage::Report => self.report(cx),
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let what = self.sending?;
        let outgoing = self.write(cx, what, payload);
        if outgoing.is_none() {
            self.unsent(cx, what);
        }
        outgoing
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if let Some(what) = self.sending.take() {
            self.after(cx, what, outcome);
        }
    }
}
