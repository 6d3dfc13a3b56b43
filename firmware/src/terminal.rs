//! The console's terminal: USB serial/JTAG, or UART0 at 115,200 baud.

use espbench_firmware_core::driver::Terminal;

#[cfg(any(feature = "uart", feature = "esp32c2"))]
use esp_hal::uart::{Config, Uart};
#[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
use esp_hal::usb::usb_serial_jtag::UsbSerialJtag;

/// Terminal of the console. Neither reading nor writing waits.
pub(crate) struct ChipTerminal {
    #[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
    port: UsbSerialJtag<'static, esp_hal::Blocking>,
    #[cfg(any(feature = "uart", feature = "esp32c2"))]
    port: Uart<'static, esp_hal::Blocking>,
}

#[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
impl ChipTerminal {
    /// Takes USB serial/JTAG.
    pub(crate) fn usb(port: esp_hal::peripherals::USB_DEVICE<'static>) -> Self {
        Self { port: UsbSerialJtag::new(port) }
    }

    /// Takes the port from whoever has it, to print a crash.
    pub(crate) fn steal() -> Self {
        // SAFETY: nothing else of the program runs any more.
        Self::usb(unsafe { esp_hal::peripherals::USB_DEVICE::steal() })
    }
}

#[cfg(all(not(feature = "uart"), not(feature = "esp32c2")))]
impl Terminal for ChipTerminal {
    fn read(&mut self, out: &mut [u8]) -> usize {
        let mut len = 0;
        while let Some(place) = out.get_mut(len) {
            let Ok(byte) = self.port.read_byte() else { break };
            *place = byte;
            len += 1;
        }
        len
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        // The FIFO takes 64 bytes, or none while a host does not fetch them.
        let mut len = 0;
        while len < bytes.len() && self.port.write_byte_nb(bytes[len]).is_ok() {
            len += 1;
        }
        if len > 0 {
            let _ = self.port.flush_tx_nb();
        }
        len
    }
}

#[cfg(any(feature = "uart", feature = "esp32c2"))]
impl ChipTerminal {
    /// Takes UART0 on the chip's own pins.
    pub(crate) fn uart(port: esp_hal::peripherals::UART0<'static>) -> Self {
        let Ok(port) = Uart::new(port, Config::default()) else { panic!("UART0 does not start") };
        // SAFETY: no other part of the program uses these pins.
        #[cfg(feature = "esp32c2")]
        let (rx, tx) = unsafe {
            (esp_hal::peripherals::GPIO19::steal(), esp_hal::peripherals::GPIO20::steal())
        };
        // SAFETY: as above.
        #[cfg(feature = "esp32c3")]
        let (rx, tx) = unsafe {
            (esp_hal::peripherals::GPIO20::steal(), esp_hal::peripherals::GPIO21::steal())
        };
        // SAFETY: as above.
        #[cfg(feature = "esp32c6")]
        let (rx, tx) = unsafe {
            (esp_hal::peripherals::GPIO17::steal(), esp_hal::peripherals::GPIO16::steal())
        };
        Self { port: port.with_rx(rx).with_tx(tx) }
    }

    /// Takes the port from whoever has it, to print a crash.
    pub(crate) fn steal() -> Self {
        // SAFETY: nothing else of the program runs any more.
        Self::uart(unsafe { esp_hal::peripherals::UART0::steal() })
    }
}

#[cfg(any(feature = "uart", feature = "esp32c2"))]
impl Terminal for ChipTerminal {
    fn read(&mut self, out: &mut [u8]) -> usize {
        self.port.read_buffered(out).unwrap_or(0)
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        if self.port.write_ready() { self.port.write(bytes).unwrap_or(0) } else { 0 }
    }
}
