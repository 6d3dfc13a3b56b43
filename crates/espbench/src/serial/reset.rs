//! Sequences of the control lines that start a chip again, into its program or its loader.
//!
//! A board with an external bridge has two transistors: DTR and RTS low together, or high together, change
//! nothing; RTS alone holds the chip in reset (EN low), DTR alone asks for the loader (GPIO0 or GPIO9 low).
//! A chip's own USB serial JTAG reads the same two lines and imitates that circuit. The steps and delays
//! are those of Espressif's "Boot mode selection" and of esptool's documentation of reset sequences.

use serde::Serialize;
use std::io;
use std::time::Duration;

/// Circuit that turns control lines into reset and boot mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetCircuit {
    /// Two transistors behind an external bridge.
    Classic,
    /// USB serial JTAG peripheral of the chip.
    UsbSerialJtag,
}

impl ResetCircuit {
    /// Returns the word for it in lists.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::UsbSerialJtag => "usb-serial-jtag",
        }
    }
}

/// Mode that a chip starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BootMode {
    /// Program in flash.
    Program,
    /// Loader in ROM, which waits for commands.
    Loader,
}

/// Step of a sequence; `true` asserts a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetStep {
    /// DTR alone.
    Dtr(bool),
    /// RTS alone.
    Rts(bool),
    /// DTR and RTS in one system call, where there is one: with one after the other the chip could start
    /// in between.
    DtrRts(bool, bool),
    /// A pause in milliseconds.
    Wait(u64),
}

use ResetStep::{Dtr, DtrRts, Rts, Wait};

/// Steps into the loader by two transistors. The capacitor at EN decides how long GPIO0 must stay low after
/// reset ends.
const CLASSIC_LOADER: [ResetStep; 8] = [
    DtrRts(false, false),
    DtrRts(true, true),
    DtrRts(false, true),
    Wait(100),
    DtrRts(true, false),
    Wait(50),
    DtrRts(false, false),
    Dtr(false),
];

/// Steps into the loader on boards with a larger capacitor.
const CLASSIC_LOADER_SLOW: [ResetStep; 8] = [
    DtrRts(false, false),
    DtrRts(true, true),
    DtrRts(false, true),
    Wait(100),
    DtrRts(true, false),
    Wait(550),
    DtrRts(false, false),
    Dtr(false),
];

/// Steps into the program by two transistors.
const CLASSIC_PROGRAM: [ResetStep; 4] = [Dtr(false), Rts(true), Wait(100), Rts(false)];

/// Steps into the loader by USB serial JTAG: from idle to reset through both lines asserted. Windows sends
/// DTR only when RTS is set, so that RTS is set again.
const JTAG_LOADER: [ResetStep; 12] = [
    Rts(false),
    Dtr(false),
    Wait(100),
    Dtr(true),
    Rts(false),
    Wait(100),
    Rts(true),
    Dtr(false),
    Rts(true),
    Wait(100),
    Dtr(false),
    Rts(false),
];

/// Steps into the program by USB serial JTAG.
const JTAG_PROGRAM: [ResetStep; 7] =
    [Dtr(false), Wait(100), Rts(true), Dtr(false), Rts(true), Wait(100), Rts(false)];

/// Returns the sequences to try, one after the other, until the chip answers in this mode.
#[must_use]
pub const fn sequences(circuit: ResetCircuit, mode: BootMode) -> &'static [&'static [ResetStep]] {
    match (circuit, mode) {
        (ResetCircuit::Classic, BootMode::Loader) => &[&CLASSIC_LOADER, &CLASSIC_LOADER_SLOW],
        (ResetCircuit::Classic, BootMode::Program) => &[&CLASSIC_PROGRAM],
        (ResetCircuit::UsbSerialJtag, BootMode::Loader) => &[&JTAG_LOADER],
        (ResetCircuit::UsbSerialJtag, BootMode::Program) => &[&JTAG_PROGRAM],
    }
}

/// Control lines of a port, and the time between their changes.
pub trait ControlLines {
    /// Sets DTR, RTS or both (`None` leaves a line as it is).
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the port has no such lines, as a pseudo-terminal; any other
    /// where the port has gone.
    fn set(&mut self, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()>;

    /// Lets time pass.
    fn wait(&mut self, time: Duration);
}

/// Outcome of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResetCounts {
    /// Changes of lines that were carried out.
    pub set: u32,
    /// Changes that the port has no lines for: the chip was not reset.
    pub unsupported: u32,
}

/// Carries out a sequence. Steps that a port has no lines for are counted and change nothing.
///
/// # Errors
/// The port has gone.
pub fn carry_out(steps: &[ResetStep], lines: &mut impl ControlLines) -> io::Result<ResetCounts> {
    let mut counts = ResetCounts::default();
    for step in steps {
        let (dtr, rts) = match *step {
            Wait(ms) => {
                lines.wait(Duration::from_millis(ms));
                continue;
            }
            Dtr(level) => (Some(level), None),
            Rts(level) => (None, Some(level)),
            DtrRts(dtr, rts) => (Some(dtr), Some(rts)),
        };
        match lines.set(dtr, rts) {
            Ok(()) => counts.set += 1,
            Err(e) if e.kind() == io::ErrorKind::Unsupported => counts.unsupported += 1,
            Err(e) => return Err(e),
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A board on virtual time: two transistors or the peripheral, a chip that samples its boot pin when
    /// reset ends, and the capacitor at EN that lets reset end later.
    #[derive(Default)]
    struct VirtualBoard {
        circuit: Option<ResetCircuit>,
        /// Time that the capacitor takes.
        rise: Duration,
        now: Duration,
        dtr: bool,
        rts: bool,
        in_reset: bool,
        /// Instant at which reset will have ended.
        ends: Option<Duration>,
        started: Vec<BootMode>,
        error: Option<io::ErrorKind>,
    }

    impl VirtualBoard {
        fn new(circuit: ResetCircuit, rise_ms: u64) -> Self {
            let rise = Duration::from_millis(rise_ms);
            Self { circuit: Some(circuit), rise, ..Self::default() }
        }

        fn pins(&self) -> (bool, bool) {
            // Reset and boot pin are low only where the other line is not asserted.
            (self.rts && !self.dtr, self.dtr && !self.rts)
        }

        fn change(&mut self) {
            let (reset, _) = self.pins();
            if reset {
                (self.in_reset, self.ends) = (true, None);
            } else if self.in_reset && self.ends.is_none() {
                self.ends = Some(self.now + self.rise);
                self.settle();
            }
        }

        fn settle(&mut self) {
            if self.ends.is_some_and(|it| it <= self.now) {
                (self.in_reset, self.ends) = (false, None);
                let is_loader = self.pins().1;
                self.started.push(if is_loader { BootMode::Loader } else { BootMode::Program });
            }
        }

        fn carry_out(mut self, mode: BootMode) -> Vec<Vec<BootMode>> {
            let circuit = self.circuit.unwrap();
            let each = sequences(circuit, mode).iter().map(|steps| {
                let counts = carry_out(steps, &mut self).unwrap();
                assert_eq!(counts.unsupported, 0);
                assert_eq!((self.dtr, self.rts), (false, false), "all lines are released");
                self.wait(Duration::from_secs(1));
                std::mem::take(&mut self.started)
            });
            each.collect()
        }
    }

    impl ControlLines for VirtualBoard {
        fn set(&mut self, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()> {
            if let Some(kind) = self.error {
                return Err(kind.into());
            }
            (self.dtr, self.rts) = (dtr.unwrap_or(self.dtr), rts.unwrap_or(self.rts));
            self.change();
            Ok(())
        }

        fn wait(&mut self, time: Duration) {
            // In steps, so that reset ends while the sequence waits.
            for _ in 0..time.as_millis() {
                self.now += Duration::from_millis(1);
                self.settle();
            }
        }
    }

    #[test]
    fn a_bridge_starts_the_loader_or_the_program() {
        let board = || VirtualBoard::new(ResetCircuit::Classic, 1);
        assert_eq!(board().carry_out(BootMode::Loader), [[BootMode::Loader], [BootMode::Loader]]);
        assert_eq!(board().carry_out(BootMode::Program), [[BootMode::Program]]);
    }

    #[test]
    fn a_large_capacitor_needs_the_slow_sequence() {
        let started = VirtualBoard::new(ResetCircuit::Classic, 300).carry_out(BootMode::Loader);
        // Reset of the first ends when the boot pin is high again.
        assert_eq!(started, [[BootMode::Program], [BootMode::Loader]]);
    }

    #[test]
    fn usb_serial_jtag_starts_the_program_once() {
        let board = VirtualBoard::new(ResetCircuit::UsbSerialJtag, 0);
        assert_eq!(board.carry_out(BootMode::Program), [[BootMode::Program]]);
    }

    #[test]
    fn usb_serial_jtag_asks_for_the_loader_before_reset() {
        // The peripheral keeps the boot pin that was asked for before, so that its order is what counts.
        let mut seen = Vec::new();
        struct Seen<'a>(&'a mut Vec<(bool, bool)>, bool, bool);
        impl ControlLines for Seen<'_> {
            fn set(&mut self, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()> {
                (self.1, self.2) = (dtr.unwrap_or(self.1), rts.unwrap_or(self.2));
                self.0.push((self.1, self.2));
                Ok(())
            }
            fn wait(&mut self, _: Duration) {}
        }
        let steps = sequences(ResetCircuit::UsbSerialJtag, BootMode::Loader)[0];
        carry_out(steps, &mut Seen(&mut seen, true, true)).unwrap();
        seen.dedup();
        let [dtr, both, rts, idle] = [(true, false), (true, true), (false, true), (false, false)];
        assert_eq!(seen, [dtr, idle, dtr, both, rts, idle]);
    }

    #[test]
    fn times_are_those_of_the_documentation() {
        let ms = |circuit, mode| -> Vec<u64> {
            let waits = |it: &ResetStep| if let Wait(ms) = it { Some(*ms) } else { None };
            sequences(circuit, mode)
                .iter()
                .map(|steps| steps.iter().filter_map(waits).sum())
                .collect()
        };
        assert_eq!(ms(ResetCircuit::Classic, BootMode::Loader), [150, 650]);
        assert_eq!(ms(ResetCircuit::Classic, BootMode::Program), [100]);
        assert_eq!(ms(ResetCircuit::UsbSerialJtag, BootMode::Loader), [300]);
        assert_eq!(ms(ResetCircuit::UsbSerialJtag, BootMode::Program), [200]);
    }

    #[test]
    fn a_port_without_lines_is_counted_and_one_that_has_gone_is_an_error() {
        let with = |kind| VirtualBoard {
            error: Some(kind),
            ..VirtualBoard::new(ResetCircuit::Classic, 1)
        };
        let steps = sequences(ResetCircuit::Classic, BootMode::Program)[0];
        let counts = carry_out(steps, &mut with(io::ErrorKind::Unsupported)).unwrap();
        assert_eq!(counts, ResetCounts { set: 0, unsupported: 3 });
        let gone = carry_out(steps, &mut with(io::ErrorKind::BrokenPipe)).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::BrokenPipe);
    }
}
