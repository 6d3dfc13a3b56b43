//! The configuration of a station and of the medium.

use crate::air::AdjacentChannels;
use crate::radio::{BasicRates, Timing, TxPower, WifiMode};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
pub struct TxFrame {
    /// The destination, a station or [`GROUP`](super::GROUP).
    pub to: u32,
    /// Octets of the MPDU with its FCS.
    pub octets: u32,
    /// The mode of the first attempt.
    pub mode: WifiMode,
    /// The tag by which the user knows the frame.
    pub tag: u64,
    /// Whether the frame goes under a block-ack agreement with its receiver (10.25). Such a frame
    /// goes into an A-MPDU with others to the same receiver, is numbered for that receiver alone,
    /// and is handed up there in order. The flag has no effect where sender or receiver have no
    /// [`MacConfig::ampdu`], and on a group frame.
    pub aggregate: bool,
    /// Whether the frame goes before all others in the queue, as management frames do, which have
    /// the access category AC_VO (10.23.2.2). Such frames keep their order among themselves.
    pub ahead: bool,
}

impl TxFrame {
    /// Returns a single frame that waits for its turn.
    #[must_use]
    pub const fn new(to: u32, octets: u32, mode: WifiMode, tag: u64) -> Self {
        Self { to, octets, mode, tag, aggregate: false, ahead: false }
    }

    /// Puts the frame under a block-ack agreement.
    #[must_use]
    pub const fn aggregated(self) -> Self {
        Self { aggregate: true, ..self }
    }

    /// Puts the frame before those that are not in a hurry.
    #[must_use]
    pub const fn at_once(self) -> Self {
        Self { ahead: true, ..self }
    }
}

/// The A-MPDUs that a station sends and takes (10.12, 10.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpduConfig {
    /// The limit on unacknowledged MPDUs to one receiver, up to 64, or 0 for no agreement in that
    /// direction; the receiver's `receive` is a limit, too (ESP-IDF: `CONFIG_ESP_WIFI_TX_BA_WIN`).
    pub send: u8,
    /// The size of the reorder buffer, up to 64, or 0 for no agreement in that direction: the
    /// Buffer Size in the station's ADDBA Response (9.4.1.13; ESP-IDF:
    /// `CONFIG_ESP_WIFI_RX_BA_WIN`).
    pub receive: u8,
    /// The octets of the longest A-MPDU that this station takes, with delimiters and padding
    /// (Maximum A-MPDU Length Exponent, 9.4.2.55.3): 8,191, 16,383, 32,767 or 65,535.
    pub octets: u32,
    /// The longest PPDU that this station sends, without signal extension. The limit of the mixed
    /// format is 5484 us, the most that its L-SIG can say: 4095 octets at 6 Mbit/s (19.3.9.3.5).
    pub longest_ns: u64,
}

impl AmpduConfig {
    /// The most that an HT station may.
    pub const MOST: Self = Self { send: 64, receive: 64, octets: 65_535, longest_ns: 5_484_000 };
}

/// The configuration of a station's MAC.
#[derive(Clone, Debug)]
pub struct MacConfig {
    /// Slot, SIFS and contention windows.
    pub timing: Timing,
    /// `dot11ShortRetryLimit`: the limit on the attempts of a frame (Annex C: 7).
    pub short_retry_limit: u8,
    /// `dot11LongRetryLimit`, for frames longer than `rts_threshold` (Annex C: 4).
    pub long_retry_limit: u8,
    /// `dot11RTSThreshold`, in octets: longer frames have `long_retry_limit`, and an RTS before
    /// them if `rts` says so. An A-MPDU counts with all of its octets, and only for RTS.
    pub rts_threshold: u32,
    /// Whether RTS and CTS go before frames and A-MPDUs longer than `rts_threshold` (10.3.2.9).
    pub rts: bool,
    /// The mode of protection (10.3.2.15, ERP protection): a CTS-to-self in this mode, one that
    /// stations of clause 16 read, goes before a unicast frame in ERP-OFDM or HT. An RTS and its
    /// CTS also take this mode. `None`: no protection, and RTS at the rate of responses.
    pub protect: Option<WifiMode>,
    /// The limit of a TXOP, in nanoseconds; 0 for one exchange (10.23.2.8).
    pub txop_ns: u64,
    /// The A-MPDUs that the station sends and takes, if it aggregates.
    pub ampdu: Option<AmpduConfig>,
    /// The basic rate set, which gives the rate of ACKs.
    pub basic: BasicRates,
    /// The modes of the second and later attempts of a unicast frame; the last one is kept. If
    /// empty, the mode of the first attempt is.
    pub fallback: Vec<WifiMode>,
    /// The TX buffers of the driver: frames that can wait, with the one being sent.
    pub buffers: usize,
    /// The first channel, 1 to 14.
    pub channel: u8,
    /// The index of the station's receiver among those of the medium.
    pub receiver: u8,
    /// The transmit power of each mode; `None`: every mode has the power of the links.
    pub output: Option<Arc<TxPower>>,
}

impl Default for MacConfig {
    fn default() -> Self {
        Self {
            timing: Timing::HR,
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: u32::MAX,
            rts: false,
            protect: None,
            txop_ns: 0,
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

/// The properties of the whole medium.
#[derive(Clone, Debug)]
pub struct MediumConfig {
    /// The paths of frames to other channels.
    pub adjacent: AdjacentChannels,
    /// The time of turning from receiving to sending (`aRxTxTurnaroundTime`, 10.3.7; at most 5 us
    /// with clauses 15 and 16): a station whose back-off ends within this time after the beginning
    /// of another's frame sends nevertheless.
    pub turnaround_ns: u64,
}

impl Default for MediumConfig {
    fn default() -> Self {
        Self { adjacent: AdjacentChannels::default(), turnaround_ns: 5_000 }
    }
}
