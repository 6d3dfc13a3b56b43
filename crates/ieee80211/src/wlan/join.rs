//! The frames by which a station joins a network: probes, authentication, association, and the
//! messages of the 4-way handshake.
//!
//! Fields whose value the lab does not model (nonces, keys, the MIC) are zero.

use super::FrameWriter;
use crate::beacon;
use crate::mac::Mac;
use crate::mpdu::{FCS_LEN, FrameControl, HEADER_LEN, MacHeader, append_fcs};

/// A management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagementFrame<'a> {
    /// Kind of frame, with the fields that only this kind has.
    pub what: ManagementKind,
    /// Retry bit.
    pub retry: bool,
    /// Duration in microseconds.
    pub duration: u16,
    /// Receiver, address 1.
    pub receiver: Mac,
    /// Transmitter, address 2.
    pub transmitter: Mac,
    /// BSSID, address 3.
    pub bssid: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Name of the network.
    pub ssid: &'a str,
    /// Whether the network has a password.
    pub protected: bool,
}

/// Kind of a management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementKind {
    /// Probe request: a station looks for access points (9.3.3.9).
    ProbeRequest,
    /// Probe response of an access point (9.3.3.10).
    ProbeResponse {
        /// Clock of the access point, in microseconds.
        timestamp: u64,
        /// Time between beacons, in units of 1024 us.
        interval: u16,
        /// Channel of the access point.
        channel: u8,
    },
    /// Authentication (9.3.3.11), open system or SAE with group 19.
    Authentication {
        /// Whether the algorithm is SAE.
        sae: bool,
        /// Transaction sequence number.
        number: u8,
    },
    /// Association request (9.3.3.5).
    AssociationRequest,
    /// Association response (9.3.3.6) of status success.
    AssociationResponse {
        /// Association identifier of the station.
        aid: u16,
    },
    /// Deauthentication (9.3.3.12).
    Deauthentication,
}

impl ManagementKind {
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

impl ManagementFrame<'_> {
    /// Writes a frame of `octets` octets with its FCS and returns its length; `None` if `buf` is
    /// too short. A vendor-specific element fills the octets behind the fields and elements.
    pub fn emit(&self, octets: usize, buf: &mut [u8]) -> Option<usize> {
        let header = MacHeader {
            control: self.what.control().with_retry(self.retry),
            duration: self.duration,
            receiver: self.receiver,
            transmitter: self.transmitter,
            bssid: self.bssid,
            sequence: self.sequence & 0x0FFF,
            fragment: 0,
        };
        let mut out = FrameWriter { buf, at: 0 };
        out.put(&header.emit())?;
        self.fields(&mut out)?;
        let at = out.at;
        let end = octets.saturating_sub(FCS_LEN).max(at);
        let rest = buf.get_mut(at..end)?;
        let used = match self.what {
            ManagementKind::Authentication { .. } | ManagementKind::Deauthentication => {
                rest.fill(0);
                rest.len()
            }
            ManagementKind::AssociationResponse { .. } => {
                let used = beacon::rates(rest);
                used + beacon::fill(rest.get_mut(used..)?)
            }
            ManagementKind::AssociationRequest
            | ManagementKind::ProbeRequest
            | ManagementKind::ProbeResponse { .. } => {
                let channel = match self.what {
                    ManagementKind::ProbeResponse { channel, .. } => Some(channel),
                    _ => None,
                };
                let used = beacon::describe(self.ssid, channel, self.protected, rest);
                used + beacon::fill(rest.get_mut(used..)?)
            }
        };
        append_fcs(buf, at + used)
    }

    /// Writes the fields before the elements.
    fn fields(&self, out: &mut FrameWriter<'_>) -> Option<()> {
        let capabilities = 0x0421_u16 | if self.protected { 0x0010 } else { 0 };
        match self.what {
            ManagementKind::ProbeRequest => Some(()),
            ManagementKind::ProbeResponse { timestamp, interval, .. } => {
                out.put(&timestamp.to_le_bytes())?;
                out.put(&interval.to_le_bytes())?;
                out.put(&capabilities.to_le_bytes())
            }
            ManagementKind::Authentication { sae, number } => {
                // Algorithm, transaction number, status 0; then the group of an SAE Commit, or the
                // send-confirm counter of an SAE Confirm (9.4.1.1, 9.4.1.37, 9.4.1.42).
                out.put(&[if sae { 3 } else { 0 }, 0, number, 0, 0, 0])?;
                match (sae, number) {
                    (true, 1) => out.put(&[19, 0]),
                    (true, _) => out.put(&[1, 0]),
                    _ => Some(()),
                }
            }
            ManagementKind::AssociationRequest => {
                out.put(&capabilities.to_le_bytes())?;
                // The listen interval is 3, as ESP-IDF's default.
                out.put(&[3, 0])
            }
            ManagementKind::AssociationResponse { aid } => {
                out.put(&capabilities.to_le_bytes())?;
                out.put(&[0, 0])?;
                out.put(&(0xC000 | aid).to_le_bytes())
            }
            // Reason 3: the sender leaves (Table 9-49).
            ManagementKind::Deauthentication => out.put(&[3, 0]),
        }
    }

    /// Octets of a header and an FCS.
    pub const AROUND: usize = HEADER_LEN + FCS_LEN;
}

/// A message of the 4-way handshake (12.7.6) as an EAPOL packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eapol {
    /// Number of the message, from 1 to 4.
    pub message: u8,
}

impl Eapol {
    /// Octets of a packet without key data.
    pub const LEAST: usize = 99;

    /// Writes a packet of `octets` octets and returns its length; the octets after [`Eapol::LEAST`]
    /// are key data. Returns `None` if `buf` is too short, or `octets` too few.
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
        let mut out = FrameWriter { buf: out, at: 0 };
        // IEEE Std 802.1X-2020, 11.3: version 2, packet type 3 (key), length.
        out.put(&[2, 3])?;
        out.put(&((octets - 4) as u16).to_be_bytes())?;
        // RSN key descriptor; key of 16 octets; replay counter.
        out.put(&[2])?;
        out.put(&information.to_be_bytes())?;
        out.put(&16_u16.to_be_bytes())?;
        out.put(&u64::from(self.message.div_ceil(2)).to_be_bytes())?;
        // Nonce, IV, RSC, a reserved field, the MIC.
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
