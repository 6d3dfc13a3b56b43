//! The parts of a node and how they share it.
//!
//! On the device the parts are FreeRTOS tasks of one priority that block in `espnow_send`, in
//! queues and in delays. Here each part is a small machine, and the node runs those that are ready
//! in turn. One transmission holds the send lock at a time; a part composes its payload once it
//! holds the lock, so that no part needs a buffer of its own.

use super::air::{Country, RadioSettings};
use super::board::{Board, CpuWork};
use super::print::{LogLevel, LogPrinter};
use super::security::{NodeKeys, Policy};
use super::tick::Tick;
use crate::component::{Compat, DataType, FrameConfig};
use core::fmt;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use heapless::Deque;

/// Greatest number of samples that wait between two polls.
pub const SAMPLES: usize = 3;
/// Greatest number of events that wait between two polls.
pub const EVENTS: usize = 8;

/// Next step of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// The part wants to send: [`Task::compose`] is called when the send lock is free, and
    /// [`Task::sent`] when the transmission is over. The part does not run before that.
    Send,
    /// The part waits until this instant, or until something arrives for it. An instant at or
    /// before now only lets the other parts run.
    Until(Instant),
    /// The part waits until something arrives for it.
    Idle,
}

/// A transmission, as its sender describes it (`espnow_send`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRequest {
    /// Data type of the frame.
    pub data_type: DataType,
    /// Destination in the header: address, broadcast or group.
    pub dest: Mac,
    /// Send options. With `security` set the engine encrypts the payload, if the node does.
    pub config: FrameConfig,
    /// Packet id; 0 lets the engine draw one.
    pub magic: u16,
    /// Length of the composed payload, in bytes.
    pub len: usize,
    /// Time for which the caller would wait for the lock, results and acknowledgement together;
    /// [`Duration::MAX`] for `portMAX_DELAY`.
    pub wait: Duration,
}

/// Outcome of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitOutcome {
    /// `ESP_OK`: on the air, delivered to the MAC of the destination, or acknowledged, as
    /// requested.
    Done {
        /// Number of attempts or copies that it took.
        attempts: u8,
    },
    /// `ESP_FAIL`: the MAC of the destination did not acknowledge, in all attempts.
    Failed,
    /// `ESP_ERR_WIFI_TIMEOUT`: no acknowledgement from the application layer.
    TimedOut,
    /// Refused before anything was sent: bad length, a channel that cannot be set, no key.
    Refused,
}

impl TransmitOutcome {
    /// Returns whether the outcome is `ESP_OK`.
    #[must_use]
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done { .. })
    }
}

/// A payload that has arrived for a part, decrypted.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Originator of the frame.
    pub from: Mac,
    /// Data type of the frame.
    pub data_type: DataType,
    /// Payload: at least one byte, except in an acknowledgement that was overheard.
    pub data: &'a [u8],
    /// Signal strength, in dBm.
    pub rssi: i8,
    /// Channel of the header where that is 1 to 14, else of the radio.
    pub channel: u8,
    /// Time at which the radio received it.
    pub at: Instant,
}

/// A part of a node: a service, or a task of its own.
pub trait Task {
    /// Runs until the part must wait. Called when a wait is over, after [`sent`](Self::sent), and
    /// after something arrived for the part.
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep;

    /// Writes the payload, now that the lock is held, and returns how to send it. `None` if there
    /// is nothing to send after all.
    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest>;

    /// Reports the outcome of the transmission to the part.
    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome);
}

/// An event that the node reports to the application (`ESP_EVENT_ESPNOW`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EspNowEvent {
    /// 0x200: a device was bound.
    Bound(Mac, u32),
    /// 0x201: a device was unbound.
    Unbound(Mac, u32),
    /// 0x202: a device was not bound.
    BindRefused(Mac, BindError),
    /// A bound device sets an attribute to a value.
    Control {
        /// Device that sets it.
        from: Mac,
        /// Attribute of the initiator (a button's key, say).
        initiator: u32,
        /// Attribute of this device.
        responder: u32,
        /// Value of the attribute.
        value: u32,
    },
    /// 0x301: an upgrade has begun.
    UpgradeStarted,
    /// 0x302: percentage of the image received.
    UpgradeProgress(u8),
    /// 0x303: the image is complete, verified, and will be started next.
    UpgradeFinished,
    /// 0x304: the upgrade was stopped.
    UpgradeStopped,
    /// The image is complete and was refused: another digest, a bad header, an equal version.
    UpgradeRefused,
    /// 0x306: sending an image has ended.
    UpgradeSent {
        /// Number of devices that have it.
        done: u16,
        /// Number of devices that do not have it.
        unfinished: u16,
    },
    /// The distribution of the key has ended.
    KeysSent {
        /// Number of devices that have it.
        done: u16,
        /// Number of devices that do not have it.
        unfinished: u16,
    },
    /// 0x600: this device has received the key, from that initiator.
    Secured(Mac),
    /// 0x601: a handshake failed.
    SecurityFailed(Mac),
    /// The device has received Wi-Fi credentials; [`NvsKey::Wifi`](super::board::NvsKey::Wifi) holds
    /// them.
    Provisioned(Mac),
    /// 0x502: time was synchronized.
    TimeSynced {
        /// Sender of the time.
        from: Mac,
        /// Error of the own clock before, in ms.
        drift_ms: i32,
    },
    /// A transmission of the application has ended.
    Sent(TransmitOutcome),
    /// The board shall join the network of [`NvsKey::Wifi`](super::board::NvsKey::Wifi) (`wifi_config
    /// -s`).
    Connect,
    /// The board shall leave its network (`wifi_config -d`).
    Disconnect,
    /// The board shall restart.
    Restart,
}

/// Reason why a device was not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The frame came outside the time for binding.
    Timeout = 1,
    /// The signal was too weak.
    Rssi = 2,
    /// The list of bound devices is full.
    Full = 3,
}

/// Build and setup of a node. They do not change while it runs, except by console commands.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// Release of the component and of ESP-IDF.
    pub compat: Compat,
    /// Period of the FreeRTOS tick.
    pub tick: Tick,
    /// Name of the target, which is the console's prompt (`CONFIG_IDF_TARGET`).
    pub target: &'static str,
    /// Services that encrypt.
    pub encrypt: Encrypt,
    /// Policy on what is refused beyond the component's own refusals.
    pub policy: Policy,
    /// Whether frames of other nodes are forwarded (`forward_enable`).
    pub forward: bool,
    /// Whether forwarding goes over all channels (`forward_switch_channel`).
    pub forward_all_channels: bool,
    /// Number of driver TX buffers; half of them is the watermark for broadcasts
    /// (`CONFIG_ESP_WIFI_DYNAMIC_TX_BUFFER_NUM`, 32).
    pub tx_buffers: u8,
    /// Number of frames that may wait for the main task (`qsize`; `CONFIG_ESPNOW_QUEUE_SIZE` of the
    /// solution example, which recommends as many as there are responders).
    pub queue: u8,
    /// Whether the radio returns to its former channel after a send
    /// (`CONFIG_ESPNOW_AUTO_RESTORE_CHANNEL`).
    pub restore_channel: bool,
    /// Level of the line with the result of a ping's report; the two lines above it are
    /// information. In Espressif's test report of many devices, the firmware was built for the test
    /// and this is [`LogLevel::Error`].
    pub ping_report: LogLevel,
    /// Country that Wi-Fi starts with.
    pub country: Country,
    /// Facts of the build, as `beacon` and `version` print them.
    pub build: BuildInfo,
}

/// Facts of a build that only people read (`esp_app_desc_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildInfo {
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

impl Default for BuildInfo {
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

impl Default for NodeSettings {
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
            ping_report: LogLevel::Info,
            country: Country::WORLD,
            build: BuildInfo::default(),
        }
    }
}

/// Services that encrypt (`CONFIG_ESPNOW_*_SECURITY`; all off by default).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encrypt {
    /// `sec_enable` at start: the node can encrypt and decrypt at all.
    pub enabled: bool,
    /// Control.
    pub control: bool,
    /// Remote log, remote command, and `espnow_iperf`.
    pub debug: bool,
    /// OTA.
    pub ota: bool,
    /// Provisioning.
    pub prov: bool,
    /// Time synchronization (only with `CONFIG_ESPNOW_ALL_SECURITY`).
    pub time: bool,
}

/// State that all parts of a node share.
// The order keeps the fields that every frame touches together.
#[derive(Debug)]
#[repr(C)]
pub struct Shared {
    /// Processor time that was spent and not yet waited for, in nanoseconds.
    pub busy_ns: u64,
    /// Radio settings.
    pub air: RadioSettings,
    /// Number of samples and events that were lost because the driver did not take them in time.
    pub lost: u32,
    /// Number of samples and events that wait.
    waiting: u8,
    /// Build and setup of the node.
    pub settings: NodeSettings,
    /// Console output and remote log.
    pub print: LogPrinter,
    /// Keys of the application layer.
    pub keys: NodeKeys,
    samples: Deque<Sample, SAMPLES>,
    events: Deque<EspNowEvent, EVENTS>,
}

impl Shared {
    /// Creates the shared state of a node with that address.
    #[must_use]
    pub fn new(mac: Mac, settings: NodeSettings) -> Self {
        let country = settings.country;
        Self {
            busy_ns: 0,
            air: RadioSettings { country, wifi_country: country, ..RadioSettings::new(mac) },
            lost: 0,
            waiting: 0,
            settings,
            print: LogPrinter::default(),
            keys: NodeKeys::default(),
            samples: Deque::new(),
            events: Deque::new(),
        }
    }

    /// Counts a sample or event that waits, or is lost.
    const fn count_report(&mut self, kept: bool) {
        if kept {
            self.waiting = self.waiting.saturating_add(1);
        } else {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Returns whether samples or events wait.
    #[inline]
    #[must_use]
    pub const fn has_news(&self) -> bool {
        self.waiting > 0
    }

    /// Takes the oldest sample that waits.
    pub fn take_sample(&mut self) -> Option<Sample> {
        let sample = self.samples.pop_front();
        self.waiting = self.waiting.saturating_sub(u8::from(sample.is_some()));
        sample
    }

    /// Takes the oldest event that waits.
    pub fn take_event(&mut self) -> Option<EspNowEvent> {
        let event = self.events.pop_front();
        self.waiting = self.waiting.saturating_sub(u8::from(event.is_some()));
        event
    }
}

/// Context of a part while it runs.
pub struct Cx<'a> {
    /// Current time on the node's clock.
    pub now: Instant,
    /// Board of the node.
    pub board: &'a mut dyn Board,
    /// State that all parts share.
    pub shared: &'a mut Shared,
}

impl Cx<'_> {
    /// Logs a line.
    pub fn log(&mut self, level: LogLevel, tag: &str, text: fmt::Arguments<'_>) {
        let before = self.shared.print.waiting();
        self.shared.print.log(self.now, level, tag, text);
        let bytes = self.shared.print.waiting().saturating_sub(before) as u32;
        self.spend(CpuWork::Print { bytes });
    }

    /// Prints plain text on the console.
    pub fn text(&mut self, text: fmt::Arguments<'_>) {
        let before = self.shared.print.waiting();
        self.shared.print.text(text);
        let bytes = self.shared.print.waiting().saturating_sub(before) as u32;
        self.spend(CpuWork::Print { bytes });
    }

    /// Spends the processor time of some work.
    #[inline]
    pub fn spend(&mut self, work: CpuWork) {
        self.shared.busy_ns = self.shared.busy_ns.saturating_add(self.board.cost_ns(work));
    }

    /// Draws sixteen random bits.
    pub fn random_u16(&mut self) -> u16 {
        let mut bytes = [0; 2];
        self.board.random(&mut bytes);
        u16::from_le_bytes(bytes)
    }

    /// Draws a magic: sixteen random bits, not zero.
    pub fn magic(&mut self) -> u16 {
        self.random_u16().max(1)
    }

    /// Records a sample.
    pub fn sample(&mut self, sample: Sample) {
        let kept = self.shared.samples.push_back(sample).is_ok();
        self.shared.count_report(kept);
    }

    /// Returns whether one more sample can be recorded before the next poll.
    #[must_use]
    pub fn sample_room(&self) -> bool {
        !self.shared.samples.is_full()
    }

    /// Reports an event to the application.
    pub fn event(&mut self, event: EspNowEvent) {
        let kept = self.shared.events.push_back(event).is_ok();
        self.shared.count_report(kept);
    }
}
