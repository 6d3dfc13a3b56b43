//! Kinds of frames, and how they were sent.

use espbench_dot11::radio::{
    ChannelWidth, GuardInterval, He, HeFormat, HeGuard, Hr, Mcs, Ofdm, WifiMode,
};
use espbench_ieee80211::radiotap::{HeField, Radiotap};
use espbench_ieee80211::view::{MpduType, MpduView};
use espbench_measure::air::timeline::AirtimeKind;
use serde::Serialize;

/// EtherType of EAPOL.
pub(crate) const EAPOL: u16 = 0x888E;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameClass {
    /// Data of stations.
    Data,
    /// ESP-NOW.
    EspNow,
    /// Data frames without a body: a station says that it dozes, or that it is awake.
    Null,
    /// Messages of the 4-way handshake and of 802.1X.
    Eapol,
    /// Beacons.
    Beacon,
    /// Probe requests and responses.
    Probe,
    /// Authentication, association, disassociation and deauthentication.
    Join,
    /// Other management frames.
    Management,
    /// Acknowledgements.
    Ack,
    /// Block acknowledgements and requests for them.
    BlockAck,
    /// RTS and CTS.
    Clearance,
    /// Other control frames, PS-Poll among them.
    Control,
}

impl FrameClass {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::Data,
        Self::EspNow,
        Self::Null,
        Self::Eapol,
        Self::Beacon,
        Self::Probe,
        Self::Join,
        Self::Management,
        Self::Ack,
        Self::BlockAck,
        Self::Clearance,
        Self::Control,
    ];

    /// Returns the words for a table.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::EspNow => "ESP-NOW",
            Self::Null => "null (sleep)",
            Self::Eapol => "handshake",
            Self::Beacon => "beacons",
            Self::Probe => "probes",
            Self::Join => "joining and leaving",
            Self::Management => "other management",
            Self::Ack => "acknowledgements",
            Self::BlockAck => "block acknowledgements",
            Self::Clearance => "RTS and CTS",
            Self::Control => "other control",
        }
    }

    /// Returns the place in a course: 0 data, 1 control, 2 management.
    #[must_use]
    pub const fn lane(self) -> usize {
        match self {
            Self::Data | Self::EspNow | Self::Null | Self::Eapol => 0,
            Self::Ack | Self::BlockAck | Self::Clearance | Self::Control => 1,
            Self::Beacon | Self::Probe | Self::Join | Self::Management => 2,
        }
    }

    /// Returns the kind in a timeline.
    pub(crate) const fn airtime_kind(self) -> AirtimeKind {
        match self {
            Self::Data | Self::EspNow | Self::Eapol => AirtimeKind::Data,
            Self::Null => AirtimeKind::Null,
            Self::Beacon => AirtimeKind::Beacon,
            Self::Probe | Self::Join | Self::Management => AirtimeKind::Management,
            Self::Ack => AirtimeKind::Ack,
            Self::BlockAck => AirtimeKind::BlockAck,
            Self::Clearance | Self::Control => AirtimeKind::Clearance,
        }
    }

    /// Returns the kind of a frame; ESP-NOW is told by its content.
    #[must_use]
    pub fn of(view: &MpduView<'_>, is_esp_now: bool) -> Self {
        match (view.kind(), view.subtype()) {
            _ if is_esp_now => Self::EspNow,
            (MpduType::Management, 8) => Self::Beacon,
            (MpduType::Management, 4 | 5) => Self::Probe,
            (MpduType::Management, 0..=3 | 10..=12) => Self::Join,
            (MpduType::Management | MpduType::Extension, _) => Self::Management,
            (MpduType::Control, 13) => Self::Ack,
            (MpduType::Control, 8 | 9) => Self::BlockAck,
            (MpduType::Control, 11 | 12) => Self::Clearance,
            (MpduType::Control, _) => Self::Control,
            (MpduType::Data, _) if !view.has_msdu() => Self::Null,
            (MpduType::Data, _) => match view.packet() {
                Some((EAPOL, _)) => Self::Eapol,
                _ => Self::Data,
            },
        }
    }
}

/// Octets of an FCS.
const FCS: usize = 4;

/// Numbers that octets have in common with their copies, and hardly with others: of all of them, and of all but the last
/// four where these may be an FCS that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// Makes the numbers of octets of which an FCS was left out, or was not found.
    pub(crate) fn of(bytes: &[u8], had_fcs: bool) -> Self {
        // Of so few octets none can be spared: they would all be the same.
        let is_whole = had_fcs || bytes.len() <= FCS;
        let left = if is_whole { bytes.len() } else { bytes.len() - FCS };
        let all = fingerprint(bytes);
        Self([all, bytes.get(..left).filter(|it| it.len() < bytes.len()).map_or(all, fingerprint)])
    }

    /// Tells whether two are of the same octets.
    pub(crate) fn is_same(self, other: Self) -> bool {
        self.0.iter().any(|it| other.0.contains(it))
    }
}

fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    let sum = words.iter().fold(bytes.len() as u64, |sum, it| mix(sum, u64::from_le_bytes(*it)));
    let sum = mix(sum, u64::from_le_bytes(last));
    sum ^ sum >> 32
}

/// Returns the mode of a captured frame; `None` where the capture does not tell it, and for modes of more than one
/// stream.
#[must_use]
pub fn mode(radio: &Radiotap) -> Option<WifiMode> {
    if let Some(he) = radio.he {
        return he_mode(he);
    }
    if let Some(mcs) = radio.mcs {
        if mcs.known & 2 == 0 {
            return None;
        }
        let is_wide = mcs.known & 1 != 0 && mcs.flags & 3 == 1;
        let width = if is_wide { ChannelWidth::Mhz40 } else { ChannelWidth::Mhz20 };
        let short = mcs.known & 4 != 0 && mcs.flags & 4 != 0;
        let guard = if short { GuardInterval::Short } else { GuardInterval::Long };
        return Some(WifiMode::ht(Mcs::of(mcs.index)?, width, guard));
    }
    let rate = u32::from(radio.rate?);
    let short = radio.flags.unwrap_or_default() & Radiotap::SHORT_PREAMBLE != 0;
    let hr = |it: &&Hr| {
        let is_short = !matches!(it.preamble(), espbench_dot11::radio::Preamble::Long);
        it.half_mbit() == rate && (is_short == short || rate == 2)
    };
    if let Some(hr) = Hr::ALL.iter().find(hr) {
        return Some(WifiMode::Hr(*hr));
    }
    let ofdm = Ofdm::ALL.iter().find(|it| WifiMode::Ofdm(**it).kbit_s() == rate * 500);
    ofdm.map(|it| WifiMode::Ofdm(*it))
}

/// Returns the mode of radiotap's HE field, of frames for one user in 20 MHz.
fn he_mode(field: HeField) -> Option<WifiMode> {
    let [known, _, scheme, _, tones, _] = field.data;
    let guard = match tones >> 4 & 3 {
        0 => HeGuard::Us08,
        1 => HeGuard::Us16,
        _ => HeGuard::Us32,
    };
    let format = match (known & 3, tones & 0x0F) {
        (0, 0) => HeFormat::Su,
        (1, 6) => HeFormat::ErSu106,
        (1, _) => HeFormat::ErSu,
        _ => return None,
    };
    let dcm = scheme & 0x1000 != 0;
    He::of(field.mcs()?, guard, format, dcm).map(WifiMode::He)
}
