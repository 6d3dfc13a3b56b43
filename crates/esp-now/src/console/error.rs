//! Errors of commands, as `esp_err_t` and its names.

use crate::node::task::TransmitOutcome;
use core::fmt;

/// Error of a command (`esp_err.h`, `esp_wifi.h` of ESP-IDF).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EspError {
    /// General failure, `ESP_FAIL`.
    Fail,
    /// Out of memory, `ESP_ERR_NO_MEM`.
    NoMem,
    /// Invalid argument, `ESP_ERR_INVALID_ARG`.
    InvalidArg,
    /// Invalid state, `ESP_ERR_INVALID_STATE`.
    InvalidState,
    /// Invalid size, `ESP_ERR_INVALID_SIZE`.
    InvalidSize,
    /// Not found, `ESP_ERR_NOT_FOUND`.
    NotFound,
    /// Not supported, `ESP_ERR_NOT_SUPPORTED`.
    NotSupported,
    /// Time-out, `ESP_ERR_TIMEOUT`.
    Timeout,
    /// Time-out of Wi-Fi, `ESP_ERR_WIFI_TIMEOUT`.
    WifiTimeout,
}

impl EspError {
    /// Returns the number.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Fail => 0xFFFF_FFFF,
            Self::NoMem => 0x101,
            Self::InvalidArg => 0x102,
            Self::InvalidState => 0x103,
            Self::InvalidSize => 0x104,
            Self::NotFound => 0x105,
            Self::NotSupported => 0x106,
            Self::Timeout => 0x107,
            Self::WifiTimeout => 0x300C,
        }
    }

    /// Returns the name, as `esp_err_to_name` gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fail => "ESP_FAIL",
            Self::NoMem => "ESP_ERR_NO_MEM",
            Self::InvalidArg => "ESP_ERR_INVALID_ARG",
            Self::InvalidState => "ESP_ERR_INVALID_STATE",
            Self::InvalidSize => "ESP_ERR_INVALID_SIZE",
            Self::NotFound => "ESP_ERR_NOT_FOUND",
            Self::NotSupported => "ESP_ERR_NOT_SUPPORTED",
            Self::Timeout => "ESP_ERR_TIMEOUT",
            Self::WifiTimeout => "ESP_ERR_WIFI_TIMEOUT",
        }
    }

    /// Returns the result of `espnow_send`.
    ///
    /// # Errors
    ///
    /// Returns an error for every outcome but [`TransmitOutcome::Done`].
    pub const fn of(outcome: TransmitOutcome) -> Result<(), Self> {
        match outcome {
            TransmitOutcome::Done { .. } => Ok(()),
            TransmitOutcome::Failed => Err(Self::Fail),
            TransmitOutcome::TimedOut => Err(Self::WifiTimeout),
            TransmitOutcome::Refused => Err(Self::InvalidArg),
        }
    }
}

impl fmt::Display for EspError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
