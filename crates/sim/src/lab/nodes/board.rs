//! A board in memory.

use super::chip::{ChipCosts, WorkRates};
use super::device::NodeId;
use super::image::{FirmwareImage, FlashSlot};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::time::Duration;
use esp_now::node::board::{Board, Boot, CpuWork, Download, NvsKey, Slot};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;

/// Bytes of a slot: that of ESP-IDF's default partition table with two OTA slots
/// (`partitions_two_ota.csv`).
pub const SLOT_SIZE: u32 = 0x10_0000;

/// Reason of a reset: power was switched on (`ESP_RST_POWERON`, `esp_system.h` of ESP-IDF).
pub(super) const POWER_ON: u32 = 1;
/// The firmware asked for it (`ESP_RST_SW`).
pub(super) const SOFTWARE: u32 = 3;

/// A level that a pin was set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Time on the fleet's clock.
    pub at: Instant,
    /// Number of the pin.
    pub pin: u8,
    /// To what.
    pub high: bool,
}

/// The costs of a processor's work, by the time at which it begins.
#[derive(Clone)]
pub struct Costs(CostModel);

/// The source of costs. A lab's costs, which every frame asks for, are answered without a call.
#[derive(Clone)]
enum CostModel {
    Chip(ChipCosts),
    Function(Arc<dyn Fn(CpuWork, Instant) -> u64 + Send + Sync>),
}

impl Costs {
    /// Takes costs, in nanoseconds, from a function.
    pub fn new(cost_ns: impl Fn(CpuWork, Instant) -> u64 + Send + Sync + 'static) -> Self {
        Self(CostModel::Function(Arc::new(cost_ns)))
    }

    /// Takes the costs of a chip that has just started.
    pub(crate) fn of(rates: Arc<WorkRates>) -> Self {
        Self(CostModel::Chip(ChipCosts::new(rates)))
    }

    #[inline]
    fn ns(&mut self, work: CpuWork, from: Instant) -> u64 {
        match &mut self.0 {
            CostModel::Chip(chip) => chip.ns(work, from.as_nanos()),
            CostModel::Function(said) => said(work, from),
        }
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self::new(|_, _| 0)
    }
}

impl From<fn(CpuWork) -> Duration> for Costs {
    fn from(cost: fn(CpuWork) -> Duration) -> Self {
        Self::new(move |work, _| cost(work).as_nanos() as u64)
    }
}

impl fmt::Debug for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Costs")
    }
}

/// The line of a console: bytes go out one after the other, and who prints waits until all of his
/// are in the FIFO (ESP-IDF's console without a driver: `uart_tx_char` waits for a free place).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UartLine {
    /// Bits a second; a byte is ten (start, eight, stop).
    pub baud: u32,
    /// Bytes that the FIFO holds: 128 on this family (`SOC_UART_FIFO_LEN`, `soc_caps.h` of ESP-IDF).
    pub fifo: u32,
    /// Time at which the last byte is out.
    empty: Instant,
}

impl UartLine {
    /// Creates a line at rest.
    #[must_use]
    pub const fn new(baud: u32, fifo: u32) -> Self {
        Self { baud, fifo, empty: Instant::ZERO }
    }

    fn time(&self, bytes: u32) -> Duration {
        let nanos = u64::from(bytes) * 10_000_000_000 / u64::from(self.baud.max(1));
        Duration::from_nanos(nanos)
    }

    /// Returns how long it takes from `from` to print so many bytes.
    fn print(&mut self, from: Instant, bytes: u32) -> Duration {
        self.empty = self.empty.max(from) + self.time(bytes);
        self.empty.since(from).saturating_sub(self.time(self.fifo))
    }
}

/// Two slots of flash, stored values, chance and pins. What is stored outlives a reset.
// In this order what every frame touches stands together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct MemoryBoard {
    pub(crate) now: Instant,
    /// End of the processor's current work.
    busy: Instant,
    /// Costs of the processor's work.
    pub costs: Costs,
    /// The console's line, where printing takes time.
    pub line: Option<UartLine>,
    /// Levels that pins were set to, in order.
    pub edges: Vec<Edge>,
    /// Whether they are kept.
    pub(crate) keep_edges: bool,
    /// Flash fails from now on: erasing, writing, choosing a slot and storing.
    pub broken: bool,
    /// Images that can be downloaded, by address. A download takes no time.
    pub offers: BTreeMap<String, FirmwareImage>,
    /// Address and bytes of an image of which each start of the board finds a new build, as on a developer's
    /// computer.
    pub builds: Option<(String, u32)>,
    download: Download,
    boot: Boot,
    slot_size: u32,
    running: FlashSlot,
    spare: FlashSlot,
    next: Slot,
    stored: BTreeMap<u8, Vec<u8>>,
    random: RngStream,
}

/// Returns no time, whatever the work.
#[must_use]
pub const fn free(_: CpuWork) -> Duration {
    Duration::ZERO
}

impl MemoryBoard {
    /// Creates the board of a node, with nothing in it.
    #[must_use]
    pub fn new(seed: u64, node: NodeId) -> Self {
        Self {
            costs: Costs::default(),
            line: None,
            edges: Vec::new(),
            keep_edges: true,
            broken: false,
            offers: BTreeMap::new(),
            builds: None,
            download: Download::Failed,
            now: Instant::ZERO,
            busy: Instant::ZERO,
            boot: Boot { count: 1, reason: POWER_ON, crash: false },
            slot_size: SLOT_SIZE,
            running: FlashSlot::Empty,
            spare: FlashSlot::Empty,
            next: Slot::Running,
            stored: BTreeMap::new(),
            random: RngStream::stream(seed, u32::from(node.0), Purpose::Board),
        }
    }

    /// Puts an image into a slot; the slots grow to hold it.
    pub fn install(&mut self, slot: Slot, image: FirmwareImage) {
        self.slot_size = self.slot_size.max(image.len());
        *self.flash_mut(slot) = FlashSlot::Whole(image);
    }

    /// Returns the image in a slot, as far as it is written.
    #[must_use]
    pub fn image(&self, slot: Slot) -> Vec<u8> {
        let mut bytes = alloc::vec![0; self.image_len(slot) as usize];
        self.flash(slot).read(0, &mut bytes);
        bytes
    }

    /// Tells whether a slot's image is that one.
    #[must_use]
    pub fn holds(&self, slot: Slot, image: &FirmwareImage) -> bool {
        match self.flash(slot) {
            FlashSlot::Empty => false,
            FlashSlot::Whole(there) => there == image,
            FlashSlot::Open { bytes, .. } => {
                self.image_len(slot) == image.len() && bytes.starts_with(image.bytes())
            }
        }
    }

    /// Returns the slot that the next reset starts.
    #[must_use]
    pub const fn next_boot(&self) -> Slot {
        self.next
    }

    /// Resets the board: the slot that was chosen runs.
    pub(crate) fn reset(&mut self, reason: u32) {
        self.busy = Instant::ZERO;
        self.boot = Boot { count: self.boot.count.saturating_add(1), reason, crash: false };
        if self.next == Slot::Spare {
            // Two slots, of which one runs: that is an exchange.
            mem::swap(&mut self.running, &mut self.spare);
            self.running.close();
            self.next = Slot::Running;
        }
    }

    const fn flash(&self, slot: Slot) -> &FlashSlot {
        match slot {
            Slot::Running => &self.running,
            Slot::Spare => &self.spare,
        }
    }

    const fn flash_mut(&mut self, slot: Slot) -> &mut FlashSlot {
        match slot {
            Slot::Running => &mut self.running,
            Slot::Spare => &mut self.spare,
        }
    }
}

impl Board for MemoryBoard {
    fn random(&mut self, out: &mut [u8]) {
        self.random.fill(out);
    }

    #[inline]
    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        let from = self.busy.max(self.now);
        let cost_ns = match (work, &mut self.line) {
            (CpuWork::Print { bytes }, Some(line)) => line.print(from, bytes).as_nanos() as u64,
            _ => self.costs.ns(work, from),
        };
        self.busy = from.after_nanos(cost_ns);
        cost_ns
    }

    fn slot_size(&self, _: Slot) -> u32 {
        self.slot_size
    }

    fn image_len(&self, slot: Slot) -> u32 {
        self.flash(slot).image_len()
    }

    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let end = u64::from(offset) + out.len() as u64;
        if end > u64::from(self.slot_size) {
            return false;
        }
        self.flash(slot).read(offset, out);
        true
    }

    fn erase(&mut self, len: u32) -> bool {
        let possible = !self.broken && len <= self.slot_size;
        if possible {
            self.spare = FlashSlot::erased(len);
        }
        possible
    }

    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        !self.broken && self.spare.write(offset, data)
    }

    fn boot(&mut self, slot: Slot) -> bool {
        let possible = !self.broken && self.image_len(slot) > 0;
        if possible {
            self.next = slot;
        }
        possible
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let value = self.stored.get(&(key as u8))?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        if !self.broken {
            self.stored.insert(key as u8, value.into());
        }
        !self.broken
    }

    fn forget(&mut self, key: NvsKey) {
        self.stored.remove(&(key as u8));
    }

    fn fetch(&mut self, url: &str) -> bool {
        let built = self.builds.as_ref().filter(|(address, _)| address == url);
        let build = |(_, len): &(_, u32)| {
            FirmwareImage::synthetic(*len, &format!("2.0.{}", self.boot.count), 1)
        };
        let image = self.offers.get(url).cloned().or_else(|| built.map(build));
        self.download = match image.filter(|image| !self.broken && image.len() <= self.slot_size) {
            Some(image) => {
                self.spare = FlashSlot::Whole(image);
                Download::Complete
            }
            None => Download::Failed,
        };
        self.download == Download::Complete
    }

    fn download(&mut self) -> Download {
        self.download
    }

    fn started(&self) -> Boot {
        self.boot
    }

    fn pin(&mut self, number: u8, high: bool) {
        if self.keep_edges {
            self.edges.push(Edge { at: self.now, pin: number, high });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_image_runs_after_the_reset_and_rollback_brings_the_old_one_back() {
        let (old, new) =
            (FirmwareImage::synthetic(5000, "1", 1), FirmwareImage::synthetic(6000, "2", 1));
        let mut board = MemoryBoard::new(1, NodeId(0));
        board.install(Slot::Running, old.clone());
        assert!(!board.boot(Slot::Spare), "there is nothing");
        assert!(board.erase(new.len()));
        for (i, part) in new.bytes().chunks(208).enumerate() {
            assert!(board.write(i as u32 * 208, part));
        }
        assert!(board.holds(Slot::Spare, &new) && board.boot(Slot::Spare));
        assert!(board.holds(Slot::Running, &old), "until the reset");
        board.reset(POWER_ON);
        assert!(board.holds(Slot::Running, &new) && board.holds(Slot::Spare, &old));
        assert!(board.boot(Slot::Spare));
        board.reset(POWER_ON);
        assert!(board.holds(Slot::Running, &old));
        assert_eq!(board.image(Slot::Spare), new.bytes());
        board.reset(POWER_ON);
        assert!(board.holds(Slot::Running, &old), "a reset by itself changes nothing");
    }

    #[test]
    fn values_outlive_a_reset_and_broken_flash_says_so() {
        let mut board = MemoryBoard::new(1, NodeId(0));
        assert!(board.save(NvsKey::Wifi, b"ssid"));
        board.reset(SOFTWARE);
        assert_eq!(board.started(), Boot { count: 2, reason: 3, crash: false });
        let mut out = [0; 2];
        assert_eq!((board.load(NvsKey::Wifi, &mut out), &out), (Some(2), b"ss"));
        board.forget(NvsKey::Wifi);
        assert_eq!(board.load(NvsKey::Wifi, &mut out), None);
        assert!(!board.erase(SLOT_SIZE + 1) && !board.read(Slot::Spare, SLOT_SIZE, &mut out));
        assert!(!board.fetch("http://here/image"));
        let image = FirmwareImage::synthetic(352, "1", 1);
        board.offers.insert("http://here/image".into(), image.clone());
        assert!(board.fetch("http://here/image") && board.holds(Slot::Spare, &image));
        assert_eq!(board.download(), Download::Complete);
        board.broken = true;
        assert!(!board.save(NvsKey::Wifi, b"") && !board.erase(1) && !board.write(0, b""));
    }
}
