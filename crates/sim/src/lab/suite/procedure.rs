//! The procedure of Espressif's ESP-NOW test report: the commands that are typed at the consoles of
//! an initiator and its devices, and for how long somebody waits for what they print.
//!
//! Simulated devices and boards on serial ports are tested with these same commands. The options are
//! those of the component esp-now 2.5: `espnow_iperf`, `command`, `ota`, `security`, `provisioning` and
//! `sec_test` of `espnow_console`. The report writes `espnw_iperf` and `sec_test -C`, where the
//! component's own help has `espnow_iperf` and `sec_test -c`.

use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt::Display;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast};

/// Number of the device that the document calls the initiator.
pub const INITIATOR: u16 = 0;
/// Number of the device of tests with one device.
pub const DEVICE: u16 = 1;
/// Address of everybody in a command.
pub const EVERYBODY: &str = "FF:FF:FF:FF:FF:FF";
/// Pin of one-way tests, at which the document's oscilloscope is: `-G 17`.
pub const PIN: u8 = 17;

/// Largest number of a pin: that of ESP32-P4 and S3, whose last are 54 and 48.
pub const PIN_MAX: u8 = 54;

/// Returns the pin of one-way tests on a chip: the document's, but where that is of flash or of the console. ESP32-C3
/// and C2 have GPIO 17 for flash, and C6 for the console's RX (datasheets, table of pins); those here are free on
/// Espressif's DevKits, are no strapping pins, and are among those that our firmware drives.
#[must_use]
pub fn pin_of(chip: &str) -> u8 {
    match chip {
        "esp32c3" | "esp32c2" => 10,
        "esp32c6" => 18,
        _ => PIN,
    }
}
/// URL of the document's firmware.
pub const IMAGE_URL: &str = "http://192.168.0.6:8070/Resp.bin";

/// Time for which a prompt is waited for: a start takes under a second, a command a few.
pub const PROMPT_MOST: Duration = Duration::from_mins(1);
/// Time after a start in which nobody types: five seconds after it each device prints its last line
/// by itself (`restart_func`).
pub const SETTLED: Duration = Duration::from_secs(6);
/// Time in which a person reads a line before the next command.
pub const MOMENT: Duration = Duration::from_millis(200);
/// Time for what comes before and behind a test.
pub const MARGIN: Duration = Duration::from_mins(1);
/// Time for which an initiator offers credentials: `provisioning -i 30000`.
pub const HOLD: Duration = Duration::from_secs(30);
/// Time of a search for devices that take an image: 2.5 s, and 25 s with a tick of 100 Hz; its list is
/// printed after it.
pub const SEARCH_MOST: Duration = Duration::from_secs(60);
/// Time in which an image is sent: a hundred devices at 10 m took the report 75 s.
pub const SEND_MOST: Duration = Duration::from_hours(1);

/// Addresses for which a command line has room; beyond, everybody is addressed.
pub const LISTED_MAX: usize = 28;
/// Searches until all devices are in the list.
pub const SEARCHES: u32 = 5;
/// Tries until all devices carry out a command to everybody.
pub const TRIES: u32 = 5;
/// Bytes of a key for applications, as counted for a handshake.
pub const KEY_BYTES: u32 = 32;

/// A ping waits for 3 s, and again for each stray answer; its sending takes less.
const PING_MOST: Duration = Duration::from_secs(7);
/// Seconds of a throughput test where no `-t` is typed.
const USUAL_SECONDS: u64 = 60;
/// Bytes of typed commands that are kept.
const KEPT: usize = 3000;

/// Returns the longest time of so many pings.
#[must_use]
pub const fn pings_most(count: u32) -> Duration {
    PING_MOST.saturating_mul(count).saturating_add(MARGIN)
}

/// Returns the longest time in which a key is handed out: the search, and two rounds of 1.2 s and 0.3 s
/// a device, in which each answer prolongs the wait by 100 ms.
#[must_use]
pub const fn handshake_most(devices: usize) -> Duration {
    Duration::from_secs(30).saturating_add(Duration::from_secs(1).saturating_mul(devices as u32))
}

/// Returns the longest time of the benchmark of encryption.
#[must_use]
pub const fn crypto_most(count: u32) -> Duration {
    Duration::from_millis(100).saturating_mul(count).saturating_add(MARGIN)
}

/// Returns the options of `espnow_iperf` for a cast: none, or `-b COPIES` and `-A`.
#[must_use]
pub fn cast_options(cast: EspNowCast) -> String {
    match cast {
        EspNowCast::Unicast => String::new(),
        EspNowCast::Broadcast { copies, ack } => {
            format!(" -b {copies}{}", if ack { " -A" } else { "" })
        }
    }
}

/// Returns the command that makes a device answer a test.
#[must_use]
pub fn listen(cast: EspNowCast) -> String {
    format!("espnow_iperf -s{}", cast_options(cast))
}

/// Returns the command of a one-way packet to `to`, whose time the pin shows.
#[must_use]
pub fn one_way(work: &EspNow, to: impl Display) -> String {
    one_way_at(work, to, PIN)
}

/// Returns the command of a one-way packet to `to`, whose time that pin shows.
#[must_use]
pub fn one_way_at(work: &EspNow, to: impl Display, pin: u8) -> String {
    format!("{} -G {pin}", pings(work, 1, to))
}

/// Returns the command of a test's pings to `to`.
#[must_use]
pub fn ping(work: &EspNow, to: impl Display) -> String {
    pings(work, work.count, to)
}

fn pings(work: &EspNow, count: u32, to: impl Display) -> String {
    format!("espnow_iperf -c {to}{} -p -C {count} -l {}", cast_options(work.cast), work.size)
}

/// Returns the command by which all devices ping `to` at once. Messages of the length that the firmware
/// uses by itself need no option, as in the document.
#[must_use]
pub fn ping_of_all(work: &EspNow, to: impl Display, usual: u32) -> String {
    let len = if work.size == usual { String::new() } else { format!(" -l {}", work.size) };
    let cast = cast_options(work.cast);
    to_all(&format!("espnow_iperf -c {to}{cast} -C {} -p{len}", work.count))
}

/// Returns the command of a throughput test. The document leaves its time at the firmware's default.
#[must_use]
pub fn throughput(work: &EspNow, to: impl Display) -> String {
    let seconds = work.time.as_secs().max(1);
    let time = if seconds == USUAL_SECONDS { String::new() } else { format!(" -t {seconds}") };
    format!("espnow_iperf -c {to}{} -l {}{time}", cast_options(work.cast), work.size)
}

/// Returns the command of the benchmark of encryption.
#[must_use]
pub fn crypto(work: &EspNow) -> String {
    format!("sec_test -c {} -l {}", work.count, work.size)
}

/// Returns the command that has all devices carry out a command.
#[must_use]
pub fn to_all(command: &str) -> String {
    format!("command {EVERYBODY} \"{command}\"")
}

/// Returns the command that sends an image to devices, one by one where a line has room for them.
#[must_use]
pub fn send_image(devices: &[impl Display]) -> String {
    if devices.len() > LISTED_MAX {
        return format!("ota -s {EVERYBODY}");
    }
    let mut out = String::from("ota -s ");
    for (number, device) in devices.iter().enumerate() {
        out.push_str(if number == 0 { "" } else { "," });
        out.push_str(&device.to_string());
    }
    out
}

/// Returns the command that offers credentials of a network.
#[must_use]
pub fn provision(ssid: &str, password: &str) -> String {
    let hold = HOLD.as_millis();
    format!("provisioning -i {hold} {} {}", quoted(ssid), quoted(password))
}

/// Returns a word as the console's parser takes it for one.
#[must_use]
pub fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    if escaped == word && !word.is_empty() && !word.contains(' ') {
        escaped
    } else {
        format!("\"{escaped}\"")
    }
}

/// Returns the probes of a device, on the link of its number; those of the initiator are about device
/// 1.
#[must_use]
pub fn probe_of(device: u16, sample: Sample) -> Option<Sample> {
    let Sample::Probe(mut probe) = sample else { return None };
    probe.link = Link(device.max(DEVICE));
    Some(Sample::Probe(probe))
}

/// A device of a job for many, as it was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedDevice {
    /// Number of the device.
    pub number: u16,
    /// Time at which it was served.
    pub at: Option<Instant>,
    /// Cause where it was not.
    pub cause: Cause,
}

/// Gives the samples of a job that the report times from one instant to another: a probe for each
/// device, then the total. `bytes` is what each device gets.
pub fn job_samples(
    (start, end): (Instant, Instant),
    bytes: u32,
    served: &[ServedDevice],
    give: &mut dyn FnMut(Sample),
) {
    for device in served {
        let fate = if device.at.is_some() { Fate::Delivered } else { Fate::Lost(device.cause) };
        let link = Link(device.number);
        give(Sample::Probe(Probe {
            link,
            bytes,
            due: start,
            received: device.at,
            fate,
            ..Probe::default()
        }));
    }
    let count = served.iter().filter(|device| device.at.is_some()).count() as u64;
    give(Sample::Interval(Interval {
        total: true,
        observer: Observer::Sender,
        start,
        end,
        bytes: u64::from(bytes) * count,
        datagrams: Some(count),
        lost: Some(served.len() as u64 - count),
        ..Interval::default()
    }));
}

/// The commands that were typed in a test, up to 3,000 bytes of them, to be recorded.
#[derive(Clone, Debug, Default)]
pub struct TypedCommands {
    text: String,
    last: String,
    not_kept: u64,
}

impl TypedCommands {
    /// Adds a command, as it stands behind the prompt of a console with this name.
    pub fn add(&mut self, console: impl Display, command: &str) {
        self.last = format!("{console}> {command}");
        if self.text.len() + self.last.len() < KEPT {
            self.text.push_str(&self.last);
            self.text.push('\n');
        } else {
            self.not_kept += 1;
        }
    }

    /// Returns the last command with its console, empty where none was typed.
    #[must_use]
    pub fn last(&self) -> &str {
        &self.last
    }

    /// Returns the commands, a line each, and how many more there were.
    #[must_use]
    pub fn into_text(self) -> String {
        let mut text = self.text;
        if self.not_kept > 0 {
            text.push_str(&format!("and {} commands more\n", self.not_kept));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::overrides::LabOverrides;
    use espbench_model::workload::EspNowTest;

    const TO: &str = "24:0A:C4:00:00:01";

    fn work(cast: EspNowCast) -> EspNow {
        EspNow {
            test: EspNowTest::Ping,
            cast,
            size: 100,
            count: 20,
            time: Duration::from_mins(1),
            devices: 1,
            distance_m: (1.0, 1.0),
            encrypted: false,
            lab: LabOverrides::default(),
        }
    }

    #[test]
    fn commands_have_the_options_of_the_component() {
        let unicast = work(EspNowCast::Unicast);
        let broadcast = work(EspNowCast::Broadcast { copies: 3, ack: true });
        assert_eq!(listen(unicast.cast), "espnow_iperf -s");
        assert_eq!(listen(broadcast.cast), "espnow_iperf -s -b 3 -A");
        assert_eq!(ping(&unicast, TO), "espnow_iperf -c 24:0A:C4:00:00:01 -p -C 20 -l 100");
        assert_eq!(
            one_way(&broadcast, TO),
            "espnow_iperf -c 24:0A:C4:00:00:01 -b 3 -A -p -C 1 -l 100 -G 17"
        );
        assert!(one_way_at(&unicast, TO, 10).ends_with(" -l 100 -G 10"));
        let pins = ["esp32", "esp32s3", "esp32c3", "esp32c2", "esp32c6"].map(pin_of);
        assert_eq!(pins, [17, 17, 10, 10, 18]);
        assert_eq!(crypto(&unicast), "sec_test -c 20 -l 100");
        assert_eq!(throughput(&unicast, TO), "espnow_iperf -c 24:0A:C4:00:00:01 -l 100");
        let short = EspNow { time: Duration::from_millis(1), ..unicast };
        assert_eq!(throughput(&short, TO), "espnow_iperf -c 24:0A:C4:00:00:01 -l 100 -t 1");
    }

    #[test]
    fn all_devices_ping_with_the_usual_length_unsaid() {
        let work = work(EspNowCast::Unicast);
        let all = "command FF:FF:FF:FF:FF:FF \"espnow_iperf -c 24:0A:C4:00:00:01 -C 20 -p";
        assert_eq!(ping_of_all(&work, TO, 100), format!("{all}\""));
        assert_eq!(ping_of_all(&work, TO, 230), format!("{all} -l 100\""));
    }

    #[test]
    fn an_image_goes_to_everybody_where_a_line_has_no_room_for_all() {
        assert_eq!(send_image(&["a", "b"]), "ota -s a,b");
        assert_eq!(send_image(&["a"; LISTED_MAX]).matches('a').count(), LISTED_MAX + 1);
        assert_eq!(send_image(&["a"; LISTED_MAX + 1]), "ota -s FF:FF:FF:FF:FF:FF");
    }

    #[test]
    fn words_are_quoted_where_the_console_would_split_them() {
        let words = ["home", "my home", "a\"b", "c\\d", ""].map(quoted);
        assert_eq!(words, ["home", "\"my home\"", "\"a\\\"b\"", "\"c\\\\d\"", "\"\""]);
        assert_eq!(provision("my home", "pass"), "provisioning -i 30000 \"my home\" pass");
    }

    #[test]
    fn a_job_has_a_probe_for_each_device_and_a_total_of_those_that_were_served() {
        let at = Instant::from_nanos;
        let served = [
            ServedDevice { number: 1, at: Some(at(7)), cause: Cause::Unknown },
            ServedDevice { number: 2, at: None, cause: Cause::DeviceGone },
        ];
        let mut fates = alloc::vec::Vec::new();
        let mut totals = alloc::vec::Vec::new();
        job_samples((at(5), at(9)), 1000, &served, &mut |sample| match sample {
            Sample::Probe(it) => fates.push((it.link.0, it.due, it.received, it.fate)),
            Sample::Interval(it) => totals.push(it),
        });
        let lost = Fate::Lost(Cause::DeviceGone);
        assert_eq!(fates, [(1, at(5), Some(at(7)), Fate::Delivered), (2, at(5), None, lost)]);
        let [total] = totals.try_into().unwrap();
        assert_eq!((total.start, total.end, total.bytes), (at(5), at(9), 1000));
        assert_eq!((total.datagrams, total.lost), (Some(1), Some(1)));
    }

    #[test]
    fn typed_commands_are_kept_up_to_a_bound_and_counted_beyond() {
        let mut typed = TypedCommands::default();
        assert_eq!(typed.last(), "");
        typed.add("node 0", "help");
        assert_eq!(typed.last(), "node 0> help");
        typed.add("node 1", &"x".repeat(KEPT));
        typed.add("node 1", "help");
        assert_eq!(typed.into_text(), "node 0> help\nnode 1> help\nand 1 commands more\n");
    }
}
