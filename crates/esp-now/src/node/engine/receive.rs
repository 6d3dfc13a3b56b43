//! The receive path, in the order of section 2.5 (`espnow_recv_cb`).

use super::counters::{EngineCounters, bump};
use super::queue::{QueueEvent, RxInfo};
use super::{Engine, TAG, patience};
use crate::component::header::VERSION;
use crate::component::{DataType, FrameConfig, GroupPayload, HEADER_LEN, Header};
use crate::node::ParsedFrame;
use crate::node::board::CpuWork;
use crate::node::print::LogLevel;
use crate::node::task::Cx;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// Counter of a frame's fate.
type FateCounter = fn(&mut EngineCounters) -> &mut u32;

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Engine<ARENA, FRAME, EVENTS> {
    #[inline]
    pub(super) fn take_frame(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> bool {
        cx.spend(CpuWork::Receive { bytes: frame.data.len() as u32 });
        bump(&mut self.counters.received);
        self.queue.limit(cx.shared.settings.queue);
        let (fate, accepted): (FateCounter, bool) = match sift(cx, frame, rssi, channel) {
            Ok(header) => {
                let heard = RxInfo { at: cx.now, rssi, channel, header };
                (self.accept(cx, frame.data, &heard), true)
            }
            Err(fate) => (fate, false),
        };
        bump(fate(&mut self.counters));
        accepted
            && (!self.queue.is_empty() || !self.acks.is_empty() || cx.shared.print.waiting() > 0)
    }

    /// Takes a frame as [`hear`](Self::hear) does, where the engine [is quiet](Self::takes_plain) and
    /// the frame is plain data that the main task takes at once. The cost of the work is left to
    /// the caller. Does nothing and returns `None` for another frame, or where the main task is at
    /// work.
    ///
    /// The checks of [`sift`], [`keep`](Self::keep) and [`forward`](Self::forward) on the frame
    /// have been made once for all the nodes that hear it, and those on the node when it became
    /// quiet.
    #[inline]
    pub(in super::super) fn hear_plain(
        &mut self,
        own: Mac,
        now: Instant,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> Option<usize> {
        self.push_plain(own, now, frame, rssi, channel, true)
            .then(|| frame.data.len().saturating_sub(HEADER_LEN))
    }

    /// Takes a frame as [`hear_plain`](Self::hear_plain) does, in an engine that would be quiet but
    /// for a transmission that waits for the driver: the main task takes the frame later. Returns
    /// false, and does nothing, for another frame, or where one waits already.
    #[inline]
    pub(in super::super) fn hear_plain_later(
        &mut self,
        own: Mac,
        now: Instant,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
    ) -> bool {
        self.push_plain(own, now, frame, rssi, channel, false)
    }

    #[inline(always)]
    fn push_plain(
        &mut self,
        own: Mac,
        now: Instant,
        frame: &ParsedFrame<'_>,
        rssi: i8,
        channel: u8,
        taken: bool,
    ) -> bool {
        let Some(header) = frame.header.as_ref().filter(|_| frame.plain) else { return false };
        let key = key(header);
        let heard = RxInfo { at: now, rssi, channel, header };
        let strange = header.src != own && !self.recent.knows(false, key);
        if !strange || !self.queue.push_first(frame.data, &heard, taken) {
            return false;
        }
        bump(&mut self.counters.received);
        bump(&mut self.counters.queued);
        self.recent.remember(false, key);
        true
    }

    /// Decides on a frame that passed the filters. Only a frame that reaches the end is remembered.
    #[inline]
    fn accept(&mut self, cx: &mut Cx<'_>, data: &[u8], heard: &RxInfo<'_>) -> FateCounter {
        let header = heard.header;
        let air = &cx.shared.air;
        let enabled = air.listens(header.data_type);
        let mine = header.dest == air.mac;
        let engine_type = matches!(header.data_type, DataType::Ack | DataType::Group);
        // Before the duplicates are dropped, so that a copy is acknowledged again.
        let ahead = cx.shared.settings.compat.sends_ahead();
        if enabled && !engine_type && header.config.ack && mine && !ahead {
            self.owe_ack(cx, heard);
        }
        let sealed = header.config.security && cx.shared.settings.compat.splits_duplicates();
        let key = key(header);
        if self.recent.knows(sealed, key) {
            return |c| &mut c.duplicate;
        }
        let kept = if enabled {
            self.keep(cx, data, heard)
        } else {
            Ok((false, (|c| &mut c.relay_only) as FateCounter))
        };
        let (queued, fate) = match kept {
            Ok(kept) => kept,
            Err(fate) => return fate,
        };
        if self.forward(cx, data, queued, heard) {
            self.recent.remember(sealed, key);
        }
        fate
    }

    /// Queues the acknowledgement of a frame (section 2.7): its own header turned round.
    #[inline(never)]
    pub(super) fn owe_ack(&mut self, cx: &mut Cx<'_>, heard: &RxInfo<'_>) {
        let header = heard.header;
        let config = match cx.shared.settings.compat.sends_ahead() {
            // As many copies as the frame itself, and sent as it came.
            true => header.config,
            false => FrameConfig { copies: 1, broadcast: true, ..header.config },
        };
        let ack = Header {
            data_type: DataType::Ack,
            version: VERSION,
            size: 0,
            magic: header.magic,
            config,
            dest: header.src,
            src: cx.shared.air.mac,
        };
        if self.queue.push(QueueEvent::Ack, &ack.emit(), heard) {
            bump(&mut self.counters.acks_due);
        } else {
            bump(&mut self.counters.acks_lost);
            self.warn_full(cx, 265);
        }
    }

    /// Takes a frame of a type that is received. Returns whether it was queued, and its fate; an
    /// error if it is neither forwarded nor remembered.
    #[inline]
    fn keep(
        &mut self,
        cx: &mut Cx<'_>,
        data: &[u8],
        heard: &RxInfo<'_>,
    ) -> Result<(bool, FateCounter), FateCounter> {
        let header = heard.header;
        let air = &cx.shared.air;
        let config = &header.config;
        let relay_only: FateCounter = |c| &mut c.relay_only;
        match header.data_type {
            DataType::Ack | DataType::Group => self.keep_own(cx, data, header),
            // A unicast frame is accepted whatever its destination in the header.
            _ if config.group && !air.in_group(header.dest) => Ok((false, relay_only)),
            _ if !config.group
                && config.broadcast
                && !header.dest.is_broadcast()
                && header.dest != air.mac =>
            {
                Ok((false, relay_only))
            }
            _ => {
                if !self.queue.push(QueueEvent::Deliver, data, heard) {
                    self.warn_full(cx, 392);
                    return Err(|c| &mut c.queue_full);
                }
                Ok((true, |c| &mut c.queued))
            }
        }
    }

    /// Takes a frame of a type that the engine handles itself, as [`keep`](Self::keep) does.
    #[inline(never)]
    fn keep_own(
        &mut self,
        cx: &mut Cx<'_>,
        data: &[u8],
        header: &Header,
    ) -> Result<(bool, FateCounter), FateCounter> {
        let air = &mut cx.shared.air;
        if header.data_type == DataType::Group {
            let payload = data.get(HEADER_LEN..).unwrap_or_default();
            let group =
                GroupPayload::parse(payload).ok_or((|c| &mut c.bad_group) as FateCounter)?;
            if group.means(air.mac) && !change_groups(&mut air.groups, &group) {
                bump(&mut self.counters.groups_lost);
            }
            return Ok((false, |c| &mut c.groups));
        }
        if header.dest != air.mac {
            return Ok((false, |c| &mut c.relay_only));
        }
        if self.acks.push_back(header.magic).is_err() {
            self.warn_full(cx, 320);
            return Err(|c| &mut c.ack_queue_full);
        }
        Ok((false, |c| &mut c.acks))
    }

    /// Queues a frame to be forwarded, if it is to be (section 2.8); returns false if there was no
    /// place.
    #[inline]
    fn forward(&mut self, cx: &mut Cx<'_>, data: &[u8], queued: bool, heard: &RxInfo<'_>) -> bool {
        let header = heard.header;
        let config = &header.config;
        let wanted = cx.shared.settings.forward
            && config.ttl > 0
            && config.broadcast
            && config.rssi <= heard.rssi
            && header.dest != cx.shared.air.mac;
        !wanted || self.queue_forward(cx, data, queued, heard)
    }

    /// Queues a frame to be forwarded. A frame that is longer than this engine can send is dropped
    /// rather than cut.
    #[inline(never)]
    fn queue_forward(
        &mut self,
        cx: &mut Cx<'_>,
        data: &[u8],
        queued: bool,
        heard: &RxInfo<'_>,
    ) -> bool {
        if data.len() > FRAME {
            bump(&mut self.counters.forwards_lost);
            return true;
        }
        let done = if queued {
            self.queue.push_again(QueueEvent::Forward, heard)
        } else {
            self.queue.push(QueueEvent::Forward, data, heard)
        };
        if done {
            bump(&mut self.counters.forwards_due);
        } else {
            bump(&mut self.counters.forwards_lost);
            self.warn_full(cx, 416);
        }
        done
    }

    /// Prints the warning of a full queue, at most once in the 3 s for which the device would have
    /// been blocked.
    #[inline(never)]
    fn warn_full(&mut self, cx: &mut Cx<'_>, line: u32) {
        if cx.now < self.quiet_until {
            return;
        }
        self.quiet_until = patience(cx.shared.settings.tick, cx.now);
        let text = format_args!("[espnow_recv_cb, {line}] Send event queue failed");
        cx.log(LogLevel::Warn, TAG, text);
    }
}

/// Returns the key by which a frame is recognized again.
#[inline]
fn key(header: &Header) -> u32 {
    (header.data_type as u32) << 16 | u32::from(header.magic)
}

/// Checks the header alone, in the component's order; the policy follows these checks.
#[inline]
fn sift<'a>(
    cx: &Cx<'_>,
    frame: &'a ParsedFrame<'_>,
    rssi: i8,
    channel: u8,
) -> Result<&'a Header, FateCounter> {
    let settings = &cx.shared.settings;
    let air = &cx.shared.air;
    let Some(header) = &frame.header else {
        return Err(|c| &mut c.too_short);
    };
    let payload = frame.data.len().saturating_sub(HEADER_LEN);
    let config = &header.config;
    let forwardable = settings.forward && config.broadcast && config.ttl > 0;
    if frame.data.len() > settings.compat.esp_now().data_max() {
        Err(|c| &mut c.too_long)
    } else if header.version != VERSION {
        Err(|c| &mut c.version)
    } else if header.src == air.mac {
        Err(|c| &mut c.own)
    } else if settings.compat.checks_size() && usize::from(header.size) != payload {
        Err(|c| &mut c.size)
    } else if !air.listens(header.data_type) && !forwardable {
        Err(|c| &mut c.not_enabled)
    } else if config.filter_adjacent && config.channel != channel {
        Err(|c| &mut c.adjacent)
    } else if config.filter_weak && config.rssi > rssi {
        Err(|c| &mut c.weak)
    } else if config.security && !settings.encrypt.enabled {
        Err(|c| &mut c.no_security)
    } else if !config.security && settings.policy.encrypted_only & header.data_type.mask() != 0 {
        Err(|c| &mut c.policy)
    } else {
        Ok(header)
    }
}

/// Joins or leaves a group; returns false if there is no place for one more.
fn change_groups<const N: usize>(
    groups: &mut heapless::Vec<Mac, N>,
    group: &GroupPayload<'_>,
) -> bool {
    if !group.join {
        groups.retain(|id| *id != group.id);
        return true;
    }
    groups.contains(&group.id) || groups.push(group.id).is_ok()
}
