//! `espbench board monitor`: a board's console, with times and with addresses as functions.

use super::lines::{AddressDecoder, ConsoleLines, MonitorLine};
use super::ports::PortArgs;
use crate::cli::output::cannot_write;
use crate::cli::thread;
use crate::say::{self, say};
use crate::serial::open::{self, LOADER_BAUD, NativePort};
use crate::serial::ports::BoardPort;
use crate::serial::reset::BootMode;
use crate::sys::keys::RawTerminal;
use crate::user_error::{ForUser as _, UserError};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Key that leaves: Ctrl-].
const LEAVE: u8 = 0x1D;
/// Key that starts the board again: Ctrl-R.
const RESET: u8 = 0x12;

/// Time that a read waits, so that keys are sent soon.
const PATIENCE: Duration = Duration::from_millis(20);

/// A line without an end is shown after this much silence: a prompt.
const PROMPT: Duration = Duration::from_millis(50);

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    port: PortArgs,
    /// Rate of the serial port
    #[arg(long, value_name = "BAUD", default_value_t = LOADER_BAUD)]
    baud: u32,
    /// Start the board again first
    #[arg(long)]
    reset: bool,
    /// Show addresses as functions and lines of this ELF
    #[cfg(feature = "flash")]
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// Also write all that comes to this file, byte by byte
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let ports = args.port.ports(false)?;
    let [port] = &ports[..] else {
        let told = UserError::new(format!("{} ports are named", ports.len()));
        return Err(told.remedy("a monitor has one: --on serial:PORT").into());
    };
    let lines = ConsoleLines::new(decoder(args)?);
    let log = match &args.output {
        Some(path) => Some((
            path.clone(),
            BufWriter::new(
                File::create(path).for_user(|| cannot_write(path), "name another file")?,
            ),
        )),
        None => None,
    };
    let open = open::open(port, args.baud, PATIENCE)?;
    let ends = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ends);
    // Elsewhere than on a terminal Ctrl-C ends it; on one it goes to the board.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_terminal {
        say!("{} at {} baud; Ctrl-] leaves, Ctrl-R starts the board again", port.name, args.baud);
    }
    let raw = if is_terminal { RawTerminal::begin() } else { None };
    let mut monitor =
        Monitor { port, open, lines, log, is_terminal: raw.is_some(), keys: keys()?, ends };
    let ended = monitor.run(args);
    drop(raw);
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what makes functions of the addresses in a line.
#[cfg(feature = "flash")]
fn decoder(args: &Args) -> Result<AddressDecoder, UserError> {
    use crate::flash::addresses::ProgramAddresses;
    let Some(path) = &args.elf else { return Ok(Box::new(|_| Vec::new())) };
    let what = || format!("cannot read {}", path.display());
    let remedy = "name the ELF of the firmware that the board runs";
    let bytes = crate::named_file::program(path).for_user(what, remedy)?;
    let program = ProgramAddresses::read(&bytes).for_user(what, remedy)?;
    Ok(Box::new(move |line| program.decode(line)))
}

#[cfg(not(feature = "flash"))]
fn decoder(_: &Args) -> Result<AddressDecoder, UserError> {
    Ok(Box::new(|_| Vec::new()))
}

/// Reads what is typed, in a thread of its own, which ends with the process.
///
/// # Errors
/// There is none to be had.
fn keys() -> Result<Receiver<Vec<u8>>, UserError> {
    let (sender, keys) = channel();
    thread::start("the keyboard", move || {
        let mut some = [0; 256];
        while let Ok(n @ 1..) = io::stdin().read(&mut some) {
            if sender.send(some[..n].to_vec()).is_err() {
                break;
            }
        }
    })?;
    Ok(keys)
}

/// Console that is shown.
struct Monitor<'a> {
    port: &'a BoardPort,
    open: NativePort,
    lines: ConsoleLines,
    log: Option<(PathBuf, BufWriter<File>)>,
    is_terminal: bool,
    keys: Receiver<Vec<u8>>,
    ends: Arc<AtomicBool>,
}

impl Monitor<'_> {
    fn run(&mut self, args: &Args) -> Result<(), UserError> {
        let begun = Instant::now();
        if args.reset {
            self.reset()?;
        }
        let (mut some, mut heard) = ([0; 4096], begun);
        while !self.ends.load(Ordering::Relaxed) {
            if args.seconds.is_some_and(|it| begun.elapsed() >= Duration::from_secs(it.into())) {
                break;
            }
            let count = match self.open.read(&mut some) {
                Ok(0) => return Err(self.went_away("end of the stream")),
                Ok(count) => count,
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted) =>
                {
                    0
                }
                Err(e) => return Err(self.went_away(&e.to_string())),
            };
            let bytes = &some[..count];
            if count > 0 {
                heard = Instant::now();
                if let Some((path, log)) = &mut self.log {
                    log.write_all(bytes).for_user(|| cannot_write(path), "free some space")?;
                }
                for line in self.lines.push(bytes, begun.elapsed()) {
                    self.show(&line)?;
                }
            } else if self.is_terminal
                && heard.elapsed() > PROMPT
                && let Some(line) = self.lines.prompt()
            {
                self.show(&line)?;
            }
            while let Ok(typed) = self.keys.try_recv() {
                if !self.typed(&typed)? {
                    return self.finish();
                }
            }
        }
        self.finish()
    }

    /// Sends what was typed; returns whether it goes on.
    fn typed(&mut self, typed: &[u8]) -> Result<bool, UserError> {
        // From a pipe all bytes are the board's.
        let is_key = |byte: &u8| self.is_terminal && [LEAVE, RESET].contains(byte);
        let end = typed.iter().position(is_key).unwrap_or(typed.len());
        let sent = self.open.write_all(&typed[..end]).and_then(|()| self.open.flush());
        sent.map_err(|e| self.went_away(&e.to_string()))?;
        match typed.get(end) {
            Some(&LEAVE) => Ok(false),
            Some(_) => {
                self.reset()?;
                self.typed(&typed[end + 1..])
            }
            None => Ok(true),
        }
    }

    fn reset(&mut self) -> Result<(), UserError> {
        let done = open::reset(self.port, &mut self.open, BootMode::Program, 0);
        let counts = done.map_err(|e| self.went_away(&e.to_string()))?;
        if counts.set == 0 {
            say!("{} has no control lines: press the board's RESET", self.port.name);
        }
        Ok(())
    }

    /// Shows a line: on a raw terminal with a carriage return, elsewhere without colours.
    fn show(&self, line: &MonitorLine) -> Result<(), UserError> {
        let printed = if self.is_terminal {
            say::console(&line.text("\r\n"))
        } else {
            say::out(&anstream::adapter::strip_str(&line.text("\n")).to_string())
        };
        printed.map_err(|e| UserError::new("cannot print").because(e))
    }

    fn finish(&mut self) -> Result<(), UserError> {
        if let Some(line) = self.lines.rest() {
            self.show(&line)?;
        }
        match &mut self.log {
            Some((path, log)) => log.flush().for_user(|| cannot_write(path), "free some space"),
            None => Ok(()),
        }
    }

    fn went_away(&mut self, cause: &str) -> UserError {
        let _ = self.finish();
        UserError::new(format!("{}: the port went away", self.port.name))
            .because(cause)
            .remedy("check cable and hub, then start the monitor again")
    }
}
