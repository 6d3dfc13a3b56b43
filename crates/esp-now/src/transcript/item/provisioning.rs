//! Lines of `provisioning`, both roles (reference, section 7.6).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// A line about provisioning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisioningLine<'a> {
    /// `Start provisioning`: this device wants credentials.
    Start,
    /// `Already start provisioning`
    AlreadyStarted,
    /// `MAC: <MAC>, … Product_id: %s, DeviceLine Name: %s`: a holder of credentials was heard.
    Holder(ProvisioningPeer, Product<'a>),
    /// `MAC: <MAC>, … wifi_mode: %d, ssid: %s, password: %s, token: %s`
    Credentials {
        /// Sender, and how it was heard.
        from: ProvisioningPeer,
        /// Wi-Fi mode, `wifi_mode_t`.
        mode: i32,
        /// Name of the network.
        ssid: &'a str,
        /// Password of the network.
        password: &'a str,
        /// Token for the device's cloud.
        token: &'a str,
    },
    /// `provisioning initiator exit`: this device has stopped wanting credentials.
    Exit,
    /// `Find provisioning devices`: this device has credentials.
    Finding,
    /// `Add device to the network: %s`
    Adding(&'a str),
    /// `NUM: %d, MAC: <MAC>, …`: a device asked for credentials.
    Device {
        /// Number of the device.
        num: u32,
        /// Device, and how it was heard.
        from: ProvisioningPeer,
        /// Product and name of the device.
        product: Product<'a>,
        /// Authentication mode, `wifi_auth_mode_t`.
        auth_mode: i32,
        /// Secret of the device.
        secret: &'a str,
    },
    /// W `Please set wifi ssid and password`
    NoCredentials,
    /// `Responder beacon start, timer: %ds`
    BeaconStart {
        /// Duration in seconds.
        seconds: u32,
    },
    /// `Responder beacon end`
    BeaconEnd,
}

/// `MAC: <MAC>, Channel: %d, RSSI: %d`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvisioningPeer {
    /// Address of the device.
    pub mac: Mac,
    /// Channel.
    pub channel: u8,
    /// Signal strength, dBm.
    pub rssi: i16,
}

/// `Product_id: %s, DeviceLine Name: %s`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product<'a> {
    /// Name of the product.
    pub id: &'a str,
    /// Name of the device.
    pub name: &'a str,
}

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<ProvisioningLine<'a>> {
    device(line.text).or_else(|| command(line.text)).or_else(|| heard_line(line.text))
}

fn provisioning_peer(s: &mut LineCursor<'_>) -> Option<ProvisioningPeer> {
    s.lit("MAC: ")?;
    let mac = s.mac()?;
    s.lit(", Channel: ")?;
    let channel = s.int()?;
    s.lit(", RSSI: ")?;
    Some(ProvisioningPeer { mac, channel, rssi: s.int()? })
}

fn device(text: &str) -> Option<ProvisioningLine<'_>> {
    let mut s = LineCursor::new(text);
    s.lit("NUM: ")?;
    let num = s.int()?;
    s.lit(", ")?;
    let from = provisioning_peer(&mut s)?;
    s.lit(", Product_id:")?;
    let id = s.until(", Device Name:")?.trim_start();
    let name = s.until_last(", Auth Mode: ")?.trim_start();
    // The rest begins after the last of these words, so a name may contain them.
    let auth_mode = s.int()?;
    s.lit(", device_secret:")?;
    let (product, secret) = (Product { id, name }, s.rest().trim_start());
    Some(ProvisioningLine::Device { num, from, product, auth_mode, secret })
}

fn heard_line(text: &str) -> Option<ProvisioningLine<'_>> {
    let mut s = LineCursor::new(text);
    let from = provisioning_peer(&mut s)?;
    if s.maybe(", wifi_mode: ") {
        let mode = s.int()?;
        s.lit(", ssid:")?;
        let ssid = s.until(", password:")?.trim_start();
        let password = s.until_last(", token:")?.trim_start();
        let token = s.rest().trim_start();
        return Some(ProvisioningLine::Credentials { from, mode, ssid, password, token });
    }
    s.lit(", Product_id:")?;
    let id = s.until(", Device Name:")?.trim_start();
    Some(ProvisioningLine::Holder(from, Product { id, name: s.rest().trim_start() }))
}

fn command(text: &str) -> Option<ProvisioningLine<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Start provisioning") {
        ProvisioningLine::Start
    } else if s.maybe("Already start provisioning") {
        ProvisioningLine::AlreadyStarted
    } else if s.maybe("provisioning initiator exit") {
        ProvisioningLine::Exit
    } else if s.maybe("Find provisioning devices") {
        ProvisioningLine::Finding
    } else if s.maybe("Add device to the network:") {
        ProvisioningLine::Adding(s.rest().trim_start())
    } else if s.maybe("Please set wifi ssid and password") {
        ProvisioningLine::NoCredentials
    } else if s.maybe("Responder beacon start, timer: ") {
        let seconds = s.int()?;
        s.lit("s")?;
        ProvisioningLine::BeaconStart { seconds }
    } else {
        s.lit("Responder beacon end")?;
        ProvisioningLine::BeaconEnd
    };
    s.end()?;
    Some(found)
}
