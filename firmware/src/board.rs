//! The board of the node: chance, flash, stored values, pins.

use crate::flash::{ChipFlash, Places};
use crate::{accelerator, crash};
use core::cell::{Cell, RefCell};
use esp_hal::gpio::{AnyPin, Level, Output, OutputConfig};
use esp_hal::rng::Rng;
use esp_hal::rtc_cntl::reset_reason;
use esp_hal::system::Cpu;
use esp_now::component::sealed::AesPort;
use esp_now::node::board::{Board, Boot, HeapInfo, NvsKey, Slot};
use espbench_firmware_core::boot::{BootOrder, BootRecord, RECORD_LEN, reason};
use espbench_firmware_core::flash::{Partition, image_len};
use espbench_firmware_core::settings::{FirmwareSettings, SETTINGS_LEN};
use espbench_firmware_core::storage::{Store, StoredKey};

/// Pins that a program may set: those of flash, console and USB are not among them.
const PINS: &[u8] = cfg_select! {
    feature = "esp32c2" => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18],
    feature = "esp32c3" => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    feature = "esp32c6" => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 18, 19, 20, 21, 22, 23],
};

/// Number of places for pins: the greatest number and one.
const PIN_PLACES: usize = 24;

/// Board of the node.
pub(crate) struct ChipBoard {
    /// In a cell, since the node asks for an image's length without changing the board.
    flash: RefCell<&'static mut ChipFlash>,
    places: Places,
    rng: Rng,
    pins: [Option<Output<'static>>; PIN_PLACES],
    record: BootRecord,
    boot: Boot,
    least_free: Cell<usize>,
    /// The slot to start next is the spare one.
    spare_next: bool,
    /// Number of values that could not be stored.
    unsaved: u32,
    aes: accelerator::Accelerator,
}

impl ChipBoard {
    /// Creates the board and reads the partition table.
    pub(crate) fn new(flash: &'static mut ChipFlash) -> Self {
        let places = flash.places();
        let crash = crash::take();
        let soc = reset_reason(Cpu::ProCpu).map_or(0, |it| it as u32);
        Self {
            flash: RefCell::new(flash),
            places,
            rng: Rng::new(),
            pins: [const { None }; PIN_PLACES],
            record: BootRecord::default(),
            boot: Boot { count: 0, reason: reason(soc, crash), crash },
            least_free: Cell::new(usize::MAX),
            spare_next: false,
            unsaved: 0,
            aes: accelerator::Accelerator::new(),
        }
    }

    /// Notes this start in flash and returns what to do.
    pub(crate) fn start(&mut self) -> BootOrder {
        let mut bytes = [0; RECORD_LEN];
        let len = self.store().and_then(|mut it| it.load(StoredKey::Boot, &mut bytes)).unwrap_or(0);
        self.record = BootRecord::parse(&bytes[..len]);
        let other = self.image_len(Slot::Spare) > 0;
        let order = self.record.start(other);
        self.boot.count = self.record.count;
        self.save_record();
        order
    }

    /// Notes that this start is good.
    pub(crate) fn confirm(&mut self) {
        if self.spare_next {
            return;
        }
        if self.record.confirm() {
            self.save_record();
        }
        self.flash.get_mut().confirm();
    }

    /// Returns whether payloads are sealed by the chip's accelerator.
    pub(crate) fn accelerates(&mut self) -> bool {
        self.aes.port().is_some()
    }

    /// Loads the settings of the firmware.
    pub(crate) fn settings(&mut self) -> FirmwareSettings {
        let mut bytes = [0; SETTINGS_LEN];
        let len = self.store().and_then(|mut it| it.load(StoredKey::Settings, &mut bytes));
        FirmwareSettings::parse(&bytes[..len.unwrap_or(0)])
    }

    /// Stores the settings of the firmware; returns false if it fails.
    pub(crate) fn set_settings(&mut self, settings: FirmwareSettings) -> bool {
        self.keep(StoredKey::Settings, &settings.emit())
    }

    /// Returns how many values could not be stored since the start.
    pub(crate) const fn unsaved(&self) -> u32 {
        self.unsaved
    }

    fn save_record(&mut self) {
        let bytes = self.record.emit();
        self.keep(StoredKey::Boot, &bytes);
    }

    /// Stores a value; returns false, and counts it, if it is not there afterwards.
    fn keep(&mut self, key: StoredKey, value: &[u8]) -> bool {
        let saved = self.store().is_some_and(|mut it| it.save(key, value));
        self.unsaved = self.unsaved.saturating_add(u32::from(!saved));
        saved
    }

    fn store(&mut self) -> Option<Store<'_, ChipFlash>> {
        Store::open(self.flash.get_mut(), self.places.stored?)
    }

    const fn place(&self, slot: Slot) -> Partition {
        match slot {
            Slot::Running => self.places.running,
            Slot::Spare => self.places.spare,
        }
    }
}

impl Board for ChipBoard {
    fn random(&mut self, out: &mut [u8]) {
        // The radio runs, which feeds the generator with noise.
        self.rng.read(out);
    }

    fn aes(&mut self) -> Option<&mut dyn AesPort> {
        self.aes.port()
    }

    fn slot_size(&self, slot: Slot) -> u32 {
        self.place(slot).len
    }

    fn image_len(&self, slot: Slot) -> u32 {
        image_len(&mut **self.flash.borrow_mut(), self.place(slot))
    }

    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        self.place(slot).read(*self.flash.get_mut(), offset, out)
    }

    fn erase(&mut self, len: u32) -> bool {
        self.place(Slot::Spare).erase(*self.flash.get_mut(), len, &mut crate::feed_watchdog)
    }

    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        self.place(Slot::Spare).write(*self.flash.get_mut(), offset, data)
    }

    fn boot(&mut self, slot: Slot) -> bool {
        let spare = slot == Slot::Spare;
        if self.image_len(slot) == 0 || !self.flash.get_mut().select(&self.places, spare) {
            return false;
        }
        if spare {
            self.record.selected_other();
        } else {
            self.record.confirm();
        }
        self.spare_next = spare;
        self.save_record();
        true
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        self.store()?.load(StoredKey::Node(key), out)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        self.keep(StoredKey::Node(key), value)
    }

    fn forget(&mut self, key: NvsKey) {
        if let Some(mut store) = self.store() {
            store.forget(StoredKey::Node(key));
        }
    }

    fn heap(&self) -> HeapInfo {
        let (free, used) = (esp_alloc::HEAP.free(), esp_alloc::HEAP.used());
        let minimum = self.least_free.get().min(free);
        self.least_free.set(minimum);
        HeapInfo { free: free as u32, minimum: minimum as u32, total: (free + used) as u32 }
    }

    fn started(&self) -> Boot {
        self.boot
    }

    fn pin(&mut self, number: u8, high: bool) {
        if !PINS.contains(&number) {
            return;
        }
        let level = if high { Level::High } else { Level::Low };
        match &mut self.pins[usize::from(number)] {
            Some(pin) => pin.set_level(level),
            place => {
                // SAFETY: only this place uses the pin; no other part of the program uses PINS.
                let pin = unsafe { AnyPin::steal(number) };
                *place = Some(Output::new(pin, level, OutputConfig::default()));
            }
        }
    }
}
