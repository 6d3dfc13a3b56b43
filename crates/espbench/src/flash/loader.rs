//! The chip's loader on a port: information, writing, erasing.

use super::image::{self, FlashFile};
use super::{chip, told};
use crate::serial::open::{self, LOADER_BAUD, NativePort};
use crate::serial::ports::BoardPort;
use crate::serial::reset::{self, BootMode};
use crate::user_error::UserError;
use espflash::connection::{Connection, ResetAfterOperation, ResetBeforeOperation};
use espflash::flasher::{DeviceInfo, FlashData, FlashSettings, Flasher};
use espflash::image_format::Segment;
use espflash::image_format::idf::IdfBootloaderFormat;
use espflash::target::{Chip as FlashChip, ProgressCallbacks};
use serialport::UsbPortInfo;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time that the loader has to answer, unless an operation has its own.
const PATIENCE: Duration = Duration::from_secs(3);

/// Piece of flash that is erased at once, in bytes.
pub const SECTOR: u32 = 0x1000;

/// Way to reach a chip's loader.
#[derive(Clone, Copy, Debug)]
pub struct LoaderAccess<'a> {
    /// Port.
    pub port: &'a BoardPort,
    /// Chip that must be there, where one is meant.
    pub chip: Option<FlashChip>,
    /// Rate after the first words, in baud.
    pub baud: u32,
}

/// Chip whose loader answers.
#[derive(Debug)]
pub struct BoardLoader {
    port: BoardPort,
    flasher: Flasher,
}

/// Facts of a board.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BoardFacts {
    /// Port.
    pub port: String,
    /// Chip: `esp32c3`.
    pub chip: String,
    /// Revision of its silicon: `v0.4`.
    pub revision: Option<String>,
    /// MAC address of the station interface.
    pub mac: Option<String>,
    /// Size of its flash in bytes.
    pub flash_bytes: u32,
    /// Frequency of its crystal.
    pub crystal: String,
    /// Radios, cores and memory inside.
    pub features: Vec<String>,
}

impl BoardFacts {
    fn of(port: &str, info: &DeviceInfo) -> Self {
        Self {
            port: port.to_owned(),
            chip: info.chip.to_string(),
            revision: info.revision.map(|(major, minor)| format!("v{major}.{minor}")),
            mac: info.mac_address.clone(),
            flash_bytes: info.flash_size.size(),
            crystal: info.crystal_frequency.to_string(),
            features: info.features.clone(),
        }
    }
}

impl BoardLoader {
    /// Resets the chip into its loader; with a stub it writes compressed, erases regions and answers faster.
    ///
    /// # Errors
    /// The port cannot be opened, nothing answers, or another chip does.
    pub fn connect(access: LoaderAccess, with_stub: bool) -> Result<Self, UserError> {
        let LoaderAccess { port, chip, baud } = access;
        let mut open = open::open(port, LOADER_BAUD, PATIENCE)?;
        let attempts = reset::sequences(port.circuit(), BootMode::Loader).len();
        for attempt in 0..attempts {
            let counts = open::reset(port, &mut open, BootMode::Loader, attempt)
                .map_err(|e| told::went_away(&port.name, &e.to_string()))?;
            let mut connection = connection(open, port);
            let begun = guarded(&port.name, || connection.begin())?;
            if let Err(error) = begun {
                if let Some(cause) = told::gone(&error) {
                    return Err(told::went_away(&port.name, &cause));
                }
                // A port without control lines would answer the second time as it did the first.
                if counts.set == 0 {
                    break;
                }
                open = connection.into_serial();
                continue;
            }
            let connected = guarded(&port.name, || {
                Flasher::connect(connection, with_stub, true, true, chip, Some(baud))
            })?;
            return match connected {
                Ok(flasher) => Ok(Self { port: port.clone(), flasher }),
                Err(error) => Err(told::told(&port.name, &error)),
            };
        }
        Err(told::no_answer(&port.name))
    }

    /// Asks for the board's facts.
    ///
    /// # Errors
    /// The chip does not answer.
    pub fn facts(&mut self) -> Result<BoardFacts, UserError> {
        let info = self.guarded(Flasher::device_info)?;
        Ok(BoardFacts::of(&self.port.name, &info))
    }

    /// Writes a file and lets the chip verify it; parts that flash holds already are left as they are.
    ///
    /// # Errors
    /// It is for another chip, it does not fit, or what flash holds afterwards differs.
    pub fn write(
        &mut self,
        file: &FlashFile,
        partitions: Option<&Path>,
        progress: &mut dyn ProgressCallbacks,
    ) -> Result<u64, UserError> {
        let info = self.guarded(Flasher::device_info)?;
        let found = info.chip;
        if !file.fits(found) {
            let wanted = file
                .chip()
                .map_or_else(|| "one with that processor and memory".into(), chip::title);
            return Err(told::wrong_chip(&self.port.name, &wanted, &chip::title(found)));
        }
        let mut segments = self.segments(file, partitions, &info)?;
        segments.extend(image::erased_otadata(&segments));
        let size = u64::from(info.flash_size.size());
        let end = segments.iter().map(|it| u64::from(it.addr) + it.data.len() as u64).max();
        if end.is_some_and(|end| end > size) {
            let what = format!("{}: the image does not fit the flash", self.port.name);
            let why = format!("it ends at {} of {size} bytes", end.unwrap_or(0));
            return Err(UserError::new(what).because(why).remedy("build it for a smaller flash"));
        }
        self.guarded(|flasher| flasher.write_bins_to_flash(&segments, progress))?;
        Ok(segments.iter().map(|it| it.data.len() as u64).sum())
    }

    fn segments(
        &self,
        file: &FlashFile,
        partitions: Option<&Path>,
        info: &DeviceInfo,
    ) -> Result<Vec<Segment<'static>>, UserError> {
        let bytes = match file {
            FlashFile::Raw { bytes, at, .. } => return Ok(vec![image::words(*at, bytes)]),
            FlashFile::Elf { bytes, .. } => bytes,
        };
        let settings = FlashSettings::new(None, Some(info.flash_size), None);
        let data = FlashData::new(settings, 0, None, info.chip, info.crystal_frequency);
        let made = unpanicked(|| {
            IdfBootloaderFormat::new(bytes, &data, partitions, None, None, None)
                .map(|it| it.flash_segments().map(|it| image::words(it.addr, &it.data)).collect())
                .map_err(|error| told::sources(&error))
        });
        made.and_then(|it| it).map_err(|why| {
            UserError::new("no image can be made of the ELF")
                .because(why)
                .remedy("check the build's target, its linker script and the table of partitions, which may have no own subtypes of data")
        })
    }

    /// Erases all of the flash, or a region of whole sectors.
    ///
    /// # Errors
    /// The region is beyond the flash, or the chip does not do it.
    pub fn erase(&mut self, region: Option<(u32, u32)>) -> Result<(), UserError> {
        let Some((at, length)) = region else { return self.guarded(Flasher::erase_flash) };
        let size = self.guarded(Flasher::device_info)?.flash_size.size();
        if at.checked_add(length).is_none_or(|end| end > size) {
            let what = format!("{}: the region is beyond the flash", self.port.name);
            return Err(UserError::new(what).because(format!("flash has {size:#x} bytes")));
        }
        self.guarded(|flasher| flasher.erase_region(at, length))
    }

    /// Starts the chip's program.
    ///
    /// # Errors
    /// The port has gone.
    pub fn start_program(self) -> Result<(), UserError> {
        let mut open = self.flasher.into_connection().into_serial();
        open::reset(&self.port, &mut open, BootMode::Program, 0).map(drop).map_err(|e| {
            UserError::new(format!("{}: the chip could not be started", self.port.name))
                .because(e)
                .remedy("press RESET")
        })
    }

    fn guarded<T>(
        &mut self,
        work: impl FnOnce(&mut Flasher) -> Result<T, espflash::Error>,
    ) -> Result<T, UserError> {
        let done = guarded(&self.port.name, || work(&mut self.flasher))?;
        done.map_err(|error| told::told(&self.port.name, &error))
    }
}

/// Wraps an open port for the library, which shall neither reset the chip (not every port has control
/// lines) nor start its program.
fn connection(open: NativePort, port: &BoardPort) -> Connection {
    let usb = port.usb.as_ref();
    let info = UsbPortInfo {
        vid: usb.map_or(0, |it| it.id.vendor),
        pid: usb.map_or(0, |it| it.id.product),
        serial_number: None,
        manufacturer: None,
        product: None,
        location: None,
    };
    let (after, before) = (ResetAfterOperation::NoResetNoStub, ResetBeforeOperation::NoReset);
    Connection::new(open, info, after, before, LOADER_BAUD)
}

/// Runs work of the library, which panics over some answers that no loader gives (a length beyond the
/// packet's end) and over some files that no linker makes.
fn guarded<T>(port: &str, work: impl FnOnce() -> T) -> Result<T, UserError> {
    unpanicked(work).map_err(|place| told::nonsense(port, &place))
}

/// Runs work that may panic.
///
/// # Errors
/// The place in the source where it did.
fn unpanicked<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let place = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&place);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let at = info.location().map(|it| {
            let file = Path::new(it.file()).file_name().unwrap_or_default();
            format!(" at line {} of {}", it.line(), file.to_string_lossy())
        });
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = at.unwrap_or_default();
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(before);
    let place = place.lock().unwrap_or_else(PoisonError::into_inner);
    done.map_err(|_| format!("espflash gave up{place}"))
}
