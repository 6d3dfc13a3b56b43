//! The responder: waits for a key, and accepts it from one initiator (section 3.5 of the protocol
//! reference).
//!
//! It runs inside the main task: [`SecurityResponder::receive`] handles a message, and if that has an
//! answer, [`Task::run`] wants to send it.
//!
//! To a peer it behaves as the component does: the first sender is its initiator until something
//! fails; a responder with a key ignores handshakes, also when its last answer was lost; and after
//! a restart it reports that it has no key, although the key is stored. Two things differ: the
//! component leaks a buffer with every message that is ignored (section 10, 10), and it accepts
//! keys longer than 32 bytes, which no initiator sends.

use super::exchange::{KeyPair, Pop, SecureChannel, StreamPart};
use crate::component::handshake::{PUBLIC_LEN, SecurityInfo, SecurityMessage, SessionMessage};
use crate::component::{DataType, FrameConfig};
use crate::node::board::CpuWork;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Number of wrong proofs that close the window
/// ([`Policy::keep_binding`](super::Policy::keep_binding)): each is one guess of the PoP.
pub const PROOFS_MAX: u8 = 5;

/// Silence after which an initiator is given up, with
/// [`Policy::keep_binding`](super::Policy::keep_binding).
pub const SILENCE_MAX: Duration = Duration::from_secs(10);

const TAG: &str = "espnow_sec_resp";

/// Security version of a device that has a key.
const CONFIGURED: u8 = 1;

/// Counts of messages that had no effect, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Messages that are none of the handshake, or not for a responder.
    pub malformed: u32,
    /// Messages while it has a key already, or is bound to another initiator.
    pub bound: u32,
    /// Messages that the policy refuses.
    pub policy: u32,
    /// Messages while an answer still waited to be sent.
    pub busy: u32,
}

/// Responder of a node, which receives a key.
#[derive(Debug)]
pub struct SecurityResponder {
    /// Counts of messages that had no effect.
    pub ignored: Ignored,
    pop: Pop,
    info: SecurityInfo,
    session: KeyAgreement,
    answer: Option<(ResponderAnswer, Mac)>,
    sending_info: bool,
    window: Option<Instant>,
    wrong_proofs: u8,
    heard: Instant,
}

/// Progress of the key agreement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AgreementStage {
    #[default]
    None,
    /// The other end's key is known; its proof is not.
    Offered,
    /// Each end has proved that it has K.
    Agreed,
}

impl zeroize::DefaultIsZeroes for AgreementStage {}

/// Key agreement in progress. Wiped when it ends.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct KeyAgreement {
    stage: AgreementStage,
    channel: SecureChannel,
    random: [u8; 16],
    own: [u8; PUBLIC_LEN],
    peer: [u8; PUBLIC_LEN],
}

impl core::fmt::Debug for KeyAgreement {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Agreement({:?})", self.stage)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponderAnswer {
    Info,
    Key,
    Proof,
    Echo,
}

/// Error: a step of the handshake failed.
struct HandshakeFailed;

impl SecurityResponder {
    /// Creates a responder that accepts a key from an initiator that knows the PoP.
    #[must_use]
    pub fn new(pop: Pop) -> Self {
        Self {
            ignored: Ignored::default(),
            pop,
            info: SecurityInfo::default(),
            session: KeyAgreement::default(),
            answer: None,
            sending_info: false,
            window: None,
            wrong_proofs: 0,
            heard: Instant::ZERO,
        }
    }

    /// Enables the reception of the handshake (`espnow_sec_responder_start`).
    pub fn start(&mut self, cx: &mut Cx<'_>) {
        cx.shared.air.listen(DataType::Security, true);
    }

    /// Allows handshakes until this instant. Needed only with
    /// [`Policy::windowed`](super::Policy::windowed).
    pub fn open_window(&mut self, until: Instant) {
        self.window = Some(until);
        self.wrong_proofs = 0;
    }

    /// Returns the information that it gives about itself: whether it has received a key since it
    /// started, and from which initiator.
    #[must_use]
    pub fn info(&self) -> SecurityInfo {
        self.info
    }

    /// Handles a frame of type [`DataType::Security`].
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        let policy = cx.shared.settings.policy;
        let Some(message) = SecurityMessage::parse(frame.data) else {
            return count(&mut self.ignored.malformed);
        };
        if policy.windowed && self.window.is_none_or(|until| until <= cx.now) {
            return count(&mut self.ignored.policy);
        }
        if self.answer.is_some() {
            return count(&mut self.ignored.busy);
        }
        match message {
            SecurityMessage::Request => self.answer = Some((ResponderAnswer::Info, frame.from)),
            SecurityMessage::Reset if policy.refuse_reset => count(&mut self.ignored.policy),
            SecurityMessage::Reset => {
                self.info = SecurityInfo::default();
                self.session.zeroize();
            }
            SecurityMessage::Handshake(_) | SecurityMessage::Key(_) => {
                self.take(cx, frame.from, message)
            }
            SecurityMessage::Info(_) | SecurityMessage::KeyResponse(_) => {
                count(&mut self.ignored.malformed)
            }
        }
    }

    /// Handles a step of the handshake.
    fn take(&mut self, cx: &mut Cx<'_>, from: Mac, message: SecurityMessage<'_>) {
        let policy = cx.shared.settings.policy;
        if policy.require_pop && self.pop.is_empty() {
            return count(&mut self.ignored.policy);
        }
        if policy.keep_binding && self.info.version == 0 && cx.now.since(self.heard) >= SILENCE_MAX
        {
            self.release();
        }
        let bound = self.info.client != Mac::ZERO;
        if self.info.version != 0 || bound && self.info.client != from {
            return count(&mut self.ignored.bound);
        }
        if !bound {
            self.session.zeroize();
            self.info.client = from;
        }
        let answer = match message {
            SecurityMessage::Key(data) => self.key(cx, data),
            SecurityMessage::Handshake(data) => self.step(cx, data),
            _ => Err(HandshakeFailed),
        };
        match answer {
            Ok(answer) => {
                self.heard = cx.now;
                self.answer = Some((answer, from));
            }
            Err(HandshakeFailed) => self.fail(cx, from),
        }
    }

    fn fail(&mut self, cx: &mut Cx<'_>, from: Mac) {
        cx.log(LogLevel::Error, TAG, format_args!("espnow-session handler failed"));
        cx.event(EspNowEvent::SecurityFailed(from));
        // A forged message must not undo the progress of the right initiator, where the policy says
        // so. A device that has its key but could not store it is free in any case.
        if !cx.shared.settings.policy.keep_binding || self.session.stage == AgreementStage::None {
            self.release();
        } else if self.wrong_proofs >= PROOFS_MAX {
            self.window = None;
            self.release();
        }
    }

    fn release(&mut self) {
        self.info.client = Mac::ZERO;
        self.session.zeroize();
    }

    /// Handles a message to the endpoint `espnow-session` of protocomm.
    fn step(&mut self, cx: &mut Cx<'_>, data: &[u8]) -> Result<ResponderAnswer, HandshakeFailed> {
        match SessionMessage::parse(data).ok_or(HandshakeFailed)? {
            // At any stage: the initiator has begun a new round.
            SessionMessage::Command0 { client_key } => {
                let pair = KeyPair::random(cx.board);
                let mut random = [0; 16];
                cx.board.random(&mut random);
                cx.spend(CpuWork::KeyPair);
                cx.spend(CpuWork::SharedSecret);
                let channel = pair.agree(client_key, &self.pop, &random).ok_or(HandshakeFailed)?;
                let (own, peer) = (*pair.public(), *client_key);
                self.session =
                    KeyAgreement { stage: AgreementStage::Offered, channel, random, own, peer };
                Ok(ResponderAnswer::Key)
            }
            SessionMessage::Command1 { proof } => {
                if self.session.stage != AgreementStage::Offered {
                    return Err(HandshakeFailed);
                }
                cx.spend(CpuWork::Open { bytes: proof.len() as u32 });
                if !self.session.channel.proves(StreamPart::ClientProof, proof, &self.session.own) {
                    cx.log(
                        LogLevel::Error,
                        "security1",
                        format_args!("Key mismatch. Close connection"),
                    );
                    self.wrong_proofs = self.wrong_proofs.saturating_add(1);
                    return Err(HandshakeFailed);
                }
                cx.spend(CpuWork::Seal { bytes: proof.len() as u32 });
                self.session.stage = AgreementStage::Agreed;
                Ok(ResponderAnswer::Proof)
            }
            SessionMessage::Response0 { .. } | SessionMessage::Response1 { .. } => {
                Err(HandshakeFailed)
            }
        }
    }

    /// Handles a message to the endpoint `espnow-config` of protocomm.
    fn key(&mut self, cx: &mut Cx<'_>, data: &[u8]) -> Result<ResponderAnswer, HandshakeFailed> {
        let data: &[u8; 32] = data.try_into().map_err(|_| HandshakeFailed)?;
        if self.session.stage != AgreementStage::Agreed {
            return Err(HandshakeFailed);
        }
        cx.spend(CpuWork::Open { bytes: data.len() as u32 });
        let mut key = self.session.channel.crypt(StreamPart::Key, data);
        self.info.version = CONFIGURED;
        cx.log(LogLevel::Info, TAG, format_args!("Get APP key"));
        let enabled = cx.shared.settings.encrypt.enabled;
        let stored = enabled && cx.shared.keys.store(cx.board, &key);
        key.zeroize();
        if !stored {
            // It counts as configured all the same, as in the component, and is bound to no
            // initiator.
            self.session.zeroize();
            return Err(HandshakeFailed);
        }
        cx.spend(CpuWork::Write { bytes: 2 * data.len() as u32 });
        cx.event(EspNowEvent::Secured(self.info.client));
        Ok(ResponderAnswer::Echo)
    }

    fn write(&self, cx: &Cx<'_>, answer: ResponderAnswer, payload: &mut [u8]) -> Option<usize> {
        let session = &self.session;
        match answer {
            ResponderAnswer::Info => SecurityMessage::Info(self.info).emit(payload),
            ResponderAnswer::Key => {
                let (device_key, random) = (&session.own, &session.random);
                SessionMessage::Response0 { device_key, random }.emit_message(payload)
            }
            ResponderAnswer::Proof => {
                let proof = session.channel.crypt(StreamPart::DeviceProof, &session.peer);
                SessionMessage::Response1 { proof: &proof }.emit_message(payload)
            }
            ResponderAnswer::Echo => {
                let key = cx.shared.keys.decrypt.as_ref()?.bytes();
                SecurityMessage::KeyResponse(&session.channel.crypt(StreamPart::Echo, key))
                    .emit(payload)
            }
        }
    }
}

impl Task for SecurityResponder {
    fn run(&mut self, _: &mut Cx<'_>) -> TaskStep {
        if self.answer.is_some() { TaskStep::Send } else { TaskStep::Idle }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        let (answer, dest) = self.answer.take()?;
        let len = self.write(cx, answer, payload)?;
        if answer == ResponderAnswer::Echo {
            self.session.zeroize();
        }
        let info = answer == ResponderAnswer::Info;
        self.sending_info = info;
        Some(SendRequest {
            data_type: if info { DataType::SecurityStatus } else { DataType::Security },
            dest,
            config: FrameConfig { copies: 1, filter_adjacent: !info, ..FrameConfig::UNICAST },
            magic: 0,
            len,
            wait: Duration::MAX,
        })
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        if !outcome.is_done() && !self.sending_info {
            cx.log(LogLevel::Warn, TAG, format_args!("espnow-session send failed"));
        }
    }
}

fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
