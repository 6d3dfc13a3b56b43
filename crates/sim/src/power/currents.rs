//! The currents of a chip, from its datasheet.

use espbench_dot11::radio::WifiMode;

/// The kinds of modes for which datasheets give currents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modulation {
    /// DSSS and CCK: 802.11b; Long Range, too.
    Dsss,
    /// OFDM: 802.11g.
    Ofdm,
    /// HT and HE: 802.11n and 802.11ax. By the rule of [`Currents::transmit_na`] the 11ax rows follow from the 11n row.
    Ht,
}

impl Modulation {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Dsss, Self::Ofdm, Self::Ht];

    /// Returns the kind of a mode.
    #[must_use]
    pub const fn of(mode: WifiMode) -> Self {
        match mode {
            WifiMode::Hr(_) | WifiMode::Lr(_) => Self::Dsss,
            WifiMode::Ofdm(_) => Self::Ofdm,
            WifiMode::Ht(_) | WifiMode::He(_) => Self::Ht,
        }
    }
}

/// The current while sending, at the power for which the datasheet gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransmitCurrent {
    /// The current in nanoamperes.
    pub na: u32,
    /// The transmit power in dBm.
    pub at_dbm: f64,
}

/// The current of the processor with the radio off (modem sleep), in nanoamperes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockCurrents {
    /// The processor waits for an interrupt.
    pub idle_na: u32,
    /// The processor computes.
    pub active_na: u32,
}

/// The currents of a chip by state, in nanoamperes at [`Currents::supply_mv`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Currents {
    /// The supply voltage for which the currents hold, in millivolts.
    pub supply_mv: u32,
    /// The currents while sending, in the order of [`Modulation::ALL`].
    pub transmit: [TransmitCurrent; 3],
    /// Receiving or listening on 20 MHz, with the processor idle.
    pub receive_na: u32,
    /// Receiving or listening on 40 MHz, with the processor idle.
    pub receive_40_na: u32,
    /// The radio is off, at each of [`Currents::CLOCKS_MHZ`]; 0 if the chip has no such clock.
    pub modem_sleep: [ClockCurrents; 5],
    /// Light sleep: clocks stopped, memory retained.
    pub light_sleep_na: u32,
    /// The flash beside the chip in light sleep, which stays powered.
    pub flash_na: u32,
    /// Deep sleep with the RTC timer.
    pub deep_sleep_na: u32,
}

impl Currents {
    /// The clocks for which a profile gives currents; 40 stands for the crystal's.
    pub const CLOCKS_MHZ: [u32; 5] = [40, 80, 120, 160, 240];

    /// Returns the processor's currents at a clock: the known ones, interpolated ones between two
    /// known clocks, or those of the nearest.
    #[must_use]
    pub fn modem_sleep(&self, clock_mhz: u32) -> ClockCurrents {
        let known = || {
            let each = Self::CLOCKS_MHZ.into_iter().zip(self.modem_sleep);
            each.filter(|(_, it)| it.active_na > 0)
        };
        let below = known().rfind(|(mhz, _)| *mhz <= clock_mhz);
        let above = known().find(|(mhz, _)| *mhz >= clock_mhz);
        match (below, above) {
            (Some((low, a)), Some((high, b))) if high > low => {
                let part = |a: u32, b: u32| {
                    let step = (i64::from(b) - i64::from(a)) * i64::from(clock_mhz - low);
                    (i64::from(a) + step / i64::from(high - low)) as u32
                };
                ClockCurrents {
                    idle_na: part(a.idle_na, b.idle_na),
                    active_na: part(a.active_na, b.active_na),
                }
            }
            (Some((_, it)), _) | (_, Some((_, it))) => it,
            _ => ClockCurrents::default(),
        }
    }

    /// Returns the current while sending with a power, in nanoamperes, with the processor idle.
    ///
    /// The part beyond the receive current belongs to the power amplifier and is proportional to
    /// the amplitude, as in a class AB stage (Cripps, RF Power Amplifiers for Wireless
    /// Communications, 2nd ed., chapter 3). By this rule the 11g and 11n rows of datasheets follow
    /// from the 11b row within some percent, as a test shows.
    #[must_use]
    pub fn transmit_na(&self, modulation: Modulation, power_dbm: f64) -> u32 {
        let TransmitCurrent { na, at_dbm } = self.transmit[modulation as usize];
        let amplifier = f64::from(na.saturating_sub(self.receive_na));
        let swing = libm::pow(10.0, (power_dbm - at_dbm) / 20.0);
        libm::rint(f64::from(self.receive_na) + amplifier * swing) as u32
    }
}
