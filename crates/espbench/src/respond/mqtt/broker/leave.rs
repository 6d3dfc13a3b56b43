//! Connections and sessions end (3.14, 5: 4.1); wills (3.1.2.5).

use super::connection::ConnectionPhase;
use super::limits::BrokerCounter;
use super::{Broker, BrokerNotice, Timer};
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::mqtt::{Disconnect, Fault, RawPacket, Version, reason, topic};

/// The way in which a connection leaves its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// With a DISCONNECT: the will is discarded.
    InOrder,
    /// Without one, or with one that asks for the will.
    Broken,
    /// Another connection comes in its place; `clean` where it wants a new session.
    TakenOver { clean: bool },
}

impl Broker {
    pub(super) fn disconnect(
        &mut self,
        now: Instant,
        id: u32,
        number: u32,
        frame: &RawPacket<'_>,
    ) -> Result<(), Fault> {
        let Some(protocol) = self.connections.get(id).map(|connection| connection.protocol) else {
            return Ok(());
        };
        let disconnect = Disconnect::of_client(protocol, frame)?;
        if let (Some(expiry), Some(session)) =
            (disconnect.session_expiry, self.sessions.get_mut(number))
        {
            // 5: 3.14.2.2.2. Messages in flight were not kept.
            if expiry != 0 && !session.is_kept() {
                return Err(Fault {
                    reason: reason::PROTOCOL_ERROR,
                    what: "a session expiry in DISCONNECT after none in CONNECT",
                });
            }
            session.expiry = expiry;
        }
        let with_will = disconnect.reason == reason::WITH_WILL || disconnect.reason >= 0x80;
        self.detach(now, id, if with_will { Leave::Broken } else { Leave::InOrder });
        self.leave(now, id);
        Ok(())
    }

    /// Ends the connection of a client that broke the standard (4.8, 5: 4.13).
    pub(super) fn fault(&mut self, now: Instant, id: u32, fault: Fault) {
        let Some(connection) = self.connections.get(id) else { return };
        if connection.phase == ConnectionPhase::Leaving {
            return;
        }
        let peer = connection.peer;
        self.counts.add(BrokerCounter::Faults, 1);
        self.say(BrokerNotice::Fault(peer, fault.what));
        self.dismiss(now, id, fault.reason);
    }

    /// Ends a connection; version 5 is told why.
    pub(super) fn dismiss(&mut self, now: Instant, id: u32, reason: u8) {
        let Some(connection) = self.connections.get(id) else { return };
        let told =
            connection.protocol.is_5() && matches!(connection.phase, ConnectionPhase::Open(_));
        if connection.phase == ConnectionPhase::Leaving {
            return;
        }
        self.detach(now, id, Leave::Broken);
        if told {
            self.say_goodbye(id, reason);
        }
        // What it asked for before is still answered.
        self.leave(now, id);
    }

    /// Sends a DISCONNECT of version 5.
    pub(super) fn say_goodbye(&mut self, id: u32, reason: u8) {
        let mut buf = [0; 8];
        let goodbye = Disconnect { reason, session_expiry: None };
        if let (Ok(len), Some(connection)) =
            (goodbye.emit(Version::V5, &mut buf), self.connections.get_mut(id))
        {
            // Where there is no memory for it, it is left out.
            connection.outbox.put(&buf[..len]);
        }
    }

    /// Closes a connection when what it is owed is written, or after a while.
    pub(super) fn leave(&mut self, now: Instant, id: u32) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.phase = ConnectionPhase::Leaving;
        connection.forget_input();
        connection.aliases.clear();
        connection.aliases_charge.resize(0);
        let patience = self.limits.patience;
        self.set_deadline(id, Some(now + patience));
        self.touch(id);
    }

    /// Closes a connection at once.
    pub(super) fn leave_now(&mut self, id: u32) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.phase = ConnectionPhase::Leaving;
        connection.outbox.clear();
        connection.forget_input();
        self.set_deadline(id, None);
        self.touch(id);
    }

    /// Parts a connection from its session, which ends, or waits for its client.
    pub(super) fn detach(&mut self, now: Instant, id: u32, how: Leave) {
        self.unpause(id);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let ConnectionPhase::Open(number) = connection.phase else { return };
        connection.phase = ConnectionPhase::Leaving;
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.connection = None;
        session.is_slow = false;
        while session.drop_plain() {
            self.counts.add(BrokerCounter::DroppedGone, 1);
        }
        let (expiry, delay) = (session.expiry, session.will.as_ref().map(|will| will.delay));
        self.given += 1;
        session.away = Some(self.given);
        self.away.insert(self.given, number);
        self.wake_waiters(number);
        // 5: 3.1.2.5 and 3.1.3.2.2: the will waits where the client may come back in time.
        match (how, delay) {
            (Leave::InOrder, _) => self.drop_will(number),
            (_, None | Some(0)) => self.publish_will(now, number),
            (Leave::TakenOver { clean: false }, Some(_)) if expiry > 0 => self.drop_will(number),
            (_, Some(delay)) => self.start_timer(now, number, delay, true),
        }
        match expiry {
            0 => self.end_session(now, number),
            u32::MAX => {}
            seconds => self.start_timer(now, number, seconds, false),
        }
    }

    fn start_timer(&mut self, now: Instant, number: u32, seconds: u32, is_will: bool) {
        let at = now + Duration::from_secs(seconds.into());
        let Some(session) = self.sessions.get_mut(number) else { return };
        if is_will {
            session.will_at = Some(at);
            self.timers.insert((at, Timer::Will(number)));
        } else {
            session.ends_at = Some(at);
            self.timers.insert((at, Timer::Session(number)));
        }
    }

    /// Forgets what was to happen while the client was away.
    pub(super) fn stop_timers(&mut self, number: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        if let Some(at) = session.will_at.take() {
            self.timers.remove(&(at, Timer::Will(number)));
        }
        if let Some(at) = session.ends_at.take() {
            self.timers.remove(&(at, Timer::Session(number)));
        }
    }

    fn drop_will(&mut self, number: u32) {
        if let Some(session) = self.sessions.get_mut(number) {
            session.will = None;
        }
    }

    /// Publishes a session's will, where it has one.
    pub(super) fn publish_will(&mut self, now: Instant, number: u32) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.will_at = None;
        let Some(will) = session.will.take() else { return };
        let mut draft = will.message.draft();
        draft.expires = will.expiry.map(|seconds| now + Duration::from_secs(seconds.into()));
        self.spread(now, draft, None, None);
    }

    /// Ends a session: its subscriptions, its messages, and at last its will.
    pub(super) fn end_session(&mut self, now: Instant, number: u32) {
        self.stop_timers(number);
        let Some(session) = self.sessions.get_mut(number) else { return };
        let lost = session.plain.len() + session.held.len() + session.flights.drain().count();
        self.counts.add(BrokerCounter::DroppedGone, lost as u64);
        for filter in session.subscriptions.keys() {
            match topic::shared(filter).flatten() {
                Some((share, filter)) => self.tree.remove(Some(share), filter, number),
                None => self.tree.remove(None, filter, number),
            }
        }
        session.subscriptions.clear();
        if let Some(place) = session.away.take() {
            self.away.remove(&place);
        }
        // The client does not come back: no delay holds any longer.
        self.publish_will(now, number);
        self.wake_waiters(number);
        if let Some(session) = self.sessions.remove(number) {
            self.names.remove(&session.name);
        }
    }
}
