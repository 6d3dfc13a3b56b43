//! The device with the buttons.

use super::{TAG, TEXT_MAX};
use crate::component::control::{Attribute, AttributeValue, ControlLink, ControlMessage};
use crate::component::{DataType, FrameConfig};
use crate::node::board::NvsKey;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use heapless::Vec;

/// Time to wait for the acknowledgement (`CONFIG_ESPNOW_CONTROL_WAIT_ACK_DURATION`).
const ACK_WAIT_MS: u32 = 40;
/// Number of tries on one channel (`CONFIG_ESPNOW_CONTROL_RETRANSMISSION_TIMES` + 1).
const TRIES: u8 = 6;

/// Initiator of control, which sends one operation at a time: on every channel, ten copies of each;
/// or, in builds for automatic channels, on one channel after the other until it is acknowledged.
///
/// On the device the caller waits in the function. Here it looks at [`busy`](Self::busy) and
/// [`take_result`](Self::take_result).
#[derive(Clone, Debug, Default)]
pub struct ControlInitiator {
    job: Option<Operation>,
    phase: InitiatorPhase,
    text: Vec<u8, TEXT_MAX>,
    acked: bool,
    result: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    data_type: DataType,
    initiator: u32,
    responder: u32,
    value: u32,
    how: ConfigSource,
}

#[derive(Clone, Copy, Debug)]
enum ConfigSource {
    /// The component's configuration.
    Own,
    /// The caller's configuration.
    As(FrameConfig),
}

#[derive(Clone, Copy, Debug, Default)]
enum InitiatorPhase {
    #[default]
    Idle,
    Start,
    Ready(Option<ChannelSearch>),
    Sending(Option<ChannelSearch>),
    AwaitAck(ChannelSearch, Instant),
}

/// State of the search for the channel.
#[derive(Clone, Copy, Debug)]
struct ChannelSearch {
    magic: u16,
    /// Stored channel, which comes first.
    home: u8,
    channel: u8,
    /// Number of completed tries on this channel.
    tries: u8,
    /// Index, among the country's channels, of the one that comes next.
    next: u8,
}

impl ControlInitiator {
    /// Configuration with which `espnow_ctrl_initiator_send` and the console start: ten copies on
    /// each channel, up to ten hops above -25 dBm.
    pub const CONFIG: FrameConfig = FrameConfig {
        channel: FrameConfig::ALL_CHANNELS,
        broadcast: true,
        copies: 10,
        ttl: 10,
        rssi: -25,
        ..FrameConfig::UNICAST
    };

    /// Configuration of a search, on each of its channels.
    const SEARCH: FrameConfig = FrameConfig {
        broadcast: true,
        ack: true,
        filter_adjacent: true,
        ttl: 10,
        rssi: -55,
        ..FrameConfig::UNICAST
    };

    /// Binds this device's attribute to responders that are open for it, or unbinds it
    /// (`espnow_ctrl_initiator_bind`). Returns false while another operation runs.
    pub fn bind(&mut self, attribute: u32, on: bool) -> bool {
        self.start(Operation {
            data_type: DataType::ControlBind,
            initiator: attribute,
            responder: 0,
            value: on.into(),
            how: ConfigSource::Own,
        })
    }

    /// Sets an attribute of the devices that have bound this device's attribute
    /// (`espnow_ctrl_initiator_send`). Returns false while another operation runs.
    pub fn set(&mut self, initiator: u32, responder: u32, value: u32) -> bool {
        let data_type = DataType::ControlData;
        self.start(Operation { data_type, initiator, responder, value, how: ConfigSource::Own })
    }

    /// Sets an attribute with a configuration of the caller's, as the console's `control -c` does
    /// (`espnow_ctrl_send`); it never searches, and encrypts only if `config` says so. The
    /// component has a parameter for the destination and ignores it. Returns false while another
    /// operation runs.
    pub fn send(
        &mut self,
        initiator: u32,
        responder: u32,
        value: u32,
        config: FrameConfig,
    ) -> bool {
        let data_type = DataType::ControlData;
        self.start(Operation {
            data_type,
            initiator,
            responder,
            value,
            how: ConfigSource::As(config),
        })
    }

    /// Sends a text in place of a value, otherwise as [`send`](Self::send). Also returns false
    /// above 32 bytes and for an empty text.
    pub fn send_text(
        &mut self,
        initiator: u32,
        responder: u32,
        text: &[u8],
        config: FrameConfig,
    ) -> bool {
        let Ok(kept) = Vec::from_slice(text) else { return false };
        let AttributeValue(value) = AttributeValue::text(text.len() as u8);
        let sent = !text.is_empty() && self.send(initiator, responder, value, config);
        if sent {
            self.text = kept;
        }
        sent
    }

    fn start(&mut self, job: Operation) -> bool {
        if self.job.is_some() {
            return false;
        }
        self.job = Some(job);
        self.phase = InitiatorPhase::Start;
        self.text.clear();
        self.result = None;
        true
    }

    /// Returns whether an operation runs.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.job.is_some()
    }

    /// Returns once whether the last operation ended with `ESP_OK`. For a search that means that an
    /// acknowledgement came, otherwise only that the frames went out.
    pub fn take_result(&mut self) -> Option<bool> {
        self.result.take()
    }

    /// Takes a frame of type ACK that is not addressed to this device, in a build for automatic
    /// channels.
    ///
    /// The component checks neither its magic nor its sender: any such frame ends the search, and
    /// its channel is stored. On the device it gets here only when the frame is about to be
    /// forwarded, so forwarding must be on, and the frame strong enough and with hops left (unless
    /// `CONFIG_ESPNOW_DATA_FAST_ACK`); that is for the caller to decide.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        if frame.data_type != DataType::Ack || !cx.shared.settings.compat.auto_channel {
            return;
        }
        let (from, channel) = (frame.from, frame.channel);
        cx.log(
            LogLevel::Info,
            TAG,
            format_args!("src_addr: {from}, espnow_ctrl_initiator_ack, channel: {channel}"),
        );
        // The component stores any channel, even 0 and 15, which are none.
        if (1..=14).contains(&channel) {
            let _ = cx.board.save(NvsKey::ControlChannel, &[channel]);
        }
        self.acked = true;
    }

    fn begin(&mut self, cx: &mut Cx<'_>, job: Operation) -> TaskStep {
        let search = matches!(job.how, ConfigSource::Own) && cx.shared.settings.compat.auto_channel;
        self.acked = false;
        self.phase = InitiatorPhase::Ready(search.then(|| {
            let mut stored = [0];
            let home = match cx.board.load(NvsKey::ControlChannel, &mut stored) {
                Some(1) => stored[0] & 0x0F,
                _ => 1,
            };
            ChannelSearch { magic: cx.magic(), home, channel: home, tries: 0, next: 0 }
        }));
        TaskStep::Send
    }

    fn waited(&mut self, cx: &mut Cx<'_>, search: ChannelSearch, until: Instant) -> TaskStep {
        if self.acked {
            return self.finish(true);
        }
        if cx.now < until {
            return TaskStep::Until(until);
        }
        match search.again(cx) {
            Some(search) => {
                self.phase = InitiatorPhase::Ready(Some(search));
                TaskStep::Send
            }
            None => {
                // The component prints function and line before it, which differ by release.
                cx.log(LogLevel::Warn, TAG, format_args!("<ESP_FAIL> espnow_broadcast, ret: -1"));
                self.finish(false)
            }
        }
    }

    fn finish(&mut self, ok: bool) -> TaskStep {
        (self.job, self.phase, self.result) = (None, InitiatorPhase::Idle, Some(ok));
        TaskStep::Idle
    }
}

impl ChannelSearch {
    /// Returns the next try, on this or on the next channel; `None` after the last.
    fn again(mut self, cx: &Cx<'_>) -> Option<Self> {
        self.tries = self.tries.saturating_add(1);
        if self.tries < TRIES {
            return Some(self);
        }
        let country = cx.shared.air.country;
        while self.next < country.count {
            let channel = country.first.saturating_add(self.next);
            self.next += 1;
            if channel != self.home {
                (self.channel, self.tries) = (channel, 0);
                return Some(self);
            }
        }
        None
    }
}

impl Task for ControlInitiator {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        match (self.phase, self.job) {
            (InitiatorPhase::Start, Some(job)) => self.begin(cx, job),
            (InitiatorPhase::Ready(_), Some(_)) => TaskStep::Send,
            (InitiatorPhase::AwaitAck(search, until), Some(_)) => self.waited(cx, search, until),
            (InitiatorPhase::Idle | InitiatorPhase::Sending(_), _) | (_, None) => TaskStep::Idle,
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let (InitiatorPhase::Ready(search), Some(job)) = (self.phase, self.job) else {
            return None;
        };
        let security = cx.shared.settings.encrypt.control;
        let bind = job.data_type == DataType::ControlBind;
        let mut config = match (job.how, search) {
            (ConfigSource::As(config), _) => config,
            (ConfigSource::Own, Some(search)) => {
                FrameConfig { channel: search.channel, security, ..Self::SEARCH }
            }
            (ConfigSource::Own, None) if bind => FrameConfig { ttl: 0, security, ..Self::CONFIG },
            (ConfigSource::Own, None) => FrameConfig { security, ..Self::CONFIG },
        };
        let magic = search.map_or(0, |search| search.magic);
        // espnow_ctrl_send leaves this part of the structure as its caller did: zero.
        let link = match search {
            Some(_) => ControlLink { magic, config },
            None => ControlLink { magic: 0, config: FrameConfig::UNICAST },
        };
        let control = ControlMessage {
            link: cx.shared.settings.compat.auto_channel.then_some(link),
            initiator: Attribute(job.initiator),
            responder: Attribute(job.responder),
            value: AttributeValue(job.value),
            text: &self.text,
        };
        let Some(len) = control.emit(payload) else {
            self.finish(false);
            return None;
        };
        config.copies = config.copies.max(1);
        self.phase = InitiatorPhase::Sending(search);
        let waits = matches!(job.how, ConfigSource::Own) && (bind || search.is_some());
        let wait = if waits { Duration::MAX } else { Duration::from_secs(1) };
        Some(SendRequest {
            data_type: job.data_type,
            dest: Mac::BROADCAST,
            config,
            magic,
            len,
            wait,
        })
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match self.phase {
            // The outcome does not matter, only the acknowledgement does.
            InitiatorPhase::Sending(Some(search)) => {
                let until = cx.shared.settings.tick.delay_ms(cx.now, ACK_WAIT_MS);
                self.phase = InitiatorPhase::AwaitAck(search, until);
            }
            InitiatorPhase::Sending(None) => {
                self.finish(outcome.is_done());
            }
            _ => {}
        }
    }
}
