//! Subscriptions (3.8 to 3.11).

use super::Broker;
use super::limits::BrokerCounter;
use super::retained::Cursor;
use super::tree::{Grant, LEVELS};
use espbench_model::time::Instant;
use espbench_proto::wire::mqtt::{
    Fault, RawPacket, SubAck, Subscribe, SubscriptionOptions, UnsubAck, Unsubscribe, reason, topic,
};
use std::rc::Rc;

/// Bytes of a SUBACK or UNSUBACK before its codes, at most.
const CODES_HEAD: usize = 16;

impl Broker {
    pub(super) fn subscribe(
        &mut self,
        now: Instant,
        id: u32,
        number: u32,
        frame: &RawPacket<'_>,
    ) -> Result<(), Fault> {
        let Some(connection) = self.connections.get(id) else { return Ok(()) };
        let protocol = connection.protocol;
        let subscribe = Subscribe::parse(protocol, frame)?;
        let mut codes = Vec::new();
        for (filter, options) in subscribe.filters {
            let grant = Grant { options, subscription: subscribe.subscription };
            codes.push(self.subscribe_one(number, filter, grant));
        }
        let ack = SubAck { id: subscribe.id, codes: &codes };
        let mut buf = vec![0; codes.len() + CODES_HEAD];
        if let Ok(len) = ack.emit(protocol, &mut buf) {
            self.answer(id, &buf[..len]);
        }
        self.pump(now, number);
        Ok(())
    }

    fn subscribe_one(&mut self, number: u32, filter: &str, grant: Grant) -> u8 {
        let (share, plain) = match topic::shared(filter) {
            None => (None, filter),
            Some(Some((share, plain))) => (Some(share), plain),
            Some(None) => return reason::FILTER,
        };
        if !topic::is_filter(plain) {
            return reason::FILTER;
        }
        let is_deep = plain.len() >= LEVELS && plain.split('/').count() > LEVELS;
        let Some(session) = self.sessions.get_mut(number) else { return reason::FAILURE };
        let is_new = !session.subscriptions.contains_key(filter);
        let is_over = is_new && self.tree.len() >= self.limits.subscriptions;
        let key: Rc<str> = filter.into();
        if is_deep || is_over || !session.subscribe(&key, grant) {
            self.limit(BrokerCounter::SubscriptionsRefused);
            return reason::QUOTA;
        }
        if !self.tree.insert(share, plain, number, grant) {
            session.unsubscribe(filter);
            self.tree.remove(share, plain, number);
            self.limit(BrokerCounter::SubscriptionsRefused);
            return reason::QUOTA;
        }
        // 5: 3.8.3.1 and 4.8.2: a shared subscription gets no retained messages.
        let wants_retained = match grant.options.retain_handling {
            0 => true,
            1 => is_new,
            _ => false,
        };
        if wants_retained && share.is_none() {
            session.cursors.insert(Rc::clone(&key), Cursor::new(key));
        }
        let SubscriptionOptions { qos, .. } = grant.options;
        qos
    }

    pub(super) fn unsubscribe(
        &mut self,
        id: u32,
        number: u32,
        frame: &RawPacket<'_>,
    ) -> Result<(), Fault> {
        let Some(connection) = self.connections.get(id) else { return Ok(()) };
        let protocol = connection.protocol;
        let unsubscribe = Unsubscribe::parse(protocol, frame)?;
        let mut codes = Vec::new();
        for filter in unsubscribe.filters() {
            let Some(session) = self.sessions.get_mut(number) else { return Ok(()) };
            if !session.unsubscribe(filter) {
                codes.push(reason::NO_SUBSCRIPTION);
                continue;
            }
            session.cursors.remove(filter);
            match topic::shared(filter).flatten() {
                Some((share, plain)) => self.tree.remove(Some(share), plain, number),
                None => self.tree.remove(None, filter, number),
            }
            codes.push(reason::SUCCESS);
        }
        let ack = UnsubAck { id: unsubscribe.id, codes: &codes };
        let mut buf = vec![0; codes.len() + CODES_HEAD];
        if let Ok(len) = ack.emit(protocol, &mut buf) {
            self.answer(id, &buf[..len]);
        }
        Ok(())
    }
}
