//! Firmware of a group: the settings that it was built with.

use super::block::TomlTable;
use super::key::{KeySpec, KeyType, key};
use super::wrong::FileError;
use crate::lab::scene::Device;
use alloc::string::String;
use esp_now::component::{Compat, ComponentRelease, Idf};
use esp_now::node::air::Country;
use esp_now::node::device::Setup;
use esp_now::node::ota::initiator::OtaSendConfig;
use esp_now::node::print::LogLevel;
use esp_now::node::security::{Policy, Pop};
use esp_now::node::task::{BuildInfo, Encrypt, NodeSettings};
use esp_now::node::tick::Tick;

const LEVELS: [(&str, LogLevel); 6] = [
    ("none", LogLevel::None),
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("verbose", LogLevel::Verbose),
];

/// Returns the first of each pair.
const fn words<const N: usize, T: Copy>(pairs: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut at = 0;
    while at < N {
        words[at] = pairs[at].0;
        at += 1;
    }
    words
}

const LEVEL_WORDS: [&str; 6] = words(&LEVELS);
const RELEASE_WORDS: [&str; 8] = words(&ComponentRelease::NAMED);
const IDF_WORDS: [&str; 6] = words(&Idf::NAMED);
const SERVICES: [&str; 6] = ["security", "ota", "commands", "monitor", "control", "data"];
const POLICIES: [&str; 2] = ["compatible", "strict"];
const COUNTRY_POLICIES: [&str; 2] = ["auto", "manual"];

/// Keys of a firmware.
pub(super) static KEYS: [KeySpec; 14] = [
    key(
        "release",
        KeyType::Word(&RELEASE_WORDS),
        "\"2.5.3\"",
        "release of the esp-now component, or the last before it that differs on the air",
    ),
    key("idf", KeyType::Word(&IDF_WORDS), "\"5.1\"", "release of ESP-IDF, likewise"),
    key(
        "country",
        KeyType::Word(&Country::CODES),
        "that of `idf`: \"CN\" for 4.4, else \"01\"",
        "country of its Wi-Fi: channels 1 to 11 for 01 and US, 1 to 14 for JP, 1 to 13 for all others",
    ),
    key(
        "country_policy",
        KeyType::Word(&COUNTRY_POLICIES),
        "\"auto\"",
        "`WIFI_COUNTRY_POLICY_AUTO`, with which a scan for routers goes over channels 1 to 14 since `idf` 5.0, or `_MANUAL`: over the country's",
    ),
    key("tick_hz", KeyType::Whole(1, 1000), "that of the profile", "`CONFIG_FREERTOS_HZ`"),
    key("encrypted", KeyType::Switch, "false", "whether services encrypt what they send"),
    key(
        "app_security",
        KeyType::Switch,
        "as `encrypted`",
        "`CONFIG_ESPNOW_APP_SECURITY`: room for encryption in every payload",
    ),
    key(
        "policy",
        KeyType::Word(&POLICIES),
        "\"compatible\"",
        "what is refused beyond what the component refuses",
    ),
    key("pop", KeyType::Text, "\"espnow_pop\"", "proof of possession of the handshake"),
    key(
        "log",
        KeyType::Word(&LEVEL_WORDS),
        "\"info\"",
        "down to which severity lines go to the UART",
    ),
    key(
        "remote_log",
        KeyType::Word(&LEVEL_WORDS),
        "\"none\"",
        "down to which severity lines go to the remote log, on the air",
    ),
    key(
        "services",
        KeyType::Words(&SERVICES),
        "all",
        "what it answers to: handing out of keys, images, remote commands, the remote log of others, control, data",
    ),
    key("forward", KeyType::Switch, "true", "whether frames of others are forwarded"),
    key("restore_channel", KeyType::Switch, "false", "`CONFIG_ESPNOW_AUTO_RESTORE_CHANNEL`"),
];

/// Settings of a firmware that a file states.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Firmware {
    compat: Compat,
    country: Option<Country>,
    manual: bool,
    tick_hz: Option<u32>,
    encrypted: bool,
    app_security: Option<bool>,
    policy: Policy,
    pop: Option<String>,
    pub(super) log: LogLevel,
    pub(super) remote_log: LogLevel,
    services: Option<[bool; SERVICES.len()]>,
    forward: bool,
    restore_channel: bool,
}

/// Reads the firmware of a group.
pub(super) fn read(group: &TomlTable<'_>) -> Result<Firmware, FileError> {
    let usual = Firmware::default();
    let Some(it) = group.table("firmware", &KEYS)? else { return Ok(usual) };
    let services = it
        .texts("services")?
        .map(|listed| SERVICES.map(|service| listed.iter().any(|(name, _)| name == service)));
    let policy = match it.word("policy")? {
        Some(1) => Policy::STRICT,
        _ => Policy::COMPATIBLE,
    };
    Ok(Firmware {
        compat: Compat {
            release: it
                .word("release")?
                .map_or(usual.compat.release, |at| ComponentRelease::NAMED[at].1),
            idf: it.word("idf")?.map_or(usual.compat.idf, |at| Idf::NAMED[at].1),
            ..usual.compat
        },
        country: it.text("country")?.and_then(|code| Country::of(&code)),
        manual: it.word("country_policy")? == Some(1),
        tick_hz: it.whole("tick_hz")?,
        encrypted: it.switch("encrypted")?.unwrap_or(usual.encrypted),
        app_security: it.switch("app_security")?,
        policy,
        pop: it.text("pop")?,
        log: it.word("log")?.map_or(usual.log, |at| LEVELS[at].1),
        remote_log: it.word("remote_log")?.map_or(usual.remote_log, |at| LEVELS[at].1),
        services,
        forward: it.switch("forward")?.unwrap_or(usual.forward),
        restore_channel: it.switch("restore_channel")?.unwrap_or(usual.restore_channel),
    })
}

/// Sets the releases of a device's firmware, and what follows from them.
pub(super) fn set_releases(
    device: &mut Device,
    component: Option<ComponentRelease>,
    idf: Option<Idf>,
) {
    let settings = &mut device.settings;
    if let Some(release) = component {
        settings.compat.release = release;
        device.services.ota_send = OtaSendConfig::of(release);
    }
    if let Some(idf) = idf {
        let manual = settings.country.manual;
        let usual = |idf| Country { manual, ..Country::default_of(idf) };
        if settings.country == usual(settings.compat.idf) {
            settings.country = usual(idf);
        }
        settings.compat.idf = idf;
        settings.build.idf = idf.version();
    }
}

impl Default for Firmware {
    fn default() -> Self {
        Self {
            compat: Compat::default(),
            country: None,
            manual: false,
            tick_hz: None,
            encrypted: false,
            app_security: None,
            policy: Policy::COMPATIBLE,
            pop: None,
            log: LogLevel::Info,
            remote_log: LogLevel::None,
            services: None,
            forward: true,
            restore_channel: false,
        }
    }
}

impl Firmware {
    /// Returns the node's settings, with a chip's tick and buffers.
    pub(super) fn settings(
        &self,
        target: &'static str,
        tick_hz: u32,
        tx_buffers: u16,
        encrypted: Option<bool>,
    ) -> NodeSettings {
        let on = encrypted.unwrap_or(self.encrypted);
        let app_security = self.app_security.unwrap_or(on);
        let services =
            Encrypt { enabled: on, control: on, debug: on, ota: on, prov: on, time: false };
        let country = self.country.unwrap_or_else(|| Country::default_of(self.compat.idf));
        NodeSettings {
            country: Country { manual: self.manual, ..country },
            compat: Compat { app_security: app_security || on, ..self.compat },
            tick: Tick::from_hz(self.tick_hz.unwrap_or(tick_hz)),
            target,
            encrypt: services,
            policy: self.policy,
            forward: self.forward,
            tx_buffers: u8::try_from(tx_buffers).unwrap_or(u8::MAX),
            restore_channel: self.restore_channel,
            build: BuildInfo { idf: self.compat.idf.version(), ..BuildInfo::default() },
            ..NodeSettings::default()
        }
    }

    /// Returns the node's services.
    pub(super) fn services(&self) -> Setup {
        let usual = Setup::default();
        let [security, ota, commands, monitor, control, data] =
            self.services.unwrap_or([true; SERVICES.len()]);
        Setup {
            pop: self.pop.as_ref().map_or(usual.pop, |text| Pop::new(text.as_bytes())),
            security,
            ota: usual.ota.filter(|_| ota),
            commands,
            monitor,
            control: usual.control.filter(|_| control),
            data,
            ota_send: OtaSendConfig::of(self.compat.release),
            ..usual
        }
    }
}
