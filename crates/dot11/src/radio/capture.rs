//! Preamble detection and frame capture: which of several frames a receiver reads.
//!
//! A preamble is detected if it is strong enough for its header to be read among noise
//! ([`ErrorModelDecoder::found_dbm`](super::ErrorModelDecoder::found_dbm)), and if it stands out
//! from all other frames together by `detect_db`. ns-3's `ThresholdPreambleDetectionModel` asks for
//! 4 dB above noise and frames together, and for -82 dBm; with its noise of -94 dBm, noise never
//! decides there. Noise must not be added here: 1 Mbit/s is read 1 dB below the noise of its
//! channel, since its chips add up to a gain of 10 dB, and datasheets promise that.
//!
//! The gain holds against other frames as well. Preambles of clauses 15 and 16 are spread with the
//! 11 chips of Barker's sequence, and after despreading everything else is weaker by
//! [`FrameCapture::BARKER_DB`]. If two frames begin together, the stronger one is detected.

/// Rules of preamble detection and frame capture. The numbers of [`FrameCapture::default`] and
/// [`FrameCapture::EARLY`] are those of ns-3 (`ThresholdPreambleDetectionModel`,
/// `SimpleFrameCaptureModel`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameCapture {
    /// The decibels by which a preamble must stand out from all other frames together.
    pub detect_db: f64,
    /// The decibels by which `detect_db` is lower for the spread preambles of clauses 15 and 16.
    pub spread_db: f64,
    /// The time after its start in which another frame may spoil or replace a preamble.
    pub window_ns: u64,
    /// The decibels by which a later frame must be stronger to replace the one being received;
    /// `None` if the receiver stays with the first.
    pub relock_db: Option<f64>,
    /// The time after the start of the first frame in which a later one can replace it.
    pub relock_ns: u64,
}

impl Default for FrameCapture {
    /// Returns the rules of a receiver that stays with the frame it has begun to receive.
    fn default() -> Self {
        Self { detect_db: 4.0, spread_db: 0.0, window_ns: 4_000, relock_db: None, relock_ns: 0 }
    }
}

impl FrameCapture {
    /// The gain of the 11 chips of a symbol, 10 log 11 (IEEE 802.11-2020, 15.4.4: the spreading
    /// sequence).
    pub const BARKER_DB: f64 = 10.41;

    /// The rules of ns-3 with frame capture, which is possible within 16 us.
    pub const EARLY: Self = Self {
        detect_db: 4.0,
        spread_db: 0.0,
        window_ns: 4_000,
        relock_db: Some(5.0),
        relock_ns: 16_000,
    };

    /// Returns the rules of a receiver that turns to a frame stronger by `relock_db` at any time
    /// ("message in message").
    #[must_use]
    pub const fn any_time(relock_db: f64) -> Self {
        Self { relock_db: Some(relock_db), relock_ns: u64::MAX, ..Self::EARLY }
    }
}
