//! What a station sends in one exchange: a frame, or an A-MPDU (9.7, 10.12).

use super::frame::Mpdu;
use crate::radio::Mode;
use alloc::vec::Vec;

/// No agreement: a frame on its own.
pub(crate) const ALONE: u32 = u32::MAX;

/// How far an exchange is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The data, and what answers it.
    #[default]
    Data,
    /// A block acknowledgement request, and what answers it.
    Request,
    /// An RTS or a CTS to itself, before the data.
    Clearance,
}

/// The exchange at hand.
#[derive(Clone, Debug)]
pub(crate) struct Burst {
    /// What is in it. One alone goes without delimiter and has an ACK.
    pub(crate) mpdus: Vec<Mpdu>,
    /// Where in the queue these are.
    pub(crate) places: Vec<u32>,
    /// Under which agreement, or [`ALONE`].
    pub(crate) agreement: u32,
    pub(crate) mode: Mode,
    /// All octets, with delimiters and padding.
    pub(crate) octets: u32,
    pub(crate) stage: Stage,
    /// It is an A-MPDU and on the air: the station's timer tells when its MPDUs end.
    pub(crate) flies: bool,
    /// Its flight, while it flies.
    pub(crate) slot: u32,
    /// MPDUs that have ended.
    pub(crate) ended: u32,
    /// Octets up to the end of the MPDU that ends next; none of the header has not ended.
    pub(crate) passed: u32,
    /// Its header could not be read.
    pub(crate) lost: bool,
    /// Its receiver has read one, and will answer.
    pub(crate) answers: bool,
}

impl Default for Burst {
    fn default() -> Self {
        Self {
            mpdus: Vec::new(),
            places: Vec::new(),
            agreement: ALONE,
            mode: Mode::ESP_NOW,
            octets: 0,
            stage: Stage::Data,
            flies: false,
            slot: 0,
            ended: 0,
            passed: 0,
            lost: false,
            answers: false,
        }
    }
}

impl Burst {
    pub(crate) fn clear(&mut self, agreement: u32, mode: Mode) {
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

    /// How much of the queue it reaches into.
    pub(crate) fn span(&self) -> usize {
        self.places.last().map_or(0, |&last| last as usize + 1)
    }
}
