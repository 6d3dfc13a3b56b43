//! A variant of a lab's file to a scene.

use super::super::block::Source as Text;
use super::super::pattern::Pattern;
use super::super::wrong::{Wrong, hint};
use super::super::{Library, Surroundings};
use super::File;
use super::keys::{MOST_DEVICES, ROLES, SECURITIES};
use super::layer::{DEVICE_TABLE, FIRMWARE, Layer, Layers, ROUTER_TABLE};
use crate::lab::profile::Profile;
use crate::lab::scene::{
    AccessPoint, Application, Coexistence, Columns, Connectionless, Delay, Device, Dongle,
    NetDevice, NetRole, Pc, PcLink, Point, Program, Scan, Scene,
};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Mcs, Ofdm, WifiMode};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_dot11::wifi::{DataRates, PowerSave, WifiSecurity};
use espbench_model::sdkconfig::{self, Context, OptionValues, Release};

/// Ticks without work that FreeRTOS must expect to sleep: the default of
/// `CONFIG_FREERTOS_IDLE_TIME_BEFORE_SLEEP` (ESP-IDF v5.1, components/freertos/Kconfig).
const IDLE_TICKS: u64 = 3;

/// A lab, one of its variants, and where to look up what they name.
pub(in super::super) struct Build<'l> {
    pub(in super::super) library: &'l Library,
    pub(in super::super) lab: &'l str,
    pub(in super::super) variant: &'l str,
    pub(in super::super) file: &'l File,
    pub(in super::super) text: Text<'l>,
}

/// A device's table, being read.
pub(super) struct Table<'b> {
    pub(super) build: &'b Build<'b>,
    pub(super) layers: Layers<'b>,
    /// The table whose keys it has.
    pub(super) table: &'static str,
    /// The name of its devices.
    pub(super) name: String,
}

/// The devices of a variant.
struct Devices {
    /// Devices that speak IP: those that are measured, then the others.
    speak_ip: Vec<NetDevice>,
    measured: u16,
    /// Devices that run the esp-now component.
    nodes: Vec<Device>,
}

/// The name of the router of `[access_point]`.
const FIRST_ROUTER: &str = "access point";
/// What draws where devices of a cluster stand.
const PLACES: u64 = 1;
static NOTHING: Layer = Layer::NOTHING;

impl Build<'_> {
    /// The scene.
    pub(in super::super) fn scene(&self) -> Result<Scene, Wrong> {
        let named = |it| Wrong { file: self.text.file.into(), ..it };
        let layers = self.file.layers(self.variant).map_err(named)?;
        let role = ROLE[layers.word("device", "role")];
        let access_points = match role {
            NetRole::SoftAp => Vec::new(),
            _ => self.access_points(layers)?,
        };
        let pc = self.pc(layers, access_points.first())?;
        let Devices { speak_ip, measured, nodes } = self.devices(layers, &access_points, &pc)?;
        let Surroundings { environment, mut background, .. } = self.surroundings(layers)?;
        let before = background.len() as u16;
        for it in &self.file.background {
            let mut it = it.clone();
            it.to = it.to.map(|to| to + before);
            background.push(it);
        }
        let security = SECURITY[match layers.find("", "security") {
            Some(_) => layers.word("", "security"),
            None => 1,
        }];
        let word = |key, usual: &str| String::from(layers.text("", key).unwrap_or(usual));
        let mut sources = layers.sources();
        sources.extend(self.file.sources.iter().cloned());
        Ok(Scene {
            name: self.lab.into(),
            variant: self.variant.into(),
            title: word("title", &self.file.title),
            columns: Columns {
                mode: word("column_mode", ROLES[role as usize]),
                security: word("column_security", SECURITIES[security as usize]),
                environment: word("column_environment", &environment.name),
            },
            environment,
            security,
            access_points,
            devices: speak_ip,
            measured,
            pc: Some(pc),
            background,
            sources,
            nodes,
            routers: Vec::new(),
        })
    }

    fn wrong(&self, layers: Layers<'_>, table: &str, key: &str, message: impl AsRef<str>) -> Wrong {
        let message = format!("{}: {}", self.variant, message.as_ref());
        self.text.wrong(layers.at(table, key), message)
    }

    fn surroundings(&self, layers: Layers<'_>) -> Result<Surroundings, Wrong> {
        let Some(name) = layers.text("", "environment") else {
            return Err(self.wrong(layers, "", "environment", "`environment` is missing"));
        };
        let missing = |it: Wrong| self.text.wrong(layers.at("", "environment"), format!("{it}"));
        self.library.environment(name).map_err(missing)
    }

    /// The router of the lab, and those beside it.
    fn access_points(&self, layers: Layers<'_>) -> Result<Vec<AccessPoint>, Wrong> {
        let mut all = vec![self.access_point(layers, FIRST_ROUTER)?];
        for name in layers.parts(ROUTER_TABLE) {
            let layer = layers.part(ROUTER_TABLE, name);
            let own = Layers { variant: &layer, lab: &NOTHING };
            if name == FIRST_ROUTER {
                let message = format!("`name`: `{name}` is the router of [access_point]");
                return Err(self.wrong(own, ROUTER_TABLE, "name", message));
            }
            all.push(self.access_point(own, name)?);
        }
        Ok(all)
    }

    /// Returns the devices, and how many of them are measured.
    fn devices(
        &self,
        layers: Layers<'_>,
        routers: &[AccessPoint],
        pc: &Pc,
    ) -> Result<Devices, Wrong> {
        let stand = (routers, pc);
        let mut devices = self.table(layers, DEVICE_TABLE, "device").devices(stand, 0)?;
        let measured = devices.len() as u16;
        if measured == 0 {
            let message = "`count`: at least one device is measured";
            return Err(self.wrong(layers, DEVICE_TABLE, "count", message));
        }
        let soft_ap = |it: &NetDevice| it.role == NetRole::SoftAp;
        if layers.has("other") {
            devices.extend(self.table(layers, "other", "other").devices(stand, 1)?);
        }
        if devices.iter().skip(1).any(soft_ap) {
            let message = "only the measured device can be the access point";
            return Err(self.wrong(layers, "other", "role", message));
        }
        let mut nodes = Vec::new();
        for (number, name) in (2..).zip(layers.parts(DEVICE_TABLE)) {
            let layer = layers.part(DEVICE_TABLE, name);
            let own = Layers { variant: &layer, lab: &NOTHING };
            let table = self.table(own, DEVICE_TABLE, name);
            if table.runs_esp_now() {
                let random = RngStream::stream(PLACES, number, Purpose::Place);
                nodes.extend(table.nodes(stand, random)?);
                continue;
            }
            let group = table.devices(stand, number)?;
            if group.iter().any(soft_ap) {
                let message = "only the measured device can be the access point";
                return Err(self.wrong(own, DEVICE_TABLE, "role", message));
            }
            devices.extend(group);
            if devices.len() > MOST_DEVICES {
                let message = format!("with it there are more than {MOST_DEVICES} devices");
                return Err(self.wrong(own, DEVICE_TABLE, "count", message));
            }
        }
        Ok(Devices { speak_ip: devices, measured, nodes })
    }

    fn table<'b>(&'b self, layers: Layers<'b>, table: &'static str, name: &str) -> Table<'b> {
        Table { build: self, layers, table, name: name.into() }
    }

    fn access_point(&self, layers: Layers<'_>, name: &str) -> Result<AccessPoint, Wrong> {
        const TABLE: &str = "access_point";
        let number = |key, usual| layers.number(TABLE, key).unwrap_or(usual);
        let width = WIDTH[layers.word(TABLE, "width")];
        let rates = layers.modes(TABLE, "rates").map_or_else(|| every(width), <[WifiMode]>::to_vec);
        self.rising(layers, TABLE, &rates, width)?;
        Ok(AccessPoint {
            name: name.into(),
            at: layers.place(TABLE, "at").unwrap_or(Point { x: 0.0, y: 0.0, z: 1.5 }),
            channel: number("channel", 6.0) as u8,
            width,
            power_dbm: number("power_dbm", 20.0),
            rates: chosen(rates),
            ampdu: number("ampdu", 32.0) as u16,
            rts: layers.switch(TABLE, "rts").unwrap_or(false),
            beacon: us(number("beacon_ms", 102.4) * 1e3),
            dtim: number("dtim", 1.0) as u8,
            queue: number("queue", 256.0) as u16,
            multicast_buffer: Some(number("multicast_buffer", 128.0) as u16).filter(|it| *it > 0),
            forward: delay(layers, TABLE, "forward_us", "forward_random_us", 50.0),
        })
    }

    fn pc(&self, layers: Layers<'_>, router: Option<&AccessPoint>) -> Result<Pc, Wrong> {
        const TABLE: &str = "pc";
        let number = |key, usual| layers.number(TABLE, key).unwrap_or(usual);
        let turn = delay(layers, TABLE, "turn_us", "turn_random_us", 20.0);
        let multicast = layers.word(TABLE, "cast") == 1;
        if layers.word(TABLE, "link") == 0 {
            if router.is_none() {
                let message = "`pc.link`: there is no router to be wired to, use \"air\"";
                return Err(self.wrong(layers, TABLE, "link", message));
            }
            let delay = delay(layers, TABLE, "delay_us", "delay_random_us", 0.0);
            let bits = libm::rint(number("wire_mbit", 1000.0) * 1e6) as u64;
            return Ok(Pc { link: PcLink::Wire { delay, bits }, turn, multicast });
        }
        let width = router.map_or(ChannelWidth::Mhz20, |it| it.width);
        let rates = layers.modes(TABLE, "rates").map_or_else(|| every(width), <[WifiMode]>::to_vec);
        self.rising(layers, TABLE, &rates, width)?;
        let at = layers.place(TABLE, "at").unwrap_or(Point { x: 0.0, y: 0.0, z: 1.0 });
        let at = match (layers.number(TABLE, "distance_m"), router) {
            (Some(metres), Some(router)) => Point { x: router.at.x - metres, ..router.at },
            _ => at,
        };
        let dongle = Dongle {
            at,
            power_dbm: number("power_dbm", 17.0),
            rates: chosen(rates),
            ampdu: number("ampdu", 32.0) as u16,
        };
        Ok(Pc { link: PcLink::Air(dongle), turn, multicast })
    }

    /// Rates are slow first, and none is wider than the channel.
    fn rising(
        &self,
        layers: Layers<'_>,
        table: &str,
        rates: &[WifiMode],
        width: ChannelWidth,
    ) -> Result<(), Wrong> {
        let wide = |mode: &&WifiMode| mode.bandwidth_mhz() == 40 && width == ChannelWidth::Mhz20;
        if let Some(mode) = rates.iter().find(wide) {
            let message = format!("`rates`: {mode} needs `width = \"HT40\"`");
            return Err(self.wrong(layers, table, "rates", message));
        }
        if let Some(pair) = rates.windows(2).find(|it| it[0].kbit_s() >= it[1].kbit_s()) {
            let message = format!("`rates`: slow first, and {} is not before {}", pair[0], pair[1]);
            return Err(self.wrong(layers, table, "rates", message));
        }
        Ok(())
    }
}

impl Table<'_> {
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.layers.number(self.table, key)
    }

    pub(super) fn wrong(&self, key: &str, message: impl AsRef<str>) -> Wrong {
        self.build.wrong(self.layers, self.table, key, message)
    }

    /// Its devices, as they stand. `number` sets its places by chance apart from other tables'.
    fn devices(
        &self,
        (routers, pc): (&[AccessPoint], &Pc),
        number: u32,
    ) -> Result<Vec<NetDevice>, Wrong> {
        let (count, pattern) = self.places()?;
        if self.runs_esp_now() {
            let message = "`program`: only devices of a [[group]] run the esp-now component";
            return Err(self.wrong("program", message));
        }
        if self.layers.find(self.table, FIRMWARE).is_some() {
            let message = "`firmware`: it needs `program = \"esp-now\"`; use `sdkconfig`";
            return Err(self.wrong(FIRMWARE, message));
        }
        let first = self.device(routers, pc)?;
        if count > 1 && first.role == NetRole::SoftAp {
            return Err(self.wrong("count", "`count`: one device is the access point"));
        }
        let several = pattern.filter(|_| count > 1);
        let mut random = RngStream::stream(PLACES, number, Purpose::Place);
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
    pub(super) fn places(&self) -> Result<(u16, Option<Pattern>), Wrong> {
        let count = self.number("count").map_or(1, |it| it as u16);
        let pattern = self.layers.pattern(self.table);
        if self.table == "other" && count != 1 {
            return Err(self.wrong("count", "`count`: [other] is one device, use a [[group]]"));
        }
        if count > 1 && pattern.is_none() {
            let message = "more than one device needs a table `line`, `grid`, `ring` or `cluster`";
            return Err(self.wrong("count", message));
        }
        Ok((count, pattern))
    }

    /// Returns the number of the router that it names.
    fn router(&self, routers: &[AccessPoint]) -> Result<Option<u16>, Wrong> {
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

    fn device(&self, routers: &[AccessPoint], pc: &Pc) -> Result<NetDevice, Wrong> {
        let profile = self.profile()?;
        let role = ROLE[self.layers.word(self.table, "role")];
        let access_point = self.router(routers)?;
        let router = routers.get(usize::from(access_point.unwrap_or(0)));
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
        Ok(NetDevice {
            name: self.name.clone(),
            group: self.name.clone(),
            at: self.at(router, pc),
            role,
            access_point,
            application,
            cores: if one_core { 1 } else { profile.processor.cores },
            channel: self
                .number("channel")
                .map_or_else(|| router.map_or(1, |it| it.channel), |it| it as u8),
            width,
            rates: self.rates(&profile, width)?,
            power_dbm: self.number("power_dbm").unwrap_or(profile.tx_power_dbm),
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
            coexistence: self
                .slices("coexist_wifi_ms", "coexist_period_ms")?
                .map(|(wifi, period)| Coexistence { period, wifi }),
            esp_now: self.layers.switch(self.table, "esp_now").unwrap_or(role == NetRole::Alone),
            at_interval: self.layers.word(self.table, "esp_now_send") == 1,
            scan: SCAN[self.layers.word(self.table, "scan")],
            esp_now_mode: modes.and_then(|it| it.first().copied()).unwrap_or(WifiMode::ESP_NOW),
            profile,
            sdk,
            settings,
        })
    }

    pub(super) fn profile(&self) -> Result<Arc<Profile>, Wrong> {
        let Some(name) = self.layers.text(self.table, "profile") else {
            let message =
                format!("`profile` of `{}` is missing: give the name of a profile", self.name);
            return Err(self.wrong("profile", message));
        };
        let missing = |it: Wrong| {
            self.build.text.wrong(self.layers.at(self.table, "profile"), format!("{it}"))
        };
        let profile = self.build.library.profile(name).map_err(missing)?;
        Ok(match self.number("clock_mhz").map(|it| it as u32) {
            Some(clock) if clock != profile.processor.clock_mhz => {
                Arc::new(profile.at_clock(clock))
            }
            _ => profile,
        })
    }

    /// What the file says of the firmware, each value in its range.
    fn settings(&self, profile: &Profile) -> Result<(OptionValues, Context), Wrong> {
        let release: Release = match self.layers.text(self.table, "idf") {
            None => Release::default(),
            Some(text) => text.parse().map_err(|it| self.wrong("idf", format!("`idf`: {it}")))?,
        };
        let mut settings = OptionValues::default();
        // What no SDK of its own has settings for is taken for an ESP32.
        let chip = profile.chip.name().parse().unwrap_or(sdkconfig::Chip::Esp32);
        let context = Context { chip, release, ..Context::default() };
        if self.table == "other" {
            return Ok((settings, context));
        }
        let given = self.layers.settings();
        for &(key, value, _) in &given {
            settings.set(key, value);
        }
        let context = settings.context(context);
        for (key, value, at) in given {
            let range = key.range(&context);
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                let message =
                    format!("`{}`: found {value}, use {least} to {most}", key.name_in(release));
                return Err(self.build.text.wrong(at, message));
            }
        }
        Ok((settings, context))
    }

    fn width(
        &self,
        profile: &Profile,
        router: Option<&AccessPoint>,
    ) -> Result<ChannelWidth, Wrong> {
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

    fn rates(&self, profile: &Profile, width: ChannelWidth) -> Result<DataRates, Wrong> {
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
            let message = format!("`rates`: an {} does not send {mode}", profile.chip.name());
            return Err(self.wrong("rates", message));
        }
        Ok(chosen(rates))
    }

    fn sleep(&self, role: NetRole) -> Result<PowerSave, Wrong> {
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

    /// A part of a period: both or none, and the part is the shorter one.
    fn slices(&self, part: &str, whole: &str) -> Result<Option<(Duration, Duration)>, Wrong> {
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

    pub(super) fn at(&self, router: Option<&AccessPoint>, pc: &Pc) -> Point {
        let from = match (router, &pc.link) {
            (Some(router), _) => router.at,
            (None, PcLink::Air(dongle)) => dongle.at,
            (None, PcLink::Wire { .. }) => Point::default(),
        };
        let metres = self.number("distance_m").unwrap_or(2.0);
        let at = Point { x: from.x + metres, ..from };
        // A variant's distance goes before the lab's place.
        let own = self.layers.variant.find(self.table, "distance_m").is_some();
        let placed = self.layers.place(self.table, "at");
        let placed =
            placed.filter(|_| !own || self.layers.variant.find(self.table, "at").is_some());
        placed.unwrap_or(at)
    }
}

const ROLE: [NetRole; 3] = [NetRole::Station, NetRole::SoftAp, NetRole::Alone];
const WIDTH: [ChannelWidth; 2] = [ChannelWidth::Mhz20, ChannelWidth::Mhz40];
const SECURITY: [WifiSecurity; 3] = [WifiSecurity::Open, WifiSecurity::Wpa2, WifiSecurity::Wpa3];
const PROGRAM: [Program; 6] = [
    Program::Plain,
    Program::Arduino,
    Program::Printing,
    Program::Smooth,
    Program::SmoothExample,
    Program::Callback,
];
const SCAN: [Scan; 3] = [Scan::Fast, Scan::All, Scan::Channel];

/// All rates of a width, slow first, with the short guard interval at the end.
fn every(width: ChannelWidth) -> Vec<WifiMode> {
    let mut modes: Vec<WifiMode> =
        Mcs::ALL.iter().map(|&mcs| WifiMode::ht(mcs, width, GuardInterval::Long)).collect();
    modes.push(WifiMode::ht(Mcs::Mcs7, width, GuardInterval::Short));
    modes
}

fn chosen(modes: Vec<WifiMode>) -> DataRates {
    match modes[..] {
        [one] => DataRates::Fixed(one),
        _ => DataRates::Adaptive(modes),
    }
}

fn delay(layers: Layers<'_>, table: &str, fixed: &str, random: &str, usual_us: f64) -> Delay {
    Delay {
        fixed: us(layers.number(table, fixed).unwrap_or(usual_us)),
        random: us(layers.number(table, random).unwrap_or(0.0)),
    }
}

fn us(us: f64) -> Duration {
    Duration::from_nanos(libm::rint(us * 1e3) as u64)
}
