//! The flash chip, and the places of the partition table.

use esp_bootloader_esp_idf::ota::OtaImageState;
use esp_bootloader_esp_idf::ota_updater::OtaUpdater;
use esp_bootloader_esp_idf::partitions::{
    AppPartitionSubType, PARTITION_TABLE_MAX_LEN, PartitionType, read_partition_table,
};
use esp_hal::peripherals::FLASH;
use esp_storage::FlashStorage;
use espbench_firmware_core::flash::{FlashChip, Partition, SECTOR};

/// Label of the partition of stored values.
const STORED: &str = "espbench";

/// Flash of the chip.
pub(crate) struct ChipFlash(FlashStorage<'static>);

/// Places in flash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    /// Stored values.
    pub(crate) stored: Option<Partition>,
    /// Image that runs.
    pub(crate) running: Partition,
    /// Slot for the next image.
    pub(crate) spare: Partition,
    /// Number of the slot that runs, if it is an OTA slot.
    number: Option<u8>,
    /// Number of the spare slot.
    spare_number: Option<u8>,
}

impl ChipFlash {
    /// Takes the flash.
    pub(crate) fn new(flash: FLASH<'static>) -> Self {
        Self(FlashStorage::new(flash))
    }

    /// Reads the partition table. The spare slot is the first OTA slot that does not run.
    pub(crate) fn places(&mut self) -> Places {
        let mut table = [0; PARTITION_TABLE_MAX_LEN];
        let Ok(table) = read_partition_table(&mut self.0, &mut table) else {
            return Places::default();
        };
        let running = table.booted_partition().ok().flatten();
        let mut places = Places::default();
        for entry in table.iter() {
            let place = Partition { offset: entry.offset(), len: entry.len() };
            let runs = running.is_some_and(|it| it.offset() == place.offset);
            let slot = match entry.partition_type() {
                PartitionType::App(kind) => {
                    let first = AppPartitionSubType::Ota0 as u8;
                    let ota =
                        kind != AppPartitionSubType::Factory && kind != AppPartitionSubType::Test;
                    ota.then(|| (kind as u8).wrapping_sub(first))
                }
                _ => None,
            };
            if entry.label_as_str() == STORED {
                places.stored = Some(place);
            }
            if runs {
                (places.running, places.number) = (place, slot);
            } else if slot.is_some() && places.spare.len == 0 {
                (places.spare, places.spare_number) = (place, slot);
            }
        }
        places
    }

    /// Selects the slot to start next, in the OTA data; returns false if it fails. The bootloader
    /// may watch a new image, too: it is marked as new.
    pub(crate) fn select(&mut self, places: &Places, spare: bool) -> bool {
        let number = if spare { places.spare_number } else { places.number };
        let Some(slot) = number.and_then(|it| AppPartitionSubType::try_from(it + 0x10).ok()) else {
            return false;
        };
        let mut table = [0; PARTITION_TABLE_MAX_LEN];
        let Ok(mut updater) = OtaUpdater::new(&mut self.0, &mut table) else { return false };
        let Ok(mut data) = updater.ota_data() else { return false };
        let state = if spare { OtaImageState::New } else { OtaImageState::Valid };
        data.set_current_app_partition(slot).is_ok() && data.set_current_ota_state(state).is_ok()
    }

    /// Marks the image that runs as good in the OTA data, where it is there.
    pub(crate) fn confirm(&mut self) {
        let mut table = [0; PARTITION_TABLE_MAX_LEN];
        let Ok(mut updater) = OtaUpdater::new(&mut self.0, &mut table) else { return };
        // A chip that has never been upgraded has no state yet, and needs none.
        if updater.current_ota_state().is_ok_and(|it| it != OtaImageState::Valid) {
            let _ = updater.set_current_ota_state(OtaImageState::Valid);
        }
    }
}

impl FlashChip for ChipFlash {
    fn read(&mut self, at: u32, out: &mut [u8]) -> bool {
        self.0.read(at, out).is_ok()
    }

    fn write(&mut self, at: u32, data: &[u8]) -> bool {
        self.0.write_nor(at, data).is_ok()
    }

    fn erase_sector(&mut self, at: u32) -> bool {
        self.0.erase(at, at + SECTOR).is_ok()
    }
}
