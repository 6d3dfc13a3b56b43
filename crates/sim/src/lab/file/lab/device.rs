//! Devices that speak IP, from `[device]`, `[other]` or a `[[group]]`.

use super::super::overrides::{no_bluetooth, option_refused, runs_at, scales_to, unsent};
use super::super::pattern::Pattern;
use super::super::wrong::{FileError, hint};
use super::build::{Build, NetworkEnds, ROLE};
use super::keys::{ANTENNA_DBI, CLOCK, IDLE_CLOCK};
use super::layer::{FIRMWARE, Layers};
use super::network::{WIDTH, chosen, every, us};
use crate::lab::profile::Profile;
use crate::lab::scene::{
    AccessPoint, Application, Coexistence, Connectionless, NetDevice, NetRole, Point, ProgramStyle,
    Scan,
};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::{ChannelWidth, Ofdm, RadioChip, WifiMode};
use espbench_dot11::random::RngStream;
use espbench_dot11::wifi::{DataRates, PowerSave};
use espbench_model::messages::BluetoothState;
use espbench_model::sdkconfig::{self, IdfRelease, OptionValues, SdkContext};

/// Ticks without work that FreeRTOS must expect to sleep: the default of
/// `CONFIG_FREERTOS_IDLE_TIME_BEFORE_SLEEP` (ESP-IDF v5.1, components/freertos/Kconfig).
pub(in crate::lab) const IDLE_TICKS: u64 = 3;

/// A table of devices.
pub(super) struct DeviceTable<'b> {
    pub(super) build: &'b Build<'b>,
    pub(super) layers: Layers<'b>,
    /// The table whose keys it has.
    pub(super) table: &'static str,
    /// The name of its devices.
    pub(super) name: String,
}

impl DeviceTable<'_> {
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.layers.number(self.table, key)
    }

    /// Returns the gain of its antenna, if the file says it: by number or by kind.
    pub(super) fn antenna_dbi(&self) -> Result<Option<f64>, FileError> {
        let given = self.number("antenna_dbi");
        if self.layers.find(self.table, "antenna").is_none() {
            return Ok(given);
        }
        if given.is_some() {
            return Err(self.wrong("antenna", "give either `antenna` or `antenna_dbi`"));
        }
        Ok(Some(ANTENNA_DBI[self.layers.word(self.table, "antenna")]))
    }

    pub(super) fn wrong(&self, key: &str, message: impl AsRef<str>) -> FileError {
        self.build.wrong(self.layers, self.table, key, message)
    }

    /// Returns its devices, as they stand; `random` draws the places of a cluster.
    pub(super) fn devices(
        &self,
        ends: NetworkEnds<'_>,
        mut random: RngStream,
    ) -> Result<Vec<NetDevice>, FileError> {
        let (count, pattern) = self.places()?;
        if self.runs_esp_now() {
            let message = "`program`: only devices of a [[group]] run the esp-now component";
            return Err(self.wrong("program", message));
        }
        if self.layers.find(self.table, FIRMWARE).is_some() {
            let message = "`firmware`: it needs `program = \"esp-now\"`; use `sdkconfig`";
            return Err(self.wrong(FIRMWARE, message));
        }
        let first = self.device(ends)?;
        if count > 1 && first.role == NetRole::SoftAp {
            return Err(self.wrong("count", "`count`: one device is the access point"));
        }
        let several = pattern.filter(|_| count > 1);
        let place = |number: u16| NetDevice {
            name: if count > 1 {
                format!("{} {}", self.name, number + 1)
            } else {
                self.name.clone()
            },
            at: several.map_or(first.at, |it| it.place(first.at, number, count, &mut random)),
            ..first.clone()
        };
        Ok((0..count).map(place).collect())
    }

    /// Returns how many devices it has, and how they stand.
    pub(super) fn places(&self) -> Result<(u16, Option<Pattern>), FileError> {
        let count = self.number("count").map_or(1, |it| it as u16);
        let pattern = self.layers.pattern(self.table);
        if self.table == "other" && count != 1 {
            return Err(self.wrong("count", "`count`: [other] is one device, use a [[group]]"));
        }
        if count > 1 && pattern.is_none() {
            let message =
                "`count`: more than one device needs a table `line`, `grid`, `ring` or `cluster`";
            return Err(self.wrong("count", message));
        }
        Ok((count, pattern))
    }

    /// Returns the number of the router that it names.
    fn router(&self, routers: &[AccessPoint]) -> Result<Option<u16>, FileError> {
        let Some(name) = self.layers.text(self.table, "router") else { return Ok(None) };
        let found = routers.iter().position(|it| it.name == name);
        let known: Vec<&str> = routers.iter().map(|it| it.name.as_str()).collect();
        let message = || format!("`router`: none is called `{name}`{}", hint(name, &known));
        found.map(|it| Some(it as u16)).ok_or_else(|| self.wrong("router", message()))
    }

    pub(super) fn application(&self) -> Application {
        let every = self.number("report_ms").unwrap_or(1000.0);
        match self.layers.word(self.table, "application") {
            1 => Application::Reports {
                bytes: self.number("report_bytes").map_or(64, |it| it as u32),
                every: us(every * 1e3),
            },
            2 => Application::Upload,
            3 => Application::Download,
            _ => Application::None,
        }
    }

    fn device(&self, ends: NetworkEnds<'_>) -> Result<NetDevice, FileError> {
        let profile = self.profile()?;
        let role = ROLE[self.layers.word(self.table, "role")];
        let access_point = self.router(ends.routers)?;
        let router = ends.routers.get(usize::from(access_point.unwrap_or(0)));
        let application = self.application();
        if role != NetRole::Station && application != Application::None {
            return Err(self.wrong("application", "`application`: only a station has it"));
        }
        let (settings, context) = self.settings(&profile)?;
        let mut sdk = settings.config(&context);
        if !profile.wifi.ampdu_tx {
            sdk.tx_ba_window = 0;
        }
        let width = self.width(&profile, router)?;
        let tick_ns = 1_000_000_000 / u64::from(sdk.tick_hz);
        let light = self.layers.switch(self.table, "light_sleep").unwrap_or(false);
        let millis = |key| u64::from(settings.value(key, &context));
        let min_active = self.number("min_active_ms").map_or_else(
            || Duration::from_millis(millis(sdkconfig::ConfigOption::MinActive)),
            |ms| us(ms * 1e3),
        );
        let disconnected = settings.flag(sdkconfig::ConfigOption::DisconnectedSleep, &context);
        let one_core = settings.flag(sdkconfig::ConfigOption::Unicore, &context);
        let modes = self.layers.modes(self.table, "esp_now_mode");
        let channel =
            self.number("channel").map_or_else(|| router.map_or(1, |it| it.channel), |it| it as u8);
        if channel > 14 {
            let message = format!(
                "`channel`: found {channel}, use 1 to 14: 5 GHz is for devices that speak ESP-NOW alone, without a network"
            );
            return Err(self.wrong("channel", message));
        }
        Ok(NetDevice {
            name: self.name.clone(),
            group: self.name.clone(),
            at: self.at(ends.origin(router)),
            role,
            access_point,
            application,
            cores: if one_core { 1 } else { profile.processor.cores },
            channel,
            width,
            rates: self.rates(&profile, width)?,
            power_dbm: self.number("power_dbm").unwrap_or(profile.tx_power_dbm),
            antenna_dbi: self.antenna_dbi()?.unwrap_or(profile.antenna_dbi),
            program: PROGRAM[self.layers.word(self.table, "program")],
            sleep: self.sleep(role)?,
            min_active,
            light_sleep: light.then(|| Duration::from_nanos(IDLE_TICKS * tick_ns)),
            disconnected_sleep: self
                .layers
                .switch(self.table, "disconnected_sleep")
                .unwrap_or(disconnected),
            connectionless: self
                .slices("window_ms", "interval_ms")?
                .map(|(window, interval)| Connectionless { window, interval }),
            coexistence: self.coexistence(profile.chip)?,
            esp_now: self.layers.switch(self.table, "esp_now").unwrap_or(role == NetRole::Alone),
            at_interval: self.layers.word(self.table, "esp_now_send") == 1,
            scan: SCAN[self.layers.word(self.table, "scan")],
            esp_now_mode: modes.and_then(|it| it.first().copied()).unwrap_or(WifiMode::ESP_NOW),
            profile,
            sdk,
            settings,
        })
    }

    /// Returns the profile that its devices name.
    pub(super) fn named_profile(&self) -> Result<Arc<Profile>, FileError> {
        let Some(name) = self.layers.text(self.table, "profile") else {
            let message =
                format!("`profile` of `{}` is missing: give the name of a profile", self.name);
            return Err(self.wrong("profile", message));
        };
        let missing = |it: FileError| {
            self.build.text.wrong(self.layers.at(self.table, "profile"), format!("{it}"))
        };
        self.build.library.chip(name).map_err(missing)
    }

    /// Returns the profile of its devices over IP, at their clock, and with that while nothing runs.
    pub(super) fn profile(&self) -> Result<Arc<Profile>, FileError> {
        let profile = self.named_profile()?;
        let own = |key| self.number(key).map(|it| it as u32);
        let (chip, usual) = (profile.chip, profile.processor.clock_mhz);
        let clock = own(CLOCK).unwrap_or(usual);
        if clock != usual {
            runs_at(chip, CLOCK, clock).map_err(|it| self.wrong(CLOCK, it))?;
        }
        let idle = own(IDLE_CLOCK);
        if let Some(mhz) = idle {
            scales_to(chip, clock, mhz).map_err(|it| self.wrong(IDLE_CLOCK, it))?;
        }
        if clock == usual && idle.is_none() {
            return Ok(profile);
        }
        let at_clock = profile.at_clock(clock);
        Ok(Arc::new(Profile { idle_clock_mhz: idle, ..at_clock }))
    }

    /// Returns the settings of the firmware that the file states, each value in its range.
    fn settings(&self, profile: &Profile) -> Result<(OptionValues, SdkContext), FileError> {
        let release: IdfRelease = match self.layers.text(self.table, "idf") {
            None => IdfRelease::default(),
            Some(text) => text.parse().map_err(|it| self.wrong("idf", format!("`idf`: {it}")))?,
        };
        let mut settings = OptionValues::default();
        // What no SDK of its own has settings for is taken for an ESP32.
        let chip = profile.chip.name().parse().unwrap_or(sdkconfig::Chip::Esp32);
        let context = SdkContext { chip, release, ..SdkContext::default() };
        if self.table == "other" {
            return Ok((settings, context));
        }
        let given = self.layers.settings();
        for &(key, value, _) in &given {
            settings.set(key, value);
        }
        let context = settings.context(context);
        for (key, value, at) in given {
            let why = option_refused(key, value, &context);
            if let Some(why) = why {
                let message = format!("`{}`: {why}", key.name_for(chip, release));
                return Err(self.build.text.wrong(at, message));
            }
        }
        Ok((settings, context))
    }

    fn width(
        &self,
        profile: &Profile,
        router: Option<&AccessPoint>,
    ) -> Result<ChannelWidth, FileError> {
        let Some(_) = self.layers.find(self.table, "width") else {
            let wide =
                router.is_some_and(|it| it.width == ChannelWidth::Mhz40) && profile.wifi.ht40;
            return Ok(if wide { ChannelWidth::Mhz40 } else { ChannelWidth::Mhz20 });
        };
        let width = WIDTH[self.layers.word(self.table, "width")];
        if width == ChannelWidth::Mhz40 && !profile.wifi.ht40 {
            let message =
                format!("an {} has no channels of 40 MHz, use \"HT20\"", profile.chip.name());
            return Err(self.wrong("width", message));
        }
        Ok(width)
    }

    fn rates(&self, profile: &Profile, width: ChannelWidth) -> Result<DataRates, FileError> {
        let usual = || match profile.wifi.ht_tx {
            true => every(width),
            false => Ofdm::ALL.map(WifiMode::Ofdm).to_vec(),
        };
        let rates = self.layers.modes(self.table, "rates").map_or_else(usual, <[WifiMode]>::to_vec);
        self.build.rising(self.layers, self.table, &rates, width)?;
        let unable = |mode: &&WifiMode| {
            !profile.chip.sends(**mode) || matches!(mode, WifiMode::Ht(_)) && !profile.wifi.ht_tx
        };
        if let Some(mode) = rates.iter().find(unable) {
            let message = match profile.chip.sends(*mode) {
                true => format!("`rates`: an {} does not send {mode}", profile.chip.name()),
                false => format!("`rates`: {}, not {mode}", unsent(profile.chip, *mode)),
            };
            return Err(self.wrong("rates", message));
        }
        Ok(chosen(rates))
    }

    fn sleep(&self, role: NetRole) -> Result<PowerSave, FileError> {
        let sleep = self.layers.word(self.table, "sleep");
        if sleep > 0 && role != NetRole::Station {
            return Err(self.wrong("sleep", "`sleep`: only a station sleeps"));
        }
        let interval = self.number("listen_interval");
        if interval.is_some() && sleep != 2 {
            let message = "`listen_interval`: it needs `sleep = \"max\"`";
            return Err(self.wrong("listen_interval", message));
        }
        Ok(match sleep {
            0 => PowerSave::None,
            1 => PowerSave::MinModem,
            _ => PowerSave::MaxModem { listen_interval: interval.unwrap_or(3.0) as u16 },
        })
    }

    /// Returns a part of a period, and the period: both or none, and the part is the shorter one.
    fn slices(&self, part: &str, whole: &str) -> Result<Option<(Duration, Duration)>, FileError> {
        let (short, long) = (self.number(part), self.number(whole));
        match (short, long) {
            (None, None) => Ok(None),
            (Some(short), Some(long)) if short <= long => {
                Ok(Some((us(short * 1e3), us(long * 1e3))))
            }
            (Some(short), Some(long)) => {
                Err(self.wrong(part, format!("`{part}`: {short} is more than `{whole}`, {long}")))
            }
            (Some(_), None) => Err(self.wrong(part, format!("`{part}` needs `{whole}`, too"))),
            (None, Some(_)) => Err(self.wrong(whole, format!("`{whole}` needs `{part}`, too"))),
        }
    }

    /// Returns the slices in which Wi-Fi has the radio; `None` where it always has.
    pub(super) fn coexistence(&self, chip: RadioChip) -> Result<Option<Coexistence>, FileError> {
        const TURNS: [&str; 2] = ["coexist_wifi_ms", "coexist_period_ms"];
        let turns = self.slices(TURNS[0], TURNS[1])?;
        let state = BluetoothState::NAMED[self.layers.word(self.table, "bluetooth")].1;
        let named = state.period().map(|(period, bluetooth)| (period - bluetooth, period));
        let key = if named.is_some() { "bluetooth" } else { TURNS[0] };
        if turns.is_some() && named.is_some() {
            let message =
                "`bluetooth`: `coexist_wifi_ms` gives Wi-Fi's turns, too: give one of the two";
            return Err(self.wrong(key, message));
        }
        let slices = turns.or(named).map(|(wifi, period)| Coexistence { period, wifi });
        if slices.is_some() && !chip.has_bluetooth() {
            return Err(self.wrong(key, format!("`{key}`: {}", no_bluetooth(chip))));
        }
        Ok(slices)
    }

    /// Returns the middle of its devices, whose distance is counted from `origin`.
    pub(super) fn at(&self, origin: Point) -> Point {
        let metres = self.number("distance_m").unwrap_or(2.0);
        let at = Point { x: origin.x + metres, ..origin };
        // A variant's distance goes before the lab's place.
        let own = self.layers.variant.find(self.table, "distance_m").is_some();
        let placed = self.layers.place(self.table, "at");
        let placed =
            placed.filter(|_| !own || self.layers.variant.find(self.table, "at").is_some());
        placed.unwrap_or(at)
    }
}

const PROGRAM: [ProgramStyle; 7] = [
    ProgramStyle::Plain,
    ProgramStyle::PlainV4,
    ProgramStyle::Arduino,
    ProgramStyle::Printing,
    ProgramStyle::Smooth,
    ProgramStyle::SmoothExample,
    ProgramStyle::Callback,
];
const SCAN: [Scan; 3] = [Scan::Fast, Scan::All, Scan::Channel];
