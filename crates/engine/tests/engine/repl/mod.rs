//! A `BoardConsole` held against ESP-IDF's REPL: each command, in each mode, by each driver.

mod device;

use device::{Driver, Firmware, Mode, RELEASES, ReplDevice};
use esp_now::console::table::TABLE;
use espbench_engine::boards::BoardConsole;
use espbench_model::time::Instant;

/// A board, and what types at it.
struct Conversation {
    device: ReplDevice,
    host: BoardConsole,
    ms: u64,
    /// Bytes that reach the host at once: one of a UART, a packet of USB, all of a busy computer.
    piece: usize,
    lines: Vec<String>,
}

impl Conversation {
    fn new(firmware: Firmware, piece: usize) -> Self {
        let (device, host) = (ReplDevice::new(firmware), BoardConsole::new(Instant::ZERO));
        Self { device, host, ms: 0, piece, lines: Vec::new() }
    }

    fn step(&mut self) {
        self.ms += 1;
        let now = Instant::from_nanos(self.ms * 1_000_000);
        for piece in self.device.step(now).chunks(self.piece) {
            self.host.feed(now, piece);
        }
        if self.host.due().is_some_and(|due| due <= now) {
            self.host.tick(now);
        }
        self.device.receive(&self.host.take_out());
        self.lines.extend(std::iter::from_fn(|| self.host.take_line()).map(|it| it.text));
    }

    /// Goes on until something holds.
    #[track_caller]
    fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.ms + 30_000;
        while !holds(self) {
            assert!(
                self.ms < end,
                "{what}: {:?}\n{:#?}\n{:?}",
                self.host.fault(),
                self.lines,
                self.device
            );
            self.step();
        }
    }

    /// Types a command, and reads what it prints.
    #[track_caller]
    fn types(&mut self, command: &str) {
        let number = self.device.carried_out.len() + 1;
        self.host.command(Instant::from_nanos(self.ms * 1_000_000), command);
        let done = format!("done {number}");
        self.until(command, |it| it.lines.iter().any(|line| line == &done) && it.host.has_prompt());
        assert_eq!(self.device.carried_out.last().map(String::as_str), Some(command));
        assert_eq!(self.device.carried_out.len(), number, "{:?}", self.device.carried_out);
        self.lines.clear();
    }
}

/// Returns how a firmware may be built, and the pieces in which its output comes.
fn firmwares() -> Vec<(Firmware, usize)> {
    let mut all = Vec::new();
    for (driver, piece) in [(Driver::Uart, 1), (Driver::UsbSerialJtag, 64), (Driver::UsbCdc, 4096)]
    {
        for mode in [Mode::Asked, Mode::Dumb, Mode::Editor] {
            for release in &RELEASES {
                for colours in [false, true] {
                    all.push((Firmware { driver, colours, release, mode }, piece));
                }
            }
        }
    }
    all
}

/// Returns command lines: each command of a node's console, and lines as tests type them, up to the longest that the REPL takes.
fn commands() -> Vec<String> {
    let mut all: Vec<String> = TABLE.iter().map(|it| it.name.to_owned()).collect();
    all.push("espnow_iperf -c 24:0a:c4:00:00:02 -p -C 100".into());
    all.push("wifi_config -s \"a net\" -p \"a \\\"word\\\"\" -c".into());
    all.push("x".into());
    // As wide as the terminal with its prompt, one less and one more, and longer.
    all.extend(
        [69, 70, 71, 150, 255]
            .map(|length| format!("espbench {}", "0123456789".repeat(30))[..length].to_owned()),
    );
    all
}

#[test]
fn each_command_is_carried_out_once_in_each_mode_and_by_each_driver() {
    for (firmware, piece) in firmwares() {
        let mut it = Conversation::new(firmware, piece);
        it.until("a prompt", |it| it.host.is_ready() && it.host.has_prompt());
        for command in commands() {
            it.types(&command);
        }
        // A terminal that answers late would have its answer taken for text; so a REPL that asks gets none, and is dumb.
        assert_eq!(it.device.is_dumb(), firmware.mode != Mode::Editor, "{firmware:?}");
        assert_eq!((it.device.lost, it.host.fault()), (0, None), "{firmware:?}");
        assert_eq!(it.device.carried_out, commands(), "{firmware:?}");
    }
}

/// A port that is opened, with no lines to reset by, while the board is at any point of its start or at its prompt.
#[test]
fn a_board_that_goes_on_is_found_at_each_point_of_its_start() {
    for (firmware, piece) in firmwares() {
        for opened in [0, 1, 30, 250, 499, 501, 700, 5000] {
            let mut it = Conversation::new(firmware, piece);
            // Nobody has the port open: what is printed is gone.
            for _ in 0..opened {
                it.ms += 1;
                it.device.step(Instant::from_nanos(it.ms * 1_000_000));
            }
            it.host.attached(Instant::from_nanos(it.ms * 1_000_000));
            it.until("a prompt", |it| it.host.is_ready() && it.host.has_prompt());
            let before = it.device.carried_out.clone();
            // An answer to a question that was not asked is one command that there is not.
            assert!(before.len() <= 1 && before.iter().all(|it| it.ends_with('R')), "{before:?}");
            it.types("version");
            it.types("espnow_iperf -s");
        }
    }
}
