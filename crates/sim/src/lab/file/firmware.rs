//! What a group's firmware was built with.

use super::block::Block;
use super::key::{Is, Key, key};
use super::wrong::Wrong;
use alloc::string::String;
use espbench_proto::node::esp_now::device::Setup;
use espbench_proto::node::esp_now::ota::initiator::Options;
use espbench_proto::node::esp_now::print::Level;
use espbench_proto::node::esp_now::security::{Policy, Pop};
use espbench_proto::node::esp_now::task::{Encrypt, Settings};
use espbench_proto::node::esp_now::tick::Tick;
use espbench_proto::wire::component::{Compat, Idf, Release};

const LEVELS: [(&str, Level); 6] = [
    ("none", Level::None),
    ("error", Level::Error),
    ("warn", Level::Warn),
    ("info", Level::Info),
    ("debug", Level::Debug),
    ("verbose", Level::Verbose),
];
const RELEASES: [(&str, Release); 8] = [
    ("2022-07", Release::Mid2022),
    ("1.0", Release::V1_0),
    ("2.0", Release::V2_0),
    ("2.3", Release::V2_3),
    ("2.4", Release::V2_4),
    ("2.5.2", Release::V2_5_2),
    ("2.5.3", Release::V2_5_3),
    ("head", Release::Head),
];
const IDFS: [(&str, Idf); 6] = [
    ("4.4", Idf::V4_4),
    ("5.0", Idf::V5_0),
    ("5.0.8", Idf::V5_0_8),
    ("5.1", Idf::V5_1),
    ("5.4", Idf::V5_4),
    ("5.4.2", Idf::V5_4_2),
];

/// The first of each pair.
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
const RELEASE_WORDS: [&str; 8] = words(&RELEASES);
const IDF_WORDS: [&str; 6] = words(&IDFS);
const SERVICES: [&str; 6] = ["security", "ota", "commands", "monitor", "control", "data"];
const POLICIES: [&str; 2] = ["compatible", "strict"];

/// Keys of a firmware.
pub(super) static KEYS: [Key; 12] = [
    key(
        "release",
        Is::Word(&RELEASE_WORDS),
        "\"2.5.3\"",
        "release of the esp-now component, or the last before it that differs on the air",
    ),
    key("idf", Is::Word(&IDF_WORDS), "\"5.1\"", "release of ESP-IDF, likewise"),
    key("tick_hz", Is::Whole(1, 1000), "that of the profile", "`CONFIG_FREERTOS_HZ`"),
    key("encrypted", Is::Switch, "false", "whether services encrypt what they send"),
    key(
        "app_security",
        Is::Switch,
        "as `encrypted`",
        "`CONFIG_ESPNOW_APP_SECURITY`: room for encryption in every payload",
    ),
    key(
        "policy",
        Is::Word(&POLICIES),
        "\"compatible\"",
        "what is refused beyond what the component refuses",
    ),
    key("pop", Is::Text, "\"espnow_pop\"", "proof of possession of the handshake"),
    key("log", Is::Word(&LEVEL_WORDS), "\"info\"", "down to which severity lines go to the UART"),
    key(
        "remote_log",
        Is::Word(&LEVEL_WORDS),
        "\"none\"",
        "down to which severity lines go to the remote log, on the air",
    ),
    key(
        "services",
        Is::Words(&SERVICES),
        "all",
        "what it answers to: handing out of keys, images, remote commands, the remote log of others, control, data",
    ),
    key("forward", Is::Switch, "true", "whether frames of others are forwarded"),
    key("restore_channel", Is::Switch, "false", "`CONFIG_ESPNOW_AUTO_RESTORE_CHANNEL`"),
];

/// What a file says of a firmware.
#[derive(Clone, Debug)]
pub(super) struct Firmware {
    compat: Compat,
    tick_hz: Option<u32>,
    encrypted: bool,
    app_security: Option<bool>,
    policy: Policy,
    pop: Option<String>,
    pub(super) log: Level,
    pub(super) remote_log: Level,
    services: Option<[bool; SERVICES.len()]>,
    forward: bool,
    restore_channel: bool,
}

/// The firmware of a group.
pub(super) fn read(group: &Block<'_>) -> Result<Firmware, Wrong> {
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
            release: it.word("release")?.map_or(usual.compat.release, |at| RELEASES[at].1),
            idf: it.word("idf")?.map_or(usual.compat.idf, |at| IDFS[at].1),
            ..usual.compat
        },
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

impl Default for Firmware {
    fn default() -> Self {
        Self {
            compat: Compat::default(),
            tick_hz: None,
            encrypted: false,
            app_security: None,
            policy: Policy::COMPATIBLE,
            pop: None,
            log: Level::Info,
            remote_log: Level::None,
            services: None,
            forward: true,
            restore_channel: false,
        }
    }
}

impl Firmware {
    /// The node's settings, with a chip's tick and buffers.
    pub(super) fn settings(
        &self,
        target: &'static str,
        tick_hz: u32,
        tx_buffers: u16,
        encrypted: Option<bool>,
    ) -> Settings {
        let on = encrypted.unwrap_or(self.encrypted);
        let app_security = self.app_security.unwrap_or(on);
        let services =
            Encrypt { enabled: on, control: on, debug: on, ota: on, prov: on, time: false };
        Settings {
            compat: Compat { app_security: app_security || on, ..self.compat },
            tick: Tick::from_hz(self.tick_hz.unwrap_or(tick_hz)),
            target,
            encrypt: services,
            policy: self.policy,
            forward: self.forward,
            tx_buffers: u8::try_from(tx_buffers).unwrap_or(u8::MAX),
            restore_channel: self.restore_channel,
            ..Settings::default()
        }
    }

    /// The node's services.
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
            ota_send: Options::of(self.compat.release),
            ..usual
        }
    }
}
