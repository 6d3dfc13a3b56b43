//! Provisioning: handing Wi-Fi credentials to devices (`espnow_prov.h`, `espnow_prov.c` of the
//! component; section 5 of the protocol reference).
//!
//! BEACON, from the holder of the credentials, 33 bytes:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 0 |
//! | 1 | 16 | product id, zero padded |
//! | 17 | 16 | device name |
//!
//! DEVICE, from a device that wants them. As long as a WIFI message without custom data, since the
//! component sends the whole union; what it leaves uninitialised is zero here:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 1 |
//! | 1 | 16 | product id |
//! | 17 | 16 | device name |
//! | 33 | 4 | authentication mode: 0 invalid, 1 product, 2 device, 3 certificate; not interpreted |
//! | 37 | 32 | secret |
//! | 69 | 1 | length of custom data |
//! | 70 | … | custom data |
//!
//! WIFI, the answer. The configuration is ESP-IDF's C structure as it lies in memory, so lengths
//! and offsets after it follow the release of ESP-IDF, `s` being [`sta_config_len`]:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 2 |
//! | 1 | 4 | Wi-Fi mode (`wifi_mode_t`) |
//! | 5 | 32 | SSID |
//! | 37 | 64 | password |
//! | 101 | 4 | scan method (`wifi_scan_method_t`), of a station |
//! | 105 | … | more of the structure; zeros |
//! | 5 + s | 32 | token |
//! | 37 + s | 1 | length of custom data |
//! | 38 + s | … | custom data |
//!
//! SSID and password stand at the same place in all releases, and in the configuration of an
//! access point too; nothing beyond them is believed in a message of another length.

use super::compat::{Compat, Idf};
use core::fmt::{self, Write};
use heapless::Vec;
use zeroize::Zeroize;

/// Length of a BEACON, in bytes.
pub const BEACON_LEN: usize = 33;
/// Greatest length of custom data (`ESPNOW_PROV_CUSTOM_MAX_SIZE`, which the component does not
/// enforce).
pub const CUSTOM_MAX: usize = 64;
/// Length of a DEVICE before its custom data, in bytes.
const DEVICE_HEAD: usize = 70;
/// Length of a WIFI up to the end of the password, in bytes.
const WIFI_HEAD: usize = 101;
/// Scan method `WIFI_ALL_CHANNEL_SCAN`, which the console's command sets.
pub const ALL_CHANNEL_SCAN: u32 = 1;

/// Returns the length of `wifi_sta_config_t` in a release of ESP-IDF, in bytes. The union with the
/// configuration of an access point has the same length.
#[must_use]
pub const fn sta_config_len(idf: Idf) -> usize {
    match idf {
        Idf::V4_4 => 132,
        Idf::V5_0 => 136,
        Idf::V5_0_8 => 140,
        Idf::V5_1 => 180,
        Idf::V5_4 | Idf::V5_4_2 => 184,
    }
}

/// Returns the length of a WIFI without custom data, and of every DEVICE, in bytes.
#[must_use]
pub const fn wifi_len(compat: Compat) -> usize {
    38 + sta_config_len(compat.idf)
}

/// Zero-padded text of a fixed field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedText<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for FixedText<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> FixedText<N> {
    /// Builds the text, if it fits. A text may fill the whole field: no room is kept for a zero.
    #[must_use]
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut field = [0; N];
        field.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self(field))
    }

    /// Returns the field at `offset`.
    fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        bytes.get(offset..)?.first_chunk().copied().map(Self)
    }

    /// Returns the bytes up to the first zero.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

impl<const N: usize> fmt::Display for FixedText<N> {
    /// Writes the text as `%s` prints it, but never beyond the field; control characters become
    /// `?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                f.write_char(if c.is_control() { '?' } else { c })?;
            }
            if !chunk.invalid().is_empty() {
                f.write_char('?')?;
            }
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Debug for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl<const N: usize> Zeroize for FixedText<N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Custom data of a message.
pub type Custom = Vec<u8, CUSTOM_MAX>;

/// Product and name of a device, or of the holder in its beacons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProvIdentity {
    /// Product id.
    pub product_id: FixedText<16>,
    /// Device name.
    pub device_name: FixedText<16>,
}

impl ProvIdentity {
    fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        let product_id = FixedText::at(bytes, offset)?;
        Some(Self { product_id, device_name: FixedText::at(bytes, offset.checked_add(16)?)? })
    }

    fn put(&self, bytes: &mut [u8], offset: usize) -> Option<()> {
        put(bytes, offset, &self.product_id.0)?;
        put(bytes, offset.checked_add(16)?, &self.device_name.0)
    }
}

/// Request of a device that wants credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvDevice {
    /// Product id and name.
    pub identity: ProvIdentity,
    /// Authentication mode; not interpreted.
    pub auth_mode: u32,
    /// Secret, for the holder to judge.
    pub secret: FixedText<32>,
    /// Custom data.
    pub custom: Custom,
}

/// Credentials of a network. The password is wiped when dropped and never shown by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct WifiCredentials {
    /// Wi-Fi mode, `wifi_mode_t`: 1 station, 2 access point. The console's command leaves 0.
    pub mode: u32,
    /// Name of the network.
    pub ssid: FixedText<32>,
    /// Password of the network.
    pub password: FixedText<64>,
    /// Scan method, `wifi_scan_method_t`.
    pub scan_method: u32,
    /// Token; not interpreted.
    pub token: FixedText<32>,
    /// Custom data.
    pub custom: Custom,
}

impl WifiCredentials {
    /// Returns the credentials of a network, with every other field zero.
    #[must_use]
    pub const fn new(ssid: FixedText<32>, password: FixedText<64>) -> Self {
        let token = FixedText([0; 32]);
        Self { mode: 0, ssid, password, scan_method: 0, token, custom: Vec::new() }
    }
}

impl fmt::Debug for WifiCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wifi {{ mode: {}, ssid: {:?}, … }}", self.mode, self.ssid)
    }
}

impl Drop for WifiCredentials {
    fn drop(&mut self) {
        self.password.zeroize();
        self.token.zeroize();
    }
}

/// A provisioning message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvMessage {
    /// Beacon of the holder of the credentials.
    Beacon(ProvIdentity),
    /// Request of a device.
    Device(ProvDevice),
    /// Credentials, the answer of the holder.
    Wifi(WifiCredentials),
}

impl ProvMessage {
    /// Parses a message as a node of that build understands it; `None` if it is none, or is too
    /// short for its fields. Custom data that is shorter than announced, or too long, counts as
    /// none.
    #[must_use]
    pub fn parse(payload: &[u8], compat: Compat) -> Option<Self> {
        Some(match payload.first()? {
            0 => Self::Beacon(ProvIdentity::at(payload, 1)?),
            1 => Self::Device(ProvDevice {
                identity: ProvIdentity::at(payload, 1)?,
                auth_mode: number(payload, 33)?,
                secret: FixedText::at(payload, 37)?,
                custom: custom(payload, DEVICE_HEAD - 1)?,
            }),
            2 => Self::Wifi(wifi(payload, compat)?),
            _ => return None,
        })
    }

    /// Writes the message and returns its length; `None` if `buf` is too short.
    pub fn emit(&self, buf: &mut [u8], compat: Compat) -> Option<usize> {
        let len = match self {
            Self::Beacon(_) => BEACON_LEN,
            Self::Device(_) => wifi_len(compat),
            Self::Wifi(wifi) => wifi_len(compat).checked_add(wifi.custom.len())?,
        };
        let out = buf.get_mut(..len)?;
        out.fill(0);
        match self {
            Self::Beacon(identity) => identity.put(out, 1)?,
            Self::Device(device) => {
                put(out, 0, &[1])?;
                device.identity.put(out, 1)?;
                put(out, 33, &device.auth_mode.to_le_bytes())?;
                put(out, 37, &device.secret.0)?;
                put_custom(out, DEVICE_HEAD - 1, &device.custom)?;
            }
            Self::Wifi(wifi) => {
                put(out, 0, &[2])?;
                put(out, 1, &wifi.mode.to_le_bytes())?;
                put(out, 5, &wifi.ssid.0)?;
                put(out, 37, &wifi.password.0)?;
                put(out, WIFI_HEAD, &wifi.scan_method.to_le_bytes())?;
                let token = 5 + sta_config_len(compat.idf);
                put(out, token, &wifi.token.0)?;
                put_custom(out, token + 32, &wifi.custom)?;
            }
        }
        Some(len)
    }
}

fn wifi(payload: &[u8], compat: Compat) -> Option<WifiCredentials> {
    let mut wifi = WifiCredentials::new(FixedText::at(payload, 5)?, FixedText::at(payload, 37)?);
    wifi.mode = number(payload, 1)?;
    let token = 5 + sta_config_len(compat.idf);
    let known = payload.get(token + 32).map(|&n| wifi_len(compat) + usize::from(n));
    if known == Some(payload.len()) {
        wifi.scan_method = number(payload, WIFI_HEAD)?;
        wifi.token = FixedText::at(payload, token)?;
        wifi.custom = custom(payload, token + 32)?;
    }
    Some(wifi)
}

fn number(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Returns the custom data whose length stands at `offset`.
fn custom(bytes: &[u8], offset: usize) -> Option<Custom> {
    let (&len, rest) = bytes.get(offset..)?.split_first()?;
    let data = rest.get(..usize::from(len)).unwrap_or_default();
    Some(Vec::from_slice(data).unwrap_or_default())
}

fn put(bytes: &mut [u8], offset: usize, field: &[u8]) -> Option<()> {
    bytes.get_mut(offset..)?.get_mut(..field.len())?.copy_from_slice(field);
    Some(())
}

fn put_custom(bytes: &mut [u8], offset: usize, data: &Custom) -> Option<()> {
    put(bytes, offset, &[data.len() as u8])?;
    put(bytes, offset + 1, data)
}

#[cfg(test)]
mod tests;
