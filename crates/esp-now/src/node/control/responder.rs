//! The device that is controlled.

use super::{Binding, Bindings, TAG, TEXT_MAX};
use crate::component::DataType;
use crate::component::control::{ACK_LEN, ControlLink, ControlMessage};
use crate::node::print::LogLevel;
use crate::node::task::{
    BindError, Cx, EspNowEvent, Received, SendRequest, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use heapless::Vec;

/// Application's decision on a device that wants to be bound: attribute, address, signal in dBm
/// (`espnow_ctrl_bind_cb_t`).
pub type BindFilter = fn(u32, Mac, i8) -> bool;

/// Time for which the responder rests after a change of its list, in builds for automatic channels.
const SETTLE_MS: u32 = 100;

/// Responder of control, which binds and unbinds initiators and passes their values on as
/// [`EspNowEvent::Control`].
///
/// It runs in the component's main task: a frame is finished when [`run`](Task::run) returns
/// [`TaskStep::Idle`].
#[derive(Clone, Debug, Default)]
pub struct ControlResponder {
    bindings: Bindings,
    /// Filter that decides on each device before it is bound; `None` accepts all.
    pub filter: Option<BindFilter>,
    /// Number of frames that were too short, or came while another was being handled.
    pub dropped: u32,
    /// End of the window for binding, in milliseconds since start. 32 bits, as on the device: a
    /// window that is open when they wrap, after 49 days, is closed too early.
    until_ms: u32,
    rssi: i8,
    text: Vec<u8, TEXT_MAX>,
    phase: ResponderPhase,
}

/// State of the responder; only builds for automatic channels leave `Idle`.
#[derive(Clone, Copy, Debug, Default)]
enum ResponderPhase {
    #[default]
    Idle,
    /// The acknowledgement goes first.
    Ack(ControlLink, BindRequest),
    Acking(BindRequest),
    /// The list has changed and is stored after a rest.
    Settle(Instant),
}

/// Request of a frame.
#[derive(Clone, Copy, Debug)]
struct BindRequest {
    data_type: DataType,
    binding: Binding,
    responder: u32,
    value: u32,
    rssi: i8,
}

impl ControlResponder {
    /// Accepts devices to bind, for `wait_ms` from now, if their signal is at least `rssi` dBm
    /// (`espnow_ctrl_responder_bind`). Unbinding is always possible afterwards.
    pub fn bind(&mut self, cx: &mut Cx<'_>, wait_ms: u32, rssi: i8) {
        self.bindings.load(cx);
        self.until_ms = millis(cx.now).wrapping_add(wait_ms);
        self.rssi = rssi;
        cx.shared.air.listen(DataType::ControlBind, true);
    }

    /// Enables the reception of values (`espnow_ctrl_responder_data`).
    pub fn listen(&mut self, cx: &mut Cx<'_>) {
        cx.shared.air.listen(DataType::ControlData, true);
    }

    /// Returns the bound devices (`espnow_ctrl_responder_get_bindlist`).
    pub fn bindings(&mut self, cx: &mut Cx<'_>) -> &[Binding] {
        self.bindings.load(cx);
        self.bindings.as_slice()
    }

    /// Binds a device without a frame; returns false if the list is full
    /// (`espnow_ctrl_responder_set_bindlist`).
    pub fn insert(&mut self, cx: &mut Cx<'_>, binding: Binding) -> bool {
        self.bindings.load(cx);
        if self.bindings.insert(binding) {
            self.bindings.save(cx);
        }
        self.bindings.contains(binding)
    }

    /// Unbinds a device without a frame (`espnow_ctrl_responder_remove_bindlist`).
    pub fn remove(&mut self, cx: &mut Cx<'_>, binding: Binding) {
        self.bindings.load(cx);
        if self.bindings.remove(binding) {
            self.bindings.save(cx);
        }
    }

    /// Unbinds all devices (`espnow_ctrl_responder_clear_bindlist`).
    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        self.bindings.clear();
        self.bindings.save(cx);
    }

    /// Returns the text of the last value that was passed on, cut to 32 bytes; empty if it had
    /// none.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Prints a line of `control -l`; returns false when there is none with that number. The
    /// console asks for one line at a time, because the list is longer than its buffer.
    pub fn print_row(&mut self, cx: &mut Cx<'_>, row: usize) -> bool {
        self.bindings.load(cx);
        let Some(&Binding { mac, attribute }) = self.bindings.as_slice().get(row) else {
            return false;
        };
        // Here the class of device is called a type, and its property a value.
        let (class, property) = (attribute >> 8, attribute & 0xFF);
        cx.log(
            LogLevel::Info,
            "control_func",
            format_args!("mac: {mac}, initiator_type: {class}, initiator_value: {property}"),
        );
        true
    }

    /// Takes a frame of one of the two types of control.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        let data_type = frame.data_type;
        if !matches!(data_type, DataType::ControlBind | DataType::ControlData) {
            return;
        }
        let control = ControlMessage::parse(cx.shared.settings.compat.auto_channel, frame.data);
        let (Some(control), ResponderPhase::Idle) = (control, self.phase) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        let binding = Binding { mac: frame.from, attribute: control.initiator.0 };
        let (responder, value) = (control.responder.0, control.value.0);
        let wanted = BindRequest { data_type, binding, responder, value, rssi: frame.rssi };
        self.bindings.load(cx);
        // The text is kept now, since the frame is gone once it has been acknowledged.
        if data_type == DataType::ControlData && self.bindings.contains(binding) {
            let len = control.text.len().min(TEXT_MAX);
            self.text = Vec::from_slice(control.text.get(..len).unwrap_or(&[])).unwrap_or_default();
        }
        match control.link {
            Some(link) if link.config.ack => self.phase = ResponderPhase::Ack(link, wanted),
            _ => self.act(cx, wanted),
        }
    }

    fn act(&mut self, cx: &mut Cx<'_>, wanted: BindRequest) {
        self.phase = ResponderPhase::Idle;
        match wanted.data_type {
            // A C bool: only the first byte counts.
            DataType::ControlBind if wanted.value & 0xFF != 0 => self.bind_device(cx, wanted),
            DataType::ControlBind => self.unbind_device(cx, wanted.binding),
            _ => self.deliver(cx, wanted),
        }
    }

    fn bind_device(&mut self, cx: &mut Cx<'_>, wanted: BindRequest) {
        let BindRequest { binding: Binding { mac, attribute }, rssi, .. } = wanted;
        let (now, until, least) = (millis(cx.now), self.until_ms, self.rssi);
        let size = self.bindings.as_slice().len();
        cx.log(
            LogLevel::Info,
            TAG,
            format_args!(
                "bind, timestamp: {now}, max timestamp: {until}, rssi: {rssi}, \
                 min rssi: {least}, bindlist size: {size}"
            ),
        );
        let agreed = self.filter.is_none_or(|filter| filter(attribute, mac, rssi));
        let error = if now > until {
            Some(BindError::Timeout)
        } else if rssi < least {
            Some(BindError::Rssi)
        } else if self.bindings.is_full() {
            // The list counts as full even if the device is bound already.
            Some(BindError::Full)
        } else {
            None
        };
        if let Some(error) = error {
            cx.event(EspNowEvent::BindRefused(mac, error));
        } else if agreed && self.bindings.insert(wanted.binding) {
            cx.event(EspNowEvent::Bound(mac, attribute));
            self.changed(cx);
        }
    }

    fn unbind_device(&mut self, cx: &mut Cx<'_>, binding: Binding) {
        if self.bindings.remove(binding) {
            cx.event(EspNowEvent::Unbound(binding.mac, binding.attribute));
            self.changed(cx);
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        if cx.shared.settings.compat.auto_channel {
            self.phase =
                ResponderPhase::Settle(cx.shared.settings.tick.delay_ms(cx.now, SETTLE_MS));
        } else {
            self.bindings.save(cx);
        }
    }

    fn deliver(&mut self, cx: &mut Cx<'_>, wanted: BindRequest) {
        if self.bindings.contains(wanted.binding) {
            cx.event(EspNowEvent::Control {
                from: wanted.binding.mac,
                initiator: wanted.binding.attribute,
                responder: wanted.responder,
                value: wanted.value,
            });
        }
    }
}

impl Task for ControlResponder {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        match self.phase {
            ResponderPhase::Ack(..) => TaskStep::Send,
            ResponderPhase::Settle(until) if cx.now < until => TaskStep::Until(until),
            ResponderPhase::Settle(_) => {
                self.bindings.save(cx);
                self.phase = ResponderPhase::Idle;
                TaskStep::Idle
            }
            ResponderPhase::Idle | ResponderPhase::Acking(_) => TaskStep::Idle,
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let ResponderPhase::Ack(link, wanted) = self.phase else { return None };
        let Some(out) = payload.first_chunk_mut::<ACK_LEN>() else {
            self.act(cx, wanted);
            return None;
        };
        *out = link.emit();
        self.phase = ResponderPhase::Acking(wanted);
        Some(SendRequest {
            data_type: DataType::Ack,
            dest: Mac::BROADCAST,
            // The acknowledgement goes out as the initiator sends, and so on the channel that it
            // tries.
            config: link.config,
            magic: link.magic,
            len: ACK_LEN,
            wait: Duration::from_millis(100),
        })
    }

    fn sent(&mut self, cx: &mut Cx<'_>, _: TransmitOutcome) {
        if let ResponderPhase::Acking(wanted) = self.phase {
            self.act(cx, wanted);
        }
    }
}

/// Returns the milliseconds since start, as `esp_log_timestamp` does.
fn millis(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}
