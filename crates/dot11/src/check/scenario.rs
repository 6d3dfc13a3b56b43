//! Named networks.

use super::OCTETS;
use crate::air::RadioLinks;
use crate::mac::{AmpduConfig, GROUP};
use crate::radio::{
    ChannelWidth, GuardInterval, He, HeFormat, HeGuard, Hr, Mcs, Ofdm, Timing, WifiMode,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// The received power between stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// All stations receive all others with this power in dBm.
    Uniform(f64),
    /// A circle with a radius in metres, and the default `LogDistancePropagationLossModel` of ns-3:
    /// sent with 16.0206 dBm, 46.6777 dB at 1 m, exponent 3.
    Ring(f64),
    /// Hidden stations: station 0 hears stations 1 and 2 with these powers, which do not hear each
    /// other.
    Hidden(f64, f64),
    /// All hear all with -40 dBm, but station 0 hears number `n` of the others `step * n` dB
    /// weaker.
    Slope(f64),
}

impl Layout {
    /// Returns the power in dBm that arrives from one station at another.
    #[must_use]
    pub fn dbm(self, stations: u32, from: u32, to: u32) -> f64 {
        let nothing = f64::NEG_INFINITY;
        match self {
            Self::Uniform(dbm) => dbm,
            Self::Ring(radius) => {
                let turn = f64::from(from.abs_diff(to)) / f64::from(stations);
                let metres = 2.0 * radius * libm::sin(core::f64::consts::PI * turn);
                16.0206 - 46.6777 - 30.0 * libm::log10(metres.max(1.0))
            }
            Self::Hidden(one, two) => match (from.min(to), from.max(to)) {
                (0, 1) => one,
                (0, 2) => two,
                _ => nothing,
            },
            Self::Slope(step) if to == 0 => -40.0 - step * f64::from(from - 1),
            Self::Slope(_) => -40.0,
        }
    }
}

/// HE20 MCS 9 with a guard interval of 0.8 us: its HE-LTF takes 7.2 us, and 8 us in ns-3.
const HE20_MCS9: WifiMode = match He::of(9, HeGuard::Us08, HeFormat::Su, false) {
    Some(he) => WifiMode::He(he),
    None => WifiMode::ESP_NOW,
};

/// The standard of the stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: contention windows from 31, slots of 20 us.
    B,
    /// 802.11g outside a network: contention windows from 15, slots of 20 us.
    G,
    /// 802.11n, best effort, in a network whose stations all know the slot of 9 us.
    N,
    /// 802.11ax in the same network.
    Ax,
}

impl Standard {
    /// Returns slots, spaces and windows.
    #[must_use]
    pub const fn timing(self) -> Timing {
        match self {
            Self::B => Timing::HR,
            Self::G => Timing::ERP_LONG_SLOT,
            Self::N | Self::Ax => Timing { aifsn: 3, ..Timing::ERP_SHORT_SLOT },
        }
    }
}

/// A network in which senders send to all, or to station 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: String,
    /// The number of stations.
    pub stations: u32,
    /// The first sender, 0 or 1.
    pub first: u32,
    /// The receiver of all frames: [`GROUP`], or station 0 (on channel 6, the first station there).
    pub to: u32,
    /// The received power between stations.
    pub layout: Layout,
    /// The number of channels: 1, all stations on channel 1; 2, every other station on channel 6.
    pub channels: u32,
    /// The mode of all frames.
    pub mode: WifiMode,
    /// The octets of the MPDU.
    pub octets: u32,
    /// The Poisson rate of each sender in frames a second; `None` for saturated senders.
    pub rate: Option<f64>,
    /// The standard of all stations.
    pub standard: Standard,
    /// Whether receivers turn to a stronger frame within 16 us.
    pub capture: bool,
    /// The aggregation of all stations.
    pub ampdu: Option<AmpduConfig>,
}

impl Scenario {
    fn new(name: String, senders: u32, to: u32) -> Self {
        let first = u32::from(to != GROUP);
        Self {
            name,
            stations: senders + first,
            first,
            to,
            layout: Layout::Uniform(-40.0),
            channels: 1,
            mode: WifiMode::ESP_NOW,
            octets: OCTETS,
            rate: None,
            standard: Standard::B,
            capture: false,
            ampdu: None,
        }
    }

    /// Returns saturated stations that broadcast.
    #[must_use]
    pub fn broadcast(senders: u32) -> Self {
        Self::new(format!("broadcast-{senders}"), senders, GROUP)
    }

    /// Returns saturated stations that send to one more station.
    #[must_use]
    pub fn unicast(senders: u32) -> Self {
        Self::new(format!("unicast-{senders}"), senders, 0)
    }

    /// Returns a hundred stations that broadcast a hundred frames a second in all.
    #[must_use]
    pub fn crowd() -> Self {
        Self { rate: Some(1.0), ..Self::new("crowd-100".into(), 100, GROUP) }
    }

    /// Returns five senders to one receiver, in a mode.
    #[must_use]
    pub fn in_mode(mode: WifiMode) -> Self {
        let standard = if matches!(mode, WifiMode::Hr(_)) { Standard::B } else { Standard::G };
        Self { mode, standard, ..Self::new(format!("rate-{mode}"), 5, 0) }
    }

    /// Returns one sender of UDP datagrams of 1472 bytes at 65 Mbit/s, each acknowledged by itself.
    #[must_use]
    pub fn ht() -> Self {
        Self {
            mode: WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long),
            // The sum of UDP and IP 28, LLC 8, MAC header with QoS 26, FCS 4.
            octets: 1472 + 28 + 8 + 26 + 4,
            standard: Standard::N,
            ..Self::new("ht20-mcs7".into(), 1, 0)
        }
    }

    /// Returns the scenario of [`Scenario::ht`] with A-MPDUs as large as HT allows.
    #[must_use]
    pub fn ht_ampdu() -> Self {
        Self { name: "ht20-mcs7-ampdu".into(), ampdu: Some(AmpduConfig::MOST), ..Self::ht() }
    }

    /// Returns the sender of [`Scenario::ht`] in HE20 MCS 9 with a guard interval of 0.8 us, 114.7 Mbit/s.
    #[must_use]
    pub fn he() -> Self {
        Self { name: "he20-mcs9".into(), mode: HE20_MCS9, standard: Standard::Ax, ..Self::ht() }
    }

    /// Returns the sender of [`Scenario::ht`] in HE20 with a guard interval of 0.8 us, with A-MPDUs as large as HT
    /// allows.
    #[must_use]
    pub fn he_ampdu(mcs: u8) -> Self {
        let he = He::of(mcs, HeGuard::Us08, HeFormat::Su, false);
        let (name, mode) = (format!("he20-mcs{mcs}-ampdu"), he.map_or(HE20_MCS9, WifiMode::He));
        Self { name, mode, standard: Standard::Ax, ..Self::ht_ampdu() }
    }

    fn placed(name: &str, senders: u32, to: u32, layout: Layout, capture: bool) -> Self {
        Self { layout, capture, ..Self::new(name.into(), senders, to) }
    }

    /// Returns all scenarios.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        all.extend([1, 2, 5, 10, 20, 50, 100].map(Self::broadcast));
        all.extend([1, 2, 5, 10, 20, 50, 100].map(Self::unicast));
        all.push(Self::crowd());
        let modes = [Hr::M1, Hr::M2, Hr::M5, Hr::M11].map(WifiMode::Hr);
        all.extend(
            modes.into_iter().chain([Ofdm::M6, Ofdm::M54].map(WifiMode::Ofdm)).map(Self::in_mode),
        );
        all.extend([Self::ht(), Self::ht_ampdu(), Self::he()]);
        all.extend([0, 4, 7, 9].map(Self::he_ampdu));
        all.push(Self::placed("hidden", 2, 0, Layout::Hidden(-60.0, -60.0), false));
        all.push(Self::placed("hidden-near-far", 2, 0, Layout::Hidden(-50.0, -62.0), false));
        all.push(Self::placed("slope-10", 10, 0, Layout::Slope(3.0), false));
        all.push(Self::placed("slope-10-capture", 10, 0, Layout::Slope(3.0), true));
        all.push(Self::placed("ring-20", 20, GROUP, Layout::Ring(1.5), false));
        all.push(Self {
            channels: 2,
            ..Self::placed("channels", 20, GROUP, Layout::Uniform(-40.0), false)
        });
        all
    }

    /// Returns the scenario with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|it| it.name == name)
    }

    /// Returns the channel of a station.
    #[must_use]
    pub const fn channel(&self, station: u32) -> u8 {
        if self.channels == 2 && station % 2 == 1 { 6 } else { 1 }
    }

    /// Returns the links between the stations, without those below -110 dBm.
    #[must_use]
    pub fn links(&self) -> RadioLinks {
        let dbm = |from, to| self.layout.dbm(self.stations, from, to);
        RadioLinks::new(self.stations, -110.0, dbm)
    }

    /// Returns the number of stations that a frame should reach.
    #[must_use]
    pub const fn hearers(&self) -> u32 {
        if self.to == GROUP { self.stations / self.channels - 1 } else { 1 }
    }

    /// Returns the scenario in the format of `bench/ns3/room.cc`, for so many seconds: a word and
    /// its values in each line.
    #[must_use]
    pub fn for_ns3(&self, seconds: f64) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let mut line = |word: &str, value: core::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{word} {value}");
        };
        line("name", format_args!("{}", self.name));
        line("seconds", format_args!("{seconds}"));
        line("standard", format_args!("{:?}", self.standard));
        line("stations", format_args!("{}", self.stations));
        line("first", format_args!("{}", self.first));
        line("group", format_args!("{}", u8::from(self.to == GROUP)));
        line("octets", format_args!("{}", self.octets));
        line("rate", format_args!("{}", self.rate.unwrap_or(0.0)));
        line("mode", format_args!("{}", ns3_mode(self.mode)));
        line("airtime_ns", format_args!("{}", crate::radio::airtime(self.mode, self.octets)));
        if let Some(ampdu) = self.ampdu {
            line("ampdu", format_args!("{}", ampdu.octets));
        }
        line("capture", format_args!("{}", u8::from(self.capture)));
        for station in 0..self.stations {
            line("channel", format_args!("{station} {}", self.channel(station)));
        }
        if let Layout::Uniform(dbm) = self.layout {
            line("everywhere", format_args!("{dbm}"));
            return text;
        }
        for from in 0..self.stations {
            for to in (0..self.stations).filter(|&to| to != from) {
                let dbm = self.layout.dbm(self.stations, from, to);
                if dbm.is_finite() {
                    line("link", format_args!("{from} {to} {dbm}"));
                }
            }
        }
        text
    }
}

/// Returns ns-3's name of a mode that appears here.
const fn ns3_mode(mode: WifiMode) -> &'static str {
    match mode {
        WifiMode::Hr(Hr::M1) => "DsssRate1Mbps",
        WifiMode::Hr(Hr::M2 | Hr::M2Short) => "DsssRate2Mbps",
        WifiMode::Hr(Hr::M5 | Hr::M5Short) => "DsssRate5_5Mbps",
        WifiMode::Hr(Hr::M11 | Hr::M11Short) => "DsssRate11Mbps",
        WifiMode::Ofdm(Ofdm::M54) => "ErpOfdmRate54Mbps",
        WifiMode::Ofdm(_) => "ErpOfdmRate6Mbps",
        WifiMode::Ht(_) => "HtMcs7",
        WifiMode::He(he) => match he.mcs() {
            0 => "HeMcs0",
            4 => "HeMcs4",
            7 => "HeMcs7",
            _ => "HeMcs9",
        },
        WifiMode::Lr(_) => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_found() {
        let all = Scenario::all();
        for it in &all {
            assert_eq!(Scenario::named(&it.name).as_ref(), Some(it));
        }
        assert_eq!(Scenario::named("nowhere"), None);
    }

    #[test]
    fn a_room_for_ns3() {
        let room = Scenario::named("hidden-near-far").map(|it| it.for_ns3(60.0));
        insta::assert_snapshot!(room.unwrap());
    }
}
