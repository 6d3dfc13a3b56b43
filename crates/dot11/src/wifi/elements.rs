//! The lengths of the bodies of management and EAPOL frames: the sums of their fields and elements,
//! as ESP-IDF and common routers send them.

use super::config::{Capabilities, WifiSecurity};
use super::frame::Subtype;
use super::octets::{Encapsulation, HEADER, management};

/// Element ID and Length (9.4.2.1).
const ELEMENT: u32 = 2;
/// Supported Rates with eight rates (9.4.2.3), and Extended Supported Rates with the four others of
/// an ERP station (9.4.2.13).
const RATES: u32 = ELEMENT + 8 + ELEMENT + 4;
/// DSSS Parameter Set: the channel (9.4.2.4).
const CHANNEL: u32 = ELEMENT + 1;
/// Country, with one triplet (9.4.2.9).
const COUNTRY: u32 = ELEMENT + 6;
/// ERP (9.4.2.12).
const ERP: u32 = ELEMENT + 1;
/// HT Capabilities (9.4.2.55).
const HT_CAPABILITIES: u32 = ELEMENT + 26;
/// HT Operation (9.4.2.56).
const HT_OPERATION: u32 = ELEMENT + 22;
/// Extended Capabilities (9.4.2.26).
const EXTENDED_CAPABILITIES: u32 = ELEMENT + 8;
/// The WMM elements of a station and of an access point (Wi-Fi Alliance, WMM Specification 1.2,
/// 2.2.1 and 2.2.2).
const WMM_INFORMATION: u32 = ELEMENT + 7;
const WMM_PARAMETERS: u32 = ELEMENT + 24;
/// TIM without its bitmap (9.4.2.5).
const TIM: u32 = ELEMENT + 3;

/// Returns the octets of the RSNE (9.4.2.24): version, group cipher, one pairwise cipher, one AKM,
/// capabilities; with protected management frames also an empty list of PMKIDs and a group
/// management cipher.
const fn rsn(security: WifiSecurity) -> u32 {
    match security {
        WifiSecurity::Open => 0,
        WifiSecurity::Wpa2 => ELEMENT + 2 + 4 + 6 + 6 + 2,
        WifiSecurity::Wpa3 => ELEMENT + 2 + 4 + 6 + 6 + 2 + 2 + 4,
    }
}

const fn when(there: bool, octets: u32) -> u32 {
    if there { octets } else { 0 }
}

/// An EAPOL-Key frame without key data: EAPOL header (IEEE Std 802.1X-2020, 11.3), descriptor type,
/// information, lengths, counter, nonce, IV, RSC, and a MIC of 16 octets (12.7.2).
const KEY: u32 = 4 + 95;
/// Key data encapsulations (12.7.2, Table 12-9): PMKID, GTK, IGTK.
const PMKID_KDE: u32 = 22;
const GTK_KDE: u32 = 6 + 2 + 16;
const IGTK_KDE: u32 = 6 + 8 + 16;

/// Returns the octets of key data encrypted with AES key wrap (RFC 3394): whole blocks of 8, and
/// one more.
const fn wrapped(data: u32) -> u32 {
    data.div_ceil(8) * 8 + 8
}

/// Returns the octets of the frames that are sent until a station is in a network, in their order:
/// the probe request, which goes to all, and its answer; authentication, association, keys. All go
/// at a basic rate.
pub fn joining(
    security: WifiSecurity,
    capabilities: Capabilities,
    ssid_octets: u8,
) -> impl Iterator<Item = u32> {
    let sae = security == WifiSecurity::Wpa3;
    let authentication = move |sequence| Subtype::Authentication { sae, sequence };
    let key = move |message| Subtype::Eapol { message, qos: capabilities.qos };
    // SAE has each of the two messages from both sides.
    let authentications = if sae { [1, 1, 2, 2].as_slice() } else { [1, 2].as_slice() };
    let keys = if security.encrypts() { [1, 2, 3, 4].as_slice() } else { [].as_slice() };
    let elements = Elements { security, capabilities, ssid_octets };
    [Subtype::ProbeRequest, Subtype::ProbeResponse]
        .into_iter()
        .chain(authentications.iter().map(move |it| authentication(*it)))
        .chain([Subtype::AssociationRequest, Subtype::AssociationResponse])
        .chain(keys.iter().map(move |it| key(*it)))
        .map(move |subtype| elements.frame(subtype))
}

/// The capabilities and security that two ends announce to each other before data flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    pub(super) security: WifiSecurity,
    pub(super) capabilities: Capabilities,
    pub(super) ssid_octets: u8,
}

/// Returns the octets of a beacon from its MAC header to the end of the TIM, whose partial virtual
/// bitmap has so many octets. Elements come in the order of Table 9-32 (9.3.3.2): timestamp, beacon
/// interval and capabilities, then SSID, Supported Rates, DSSS Parameter Set and TIM.
pub(super) const fn up_to_tim(ssid_octets: u8, bitmap: u32) -> u32 {
    let ssid = ELEMENT + if ssid_octets < 32 { ssid_octets as u32 } else { 32 };
    HEADER + 8 + 2 + 2 + ssid + ELEMENT + 8 + CHANNEL + TIM + bitmap
}

impl Elements {
    /// Returns the octets of a frame with such a body.
    pub(super) const fn frame(self, subtype: Subtype) -> u32 {
        match subtype {
            Subtype::Eapol { qos, .. } => {
                Encapsulation { qos, protected: false }.data(self.body(subtype))
            }
            _ => management(self.body(subtype)),
        }
    }

    /// Returns the octets of the body of a management frame, or of an EAPOL frame as a packet. The
    /// beacon's is without its partial virtual bitmap.
    pub(super) const fn body(self, subtype: Subtype) -> u32 {
        let ht = self.capabilities.ht;
        let ssid = ELEMENT + if self.ssid_octets < 32 { self.ssid_octets as u32 } else { 32 };
        // Timestamp, Beacon Interval, Capability Information (9.3.3.2).
        let announcement = 8
            + 2
            + 2
            + ssid
            + RATES
            + CHANNEL
            + COUNTRY
            + ERP
            + rsn(self.security)
            + when(ht, HT_CAPABILITIES + HT_OPERATION)
            + EXTENDED_CAPABILITIES
            + when(self.capabilities.qos, WMM_PARAMETERS);
        match subtype {
            Subtype::Beacon => announcement + TIM,
            Subtype::ProbeResponse => announcement,
            Subtype::ProbeRequest => ssid + RATES + CHANNEL + when(ht, HT_CAPABILITIES),
            // Algorithm, transaction sequence number, status (9.3.3.11); with SAE and group 19 the
            // group, a scalar and an element, or a counter and a confirmation (9.4.1.38 to 42).
            Subtype::Authentication { sae: false, .. } => 6,
            Subtype::Authentication { sae: true, sequence: 1 } => 6 + 2 + 32 + 64,
            Subtype::Authentication { .. } => 6 + 2 + 32,
            // Capability Information, Listen Interval (9.3.3.5).
            Subtype::AssociationRequest => {
                2 + 2
                    + ssid
                    + RATES
                    + rsn(self.security)
                    + when(ht, HT_CAPABILITIES)
                    + when(self.capabilities.qos, WMM_INFORMATION)
            }
            // Capability Information, Status Code, AID (9.3.3.6).
            Subtype::AssociationResponse => {
                2 + 2
                    + 2
                    + RATES
                    + when(ht, HT_CAPABILITIES + HT_OPERATION)
                    + when(self.capabilities.qos, WMM_PARAMETERS)
            }
            // A reason code (9.3.3.12).
            Subtype::Deauthentication => 2,
            Subtype::Eapol { message, .. } => self.key_frame(message),
            Subtype::Data { .. } | Subtype::Null { .. } | Subtype::PsPoll => 0,
        }
    }

    /// Returns the octets of a message of the 4-way handshake (12.7.6).
    const fn key_frame(self, message: u8) -> u32 {
        let rsn = rsn(self.security);
        match message {
            1 => KEY + PMKID_KDE,
            2 => KEY + rsn,
            3 => {
                let igtk = matches!(self.security, WifiSecurity::Wpa3);
                KEY + wrapped(rsn + GTK_KDE + when(igtk, IGTK_KDE))
            }
            _ => KEY,
        }
    }
}

/// Returns the octets of the partial virtual bitmap of a TIM (9.4.2.5.1): at least one; whole
/// octets from an even one on to the last that is not zero.
pub(super) fn tim_bitmap(bits: &[u64]) -> u32 {
    let octet = |(word, bit): (usize, u32)| (word as u32) * 8 + bit / 8;
    let some = |(_, word): &(usize, &u64)| **word != 0;
    let mut words = bits.iter().enumerate();
    let Some((at, word)) = words.clone().find(some) else { return 1 };
    let first = octet((at, word.trailing_zeros()));
    let (at, word) = words.rfind(some).unwrap_or((at, word));
    let last = octet((at, 63 - word.leading_zeros()));
    last - (first & !1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_long_as_in_captures() {
        let of =
            |security| Elements { security, capabilities: Capabilities::default(), ssid_octets: 8 };
        // The key frames of WPA2-Personal have these octets in every capture: 121, 121, 155, 99.
        let key = |security, message| of(security).body(Subtype::Eapol { message, qos: true });
        assert_eq!([1, 2, 3, 4].map(|it| key(WifiSecurity::Wpa2, it)), [121, 121, 155, 99]);
        assert_eq!(key(WifiSecurity::Wpa3, 3), 99 + 88 + 8);
        // SAE with group 19: 98 and 34 octets after the fixed fields.
        let sae =
            |sequence| of(WifiSecurity::Wpa3).body(Subtype::Authentication { sae: true, sequence });
        assert_eq!([sae(1), sae(2)], [104, 40]);
        let beacon = of(WifiSecurity::Wpa2).body(Subtype::Beacon);
        assert!((160..220).contains(&beacon), "{beacon}");
        let plain = Capabilities { ht: false, qos: false };
        let plain = Elements { capabilities: plain, ..of(WifiSecurity::Open) };
        assert!(plain.body(Subtype::Beacon) < beacon - 90);
        // 24 octets of header, 12 fixed, elements of 10, 10, 3 and 6 octets.
        assert_eq!(up_to_tim(8, 1), 65);
        assert!(up_to_tim(32, 251) < management(beacon + 24 + 251));
    }

    #[test]
    fn a_bitmap_is_cut_at_both_ends() {
        assert_eq!(tim_bitmap(&[]), 1);
        assert_eq!(tim_bitmap(&[0, 0]), 1);
        assert_eq!(tim_bitmap(&[1 << 1]), 1);
        assert_eq!(tim_bitmap(&[1 << 8]), 2, "from an even octet on");
        assert_eq!(tim_bitmap(&[1 << 16]), 1);
        assert_eq!(tim_bitmap(&[1 << 16, 1 << 63]), 14);
    }
}
