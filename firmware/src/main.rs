//! A node of espbench on ESP32-C3, C2 and C6. This crate is the thin part that knows the chip;
//! what can be tested without one is in `espbench-firmware-core`.
#![no_std]
#![no_main]

mod accelerator;
mod board;
mod crash;
mod flash;
mod radio;
mod stack;
mod terminal;
mod wifi;

use board::ChipBoard;
use core::fmt::Write as _;
use esp_hal::clock::CpuClock;
use esp_hal::rtc_cntl::{Rtc, Rwdt, RwdtStage};
use esp_hal::time::{Duration as ChipDuration, Instant as ChipInstant};
use esp_hal::timer::timg::TimerGroup;
use esp_now::node::Input;
use esp_now::node::board::{Board as _, NvsKey};
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::{BuildInfo, Encrypt, EspNowEvent, NodeSettings};
use esp_now::node::tick::Tick;
use esp_radio::wifi::{Interface, WifiController};
use esp_sync::NonReentrantMutex;
use espbench_firmware_core::boot::{BootOrder, CONFIRM_AFTER};
use espbench_firmware_core::commands::{Command, Credentials, HELP, WrongCommand};
use espbench_firmware_core::driver::{Io, NodeDriver, Told};
use espbench_firmware_core::settings::FirmwareSettings;
use espbench_ieee80211::mac::Mac;
use espbench_model::sdkconfig::Chip;
use espbench_model::time::Instant;
use heapless::Vec;
use static_cell::StaticCell;
use wifi::Network;

/// Version with the git revision.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("ESPBENCH_REVISION"));
/// The chip.
const CHIP: Chip = cfg_select! {
    feature = "esp32c2" => Chip::Esp32c2,
    feature = "esp32c3" => Chip::Esp32c3,
    feature = "esp32c6" => Chip::Esp32c6,
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

    let stored = board.settings();
    let rank = stored.rank(CHIP);
    let Ok(mut wifi) = WifiController::new(p.WIFI, wifi::radio_config(rank)) else {
        panic!("the radio does not start");
    };
    let mac = Mac(Interface::station().mac_address());
    let mut radio = radio::ChipRadio::new(&mut wifi);
    let mut network = wifi::Network::new(wifi, wifi::socket_sizes(rank));
    #[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
    let mut terminal = terminal::ChipTerminal::usb(p.USB_DEVICE);
    #[cfg(any(feature = "uart", feature = "esp32c2"))]
    let mut terminal = terminal::ChipTerminal::uart(p.UART0);

    let settings = node_settings(stored.seal);
    static NODE: StaticCell<SmallNode> = StaticCell::new();
    let setup = Setup::default();
    let node = NODE.init_with(|| SmallNode::new(now(), board, mac, settings, &setup));
    static BUF: StaticCell<[u8; 1500]> = StaticCell::new();
    let buf = BUF.init([0; 1500]);
    static DRIVER: StaticCell<NodeDriver> = StaticCell::new();
    let driver = DRIVER.init_with(NodeDriver::new);
    let (mut confirmed, mut holds) = (false, false);
    loop {
        feed_watchdog();
        let at = now();
        if !confirmed && at.as_nanos() >= CONFIRM_AFTER.as_nanos() as u64 {
            confirmed = true;
            board.confirm();
        }
        // A turn has a command, a restart and an event for each request of the node at most.
        let mut wanted: Vec<Told, 18> = Vec::new();
        let mut io = Io { board, radio: &mut radio, terminal: &mut terminal };
        driver.turn(at, node, &mut io, buf, &mut |_, told| {
            let _ = wanted.push(told);
        });
        for told in wanted {
            match told {
                Told::Event(event) => tell(at, driver, board, &mut network, event),
                Told::Command(Ok(Command::Counters)) => {
                    print_counters(driver, node, &radio, board.unsaved());
                    let _ = network.report(&mut Text(driver));
                }
                Told::Command(command) => {
                    let _ = carry_out(at, driver, board, &mut network, command);
                }
                Told::Restart => esp_hal::system::software_reset(),
            }
        }
        network.turn(at, &mut Text(driver));
        if holds != network.holds_channel() {
            holds = network.holds_channel();
            node.handle(at, board, Input::ChannelLocked(holds));
        }
    }
}

/// Returns the node's settings.
fn node_settings(seal: bool) -> NodeSettings {
    let build = BuildInfo {
        project: PROJECT,
        version: VERSION,
        idf: esp_bootloader_esp_idf::ESP_IDF_COMPATIBLE_VERSION,
        date: esp_bootloader_esp_idf::BUILD_DATE,
        time: esp_bootloader_esp_idf::BUILD_TIME,
    };
    NodeSettings {
        tick: Tick::from_hz(1000),
        target: CHIP.name(),
        // Without it no key is taken from an initiator.
        encrypt: Encrypt {
            enabled: true,
            control: seal,
            debug: seal,
            ota: seal,
            prov: seal,
            time: false,
        },
        build,
        ..NodeSettings::default()
    }
}

/// Prints what happened to the node, where its own lines do not say it, and does what it asks for.
fn tell(
    now: Instant,
    driver: &mut NodeDriver,
    board: &mut ChipBoard,
    network: &mut Network,
    event: EspNowEvent,
) {
    match event {
        EspNowEvent::Control { responder, value, .. } => {
            let _ = write!(Text(driver), "espbench: attribute {responder} is {value}\r\n");
        }
        EspNowEvent::Disconnect => network.leave(),
        EspNowEvent::Connect | EspNowEvent::Provisioned(_) => {
            let mut stored = [0; 96];
            let len = board.load(NvsKey::Wifi, &mut stored).unwrap_or(0);
            let known = Credentials::stored(&stored[..len]);
            let opened = known.is_some_and(|it| network.open(now, &it, false));
            if !opened {
                driver.print(b"wifi: these credentials are refused\r\n");
            }
        }
        _ => {}
    }
}

/// Carries a command of the firmware out. Text that finds no room is counted by the driver.
fn carry_out(
    now: Instant,
    driver: &mut NodeDriver,
    board: &mut ChipBoard,
    network: &mut Network,
    command: Result<Command, WrongCommand>,
) -> core::fmt::Result {
    let mut out = Text(driver);
    let done = |out: &mut Text<'_>, done: bool| {
        out.write_str(if done { "\r\nOK\r\n" } else { "\r\nrefused\r\n" })
    };
    match command {
        Ok(Command::Version) => {
            let aes = if board.accelerates() { "accelerator" } else { "software" };
            write!(out, "\r\n{PROJECT} {VERSION}, chip {}, AES by {aes}\r\n", CHIP.name())
        }
        Ok(Command::Stack) => {
            let (size, used) = stack::sizes();
            write!(out, "\r\nstack: {used} of {size} bytes used at the deepest\r\n")
        }
        Ok(Command::Panic) => panic!("asked for at the console"),
        Ok(Command::Wifi) => network.state(&mut out),
        Ok(Command::Join(it)) => {
            let opened = network.open(now, &it, false);
            done(&mut out, opened)
        }
        Ok(Command::AccessPoint(it)) => {
            let opened = network.open(now, &it, true);
            done(&mut out, opened)
        }
        Ok(Command::Leave) => {
            network.leave();
            done(&mut out, true)
        }
        Ok(Command::Run(order)) => {
            let started = network.start(order);
            done(&mut out, started)
        }
        Ok(Command::Stop) => {
            let stopped = network.stop(&mut out);
            done(&mut out, stopped)
        }
        Ok(Command::Rank(name)) => {
            let mut settings = board.settings();
            let known = settings.choose(CHIP, name.as_bytes());
            done(&mut out, known && board.set_settings(settings))
        }
        Ok(Command::Seal(seal)) => {
            let settings = FirmwareSettings { seal, ..board.settings() };
            done(&mut out, board.set_settings(settings))
        }
        Ok(Command::Counters) => Ok(()),
        Err(WrongCommand) => write!(out, "\r\n{HELP}"),
    }
}

/// Prints what every queue has dropped, and how many values could not be stored.
fn print_counters(
    driver: &mut NodeDriver,
    node: &SmallNode,
    radio: &radio::ChipRadio,
    unsaved: u32,
) {
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
    let _ = write!(out, "flash: {unsaved} values not stored\r\n");
}

/// Text for the terminal, through the driver's queue.
struct Text<'a>(&'a mut NodeDriver);

impl core::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.print(text.as_bytes());
        Ok(())
    }
}
