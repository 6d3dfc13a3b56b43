//! The frame exchange of a station: one frame, or an A-MPDU (9.7, 10.12).

use super::frame::MpduInfo;
use crate::radio::WifiMode;
use alloc::vec::Vec;

/// The number that stands for no agreement: a frame on its own.
pub(crate) const ALONE: u32 = u32::MAX;

/// The step that a frame exchange has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExchangeStep {
    /// The data and its acknowledgement.
    #[default]
    Data,
    /// A block acknowledgement request and its answer.
    Request,
    /// An RTS or CTS-to-self before the data.
    Clearance,
}

/// The frame exchange in progress.
#[derive(Clone, Debug)]
pub(crate) struct FrameExchange {
    /// The MPDUs of the exchange. A single one goes without delimiter and has an ACK.
    pub(crate) mpdus: Vec<MpduInfo>,
    /// The places of the MPDUs in the queue.
    pub(crate) places: Vec<u32>,
    /// The agreement of the MPDUs, or [`ALONE`].
    pub(crate) agreement: u32,
    pub(crate) mode: WifiMode,
    /// The octets of all, with delimiters and padding.
    pub(crate) octets: u32,
    pub(crate) stage: ExchangeStep,
    /// Whether an A-MPDU is on the air, so that the station's timer tells when its MPDUs end.
    pub(crate) on_air: bool,
    /// The index of the transmission while it is on the air.
    pub(crate) slot: u32,
    /// The number of MPDUs that have ended.
    pub(crate) ended: u32,
    /// The octets up to the end of the MPDU that ends next; 0 until the header has ended.
    pub(crate) passed: u32,
    /// Whether the header could not be read.
    pub(crate) lost: bool,
    /// Whether the receiver has read an MPDU and will answer.
    pub(crate) answers: bool,
}

impl Default for FrameExchange {
    fn default() -> Self {
        Self {
            mpdus: Vec::new(),
            places: Vec::new(),
            agreement: ALONE,
            mode: WifiMode::ESP_NOW,
            octets: 0,
            stage: ExchangeStep::Data,
            on_air: false,
            slot: 0,
            ended: 0,
            passed: 0,
            lost: false,
            answers: false,
        }
    }
}

impl FrameExchange {
    pub(crate) fn clear(&mut self, agreement: u32, mode: WifiMode) {
        self.mpdus.clear();
        self.places.clear();
        self.agreement = agreement;
        self.mode = mode;
        self.octets = 0;
        self.ended = 0;
        self.passed = 0;
        self.lost = false;
        self.answers = false;
    }

    /// Returns the length of the part of the queue that holds the MPDUs.
    pub(crate) fn span(&self) -> usize {
        self.places.last().map_or(0, |&last| last as usize + 1)
    }
}
