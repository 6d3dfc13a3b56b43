//! The currents of a device, by state.

use super::charge::ElectricCharge;
use super::currents::{Currents, Modulation};
use super::times::{CpuState, ModemState, PowerState, StateTimes};
use espbench_dot11::radio::ChannelWidth;

/// The firmware settings that determine a device's currents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerSettings {
    /// The clock of the processor.
    pub clock_mhz: u32,
    /// The clock of the processor while nothing runs, where it is lower then (DFS).
    pub idle_clock_mhz: Option<u32>,
    /// The width of the channel on which the device listens.
    pub width: ChannelWidth,
    /// The transmit power in dBm by kind of mode, in the order of [`Modulation::ALL`].
    pub power_dbm: [f64; 3],
}

/// The currents of a device by state, in nanoamperes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentDraw {
    na: [u32; PowerState::COUNT],
}

impl CurrentDraw {
    /// The processor's clock while the radio is on, at least, in MHz.
    const PERIPHERALS_MHZ: u32 = 80;

    /// Returns the currents of a device.
    #[must_use]
    pub fn new(currents: &Currents, firmware: &PowerSettings) -> Self {
        let clock = currents.modem_sleep(firmware.clock_mhz);
        let receive = match firmware.width {
            ChannelWidth::Mhz20 => currents.receive_na,
            ChannelWidth::Mhz40 => currents.receive_40_na,
        };
        // Wi-Fi holds the peripherals' clock, and so the PLL, while its radio is on (ESP-IDF Programming Guide, Power
        // Management: ESP_PM_APB_FREQ_MAX).
        let saved = |modem: ModemState| {
            let least_mhz = if modem == ModemState::Off { 0 } else { Self::PERIPHERALS_MHZ };
            let idle = |mhz: u32| currents.modem_sleep(mhz.max(least_mhz)).idle_na;
            firmware.idle_clock_mhz.map_or(0, |it| clock.idle_na.saturating_sub(idle(it)))
        };
        let modem = |modem: ModemState| match modem {
            ModemState::Off => clock.idle_na,
            ModemState::Listen | ModemState::Receive => receive,
            ModemState::Send(it) => currents.transmit_na(it, firmware.power_dbm[it as usize]),
        };
        // Datasheets give the radio's currents with the processor idle.
        let computing = clock.active_na.saturating_sub(clock.idle_na);
        let mut draw = Self { na: [0; PowerState::COUNT] };
        for it in ModemState::ALL {
            draw.na[PowerState::Awake(it, CpuState::Idle).index()] =
                modem(it).saturating_sub(saved(it));
            draw.na[PowerState::Awake(it, CpuState::Busy).index()] =
                modem(it).saturating_add(computing);
        }
        draw.na[PowerState::LightSleep.index()] =
            currents.light_sleep_na.saturating_add(currents.flash_na);
        draw.na[PowerState::DeepSleep.index()] = currents.deep_sleep_na;
        draw
    }

    /// Returns the current in a state, in nanoamperes.
    #[must_use]
    pub const fn na(&self, state: PowerState) -> u32 {
        self.na[state.index()]
    }

    /// Returns the charge of one state.
    #[must_use]
    pub const fn charge_of(&self, times: &StateTimes, state: PowerState) -> ElectricCharge {
        ElectricCharge::of(self.na(state), times.ns(state))
    }

    /// Returns the charge of all states.
    #[must_use]
    pub fn charge(&self, times: &StateTimes) -> ElectricCharge {
        PowerState::all().map(|state| self.charge_of(times, state)).sum()
    }
}

const _: () = assert!(Modulation::ALL.len() == 3);
