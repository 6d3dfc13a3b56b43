//! Stored values in flash: each change is appended, sectors are used in turn, and a cut of the power
//! leaves the old value or the new one. The format is that of the crate `sequential-storage`.

use crate::flash::{FlashChip, Partition, SECTOR, WORD};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use esp_now::node::board::NvsKey;
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};

/// Longest value, in bytes: the state of an upgrade is the longest of a node.
pub const VALUE_MAX: usize = 1024;

/// Name of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKey {
    /// A value of the node.
    Node(NvsKey),
    /// Record of starts ([`crate::boot`]).
    Boot,
    /// Settings of the firmware ([`crate::settings`]).
    Settings,
}

impl StoredKey {
    /// All names.
    const ALL: [Self; 8] = [
        Self::Node(NvsKey::EncryptKey),
        Self::Node(NvsKey::DecryptKey),
        Self::Node(NvsKey::Bindings),
        Self::Node(NvsKey::ControlChannel),
        Self::Node(NvsKey::Upgrade),
        Self::Node(NvsKey::Wifi),
        Self::Boot,
        Self::Settings,
    ];

    /// Returns the number under which the value is stored; it never changes.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Node(NvsKey::EncryptKey) => 1,
            Self::Node(NvsKey::DecryptKey) => 2,
            Self::Node(NvsKey::Bindings) => 3,
            Self::Node(NvsKey::ControlChannel) => 4,
            Self::Node(NvsKey::Upgrade) => 5,
            Self::Node(NvsKey::Wifi) => 6,
            Self::Boot => 16,
            Self::Settings => 17,
        }
    }
}

/// Stored values in a partition of at least two sectors.
pub struct Store<'a, C: FlashChip> {
    chip: &'a mut C,
    place: Partition,
}

impl<C: FlashChip> core::fmt::Debug for Store<'_, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Store").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Room for a value with its key, aligned as the chip's driver wants it.
#[repr(align(4))]
struct Room([u8; VALUE_MAX + 8]);

impl<'a, C: FlashChip> Store<'a, C> {
    /// Opens the values of a partition; `None` if it is smaller than two sectors or not whole ones.
    pub fn open(chip: &'a mut C, place: Partition) -> Option<Self> {
        let whole = place.offset.is_multiple_of(SECTOR) && place.len.is_multiple_of(SECTOR);
        (whole && place.len >= 2 * SECTOR).then_some(Self { chip, place })
    }

    /// Loads a value and returns its length, cut to `out`.
    pub fn load(&mut self, key: StoredKey, out: &mut [u8]) -> Option<usize> {
        let mut room = Room([0; VALUE_MAX + 8]);
        let mut map = self.map()?;
        let value: &[u8] = run(map.fetch_item(&mut room.0, &key.number()))?.ok().flatten()?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }

    /// Stores a value and reads it back; returns false if it is too long or the flash fails.
    ///
    /// A partition that keeps nothing and holds no value of ours has the bytes of another program, such as
    /// ESP-IDF's NVS: it is erased once.
    pub fn save(&mut self, key: StoredKey, value: &[u8]) -> bool {
        if value.len() > VALUE_MAX {
            return false;
        }
        if self.keep(key, value) {
            return true;
        }
        let mut first = [0];
        let is_foreign = StoredKey::ALL.iter().all(|it| self.load(*it, &mut first).is_none());
        is_foreign && self.erase() && self.keep(key, value)
    }

    /// Stores a value, and returns whether it is there.
    fn keep(&mut self, key: StoredKey, value: &[u8]) -> bool {
        self.store(key, value) && self.holds(key, value)
    }

    fn holds(&mut self, key: StoredKey, value: &[u8]) -> bool {
        let mut room = Room([0; VALUE_MAX + 8]);
        let Some(mut map) = self.map() else { return false };
        let found: Option<&[u8]> =
            run(map.fetch_item(&mut room.0, &key.number())).and_then(|it| it.ok()).flatten();
        found == Some(value)
    }

    /// Erases the partition.
    fn erase(&mut self) -> bool {
        let end = self.place.offset + self.place.len;
        (self.place.offset..end).step_by(SECTOR as usize).all(|at| self.chip.erase_sector(at))
    }

    fn store(&mut self, key: StoredKey, value: &[u8]) -> bool {
        let mut room = Room([0; VALUE_MAX + 8]);
        let Some(mut map) = self.map() else { return false };
        run(map.store_item(&mut room.0, &key.number(), &value)).is_some_and(|it| it.is_ok())
    }

    /// Removes a value; returns false if the flash fails.
    pub fn forget(&mut self, key: StoredKey) -> bool {
        let mut room = Room([0; VALUE_MAX + 8]);
        let Some(mut map) = self.map() else { return false };
        run(map.remove_item(&mut room.0, &key.number())).is_some_and(|it| it.is_ok())
    }

    fn map(&mut self) -> Option<StoredMap<'_, C>> {
        let end = self.place.offset + self.place.len;
        let config = MapConfig::try_new(self.place.offset..end).ok()?;
        let adapter = Adapter { chip: &mut *self.chip, end };
        Some(MapStorage::new(adapter, config, Cache::new_uncached()))
    }
}

/// Values by number. Nothing is cached: a value is loaded at a start, and changes are rare.
type StoredMap<'a, C> = MapStorage<u8, Adapter<'a, C>, Cache<Uncached, Uncached, Uncached, u8>>;

/// Runs a future that never waits.
fn run<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

/// The chip as `sequential-storage` wants it.
struct Adapter<'a, C: FlashChip> {
    chip: &'a mut C,
    end: u32,
}

/// Failure of the flash chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChipFailed;

impl NorFlashError for ChipFailed {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl<C: FlashChip> ErrorType for Adapter<'_, C> {
    type Error = ChipFailed;
}

impl<C: FlashChip> ReadNorFlash for Adapter<'_, C> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), ChipFailed> {
        self.chip.read(offset, bytes).then_some(()).ok_or(ChipFailed)
    }

    fn capacity(&self) -> usize {
        self.end as usize
    }
}

impl<C: FlashChip> NorFlash for Adapter<'_, C> {
    const WRITE_SIZE: usize = WORD as usize;
    const ERASE_SIZE: usize = SECTOR as usize;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), ChipFailed> {
        let mut sectors = (from..to).step_by(SECTOR as usize);
        sectors.all(|at| self.chip.erase_sector(at)).then_some(()).ok_or(ChipFailed)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), ChipFailed> {
        self.chip.write(offset, bytes).then_some(()).ok_or(ChipFailed)
    }
}

impl<C: FlashChip> MultiwriteNorFlash for Adapter<'_, C> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RamFlash;
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    const PLACE: Partition = Partition { offset: 0x1000, len: 0x3000 };
    const KEYS: [StoredKey; 4] = [
        StoredKey::Node(NvsKey::EncryptKey),
        StoredKey::Node(NvsKey::Bindings),
        StoredKey::Node(NvsKey::Upgrade),
        StoredKey::Boot,
    ];

    fn load(chip: &mut RamFlash, key: StoredKey) -> Option<Vec<u8>> {
        let mut out = vec![0; VALUE_MAX];
        let len = Store::open(chip, PLACE).unwrap().load(key, &mut out)?;
        out.truncate(len);
        Some(out)
    }

    /// Changes a value as the `n`th of a sequence: mostly saves, some removals.
    fn change(n: u32) -> (StoredKey, Option<Vec<u8>>) {
        let key = KEYS[(n * 7 % 4) as usize];
        let len = [32, 392, 900, 12][(n % 4) as usize];
        (key, (n % 9 != 8).then(|| vec![n as u8; len]))
    }

    fn apply(chip: &mut RamFlash, (key, value): &(StoredKey, Option<Vec<u8>>)) -> bool {
        let mut store = Store::open(chip, PLACE).unwrap();
        match value {
            Some(value) => store.save(*key, value),
            None => store.forget(*key),
        }
    }

    #[test]
    fn values_come_back_and_sectors_are_used_in_turn() {
        let mut chip = RamFlash::new(0x5000);
        let mut known: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
        for n in 0..600 {
            let step = change(n);
            assert!(apply(&mut chip, &step), "step {n}");
            match step.1 {
                Some(value) => known.insert(step.0.number(), value),
                None => known.remove(&step.0.number()),
            };
            for key in KEYS {
                assert_eq!(load(&mut chip, key), known.get(&key.number()).cloned(), "step {n}");
            }
        }
        let worn = &chip.erased[1..4];
        assert!(worn.iter().max().unwrap() - worn.iter().min().unwrap() <= 2, "{worn:?}");
        assert!(worn[0] > 10 && chip.erased[0] == 0 && chip.erased[4] == 0, "{:?}", chip.erased);
    }

    /// Cuts the power at every word that is written and every sector that is erased, over a
    /// sequence that fills all sectors twice.
    #[test]
    fn a_cut_of_the_power_leaves_the_old_value_or_the_new_one() {
        let mut chip = RamFlash::new(0x5000);
        let mut cuts = 0;
        for n in 0..60 {
            let step = change(n);
            let before = chip.clone();
            let old: Vec<_> = KEYS.iter().map(|key| load(&mut chip, *key)).collect();
            let from = chip.steps;
            assert!(apply(&mut chip, &step));
            let steps = chip.steps - from;
            for left in 0..steps {
                let mut cut = RamFlash { left: Some(left), ..before.clone() };
                apply(&mut cut, &step);
                cut.left = None;
                cuts += 1;
                for (key, was) in KEYS.iter().zip(&old) {
                    let now = load(&mut cut, *key);
                    let new = *key == step.0 && now == step.1;
                    assert!(now == *was || new, "step {n}, {left} of {steps}: {key:?}");
                }
                // The store goes on, and the change can be made again.
                assert!(apply(&mut cut, &step), "step {n}, {left} of {steps}");
                assert_eq!(load(&mut cut, step.0), step.1);
            }
        }
        assert!(cuts > 4000, "{cuts}");
    }

    /// Arduino and ESP-IDF have NVS there, and other programs anything.
    #[test]
    fn contents_of_another_program_are_erased_at_the_first_save() {
        let nvs_page = |_| {
            let mut page = vec![0xFF; SECTOR as usize];
            page[..4].copy_from_slice(&0xFFFF_FFFE_u32.to_le_bytes());
            page[4..9].copy_from_slice(&[0, 0, 0, 0, 0xFE]);
            page[32..64].fill(0xAA);
            page[64..96]
                .copy_from_slice(b"\x01\x48\x05\x01abcdphy\0cal_data\0\0\0\0\0\0\0\0\0\0\0\0");
            page
        };
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let contents: [Vec<u8>; 3] = [
            (0..3).flat_map(nvs_page).collect(),
            vec![0; 3 * SECTOR as usize],
            core::iter::repeat_with(&mut noise).take(3 * SECTOR as usize).collect(),
        ];
        for bytes in contents {
            let mut chip = RamFlash::new(0x5000);
            chip.bytes[0x1000..0x4000].copy_from_slice(&bytes);
            for n in 0..40 {
                let step = (StoredKey::Boot, Some(vec![n; 12]));
                assert!(apply(&mut chip, &step), "save {n}");
                assert_eq!(load(&mut chip, step.0), step.1, "save {n}");
            }
            assert_eq!((chip.erased[0], chip.erased[4]), (0, 0));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut chip = RamFlash::new(0x5000);
        let mut store = Store::open(&mut chip, PLACE).unwrap();
        assert!(!store.save(StoredKey::Boot, &[0; VALUE_MAX + 1]));
        assert!(store.save(StoredKey::Boot, &[3; VALUE_MAX]));
        let mut out = [0; 4];
        assert_eq!(store.load(StoredKey::Boot, &mut out), Some(4), "cut to the room");
        assert_eq!(out, [3; 4]);
        assert!(Store::open(&mut chip, Partition { offset: 0x1000, len: 0x1000 }).is_none());
        assert!(Store::open(&mut chip, Partition { offset: 0x1004, len: 0x3000 }).is_none());
    }
}
