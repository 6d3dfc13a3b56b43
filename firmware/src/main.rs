//! A node of espbench on ESP32-C3, C2 and C6. This crate is the thin part that knows the chip;
//! what can be tested without one is in `espbench-firmware-core`.
#![no_std]
#![no_main]

mod board;
mod crash;
mod flash;
mod radio;
mod stack;
mod terminal;

use board::ChipBoard;
use core::fmt::Write as _;
use esp_hal::clock::CpuClock;
use esp_hal::rtc_cntl::{Rtc, Rwdt, RwdtStage};
use esp_hal::time::{Duration as ChipDuration, Instant as ChipInstant};
use esp_hal::timer::timg::TimerGroup;
use esp_now::node::board::Board as _;
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::{BuildInfo, EspNowEvent, NodeSettings};
use esp_now::node::tick::Tick;
use esp_radio::wifi::{ControllerConfig, Interface, WifiController};
use esp_sync::NonReentrantMutex;
use espbench_firmware_core::boot::{BootOrder, CONFIRM_AFTER};
use espbench_firmware_core::commands::{Command, HELP, WrongCommand};
use espbench_firmware_core::driver::{Io, NodeDriver, Told};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use static_cell::StaticCell;

/// Version with the git revision.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ESPBENCH_REVISION"));
/// Name of the chip.
const CHIP: &str = cfg_select! {
    feature = "esp32c2" => "esp32c2",
    feature = "esp32c3" => "esp32c3",
    feature = "esp32c6" => "esp32c6",
};
/// Name of the project, in the image's description and in answers to scans.
const PROJECT: &str = "espbench-firmware";
/// Bytes of the heap that the bootloader had before. The heap is the radio's, for buffers and tasks, and
/// that of the IP programs.
const HEAP_RECLAIMED: usize = 64_000;
/// Further bytes of the heap.
const HEAP_OWN: usize = if cfg!(feature = "esp32c2") { 32 * 1024 } else { 40 * 1024 };
/// Time without a turn of the main loop after which the chip is reset.
const PATIENCE: ChipDuration = ChipDuration::from_secs(8);

/// The watchdog of the RTC, which resets the whole chip.
static WATCHDOG: NonReentrantMutex<Option<Rwdt>> = NonReentrantMutex::new(None);

esp_bootloader_esp_idf::esp_app_desc!(
    VERSION,
    PROJECT,
    esp_bootloader_esp_idf::BUILD_TIME,
    esp_bootloader_esp_idf::BUILD_DATE,
    esp_bootloader_esp_idf::ESP_IDF_COMPATIBLE_VERSION,
    esp_bootloader_esp_idf::MMU_PAGE_SIZE,
    0,
    u16::MAX,
    esp_bootloader_esp_idf::SECURE_VERSION
);

/// Returns the time since the start.
fn now() -> Instant {
    let micros = ChipInstant::now().duration_since_epoch().as_micros();
    Instant::from_nanos(micros.saturating_mul(1000))
}

/// Tells the watchdog that the program goes on.
pub(crate) fn feed_watchdog() {
    WATCHDOG.with(|it| {
        if let Some(watchdog) = it {
            watchdog.feed();
        }
    });
}

#[esp_hal::main]
fn main() -> ! {
    stack::paint();
    let p = esp_hal::init(esp_hal::Config::default().with_cpu_clock(CpuClock::max()));
    esp_alloc::heap_allocator!(#[esp_hal::ram(reclaimed)] size: HEAP_RECLAIMED);
    esp_alloc::heap_allocator!(size: HEAP_OWN);
    let mut rtc = Rtc::new(p.RTC_TIMER);
    rtc.rwdt.set_timeout(RwdtStage::Stage0, PATIENCE);
    rtc.rwdt.enable();
    WATCHDOG.with(|it| *it = Some(rtc.rwdt));
    let timers = TimerGroup::new(p.TIMG0);
    esp_rtos::start(timers.timer0, p.FROM_CPU_INTR0);

    static FLASH: StaticCell<flash::ChipFlash> = StaticCell::new();
    let flash = FLASH.init(flash::ChipFlash::new(p.FLASH));
    static BOARD: StaticCell<ChipBoard> = StaticCell::new();
    let board = BOARD.init(ChipBoard::new(flash));
    if board.start() == BootOrder::FallBack {
        board.boot(esp_now::node::board::Slot::Spare);
        esp_hal::system::software_reset();
    }

    let Ok(mut wifi) = WifiController::new(p.WIFI, ControllerConfig::default()) else {
        panic!("the radio does not start");
    };
    let mac = Mac(Interface::station().mac_address());
    let mut radio = radio::ChipRadio::new(&mut wifi);
    #[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
    let mut terminal = terminal::ChipTerminal::usb(p.USB_DEVICE);
    #[cfg(any(feature = "uart", feature = "esp32c2"))]
    let mut terminal = terminal::ChipTerminal::uart(p.UART0);

    let build = BuildInfo {
        project: PROJECT,
        version: VERSION,
        idf: esp_bootloader_esp_idf::ESP_IDF_COMPATIBLE_VERSION,
        date: esp_bootloader_esp_idf::BUILD_DATE,
        time: esp_bootloader_esp_idf::BUILD_TIME,
    };
    let settings =
        NodeSettings { tick: Tick::from_hz(1000), target: CHIP, build, ..NodeSettings::default() };
    static NODE: StaticCell<SmallNode> = StaticCell::new();
    let setup = Setup::default();
    let node = NODE.init_with(|| SmallNode::new(now(), board, mac, settings, &setup));
    static BUF: StaticCell<[u8; 1500]> = StaticCell::new();
    let buf = BUF.init([0; 1500]);
    static DRIVER: StaticCell<NodeDriver> = StaticCell::new();
    let driver = DRIVER.init_with(NodeDriver::new);
    let mut confirmed = false;
    loop {
        feed_watchdog();
        let at = now();
        if !confirmed && at.as_nanos() >= CONFIRM_AFTER.as_nanos() as u64 {
            confirmed = true;
            board.confirm();
        }
        let mut counters = false;
        let mut io = Io { board, radio: &mut radio, terminal: &mut terminal };
        driver.turn(at, node, &mut io, buf, &mut |driver, told| match told {
            Told::Event(event) => tell(driver, event),
            Told::Command(Ok(Command::Counters)) => counters = true,
            Told::Command(command) => carry_out(driver, &command),
            Told::Restart => esp_hal::system::software_reset(),
        });
        if counters {
            print_counters(driver, node, &radio);
        }
    }
}

/// Prints what happened to the node, where its own lines do not say it.
fn tell(driver: &mut NodeDriver, event: EspNowEvent) {
    if let EspNowEvent::Control { responder, value, .. } = event {
        let _ = write!(Text(driver), "espbench: attribute {responder} is {value}\r\n");
    }
}

/// Carries a command of the firmware out.
fn carry_out(driver: &mut NodeDriver, command: &Result<Command, WrongCommand>) {
    let mut out = Text(driver);
    // Text that finds no room is counted by the driver.
    let _ = match command {
        Ok(Command::Version) => {
            write!(out, "\r\n{PROJECT} {VERSION}, chip {CHIP}\r\n")
        }
        Ok(Command::Stack) => {
            let (size, used) = stack::sizes();
            write!(out, "\r\nstack: {used} of {size} bytes used at the deepest\r\n")
        }
        Ok(Command::Panic) => panic!("asked for at the console"),
        Ok(Command::Counters) => Ok(()),
        Err(WrongCommand) => write!(out, "\r\n{HELP}"),
    };
}

/// Prints what every queue has dropped.
fn print_counters(driver: &mut NodeDriver, node: &SmallNode, radio: &radio::ChipRadio) {
    let (counters, text, queues) = (driver.counters, driver.text_dropped(), radio::queues());
    let frames = node.dropped();
    let mut out = Text(driver);
    let _ = write!(
        out,
        "\r\nradio: {} received frames dropped, {} too long, {} outcomes dropped, \
         {} bytes of {} waited at most\r\n",
        queues.frames,
        queues.too_long,
        queues.outcomes,
        queues.peak,
        radio::RING,
    );
    let _ = write!(
        out,
        "driver: {} frames refused ({} without buffer), {} without peer, {} peers replaced, \
         {text} bytes of text dropped\r\n",
        counters.refused,
        radio.no_memory(),
        counters.no_peer,
        counters.replaced,
    );
    let _ = write!(out, "node: {} dropped: {frames:?}\r\n", frames.total());
}

/// Text for the terminal, through the driver's queue.
struct Text<'a>(&'a mut NodeDriver);

impl core::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.print(text.as_bytes());
        Ok(())
    }
}
