//! Counters of the engine.

/// Counters of an engine, from its start; they saturate.
///
/// Every received frame is counted in exactly one of the counters from
/// [`too_short`](Self::too_short) to [`relay_only`](Self::relay_only), so that they add up to
/// [`received`](Self::received); see [`fates`](Self::fates). They stand in the order in which the
/// checks are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCounters {
    /// Frames received off the air.
    pub received: u32,

    /// Frames shorter than a header.
    pub too_short: u32,
    /// Frames longer than the release and its ESP-IDF accept.
    pub too_long: u32,
    /// Frames of another version than 2.
    pub version: u32,
    /// Frames of the node itself that came back.
    pub own: u32,
    /// Frames whose header gives another size (up to component 2.5.3).
    pub size: u32,
    /// Frames of a type that is neither received nor to be forwarded.
    pub not_enabled: u32,
    /// Frames heard on another channel than they were sent on, with `filter_adjacent`.
    pub adjacent: u32,
    /// Frames weaker than their sender demands, with `filter_weak`.
    pub weak: u32,
    /// Encrypted frames, while this node does not encrypt at all.
    pub no_security: u32,
    /// Frames in clear, against the node's own policy.
    pub policy: u32,
    /// Duplicates.
    pub duplicate: u32,
    /// Acknowledgements that were dropped because four others wait (trap 7).
    pub ack_queue_full: u32,
    /// Acknowledgements that wait for a sender.
    pub acks: u32,
    /// GROUP frames whose payload is cut off.
    pub bad_group: u32,
    /// GROUP frames.
    pub groups: u32,
    /// Groups that were not joined because the node is in as many as it can be. Not a fate of a
    /// frame.
    pub groups_lost: u32,
    /// Frames for a service that were dropped because the event queue or its bytes were full.
    pub queue_full: u32,
    /// Frames queued for a service.
    pub queued: u32,
    /// Frames that are not for this node, and at most to be forwarded.
    pub relay_only: u32,

    /// Acknowledgements queued to be sent.
    pub acks_due: u32,
    /// Acknowledgements that were not sent because the event queue was full.
    pub acks_lost: u32,
    /// Acknowledgements whose transmission was begun.
    pub acks_sent: u32,
    /// Frames queued to be forwarded.
    pub forwards_due: u32,
    /// Frames that were not forwarded because the event queue was full, or because they are longer
    /// than this engine can send.
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
    /// Encrypted frames whose nonce was seen before, where the policy refuses them.
    pub replayed: u32,
    /// Frames of a type that is no longer received, or longer than the caller's buffer.
    pub unclaimed: u32,

    /// Frames that the driver took.
    pub transmitted: u32,
    /// Frames that the driver refused.
    pub driver_refused: u32,
    /// Acknowledgements that matched no waiting sender.
    pub late_acks: u32,
}

impl EngineCounters {
    /// Returns the sum of the fates of received frames; equal to [`received`](Self::received) until
    /// a counter saturates.
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

/// Increments a counter.
#[inline]
pub(super) fn bump(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
