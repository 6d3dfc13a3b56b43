//! An open port, and errors in words.

use super::ports::BoardPort;
use super::reset::{self, BootMode, ControlLines, ResetCounts};
use crate::user_error::UserError;
#[cfg(windows)]
use serialport::COMPort as Native;
use serialport::ErrorKind;
#[cfg(unix)]
use serialport::TTYPort as Native;
use std::io;
use std::time::Duration;

/// Port as the system has it.
pub type NativePort = Native;

/// Rate of the loader in ROM, and of most consoles, in baud.
pub const LOADER_BAUD: u32 = 115_200;

/// Opens a port for itself alone; reads wait for at most `patience`.
///
/// # Errors
/// There is no such port, another program has it, or it may not be opened.
pub fn open(port: &BoardPort, baud: u32, patience: Duration) -> Result<NativePort, UserError> {
    let builder = serialport::new(&port.name, baud).timeout(patience);
    builder.open_native().map_err(|error| refusal(&port.name, &error))
}

fn refusal(name: &str, error: &serialport::Error) -> UserError {
    let told = UserError::new(format!("cannot open {name}"));
    match error.kind() {
        ErrorKind::Io(io::ErrorKind::NotFound) => told
            .because("there is no such port")
            .remedy("`espbench board list` shows those that there are"),
        ErrorKind::Io(io::ErrorKind::PermissionDenied) if cfg!(unix) => told.because(error).remedy(
            "add yourself to the group that the port belongs to (`ls -l` shows it, often dialout), and log in again",
        ),
        ErrorKind::NoDevice | ErrorKind::Io(io::ErrorKind::PermissionDenied) => told
            .because(error)
            .remedy("end the program that has it: a monitor, an IDE, another espbench"),
        _ => told.because(error).remedy("unplug the board and plug it in again"),
    }
}

/// Starts the chip behind a port again. The sequence is the one with this number of those that there are
/// for the mode, from the first again after the last.
///
/// # Errors
/// The port has gone.
pub fn reset(
    port: &BoardPort,
    open: &mut NativePort,
    mode: BootMode,
    attempt: usize,
) -> io::Result<ResetCounts> {
    let sequences = reset::sequences(port.circuit(), mode);
    reset::carry_out(sequences[attempt % sequences.len()], open)
}

impl ControlLines for NativePort {
    #[cfg(unix)]
    fn set(&mut self, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()> {
        use std::os::fd::AsRawFd as _;
        crate::sys::modem::set(self.as_raw_fd(), dtr, rts)
    }

    #[cfg(not(unix))]
    fn set(&mut self, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()> {
        use serialport::SerialPort as _;
        if let Some(level) = dtr {
            self.write_data_terminal_ready(level)?;
        }
        if let Some(level) = rts {
            self.write_request_to_send(level)?;
        }
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pseudo_terminal_opens_and_has_no_lines() {
        let (_device, host) = NativePort::pair().unwrap();
        let name = serialport::SerialPort::name(&host).unwrap();
        drop(host);
        let port = BoardPort::named(&name);
        let mut opened = open(&port, LOADER_BAUD, Duration::from_millis(1)).unwrap();
        let counts = reset(&port, &mut opened, BootMode::Program, 0).unwrap();
        assert_eq!(counts, ResetCounts { set: 0, unsupported: 3 });
        // Another opens it in vain.
        let busy = open(&port, LOADER_BAUD, Duration::from_millis(1)).unwrap_err();
        assert!(busy.what.ends_with(&name) && busy.remedy.contains("end the program"), "{busy:?}");
    }

    #[test]
    fn a_pseudo_terminal_whose_other_end_is_closed_is_gone() {
        let (device, mut host) = NativePort::pair().unwrap();
        drop(device);
        let steps = [reset::ResetStep::Rts(true)];
        let error = reset::carry_out(&steps, &mut host).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::Unsupported, "{error}");
    }

    #[test]
    fn a_port_that_is_not_there_is_said_to_be_missing() {
        let port = BoardPort::named("/dev/no-such-port");
        let error = open(&port, LOADER_BAUD, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.why, "there is no such port");
        assert!(error.remedy.contains("board list"), "{error}");
    }
}
