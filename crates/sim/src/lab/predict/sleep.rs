//! The firmware of a battery's device, and what its parts draw.
//!
//! Deep sleep between two messages: the RTC timer wakes the chip, which boots as from a reset, starts
//! Wi-Fi, sends with `esp_now_send`, waits for the send callback, sends again where nobody has
//! acknowledged, and sleeps until the next message is due. The other sleeps keep Wi-Fi started.

use crate::power::{CurrentDraw, ElectricCharge, StateTimes};
use espbench_model::energy::EnergyPart;

/// Sleep between two messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SleepMode {
    /// None: the radio listens.
    None,
    /// The radio is off (ESP-NOW's connectionless wake window is 0), the processor idles.
    Modem,
    /// Radio off and clocks stopped, memory kept.
    Light,
    /// Only the RTC runs; the chip boots for each message.
    #[default]
    Deep,
}

impl SleepMode {
    /// All, the thriftiest last.
    pub const ALL: [Self; 4] = [Self::None, Self::Modem, Self::Light, Self::Deep];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Modem => "modem",
            Self::Light => "light",
            Self::Deep => "deep",
        }
    }
}

/// Plan of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepPlan {
    /// Sleep between two messages.
    pub mode: SleepMode,
    /// Calls of `esp_now_send` for a message that nobody acknowledges, at most.
    pub attempts: u8,
    /// The bootloader checks the application's image at each wake, as it does by default
    /// (`CONFIG_BOOTLOADER_SKIP_VALIDATE_IN_DEEP_SLEEP` is not set).
    pub validates: bool,
}

/// Time of one device by part and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergyUse {
    /// Time in each state, by part.
    pub times: [StateTimes; EnergyPart::ALL.len()],
    /// Current in each state.
    pub draw: CurrentDraw,
}

impl EnergyUse {
    /// Returns the charge of a part.
    #[must_use]
    pub fn charge(&self, part: EnergyPart) -> ElectricCharge {
        self.draw.charge(&self.times[part as usize])
    }

    /// Returns the time of a part, in nanoseconds.
    #[must_use]
    pub fn ns(&self, part: EnergyPart) -> u64 {
        self.times[part as usize].total_ns()
    }

    /// Returns the charge of all parts.
    #[must_use]
    pub fn total(&self) -> ElectricCharge {
        EnergyPart::ALL.map(|part| self.charge(part)).into_iter().sum()
    }
}
