//! The initiator: finds devices, and sends them the image of the spare slot (esp-now component,
//! `espnow_ota_initiator.c`; the console command `ota` of `cmd_espnow.c`).
//!
//! A job, as section 4.3 of the protocol reference has it: the devices join the group; then up to 50
//! rounds of asking how far each is, and of sending every packet that one of them lacks; in the end
//! those that are left leave the group.
//!
//! What it does other than the component, and why:
//!
//! * Answers are taken into account when they come, not queued: there is a place for each device,
//!   so none is lost (the component's queue has one place a device, with up to 230 bytes each).
//! * An answer that speaks of another image counts for nothing.
//! * A job without devices ends with an error line; the component stops on an assertion (trap 14).
//! * What is in the spare slot must be a valid image. The component sends anything, with a digest
//!   of zeros.
//! * A device that answers `Partition`, or `Invalid` or `Download` twice, gets no more; it counts as
//!   unfinished. The component sends it the whole image 50 times.
//! * Devices that stop or have the image are left out of both printed counts, as in the component
//!   (trap 16); [`Event::UpgradeSent`] counts them.

mod answers;
mod send;

use super::bits::{self, BITMAP};
use super::devices::{Devices, Fate};
use super::image::Check;
use super::seconds;
use crate::node::esp_now::board::{Download, Slot};
use crate::node::esp_now::print::Level;
use crate::node::esp_now::task::{Cx, Event, Outcome, Outgoing, Received, Step, Task};
use crate::time::{Duration, Instant};
use crate::wire::component::DataType;
use crate::wire::component::ota::{Info, Kind, Status, Text};
use crate::wire::mac::Mac;
use send::Send;

/// The tag of the protocol's own lines, spelled as in the component.
const TAG: &str = "espnow_ota_initatior";
/// The tag of the console's commands.
const COMMAND: &str = "espnow_cmd";
/// Requests of a scan.
const REQUESTS: u8 = 5;
/// Ticks between them.
const REQUEST_TICKS: u32 = 500;
/// How long an answer is waited for: first, after the second and third request, and while another
/// device has just ended erasing.
const FIRST_WAIT_MS: u32 = 1000;
const NEXT_WAIT_MS: u32 = 500;
const SHORT_WAIT_MS: u32 = 100;
/// Requests of a round.
const ATTEMPTS: u8 = 3;
/// Addresses in one frame about a group.
const GROUP_CHUNK: usize = 32;

/// How an initiator was built (`CONFIG_ESPNOW_OTA_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Copies of every message (`RETRANSMISSION_TIMES`).
    pub copies: u8,
    /// Rounds (`RETRY_COUNT`).
    pub rounds: u8,
    /// Hops (`SEND_FORWARD_TTL`).
    pub ttl: u8,
    /// Weakest signal that is forwarded, dBm (`SEND_FORWARD_RSSI`).
    pub rssi: i8,
    /// How long a device may erase, ms (`WAIT_RESPONSE_TIMEOUT`).
    pub erase_ms: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { copies: 2, rounds: 50, ttl: 0, rssi: -65, erase_ms: 10_000 }
    }
}

/// The initiator is at work already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// What the last job came to, counted properly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Devices that received the image and confirmed it.
    pub done: u16,
    /// Devices that ran it before.
    pub had: u16,
    /// Devices that stopped.
    pub stopped: u16,
    /// Devices that do not take it.
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
enum Stage {
    Idle,
    /// `ota -d`: prints next at this many bytes.
    Fetch {
        next: u32,
    },
    /// Asks who is there: this request is next, not before this instant.
    Scan {
        request: u8,
        at: Instant,
    },
    /// Prints what was found: this row is next.
    Rows(u16),
    /// Is there a valid image?
    Verify,
    /// The devices join: this chunk of them is next.
    Join(u16),
    /// A round begins: what was said since the last one is heard.
    Round,
    /// Asks how far each is.
    Ask,
    /// Waits for answers; until then, or not yet decided.
    Wait(Option<Instant>),
    /// Sends data from this packet on.
    Data(u16),
    /// Those who are left leave: this chunk of them is next.
    Leave(u16),
    /// Says what it came to.
    Report,
}

/// The initiator, for up to `D` devices of up to `A` kinds, and images of up to `8 B` packets.
#[derive(Debug)]
pub struct Initiator<const D: usize = 128, const A: usize = 4, const B: usize = BITMAP> {
    options: Options,
    stage: Stage,
    /// What [`Stage`] wants to send now.
    sending: Option<Send>,
    devices: Devices<D, A>,
    bits: [u8; B],
    check: Option<Check>,
    status: Status,
    /// A whole job, not a scan for the console.
    job: bool,
    /// The list was `ff:ff:ff:ff:ff:ff`.
    everyone: bool,
    stop: bool,
    started: Instant,
    scan_started: Instant,
    scan_ticks: u32,
    magic: u16,
    round: u8,
    attempt: u8,
    /// Devices that lack packets, in this round.
    requested: u16,
    wait_ms: u32,
    /// Who said last that it erases.
    erasing: Option<Mac>,
    totals: Totals,
}

impl<const D: usize, const A: usize, const B: usize> Default for Initiator<D, A, B> {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl<const D: usize, const A: usize, const B: usize> Initiator<D, A, B> {
    /// An initiator with nothing to do.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            stage: Stage::Idle,
            sending: None,
            devices: Devices::default(),
            bits: [0; B],
            check: None,
            status: Status::default(),
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

    /// Whether it has nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// Whether the console's task is busy with it: `-d` and `-f` run there, `-s` has its own.
    #[must_use]
    pub fn holds_console(&self) -> bool {
        !self.job && !self.is_idle()
    }

    /// What the last job came to.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// `ota -d URL`: has the board load an image into the spare slot.
    ///
    /// # Errors
    /// If it is at work.
    pub fn download(&mut self, cx: &mut Cx<'_>, url: &str) -> Result<(), Busy> {
        self.begin(cx)?;
        let url = Text(url.as_bytes());
        cx.log(Level::Info, COMMAND, format_args!("Firmware Download, url: {url}"));
        cx.log(Level::Info, COMMAND, format_args!("Open HTTP connection: {url}"));
        let url = core::str::from_utf8(url.0).unwrap_or("");
        if cx.board.fetch(url) {
            self.stage = Stage::Fetch { next: 0 };
        } else {
            cx.log(Level::Warn, COMMAND, format_args!("Please check the address of the server"));
        }
        Ok(())
    }

    /// `ota -f MS`: finds devices and prints what they run. The time has no effect, as in the
    /// component, but where the scan has taken exactly that long: then it ends.
    ///
    /// # Errors
    /// If it is at work.
    pub fn find(&mut self, cx: &mut Cx<'_>, ms: u32) -> Result<(), Busy> {
        self.begin(cx)?;
        cx.log(Level::Info, COMMAND, format_args!("Find upgradeable devices"));
        self.scan(cx, cx.shared.settings.tick.ticks(ms));
        Ok(())
    }

    /// `ota -s LIST`: sends the image to these devices; to everyone who is there if the list is
    /// the broadcast address alone. Addresses are the 17 characters before each separator (`,`
    /// space `|` `.`), and what is none is left out; the component takes any bytes for one.
    ///
    /// # Errors
    /// If it is at work.
    pub fn send_list(&mut self, cx: &mut Cx<'_>, list: &str) -> Result<(), Busy> {
        self.begin(cx)?;
        let shown = Text(list.as_bytes());
        cx.log(Level::Info, COMMAND, format_args!("Send firmware to selected device: {shown}"));
        self.send_to(cx, addresses(list));
        Ok(())
    }

    /// Sends the image to these devices, without the console's line.
    ///
    /// # Errors
    /// If it is at work.
    pub fn send(&mut self, cx: &mut Cx<'_>, list: &[Mac]) -> Result<(), Busy> {
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
        match Kind::of(frame.data) {
            Some(Kind::Info) if matches!(self.stage, Stage::Scan { .. }) => {
                if let Some(Info(app)) = Info::parse(frame.data) {
                    self.devices.add(frame.from, frame.channel, frame.rssi, Some(&app));
                }
            }
            Some(Kind::Status) if self.job => {
                if let Some((status, row)) = Status::parse(frame.data) {
                    self.answered(cx, frame.from, &status, row);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, cx: &Cx<'_>) -> Result<(), Busy> {
        if !self.is_idle() {
            return Err(Busy);
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
            return cx.log(Level::Error, COMMAND, format_args!("Firmware not downloaded"));
        }
        self.job = true;
        self.everyone = list.clone().eq([Mac::BROADCAST]);
        if !self.everyone {
            list.for_each(|mac| self.devices.add(mac, 0, 0, None));
        }
        self.check = Some(Check::new(Slot::Spare, bytes));
        self.stage = Stage::Verify;
    }

    fn scan(&mut self, cx: &mut Cx<'_>, ticks: u32) {
        cx.shared.air.listen(DataType::OtaStatus, true);
        self.scan_ticks = ticks;
        self.scan_started = cx.now;
        self.magic = cx.magic();
        self.stage = Stage::Scan { request: 0, at: cx.now };
    }

    /// Ends what is being done, without a report.
    fn end(&mut self, cx: &mut Cx<'_>) {
        cx.shared.air.listen(DataType::OtaStatus, false);
        self.stage = Stage::Idle;
        self.sending = None;
        self.job = false;
    }

    fn send_now(&mut self, what: Send) -> Step {
        self.sending = Some(what);
        Step::Send
    }
}

/// The addresses of a list as the console takes it.
fn addresses(list: &str) -> impl Iterator<Item = Mac> + Clone {
    let words = list.as_bytes().split(|b| b", |.".contains(b));
    words.filter_map(|word| Mac::parse(word.get(word.len().checked_sub(17)?..)?))
}

impl<const D: usize, const A: usize, const B: usize> Task for Initiator<D, A, B> {
    fn run(&mut self, cx: &mut Cx<'_>) -> Step {
        if self.sending.is_some() {
            return Step::Send;
        }
        match self.stage {
            Stage::Idle => Step::Idle,
            Stage::Fetch { next } => self.fetching(cx, next),
            Stage::Scan { request, at } => self.scanning(cx, request, at),
            Stage::Rows(row) => self.row(cx, row),
            Stage::Verify => self.verify(cx),
            Stage::Join(chunk) => self.join(cx, chunk),
            Stage::Round => self.begin_round(cx),
            Stage::Ask => self.send_now(Send::Status),
            Stage::Wait(until) => self.wait(cx, until),
            Stage::Data(from) => self.next_chunk(cx, from),
            Stage::Leave(chunk) => self.leave(cx, chunk),
            Stage::Report => self.report(cx),
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<Outgoing> {
        let what = self.sending?;
        let outgoing = self.write(cx, what, payload);
        if outgoing.is_none() {
            self.unsent(cx, what);
        }
        outgoing
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: Outcome) {
        if let Some(what) = self.sending.take() {
            self.after(cx, what, outcome);
        }
    }
}

/// How a job goes from stage to stage.
impl<const D: usize, const A: usize, const B: usize> Initiator<D, A, B> {
    fn fetching(&mut self, cx: &mut Cx<'_>, next: u32) -> Step {
        match cx.board.download() {
            Download::Running { received, total } if !self.stop => {
                if received >= next && total > 0 {
                    let rate = u64::from(received) * 100 / u64::from(total);
                    let text =
                        format_args!("Firmware download size: {received}, progress rate: {rate}%");
                    cx.log(Level::Info, COMMAND, text);
                    // Every hundred reads of 1460 bytes.
                    let next = (received / 146_000).saturating_add(1).saturating_mul(146_000);
                    self.stage = Stage::Fetch { next };
                }
                return Step::Until(cx.now + Duration::from_millis(100));
            }
            Download::Complete => {
                let total = cx.board.image_len(Slot::Spare);
                let seconds = seconds(cx, self.started);
                let text = format_args!(
                    "The service download firmware is complete, total_size: {total} \
                     Spend time: {seconds}s"
                );
                cx.log(Level::Info, COMMAND, text);
            }
            Download::Running { .. } | Download::Failed => {
                cx.log(Level::Warn, COMMAND, format_args!("<ESP_FAIL> esp_http_client_read"));
            }
        }
        self.stage = Stage::Idle;
        Step::Idle
    }

    fn scanning(&mut self, cx: &mut Cx<'_>, request: u8, at: Instant) -> Step {
        if cx.now < at && !self.stop {
            return Step::Until(at);
        }
        let tick = cx.shared.settings.tick;
        let period = tick.period().as_nanos().max(1) as u64;
        let ticks = cx.now.as_nanos() / period;
        let elapsed = ticks.saturating_sub(self.scan_started.as_nanos() / period);
        // What is left is unsigned: only exactly nothing ends the scan before its time.
        if request < REQUESTS && elapsed != u64::from(self.scan_ticks) && !self.stop {
            return self.send_now(Send::Request);
        }
        self.scanned(cx);
        Step::Until(cx.now)
    }

    fn scanned(&mut self, cx: &mut Cx<'_>) {
        let num = self.devices.len();
        self.totals.dropped = self.devices.dropped;
        if !self.job {
            self.end(cx);
            if num > 0 {
                self.stage = Stage::Rows(0);
            }
            return;
        }
        cx.log(Level::Info, TAG, format_args!("Scan OTA list, num: {num}"));
        self.stage = Stage::Join(0);
        if num == 0 {
            // Trap 14 of the protocol reference.
            cx.log(Level::Error, TAG, format_args!("No device to be upgraded was found"));
            self.stage = Stage::Report;
        }
    }

    fn verify(&mut self, cx: &mut Cx<'_>) -> Step {
        let Some(check) = self.check.as_mut() else {
            self.end(cx);
            return Step::Idle;
        };
        let Some(verdict) = check.step(cx) else { return Step::Until(cx.now) };
        self.check = None;
        let total = cx.board.image_len(Slot::Spare);
        let chunk = cx.shared.settings.compat.ota_chunk() as u32;
        let packets = u16::try_from(total.div_ceil(chunk)).unwrap_or(u16::MAX);
        let most = cx.shared.settings.compat.ota_packets().min((B * 8).min(65_535) as u16);
        let (Ok(image), true) = (verdict, packets <= most) else {
            let text = format_args!("The image in the spare partition cannot be sent");
            cx.log(Level::Error, TAG, text);
            self.end(cx);
            return Step::Idle;
        };
        self.status = Status { digest: image.digest(), packets, total, ..Status::default() };
        let text = format_args!(
            "[espnow_ota_initiator_send, 390]: total_size: {total}, packet_num: {packets}"
        );
        cx.log(Level::Info, TAG, text);
        self.round = 0;
        if self.everyone {
            self.scan(cx, 3000);
        } else if self.devices.is_empty() {
            cx.log(Level::Error, TAG, format_args!("No device to be upgraded was given"));
            self.stage = Stage::Report;
        } else {
            self.stage = Stage::Join(0);
        }
        Step::Until(cx.now)
    }

    fn join(&mut self, cx: &mut Cx<'_>, chunk: u16) -> Step {
        if chunk == 0 {
            self.magic = cx.magic();
        }
        let all = if self.everyone { 1 } else { self.devices.len() };
        if usize::from(chunk) * GROUP_CHUNK < usize::from(all) && !self.stop {
            return self.send_now(Send::Join(chunk));
        }
        cx.shared.air.listen(DataType::OtaStatus, true);
        self.stage = Stage::Round;
        Step::Until(cx.now)
    }

    fn begin_round(&mut self, cx: &mut Cx<'_>) -> Step {
        if let Some(step) = self.leaver() {
            return step;
        }
        self.hear_notes();
        if let Some(step) = self.leaver() {
            return step;
        }
        let open = self.devices.count(Fate::Open);
        if self.round >= self.options.rounds || open == 0 || self.stop {
            self.stage = Stage::Leave(0);
            return Step::Until(cx.now);
        }
        self.totals.rounds = self.round.saturating_add(1);
        self.bits.fill(0xFF);
        self.requested = 0;
        (self.attempt, self.wait_ms, self.erasing) = (0, FIRST_WAIT_MS, None);
        self.magic = cx.magic();
        self.devices.iter_mut().for_each(|d| d.answered = false);
        self.stage = Stage::Ask;
        Step::Until(cx.now)
    }

    fn next_chunk(&mut self, cx: &mut Cx<'_>, from: u16) -> Step {
        let next = bits::next_clear(&self.bits, from, self.status.packets);
        if let Some(seq) = next.filter(|_| !self.stop) {
            self.stage = Stage::Data(seq);
            return self.send_now(Send::Data(seq));
        }
        self.round = self.round.saturating_add(1);
        self.stage = Stage::Round;
        Step::Until(cx.now)
    }

    fn leave(&mut self, cx: &mut Cx<'_>, chunk: u16) -> Step {
        if chunk == 0 {
            cx.shared.air.listen(DataType::OtaStatus, false);
            self.hear_notes();
            self.magic = cx.magic();
        }
        let left = self.leftovers().count();
        if usize::from(chunk) * GROUP_CHUNK < left {
            return self.send_now(Send::Leave(chunk));
        }
        self.stage = Stage::Report;
        Step::Until(cx.now)
    }

    fn report(&mut self, cx: &mut Cx<'_>) -> Step {
        let count = |fate| self.devices.count(fate);
        let totals = Totals {
            done: count(Fate::Done),
            had: count(Fate::Had),
            stopped: count(Fate::Stopped),
            refused: count(Fate::Refused),
            unfinished: count(Fate::Open),
            dropped: self.devices.dropped,
            ..self.totals
        };
        let seconds = seconds(cx, self.started);
        let text =
            format_args!("Firmware is sent to the device to complete, Spend time: {seconds}s");
        cx.log(Level::Info, COMMAND, text);
        let left = totals.unfinished.saturating_add(totals.refused);
        let text = format_args!(
            "Devices upgrade completed, successed_num: {}, unfinished_num: {left}",
            totals.done
        );
        cx.log(Level::Info, COMMAND, text);
        self.totals = totals;
        cx.event(Event::UpgradeSent {
            done: totals.done.saturating_add(totals.had),
            unfinished: left.saturating_add(totals.stopped),
        });
        self.end(cx);
        Step::Idle
    }
}
