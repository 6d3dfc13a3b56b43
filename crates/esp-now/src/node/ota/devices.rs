//! The devices of an initiator: the state of each, and the application that it runs.

use crate::component::ota::AppDescription;
use espbench_ieee80211::mac::Mac;
use heapless::Vec;

/// Result of an upgrade for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeFate {
    /// The upgrade is not yet over.
    Open,
    /// The device has received the image.
    Done,
    /// The device already ran the image, and said so when it was asked: the component counts it
    /// neither as done nor as unfinished (trap 16 of the protocol reference).
    Had,
    /// The device stopped.
    Stopped,
    /// The device refused the image.
    Refused,
}

/// Message of a device that is not yet taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNote {
    /// The device has the image: written, or running.
    Has,
    /// The device stopped.
    Stopped,
    /// The device does not take the image; true if it never will.
    Refused(bool),
}

/// A device that is to be upgraded.
#[derive(Clone, Copy, Debug)]
pub struct OtaDevice {
    /// Address of the device.
    pub mac: Mac,
    /// Channel on which it was found.
    pub channel: u8,
    /// Signal strength of its answer, in dBm.
    pub rssi: i8,
    /// Index of its application among the descriptions.
    pub app: u8,
    /// Result for the device.
    pub fate: UpgradeFate,
    /// Message that it sent while the initiator was sending data.
    pub note: Option<DeviceNote>,
    /// Whether it has answered the last request for status.
    pub answered: bool,
    /// Whether it is to leave the group.
    pub leaves: bool,
    /// Number of its refusals.
    pub refusals: u8,
}

/// Printed part of an application description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// First 144 bytes of the description: all but the digest of the ELF file, and the bytes after
    /// it.
    bytes: [u8; 144],
}

impl Runs {
    fn new(app: &AppDescription) -> Self {
        let mut bytes = [0; 144];
        for (to, from) in bytes.iter_mut().zip(&app.0) {
            *to = *from;
        }
        Self { bytes }
    }

    /// Returns the part as a description.
    #[must_use]
    pub fn app(&self) -> AppDescription {
        let mut app = AppDescription::default();
        for (to, from) in app.0.iter_mut().zip(&self.bytes) {
            *to = *from;
        }
        app
    }
}

/// Up to `D` devices, which run up to `A` different applications: devices of one kind run the same,
/// and a description for each would take more memory than all the rest.
#[derive(Debug)]
pub struct OtaDevices<const D: usize, const A: usize> {
    list: Vec<OtaDevice, D>,
    apps: Vec<Runs, A>,
    /// Number of devices for which there was no room.
    pub dropped: u16,
}

impl<const D: usize, const A: usize> Default for OtaDevices<D, A> {
    fn default() -> Self {
        Self { list: Vec::new(), apps: Vec::new(), dropped: 0 }
    }
}

impl<const D: usize, const A: usize> OtaDevices<D, A> {
    /// Removes all devices.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a device unless it is there.
    pub fn add(&mut self, mac: Mac, channel: u8, rssi: i8, app: Option<&AppDescription>) {
        if self.list.iter().any(|d| d.mac == mac) {
            return;
        }
        let app = app.map_or(u8::MAX, |a| self.app_number(a));
        let device = OtaDevice {
            mac,
            channel,
            rssi,
            app,
            fate: UpgradeFate::Open,
            note: None,
            answered: false,
            leaves: false,
            refusals: 0,
        };
        if self.list.push(device).is_err() {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    fn app_number(&mut self, app: &AppDescription) -> u8 {
        let runs = Runs::new(app);
        if let Some(at) = self.apps.iter().position(|a| *a == runs) {
            return at as u8;
        }
        let at = self.apps.len();
        if self.apps.push(runs).is_ok() { at as u8 } else { u8::MAX }
    }

    /// Returns the description of a device's application; `None` if there was no room for it.
    #[must_use]
    pub fn runs(&self, device: &OtaDevice) -> Option<AppDescription> {
        self.apps.get(usize::from(device.app)).map(Runs::app)
    }

    /// Returns the devices, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &OtaDevice> {
        self.list.iter()
    }

    /// Returns the devices, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut OtaDevice> {
        self.list.iter_mut()
    }

    /// Returns the device of an index.
    #[must_use]
    pub fn get(&self, at: u16) -> Option<&OtaDevice> {
        self.list.get(usize::from(at))
    }

    /// Finds the device with that address.
    pub fn find(&mut self, mac: Mac) -> Option<&mut OtaDevice> {
        self.list.iter_mut().find(|d| d.mac == mac)
    }

    /// Returns the number of devices.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.list.len() as u16
    }

    /// Returns whether there is no device.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Counts the devices with that result.
    #[must_use]
    pub fn count(&self, fate: UpgradeFate) -> u16 {
        self.list.iter().filter(|d| d.fate == fate).count() as u16
    }
}
