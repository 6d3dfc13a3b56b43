//! Parts of the time and charge of a device that sleeps between its messages.

/// Part of a device's time, and of its charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EnergyPart {
    /// From the timer's alarm until the application's image is started: ROM and bootloader.
    Wake,
    /// From there until `app_main` has read its settings.
    Boot,
    /// Starting Wi-Fi and ESP-NOW, and stopping them.
    RadioOn,
    /// From `esp_now_send` until its callback, or until the radio repeats the frame.
    Send,
    /// Repetitions, by the radio and by the application.
    Retries,
    /// Between two messages.
    Sleep,
}

impl EnergyPart {
    /// All parts, in the order of a cycle.
    pub const ALL: [Self; 6] =
        [Self::Wake, Self::Boot, Self::RadioOn, Self::Send, Self::Retries, Self::Sleep];

    /// Returns the part's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Boot => "boot",
            Self::RadioOn => "radio on",
            Self::Send => "send",
            Self::Retries => "retries",
            Self::Sleep => "sleep",
        }
    }
}
