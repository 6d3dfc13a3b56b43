//! What an engine has counted.

/// Counters of an engine, from its start; they stop at their largest value.
///
/// Every frame that is received ends in exactly one of the counters from
/// [`too_short`](Self::too_short) to [`relay_only`](Self::relay_only), so that they add up to
/// [`received`](Self::received); see [`fates`](Self::fates). They stand in the order in which the
/// checks are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames off the air.
    pub received: u32,

    /// Shorter than a header.
    pub too_short: u32,
    /// Longer than the release and its ESP-IDF take.
    pub too_long: u32,
    /// Another version than 2.
    pub version: u32,
    /// The node's own, come back.
    pub own: u32,
    /// The header gives another size (up to component 2.5.3).
    pub size: u32,
    /// Of a type that is not listened to, and not to be forwarded either.
    pub not_enabled: u32,
    /// Heard on another channel than it was sent on, and its sender minds (`filter_adjacent`).
    pub adjacent: u32,
    /// Too weak for what its sender wants (`filter_weak`).
    pub weak: u32,
    /// Encrypted, while this node does not encrypt at all.
    pub no_security: u32,
    /// In clear, against the node's own policy.
    pub policy: u32,
    /// Known already.
    pub duplicate: u32,
    /// Acknowledgements that were dropped because four others wait (trap 7).
    pub ack_queue_full: u32,
    /// Acknowledgements that wait for a sender.
    pub acks: u32,
    /// GROUP frames whose payload is cut off.
    pub bad_group: u32,
    /// GROUP frames.
    pub groups: u32,
    /// Groups that were not joined because the node is in as many as it can be. Not a fate.
    pub groups_lost: u32,
    /// Frames for a service that were dropped because the event queue or its bytes were full.
    pub queue_full: u32,
    /// Frames queued for a service.
    pub queued: u32,
    /// Not for this node: at most to be forwarded.
    pub relay_only: u32,

    /// Acknowledgements queued to be sent.
    pub acks_due: u32,
    /// Acknowledgements that were not sent because the event queue was full.
    pub acks_lost: u32,
    /// Acknowledgements whose sending was begun.
    pub acks_sent: u32,
    /// Frames queued to be forwarded.
    pub forwards_due: u32,
    /// Frames that were not forwarded because the event queue was full, or because they are longer
    /// than what this engine can send.
    pub forwards_lost: u32,
    /// Frames whose forwarding was begun.
    pub forwarded: u32,
    /// Acknowledgements and frames to forward that waited 3 s for the send lock and were dropped.
    pub lock_timeout: u32,

    /// Frames handed to a service.
    pub delivered: u32,
    /// Frames without payload, which reach no service.
    pub empty: u32,
    /// Encrypted frames that were dropped because there is no key for receiving.
    pub no_key: u32,
    /// Encrypted frames that are too short, or were not sealed with this node's key.
    pub decrypt_failed: u32,
    /// Encrypted frames with a nonce that was there before, where the policy refuses them.
    pub replayed: u32,
    /// Frames of a type that is listened to no more, or longer than the caller's buffer.
    pub unclaimed: u32,

    /// Frames that the driver took.
    pub transmitted: u32,
    /// Frames that the driver refused.
    pub driver_refused: u32,
    /// Acknowledgements that fitted no waiting sender.
    pub late_acks: u32,
}

impl Counters {
    /// The sum of what became of frames off the air; equal to [`received`](Self::received) until a
    /// counter stops.
    #[must_use]
    pub fn fates(&self) -> u32 {
        [
            self.too_short,
            self.too_long,
            self.version,
            self.own,
            self.size,
            self.not_enabled,
            self.adjacent,
            self.weak,
            self.no_security,
            self.policy,
            self.duplicate,
            self.ack_queue_full,
            self.acks,
            self.bad_group,
            self.groups,
            self.queue_full,
            self.queued,
            self.relay_only,
        ]
        .iter()
        .fold(0, |sum, n| sum.saturating_add(*n))
    }
}

/// One more.
#[inline]
pub(super) fn bump(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
