//! The receive path, in the order of section 2.5 (`espnow_recv_cb`).

use super::counters::{Counters, bump};
use super::queue::{Heard, Kind};
use super::{Engine, TAG, patience};
use crate::node::esp_now::Frame;
use crate::node::esp_now::board::Work;
use crate::node::esp_now::print::Level;
use crate::node::esp_now::task::Cx;
use crate::wire::component::header::VERSION;
use crate::wire::component::{DataType, FrameConfig, Group, Header};
use crate::wire::mac::Mac;

/// The counter for what became of a frame.
type Fate = fn(&mut Counters) -> &mut u32;

impl<const ARENA: usize, const FRAME: usize, const EVENTS: usize> Engine<ARENA, FRAME, EVENTS> {
    pub(super) fn take_frame(&mut self, cx: &mut Cx<'_>, frame: Frame<'_>) -> bool {
        cx.spend(Work::Receive { bytes: frame.data.len() as u32 });
        bump(&mut self.counters.received);
        self.queue.limit(cx.shared.settings.queue);
        let (fate, accepted): (Fate, bool) = match sift(cx, &frame) {
            Ok((header, payload)) => (self.accept(cx, &frame, &header, payload), true),
            Err(fate) => (fate, false),
        };
        bump(fate(&mut self.counters));
        accepted
            && (!self.queue.is_empty() || !self.acks.is_empty() || cx.shared.print.waiting() > 0)
    }

    /// What a frame is for that passed the filters. Only what reaches the end is remembered.
    fn accept(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &Frame<'_>,
        header: &Header,
        payload: &[u8],
    ) -> Fate {
        let heard = Heard { at: cx.now, rssi: frame.rssi, channel: frame.channel, header };
        let air = &cx.shared.air;
        let enabled = air.listens(header.data_type);
        let mine = header.dest == air.mac;
        let engine_type = matches!(header.data_type, DataType::Ack | DataType::Group);
        // Before the duplicates are dropped, so that a copy is acknowledged again.
        let ahead = cx.shared.settings.compat.sends_ahead();
        if enabled && !engine_type && header.config.ack && mine && !ahead {
            self.owe_ack(cx, header, heard);
        }
        let sealed = header.config.security && cx.shared.settings.compat.splits_duplicates();
        let key = (header.data_type as u32) << 16 | u32::from(header.magic);
        if self.recent.knows(sealed, key) {
            return |c| &mut c.duplicate;
        }
        let kept = if enabled {
            self.keep(cx, frame, header, payload, heard)
        } else {
            Ok((false, (|c| &mut c.relay_only) as Fate))
        };
        let (queued, fate) = match kept {
            Ok(kept) => kept,
            Err(fate) => return fate,
        };
        if self.forward(cx, frame, header, queued, heard) {
            self.recent.remember(sealed, key);
        }
        fate
    }

    /// Queues the acknowledgement of a frame (section 2.7): its own header turned round.
    pub(super) fn owe_ack(&mut self, cx: &mut Cx<'_>, header: &Header, heard: Heard<'_>) {
        let config = match cx.shared.settings.compat.sends_ahead() {
            // As often as the frame itself, and as it came.
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
        if self.queue.push(Kind::Ack, &ack.emit(), heard) {
            bump(&mut self.counters.acks_due);
        } else {
            bump(&mut self.counters.acks_lost);
            self.warn_full(cx, 265);
        }
    }

    /// Takes a frame of a type that is listened to. Gives whether it was queued, and its fate; an
    /// error if it is neither forwarded nor remembered.
    fn keep(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &Frame<'_>,
        header: &Header,
        payload: &[u8],
        heard: Heard<'_>,
    ) -> Result<(bool, Fate), Fate> {
        let air = &mut cx.shared.air;
        let config = &header.config;
        let relay_only: Fate = |c| &mut c.relay_only;
        match header.data_type {
            DataType::Ack if header.dest != air.mac => Ok((false, relay_only)),
            DataType::Ack => {
                if self.acks.push_back(header.magic).is_err() {
                    self.warn_full(cx, 320);
                    return Err(|c| &mut c.ack_queue_full);
                }
                Ok((false, |c| &mut c.acks))
            }
            DataType::Group => {
                let group = Group::parse(payload).ok_or((|c| &mut c.bad_group) as Fate)?;
                if group.means(air.mac) && !change_groups(&mut air.groups, &group) {
                    bump(&mut self.counters.groups_lost);
                }
                Ok((false, |c| &mut c.groups))
            }
            // A unicast frame is taken whatever its destination in the header.
            _ if config.group && !air.in_group(header.dest) => Ok((false, relay_only)),
            _ if !config.group
                && config.broadcast
                && !header.dest.is_broadcast()
                && header.dest != air.mac =>
            {
                Ok((false, relay_only))
            }
            _ => {
                if !self.queue.push(Kind::Deliver, frame.data, heard) {
                    self.warn_full(cx, 392);
                    return Err(|c| &mut c.queue_full);
                }
                Ok((true, |c| &mut c.queued))
            }
        }
    }

    /// Queues a frame to be forwarded, if it is to be (section 2.8); false if there was no place.
    /// One that is longer than what this engine can send is not forwarded, rather than cut.
    fn forward(
        &mut self,
        cx: &mut Cx<'_>,
        frame: &Frame<'_>,
        header: &Header,
        queued: bool,
        heard: Heard<'_>,
    ) -> bool {
        let config = &header.config;
        let wanted = cx.shared.settings.forward
            && config.ttl > 0
            && config.broadcast
            && config.rssi <= frame.rssi
            && header.dest != cx.shared.air.mac;
        if !wanted {
            return true;
        }
        if frame.data.len() > FRAME {
            bump(&mut self.counters.forwards_lost);
            return true;
        }
        let done = if queued {
            self.queue.push_again(Kind::Forward, heard)
        } else {
            self.queue.push(Kind::Forward, frame.data, heard)
        };
        if done {
            bump(&mut self.counters.forwards_due);
        } else {
            bump(&mut self.counters.forwards_lost);
            self.warn_full(cx, 416);
        }
        done
    }

    /// The warning of a full queue, at most once in the 3 s that the device would have been blocked.
    fn warn_full(&mut self, cx: &mut Cx<'_>, line: u32) {
        if cx.now < self.quiet_until {
            return;
        }
        self.quiet_until = patience(cx.shared.settings.tick, cx.now);
        let text = format_args!("[espnow_recv_cb, {line}] Send event queue failed");
        cx.log(Level::Warn, TAG, text);
    }
}

/// The checks on the header alone, in the component's order; the policy follows them.
fn sift<'a>(cx: &Cx<'_>, frame: &Frame<'a>) -> Result<(Header, &'a [u8]), Fate> {
    let settings = &cx.shared.settings;
    let air = &cx.shared.air;
    let Some((header, payload)) = Header::parse(frame.data) else {
        return Err(|c| &mut c.too_short);
    };
    let config = &header.config;
    let forwardable = settings.forward && config.broadcast && config.ttl > 0;
    if frame.data.len() > settings.compat.esp_now().data_max() {
        Err(|c| &mut c.too_long)
    } else if header.version != VERSION {
        Err(|c| &mut c.version)
    } else if header.src == air.mac {
        Err(|c| &mut c.own)
    } else if settings.compat.checks_size() && usize::from(header.size) != payload.len() {
        Err(|c| &mut c.size)
    } else if !air.listens(header.data_type) && !forwardable {
        Err(|c| &mut c.not_enabled)
    } else if config.filter_adjacent && config.channel != frame.channel {
        Err(|c| &mut c.adjacent)
    } else if config.filter_weak && config.rssi > frame.rssi {
        Err(|c| &mut c.weak)
    } else if config.security && !settings.encrypt.enabled {
        Err(|c| &mut c.no_security)
    } else if !config.security && settings.policy.encrypted_only & header.data_type.mask() != 0 {
        Err(|c| &mut c.policy)
    } else {
        Ok((header, payload))
    }
}

/// Joins or leaves; false if there is no place for one more group.
fn change_groups<const N: usize>(groups: &mut heapless::Vec<Mac, N>, group: &Group<'_>) -> bool {
    if !group.join {
        groups.retain(|id| *id != group.id);
        return true;
    }
    groups.contains(&group.id) || groups.push(group.id).is_ok()
}
