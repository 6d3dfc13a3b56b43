//! Serial ports with their USB ids, and which bridge each is.

use super::reset::ResetCircuit;
use crate::user_error::UserError;
use serde::Serialize;
use serialport::SerialPortType;
use std::fmt;
use std::path::Path;

/// Vendor and product of a USB device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsbId {
    /// Number of the vendor, which USB-IF gives.
    pub vendor: u16,
    /// Number of the product, which the vendor gives.
    pub product: u16,
}

impl fmt::Display for UsbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.product)
    }
}

impl Serialize for UsbId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Circuit between USB and the chip's serial port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsbBridge {
    /// Peripheral of the chip itself (C3, C5, C6, C61, H2, S3, P4): console, loader and JTAG over USB.
    UsbSerialJtag,
    /// Any other USB device of Espressif's: the USB OTG of S2 and S3, or the ESP USB bridge.
    Espressif,
    /// CP210x of Silicon Labs.
    Cp210x,
    /// CH340, CH343, CH9102 and others of WCH.
    Ch34x,
    /// FT232, FT2232 and others of FTDI, among them ESP-Prog.
    Ftdi,
}

impl UsbBridge {
    /// Returns the bridge with these USB ids; `None` of a device that no ESP board has.
    #[must_use]
    pub const fn of(id: UsbId) -> Option<Self> {
        match (id.vendor, id.product) {
            (0x303a, 0x1001) => Some(Self::UsbSerialJtag),
            (0x303a, _) => Some(Self::Espressif),
            (0x10c4, 0xea60 | 0xea63 | 0xea70 | 0xea71) => Some(Self::Cp210x),
            (0x1a86, _) => Some(Self::Ch34x),
            (0x0403, _) => Some(Self::Ftdi),
            _ => None,
        }
    }

    /// Returns the name that people know it by.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::UsbSerialJtag => "USB-Serial-JTAG",
            Self::Espressif => "Espressif USB",
            Self::Cp210x => "CP210x",
            Self::Ch34x => "CH34x",
            Self::Ftdi => "FTDI",
        }
    }

    /// Returns how control lines reset a chip behind it.
    #[must_use]
    pub const fn circuit(self) -> ResetCircuit {
        match self {
            Self::UsbSerialJtag => ResetCircuit::UsbSerialJtag,
            Self::Espressif | Self::Cp210x | Self::Ch34x | Self::Ftdi => ResetCircuit::Classic,
        }
    }
}

/// USB device that has a serial port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsbDevice {
    /// Vendor and product.
    pub id: UsbId,
    /// Serial number: of a USB-Serial-JTAG the chip's MAC address.
    pub serial: Option<String>,
    /// Name of the product, as the device says it.
    pub product: Option<String>,
    /// Place in the tree of hubs, as `1-4.2`: the bus, and the ports on the way.
    pub location: Option<String>,
}

/// Serial port of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPort {
    /// Name to open it by: `/dev/ttyUSB0`, `/dev/cu.usbserial-10`, `COM3`.
    pub name: String,
    /// USB device that it belongs to; `None` of other ports, such as pseudo-terminals.
    pub usb: Option<UsbDevice>,
}

impl BoardPort {
    /// Returns a port of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), usb: None }
    }

    /// Returns its bridge; `None` of a port that is none of a board.
    #[must_use]
    pub fn bridge(&self) -> Option<UsbBridge> {
        self.usb.as_ref().and_then(|usb| UsbBridge::of(usb.id))
    }

    /// Returns how a chip behind it is reset: as boards with an external bridge, where nothing is known.
    #[must_use]
    pub fn circuit(&self) -> ResetCircuit {
        self.bridge().map_or(ResetCircuit::Classic, UsbBridge::circuit)
    }
}

/// Returns all serial ports of this machine, boards first, then by name.
///
/// # Errors
/// The system does not tell.
pub fn list() -> Result<Vec<BoardPort>, UserError> {
    // A machine without any terminal, such as some containers, lacks the folder that is read.
    if cfg!(target_os = "linux") && !Path::new("/sys/class/tty").is_dir() {
        return Ok(Vec::new());
    }
    let found = serialport::available_ports()
        .map_err(|e| UserError::new("cannot list the serial ports").because(e))?;
    let mut ports: Vec<BoardPort> = found
        .into_iter()
        // macOS has each port twice; opening its `tty.` waits for a carrier that no board gives.
        .filter(|it| !it.port_name.starts_with("/dev/tty.") || !cfg!(target_os = "macos"))
        .map(|it| BoardPort { usb: usb(it.port_type), name: it.port_name })
        .collect();
    ports.sort_by_cached_key(|it| (it.bridge().is_none(), natural(&it.name)));
    Ok(ports)
}

/// Returns the ports that a board may be behind.
///
/// # Errors
/// As [`list`].
pub fn boards() -> Result<Vec<BoardPort>, UserError> {
    Ok(list()?.into_iter().filter(|it| it.bridge().is_some()).collect())
}

/// Returns the port with this name, or that a link of this name points to (`/dev/serial/by-id/…`); of any
/// other name one of which nothing is known, such as a pseudo-terminal.
///
/// # Errors
/// As [`list`].
pub fn find(name: &str) -> Result<BoardPort, UserError> {
    let target = std::fs::canonicalize(name).ok();
    let is_it = |it: &BoardPort| {
        it.name == name || target.as_deref().is_some_and(|t| t == Path::new(&it.name))
    };
    let known = list()?.into_iter().find(is_it);
    Ok(BoardPort { name: name.to_owned(), usb: known.and_then(|it| it.usb) })
}

fn usb(kind: SerialPortType) -> Option<UsbDevice> {
    let SerialPortType::UsbPort(info) = kind else { return None };
    Some(UsbDevice {
        id: UsbId { vendor: info.vid, product: info.pid },
        serial: info.serial_number,
        product: info.product,
        location: info.location.map(|it| it.to_string()),
    })
}

/// Returns a key by which `ttyUSB10` comes after `ttyUSB9`.
fn natural(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bridges_are_known_by_their_ids() {
        let of = |vendor, product| UsbBridge::of(UsbId { vendor, product });
        assert_eq!(of(0x303a, 0x1001), Some(UsbBridge::UsbSerialJtag));
        assert_eq!(of(0x303a, 0x0002), Some(UsbBridge::Espressif));
        assert_eq!(of(0x10c4, 0xea60), Some(UsbBridge::Cp210x));
        for product in [0x7523, 0x55d3, 0x55d4] {
            assert_eq!(of(0x1a86, product), Some(UsbBridge::Ch34x));
        }
        assert_eq!(of(0x0403, 0x6010), Some(UsbBridge::Ftdi));
        assert_eq!(of(0x1d6b, 0x0002), None, "a hub");
        assert_eq!(of(0x10c4, 0x8a2a), None, "another product of Silicon Labs");
    }

    #[test]
    fn only_the_chips_own_usb_is_reset_in_its_own_way() {
        let port = |vendor, product| BoardPort {
            name: "p".into(),
            usb: Some(UsbDevice {
                id: UsbId { vendor, product },
                serial: None,
                product: None,
                location: None,
            }),
        };
        assert_eq!(port(0x303a, 0x1001).circuit(), ResetCircuit::UsbSerialJtag);
        assert_eq!(port(0x303a, 0x1002).circuit(), ResetCircuit::Classic);
        assert_eq!(port(0x1a86, 0x7523).circuit(), ResetCircuit::Classic);
        assert_eq!(BoardPort::named("/dev/pts/7").circuit(), ResetCircuit::Classic);
    }

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["/dev/ttyUSB10", "/dev/ttyACM1", "/dev/ttyUSB9", "COM3", "/dev/ttyUSB"];
        names.sort_by_cached_key(|it| natural(it));
        assert_eq!(names, ["/dev/ttyACM1", "/dev/ttyUSB", "/dev/ttyUSB9", "/dev/ttyUSB10", "COM3"]);
    }

    #[test]
    fn a_port_that_is_not_listed_is_known_by_name_alone() {
        assert_eq!(find("/dev/pts/9999"), Ok(BoardPort::named("/dev/pts/9999")));
    }
}
