//! What a station and a medium can be told.

use crate::air::Adjacent;
use crate::radio::{BasicRates, Mode, Output, Timing};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// To whom: a station, or [`GROUP`](super::GROUP).
    pub to: u32,
    /// Octets of the MPDU with its FCS.
    pub octets: u32,
    /// How, the first time.
    pub mode: Mode,
    /// By what the host knows it.
    pub tag: u64,
    /// It belongs to a block-ack agreement with its receiver (10.25): it goes into an A-MPDU with
    /// others like it to the same receiver, is numbered for that receiver alone, and is handed up
    /// there in order. Where sender or receiver have no [`Settings::ampdu`], and in a frame to all,
    /// this means nothing.
    pub aggregate: bool,
    /// It goes before all in the queue that is not like it: management frames, which have the access
    /// category AC_VO (10.23.2.2). Among themselves they keep their order.
    pub ahead: bool,
}

impl Packet {
    /// A frame on its own that waits for its turn.
    #[must_use]
    pub const fn new(to: u32, octets: u32, mode: Mode, tag: u64) -> Self {
        Self { to, octets, mode, tag, aggregate: false, ahead: false }
    }

    /// The same under a block-ack agreement.
    #[must_use]
    pub const fn aggregated(self) -> Self {
        Self { aggregate: true, ..self }
    }

    /// The same before what is not in a hurry.
    #[must_use]
    pub const fn at_once(self) -> Self {
        Self { ahead: true, ..self }
    }
}

/// What a station puts into an A-MPDU and takes out of one (10.12, 10.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ampdu {
    /// Most MPDUs that are out for one receiver, up to 64, or 0 for no agreement that way; the receiver's `receive` is a limit,
    /// too (ESP-IDF: `CONFIG_ESP_WIFI_TX_BA_WIN`).
    pub send: u8,
    /// The size of the reorder buffer, up to 64, or 0 for no agreement that way: what this station answers as Buffer Size in an
    /// ADDBA Response (9.4.1.13; ESP-IDF: `CONFIG_ESP_WIFI_RX_BA_WIN`).
    pub receive: u8,
    /// Most octets of an A-MPDU that this station takes, with delimiters and padding (Maximum A-MPDU
    /// Length Exponent, 9.4.2.55.3): 8,191, 16,383, 32,767 or 65,535.
    pub octets: u32,
    /// The longest PPDU that this station sends, without signal extension. That of the mixed format is 5484 us: what its L-SIG
    /// can say, 4095 octets at 6 Mbit/s (19.3.9.3.5).
    pub longest_ns: u64,
}

impl Ampdu {
    /// All that an HT station may.
    pub const MOST: Self = Self { send: 64, receive: 64, octets: 65_535, longest_ns: 5_484_000 };
}

/// The settings of a station's MAC.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Slot, SIFS and contention windows.
    pub timing: Timing,
    /// `dot11ShortRetryLimit`: how often a frame is sent in all (Annex C: 7).
    pub short_retry_limit: u8,
    /// `dot11LongRetryLimit`, for frames longer than `rts_threshold` (Annex C: 4).
    pub long_retry_limit: u8,
    /// `dot11RTSThreshold`, in octets: longer frames have `long_retry_limit`, and an RTS before them
    /// if `rts` says so. An A-MPDU counts with all of its octets, and only for RTS.
    pub rts_threshold: u32,
    /// RTS and CTS go before frames and A-MPDUs longer than `rts_threshold` (10.3.2.9).
    pub rts: bool,
    /// Before a frame to one in ERP-OFDM or HT goes a CTS to itself in this mode, one that stations
    /// of clause 16 read, too (10.3.2.15, ERP protection); an RTS, where there is one, and its CTS
    /// take this mode. `None`: no protection, and RTS at the rate of responses.
    pub protect: Option<Mode>,
    /// Whether it aggregates: what it puts into A-MPDUs and takes out of them.
    pub ampdu: Option<Ampdu>,
    /// What ACKs are sent at.
    pub basic: BasicRates,
    /// Modes of the second and later attempts of a unicast frame; the last one is kept. Empty:
    /// that of the first attempt.
    pub fallback: Vec<Mode>,
    /// TX buffers of the driver: frames that can wait, with the one being sent.
    pub buffers: usize,
    /// The channel it starts on, 1 to 14.
    pub channel: u8,
    /// Which of the room's receivers it has.
    pub receiver: u8,
    /// With what power it sends each mode; `None`: all of them with that of the links.
    pub output: Option<Arc<Output>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timing: Timing::HR,
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: u32::MAX,
            rts: false,
            protect: None,
            ampdu: None,
            basic: BasicRates::NONE,
            fallback: Vec::new(),
            buffers: 32,
            channel: 1,
            receiver: 0,
            output: None,
        }
    }
}

/// What holds for the whole medium.
#[derive(Clone, Debug)]
pub struct Medium {
    /// What arrives on other channels.
    pub adjacent: Adjacent,
    /// A station whose back-off ends within this time of the beginning of another's frame sends
    /// nevertheless: it has already turned from receiving to sending (`aRxTxTurnaroundTime`,
    /// 10.3.7; at most 5 us with clauses 15 and 16).
    pub turnaround_ns: u64,
}

impl Default for Medium {
    fn default() -> Self {
        Self { adjacent: Adjacent::default(), turnaround_ns: 5_000 }
    }
}
