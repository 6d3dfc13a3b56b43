//! The console of one board as a machine: what it says and types at each moment, and when it gives a board up.

use espbench_engine::boards::{BoardConsole, BoardFault};
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::Instant;
use espbench_sim::lab::suite::mark::{LineMark, MarkedLine};

/// Output of a board with the component from its reset to its prompt.
const BOOT: &str = "ets Jul 29 2019 12:21:46\r\n\r\n\
    rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n\
    \x1b[0;32mI (552) wifi:mode : sta (24:0a:c4:11:22:33)\x1b[0m\r\n\
    I (612) espnow: esp-now Version: 2.5.2\r\n\
    I (613) espnow: mac: 24:0a:c4:11:22:33, version: 2\r\n";
/// The line editor's question, and the prompt behind it.
const PROMPT: &str = "\x1b[6nesp32> ";
/// A crash of a Xtensa chip.
const CRASH: &str = "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\r\n\
    PC      : 0x400d1234  PS      : 0x00060030\r\n\
    some register that nobody asks for\r\n\
    Backtrace: 0x400d1231:0x3ffb1234 0x400d5678:0x3ffb1250\r\n";

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A console, and the clock of whoever reads it.
struct Desk {
    console: BoardConsole,
    now: u64,
}

impl Desk {
    fn new() -> Self {
        Self { console: BoardConsole::new(Instant::ZERO), now: 0 }
    }

    /// Creates a desk at whose board the prompt stands.
    fn ready() -> Self {
        let mut desk = Self::new();
        desk.prints(100, BOOT);
        desk.prints(100, PROMPT);
        assert!(desk.console.is_ready() && desk.console.has_prompt());
        assert_eq!(desk.typed(), "\x1b[1;1R", "the editor waits for this answer");
        desk.lines();
        desk
    }

    fn prints(&mut self, after: u64, text: &str) {
        self.prints_bytes(after, text.as_bytes());
    }

    fn prints_bytes(&mut self, after: u64, bytes: &[u8]) {
        self.now += after;
        self.console.feed(ms(self.now), bytes);
    }

    /// Lets time pass, with each tick that the console asks for.
    fn waits(&mut self, time: u64) {
        let end = self.now + time;
        while let Some(due) = self.console.due().filter(|due| *due <= ms(end)) {
            self.console.tick(due);
            self.now = self.now.max(due.as_nanos() / 1_000_000);
        }
        self.now = end;
    }

    fn typed(&mut self) -> String {
        String::from_utf8(self.console.take_out()).unwrap()
    }

    fn lines(&mut self) -> Vec<MarkedLine> {
        std::iter::from_fn(|| self.console.take_line()).collect()
    }

    fn marks(&mut self) -> Vec<LineMark> {
        self.lines().into_iter().map(|line| line.mark).filter(|it| *it != LineMark::Other).collect()
    }

    /// Types a command as far as its carriage return, with the echo of a board.
    fn types(&mut self, command: &str) {
        self.console.command(ms(self.now), command);
        assert_eq!(self.typed(), command);
        self.prints(5, command);
        assert_eq!((self.typed(), self.console.pending()), (String::new(), 1));
        self.waits(39);
        assert_eq!(self.typed(), "", "what comes faster counts as pasted");
        self.waits(1);
        assert_eq!((self.typed().as_str(), self.console.pending()), ("\r", 0));
        self.prints(1, "\r\n");
    }
}

#[test]
fn a_board_tells_who_it_is_before_its_prompt() {
    let desk = Desk::ready();
    let learned = desk.console.learned();
    assert_eq!(learned.mac.map(|mac| mac.to_string()), Some("24:0a:c4:11:22:33".into()));
    assert_eq!((learned.release, learned.starts), (Some((2, 5, 2)), 1));
    assert!(learned.can("espnow_iperf"), "one that did not print its list may have any command");
    assert_eq!(desk.console.last(), "mac: 24:0a:c4:11:22:33, version: 2");
    assert_eq!((desk.console.heard(), desk.console.started()), (ms(200), ms(100)));
}

/// Whoever waits for what is due would wait in vain, and without a rest.
#[test]
fn a_board_that_is_given_up_while_a_command_waits_has_nothing_due() {
    let mut desk = Desk::new();
    desk.console.attached(ms(0));
    desk.prints(100, "\r\nesp32> ");
    desk.console.command(ms(desk.now), "help");
    desk.waits(900);
    assert!(desk.console.is_ready() && desk.console.due().is_some());
    desk.console.unplugged("gone");
    assert_eq!(desk.console.due(), None);
}

#[test]
fn a_board_that_says_nothing_is_asked_twice_and_given_up_after_twelve_seconds() {
    let mut desk = Desk::new();
    desk.waits(2999);
    assert_eq!(desk.typed(), "");
    desk.waits(1);
    assert_eq!(desk.typed(), "\r");
    // An editor whose question nobody heard waits for its answer.
    desk.waits(3000);
    assert_eq!(desk.typed(), "\x1b[1;80R\r");
    desk.waits(5999);
    assert_eq!(desk.console.fault(), None);
    desk.waits(1);
    assert_eq!(desk.console.fault(), Some(&BoardFault::Silent));
    assert_eq!(desk.console.due(), None, "nothing is waited for any more");
}

#[test]
fn a_board_that_prints_and_shows_no_prompt_is_given_up_with_its_last_line() {
    let mut desk = Desk::new();
    for second in 0..13 {
        desk.prints(900, &format!("I ({second}00) app_main: tick {second}\r\n"));
        desk.waits(100);
    }
    let fault = desk.console.fault().cloned().unwrap();
    assert!(
        matches!(&fault, BoardFault::NoPrompt { last } if last.starts_with("tick 1")),
        "{fault:?}"
    );
    assert_eq!(fault.cause(), Cause::DeviceSilent);
}

#[test]
fn bytes_that_are_no_text_are_garble_at_the_start_and_later() {
    let rubbish = [0x9C, 0xE0, 0x80, 0xFC].repeat(16);
    let mut desk = Desk::new();
    desk.prints_bytes(10, &rubbish);
    desk.waits(12_000);
    assert_eq!(desk.console.fault(), Some(&BoardFault::Garbled { bad: 64, bytes: 64 }));
    // A board that worked, and whose line is disturbed from then on.
    let mut desk = Desk::ready();
    desk.prints_bytes(10, &rubbish[..60]);
    assert_eq!(desk.console.fault(), None, "too few to judge");
    desk.prints_bytes(10, &rubbish[..4]);
    assert!(matches!(desk.console.fault(), Some(BoardFault::Garbled { bytes: 64, .. })));
    // A ROM that prints at a rate of its own is none.
    let mut desk = Desk::new();
    desk.prints_bytes(10, &rubbish[..40]);
    desk.prints(10, BOOT);
    desk.prints(10, PROMPT);
    desk.prints_bytes(10, &rubbish[..40]);
    assert!(desk.console.is_ready() && desk.console.fault().is_none());
}

#[test]
fn a_rom_that_waits_for_an_image_is_known_by_its_words() {
    let mut desk = Desk::new();
    desk.prints(10, "rst:0x1 (POWERON_RESET),boot:0x3 (DOWNLOAD_BOOT(UART0/UART1))\r\n");
    assert_eq!(desk.console.fault(), None);
    desk.prints(10, "waiting for download\r\n");
    assert_eq!(desk.console.fault(), Some(&BoardFault::DownloadMode));
    // An application may log these words.
    let mut desk = Desk::ready();
    desk.prints(10, "I (900) ota: waiting for download\r\n");
    assert_eq!(desk.console.fault(), None);
}

#[test]
fn a_command_is_typed_at_the_prompt_and_returned_once_its_echo_is_whole() {
    let mut desk = Desk::ready();
    desk.types("help");
    desk.prints(5, "help  [<string>]\r\n  Print the list\r\n\r\nespnow_iperf  [-hsa]\r\n");
    desk.prints(5, PROMPT);
    assert!(!desk.console.learned().can("restart"), "its list does not have it");
    assert!(desk.console.learned().can("espnow_iperf"));
    assert_eq!(desk.typed(), "\x1b[1;1R");
    // Two commands are typed one after the other.
    desk.console.command(ms(desk.now), "version");
    desk.console.command(ms(desk.now), "heap");
    assert_eq!((desk.typed().as_str(), desk.console.pending()), ("version", 2));
    desk.prints(1, "version");
    desk.waits(40);
    assert_eq!((desk.typed().as_str(), desk.console.pending()), ("\r", 1));
    desk.prints(1, "\r\nIDF Version:v5.1.2\r\n");
    assert_eq!(desk.typed(), "", "there is no prompt yet");
    desk.prints(1, PROMPT);
    assert_eq!(desk.typed(), "\x1b[1;1Rheap");
    assert_eq!(desk.console.learned().idf.as_deref(), Some("v5.1.2"));
}

#[test]
fn a_command_without_an_echo_is_returned_after_a_second() {
    let mut desk = Desk::ready();
    desk.console.command(ms(desk.now), "restart");
    assert_eq!(desk.typed(), "restart");
    desk.waits(999);
    assert_eq!(desk.typed(), "");
    desk.waits(1);
    assert_eq!(desk.typed(), "\r");
}

#[test]
fn the_lines_of_a_ping_are_marks_and_samples() {
    let mut desk = Desk::ready();
    desk.types("espnow_iperf -c 24:0a:c4:00:00:02 -p -C 3 -l 100");
    for line in [
        "I (2000) iperf_cmd: initiator 24:0a:c4:11:22:33 send to 24:0a:c4:00:00:02",
        "I (2010) iperf_cmd: 100 bytes from 24:0a:c4:00:00:02: seq=0 rssi=-40 time=5 ms",
        "W (5010) iperf_cmd: seq=1 Destination Host Unreachable",
        "[24:0a:c4:00:00:09][1][-60]: I (77) iperf_cmd: seq=7 Destination Host Unreachable",
        "I (5020) iperf_cmd: 100 bytes from 24:0a:c4:00:00:02: seq=2 rssi=-41 time=7 ms",
        "I (5021) iperf_cmd: 3 packets transmitted, 2 received, 33% packet loss, time: total 12 ms, max: 7, min: 5, average 6.000000 ms",
    ] {
        desk.prints(10, &format!("{line}\r\n"));
    }
    assert_eq!(desk.marks(), [LineMark::Begun, LineMark::PingEnd]);
    let fates: Vec<(u64, Fate)> = desk
        .console
        .take_samples()
        .iter()
        .filter_map(|it| if let Sample::Probe(it) = it { Some((it.seq, it.fate)) } else { None })
        .collect();
    let lost = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Lost(_))).count();
    assert_eq!((fates.len(), lost), (3, 1), "those of another device are its own: {fates:?}");
    assert!(desk.console.take_samples().is_empty(), "they are taken once");
    // A test that begins anew has no samples of the one before.
    desk.prints(1, "W (9000) iperf_cmd: seq=0 Destination Host Unreachable\r\n");
    desk.console.begin_samples();
    assert!(desk.console.take_samples().is_empty());
}

#[test]
fn a_crash_is_told_to_its_end_and_then_a_fault() {
    let mut desk = Desk::ready();
    desk.prints(10, CRASH);
    assert!(desk.console.is_crashing() && desk.console.fault().is_none());
    desk.prints(100, "rst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n");
    let Some(BoardFault::Panicked { reason, backtrace }) = desk.console.fault() else {
        panic!("{:?}", desk.console.fault());
    };
    assert!(reason.contains("LoadProhibited"), "{reason}");
    assert_eq!(backtrace.len(), 2, "{backtrace:?}");
    assert!(backtrace[1].starts_with("Backtrace: 0x400d1231"), "{backtrace:?}");
    // One that hangs afterwards is a fault after two seconds.
    let mut desk = Desk::ready();
    desk.prints(10, CRASH);
    desk.waits(1999);
    assert_eq!(desk.console.fault(), None);
    desk.waits(1);
    assert!(matches!(desk.console.fault(), Some(BoardFault::Panicked { .. })));
    assert_eq!(desk.console.fault().map(BoardFault::cause), Some(Cause::DeviceRestarted));
}

#[test]
fn a_start_that_nobody_asked_for_is_a_fault_and_one_that_was_is_none() {
    let mut desk = Desk::ready();
    desk.prints(10, "ets Jul 29 2019 12:21:46\r\n\r\n");
    desk.prints(10, "rst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n");
    let reason = String::from("RTCWDT_BROWN_OUT_RESET");
    assert_eq!(desk.console.fault(), Some(&BoardFault::Restarted { reason }));
    let mut desk = Desk::ready();
    desk.console.restarts(ms(desk.now));
    assert!(!desk.console.is_ready());
    desk.prints(10, BOOT);
    desk.prints(10, PROMPT);
    assert!(desk.console.is_ready() && desk.console.fault().is_none());
    assert_eq!(desk.console.learned().starts, 2);
    // Copies of a command may restart a board once more.
    desk.console.restarts_until(ms(desk.now), ms(desk.now + 5000));
    for _ in 0..2 {
        desk.prints(1000, BOOT);
        desk.prints(10, PROMPT);
    }
    assert!(desk.console.fault().is_none() && desk.console.learned().starts == 4);
    desk.prints(5000, BOOT);
    assert!(matches!(desk.console.fault(), Some(BoardFault::Restarted { .. })));
}

#[test]
fn a_prompt_without_a_boot_log_counts_after_six_seconds() {
    let mut desk = Desk::new();
    desk.console.restarts(ms(0));
    desk.prints(1000, PROMPT);
    assert!(
        desk.console.has_prompt() && !desk.console.is_ready(),
        "it may be from before the start"
    );
    desk.waits(4999);
    assert!(!desk.console.is_ready());
    desk.waits(1);
    assert!(desk.console.is_ready());
    // A port that was opened, and whose board goes on as it was, is asked at once.
    let mut desk = Desk::new();
    desk.console.attached(ms(0));
    assert_eq!(desk.typed(), "\x1b[1;80R\r");
    desk.prints(500, PROMPT);
    assert!(!desk.console.is_ready(), "the answer to what was sent is not over");
    desk.waits(500);
    assert!(desk.console.is_ready());
}

#[test]
fn the_key_is_known_from_its_line_until_the_next_start() {
    let mut desk = Desk::ready();
    assert!(!desk.console.has_key());
    desk.prints(10, "[24:0a:c4:00:00:09][1][-60]: I (77) espnow_sec_resp: Get APP key\r\n");
    assert!(!desk.console.has_key(), "another device has it");
    desk.prints(10, "I (900) espnow_sec_resp: Get APP key\r\n");
    assert!(desk.console.has_key());
    desk.console.was_reset(ms(desk.now));
    assert!(!desk.console.has_key());
}

#[test]
fn the_first_fault_counts_and_lines_beyond_the_buffer_are_counted() {
    let mut desk = Desk::ready();
    desk.console.unplugged("No such device");
    desk.console.fail(BoardFault::Silent);
    let error = String::from("No such device");
    assert_eq!(desk.console.fault(), Some(&BoardFault::Unplugged { error }));
    assert_eq!(desk.console.fault().map(BoardFault::cause), Some(Cause::DeviceGone));
    let mut desk = Desk::ready();
    for number in 0..4100 {
        desk.prints(0, &format!("I ({number}) app: line {number}\r\n"));
    }
    assert_eq!(desk.console.drops().lines, 4);
    let lines = desk.lines();
    assert_eq!((lines.len(), lines[0].text.as_str()), (4096, "line 4"), "the oldest go");
}

#[test]
fn what_was_learned_of_a_board_is_remembered_but_for_its_starts() {
    let known = Desk::ready().console.learned().clone();
    let mut desk = Desk::new();
    desk.console.remember(&known);
    let learned = desk.console.learned();
    assert_eq!((learned.mac, learned.release, learned.starts), (known.mac, known.release, 0));
}
