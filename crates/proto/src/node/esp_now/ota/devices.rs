//! The devices of an initiator: where each stands, and what it runs.

use crate::wire::component::ota::App;
use crate::wire::mac::Mac;
use heapless::Vec;

/// How it ends for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not yet over.
    Open,
    /// It has the image.
    Done,
    /// It runs the image already, and said so when it was asked: the component counts it neither
    /// as done nor as unfinished (trap 16 of the protocol reference).
    Had,
    /// It stopped.
    Stopped,
    /// It will not take the image.
    Refused,
}

/// What a device has said and was not yet heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It has the image: written, or running.
    Has,
    /// It stopped.
    Stopped,
    /// It does not take the image; true if it never will.
    Refused(bool),
}

/// A device.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Its address.
    pub mac: Mac,
    /// The channel it was found on.
    pub channel: u8,
    /// How well its answer was heard, dBm.
    pub rssi: i8,
    /// Which of the descriptions is its own.
    pub app: u8,
    /// How it ended.
    pub fate: Fate,
    /// It has said something while nobody listened.
    pub note: Option<Note>,
    /// It has answered the status that was asked for.
    pub answered: bool,
    /// It is to leave the group.
    pub leaves: bool,
    /// How often it refused.
    pub refusals: u8,
}

/// What is printed of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The description's first 144 bytes: all but the digest of the ELF file, and what follows.
    bytes: [u8; 144],
}

impl Runs {
    fn new(app: &App) -> Self {
        let mut bytes = [0; 144];
        for (to, from) in bytes.iter_mut().zip(&app.0) {
            *to = *from;
        }
        Self { bytes }
    }

    /// As a description.
    #[must_use]
    pub fn app(&self) -> App {
        let mut app = App::default();
        for (to, from) in app.0.iter_mut().zip(&self.bytes) {
            *to = *from;
        }
        app
    }
}

/// Up to `D` devices, which run up to `A` different applications: devices of one kind run the same,
/// and a description for each would take more memory than all the rest.
#[derive(Debug)]
pub struct Devices<const D: usize, const A: usize> {
    list: Vec<Device, D>,
    apps: Vec<Runs, A>,
    /// Devices for which there was no room.
    pub dropped: u16,
}

impl<const D: usize, const A: usize> Default for Devices<D, A> {
    fn default() -> Self {
        Self { list: Vec::new(), apps: Vec::new(), dropped: 0 }
    }
}

impl<const D: usize, const A: usize> Devices<D, A> {
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a device unless it is there.
    pub fn add(&mut self, mac: Mac, channel: u8, rssi: i8, app: Option<&App>) {
        if self.list.iter().any(|d| d.mac == mac) {
            return;
        }
        let app = app.map_or(u8::MAX, |a| self.app_number(a));
        let device = Device {
            mac,
            channel,
            rssi,
            app,
            fate: Fate::Open,
            note: None,
            answered: false,
            leaves: false,
            refusals: 0,
        };
        if self.list.push(device).is_err() {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    fn app_number(&mut self, app: &App) -> u8 {
        let runs = Runs::new(app);
        if let Some(at) = self.apps.iter().position(|a| *a == runs) {
            return at as u8;
        }
        let at = self.apps.len();
        if self.apps.push(runs).is_ok() { at as u8 } else { u8::MAX }
    }

    /// What a device runs; `None` if there was no room for one more description.
    #[must_use]
    pub fn runs(&self, device: &Device) -> Option<App> {
        self.apps.get(usize::from(device.app)).map(Runs::app)
    }

    /// The devices, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &Device> {
        self.list.iter()
    }

    /// All devices, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Device> {
        self.list.iter_mut()
    }

    /// One device.
    #[must_use]
    pub fn get(&self, at: u16) -> Option<&Device> {
        self.list.get(usize::from(at))
    }

    /// The device with that address.
    pub fn find(&mut self, mac: Mac) -> Option<&mut Device> {
        self.list.iter_mut().find(|d| d.mac == mac)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.list.len() as u16
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many ended so.
    #[must_use]
    pub fn count(&self, fate: Fate) -> u16 {
        self.list.iter().filter(|d| d.fate == fate).count() as u16
    }
}
