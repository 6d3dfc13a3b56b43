//! Wi-Fi as a station or an access point, and the programs over IP on it.

use crate::radio::sys::include::{esp_wifi_connect_internal, esp_wifi_disconnect_internal};
use core::fmt::{self, Write};
use esp_hal::rng::Rng;
use esp_radio::wifi::ap::AccessPointConfig;
use esp_radio::wifi::sta::StationConfig;
use esp_radio::wifi::{
    AuthenticationMethodConfig, Config, ControllerConfig, Interface, PowerSaveMode, WifiController,
    WifiRxToken, WifiTxToken,
};
use espbench_firmware_core::commands::Credentials;
use espbench_firmware_core::net::programs::{ProbeCounts, print_interval};
use espbench_firmware_core::net::{AddressSource, BufferSizes, IpHost, Order, Out, ProgramRun};
use espbench_firmware_core::smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use espbench_firmware_core::smoltcp::time::Instant as StackInstant;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::sdkconfig::Rank;
use espbench_model::time::{Duration, Instant};

/// Time between two tries to join a network.
const TRY_AGAIN: Duration = Duration::from_secs(5);
/// Longest frame of the interface, as `.cargo/config.toml` tells esp-radio.
const FRAME: usize = 1514;
/// Counters of a program that are kept.
const COUNTERS: usize = 12;

/// Returns the radio's configuration with the buffers of a rank. The queue of received frames has as many
/// places as the driver has buffers, so that none is dropped between the two; the queue of frames to send has
/// as many as the driver takes, so that a program is told when there is no room.
pub(crate) fn radio_config(rank: Option<&Rank>) -> ControllerConfig {
    let config = ControllerConfig::default();
    let Some(rank) = rank else { return config };
    config
        .with_static_rx_buf_num(rank.static_rx as u8)
        .with_dynamic_rx_buf_num(rank.dynamic_rx)
        .with_dynamic_tx_buf_num(rank.dynamic_tx)
        .with_ampdu_rx_enable(rank.rx_ba_window > 0)
        .with_rx_ba_win(rank.rx_ba_window)
        .with_rx_queue_size(usize::from(rank.dynamic_rx))
        .with_tx_queue_size(usize::from(rank.dynamic_tx))
}

/// Returns the sizes of sockets' buffers of a rank.
pub(crate) fn socket_sizes(rank: Option<&Rank>) -> BufferSizes {
    rank.map_or_else(BufferSizes::default, |rank| BufferSizes {
        send: u32::from(rank.send_buffer_kb) * 1024,
        window: u32::from(rank.window_kb) * 1024,
        ..BufferSizes::default()
    })
}

/// The interface of the radio as smoltcp wants it.
struct NetDevice(Interface);

struct Received(WifiRxToken);
struct Room(WifiTxToken);

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        self.0.consume_token(|frame| take(frame))
    }
}

impl phy::TxToken for Room {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        self.0.consume_token(len, fill)
    }
}

impl Device for NetDevice {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room;

    fn receive(&mut self, _: StackInstant) -> Option<(Received, Room)> {
        self.0.receive().map(|(frame, room)| (Received(frame), Room(room)))
    }

    fn transmit(&mut self, _: StackInstant) -> Option<Room> {
        self.0.transmit().map(Room)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        it.medium = Medium::Ethernet;
        it.max_transmission_unit = FRAME;
        it
    }
}

/// A network that the device is in.
struct Joined {
    device: NetDevice,
    host: IpHost,
    /// When a station tries again, unless it has joined.
    again: Option<Instant>,
    told: Option<[u8; 4]>,
}

/// Wi-Fi and the programs over it.
pub(crate) struct Network {
    controller: WifiController<'static>,
    sizes: BufferSizes,
    joined: Option<Joined>,
    run: Option<ProgramRun>,
    record: Record,
}

/// Record of a program.
#[derive(Default)]
struct Record {
    probes: ProbeCounts,
    counts: [(&'static str, u64); COUNTERS],
}

impl Network {
    /// Takes the radio.
    pub(crate) fn new(controller: WifiController<'static>, sizes: BufferSizes) -> Self {
        Self { controller, sizes, joined: None, run: None, record: Record::default() }
    }

    /// Joins a network or opens one, and says whether the radio takes the settings.
    pub(crate) fn open(&mut self, now: Instant, it: &Credentials, own: bool) -> bool {
        self.leave();
        let Some(config) = config(it, own) else { return false };
        // Power save would add beacon intervals to every delay.
        let set = self.controller.set_config(&config).is_ok()
            && self.controller.set_power_saving(PowerSaveMode::None).is_ok();
        let interface = if own { Interface::try_access_point() } else { Interface::try_station() };
        let (true, Some(interface)) = (set, interface) else { return false };
        let mac = Mac(interface.mac_address());
        let mut device = NetDevice(interface);
        let source = if own { AddressSource::AccessPoint } else { AddressSource::Dhcp };
        let seed = u64::from(Rng::new().random());
        let host = IpHost::new(now, &mut device, mac, source, self.sizes, seed);
        let again = (!own).then_some(now);
        self.joined = Some(Joined { device, host, again, told: None });
        true
    }

    /// Leaves the network, or closes the device's own.
    pub(crate) fn leave(&mut self) {
        self.run = None;
        if self.joined.take().is_some() {
            // SAFETY: the radio is started. An access point closes with the next configuration.
            unsafe { esp_wifi_disconnect_internal() };
            let _ = self.controller.set_config(&Config::Station(StationConfig::default()));
        }
    }

    /// Returns whether the channel is the network's.
    pub(crate) const fn holds_channel(&self) -> bool {
        self.joined.is_some()
    }

    /// Starts a program in the place of the one that runs; returns false without a network.
    pub(crate) fn start(&mut self, order: Order) -> bool {
        self.run = None;
        self.record = Record::default();
        if self.joined.is_some() {
            self.run = Some(ProgramRun::new(order));
        }
        self.joined.is_some()
    }

    /// Stops the program; returns false where none runs.
    pub(crate) fn stop(&mut self, out: &mut dyn Write) -> bool {
        let (Some(run), Some(joined)) = (self.run.take(), &mut self.joined) else { return false };
        run.stop(&mut joined.host, &mut Outlet { out, record: &mut self.record });
        true
    }

    /// Moves packets and lets the program go on.
    pub(crate) fn turn(&mut self, now: Instant, out: &mut dyn Write) {
        let Some(joined) = &mut self.joined else { return };
        if joined.again.is_some_and(|at| now >= at) {
            if !self.controller.is_connected() {
                // SAFETY: the radio is started and configured as a station.
                unsafe { esp_wifi_connect_internal() };
            }
            joined.again = Some(now + TRY_AGAIN);
        }
        let changed = joined.host.poll(now, &mut joined.device);
        let address = joined.host.address();
        if address != joined.told {
            joined.told = address;
            // Text that finds no room is counted by the driver.
            let _ = print_address(out, address);
        }
        let Some(mut run) = self.run.take() else { return };
        let mut outlet = Outlet { out, record: &mut self.record };
        if run.turn(now, &mut joined.host, changed, &mut outlet) {
            self.run = Some(run);
        } else {
            let _ = self.report(out);
        }
    }

    /// Prints state and address.
    pub(crate) fn state(&self, out: &mut dyn Write) -> fmt::Result {
        match &self.joined {
            None => out.write_str("\r\nwifi: not in a network\r\n"),
            Some(joined) => {
                let linked = self.controller.is_connected() || joined.again.is_none();
                write!(out, "\r\nwifi: {}\r\n", if linked { "up" } else { "joining" })?;
                print_address(out, joined.host.address())
            }
        }
    }

    /// Prints what the program has counted.
    pub(crate) fn report(&self, out: &mut dyn Write) -> fmt::Result {
        let ProbeCounts { delivered, lost } = self.record.probes;
        write!(out, "program: {delivered} delivered, {lost} lost")?;
        for (name, count) in self.record.counts.iter().filter(|it| it.1 > 0) {
            write!(out, ", {name} {count}")?;
        }
        let refused = self.joined.as_ref().map_or(0, |it| it.host.no_memory());
        write!(out, ", {refused} sockets without memory\r\n")
    }
}

fn print_address(out: &mut dyn Write, address: Option<[u8; 4]>) -> fmt::Result {
    match address {
        Some([a, b, c, d]) => write!(out, "wifi: address {a}.{b}.{c}.{d}\r\n"),
        None => out.write_str("wifi: no address\r\n"),
    }
}

/// Returns a configuration; `None` if the name or the password is none.
fn config(it: &Credentials, own: bool) -> Option<Config> {
    let authentication = if it.password.is_empty() {
        AuthenticationMethodConfig::Open
    } else {
        AuthenticationMethodConfig::Wpa2Personal(it.password.as_str().try_into().ok()?)
    };
    let ssid = it.ssid.as_str().try_into().ok()?;
    let station = StationConfig::default();
    Some(if own {
        let access_point =
            AccessPointConfig::default().with_ssid(ssid).with_authentication(authentication);
        // ESP-NOW goes on at the station's interface.
        Config::AccessPointStation(station, access_point)
    } else {
        Config::Station(station.with_ssid(ssid).with_authentication(authentication))
    })
}

/// Outlet of a program: text to the console, the rest to the record.
struct Outlet<'a> {
    out: &'a mut dyn Write,
    record: &'a mut Record,
}

impl Out for Outlet<'_> {
    fn print(&mut self, text: &[u8]) {
        if let Ok(text) = core::str::from_utf8(text) {
            let _ = self.out.write_str(text);
        }
    }

    fn sample(&mut self, sample: Sample) {
        if let Some(interval) = self.record.probes.take(&sample) {
            let _ = print_interval(self.out, &interval);
        }
    }

    fn count(&mut self, name: &'static str, by: u64) {
        let free = |it: &&mut (&str, u64)| it.0 == name || it.0.is_empty();
        if let Some(place) = self.record.counts.iter_mut().find(free) {
            *place = (name, place.1.saturating_add(by));
        }
    }
}
