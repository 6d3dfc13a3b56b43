//! Reasons of disconnection (`wifi_err_reason_t`), each with its cause and what to do.
//!
//! They stand in `rules/reasons.toml`.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use once_cell::race::OnceBox;
use serde::Deserialize;

/// A kind of cause that reasons share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonGroup {
    /// The password or the credentials are wrong.
    Password,
    /// The network was not found.
    Absent,
    /// The beacons of the access point were not heard.
    Beacons,
    /// The signal is weak.
    Signal,
    /// The two sides accept no common security.
    Security,
    /// Authentication or the handshake failed.
    Handshake,
    /// The access point is full.
    Capacity,
    /// The access point refuses the device.
    Refused,
    /// The access point dropped an idle device.
    Inactive,
    /// The access point no longer knows the device.
    Forgotten,
    /// The access point restarted.
    Restarted,
    /// The access point or roaming sends the device elsewhere.
    Steered,
    /// The device missed a new group key.
    GroupKey,
    /// The program left by itself.
    Local,
    /// Another reason.
    Other,
}

impl ReasonGroup {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Password,
        Self::Absent,
        Self::Beacons,
        Self::Signal,
        Self::Security,
        Self::Handshake,
        Self::Capacity,
        Self::Refused,
        Self::Inactive,
        Self::Forgotten,
        Self::Restarted,
        Self::Steered,
        Self::GroupKey,
        Self::Local,
        Self::Other,
    ];

    /// Returns the stable name, for JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Absent => "absent",
            Self::Beacons => "beacons",
            Self::Signal => "signal",
            Self::Security => "security",
            Self::Handshake => "handshake",
            Self::Capacity => "capacity",
            Self::Refused => "refused",
            Self::Inactive => "inactive",
            Self::Forgotten => "forgotten",
            Self::Restarted => "restarted",
            Self::Steered => "steered",
            Self::GroupKey => "group-key",
            Self::Local => "local",
            Self::Other => "other",
        }
    }
}

/// A reason of disconnection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisconnectionReason {
    /// Number in `wifi_err_reason_t`.
    pub code: u8,
    /// Name without `WIFI_REASON_`.
    pub name: String,
    /// Kind of the cause.
    pub group: ReasonGroup,
    /// Cause in words.
    pub cause: String,
    /// Remedy, as a sentence.
    pub remedy: String,
}

static REASONS: OnceBox<ReasonFile> = OnceBox::new();

/// The file of reasons.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonFile {
    reason: Vec<DisconnectionReason>,
    /// Numbers of others, each with the reason that is alike.
    alike: Vec<[u16; 2]>,
}

/// Returns the file of reasons.
fn file() -> &'static ReasonFile {
    REASONS.get_or_init(|| {
        let text = include_str!(concat!(env!("OUT_DIR"), "/reasons.toml"));
        Box::new(toml::from_str(text).expect("the reasons are tested"))
    })
}

/// Returns all reasons, by number.
///
/// # Panics
/// Where the file of reasons is wrong, which a test excludes.
#[must_use]
pub fn reasons() -> &'static [DisconnectionReason] {
    &file().reason
}

/// Finds the reason that a number stands for, which may be one of ESP-WIFI-MESH.
#[must_use]
pub fn alike(number: u32) -> Option<&'static DisconnectionReason> {
    let of_mesh = file().alike.iter().find(|it| u32::from(it[0]) == number);
    by_code(u8::try_from(of_mesh.map_or(number, |it| it[1].into())).ok()?)
}

/// Finds a reason by its number.
#[must_use]
pub fn by_code(code: u8) -> Option<&'static DisconnectionReason> {
    reasons().iter().find(|it| it.code == code)
}

/// Finds a reason by its name, with or without `WIFI_REASON_`. Arduino and older releases of ESP-IDF have other names for some.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static DisconnectionReason> {
    let name = name.strip_prefix("WIFI_REASON_").unwrap_or(name);
    let name = match name {
        "ASSOC_EXPIRE" => "DISASSOC_DUE_TO_INACTIVITY",
        "NOT_AUTHED" => "CLASS2_FRAME_FROM_NONAUTH_STA",
        "NOT_ASSOCED" => "CLASS3_FRAME_FROM_NONASSOC_STA",
        "NO_AP_FOUND_SECURITY" => "NO_AP_FOUND_W_COMPATIBLE_SECURITY",
        "NO_AP_FOUND_AUTHMODE" => "NO_AP_FOUND_IN_AUTHMODE_THRESHOLD",
        "NO_AP_FOUND_RSSI" => "NO_AP_FOUND_IN_RSSI_THRESHOLD",
        name => name,
    };
    reasons().iter().find(|it| it.name == name).or_else(|| by_words(name))
}

/// Finds a reason by a name of Rust's enums, such as `NoAccessPointFound` of esp-radio.
fn by_words(name: &str) -> Option<&'static DisconnectionReason> {
    // One capital alone is a word: "Timeout" is none.
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    if capitals < 2 || !name.bytes().any(|it| it.is_ascii_lowercase()) {
        return None;
    }
    let name = folded(name);
    let name = match &*name {
        "authenticationexpired" => "authexpire",
        "authenticationleave" => "authleave",
        "authenticationfailed" => "authfail",
        "disassociatedduetoinactivity" => "disassocduetoinactivity",
        "associationtoomany" => "assoctoomany",
        "associationleave" => "assocleave",
        "associationfailed" => "assocfail",
        "fourwayhandshaketimeout" => "4wayhandshaketimeout",
        "noaccesspointfound" => "noapfound",
        "connectionfailed" => "connectionfail",
        name => name,
    };
    reasons().iter().find(|it| folded(&it.name) == name)
}

/// Returns a name of a reason as it is compared: without underscores, in lower case.
fn folded(name: &str) -> String {
    name.chars().filter(|it| *it != '_').map(|it| it.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_names_are_found() {
        assert!(reasons().windows(2).all(|two| two[0].code < two[1].code));
        for reason in reasons() {
            assert_eq!(by_code(reason.code), Some(reason));
            assert_eq!(by_name(&reason.name), Some(reason));
            assert!(!reason.cause.ends_with('.') && !reason.remedy.ends_with('.'), "{reason:?}");
        }
        assert_eq!(by_name("WIFI_REASON_BEACON_TIMEOUT").unwrap().code, 200);
        assert_eq!(by_name("ASSOC_EXPIRE").unwrap().code, 4);
        assert!(by_code(0).is_none() && by_code(199).is_none() && by_name("X").is_none());
    }
}
