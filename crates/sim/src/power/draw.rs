//! What one device draws in each state.

use super::charge::Charge;
use super::currents::{Currents, Modulation};
use super::times::{Cpu, Modem, State, Times};
use crate::radio::ChannelWidth;

/// What of a device's firmware decides what it draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Firmware {
    /// Clock of the processor.
    pub clock_mhz: u32,
    /// Width of the channel it listens on.
    pub width: ChannelWidth,
    /// Transmit power by kind of mode, in the order of [`Modulation::ALL`], dBm.
    pub power_dbm: [f64; 3],
}

/// Nanoamperes by state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    na: [u32; State::COUNT],
}

impl Draw {
    /// That of a device.
    #[must_use]
    pub fn new(currents: &Currents, firmware: &Firmware) -> Self {
        let clock = currents.modem_sleep(firmware.clock_mhz);
        let receive = match firmware.width {
            ChannelWidth::Mhz20 => currents.receive_na,
            ChannelWidth::Mhz40 => currents.receive_40_na,
        };
        let modem = |modem: Modem| match modem {
            Modem::Off => clock.idle_na,
            Modem::Listen | Modem::Receive => receive,
            Modem::Send(it) => currents.transmit_na(it, firmware.power_dbm[it as usize]),
        };
        // Datasheets give the radio's currents with the processor idle.
        let computing = clock.active_na.saturating_sub(clock.idle_na);
        let mut draw = Self { na: [0; State::COUNT] };
        for it in Modem::ALL {
            draw.na[State::Awake(it, Cpu::Idle).index()] = modem(it);
            draw.na[State::Awake(it, Cpu::Busy).index()] = modem(it).saturating_add(computing);
        }
        draw.na[State::LightSleep.index()] = currents.light_sleep_na;
        draw.na[State::DeepSleep.index()] = currents.deep_sleep_na;
        draw
    }

    /// What a state draws, nanoamperes.
    #[must_use]
    pub const fn na(&self, state: State) -> u32 {
        self.na[state.index()]
    }

    /// The charge of one state.
    #[must_use]
    pub const fn charge_of(&self, times: &Times, state: State) -> Charge {
        Charge::of(self.na(state), times.ns(state))
    }

    /// The charge of all states.
    #[must_use]
    pub fn charge(&self, times: &Times) -> Charge {
        State::all().map(|state| self.charge_of(times, state)).sum()
    }
}

const _: () = assert!(Modulation::ALL.len() == 3);
