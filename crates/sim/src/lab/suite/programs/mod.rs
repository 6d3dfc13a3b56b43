//! Tests over Wi-Fi, carried out in the lab by each document's procedure.
//!
//! | module | contents |
//! |---|---|
//! | `apps` | who runs which program |
//! | `esp_now` | an echo over ESP-NOW between two boards of which one sleeps, in their network or beside it |
//! | `join` | a station joins its network over and over, as after a start or with the key of its password known |
//! | `mqtt` | MQTT messages: the device publishes, the PC has the broker and who subscribes |
//! | `told` | what a cell tells beside its samples |
//! | `traffic` | the traffic of devices that are not measured, from the beginning of a test to its end |
//!
//! [`run_in`](super::run_in) does one cell: it makes the lab of a scene, gives device and PC their programs, lets
//! virtual time go by until they are done, and gives samples, counters and facts to a [`Record`].
//!
//! | test | the device | the PC |
//! |---|---|---|
//! | UDP echo | an echo over sockets, or the Arduino sketch; over ESP-NOW where it is in no network | the prober; a second board |
//! | iperf | server (forward) or client (reverse), as ESP-IDF's or the ESP8266's example | the other end of iperf 2 |
//! | TCP messages | the sender | a sink |
//! | joining | is told to join, and to leave | nothing |
//! | MQTT messages | Smooth's client, or one written well | a broker and a subscriber |

mod apps;
mod esp_now;
mod join;
mod mqtt;
mod told;
mod traffic;

pub(in crate::lab) use mqtt::settings as mqtt_settings;
pub(super) use told::charged;
pub(in crate::lab) use traffic::begin_traffic;

use super::{SuiteError, Unable, Witness};
use crate::lab::file::{Library, Overrides};
use crate::lab::nodes::Conversation as _;
use crate::lab::record::Record;
use crate::lab::run::{Lab, Tap as _};
use crate::lab::scene::{NetDevice, Scene};
use crate::lab::wifi::MachineId;
use crate::lab::wifi::machine::address;
use crate::lab::wifi::setup::Program;
use alloc::boxed::Box;
use alloc::format;
use core::time::Duration;
use espbench_model::sample::Link;
use espbench_model::workload::{Direction, IpTest, Iperf, Transport, Wifi};
use espbench_proto::node::app::Endpoint;

/// Time for which the network is left alone before a test begins: beacons go by, and loads begin.
pub(in crate::lab) const SETTLE: Duration = Duration::from_millis(300);
/// Time for which nodes of ESP-NOW are left alone after their start: 5 s later each prints its last
/// line by itself (`restart_func`), and with a remote log broadcasts it.
pub(in crate::lab) const NODES_SETTLE: Duration = Duration::from_secs(6);

/// Makes the room of a cell, in that lab, or in the first of the library that has its variant.
pub(super) fn scene(
    work: &Wifi,
    library: &Library,
    lab: Option<&str>,
) -> Result<Scene, SuiteError> {
    let variant = work.variant.as_str();
    let unknown = || {
        let why = format!(
            "none has a variant `{variant}`; `espbench lab list` names those that there are, and \
             --on udp:, tcp:, iperf: or mqtt: measures a real device"
        );
        SuiteError::Unable(Unable::Library, why)
    };
    if let IpTest::Ping(_) = work.test {
        return Err(no_icmp(variant));
    }
    if matches!(work.test, IpTest::Iperf(it) if it.latency.is_some()) {
        let why = "the lab sends no echoes beside iperf; leave out `latency`, or measure a device";
        return Err(SuiteError::Unable(Unable::Variant(variant.into()), why.into()));
    }
    let lab = lab.or_else(|| library.lab_of(variant)).ok_or_else(unknown)?;
    let scene = library.variant_scene_with(lab, variant, &Overrides::from(&work.lab))?;
    if scene.devices.is_empty() {
        return Err(SuiteError::Unable(
            Unable::Lab(scene.name),
            format!("variant `{variant}` has no device"),
        ));
    }
    Ok(scene)
}

fn no_icmp(variant: &str) -> SuiteError {
    let why = "the lab's stacks do not speak ICMP; use `udp-echo` there, or --on icmp:HOST";
    SuiteError::Unable(Unable::Variant(variant.into()), why.into())
}

/// Checks that Wi-Fi of the devices starts with the heap that they have.
pub(in crate::lab) fn starts(scene: &Scene) -> Result<(), SuiteError> {
    let memory = |it: &NetDevice| it.profile.memory_with(&it.sdk);
    let without = scene.devices.iter().find(|it| memory(it).started(&it.sdk).is_none());
    let Some(device) = without else { return Ok(()) };
    let why = format!(
        "esp_wifi_init() fails with ESP_ERR_NO_MEM: {} static RX buffers and code in RAM take {} B, and \
         the heap of {} has {} B; set fewer, or leave the code in flash",
        device.sdk.static_rx,
        memory(device).fixed(&device.sdk),
        device.profile.chip_name,
        memory(device).heap_bytes,
    );
    Err(SuiteError::Unable(Unable::Variant(scene.variant.clone()), why))
}

/// A cell in the making.
struct Cell<'a, 'r> {
    lab: Lab<'a>,
    scene: &'a Scene,
    device: MachineId,
    pc: MachineId,
    seed: u64,
    record: &'r mut dyn Record,
    lent: mqtt::Places<'a>,
}

/// Checks that the room has what the test needs.
pub(super) fn check(work: &Wifi, scene: &Scene) -> Result<(), SuiteError> {
    if scene.devices[0].esp_now && !matches!(work.test, IpTest::UdpEcho(_)) {
        let why = "its messages go over ESP-NOW, for which there is the echo (udp-echo) only";
        return Err(SuiteError::Unable(Unable::Variant(scene.variant.clone()), why.into()));
    }
    let unable = |why| Err(SuiteError::Unable(Unable::Variant(scene.variant.clone()), why));
    match &work.test {
        IpTest::Iperf(it) => {
            if let Some(option) = real_only(it) {
                let why = "the lab does not carry out iperf's";
                return unable(format!("{why} {option}: measure a real device"));
            }
            if !matches!(it.direction, Direction::Forward | Direction::Reverse) {
                return unable("the lab's iperf sends in one direction at a time".into());
            }
            let is_to_device = it.direction == Direction::Forward;
            if it.transport == Transport::Udp && is_to_device && it.bandwidth.is_none() {
                let why = "UDP to the device needs `bandwidth`, such as \"50M\": a PC without it sends more \
                           than its wire carries, of which nothing is learned";
                return unable(why.into());
            }
        }
        IpTest::MqttRate(it) => mqtt::able(it, scene).or_else(|why| unable(why.into()))?,
        _ => {}
    }
    one_at_a_time(work, scene)
}

/// Carries out one cell in that room.
pub(super) fn run_in<'a, W: Witness + 'a>(
    work: &Wifi,
    scene: &'a Scene,
    seed: u64,
    witness: &'a mut W,
    record: &mut dyn Record,
) -> Result<(), SuiteError> {
    check(work, scene)?;
    starts(scene)?;
    told::facts(scene, seed, record);
    told::on_air(is_to_device(&work.test), scene, record);
    let joins = matches!(work.test, IpTest::Join(_));
    let mut lent = mqtt::MqttBuffers::new();
    let mut lab = if joins { Lab::apart(scene, seed, ()) } else { Lab::new(scene, seed, ()) };
    let boot = scene.nodes.iter().map(|it| it.profile.boot).max();
    lab.run_for(boot.map_or(SETTLE, |boot| boot + NODES_SETTLE))?;
    if witness.wants_frames() {
        lab.attach(witness);
    }
    let pc = MachineId(scene.devices.len() as u16);
    let mut cell = Cell { lab, scene, device: MachineId(0), pc, seed, record, lent: lent.places() };
    let began = cell.begin();
    begin_traffic(&mut cell.lab, scene, seed);
    let result = match &work.test {
        IpTest::UdpEcho(it) if scene.devices[0].esp_now => cell.esp_now_echo(it),
        IpTest::UdpEcho(it) => cell.udp_echo(it),
        IpTest::Ping(_) => Err(no_icmp(&scene.variant)),
        IpTest::Iperf(it) => cell.iperf(it),
        IpTest::TcpRate(it) => cell.tcp_rate(it),
        IpTest::MqttRate(it) => cell.mqtt_rate(it),
        IpTest::Join(it) => cell.wifi_join(it),
    };
    cell.count((!joins).then_some(&began));
    cell.count_traffic();
    cell.lab.detach();
    result
}

/// Checks that several devices can do the test at once, where several are measured.
fn one_at_a_time(work: &Wifi, scene: &Scene) -> Result<(), SuiteError> {
    let at_once = matches!(
        work.test,
        IpTest::UdpEcho(_)
            | IpTest::Iperf(_)
            | IpTest::TcpRate(_)
            | IpTest::MqttRate(_)
            | IpTest::Ping(_)
    );
    if scene.measured <= 1
        || at_once && !scene.devices[0].esp_now && !scene.pc.as_ref().is_some_and(|it| it.multicast)
    {
        return Ok(());
    }
    let why = format!(
        "{} devices are measured at once, which udp-echo, iperf, tcp-rate and mqtt-rate over Wi-Fi are for; set \
         `count = 1` in [device], and put the others into a [[group]]",
        scene.measured
    );
    Err(SuiteError::Unable(Unable::Variant(scene.variant.clone()), why))
}

/// Returns whether the payload of a test goes to the device: its mode is then that of the other end.
const fn is_to_device(test: &IpTest) -> bool {
    match test {
        IpTest::Iperf(it) => matches!(it.direction, Direction::Forward),
        IpTest::UdpEcho(_) | IpTest::Ping(_) => true,
        IpTest::TcpRate(_) | IpTest::MqttRate(_) | IpTest::Join(_) => false,
    }
}

/// Returns the name of an option that only real sockets carry out, where the test has one.
const fn real_only(work: &Iperf) -> Option<&'static str> {
    if work.bounceback.is_some() {
        Some("bounceback")
    } else if work.trip_times {
        Some("trip_times")
    } else if work.tos != 0 {
        Some("tos")
    } else if work.mss.is_some() {
        Some("mss")
    } else if work.congestion.is_some() {
        Some("congestion")
    } else {
        None
    }
}

impl<'a> Cell<'a, '_> {
    /// Returns the devices that are measured, each with its link; a single device has no link.
    fn measured(&self) -> impl Iterator<Item = (MachineId, Option<Link>)> + use<> {
        let count = self.scene.measured;
        (0..count).map(move |it| (MachineId(it), (count > 1).then_some(Link(it))))
    }

    /// Gives a machine a program of the test, whose samples are those of a link.
    fn start(&mut self, machine: MachineId, link: Option<Link>, program: Box<dyn Program + 'a>) {
        match link {
            None => self.lab.start(machine, program),
            Some(link) => self.lab.start_on(link, machine, program),
        }
    }

    /// Gives the PC a prober for a device. Of several, each begins at another part of the interval.
    fn start_prober(
        &mut self,
        (device, link): (MachineId, Option<Link>),
        interval: Duration,
        program: Box<dyn Program + 'a>,
    ) {
        let Some(link) = link else { return self.lab.start(self.pc, program) };
        let part = interval * u32::from(device.0) / u32::from(self.scene.measured);
        let begin = self.lab.now() + part;
        self.lab.start_on_at(begin, link, self.pc, program);
    }

    /// Returns an address of a machine.
    const fn at(machine: MachineId, port: u16) -> Endpoint {
        Endpoint::new(address(machine.0 as usize), port)
    }

    /// Lets time go on until a machine's programs have ended.
    fn until_idle(&mut self, machine: MachineId, most: Duration) -> Result<(), SuiteError> {
        self.until_all_idle(&[machine], most)
    }

    /// Lets time go on until the programs of all these machines have ended.
    fn until_all_idle(&mut self, machines: &[MachineId], most: Duration) -> Result<(), SuiteError> {
        let end = self.lab.now() + most;
        let slice = Duration::from_millis(200);
        while self.lab.now() < end {
            if self.record.cancelled() {
                return Err(SuiteError::Cancelled);
            }
            let all = |it: &Lab<'_>| machines.iter().all(|machine| it.is_idle(*machine));
            if self.lab.run_till(slice, all)? {
                return Ok(());
            }
        }
        Err(SuiteError::Endless(most))
    }
}
