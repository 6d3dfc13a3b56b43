//! Boards on serial ports, whose consoles are typed at: `serial:PORT[,PORT…]`, `serial:auto`.
//!
//! | module | contents |
//! |---|---|
//! | `peer` | an iperf 2 of this host, as the other end of a board's |

mod peer;

use super::{Sink, Target, TargetError, noted};
use crate::live_mark::LiveMark;
use crate::serial::bench::SerialBench;
use crate::serial::ports::{self, BoardPort};
use crate::sys;
use crate::user_error::UserError;
use espbench_engine::boards::{self, BoardError, BoardMemory, BoardRecord, BoardSetup};
use espbench_measure::run::Site;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, Iperf, Workload};
use espbench_sim::lab::record::Record;
use peer::HostPeer;
use std::time::Duration;

/// Ports that are used at once: the report's test is with 101 boards, and a USB host controller has end points for
/// some thirty.
const PORTS_MAX: usize = 256;

/// Boards on serial ports.
pub struct SerialTarget {
    name: String,
    ports: Vec<String>,
    bench: SerialBench,
    memory: BoardMemory,
    setup: BoardSetup,
    site: Site,
    /// Cells that were carried out.
    cells: u64,
}

impl SerialTarget {
    /// Opens the ports that are named, with commas between, or all that have the USB ids of boards
    /// (`auto`).
    ///
    /// # Errors
    /// A port is named twice, or there is none; one of two cannot be opened, or the first of many.
    pub fn open(text: &str, baud: u32, setup: BoardSetup, site: Site) -> Result<Self, UserError> {
        let found = if text == "auto" { found()? } else { named(text)? };
        if found.len() > PORTS_MAX {
            return Err(UserError::new(format!("{} ports are too many", found.len()))
                .because(format!("at most {PORTS_MAX} are used at once"))
                .remedy("name those that are meant: --on serial:PORT,PORT"));
        }
        let ports = found.iter().map(|port| port.name.clone()).collect();
        // Each is open twice, for reading and for writing. Where the system refuses, opening says which port it was.
        let _ = sys::files::allow(2 * found.len() as u64 + 64);
        let bench = SerialBench::open(found, baud)?;
        let name = format!("serial:{text}");
        Ok(Self { name, ports, bench, memory: BoardMemory::default(), setup, site, cells: 0 })
    }

    /// Returns why some of the ports could not be opened; their boards take no part.
    pub fn missing(&self) -> &[UserError] {
        self.bench.missing()
    }
}

/// Returns the ports with the USB ids of boards.
fn found() -> Result<Vec<BoardPort>, UserError> {
    let found = ports::boards()?;
    if found.is_empty() {
        return Err(UserError::new("no board was found on a serial port")
            .because("no port of this machine has the USB id of a board")
            .remedy(
                "plug one in, or name its port: --on serial:PORT; `espbench board list` shows all",
            ));
    }
    Ok(found)
}

/// Returns the ports of that list.
fn named(text: &str) -> Result<Vec<BoardPort>, UserError> {
    let mut found: Vec<BoardPort> = Vec::new();
    for name in text.split(',') {
        if name.is_empty() {
            return Err(UserError::new("a port is missing behind `serial:`")
                .remedy("write --on serial:PORT,PORT, or --on serial:auto"));
        }
        let real = |name: &str| std::fs::canonicalize(name).unwrap_or_else(|_| name.into());
        if let Some(twin) = found.iter().find(|port| real(&port.name) == real(name)) {
            let why = if twin.name == name {
                String::from("each board is one device of the test")
            } else {
                format!("{name} and {} are one port", twin.name)
            };
            return Err(UserError::new(format!("{name} is named twice"))
                .because(why)
                .remedy("name each port once"));
        }
        found.push(ports::find(name)?);
    }
    Ok(found)
}

/// Hands on what a test finds, and counts what was printed.
struct SerialRecord<'a> {
    sink: &'a mut dyn Sink,
    names: &'a [String],
}

impl Record for SerialRecord<'_> {
    fn sample(&mut self, sample: Sample) {
        self.sink.sample(sample);
    }

    fn count(&mut self, name: &str, by: u64) {
        self.sink.count(name, by);
    }

    fn fact(&mut self, name: &str, value: String) {
        self.sink.fact(name, value);
    }

    fn cancelled(&self) -> bool {
        self.sink.cancelled()
    }
}

impl BoardRecord for SerialRecord<'_> {
    fn console(&mut self, port: usize, at: Instant, bytes: &[u8]) {
        if let Some(name) = self.names.get(port) {
            self.sink.console(name, at, bytes);
        }
    }
}

impl Target for SerialTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        self.ports.iter().find_map(|port| LiveMark::of_port(port.as_ref()))
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let work = match workload.plain() {
            Workload::EspNow(work) => work,
            Workload::Iperf(work) => return self.check_traffic(workload, &work),
            _ => {
                return Err(self.unsupported(
                    workload,
                    "boards on serial ports carry out ESP-NOW's plans, and iperf with ESP-IDF's example; \
                     for others over Wi-Fi name the device's address: --on udp:HOST, mqtt:HOST",
                ));
            }
        };
        let (there, needed) = (self.ports.len(), boards::boards_of(&work));
        if there < needed {
            let cell = espbench_measure::label::of_workload(workload);
            return Err(TargetError::Told(
                UserError::new(format!("{} has too few boards for {cell}", self.name))
                    .because(format!("it has {there}, and the test is with {needed}"))
                    .remedy("add ports, or run a plan with fewer devices"),
            ));
        }
        Ok(())
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let work = noted(workload, sink);
        self.cells += 1;
        let ports: Vec<usize> = (0..self.ports.len()).collect();
        let mut record = SerialRecord { sink, names: &self.ports };
        let (seed, setup, bench) = (self.cells, &self.setup, &mut self.bench);
        let result = match &work {
            Workload::EspNow(work) => {
                boards::run(work, &ports, seed, setup, &mut self.memory, bench, &mut record)
            }
            Workload::Iperf(work) => {
                let mut peer = HostPeer::new();
                boards::run_traffic(work, 0, seed, setup, &mut peer, bench, &mut record)
            }
            _ => Ok(()),
        };
        let unsupported = self.bench.take_unsupported();
        if unsupported > 0 {
            sink.count("control-lines-missing", unsupported);
        }
        result.map_err(|error| match error {
            BoardError::Cancelled => TargetError::Cancelled,
            error => TargetError::Told(told(&error)),
        })
    }
}

impl SerialTarget {
    fn unsupported(&self, workload: &Workload, hint: &str) -> TargetError {
        TargetError::Unsupported {
            target: self.name.clone(),
            kind: workload.kind(),
            hint: hint.into(),
        }
    }

    /// Checks that ESP-IDF's `iperf` can do a test.
    fn check_traffic(&self, workload: &Workload, work: &Iperf) -> Result<(), TargetError> {
        let whole = |time: Duration| !time.is_zero() && time.subsec_nanos() == 0;
        let unsupported = |hint| Err(self.unsupported(workload, hint));
        if !matches!(work.direction, Direction::Forward | Direction::Reverse) {
            return unsupported(
                "ESP-IDF's iperf sends in one direction at a time: use `forward` (to the board) and `reverse`",
            );
        }
        if work.bytes.is_some() || work.bounceback.is_some() {
            return unsupported(
                "ESP-IDF's iperf sends for a time and answers no requests: leave out -n and --bounceback",
            );
        }
        if work.parallel != 1 && work.direction == Direction::Forward {
            return unsupported(
                "ESP-IDF's iperf serves one stream after the other: several at once are for `reverse` (from the board)",
            );
        }
        if self.site.mode == "softap" {
            return unsupported(
                "the board joins a network: this computer would have to leave its own for one that the board opens; \
                 use --mode station, or the board's address with --on iperf:HOST once this computer is in its network",
            );
        }
        if work.trip_times || work.latency.is_some() {
            return unsupported(
                "ESP-IDF's iperf sends no times and no echoes: leave out trip times and latency",
            );
        }
        if !whole(work.time) || !whole(work.interval) || work.interval > work.time {
            return unsupported(
                "ESP-IDF's iperf counts in whole seconds: choose a time and an interval of them",
            );
        }
        if self.setup.network.is_none() {
            return Err(TargetError::Told(
                UserError::new(format!("{} cannot join a network", self.name))
                    .because("the board's name and password of the Wi-Fi network are not known")
                    .remedy("add --ssid NAME, and the password with ESPBENCH_WIFI_PASSWORD"),
            ));
        }
        Ok(())
    }
}

/// Returns an error in three parts.
fn told(error: &BoardError) -> UserError {
    let remedy = error.remedy();
    match error {
        BoardError::Fault { port, fault } => {
            UserError::new(format!("{port} takes no further part")).because(fault)
        }
        error => UserError::new(error.to_string()),
    }
    .remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> UserError {
        SerialTarget::open(text, 115_200, BoardSetup::default(), Site::default()).err().unwrap()
    }

    #[test]
    fn ports_are_named_once() {
        assert_eq!(error("/dev/null,/dev/null").what, "/dev/null is named twice");
        let twin = error("/dev/null,/dev/../dev/null");
        assert_eq!(twin.why, "/dev/../dev/null and /dev/null are one port");
        assert_eq!(error("").what, "a port is missing behind `serial:`");
        assert!(error("/dev/null,").remedy.contains("serial:auto"));
    }

    #[test]
    fn what_is_no_port_has_three_lines() {
        for text in ["/dev/no-such-port", "/dev/null"] {
            let error = error(text);
            assert_eq!(error.what, format!("cannot open {text}"));
            assert!(!error.why.is_empty() && !error.remedy.is_empty(), "{error:?}");
        }
        let many = (0..=PORTS_MAX).map(|n| format!("/dev/no{n}")).collect::<Vec<_>>().join(",");
        assert_eq!(error(&many).what, "257 ports are too many");
    }
}
