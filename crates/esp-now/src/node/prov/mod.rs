//! Provisioning: the holder of Wi-Fi credentials (`provisioning -i`), and a device that wants them
//! (`provisioning -r`). Section 5 of the protocol reference; `espnow_prov.c` and the command in
//! `cmd_espnow.c` of the component.
//!
//! The protocol calls the holder responder and the device initiator; the command's letters are the
//! other way round.
//!
//! | holder | device |
//! |---|---|
//! | every 100 ms a BEACON in ten copies, until its time is over | hops over the country's channels, 110 ms each, until it hears one |
//! | answers a DEVICE by WIFI, a broadcast in ten copies addressed to it | sends DEVICE once, and waits 3 s for WIFI |
//! | | repeats both until it has credentials, and stores them |
//!
//! # What is stored
//!
//! [`NvsKey::Wifi`], 96 bytes: the SSID in 32 and the password in 64, each zero padded, which is how
//! `wifi_sta_config_t` begins.
//!
//! # Where it differs from the component
//!
//! - DEVICE and WIFI carry zeros where the component sends uninitialised memory; custom data beyond
//!   the limit is neither read nor sent.
//! - An SSID or password that is too long is refused with a line; the component overruns its field.
//! - Text of a peer is printed up to its field's end and without control characters.
//! - Where ESP-IDF's structure makes DEVICE longer than a payload may be (5.4 and later under
//!   ESP-NOW v1.0), the send is refused, as in the component; nothing is sent in parts.
//! - A beacon that is late does not make up for those that were missed.

mod device;
mod holder;
#[cfg(test)]
mod tests;

use super::board::NvsKey;
use super::print::LogLevel;
use super::task::{Cx, EspNowEvent, Received, SendRequest, Task, TaskStep, TransmitOutcome};
use crate::component::prov::{
    ALL_CHANNEL_SCAN, FixedText, ProvIdentity, ProvMessage, WifiCredentials,
};
use crate::component::{DataType, FrameConfig};
use device::DeviceRole;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Duration;
use holder::HolderRole;

/// Log tag of the component.
const TAG: &str = "espnow_prov";
/// Log tag of the console's command.
const COMMAND_TAG: &str = "espnow_cmd";
/// Length of [`NvsKey::Wifi`], in bytes.
pub const STORED_LEN: usize = 96;
/// Greatest number of devices that wait for an answer of the holder.
pub const ASKED_MAX: usize = 16;

/// Reason why the holder was not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldError {
    /// The SSID is missing. The component prints so, and returns success.
    Missing,
    /// The SSID is longer than 32 bytes, or the password longer than 64.
    TooLong,
}

/// Role whose transmission is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProvRole {
    Holder,
    Device,
}

/// Provisioning of a node, in both roles.
#[derive(Debug)]
pub struct Prov {
    /// Identity of the node, in either role.
    pub identity: ProvIdentity,
    /// Number of DEVICE messages that were not answered because too many waited.
    pub dropped: u32,
    holder: HolderRole,
    device: DeviceRole,
    turn: ProvRole,
}

impl Default for Prov {
    fn default() -> Self {
        let mut product = [0; 16];
        // The console's command uses this product id.
        product[..11].copy_from_slice(b"debug_board");
        Self {
            identity: ProvIdentity {
                product_id: FixedText(product),
                device_name: FixedText::default(),
            },
            dropped: 0,
            holder: HolderRole::default(),
            device: DeviceRole::default(),
            turn: ProvRole::Holder,
        }
    }
}

impl Prov {
    /// Executes `provisioning -i <ms> [<ssid> [<password>]]`. A holder that is on continues with
    /// the new time and credentials. Run the part after it.
    pub fn hold(
        &mut self,
        cx: &mut Cx<'_>,
        ms: u32,
        ssid: Option<&[u8]>,
        password: &[u8],
    ) -> Result<(), HoldError> {
        let Some(ssid) = ssid else {
            cx.log(LogLevel::Warn, COMMAND_TAG, format_args!("Please set wifi ssid and password"));
            return Err(HoldError::Missing);
        };
        cx.log(LogLevel::Info, COMMAND_TAG, format_args!("Find provisioning devices"));
        let (Some(ssid), Some(password)) = (FixedText::new(ssid), FixedText::new(password)) else {
            let text = format_args!("ssid or password is too long: 32 and 64 bytes at most");
            cx.log(LogLevel::Error, COMMAND_TAG, text);
            return Err(HoldError::TooLong);
        };
        let mut wifi = WifiCredentials::new(ssid, password);
        wifi.scan_method = ALL_CHANNEL_SCAN;
        self.hold_wifi(cx, ms, wifi);
        cx.log(LogLevel::Info, COMMAND_TAG, format_args!("Add device to the network: {ssid}"));
        Ok(())
    }

    /// Hands these credentials out for `ms` milliseconds (`espnow_prov_responder_start`). Run the
    /// part after it.
    pub fn hold_wifi(&mut self, cx: &mut Cx<'_>, ms: u32, wifi: WifiCredentials) {
        self.holder.start(cx, ms, wifi);
    }

    /// Executes `provisioning -r`: looks for credentials until it has some. Run the part after it.
    ///
    /// As in the component, a device that has received them prints that it has already started,
    /// until it restarts.
    pub fn seek(&mut self, cx: &mut Cx<'_>) {
        if self.device.is_started() {
            cx.log(LogLevel::Info, COMMAND_TAG, format_args!("Already start provisioning"));
            return;
        }
        cx.log(LogLevel::Info, COMMAND_TAG, format_args!("Start provisioning"));
        self.device.scan(cx);
    }

    /// Executes `provisioning -e`: forgets the credentials and restarts.
    pub fn erase(&mut self, cx: &mut Cx<'_>) {
        cx.board.forget(NvsKey::Wifi);
        cx.event(EspNowEvent::Restart);
    }

    /// Returns whether the node hands out credentials.
    #[must_use]
    pub const fn is_holding(&self) -> bool {
        self.holder.is_on()
    }

    /// Returns whether the node looks for credentials.
    #[must_use]
    pub const fn is_seeking(&self) -> bool {
        self.device.is_seeking()
    }

    /// Takes a frame of type PROV. Run the part after it. Answers wait in a queue of [`ASKED_MAX`];
    /// a part that beacons is never idle, so the node need not wait for that.
    pub fn receive(&mut self, cx: &mut Cx<'_>, frame: &Received<'_>) {
        match ProvMessage::parse(frame.data, cx.shared.settings.compat) {
            Some(ProvMessage::Beacon(identity)) => self.device.beacon(frame, identity),
            Some(ProvMessage::Device(device)) => {
                let taken = self.holder.asked(cx, frame, &device);
                self.dropped = self.dropped.saturating_add(u32::from(!taken));
            }
            Some(ProvMessage::Wifi(wifi)) => self.device.wifi(cx, frame, &wifi),
            None => {}
        }
    }
}

impl Task for Prov {
    fn run(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let holder = self.holder.run(cx);
        if holder == TaskStep::Send {
            self.turn = ProvRole::Holder;
            return TaskStep::Send;
        }
        let device = self.device.run(cx);
        if device == TaskStep::Send {
            self.turn = ProvRole::Device;
            return TaskStep::Send;
        }
        match (holder, device) {
            (TaskStep::Until(a), TaskStep::Until(b)) => TaskStep::Until(a.min(b)),
            (TaskStep::Until(a), _) | (_, TaskStep::Until(a)) => TaskStep::Until(a),
            _ => TaskStep::Idle,
        }
    }

    fn compose(&mut self, cx: &mut Cx<'_>, payload: &mut [u8]) -> Option<SendRequest> {
        match self.turn {
            ProvRole::Holder => self.holder.compose(cx, self.identity, payload),
            ProvRole::Device => self.device.compose(cx, self.identity, payload),
        }
    }

    fn sent(&mut self, cx: &mut Cx<'_>, outcome: TransmitOutcome) {
        match self.turn {
            ProvRole::Holder => self.holder.sent(cx, outcome),
            ProvRole::Device => self.device.sent(cx, outcome),
        }
    }
}

/// Returns the send options for a message.
fn outgoing(cx: &Cx<'_>, dest: Mac, config: FrameConfig, len: usize) -> SendRequest {
    let security = cx.shared.settings.encrypt.prov;
    SendRequest {
        data_type: DataType::Prov,
        dest,
        config: FrameConfig { security, ..config },
        magic: 0,
        len,
        wait: Duration::MAX,
    }
}

/// Returns the name of a failed send's result, as `esp_err_to_name` does.
fn error_name(outcome: TransmitOutcome) -> &'static str {
    match outcome {
        TransmitOutcome::TimedOut => "ESP_ERR_WIFI_TIMEOUT",
        TransmitOutcome::Refused => "ESP_ERR_INVALID_ARG",
        _ => "ESP_FAIL",
    }
}
