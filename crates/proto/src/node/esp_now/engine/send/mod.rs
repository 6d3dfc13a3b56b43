//! Transmission: who holds the send lock, and how far it is (`espnow_send`, `espnow_send_process`,
//! `espnow_send_forward`, `espnow_set_group`; sections 2.4, 2.8, 2.9 and 2.10).

mod report;
mod steps;

use super::counters::{Counters, bump};
use super::{ACKS_MAX, Action, FRAME_MAX, TAG};
use crate::node::esp_now::board::Work;
use crate::node::esp_now::print::Level;
use crate::node::esp_now::task::{Cx, Outcome, Outgoing};
use crate::node::esp_now::tick::Tick;
use crate::time::{Duration, Instant};
use crate::wire::component::header::VERSION;
use crate::wire::component::sealed::NONCE_LEN;
use crate::wire::component::{Compat, DataType, FrameConfig, HEADER_LEN, Header};
use crate::wire::mac::Mac;
use heapless::Deque;

/// Acknowledgements that wait for a sender.
pub(super) type Acks = Deque<u16, ACKS_MAX>;

/// Which function of the component sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `espnow_send`
    Send,
    /// `espnow_set_group`
    Group,
    /// `espnow_send_forward`
    Relay,
}

/// What `ret` is in the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    /// `ESP_FAIL`: no result, or a bad one.
    Fail,
    /// `ESP_ERR_ESPNOW_NO_MEM`: the driver refused it.
    NoMemory,
    /// `ESP_ERR_WIFI_TIMEOUT`: no acknowledgement within the back-off.
    Timeout,
    /// The channel cannot be set.
    NoChannel,
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Tune to the channel that is wanted.
    Open,
    /// The next copy on the next channel.
    Round,
    /// Hand the frame to the driver.
    Attempt,
    /// The driver has it, unless it refuses at once.
    Handed,
    /// Wait for the driver's answer.
    Callback(Instant),
    /// Wait for the application's acknowledgement: slices of 2 ms.
    Slice { until: Instant, left: u8 },
    /// One attempt is over.
    Judge,
    /// Return to the former channel.
    Close,
    /// Give the lock back.
    End,
}

/// One transmission, while it holds the lock.
#[derive(Clone, Copy, Debug)]
struct Job {
    kind: Kind,
    step: Step,
    config: FrameConfig,
    magic: u16,
    to: Mac,
    len: u16,
    /// The application of the destination is to acknowledge, and has not yet.
    awaited: bool,
    /// Copy or attempt, from 0.
    count: u8,
    /// Which of the country's channels, from 0.
    index: u8,
    /// The channel at the start.
    primary: u8,
    /// Ticks at the start.
    start: u64,
    /// Ticks that the caller would wait; `u32::MAX` for ever.
    wait: u32,
    attempts: u8,
    status: Status,
}

/// The last wait for an acknowledgement, after the lock was released.
#[derive(Clone, Copy, Debug)]
struct Tail {
    magic: u16,
    until: Instant,
    attempts: u8,
}

/// What the driver has answered.
#[derive(Clone, Copy, Debug, Default)]
struct Driver {
    /// Frames without an answer (`g_buffered_num`).
    buffered: u16,
    /// An answer "success" since the last wait (`SEND_CB_OK`).
    ok: bool,
    /// An answer "fail" (`SEND_CB_FAIL`).
    failed: bool,
}

/// The send lock, and who holds it.
#[derive(Debug)]
pub(super) struct Sender {
    frame: [u8; FRAME_MAX],
    job: Option<Job>,
    tail: Option<Tail>,
    outcome: Option<Outcome>,
    driver: Driver,
}

impl Sender {
    pub(super) const fn new() -> Self {
        Self {
            frame: [0; FRAME_MAX],
            job: None,
            tail: None,
            outcome: None,
            driver: Driver { buffered: 0, ok: false, failed: false },
        }
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    pub(super) const fn is_free(&self) -> bool {
        self.job.is_none() && self.tail.is_none() && self.outcome.is_none()
    }

    pub(super) fn is_relaying(&self) -> bool {
        self.job.is_some_and(|job| job.kind == Kind::Relay)
    }

    pub(super) fn outcome(&mut self) -> Option<Outcome> {
        self.outcome.take()
    }

    pub(super) fn payload_mut(&mut self, compat: Compat) -> &mut [u8] {
        if self.is_busy() {
            return &mut [];
        }
        let end = HEADER_LEN.saturating_add(compat.data_max());
        self.frame.get_mut(HEADER_LEN..end).unwrap_or_default()
    }

    pub(super) fn start(&mut self, cx: &mut Cx<'_>, out: &Outgoing) -> bool {
        if !self.is_free() {
            return false;
        }
        self.job = self.prepare(cx, out);
        if self.job.is_none() {
            self.outcome = Some(Outcome::Refused);
        }
        true
    }

    /// Steps 1 to 3 of section 2.4: seals the payload and writes the header.
    fn prepare(&mut self, cx: &mut Cx<'_>, out: &Outgoing) -> Option<Job> {
        let settings = &cx.shared.settings;
        if out.len > settings.compat.data_max() {
            return None;
        }
        let kind = if out.data_type == DataType::Group { Kind::Group } else { Kind::Send };
        let dest = if kind == Kind::Group { Mac::BROADCAST } else { out.dest };
        let plain = matches!(
            out.data_type,
            DataType::Ack
                | DataType::Forward
                | DataType::Group
                | DataType::SecurityStatus
                | DataType::Security
        );
        let mut len = out.len;
        // Without `sec_enable` the frame leaves in clear with the bit set, as on the device.
        if settings.encrypt.enabled && out.config.security && !plain {
            len = self.seal(cx, len)?;
        }
        let end = HEADER_LEN.saturating_add(len);
        if end > cx.shared.settings.compat.frame_max() {
            return None;
        }
        let primary = cx.shared.air.channel;
        let mut config = out.config;
        config.broadcast |= kind == Kind::Send && dest.is_broadcast();
        if config.channel == 0 {
            config.channel = primary;
        }
        if kind == Kind::Send {
            config.copies = config.copies.max(1);
        }
        // What the header has no room for is cut, here as well.
        config = FrameConfig::from_word(config.to_word());
        let magic = if out.magic == 0 { cx.random_u16() } else { out.magic };
        let header = Header {
            data_type: out.data_type,
            version: VERSION,
            size: len as u8,
            magic,
            config,
            dest,
            src: cx.shared.air.mac,
        };
        self.frame.first_chunk_mut().map(|head| *head = header.emit())?;
        let job = Job::new(cx, kind, &header, end as u16, out.wait);
        Some(job)
    }

    /// Encrypts the payload in place (section 3.1); all copies are the same bytes.
    fn seal(&mut self, cx: &mut Cx<'_>, len: usize) -> Option<usize> {
        let trails = cx.shared.settings.compat.nonce_trails();
        let Some(secret) = &cx.shared.keys.encrypt else {
            let text = format_args!("[espnow_send, 583] <ESP_FAIL> Security key is not set");
            cx.log(Level::Warn, TAG, text);
            return None;
        };
        let mut nonce = secret.constant_nonce();
        if trails {
            let mut random = [0; NONCE_LEN];
            cx.board.random(&mut random);
            nonce = random;
        }
        let buf = self.frame.get_mut(HEADER_LEN..)?;
        let sealed = secret.sealer().seal(&nonce, trails, buf, len);
        cx.spend(Work::Seal { bytes: len as u32 });
        if sealed.is_none() {
            cx.log(Level::Error, TAG, format_args!("Security encrypt return error"));
        }
        sealed
    }

    /// Takes the lock for a frame that `read` writes, and counts its hops down if it is forwarded.
    pub(super) fn relay(
        &mut self,
        cx: &Cx<'_>,
        forwarded: bool,
        read: impl FnOnce(&mut [u8]) -> usize,
    ) -> bool {
        if self.is_busy() {
            return false;
        }
        let len = read(&mut self.frame);
        if let Some(word) = self.frame.get_mut(4..).and_then(<[u8]>::first_chunk_mut) {
            let flags = u32::from_le_bytes(*word);
            if forwarded && !matches!(FrameConfig::from_word(flags).ttl, 0 | 31) {
                *word = flags.wrapping_sub(1 << 19).to_le_bytes();
            }
        }
        let Some((header, _)) = self.frame.get(..len).and_then(Header::parse) else { return false };
        self.job = Some(Job::new(cx, Kind::Relay, &header, len as u16, Duration::MAX));
        true
    }

    pub(super) fn sent(&mut self, cx: &Cx<'_>, counters: &mut Counters, delivered: bool) {
        if let Some(job) = self.job.as_mut().filter(|job| job.step == Step::Handed) {
            job.step = self.driver.took(cx, counters, job);
        }
        let driver = &mut self.driver;
        driver.buffered = driver.buffered.saturating_sub(1);
        if delivered {
            driver.ok = true;
        } else {
            driver.failed = true;
        }
    }

    pub(super) fn refused(&mut self, counters: &mut Counters) {
        bump(&mut counters.driver_refused);
        let Some(job) = &mut self.job else { return };
        match job.step {
            Step::Handed => {}
            // It was taken for accepted already: a driver that answers late.
            Step::Callback(_) => self.driver.buffered = self.driver.buffered.saturating_sub(1),
            _ => {
                self.driver.buffered = self.driver.buffered.saturating_sub(1);
                return;
            }
        }
        (job.status, job.step) = (Status::NoMemory, Step::Judge);
    }

    pub(super) fn wake(&self) -> Option<Instant> {
        let job = self.job.map(|job| match job.step {
            Step::Callback(until) | Step::Slice { until, .. } => until,
            _ => Instant::ZERO,
        });
        [job, self.tail.map(|tail| tail.until)].into_iter().flatten().min()
    }
}

impl Job {
    fn new(cx: &Cx<'_>, kind: Kind, header: &Header, len: u16, wait: Duration) -> Self {
        let config = header.config;
        let tick = cx.shared.settings.tick;
        Self {
            kind,
            step: Step::Open,
            config,
            magic: header.magic,
            to: if config.broadcast || kind == Kind::Group { Mac::BROADCAST } else { header.dest },
            len,
            awaited: kind == Kind::Send && config.ack && !header.dest.is_broadcast(),
            count: 0,
            index: 0,
            primary: cx.shared.air.channel,
            start: ticks_at(tick, cx.now),
            wait: wait_ticks(tick, wait),
            attempts: 0,
            status: Status::Ok,
        }
    }

    /// Ticks since the start.
    fn elapsed(&self, cx: &Cx<'_>) -> u64 {
        ticks_at(cx.shared.settings.tick, cx.now).saturating_sub(self.start)
    }

    /// When a wait ends that is as long as the caller would still wait, and at most
    /// `send_max_timeout`.
    fn patience(&self, cx: &Cx<'_>) -> Instant {
        let tick = cx.shared.settings.tick;
        let left = match self.wait {
            u32::MAX => u32::MAX,
            wait => u64::from(wait).saturating_sub(self.elapsed(cx)) as u32,
        };
        tick.delay(cx.now, left.min(tick.ticks(super::SEND_MAX_MS)))
    }

    /// Whether it goes over all channels, as things stand now.
    fn sweeps(&self, cx: &Cx<'_>) -> bool {
        self.config.channel == FrameConfig::ALL_CHANNELS
            && !cx.shared.air.locked
            && (self.kind != Kind::Relay || cx.shared.settings.forward_all_channels)
    }
}

fn ticks_at(tick: Tick, now: Instant) -> u64 {
    let period = tick.period().as_nanos() as u64;
    now.as_nanos().checked_div(period).unwrap_or(0)
}

fn wait_ticks(tick: Tick, wait: Duration) -> u32 {
    if wait == Duration::MAX {
        return u32::MAX;
    }
    let ticks = wait.as_nanos().checked_div(tick.period().as_nanos()).unwrap_or(0);
    u32::try_from(ticks).unwrap_or(u32::MAX)
}
