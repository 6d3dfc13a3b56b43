//! Which of several frames a receiver reads.
//!
//! A preamble is found where it is strong enough for its header to be read among noise
//! ([`Reader::found_dbm`](super::Reader::found_dbm)), and where it stands out from all other
//! frames together by `detect_db`. ns-3's `ThresholdPreambleDetectionModel` asks for 4 dB above
//! noise and frames together, and for -82 dBm; with its noise of -94 dBm, noise never decides
//! there. Here it must not: 1 Mbit/s is read 1 dB below the noise of its channel, since its chips
//! add up to a gain of 10 dB, and datasheets promise that.
//!
//! That gain holds against other frames as well: preambles of clauses 15 and 16 are spread with
//! Barker's 11 chips, and once those are added up all else is weaker by [`Capture::BARKER_DB`]. Of
//! two that begin together the stronger one is found.

/// Rules of a receiver. The numbers of [`Capture::default`] and [`Capture::EARLY`] are those of
/// ns-3 (`ThresholdPreambleDetectionModel`, `SimpleFrameCaptureModel`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// How much a preamble must stand out from all other frames together.
    pub detect_db: f64,
    /// By how much less a preamble of clauses 15 and 16 must, since it is spread.
    pub spread_db: f64,
    /// For how long after its start another frame may spoil or replace a preamble.
    pub window_ns: u64,
    /// How much stronger than the frame being read a later one must be to be read instead; `None`
    /// if the receiver stays with the first.
    pub relock_db: Option<f64>,
    /// For how long after the start of the first frame a later one can.
    pub relock_ns: u64,
}

impl Default for Capture {
    /// A receiver that, once it reads a frame, stays with it.
    fn default() -> Self {
        Self { detect_db: 4.0, spread_db: 0.0, window_ns: 4_000, relock_db: None, relock_ns: 0 }
    }
}

impl Capture {
    /// What the 11 chips of a symbol add up to, 10 log 11 (IEEE 802.11-2020, 15.4.4: the spreading
    /// sequence).
    pub const BARKER_DB: f64 = 10.41;

    /// As ns-3 has it where capture is asked for: within 16 us.
    pub const EARLY: Self = Self {
        detect_db: 4.0,
        spread_db: 0.0,
        window_ns: 4_000,
        relock_db: Some(5.0),
        relock_ns: 16_000,
    };

    /// A receiver that turns to a frame so much stronger at any time ("message in message").
    #[must_use]
    pub const fn any_time(relock_db: f64) -> Self {
        Self { relock_db: Some(relock_db), relock_ns: u64::MAX, ..Self::EARLY }
    }
}
