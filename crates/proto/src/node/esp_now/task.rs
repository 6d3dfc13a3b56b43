//! How the parts of a node work side by side.
//!
//! On the device these are FreeRTOS tasks of one priority that block in `espnow_send`, in queues
//! and in delays. Here each is a small machine, and the node runs those that are ready in turn.
//! One transmission holds the send lock at a time; a part composes its payload when it has got the
//! lock, so that no part needs a buffer of its own.

use super::air::{Air, Country};
use super::board::{Board, Work};
use super::print::{Level, Printer};
use super::security::{Keys, Policy};
use super::tick::Tick;
use crate::sample::Sample;
use crate::time::{Duration, Instant};
use crate::wire::component::{Compat, DataType, FrameConfig};
use crate::wire::mac::Mac;
use core::fmt;
use heapless::Deque;

/// Samples that may wait between two polls.
pub const SAMPLES: usize = 4;
/// Events that may wait between two polls.
pub const EVENTS: usize = 8;

/// What a part does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It wants to send: [`Task::compose`] is called when the send lock is free, and
    /// [`Task::sent`] when it is over. It is not run before that.
    Send,
    /// It waits until this instant, or until something arrives for it. At or before now: it only
    /// lets the others run.
    Until(Instant),
    /// It waits until something arrives for it.
    Idle,
}

/// A transmission, as its sender describes it (`espnow_send`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Type of the frame.
    pub data_type: DataType,
    /// Destination in the header: address, broadcast or group.
    pub dest: Mac,
    /// How to send it. With `security` set the engine encrypts the payload, if the node does.
    pub config: FrameConfig,
    /// Packet id; 0 draws one.
    pub magic: u16,
    /// Bytes of payload that were composed.
    pub len: usize,
    /// How long the caller would wait for the lock, results and acknowledgement together;
    /// [`Duration::MAX`] for `portMAX_DELAY`.
    pub wait: Duration,
}

/// How a transmission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `ESP_OK`: on the air, delivered to the MAC of the destination, or acknowledged, as asked.
    Done {
        /// Attempts or copies that it took.
        attempts: u8,
    },
    /// `ESP_FAIL`: the MAC of the destination did not acknowledge, in all attempts.
    Failed,
    /// `ESP_ERR_WIFI_TIMEOUT`: no acknowledgement from the application layer.
    TimedOut,
    /// Refused before anything was sent: bad length, a channel that cannot be set, no key.
    Refused,
}

impl Outcome {
    /// Whether it is `ESP_OK`.
    #[must_use]
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done { .. })
    }
}

/// A payload that has arrived for a part, decrypted.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The originator.
    pub from: Mac,
    /// Type of the frame.
    pub data_type: DataType,
    /// The payload: at least one byte, but for an acknowledgement that was overheard.
    pub data: &'a [u8],
    /// Signal strength, dBm.
    pub rssi: i8,
    /// The channel of the header where that is 1 to 14, else of the radio.
    pub channel: u8,
    /// When the radio had it.
    pub at: Instant,
}

/// A part of a node: a service, or a task of its own.
pub trait Task {
    /// Goes on until it must wait. Called when a wait is over, after [`sent`](Self::sent), and
    /// after something arrived for it.
    fn run(&mut self, cx: &mut Cx<'_>) -> Step;

    /// The lock is held: writes the payload and says how to send it. `None` if there is nothing
    /// to send after all.
    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<Outgoing>;

    /// The transmission has ended.
    fn sent(&mut self, cx: &mut Cx<'_>, outcome: Outcome);
}

/// What has happened that an application may want to know (`ESP_EVENT_ESPNOW`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// 0x200: a device was bound.
    Bound(Mac, u32),
    /// 0x201: a device was unbound.
    Unbound(Mac, u32),
    /// 0x202: a device was not bound.
    BindRefused(Mac, BindError),
    /// A bound device sets an attribute to a value.
    Control {
        /// The device.
        from: Mac,
        /// Attribute of the initiator (a button's key, say).
        initiator: u32,
        /// Attribute of this device.
        responder: u32,
        /// Value.
        value: u32,
    },
    /// 0x301: an upgrade has begun.
    UpgradeStarted,
    /// 0x302: per cent of the image received.
    UpgradeProgress(u8),
    /// 0x303: the image is complete, verified, and will be started next.
    UpgradeFinished,
    /// 0x304: the upgrade was stopped.
    UpgradeStopped,
    /// The image is complete and was refused: another digest, a bad header, an equal version.
    UpgradeRefused,
    /// 0x306: sending an image has ended.
    UpgradeSent {
        /// Devices that have it.
        done: u16,
        /// Devices that have not.
        unfinished: u16,
    },
    /// Handing the key out has ended.
    KeysSent {
        /// Devices that have it.
        done: u16,
        /// Devices that have not.
        unfinished: u16,
    },
    /// 0x600: this device has got the key, from that initiator.
    Secured(Mac),
    /// 0x601: a handshake failed.
    SecurityFailed(Mac),
    /// This device has got Wi-Fi credentials; [`Key::Wifi`](super::board::Key::Wifi) holds them.
    Provisioned(Mac),
    /// 0x502: time was synchronized.
    TimeSynced {
        /// Who sent the time.
        from: Mac,
        /// What the clock was off, in ms.
        drift_ms: i32,
    },
    /// What the application sent itself has ended.
    Sent(Outcome),
    /// This device shall join the network of [`Key::Wifi`](super::board::Key::Wifi)
    /// (`wifi_config -s`).
    Connect,
    /// This device shall leave its network (`wifi_config -d`).
    Disconnect,
    /// The board shall restart.
    Restart,
}

/// Why a device was not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindError {
    /// Outside the time for binding.
    Timeout = 1,
    /// Too weak.
    Rssi = 2,
    /// The list is full.
    Full = 3,
}

/// How a node was built and set up. Does not change while it runs, but for what the console sets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which release is spoken.
    pub compat: Compat,
    /// Period of the FreeRTOS tick.
    pub tick: Tick,
    /// The target's name, which is the console's prompt (`CONFIG_IDF_TARGET`).
    pub target: &'static str,
    /// Which services encrypt.
    pub encrypt: Encrypt,
    /// What is refused beyond what the component refuses.
    pub policy: Policy,
    /// Whether frames of others are forwarded (`forward_enable`).
    pub forward: bool,
    /// Whether forwarding goes over all channels (`forward_switch_channel`).
    pub forward_all_channels: bool,
    /// Driver TX buffers; half of them is the watermark for broadcasts
    /// (`CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, 32).
    pub tx_buffers: u8,
    /// Frames that may wait for the main task (`qsize`; `CONFIG_ESPNOW_QUEUE_SIZE` of the solution
    /// example, which says to have as many as there are responders).
    pub queue: u8,
    /// Return to the former channel after a send (`CONFIG_ESPNOW_AUTO_RESTORE_CHANNEL`).
    pub restore_channel: bool,
    /// Level of the line with the result of a ping's report; the two above it are information.
    /// Espressif's test report has a firmware built for its test with many devices, in which this is
    /// [`Level::Error`].
    pub ping_report: Level,
    /// The country that its Wi-Fi starts with.
    pub country: Country,
    /// What was built, as `beacon` and `version` tell it.
    pub build: Build,
}

/// Facts of a build that only people read (`esp_app_desc_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Name of the project.
    pub project: &'static str,
    /// Version of the application.
    pub version: &'static str,
    /// Version of ESP-IDF.
    pub idf: &'static str,
    /// Date of compilation, as `__DATE__` has it.
    pub date: &'static str,
    /// Time of compilation, as `__TIME__` has it.
    pub time: &'static str,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            project: "espbench",
            version: env!("CARGO_PKG_VERSION"),
            idf: "v5.1",
            date: "Jan  1 2026",
            time: "00:00:00",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            compat: Compat::default(),
            tick: Tick::default(),
            target: "esp32c3",
            encrypt: Encrypt::default(),
            policy: Policy::default(),
            forward: true,
            forward_all_channels: false,
            tx_buffers: 32,
            queue: super::engine::QUEUE,
            restore_channel: false,
            ping_report: Level::Info,
            country: Country::WORLD,
            build: Build::default(),
        }
    }
}

/// Which services encrypt (`CONFIG_ESPNOW_*_SECURITY`; all off by default).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encrypt {
    /// `sec_enable` at start: the node can encrypt and decrypt at all.
    pub enabled: bool,
    /// Control.
    pub control: bool,
    /// Log and command, and `espnow_iperf`.
    pub debug: bool,
    /// OTA.
    pub ota: bool,
    /// Provisioning.
    pub prov: bool,
    /// Time synchronization (only with `CONFIG_ESPNOW_ALL_SECURITY`).
    pub time: bool,
}

/// What all parts of a node share.
// In this order what every frame touches stands together.
#[derive(Debug)]
#[repr(C)]
pub struct Shared {
    /// Processor time that was spent and not yet waited for, in nanoseconds.
    pub busy_ns: u64,
    /// The radio.
    pub air: Air,
    /// Samples and events that were lost because nobody took them.
    pub lost: u32,
    /// Samples and events that wait.
    waiting: u8,
    /// How the node was built.
    pub settings: Settings,
    /// The console's output and the remote log.
    pub print: Printer,
    /// The keys of the application layer.
    pub keys: Keys,
    samples: Deque<Sample, SAMPLES>,
    events: Deque<Event, EVENTS>,
}

impl Shared {
    /// The shared part of a node with that address.
    #[must_use]
    pub fn new(mac: Mac, settings: Settings) -> Self {
        let country = settings.country;
        Self {
            busy_ns: 0,
            air: Air { country, wifi_country: country, ..Air::new(mac) },
            lost: 0,
            waiting: 0,
            settings,
            print: Printer::default(),
            keys: Keys::default(),
            samples: Deque::new(),
            events: Deque::new(),
        }
    }

    /// One more sample or event waits, or is lost.
    const fn told(&mut self, kept: bool) {
        if kept {
            self.waiting = self.waiting.saturating_add(1);
        } else {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Whether samples or events wait.
    #[inline]
    #[must_use]
    pub const fn has_news(&self) -> bool {
        self.waiting > 0
    }

    /// The oldest sample that waits.
    pub fn take_sample(&mut self) -> Option<Sample> {
        let sample = self.samples.pop_front();
        self.waiting = self.waiting.saturating_sub(u8::from(sample.is_some()));
        sample
    }

    /// The oldest event that waits.
    pub fn take_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        self.waiting = self.waiting.saturating_sub(u8::from(event.is_some()));
        event
    }
}

/// What a part sees while it runs.
pub struct Cx<'a> {
    /// Now, on the node's clock.
    pub now: Instant,
    /// The board.
    pub board: &'a mut dyn Board,
    /// What all parts share.
    pub shared: &'a mut Shared,
}

impl Cx<'_> {
    /// Logs a line.
    pub fn log(&mut self, level: Level, tag: &str, text: fmt::Arguments<'_>) {
        let before = self.shared.print.waiting();
        self.shared.print.log(self.now, level, tag, text);
        let bytes = self.shared.print.waiting().saturating_sub(before) as u32;
        self.spend(Work::Print { bytes });
    }

    /// Prints plain text on the console.
    pub fn text(&mut self, text: fmt::Arguments<'_>) {
        let before = self.shared.print.waiting();
        self.shared.print.text(text);
        let bytes = self.shared.print.waiting().saturating_sub(before) as u32;
        self.spend(Work::Print { bytes });
    }

    /// Does work that takes the processor's time.
    #[inline]
    pub fn spend(&mut self, work: Work) {
        self.shared.busy_ns = self.shared.busy_ns.saturating_add(self.board.cost_ns(work));
    }

    /// Sixteen random bits.
    pub fn random_u16(&mut self) -> u16 {
        let mut bytes = [0; 2];
        self.board.random(&mut bytes);
        u16::from_le_bytes(bytes)
    }

    /// A magic: sixteen random bits, not zero.
    pub fn magic(&mut self) -> u16 {
        self.random_u16().max(1)
    }

    /// Records a sample.
    pub fn sample(&mut self, sample: Sample) {
        let kept = self.shared.samples.push_back(sample).is_ok();
        self.shared.told(kept);
    }

    /// Whether one more sample can be recorded before the next poll.
    #[must_use]
    pub fn sample_room(&self) -> bool {
        !self.shared.samples.is_full()
    }

    /// Tells the application.
    pub fn event(&mut self, event: Event) {
        let kept = self.shared.events.push_back(event).is_ok();
        self.shared.told(kept);
    }
}
