//! A host whose radio is on a chip beside it (ESP-Hosted): alone, and with that chip's own sdkconfig.
//!
//! "Host" and "slave" are esp-hosted-mcu's `Kconfig` and `slave/main/Kconfig.projbuild`; which Wi-Fi values count is in
//! `slave/main/slave_wifi_std.c`, what it measured in `docs/performance_optimization.md`.

use super::super::words::mbit;
use super::*;
use Severity::{Limits, Note, Wrong};
use espbench_model::sdkconfig::{HostedBus, HostedBusOptions, HostedOptions};

/// Below that the wires hold Wi-Fi back, in Mbit/s: raw transfers reach half of what they carry.
const ENOUGH: f64 = 100.0;

/// Options of the co-processor's Wi-Fi that the host sends to it, and that count in place of its own.
const SENT: [ConfigOption; 8] = [
    ConfigOption::StaticRx,
    ConfigOption::DynamicRx,
    ConfigOption::StaticTxBuffer,
    ConfigOption::StaticTx,
    ConfigOption::DynamicTx,
    ConfigOption::AmpduRx,
    ConfigOption::AmpduTx,
    ConfigOption::RxBaWindow,
];

/// The sdkconfig of a co-processor.
#[derive(Clone, Copy, Debug)]
pub struct CoProcessorConfig<'a> {
    /// Name of the file, for people.
    pub name: &'a str,
    /// The file as it was read.
    pub reading: &'a ParsedSdkConfig,
}

/// Returns a host's bus with its clock and lines, as given or as Kconfig has them.
fn bus_of(host: &HostedOptions) -> (HostedBus, HostedBusOptions) {
    let bus = host.bus.unwrap_or(HostedBus::Sdio);
    let given = host.of(bus);
    let (khz, lines) = match bus {
        HostedBus::Sdio => (40_000, 4),
        HostedBus::Spi => (26_000, 1),
        HostedBus::SpiHalf => (26_000, 4),
        HostedBus::Uart => (921, 1),
    };
    let (khz, lines) = (given.khz.unwrap_or(khz), given.lines.unwrap_or(lines));
    (bus, HostedBusOptions { khz: Some(khz), lines: Some(lines), ..given })
}

/// Returns what the wires carry at most, in Mbit/s.
fn carries(bus: HostedBus, options: &HostedBusOptions) -> f64 {
    let khz = f64::from(options.khz.unwrap_or_default());
    let lines = f64::from(options.lines.unwrap_or(1));
    match bus {
        // A start and a stop bit stand around eight.
        HostedBus::Uart => khz * 0.8 / 1e3,
        _ => khz * lines / 1e3,
    }
}

fn change(name: &str, from: &str, to: &str) -> SettingChange {
    SettingChange { name: name.into(), from: from.into(), to: to.into(), heap_bytes: 0 }
}

/// Finds what the way to the co-processor carries.
pub(super) fn host(m: &Material<'_>, out: &mut Vec<Finding>) {
    let host = &m.question.reading.hosted;
    if !host.is_host {
        return;
    }
    let (bus, options) = bus_of(host);
    let (khz, lines) = (options.khz.unwrap_or_default(), options.lines.unwrap_or(1));
    let most = carries(bus, &options);
    let how = match (bus, lines) {
        (HostedBus::Uart, _) => format!("at {khz} kbit/s"),
        (_, 1) => format!("1 line at {} MHz", number(f64::from(khz) / 1e3)),
        _ => format!("{lines} lines at {} MHz", number(f64::from(khz) / 1e3)),
    };
    let mut set = Vec::new();
    if bus == HostedBus::Sdio && lines < 4 {
        set.push(change("CONFIG_ESP_HOSTED_SDIO_4_BIT_BUS", "n", "y"));
    }
    if bus == HostedBus::Sdio && khz < 40_000 {
        let name = "CONFIG_ESP_HOSTED_SDIO_CLOCK_FREQ_KHZ";
        set.push(change(name, &khz.to_string(), "40000"));
    }
    out.push(finding(
        "hosted-bus",
        if most < ENOUGH { Limits } else { Note },
        format!(
            "The {} beside the host is reached over {}, {how}: the wires carry at most {}",
            m.context.chip,
            bus.title(),
            mbit(most)
        ),
        "esp-hosted-mcu measured over SDIO with 4 lines at 40 MHz 72 Mbit/s to an ESP32-C6 and 80 from it raw, and TCP at 32 and \
         30 Mbit/s (docs/performance_optimization.md). TCP/IP runs on the host, Wi-Fi with the host's CONFIG_WIFI_RMT_ values on the chip beside it.",
        set,
    ));
    if options.streaming == Some(false) && bus == HostedBus::Sdio {
        out.push(finding(
            "hosted-single-packets",
            Limits,
            "The host reads each packet of the co-processor by itself".into(),
            "Kconfig: streaming mode reads what is queued in one transaction, which is faster.",
            alloc::vec![change("CONFIG_ESP_HOSTED_SDIO_OPTIMIZATION_RX_STREAMING_MODE", "n", "y")],
        ));
    }
}

/// Finds where a host and its co-processor do not fit each other.
fn pair(m: &Material<'_>, other: &CoProcessorConfig<'_>, out: &mut Vec<Finding>) {
    let host = &m.question.reading;
    let (name, slave) = (other.name, other.reading);
    if let (Some(wanted), Some(found)) = (host.hosted.beside, slave.chip)
        && wanted != found
    {
        out.push(finding(
            "hosted-chip",
            Wrong,
            format!("The host is built for an {wanted} beside it, and {name} is for the {found}"),
            "The host's drivers take the pins, the bus and the clock that the named chip has.",
            alloc::vec![change(
                &format!("CONFIG_SLAVE_IDF_TARGET_{}", found.name().to_uppercase()),
                "n",
                "y"
            )],
        ));
    }
    let (bus, own) = bus_of(&host.hosted);
    let usual = if slave.chip.is_some_and(has_sdio) { HostedBus::Sdio } else { HostedBus::Spi };
    let theirs = slave.hosted.bus.unwrap_or(usual);
    if bus != theirs {
        out.push(finding(
            "hosted-transport",
            Wrong,
            format!("The host speaks {}, and the co-processor {}", bus.title(), theirs.title()),
            "Neither hears the other.",
            alloc::vec![change(interface(theirs), "n", "y")],
        ));
    } else {
        of_bus(bus, &own, &slave.hosted.of(bus), out);
    }
    buffers(m, other, out);
    if let (Some(a), Some(b)) = (host.release, slave.release)
        && a != b
    {
        out.push(finding(
            "hosted-release",
            Note,
            format!("The host is built with ESP-IDF {a}, the co-processor with {b}"),
            "The host sends structures of its own esp_wifi.h. Build both with one release, and with one of esp-hosted: its \
             log tells both at start-up.",
            Vec::new(),
        ));
    }
}

/// Returns whether a chip can be the slave of SDIO: `SOC_SDIO_SLAVE_SUPPORTED`.
const fn has_sdio(chip: Chip) -> bool {
    matches!(chip, Chip::Esp32 | Chip::Esp32c5 | Chip::Esp32c6 | Chip::Esp32c61)
}

/// Returns the flag by which a host takes a bus.
const fn interface(bus: HostedBus) -> &'static str {
    match bus {
        HostedBus::Sdio => "CONFIG_ESP_HOSTED_SDIO_HOST_INTERFACE",
        HostedBus::Spi => "CONFIG_ESP_HOSTED_SPI_HOST_INTERFACE",
        HostedBus::SpiHalf => "CONFIG_ESP_HOSTED_SPI_HD_HOST_INTERFACE",
        HostedBus::Uart => "CONFIG_ESP_HOSTED_UART_HOST_INTERFACE",
    }
}

/// Finds options of the same bus that do not fit.
fn of_bus(
    bus: HostedBus,
    host: &HostedBusOptions,
    slave: &HostedBusOptions,
    out: &mut Vec<Finding>,
) {
    let mut wrong = |rule, what: String, why: &str| {
        out.push(finding(rule, Wrong, what, why, Vec::new()));
    };
    let khz = host.khz.zip(slave.khz);
    match (bus, khz) {
        (HostedBus::Sdio, Some((a, b))) if a > b => wrong(
            "hosted-clock",
            format!(
                "The host clocks SDIO at {} MHz, and the co-processor is built for {}",
                a / 1000,
                b / 1000
            ),
            "Beyond its timing bits are lost now and then: set CONFIG_ESP_SDIO_HIGH_SPEED=y on the co-processor, or lower the host's clock.",
        ),
        (HostedBus::Uart, Some((a, b))) if a != b => wrong(
            "hosted-clock",
            format!("The host's serial port has {a} kbit/s, and the co-processor's {b}"),
            "Neither understands the other: set the same CONFIG_ESP_HOSTED_UART_BAUDRATE and CONFIG_ESP_UART_BAUDRATE.",
        ),
        _ => {}
    }
    if let (Some(a), Some(b)) = (host.mode, slave.mode)
        && a != b
    {
        let what = format!("The host has SPI mode {a}, and the co-processor {b}");
        wrong("hosted-mode", what, "Kconfig: the same mode must be used on both sides.");
    }
    if bus == HostedBus::SpiHalf
        && let (Some(a), Some(b)) = (host.lines, slave.lines)
        && a != b
    {
        let what = format!("The host has {a} data lines, and the co-processor {b}");
        wrong("hosted-lines", what, "Each byte is divided among the lines.");
    }
    // The host's default is to stream, and so is the co-processor's.
    if bus == HostedBus::Sdio && host.streaming != Some(false) && slave.streaming == Some(false) {
        wrong(
            "hosted-streaming",
            "The host reads streams of packets, and the co-processor does not send them".into(),
            "Kconfig: streaming requires the co-processor to support it: set CONFIG_ESP_SDIO_STREAMING_MODE=y there.",
        );
    }
    if let (Some(true), Some(false)) = (host.checksum, slave.checksum) {
        wrong(
            "hosted-checksum",
            "The host looks at a checksum of each packet, and the co-processor writes none".into(),
            "Packets with a wrong checksum are dropped: set both alike.",
        );
    }
    for (what, (a, b)) in [
        ("what comes from the co-processor: the host takes", (host.rx_queue, slave.tx_queue)),
        ("what goes to it: the host keeps", (host.tx_queue, slave.rx_queue)),
    ] {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            out.push(finding(
                "hosted-queues",
                Note,
                format!("Queues differ for {what} {a} packets, the co-processor {b}"),
                "The smaller one holds; what is beyond it waits on the other side.",
                Vec::new(),
            ));
        }
    }
}

/// Notes values of the co-processor's Wi-Fi that do not count.
fn buffers(m: &Material<'_>, other: &CoProcessorConfig<'_>, out: &mut Vec<Finding>) {
    let context = other.reading.settings.context(m.context);
    let differ = SENT.iter().filter_map(|key| {
        let own = other.reading.settings.get(*key)?;
        let used = m.settings.value(*key, &context);
        (own != used).then(|| {
            format!("{}={} (the host's {})", key.name(), shown(*key, own), shown(*key, used))
        })
    });
    let differ: Vec<String> = differ.collect();
    if !differ.is_empty() {
        out.push(finding(
            "hosted-buffers",
            Note,
            format!("Values of {} that do not count: {}", other.name, differ.join(", ")),
            "The co-processor takes the host's CONFIG_WIFI_RMT_ values when esp_wifi_init() is called there, and its own memory has to \
             hold them.",
            Vec::new(),
        ));
    }
}

/// Holds a host's file against what is known, and against the file of the chip beside it.
#[must_use]
pub fn check_pair(question: &CheckInput, other: &CoProcessorConfig<'_>) -> Checked {
    let mut checked = check(question);
    pair(&Material::of(question), other, &mut checked.findings);
    checked.findings.sort_by_key(|it| it.severity);
    checked
}
