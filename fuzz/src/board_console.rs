//! The console of a real board: any bytes, at any times, with commands, resets and unplugging between.

use core::time::Duration;
use espbench_engine::boards::{BoardConsole, BoardFault};
use espbench_model::time::Instant;

/// Lines of a console that are kept at most.
const LINES: u64 = 4096;

/// Reads a console's output: bytes from 0xF0 on are the host's operations, the others come from the board.
pub fn board_console(data: &[u8]) {
    let mut now = Instant::from_nanos(1);
    let mut console = BoardConsole::new(now);
    let mut commands = 0;
    for &byte in data {
        match byte {
            0xF0 => now = now + Duration::from_millis(50),
            0xF1 => now = now + Duration::from_secs(3),
            0xF2 | 0xF3 => {
                console.command(now, if byte == 0xF2 { "help" } else { "restart" });
                commands += 1;
            }
            0xF4 => console.was_reset(now),
            0xF5 => console.restarts(now),
            0xF6 => console.attached(now),
            0xF7 => console.unplugged("gone"),
            0xF8 => {
                console.feed(now, b"rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n")
            }
            0xF9 => console.feed(now, b"esp32> "),
            0xFA => console
                .feed(now, b"Guru Meditation Error: Core  0 panic'ed\r\nBacktrace: 0x4:0x3\r\n"),
            0xFB => console.begin_samples(),
            0xFC => {
                let lines = std::iter::from_fn(|| console.take_line()).count() as u64;
                assert!(lines <= LINES);
            }
            byte => console.feed(now, &[byte]),
        }
        console.tick(now);
        // Whoever waits until then and ticks again gets on.
        assert!(console.due().is_none_or(|due| due > now));
        assert!(console.pending() <= commands);
        assert!(console.take_out().len() <= 64 + 64 * data.len());
        match console.fault() {
            Some(BoardFault::Panicked { backtrace, .. }) => assert!(backtrace.len() <= 8),
            Some(fault) => assert!(!fault.to_string().is_empty() && !fault.remedy().is_empty()),
            None => assert!(!(console.is_ready() && console.is_crashing())),
        }
        assert!(console.learned().commands.len() <= 256);
    }
}
