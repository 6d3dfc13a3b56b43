//! Code and data behind caches: which part of both is not there when the processor needs it, and how
//! long it takes to fetch.
//!
//! A step of a packet's way takes cycles, and for each line of its code that is not in the cache the time
//! in which flash delivers one. The times of a profile hold for the chip's default caches, flash and
//! compiler; what is here is the ratio of other settings to those.

use super::{ConstantOrigin, Cost, IpCosts};
use alloc::vec::Vec;
use espbench_model::sdkconfig::{
    BUFFER_BYTES, Chip, ConfigOption, MemoryOptions, Price, SdkConfig,
};

/// Part of a path's code that a packet's way goes through, and the bytes of code in flash that run beside it
/// (program, timers, console). Both are such that the time of fetching what an ESP32-C3 misses is what the
/// profiles' percentage says: a fifth of lwIP's 13 KB, missed in one case of nine from flash with 59 ns for a
/// byte, are 18 us, a quarter of some 70 us. The split between the two is an assumption.
const WALKED: f64 = 0.2;
const BESIDE: f64 = 3584.0;

/// The chip whose code in flash the profiles' percentages are for, with its default settings.
const REFERENCE: Chip = Chip::Esp32c3;

/// Time of lwIP's and the program's work with an optimization of the compiler, as a part of that with
/// `-Og`, and the code that a packet walks through. The order is that of ESP-IDF's guide (Speed
/// Optimization; Minimizing Binary Size); the numbers are assumptions. `-O2` makes larger code of fewer
/// steps: what is walked stays as it is.
const COMPILED: [(f64, f64); 4] = [(1.0, 1.0), (0.95, 0.9), (0.85, 1.0), (2.0, 1.6)];

/// PSRAM that is mapped: 2 MB, the smallest that Espressif's modules have.
pub(in crate::lab) const PSRAM_BYTES: u32 = 2 << 20;

/// Returns the constants of this file by name, with their sources, for lists of constants.
pub(in crate::lab) fn cache_constants() -> Vec<(&'static str, f64, (ConstantOrigin, &'static str))>
{
    let split = (
        ConstantOrigin::Assumed,
        "an assumption: which part of a path a packet walks through, and how much code runs beside \
                 it; both together give the profiles' percentage for an ESP32-C3",
    );
    let compiled = (
        ConstantOrigin::Assumed,
        "an assumption: ESP-IDF's guide (Speed Optimization) gives the order alone",
    );
    let psram = (ConstantOrigin::Published, "the smallest PSRAM of Espressif's modules");
    let [_, size, perf, none] = COMPILED;
    alloc::vec![
        ("walked", WALKED, split),
        ("beside_bytes", BESIDE, split),
        ("psram_bytes", f64::from(PSRAM_BYTES), psram),
        ("size_time", size.0, compiled),
        ("size_code", size.1, compiled),
        ("perf_time", perf.0, compiled),
        ("perf_code", perf.1, compiled),
        ("none_time", none.0, compiled),
        ("none_code", none.1, compiled),
    ]
}

/// A cache.
#[derive(Clone, Copy, Debug)]
struct Cache {
    bytes: f64,
    line: f64,
    ways: i32,
}

impl Cache {
    /// Returns the cache of code in flash.
    fn of_code(chip: Chip, sdk: &SdkConfig) -> Self {
        // ESP32 Technical Reference Manual, 1.3: two ways for each core; of the ESP32-S2, Cache: four; of
        // the ESP32-S3: eight by default; of the ESP32-C3: eight; of the ESP32-C6: four. Those of the
        // ESP32-C2, C5 and C61 are assumptions.
        let ways = match chip {
            Chip::Esp32 => 2,
            Chip::Esp32s3 | Chip::Esp32c2 | Chip::Esp32c3 => 8,
            Chip::Esp32s2 | Chip::Esp32c5 | Chip::Esp32c6 | Chip::Esp32c61 => 4,
        };
        let value = |key| f64::from(sdk.memory.value(key, chip));
        Self {
            bytes: 1024.0 * value(ConfigOption::InstructionCache),
            line: value(ConfigOption::InstructionLine),
            ways,
        }
    }

    /// Returns the cache of data, where the chip has one apart from that of code.
    fn of_data(chip: Chip, sdk: &SdkConfig) -> Option<Self> {
        let kb = sdk.memory.value(ConfigOption::DataCache, chip);
        let line = f64::from(sdk.memory.value(ConfigOption::DataLine, chip));
        (kb > 0).then(|| Self { bytes: 1024.0 * f64::from(kb), line, ..Self::of_code(chip, sdk) })
    }

    /// Returns the part of a loop's lines that each pass misses, where the loop goes through so many bytes.
    ///
    /// In each set the line that was used longest ago goes first. A loop then finds all of its lines of a
    /// set as long as the set has a way for each, and none otherwise (J. E. Smith and J. R. Goodman,
    /// "Instruction Cache Replacement Policies and Organizations", IEEE Transactions on Computers C-34,
    /// 1985). How many lines come to a set is taken as chance, by Poisson's distribution: functions lie
    /// where the linker puts them.
    fn misses(&self, loop_bytes: f64) -> f64 {
        let mean = loop_bytes * f64::from(self.ways) / self.bytes.max(1.0);
        // A line is one of more lines than ways, where at least as many others share its set.
        let (mut term, mut fewer) = (libm::exp(-mean), 0.0);
        for others in 0..self.ways {
            fewer += term;
            term *= mean / f64::from(others + 1);
        }
        (1.0 - fewer).max(0.0)
    }
}

/// A memory on an SPI bus, as clocks for a line.
#[derive(Clone, Copy, Debug)]
struct SpiMemory {
    mhz: f64,
    clocks_per_byte: f64,
    read_clocks: f64,
    write_clocks: f64,
}

impl SpiMemory {
    /// Returns the flash.
    ///
    /// Clocks before the first byte are those of Winbond's W25Q32JV (datasheet, 8.2): eight of the
    /// instruction on one line; 24 bits of address, and mode and dummy clocks.
    fn flash(chip: Chip, sdk: &SdkConfig) -> Self {
        let (read_clocks, clocks_per_byte) = match sdk.memory.value(ConfigOption::FlashMode, chip) {
            0 => (8.0 + 6.0 + 6.0, 2.0),
            1 => (8.0 + 24.0 + 8.0, 2.0),
            2 => (8.0 + 12.0 + 4.0, 4.0),
            _ => (8.0 + 24.0 + 8.0, 4.0),
        };
        let mhz = f64::from(sdk.memory.value(ConfigOption::FlashClock, chip));
        Self { mhz, clocks_per_byte, read_clocks, write_clocks: 0.0 }
    }

    /// Returns a flash with four lines for addresses and data.
    const fn qio(mhz: f64) -> Self {
        Self { mhz, clocks_per_byte: 2.0, read_clocks: 20.0, write_clocks: 0.0 }
    }

    /// Returns the PSRAM.
    ///
    /// Four lines: instruction, address and six dummy clocks of a read on all four (ESP-PSRAM64H datasheet,
    /// Fast Quad Read and Quad Write in QPI mode). Eight lines with data at both edges: clocks as ESP-IDF's
    /// `esp_psram_impl_octal.c` sets them.
    fn psram(chip: Chip, sdk: &SdkConfig) -> Self {
        let mhz = f64::from(sdk.memory.value(ConfigOption::PsramClock, chip));
        let [read_clocks, write_clocks, clocks_per_byte] =
            match sdk.memory.value(ConfigOption::PsramMode, chip) {
                8 => [1.0 + 2.0 + 9.0, 1.0 + 2.0 + 4.0, 0.5],
                _ => [2.0 + 6.0 + 6.0, 2.0 + 6.0, 2.0],
            };
        Self { mhz, clocks_per_byte, read_clocks, write_clocks }
    }

    /// Returns the nanoseconds for a byte of lines that are read, and of lines that are written.
    fn ns_per_byte(&self, line: f64) -> [f64; 2] {
        [self.read_clocks, self.write_clocks]
            .map(|first| (first / line + self.clocks_per_byte) * 1e3 / self.mhz.max(1.0))
    }
}

/// Times of memories with a firmware's settings, against those with the chip's default ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemoryTimes {
    /// Time of fetching the driver's code from flash.
    driver: f64,
    /// Time of fetching lwIP's and the program's code.
    compiled: f64,
    /// Time of lwIP's and the program's work itself.
    work: f64,
    /// TCP's paths are in RAM, too.
    tcp_in_ram: bool,
    /// Cost of a packet's bytes, where it is in PSRAM.
    psram_ps: Option<Psram>,
}

/// Cost of reading and of writing a byte of a packet in PSRAM, in each direction, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Psram {
    received: [f64; 2],
    sent: [f64; 2],
}

/// Returns the bytes of code in flash that a packet's way goes through.
fn walked(sdk: &SdkConfig, size: f64) -> f64 {
    let code = |key: ConfigOption| match key.fact().price {
        Price::Code(bytes) => f64::from(bytes),
        _ => 0.0,
    };
    let in_flash = |in_ram: bool, key| if in_ram { 0.0 } else { code(key) };
    let tcp = sdk.memory.get(ConfigOption::LwipExtraIram) == Some(1);
    let driver = in_flash(sdk.wifi_iram, ConfigOption::WifiIram)
        + in_flash(sdk.wifi_rx_iram, ConfigOption::WifiRxIram);
    let lwip = in_flash(sdk.lwip_iram, ConfigOption::LwipIram)
        + in_flash(tcp, ConfigOption::LwipExtraIram);
    WALKED * (driver + size * lwip) + size * BESIDE
}

/// Returns the nanoseconds for which a byte of a loop is fetched in each pass, where the loop goes through so
/// many bytes.
fn fetched(chip: Chip, sdk: &SdkConfig, bytes: f64) -> f64 {
    let cache = Cache::of_code(chip, sdk);
    let [read, _] = SpiMemory::flash(chip, sdk).ns_per_byte(cache.line);
    cache.misses(bytes) * read
}

/// Returns the same of the reference chip with its default settings.
fn reference() -> f64 {
    let usual = SdkConfig::default();
    fetched(REFERENCE, &usual, walked(&usual, 1.0)).max(f64::MIN_POSITIVE)
}

impl MemoryTimes {
    /// Returns the times of an ESP8266's SDK, whose options are not known, on a core that works so many times as
    /// fast as the reference core: 32 KB of RAM are its cache of flash, which has four lines and 40 MHz. Ways and
    /// lines are assumptions.
    pub(super) fn of_esp8266(sdk: &SdkConfig, speed: f64) -> Self {
        let cache = Cache { bytes: 32_768.0, line: 32.0, ways: 4 };
        let [read, _] = SpiMemory::qio(40.0).ns_per_byte(cache.line);
        let ratio = speed * cache.misses(walked(sdk, 1.0)) * read / reference();
        Self { driver: ratio, compiled: ratio, work: 1.0, tcp_in_ram: false, psram_ps: None }
    }

    /// Returns the times of a firmware on a chip whose core works so many times as fast as the reference
    /// core: flash is as slow for both.
    pub(super) fn of(chip: Chip, sdk: &SdkConfig, speed: f64) -> Self {
        let optimization = sdk.memory.value(ConfigOption::Optimization, chip);
        let (work, size) = COMPILED[(optimization as usize).min(COMPILED.len() - 1)];
        let psram = sdk.memory.buffers_in_psram();
        // Packets that are on their way through PSRAM go through the data cache at the same time, or
        // through the only one.
        let windows = [sdk.rx_ba_window, sdk.tx_ba_window];
        let bursts = windows
            .map(|it| f64::from(it.max(1)) * f64::from(if psram { BUFFER_BYTES } else { 0 }));
        let own = Cache::of_data(chip, sdk);
        let through = |sdk: &SdkConfig, size, burst| {
            walked(sdk, size) + if own.is_none() { burst } else { 0.0 }
        };
        let ratio = speed * fetched(chip, sdk, through(sdk, size, bursts[0])) / reference();
        let data = own.unwrap_or_else(|| Cache::of_code(chip, sdk));
        let [read, write] = SpiMemory::psram(chip, sdk).ns_per_byte(data.line).map(|ns| ns * 1e3);
        // What is written there for the first time is in no cache; what was written a while ago may be.
        let each = |burst: f64| {
            let code = if own.is_none() { walked(sdk, size) } else { 0.0 };
            [read * data.misses(burst + code), read + write]
        };
        Self {
            driver: ratio,
            compiled: ratio * size,
            work,
            tcp_in_ram: sdk.memory.get(ConfigOption::LwipExtraIram) == Some(1),
            psram_ps: psram.then(|| Psram { received: each(bursts[0]), sent: each(bursts[1]) }),
        }
    }
}

/// Returns the time in which flash delivers code that is not in the cache at all, as a part of that with
/// the chip's default settings.
pub(super) fn flash_time(chip: Chip, memory: MemoryOptions) -> f64 {
    let read = |memory| {
        let sdk = SdkConfig { memory, ..SdkConfig::default() };
        SpiMemory::flash(chip, &sdk).ns_per_byte(Cache::of_code(chip, &sdk).line)[0]
    };
    read(memory) / read(MemoryOptions::default())
}

/// Parts in which factors of costs are counted.
const PARTS: f64 = 1e6;

fn scaled(cost: Cost, factor: f64) -> Cost {
    cost.times(libm::round(factor * PARTS) as u64, PARTS as u64)
}

/// Returns a cost with so many picoseconds more for each byte.
fn more(cost: Cost, ps: f64) -> Cost {
    Cost { per_byte_ps: cost.per_byte_ps + libm::round(ps) as u64, ..cost }
}

impl IpCosts {
    /// Returns the costs with the firmware's code and packets where its settings have them.
    ///
    /// A path in flash takes longer than one in RAM by the time of fetching what is missing: the profile's
    /// percentage where that is as much as on the reference chip. TCP's own paths, which
    /// `CONFIG_LWIP_IRAM_OPTIMIZATION` leaves in flash, and the program are taken to miss as much for each byte of
    /// code as lwIP's other paths.
    pub(super) fn with(self, sdk: &SdkConfig, times: &MemoryTimes) -> Self {
        let part = |percent: u16| f64::from(percent.max(100) - 100) / 100.0;
        let path = |cost: Cost, in_ram: bool, percent: u16| {
            let fetched = if in_ram { 0.0 } else { part(percent) * times.driver };
            scaled(cost, 1.0 + fetched)
        };
        let send = |cost| path(cost, sdk.wifi_iram, self.wifi_flash_percent);
        let receive = |cost| path(cost, sdk.wifi_rx_iram, self.wifi_rx_flash_percent);
        let lwip = part(self.lwip_flash_percent);
        // `own`: what fetching adds to the time in RAM for code that stays in flash.
        let compiled = |cost: Cost, own: f64, own_in_ram: bool, movable: bool| {
            let own = if own_in_ram { 0.0 } else { own * times.compiled };
            let fetched = if !movable || sdk.lwip_iram { 0.0 } else { lwip * times.compiled };
            scaled(cost, times.work + own + fetched)
        };
        let code = |key: ConfigOption| match key.fact().price {
            Price::Code(bytes) => f64::from(bytes),
            _ => 0.0,
        };
        let of_tcp =
            lwip * code(ConfigOption::LwipExtraIram) / code(ConfigOption::LwipIram).max(1.0);
        let ip = |cost| compiled(cost, 0.0, false, true);
        let tcp = |cost| compiled(cost, of_tcp, times.tcp_in_ram, true);
        let program = |cost| compiled(cost, lwip, false, false);
        // Each task takes one received packet after the other, as many as an A-MPDU brings: its code is fetched for the first.
        let burst = f64::from(sdk.rx_ba_window.max(1));
        let in_turn = |cost: Cost| {
            let fetched = if sdk.lwip_iram { 0.0 } else { lwip * times.compiled };
            scaled(cost, times.work + fetched / burst)
        };
        let costs = Self {
            wifi_receive: receive(self.wifi_receive),
            wifi_send: send(self.wifi_send),
            wifi_start: send(self.wifi_start),
            wifi_sent: send(self.wifi_sent),
            udp_receive: in_turn(self.udp_receive),
            udp_send: ip(self.udp_send),
            tcp_receive: tcp(self.tcp_receive),
            tcp_write: tcp(self.tcp_write),
            tcp_send: tcp(self.tcp_send),
            ack_receive: tcp(self.ack_receive),
            ack_send: tcp(self.ack_send),
            // The option covers the calls' way through `sockets.c`, `api_lib.c` and `api_msg.c`, too
            // (ESP-IDF, components/lwip/linker.lf).
            socket_send: ip(self.socket_send),
            socket_receive: in_turn(self.socket_receive),
            bytewise: program(self.bytewise),
            print: program(self.print),
            round: program(self.round),
            ..self
        };
        times.psram_ps.map_or(costs, |it| costs.in_psram(it))
    }

    /// Returns the costs with packets in PSRAM.
    ///
    /// Of a received frame the driver makes a copy there, lwIP adds up its checksum, and the program
    /// copies it; a packet to send is copied there by lwIP, and from there to a static buffer by the driver.
    /// A line that is written is first fetched, and put back later: the heap gives memory that no cache has. That is
    /// an assumption, and so is that what lwIP keeps beside packets stays in the cache.
    fn in_psram(self, it: Psram) -> Self {
        let of = |percent: u16, ps: [f64; 2]| ps.map(|it| it * f64::from(percent) / 100.0);
        let [read, write] = of(self.psram_received_percent, it.received);
        let [read_sent, write_sent] = of(self.psram_sent_percent, it.sent);
        Self {
            wifi_receive: more(self.wifi_receive, write),
            udp_receive: more(self.udp_receive, read),
            tcp_receive: more(self.tcp_receive, read),
            copy: more(self.copy, read),
            udp_send: more(self.udp_send, write_sent),
            tcp_send: more(self.tcp_send, write_sent),
            wifi_send: more(self.wifi_send, read_sent),
            ..self
        }
    }
}
