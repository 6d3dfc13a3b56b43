//! Faults of a board, each with the cause that its samples get.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_model::sample::Cause;

/// Fault for which a board takes no further part in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardFault {
    /// The port could not be opened, or is not there any more.
    Unplugged {
        /// Error of the system.
        error: String,
    },
    /// The firmware crashed.
    Panicked {
        /// First line of the panic handler.
        reason: String,
        /// Lines with addresses, which an ELF file turns into places in the source.
        backtrace: Vec<String>,
    },
    /// The board started again, and nobody had asked for it.
    Restarted {
        /// Reason that the ROM printed; empty where it printed none.
        reason: String,
    },
    /// The bytes that come are no text: the baud rate differs.
    Garbled {
        /// Bytes that are no text.
        bad: u64,
        /// Bytes in all.
        bytes: u64,
    },
    /// The ROM waits for an image in place of starting one.
    DownloadMode,
    /// The board printed nothing for so long as no board does that works.
    Silent,
    /// The board prints, but showed no prompt to type at.
    NoPrompt {
        /// Last line that it printed.
        last: String,
    },
    /// The board did not get into its Wi-Fi network.
    NotJoined {
        /// Name of the network.
        ssid: String,
        /// Last reason that it told.
        reason: Option<u16>,
    },
    /// The Wi-Fi network refused the board, as with a wrong password.
    Refused {
        /// Name of the network.
        ssid: String,
        /// Reason that it told.
        reason: u16,
    },
    /// The board got no address of its Wi-Fi network.
    NoAddress {
        /// Name of the network.
        ssid: String,
    },
    /// The board could not connect to this host.
    NoWay {
        /// Address that it was to connect to.
        to: String,
        /// Error of its sockets.
        errno: u16,
    },
    /// The simulated board was too far behind the clock.
    Late {
        /// Lateness in milliseconds.
        ms: u64,
    },
    /// Connection between this host and the board: it was not made, or the board ended it.
    NoPeer {
        /// Error of this host.
        error: String,
    },
}

impl BoardFault {
    /// Returns the cause of the samples that the fault prevented.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        match self {
            Self::Unplugged { .. } => Cause::DeviceGone,
            Self::Panicked { .. } | Self::Restarted { .. } => Cause::DeviceRestarted,
            Self::Garbled { .. } => Cause::SerialLine,
            Self::DownloadMode | Self::Silent | Self::NoPrompt { .. } => Cause::DeviceSilent,
            Self::NotJoined { .. } => Cause::NotJoined,
            Self::Refused { .. } => Cause::NotAuthenticated,
            Self::NoAddress { .. } => Cause::NoAddress,
            Self::Late { .. } => Cause::LateClock,
            Self::NoWay { .. } | Self::NoPeer { .. } => Cause::HostUnreachable,
        }
    }

    /// Returns what the user may do.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Unplugged { .. } => "check cable, hub and power",
            Self::Panicked { .. } => {
                "decode the addresses with the ELF file of this image; the whole console is in the store"
            }
            Self::Restarted { .. } => {
                "check the power: many boards on one hub need one of their own"
            }
            Self::Garbled { .. } => {
                "give the console's rate with --baud; ESP-IDF's default is 115200"
            }
            Self::DownloadMode => {
                "release the boot button, or free the strapping pin (GPIO 0 or 9), and reset the board"
            }
            Self::Silent => {
                "check that the firmware has its console on this port, and the baud rate"
            }
            Self::NoPrompt { .. } => {
                "flash an example with a console, such as `solution` of the esp-now component"
            }
            Self::NotJoined { .. } => {
                "check --ssid, and that the network is on a channel and band of this chip"
            }
            Self::Refused { .. } => "check --wifi-password",
            Self::NoAddress { .. } => {
                "check that the network has a DHCP server with free addresses"
            }
            Self::Late { .. } => {
                "run the fleet with fewer devices, as a release build or on an idle machine, and resume the run"
            }
            Self::NoWay { .. } | Self::NoPeer { .. } => {
                "check that this computer is in the board's network, and that no firewall is between"
            }
        }
    }
}

impl fmt::Display for BoardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unplugged { error } => write!(f, "the board is gone ({error})"),
            Self::Panicked { reason, backtrace } => {
                write!(f, "the firmware crashed: {reason}")?;
                backtrace.iter().try_for_each(|line| write!(f, "; {line}"))
            }
            Self::Restarted { reason } if reason.is_empty() => {
                f.write_str("the board started again by itself")
            }
            Self::Restarted { reason } => {
                write!(f, "the board started again by itself ({reason})")
            }
            Self::Garbled { bad, bytes } => {
                write!(f, "{bad} of {bytes} bytes are no text, as with a wrong baud rate")
            }
            Self::DownloadMode => f.write_str("the board waits for a download in its ROM"),
            Self::Silent => f.write_str("the board prints nothing"),
            Self::NoPrompt { last } => {
                write!(f, "the board showed no prompt; its last line is \"{last}\"")
            }
            Self::NotJoined { ssid, reason: None } => {
                write!(f, "the board did not join the network \"{ssid}\"")
            }
            Self::NotJoined { ssid, reason: Some(reason) } => {
                write!(f, "the board did not join the network \"{ssid}\" (reason {reason}")?;
                f.write_str(reason_name(*reason))?;
                f.write_str(")")
            }
            Self::Refused { ssid, reason } => {
                write!(f, "the network \"{ssid}\" refused the board (reason {reason}")?;
                f.write_str(reason_name(*reason))?;
                f.write_str("), as with a wrong password")
            }
            Self::NoAddress { ssid } => {
                write!(f, "the board got no IP address of the network \"{ssid}\"")
            }
            Self::NoWay { to, errno } => {
                write!(f, "the board could not connect to {to} (errno {errno})")
            }
            Self::Late { ms } => write!(
                f,
                "the simulated board was {ms} ms behind the clock: what was measured is invalid"
            ),
            Self::NoPeer { error } => f.write_str(error),
        }
    }
}

/// Returns the name of a reason, with a comma before it; of those that a board meets when it joins.
const fn reason_name(reason: u16) -> &'static str {
    match reason {
        2 => ", authentication expired",
        15 | 204 => ", handshake timeout",
        200 => ", no beacons",
        201 => ", no such network found",
        202 => ", authentication failed",
        203 => ", association failed",
        205 => ", connection failed",
        210..=212 => ", no network of that name with such a security or signal",
        _ => "",
    }
}

/// Returns whether a network tells with this reason that it refuses the station: the password is
/// wrong.
pub(super) const fn is_refusal(reason: u16) -> bool {
    matches!(reason, 2 | 14 | 15 | 202 | 204)
}
