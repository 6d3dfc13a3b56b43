//! The way from a message to those who want it, at the pace at which they take it.

use super::connection::BrokerConnection;
use super::flight::PacketIdState;
use super::limits::{BrokerCounter, BrokerCounts};
use super::message::{Copies, Draft, PendingDelivery};
use super::outbox::SHARED_FROM;
use super::retained::CursorStep;
use super::session::Session;
use super::tree::{Grant, TopicMatches};
use super::{Broker, Timer};
use espbench_model::time::Instant;
use espbench_proto::wire::mqtt::{AddedProperties, Properties, Publish, kind};
use std::rc::Rc;

/// The terms on which a message is delivered to one session.
#[derive(Clone, Copy, Debug)]
struct Terms<'a> {
    qos: u8,
    retain: bool,
    /// Identifiers of the subscriptions that it is for.
    subscriptions: &'a [u32],
}

/// Outcome of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendOutcome {
    /// The message is in the outbox.
    Yes,
    /// The message is too large for the client, or expired.
    Never,
    /// There is no memory for it now.
    NotNow,
}

impl Broker {
    /// Delivers a message to all who subscribed to its topic; false where there are none.
    pub(super) fn route(
        &mut self,
        now: Instant,
        draft: Draft<'_>,
        from: Option<u32>,
        publisher: Option<u32>,
    ) -> bool {
        let mut found = std::mem::take(&mut self.found);
        self.tree.find(draft.topic, &mut found);
        let queues = Rc::clone(&self.accounts.queues);
        let mut copies = Copies::new(draft, &queues);
        let mut ids = Vec::new();
        for entries in found.plain.chunk_by(|a, b| a.0 == b.0) {
            let session = entries[0].0;
            let wants = |grant: &Grant| !grant.options.no_local || from != Some(session);
            let mut grants = entries.iter().map(|(_, grant)| grant).filter(|grant| wants(grant));
            let Some(&first) = grants.next() else { continue };
            ids.clear();
            ids.extend(first.subscription);
            let (mut qos, mut keeps) = (first.options.qos, first.options.retain_as_published);
            for grant in grants {
                qos = qos.max(grant.options.qos);
                keeps |= grant.options.retain_as_published;
                ids.extend(grant.subscription);
            }
            let terms = Terms {
                qos: qos.min(draft.qos),
                retain: draft.retain && keeps,
                subscriptions: &ids,
            };
            self.deliver(now, session, &mut copies, terms, publisher);
        }
        self.route_shared(now, &found, &mut copies, publisher);
        let wanted = !found.plain.is_empty() || !found.groups.is_empty();
        self.found = found;
        wanted
    }

    /// Delivers a message to one member of each group that shares a subscription to it: the next one
    /// that is connected, or else the next one (5: 4.8.2).
    fn route_shared(
        &mut self,
        now: Instant,
        found: &TopicMatches,
        copies: &mut Copies<'_>,
        publisher: Option<u32>,
    ) {
        for &number in &found.groups {
            let Some(group) = self.tree.group(number) else { continue };
            let count = group.members.len();
            let turns = (0..count).map(|nth| (group.turn + nth) % count);
            let sessions = &self.sessions;
            let is_there = |at: &usize| {
                sessions.get(group.members[*at].0).is_some_and(|member| member.connection.is_some())
            };
            let at = turns.clone().find(is_there).or_else(|| turns.clone().next());
            let Some(at) = at else { continue };
            group.turn = (at + 1) % count;
            let (session, grant) = group.members[at];
            let id = grant.subscription;
            let terms = Terms {
                qos: grant.options.qos.min(copies.draft.qos),
                retain: copies.draft.retain && grant.options.retain_as_published,
                subscriptions: id.as_slice(),
            };
            self.deliver(now, session, copies, terms, publisher);
        }
    }

    /// Delivers a message to one session: at once, or it waits, or it is dropped and counted.
    fn deliver(
        &mut self,
        now: Instant,
        number: u32,
        copies: &mut Copies<'_>,
        terms: Terms<'_>,
        publisher: Option<u32>,
    ) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        if let Some(id) = session.connection
            && let Some(connection) = self.connections.get_mut(id)
        {
            let is_next = match terms.qos {
                0 => session.plain.is_empty(),
                _ => {
                    session.held.is_empty() && session.flights.has_room(connection.receive_maximum)
                }
            };
            if is_next && connection.has_room() {
                let sent = send(now, connection, session, copies, terms, &mut self.counts);
                if sent != SendOutcome::NotNow {
                    self.touch(id);
                    return;
                }
            }
        } else if terms.qos == 0 {
            self.counts.add(BrokerCounter::DroppedAway, 1);
            return;
        }
        let mut kept = copies.keep();
        // QoS 0 first.
        while kept.is_none() && terms.qos > 0 && session.drop_plain() {
            self.counts.add(BrokerCounter::DroppedMemory, 1);
            kept = copies.keep();
        }
        let Some(message) = kept else {
            self.limit(BrokerCounter::DroppedMemory);
            return;
        };
        let subscriptions = terms.subscriptions.into();
        let Terms { qos, retain, .. } = terms;
        let delivery = PendingDelivery { message, qos, retain, subscriptions };
        session.push(delivery, self.limits.queue, &mut self.counts);
        if let Some(publisher) = publisher.filter(|_| copies.draft.qos > 0) {
            self.slow_down(now, number, publisher);
        }
    }

    /// Makes a publisher wait for a subscriber that does not keep up.
    fn slow_down(&mut self, now: Instant, number: u32, publisher: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let is_full = session.queued > self.limits.queue / 2 || self.accounts.queues.is_beyond(3);
        if !is_full
            || session.is_slow
            || session.connection.is_none()
            || session.connection == Some(publisher)
        {
            return;
        }
        let Some(connection) = self.connections.get_mut(publisher) else { return };
        if connection.paused.is_some() {
            return;
        }
        let until = now + self.limits.backpressure;
        connection.paused = Some((number, until));
        session.waiters.push(publisher);
        self.timers.insert((until, Timer::Pause(publisher)));
        self.counts.add(BrokerCounter::Paused, 1);
    }

    /// Ends a publisher's wait, which was long enough: nobody waits for that subscriber until it
    /// has caught up.
    pub(super) fn is_patient_no_more(&mut self, id: u32) {
        let Some((number, _)) = self.connections.get(id).and_then(|c| c.paused) else { return };
        if let Some(session) = self.sessions.get_mut(number) {
            session.is_slow = true;
        }
        self.wake_waiters(number);
    }

    /// Lets all publishers go on that wait for a session.
    pub(super) fn wake_waiters(&mut self, number: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        for id in std::mem::take(&mut session.waiters) {
            let waits =
                |c: &BrokerConnection| c.paused.is_some_and(|(session, _)| session == number);
            if self.connections.get(id).is_some_and(waits) {
                self.unpause(id);
                self.resumed.push(id);
            }
        }
    }

    /// Ends a connection's wait.
    pub(super) fn unpause(&mut self, id: u32) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if let Some((number, until)) = connection.paused.take() {
            self.timers.remove(&(until, Timer::Pause(id)));
            if let Some(session) = self.sessions.get_mut(number) {
                session.waiters.retain(|waiter| *waiter != id);
            }
        }
    }

    /// Sends what waits for a session, as far as its client takes it.
    pub(super) fn pump(&mut self, now: Instant, number: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let Some(id) = session.connection else { return };
        let Some(connection) = self.connections.get_mut(id) else { return };
        let before = connection.outbox.own() + connection.outbox.payloads();
        resend(now, connection, session, &self.accounts.queues, &mut self.counts);
        unqueue(now, connection, session, &self.accounts.queues, &mut self.counts);
        self.replay(now, number, id);
        let Some(session) = self.sessions.get_mut(number) else { return };
        let Some(connection) = self.connections.get_mut(id) else { return };
        let has_more = connection.outbox.own() + connection.outbox.payloads() > before;
        let has_caught_up =
            session.queued <= self.limits.queue / 4 && !self.accounts.queues.is_beyond(2);
        if has_more {
            self.touch(id);
        }
        if has_caught_up && let Some(session) = self.sessions.get_mut(number) {
            session.is_slow = false;
            if !session.waiters.is_empty() {
                self.wake_waiters(number);
            }
        }
    }

    /// Sends retained messages of new subscriptions, after those that wait already, and no more in one
    /// turn than leaves others theirs.
    fn replay(&mut self, now: Instant, number: u32, id: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let Some(connection) = self.connections.get_mut(id) else { return };
        let mut turns = 64;
        let is_blocked = |connection: &BrokerConnection, session: &Session| {
            !connection.has_room()
                || !session.flights.has_room(connection.receive_maximum)
                || !session.held.is_empty()
        };
        while turns > 0 && !is_blocked(connection, session) {
            turns -= 1;
            let Some((filter, mut cursor)) = session.cursors.pop_first() else { return };
            let Some(&grant) = session.subscriptions.get(&filter) else { continue };
            match self.retained.next(now, &mut cursor) {
                CursorStep::End => continue,
                CursorStep::Later => turns = 0,
                CursorStep::Message(message) => {
                    let mut copies = Copies::of(&message, &self.accounts.queues);
                    let id = grant.subscription;
                    let qos = grant.options.qos.min(message.qos);
                    let terms = Terms { qos, retain: true, subscriptions: id.as_slice() };
                    let sent = send(now, connection, session, &mut copies, terms, &mut self.counts);
                    if sent == SendOutcome::NotNow {
                        self.counts.add(BrokerCounter::DroppedMemory, 1);
                    }
                }
            }
            session.cursors.insert(filter, cursor);
        }
        if !session.cursors.is_empty() && !is_blocked(connection, session) && !session.is_again {
            session.is_again = true;
            self.again.push_back(number);
        }
    }
}

/// Sends again what was not acknowledged on an earlier connection, in order (4.4).
fn resend(
    now: Instant,
    connection: &mut BrokerConnection,
    session: &mut Session,
    queues: &Rc<super::account::Account>,
    counts: &mut BrokerCounts,
) {
    while connection.has_room()
        && let Some((id, flight)) = session.flights.resend(connection.receive_maximum)
    {
        let mut given_up = false;
        match flight {
            PacketIdState::Publish(qos, Some(delivery)) => {
                let mut copies = Copies::of(&delivery.message, queues);
                let terms = Terms {
                    qos: *qos,
                    retain: delivery.retain,
                    subscriptions: &delivery.subscriptions,
                };
                // What has left once is not given up for its expiry (5: 3.3.2.3.3).
                copies.draft.expires = None;
                match emit(now, connection, &mut copies, terms, (id, true), counts) {
                    SendOutcome::Yes => {}
                    SendOutcome::Never => given_up = true,
                    SendOutcome::NotNow => return,
                }
            }
            PacketIdState::Release => {
                let [high, low] = id.to_be_bytes();
                if !connection.outbox.put(&[kind::PUBREL << 4 | 2, 2, high, low]) {
                    return;
                }
            }
            // Nothing is kept of it.
            PacketIdState::Publish(_, None) => given_up = true,
            PacketIdState::Free => {}
        }
        session.flights.resent();
        if given_up
            && let Some(PacketIdState::Publish(_, Some(delivery))) =
                session.flights.set(id, PacketIdState::Free)
        {
            session.held_less(delivery.size());
        }
    }
}

/// Sends messages that wait: QoS 1 and 2 as far as the window allows, then QoS 0.
fn unqueue(
    now: Instant,
    connection: &mut BrokerConnection,
    session: &mut Session,
    queues: &Rc<super::account::Account>,
    counts: &mut BrokerCounts,
) {
    while connection.has_room() {
        let takes = session.flights.has_room(connection.receive_maximum);
        let delivery = if takes { session.held.pop_front() } else { None };
        let Some(delivery) = delivery.or_else(|| session.plain.pop_front()) else { return };
        session.held_less(delivery.size());
        let mut copies = Copies::of(&delivery.message, queues);
        let PendingDelivery { qos, retain, ref subscriptions, .. } = delivery;
        let terms = Terms { qos, retain, subscriptions };
        if send(now, connection, session, &mut copies, terms, counts) == SendOutcome::NotNow {
            session.held_more(delivery.size());
            if qos == 0 { &mut session.plain } else { &mut session.held }.push_front(delivery);
            return;
        }
    }
}

/// Puts a message into a connection's outbox; one of QoS 1 or 2 is in flight from then on.
fn send(
    now: Instant,
    connection: &mut BrokerConnection,
    session: &mut Session,
    copies: &mut Copies<'_>,
    terms: Terms<'_>,
    counts: &mut BrokerCounts,
) -> SendOutcome {
    // What may have to be sent again is kept.
    let kept = if terms.qos > 0 && session.is_kept() {
        let Some(message) = copies.keep() else { return SendOutcome::NotNow };
        let subscriptions = terms.subscriptions.into();
        Some(PendingDelivery { message, qos: terms.qos, retain: terms.retain, subscriptions })
    } else {
        None
    };
    let id = session.flights.next();
    let sent = emit(now, connection, copies, terms, (id, false), counts);
    if sent == SendOutcome::Yes && terms.qos > 0 {
        if let Some(delivery) = &kept {
            session.held_more(delivery.size());
        }
        session.flights.push(terms.qos, kept);
    }
    sent
}

/// Writes a PUBLISH with this packet identifier, and whether it was sent before.
fn emit(
    now: Instant,
    connection: &mut BrokerConnection,
    copies: &mut Copies<'_>,
    terms: Terms<'_>,
    (id, dup): (u16, bool),
    counts: &mut BrokerCounts,
) -> SendOutcome {
    let draft = copies.draft;
    let Ok(expiry) = draft.expiry(now) else {
        counts.add(BrokerCounter::DroppedExpired, 1);
        return SendOutcome::Never;
    };
    let out = Publish {
        dup,
        qos: terms.qos,
        retain: terms.retain,
        topic: draft.topic,
        id,
        properties: Properties::of_parsed(draft.properties),
        payload: draft.payload,
    };
    let added = AddedProperties { message_expiry: expiry, subscription_ids: terms.subscriptions };
    let protocol = connection.protocol;
    let len = out.len(protocol, &added);
    if len > connection.maximum_packet_size {
        counts.add(BrokerCounter::DroppedSize, 1);
        return SendOutcome::Never;
    }
    let head = len - draft.payload.len();
    let mut shared = None;
    let mut own = draft.payload.len();
    if own >= SHARED_FROM || connection.outbox.room_for(head + own).is_none() {
        (shared, own) = (copies.keep(), 0);
        if shared.is_none() || connection.outbox.room_for(head).is_none() {
            // Nothing will be written that could make room: it would wait for ever.
            let is_hopeless = connection.outbox.is_empty();
            counts.add(BrokerCounter::DroppedMemory, u64::from(is_hopeless));
            return if is_hopeless { SendOutcome::Never } else { SendOutcome::NotNow };
        }
    }
    let Some(room) = connection.outbox.room(head + own) else { return SendOutcome::NotNow };
    let (start, end) = room.split_at_mut(head);
    if out.head(protocol, &added, start).is_err() {
        // Its length was computed by the same code, from the same values.
        return SendOutcome::Never;
    }
    end.copy_from_slice(&draft.payload[..own]);
    if let Some(message) = shared {
        connection.outbox.share(message);
    }
    counts.add(BrokerCounter::Sent, 1);
    SendOutcome::Yes
}
