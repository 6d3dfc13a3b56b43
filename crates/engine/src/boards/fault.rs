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
        }
    }
}
