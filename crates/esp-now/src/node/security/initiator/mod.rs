//! The initiator: finds devices that wait for a key, and hands it to them (sections 3.4 and 3.5 of
//! the protocol reference).
//!
//! | module | contents |
//! |---|---|
//! | `key` | the key while it is handed out |
//! | `rounds` | the rounds of the exchange |
//! | `scan` | search for devices that wait for a key, and the printed list of them |
//! | `task` | the initiator as a task: its steps, its messages, and its last lines |
//!
//! | started by | procedure |
//! |---|---|
//! | [`find`](SecurityInitiator::find), `security -f` | asks, waits, prints the devices that answered |
//! | [`start`](SecurityInitiator::start), `security -s` | hands the stored key to the devices named |
//! | [`hand_out`](SecurityInitiator::hand_out), the examples `security` and `solution` | asks, waits, and hands the key (a new one if none is stored) to all that answered |
//!
//! The exchange goes in rounds of at most 100 devices. In each, the round's devices join the group
//! "SEC", the group gets one message with the public key of the round, and leaves. Then answers are
//! handled one after the other for 1.2 s and 0.3 s per device. A device that has not finished takes
//! part in the next round.
//!
//! The component queues each answer as it came, as many as there are devices. Here a device's place
//! in the table of sessions is also the place of its answer, which is checked when it comes, so
//! that none is lost to a full queue; further copies are counted in [`SecurityCounters::refused`].
//!
//! Where the component differs:
//!
//! * Late answers at the end overwrite its stack, and longer payloads than it expects its heap
//!   (section 10, 11 and 12).
//! * A message that is refused prolongs a round there; here it does not, so that rounds end.
//! * A wrong proof shifts its keystream, after which the right one fails; here it does not.
//! * Its second round lists the unfinished devices in another order.
//! * There the reception of the handshake's type ends with the exchange, also where the node is a
//!   responder. Here it is restored.

mod key;
mod rounds;
mod scan;
mod task;

use super::exchange::{KeyPair, Pop, SecureChannel};
use crate::component::handshake::SecurityMessage;
use crate::component::{DataType, FrameConfig};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Received};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use heapless::{Deque, Vec};
use key::AppKey;
use zeroize::Zeroize;

/// Greatest number of devices in one round.
pub const ROUND_MAX: usize = 100;

const TAG: &str = "espnow_sec_init";

/// Configuration of the exchange's frames. Receivers on another channel ignore them; `forward_rssi`
/// is set and has no effect without hops (`CONFIG_ESPNOW_SEC_SEND_FORWARD_RSSI`).
const CONFIG: FrameConfig =
    FrameConfig { copies: 1, filter_adjacent: true, rssi: -65, ..FrameConfig::UNICAST };

/// A device that answered, or that was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundDevice {
    /// Address of the device.
    pub mac: Mac,
    /// Signal strength of its answer, in dBm; 0 if it gave none.
    pub rssi: i8,
    /// Channel of its answer; 0 if it gave none.
    pub channel: u8,
    /// Security version: 1 if it has a key, 0 if not.
    pub version: u8,
    mark: KeyMark,
}

/// State of a device in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyMark {
    /// The device takes no part.
    Idle,
    /// The device is to get the key.
    Wanted,
    /// The device has the key.
    Done,
}

/// Counts of events that are not in the printed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityCounters {
    /// Devices for which the list had no room.
    pub no_room: u32,
    /// Messages of the exchange from devices that are not in the round.
    pub strangers: u32,
    /// Messages that do not fit the session's state, or prove nothing.
    pub refused: u32,
}

/// Initiator of a node, which hands out the key: to `DEVICES` found or named, `SESSIONS` (at most
/// [`ROUND_MAX`]) in one round. They take 9 and 52 bytes of RAM each.
#[derive(Debug)]
pub struct SecurityInitiator<const DEVICES: usize = 128, const SESSIONS: usize = ROUND_MAX> {
    /// Counts of events that are not in the printed lines.
    pub counts: SecurityCounters,
    devices: Vec<FoundDevice, DEVICES>,
    sessions: Vec<SessionSlot, SESSIONS>,
    /// Sessions with an answer to handle, oldest first; each is in it once at most.
    ready: Deque<u8, SESSIONS>,
    phase: ExchangePhase,
    report: ReportForm,
    pop: Pop,
    pair: Option<KeyPair>,
    key: AppKey,
    /// Content of the answer that waits to be sent.
    block: [u8; 32],
    magic: u16,
    wait_ticks: u32,
    began: Instant,
    scanned: Instant,
    round_began: Instant,
    round: u16,
    /// Whether an answer was taken since the last run.
    heard: bool,
    /// Whether the round's public key has gone out; an earlier answer to it is forged.
    offered: bool,
    /// Whether the node received the handshake's type before.
    listened: bool,
}

/// Session with a device of the round.
struct SessionSlot {
    device: u16,
    stage: SessionStage,
    /// K and the start of the counter; before that, the device's public key in the place of K.
    secret: SlotSecret,
}

/// Offer of the device, which is public, or the result of the agreement, which wipes itself.
enum SlotSecret {
    None,
    Offer { public: [u8; 32], random: [u8; 16] },
    Channel(SecureChannel),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionStage {
    /// The round's first message is being sent to it, or was.
    Invited,
    /// The public key of the device has come and waits.
    Offered,
    /// The proof was sent to it.
    Asked,
    /// The proof of the device was right and waits.
    Proved,
    /// The key was sent to it.
    Given,
    /// The device has sent the key back.
    Done,
}

impl core::fmt::Debug for SessionSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Slot({}, {:?})", self.device, self.stage)
    }
}

/// Form of the report: that of the console command, or of an example application under its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportForm {
    Command,
    Application(&'static str),
}

/// State of the initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExchangePhase {
    Idle,
    /// A request is to be sent, in this round of asking.
    Ask(u8),
    /// Waits for answers to it.
    Listen(u8, Instant),
    /// Prints the devices found, from this line on.
    List(u16),
    /// A round begins.
    Begin,
    /// Sends GROUP frames of up to 32 joining addresses, from this index on.
    Join(u8),
    /// Sends the public key to the group.
    Offer,
    /// Sends GROUP frames of up to 32 leaving addresses, from this index on.
    Leave(u8),
    /// Waits for answers until this instant, by when the queue has been empty for long enough.
    Collect(Instant),
    /// Answers this session.
    Answer(u8),
    /// Prints the result.
    Finish,
}

impl<const DEVICES: usize, const SESSIONS: usize> Default for SecurityInitiator<DEVICES, SESSIONS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const DEVICES: usize, const SESSIONS: usize> SecurityInitiator<DEVICES, SESSIONS> {
    const FITS: () = assert!(SESSIONS > 0 && SESSIONS <= ROUND_MAX && DEVICES <= u16::MAX as usize);

    /// Creates an initiator that does nothing yet.
    #[must_use]
    pub fn new() -> Self {
        const { Self::FITS };
        Self {
            counts: SecurityCounters::default(),
            devices: Vec::new(),
            sessions: Vec::new(),
            ready: Deque::new(),
            phase: ExchangePhase::Idle,
            report: ReportForm::Command,
            pop: Pop::default(),
            pair: None,
            key: AppKey::default(),
            block: [0; 32],
            magic: 0,
            wait_ticks: 0,
            began: Instant::ZERO,
            scanned: Instant::ZERO,
            round_began: Instant::ZERO,
            round: 0,
            heard: false,
            offered: false,
            listened: false,
        }
    }

    /// Returns whether the initiator does nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == ExchangePhase::Idle
    }

    /// Returns whether frames of type [`DataType::Security`] are for it rather than for a
    /// responder.
    #[must_use]
    pub fn is_exchanging(&self) -> bool {
        !matches!(
            self.phase,
            ExchangePhase::Idle
                | ExchangePhase::Ask(_)
                | ExchangePhase::Listen(..)
                | ExchangePhase::List(_)
        )
    }

    /// Returns the devices that were found, or named.
    #[must_use]
    pub fn devices(&self) -> &[FoundDevice] {
        &self.devices
    }

    /// Counts the devices of the last exchange that have the key, and those that do not.
    #[must_use]
    pub fn result(&self) -> (u16, u16) {
        let count = |mark| self.devices.iter().filter(|d| d.mark == mark).count() as u16;
        (count(KeyMark::Done), count(KeyMark::Wanted))
    }

    /// Executes `security -f`: finds the devices that wait for a key, and prints them. `wait_ms`
    /// has next to no effect, see the protocol reference, section 3.4. Returns false while it does
    /// something else.
    pub fn find(&mut self, cx: &mut Cx<'_>, wait_ms: u32) -> bool {
        if !self.is_idle() {
            return false;
        }
        cx.log(LogLevel::Info, "espnow_cmd", format_args!("Find devices waiting to get key"));
        self.report = ReportForm::Command;
        self.ask(cx, wait_ms);
        true
    }

    /// Executes `security -s`: hands the stored key to the devices of `list`; `ff:ff:ff:ff:ff:ff`
    /// stands for all that were found, of which a console line would hold 28 (an addition: the
    /// component takes it as an address). `typed` is the list as it was typed. Returns false while
    /// it does something else, or if the policy forbids it.
    pub fn start(
        &mut self,
        cx: &mut Cx<'_>,
        typed: &[u8],
        list: impl IntoIterator<Item = Mac>,
        pop: &Pop,
    ) -> bool {
        const TAG: &str = "espnow_cmd";
        if !self.is_idle() {
            return false;
        }
        let typed = core::str::from_utf8(typed).unwrap_or("");
        cx.log(LogLevel::Info, TAG, format_args!("Security initiator start: {typed}"));
        if cx.shared.keys.encrypt.is_none() {
            cx.log(LogLevel::Error, TAG, format_args!("Secure key is not set"));
            return false;
        }
        if !self.may_use(cx, pop) {
            return false;
        }
        if let Some(key) = &cx.shared.keys.encrypt {
            self.key.0 = *key.bytes();
        }
        self.devices.iter_mut().for_each(|device| device.mark = KeyMark::Idle);
        list.into_iter().for_each(|mac| self.want(mac));
        self.report = ReportForm::Command;
        self.pop = pop.clone();
        self.began = cx.now;
        self.begin_exchange(cx);
        true
    }

    /// Finds devices and hands the key to all of them, as the examples `security` (tag `app_main`)
    /// and `solution` (tag `init`) do at their start. Without a stored key it draws one. Returns
    /// false while it does something else, or if the policy forbids it.
    pub fn hand_out(&mut self, cx: &mut Cx<'_>, tag: &'static str, pop: &Pop) -> bool {
        if !self.is_idle() || !self.may_use(cx, pop) {
            return false;
        }
        if let Some(key) = cx.shared.keys.encrypt.as_ref() {
            self.key.0 = *key.bytes();
        } else {
            cx.board.random(&mut self.key.0);
        }
        // A key that cannot be stored is used until the next start, as in the examples.
        let _ = cx.shared.keys.store(cx.board, &self.key.0);
        self.report = ReportForm::Application(tag);
        self.pop = pop.clone();
        self.ask(cx, 3000);
        true
    }

    /// Stops (`espnow_sec_initiator_stop`): the present transmission ends, and then the result is
    /// printed.
    pub fn stop(&mut self, cx: &mut Cx<'_>) {
        match self.phase {
            ExchangePhase::Idle => {}
            ExchangePhase::Ask(_) | ExchangePhase::Listen(..) | ExchangePhase::List(_) => {
                self.end_scan(cx, ExchangePhase::Idle);
                self.wipe();
            }
            _ => self.phase = ExchangePhase::Finish,
        }
    }

    /// Takes a frame of type [`DataType::SecurityStatus`] or [`DataType::Security`].
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        match (frame.data_type, SecurityMessage::parse(frame.data)) {
            (DataType::SecurityStatus, Some(SecurityMessage::Info(info))) => {
                self.found(cx, frame, info)
            }
            (DataType::Security, Some(message)) if self.is_exchanging() => {
                self.answered(cx, frame.from, message);
            }
            _ => count(&mut self.counts.refused),
        }
    }

    fn may_use(&self, cx: &mut Cx<'_>, pop: &Pop) -> bool {
        let refused = cx.shared.settings.policy.require_pop && pop.is_empty();
        if refused {
            cx.log(LogLevel::Error, TAG, format_args!("No proof of possession is set"));
        }
        !refused
    }

    /// Marks a device, or all, to get the key.
    fn want(&mut self, mac: Mac) {
        if mac.is_broadcast() {
            self.devices.iter_mut().for_each(|device| device.mark = KeyMark::Wanted);
        } else if let Some(device) = self.devices.iter_mut().find(|d| d.mac == mac) {
            device.mark = KeyMark::Wanted;
        } else {
            let new = FoundDevice { mac, rssi: 0, channel: 0, version: 0, mark: KeyMark::Wanted };
            if self.devices.is_full()
                && let Some(old) = self.devices.iter_mut().find(|d| d.mark == KeyMark::Idle)
            {
                *old = new;
            } else if self.devices.push(new).is_err() {
                count(&mut self.counts.no_room);
            }
        }
    }

    /// Wipes all secrets of the exchange.
    fn wipe(&mut self) {
        self.sessions.clear();
        self.ready.clear();
        self.pair = None;
        self.key.zeroize();
        self.block.zeroize();
        self.pop.zeroize();
    }
}

fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
