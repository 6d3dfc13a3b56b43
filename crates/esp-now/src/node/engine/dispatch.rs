//! The main task (`espnow_main_task`, `espnow_recv_process`): delivers, acknowledges or forwards
//! the queued frames, in the order of their arrival.

use super::counters::bump;
use super::queue::{QueueEntry, QueueEvent, RxInfo};
use super::{Delivery, Engine, Next, TAG, patience};
use crate::component::sealed::{NONCE_LEN, TAG_LEN};
use crate::component::{DataType, HEADER_LEN, Header};
use crate::node::board::CpuWork;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, Shared};
use espbench_ieee80211::mac::Mac;

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Engine<ARENA, FRAME, EVENTS> {
    #[inline]
    pub(super) fn dispatch(&mut self, cx: &mut Cx<'_>, buf: &mut [u8]) -> Option<Next> {
        if self.sender.is_relaying() {
            return None;
        }
        while let Some(entry) = self.queue.front() {
            if entry.kind == QueueEvent::Deliver {
                if self.queue.take() {
                    work(cx, entry);
                    if cx.shared.busy_ns > 0 {
                        return None;
                    }
                }
                self.owe_late_ack(cx, entry);
                let delivery = self.open(cx, entry, buf);
                self.queue.pop();
                if let Some(delivery) = delivery {
                    bump(&mut self.counters.delivered);
                    return Some(Next::Deliver(delivery));
                }
            } else if self.lock_is_late(cx) {
                bump(&mut self.counters.lock_timeout);
                cx.log(LogLevel::Warn, TAG, format_args!("Wait Sem fail"));
                self.lock_until = None;
                self.overheard = false;
                self.queue.pop();
            } else {
                return Some(self.overhear(cx, entry, buf).map_or(Next::Relay, Next::Deliver));
            }
        }
        None
    }

    /// Queues the acknowledgement as the component of July 2022 does: behind what waits already,
    /// before the frame goes to its service. (With no place in the queue the component waited 3 s
    /// for itself and dropped the frame; here only the acknowledgement is dropped.)
    fn owe_late_ack(&mut self, cx: &mut Cx<'_>, entry: QueueEntry) {
        if !cx.shared.settings.compat.sends_ahead() {
            return;
        }
        let mut head = [0; HEADER_LEN];
        self.queue.copy_front(0, &mut head);
        let Some((header, _)) = Header::parse(&head) else { return };
        if header.config.ack && !header.dest.is_broadcast() {
            let QueueEntry { at, rssi, channel, .. } = entry;
            self.owe_ack(cx, &RxInfo { at, rssi, channel, header: &header });
        }
    }

    /// Returns once an acknowledgement to another node, before it is forwarded: the hook of section
    /// 6.3, which the component calls in `espnow_send_forward`.
    fn overhear(&mut self, cx: &Cx<'_>, entry: QueueEntry, buf: &mut [u8]) -> Option<Delivery> {
        let hooked = cx.shared.settings.compat.auto_channel && entry.kind == QueueEvent::Forward;
        if !hooked || self.overheard {
            return None;
        }
        let mut head = [0; HEADER_LEN];
        self.queue.copy_front(0, &mut head);
        let (header, _) = Header::parse(&head)?;
        if header.data_type != DataType::Ack {
            return None;
        }
        self.overheard = true;
        let len = self.queue.copy_front(HEADER_LEN, buf);
        Some(Delivery::of((header.src, header.config.channel), entry, len))
    }

    /// Returns whether the main task has waited for the send lock as long as it may.
    fn lock_is_late(&mut self, cx: &Cx<'_>) -> bool {
        if self.can_relay() {
            return false;
        }
        let until = patience(cx.shared.settings.tick, cx.now);
        cx.now >= *self.lock_until.get_or_insert(until)
    }

    pub(super) fn start_relay(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(entry) = self.queue.front() else { return false };
        if entry.kind == QueueEvent::Deliver || !self.can_relay() {
            return false;
        }
        let queue = &self.queue;
        let begun = self
            .sender
            .relay(cx, entry.kind == QueueEvent::Forward, |buf| queue.copy_front(0, buf));
        self.queue.pop();
        self.lock_until = None;
        self.overheard = false;
        if begun {
            bump(match entry.kind {
                QueueEvent::Forward => &mut self.counters.forwarded,
                _ => &mut self.counters.acks_sent,
            });
        }
        begun
    }

    /// Takes the oldest frame for the main task, if it waits to be delivered and nothing else can
    /// come before it, and spends the work for it, which may then be added to other work.
    #[inline]
    pub(super) fn take_front(&mut self, cx: &mut Cx<'_>) {
        if let Some(entry) = self.queue.front()
            && entry.kind == QueueEvent::Deliver
            && self.sender.is_free()
            && self.queue.take()
        {
            work(cx, entry);
        }
    }

    /// Writes the payload of the oldest entry to `buf`, in clear. `None` if it reaches no service.
    #[inline]
    fn open(&mut self, cx: &mut Cx<'_>, entry: QueueEntry, buf: &mut [u8]) -> Option<Delivery> {
        let mut len = usize::from(entry.len).saturating_sub(HEADER_LEN);
        if len == 0 {
            bump(&mut self.counters.empty);
            return None;
        }
        if len > buf.len() || !cx.shared.air.listens(entry.data_type()) {
            bump(&mut self.counters.unclaimed);
            return None;
        }
        let origin = self.queue.open_front(buf)?;
        if entry.is_sealed() {
            len = self.unseal(cx, buf.get_mut(..len)?)?;
        }
        Some(Delivery::of(origin, entry, len))
    }

    /// Opens the frame as [`open`](Self::open) does, if it is a plain payload of type DATA that the
    /// main task has taken.
    #[inline]
    pub(super) fn finish_plain(&mut self, shared: &Shared, buf: &mut [u8]) -> Option<Delivery> {
        let entry = self.queue.front()?;
        let len = usize::from(entry.len).saturating_sub(HEADER_LEN);
        let plain = self.is_done(entry)
            && shared.air.listens(DataType::Data)
            // The acknowledgement would have to be queued first.
            && !shared.settings.compat.sends_ahead()
            && len <= buf.len();
        if !plain {
            return None;
        }
        let origin = self.queue.open_front(buf)?;
        self.queue.pop();
        bump(&mut self.counters.delivered);
        Some(Delivery::of(origin, entry, len))
    }

    /// Lets the main task take the oldest frame, which must be a plain payload of type DATA. Returns
    /// its length if the work for it has still to be done, `Some(None)` if the main task has taken
    /// it before, and `None`, and does nothing, for any other entry.
    #[inline]
    pub(in super::super) fn take_plain(&mut self) -> Option<Option<usize>> {
        let entry = self.queue.front()?;
        let len = usize::from(entry.len).saturating_sub(HEADER_LEN);
        if entry.kind != QueueEvent::Deliver || !entry.is_plain(DataType::Data) || len == 0 {
            return None;
        }
        Some(self.queue.take().then_some(len))
    }

    /// Returns such a payload in place, in an engine that is quiet.
    #[inline]
    pub(super) fn show_plain(&mut self) -> Option<(Delivery, &[u8], bool)> {
        let entry = self.queue.front()?;
        if !self.is_done(entry) {
            return None;
        }
        let (entry, frame, empty) = self.queue.pop_whole()?;
        let (origin, payload) = Header::origin(frame)?;
        bump(&mut self.counters.delivered);
        Some((Delivery::of(origin, entry, payload.len()), payload, empty))
    }

    /// Returns whether an entry is a plain payload of type DATA that the main task has taken.
    #[inline]
    fn is_done(&self, entry: QueueEntry) -> bool {
        entry.kind == QueueEvent::Deliver
            && self.queue.is_taken()
            && entry.is_plain(DataType::Data)
            && usize::from(entry.len) > HEADER_LEN
    }

    /// Decrypts in place (section 3.1). A payload without a nonce of its own uses the key's. The
    /// policy may refuse a nonce that was seen before.
    fn unseal(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<usize> {
        let trails = cx.shared.settings.compat.nonce_trails();
        if trails && payload.len() <= NONCE_LEN {
            bump(&mut self.counters.decrypt_failed);
            return None;
        }
        let Some(secret) = &cx.shared.keys.decrypt else {
            bump(&mut self.counters.no_key);
            cx.log(LogLevel::Error, TAG, format_args!("Security key is not set"));
            return None;
        };
        let constant = (!trails).then(|| secret.constant_nonce());
        let len = secret.sealer().open_by(cx.board.aes(), constant.as_ref(), payload);
        if len.is_none() {
            bump(&mut self.counters.decrypt_failed);
            let text = format_args!("Failed at mbedtls_ccm_auth_decrypt with error code : -15");
            cx.log(LogLevel::Error, "espnow_sec", text);
            let text = format_args!(
                "[espnow_recv_process, 899]espnow_sec_auth_decrypt, err_name: ESP_FAIL"
            );
            cx.log(LogLevel::Warn, TAG, text);
        }
        if cx.shared.settings.policy.refuse_replays
            && trails
            && let (Some(_), Some(nonce)) = (len, payload.last_chunk::<NONCE_LEN>())
            && !cx.shared.keys.first_sight(nonce)
        {
            bump(&mut self.counters.replayed);
            return None;
        }
        len
    }
}

/// Spends the work of delivering a frame, before its service sees it.
#[inline]
fn work(cx: &mut Cx<'_>, entry: QueueEntry) {
    let len = usize::from(entry.len).saturating_sub(HEADER_LEN);
    if len == 0 || !cx.shared.air.listens(entry.data_type()) {
        return;
    }
    let mut clear = len;
    if entry.is_sealed() {
        let nonce = if cx.shared.settings.compat.nonce_trails() { NONCE_LEN } else { 0 };
        if cx.shared.keys.decrypt.is_none() || len <= nonce {
            return;
        }
        cx.spend(CpuWork::Open { bytes: len as u32 });
        clear = len.saturating_sub(nonce.saturating_add(TAG_LEN));
    }
    cx.spend(CpuWork::Dispatch { bytes: clear as u32 });
}

impl Delivery {
    /// Returns the delivery of an entry, with the header's source and channel; where the header
    /// names no single channel, with the channel of the radio.
    #[inline]
    fn of((from, channel): (Mac, u8), entry: QueueEntry, len: usize) -> Self {
        let channel = if (1..=14).contains(&channel) { channel } else { entry.channel };
        let (data_type, rssi) = (entry.data_type(), entry.rssi);
        Self { from, data_type, len, rssi, channel, at: entry.at }
    }
}
