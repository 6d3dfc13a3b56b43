//! What goes before data: authentication, association, and the messages of the 4-way handshake.
//!
//! What nobody here knows (nonces, keys, codes over the message) is zero.

use super::Out;
use crate::wire::beacon;
use crate::wire::ieee80211::{FCS_LEN, FrameControl, HEADER_LEN, Header, append_fcs};
use crate::wire::mac::Mac;

/// A management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join<'a> {
    /// What it is.
    pub what: Joining,
    /// The retry bit.
    pub retry: bool,
    /// Microseconds.
    pub duration: u16,
    /// Address 1.
    pub receiver: Mac,
    /// Address 2.
    pub transmitter: Mac,
    /// Address 3.
    pub bssid: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Name of the network.
    pub ssid: &'a str,
    /// Whether it has a password.
    pub protected: bool,
}

/// What a management frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// A station looks for access points.
    ProbeRequest,
    /// An access point says that it is there.
    ProbeResponse {
        /// Its clock, microseconds.
        timestamp: u64,
        /// Time between beacons, in units of 1024 us.
        interval: u16,
        /// Its channel.
        channel: u8,
    },
    /// Authentication (9.3.3.11), open or SAE with group 19.
    Authentication {
        /// SAE.
        sae: bool,
        /// Transaction sequence number.
        number: u8,
    },
    /// A station wants to be associated (9.3.3.5).
    AssociationRequest,
    /// It is (9.3.3.6).
    AssociationResponse {
        /// As whom.
        aid: u16,
    },
    /// Either side ends it all (9.3.3.12).
    Deauthentication,
}

impl Joining {
    const fn control(self) -> FrameControl {
        FrameControl(match self {
            Self::AssociationRequest => 0x0000,
            Self::AssociationResponse { .. } => 0x0010,
            Self::ProbeRequest => 0x0040,
            Self::ProbeResponse { .. } => 0x0050,
            Self::Authentication { .. } => 0x00B0,
            Self::Deauthentication => 0x00C0,
        })
    }
}

impl Join<'_> {
    /// Writes a frame of `octets` octets with its FCS and gives its length; `None` if `buf` is too
    /// short. What is left of it after its fields and elements is filled with a vendor's.
    pub fn emit(&self, octets: usize, buf: &mut [u8]) -> Option<usize> {
        let header = Header {
            control: self.what.control().with_retry(self.retry),
            duration: self.duration,
            receiver: self.receiver,
            transmitter: self.transmitter,
            bssid: self.bssid,
            sequence: self.sequence & 0x0FFF,
            fragment: 0,
        };
        let mut out = Out { buf, at: 0 };
        out.put(&header.emit())?;
        self.fields(&mut out)?;
        let at = out.at;
        let end = octets.saturating_sub(FCS_LEN).max(at);
        let rest = buf.get_mut(at..end)?;
        let used = match self.what {
            Joining::Authentication { .. } | Joining::Deauthentication => {
                rest.fill(0);
                rest.len()
            }
            Joining::AssociationResponse { .. } => {
                let used = beacon::rates(rest);
                used + beacon::fill(rest.get_mut(used..)?)
            }
            Joining::AssociationRequest | Joining::ProbeRequest | Joining::ProbeResponse { .. } => {
                let channel = match self.what {
                    Joining::ProbeResponse { channel, .. } => Some(channel),
                    _ => None,
                };
                let used = beacon::describe(self.ssid, channel, self.protected, rest);
                used + beacon::fill(rest.get_mut(used..)?)
            }
        };
        append_fcs(buf, at + used)
    }

    /// The fields before the elements.
    fn fields(&self, out: &mut Out<'_>) -> Option<()> {
        let capabilities = 0x0421_u16 | if self.protected { 0x0010 } else { 0 };
        match self.what {
            Joining::ProbeRequest => Some(()),
            Joining::ProbeResponse { timestamp, interval, .. } => {
                out.put(&timestamp.to_le_bytes())?;
                out.put(&interval.to_le_bytes())?;
                out.put(&capabilities.to_le_bytes())
            }
            Joining::Authentication { sae, number } => {
                // Algorithm, number, status 0; of SAE's Commit the group, of its Confirm a counter
                // (9.4.1.1, 9.4.1.37, 9.4.1.42).
                out.put(&[if sae { 3 } else { 0 }, 0, number, 0, 0, 0])?;
                match (sae, number) {
                    (true, 1) => out.put(&[19, 0]),
                    (true, _) => out.put(&[1, 0]),
                    _ => Some(()),
                }
            }
            Joining::AssociationRequest => {
                out.put(&capabilities.to_le_bytes())?;
                // A listen interval of 3, as ESP-IDF's default.
                out.put(&[3, 0])
            }
            Joining::AssociationResponse { aid } => {
                out.put(&capabilities.to_le_bytes())?;
                out.put(&[0, 0])?;
                out.put(&(0xC000 | aid).to_le_bytes())
            }
            // 3: the sender leaves (Table 9-49).
            Joining::Deauthentication => out.put(&[3, 0]),
        }
    }

    /// Octets of a header and an FCS.
    pub const AROUND: usize = HEADER_LEN + FCS_LEN;
}

/// A message of the 4-way handshake (12.7.6) as an EAPOL packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eapol {
    /// Which, from 1 to 4.
    pub message: u8,
}

impl Eapol {
    /// Octets without key data.
    pub const LEAST: usize = 99;

    /// Writes a packet of `octets` octets, of which those after [`Eapol::LEAST`] are key data, and
    /// gives its length; `None` if `buf` is too short, or `octets` too few.
    pub fn emit(self, octets: usize, buf: &mut [u8]) -> Option<usize> {
        let data = octets.checked_sub(Self::LEAST)?;
        // Key descriptor version 2; pairwise 8, install 40, ack 80, MIC 100, secure 200,
        // encrypted data 1000 (12.7.2).
        let information: u16 = match self.message {
            1 => 0x008A,
            2 => 0x010A,
            3 => 0x13CA,
            _ => 0x030A,
        };
        let out = buf.get_mut(..octets)?;
        out.fill(0);
        let mut out = Out { buf: out, at: 0 };
        // IEEE Std 802.1X-2020, 11.3: version 2, a key, its length.
        out.put(&[2, 3])?;
        out.put(&((octets - 4) as u16).to_be_bytes())?;
        // RSN key descriptor; a key of 16 octets; replay counter.
        out.put(&[2])?;
        out.put(&information.to_be_bytes())?;
        out.put(&16_u16.to_be_bytes())?;
        out.put(&u64::from(self.message.div_ceil(2)).to_be_bytes())?;
        // Nonce, IV, RSC, an identifier, the MIC.
        out.at += 32 + 16 + 8 + 8 + 16;
        out.put(&(data as u16).to_be_bytes())?;
        let key_data = out.buf.get_mut(Self::LEAST..)?;
        match self.message {
            1 if data >= 6 => {
                key_data[..2].copy_from_slice(&[0xDD, (data - 2) as u8]);
                key_data[2..6].copy_from_slice(&[0, 0x0F, 0xAC, 4]);
            }
            2 => drop(beacon::security(key_data)),
            _ => {}
        }
        Some(octets)
    }
}
