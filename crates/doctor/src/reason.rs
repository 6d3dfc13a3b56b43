//! Reasons of disconnection (`wifi_err_reason_t`), each with its cause and what to do.
//!
//! Numbers and names: ESP-IDF, `components/esp_wifi/include/esp_wifi_types_generic.h`; 1 to 68 are those of
//! IEEE 802.11-2020, Table 9-49. Causes and remedies: ESP-IDF Programming Guide, Wi-Fi Driver, "Wi-Fi Reason
//! Code", and what users found (issues of ESP-IDF, arduino-esp32 and ESPHome).

use crate::log::folded;

/// A kind of cause that reasons share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// Returns the cause in words, as the middle of a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Password => "the password or the credentials are wrong",
            Self::Absent => "the network was not found",
            Self::Beacons => "the beacons of the access point were not heard",
            Self::Signal => "the signal is weak",
            Self::Security => "the two sides accept no common security",
            Self::Handshake => "authentication or the handshake failed",
            Self::Capacity => "the access point is full",
            Self::Refused => "the access point refuses the device",
            Self::Inactive => "the access point dropped an idle device",
            Self::Forgotten => "the access point no longer knows the device",
            Self::Restarted => "the access point restarted",
            Self::Steered => "the access point or roaming sends the device elsewhere",
            Self::GroupKey => "the device missed a new group key",
            Self::Local => "the program left by itself",
            Self::Other => "another reason",
        }
    }
}

/// A reason of disconnection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisconnectionReason {
    /// Number in `wifi_err_reason_t`.
    pub code: u8,
    /// Name without `WIFI_REASON_`.
    pub name: &'static str,
    /// Kind of the cause.
    pub group: ReasonGroup,
    /// Cause in words.
    pub cause: &'static str,
    /// Remedy, as a sentence.
    pub remedy: &'static str,
}

/// All reasons, by number.
pub const REASONS: &[DisconnectionReason] = {
    use ReasonGroup::{
        Absent, Beacons, Capacity, Forgotten, GroupKey, Handshake, Inactive, Local, Other,
        Password, Refused, Restarted, Security, Signal, Steered,
    };
    &[
        reason(
            1,
            "UNSPECIFIED",
            Other,
            "the access point gives no reason",
            "look at the router's own log at that time",
        ),
        reason(
            2,
            "AUTH_EXPIRE",
            Handshake,
            "authentication took too long, or the access point forgot the device",
            "move nearer to see whether frames are lost; where that changes nothing, look at the router's limits of clients and its protected management frames",
        ),
        reason(
            3,
            "AUTH_LEAVE",
            Restarted,
            "the access point left: it restarts, is switched off, or changes its settings or channel",
            "look at the router's own log at that time; where a program left, the reason is 8",
        ),
        reason(
            4,
            "DISASSOC_DUE_TO_INACTIVITY",
            Inactive,
            "the access point heard nothing from the device for too long",
            "send a keep-alive, shorten the listen interval, or lengthen the router's time-out of idle clients",
        ),
        reason(
            5,
            "ASSOC_TOOMANY",
            Capacity,
            "the access point serves as many stations as it can",
            "take devices off it, raise its limit of clients (an ESP as SoftAP: max_connection), or add an access point",
        ),
        reason(
            6,
            "CLASS2_FRAME_FROM_NONAUTH_STA",
            Forgotten,
            "the access point does not know the device as authenticated any more: it restarted or dropped it",
            "reconnect; where it comes again, look for a router that restarts or steers clients",
        ),
        reason(
            7,
            "CLASS3_FRAME_FROM_NONASSOC_STA",
            Forgotten,
            "the access point does not know the device as associated any more: it restarted or dropped it",
            "reconnect; where it comes again, look for a router that restarts or steers clients",
        ),
        reason(
            8,
            "ASSOC_LEAVE",
            Local,
            "the device left by itself: esp_wifi_disconnect(), esp_wifi_stop() or a new esp_wifi_connect()",
            "look for what the program calls: a reconnect while one is under way ends the first",
        ),
        reason(
            9,
            "ASSOC_NOT_AUTHED",
            Forgotten,
            "the device asked to associate before it was authenticated",
            "reconnect; frames of the authentication were lost",
        ),
        reason(
            10,
            "DISASSOC_PWRCAP_BAD",
            Refused,
            "the access point refuses the device's transmit power",
            "set the country code of both sides",
        ),
        reason(
            11,
            "DISASSOC_SUPCHAN_BAD",
            Refused,
            "the access point refuses the device's channels",
            "set the country code of both sides",
        ),
        reason(
            12,
            "BSS_TRANSITION_DISASSOC",
            Steered,
            "the access point sends the device to another one (802.11v)",
            "enable CONFIG_ESP_WIFI_11KV_SUPPORT, or turn steering off in the router",
        ),
        reason(
            13,
            "IE_INVALID",
            Refused,
            "an information element was not valid",
            "update ESP-IDF and the router; try another security mode",
        ),
        reason(
            14,
            "MIC_FAILURE",
            Other,
            "a frame failed its integrity check (TKIP)",
            "use WPA2 with AES (CCMP)",
        ),
        reason(
            15,
            "4WAY_HANDSHAKE_TIMEOUT",
            Password,
            "the handshake of keys did not end: mostly a wrong password",
            "check the password, its upper and lower case and characters; then the signal",
        ),
        reason(
            16,
            "GROUP_KEY_UPDATE_TIMEOUT",
            GroupKey,
            "the device did not answer the router's new group key in time, mostly while it slept",
            "lengthen the router's group key interval, or sleep less (WIFI_PS_NONE or a shorter listen interval)",
        ),
        reason(
            17,
            "IE_IN_4WAY_DIFFERS",
            Handshake,
            "the router said one security in its beacons and another in the handshake",
            "restart the router; update it",
        ),
        reason(
            18,
            "GROUP_CIPHER_INVALID",
            Security,
            "the device does not accept the router's group cipher",
            "use WPA2 with AES (CCMP)",
        ),
        reason(
            19,
            "PAIRWISE_CIPHER_INVALID",
            Security,
            "the device does not accept the router's cipher",
            "use WPA2 with AES (CCMP)",
        ),
        reason(
            20,
            "AKMP_INVALID",
            Security,
            "the two sides have no key management in common",
            "use WPA2-PSK, or enable WPA3 in the firmware",
        ),
        reason(
            21,
            "UNSUPP_RSN_IE_VERSION",
            Security,
            "the version of the security element is not known",
            "update the router",
        ),
        reason(
            22,
            "INVALID_RSN_IE_CAP",
            Security,
            "protected management frames are required by one side and not offered by the other",
            "set pmf_cfg.capable, or make them optional in the router",
        ),
        reason(
            23,
            "802_1X_AUTH_FAILED",
            Password,
            "802.1X (enterprise) authentication failed",
            "check identity, password, certificates and the device's clock",
        ),
        reason(
            24,
            "CIPHER_SUITE_REJECTED",
            Security,
            "the router rejects the cipher",
            "use WPA2 with AES (CCMP)",
        ),
        reason(
            25,
            "TDLS_PEER_UNREACHABLE",
            Other,
            "a peer of a direct link cannot be reached",
            "turn TDLS off",
        ),
        reason(26, "TDLS_UNSPECIFIED", Other, "a direct link ended", "turn TDLS off"),
        reason(
            27,
            "SSP_REQUESTED_DISASSOC",
            Other,
            "a service provider ended the session",
            "ask who runs the network",
        ),
        reason(
            28,
            "NO_SSP_ROAMING_AGREEMENT",
            Other,
            "there is no roaming agreement",
            "ask who runs the network",
        ),
        reason(
            29,
            "BAD_CIPHER_OR_AKM",
            Security,
            "cipher or key management are not accepted",
            "use WPA2-PSK with AES (CCMP)",
        ),
        reason(
            30,
            "NOT_AUTHORIZED_THIS_LOCATION",
            Refused,
            "the network refuses the device at this place",
            "ask who runs the network",
        ),
        reason(
            31,
            "SERVICE_CHANGE_PERCLUDES_TS",
            Other,
            "a change of service ended the stream",
            "ask who runs the network",
        ),
        reason(
            32,
            "UNSPECIFIED_QOS",
            Other,
            "quality of service, without a reason",
            "look at the router's own log",
        ),
        reason(
            33,
            "NOT_ENOUGH_BANDWIDTH",
            Capacity,
            "the access point has not enough time on the air",
            "take load off the channel, or add an access point",
        ),
        reason(
            34,
            "MISSING_ACKS",
            Signal,
            "too many frames were not acknowledged",
            "move nearer, turn the antenna, change the channel",
        ),
        reason(
            35,
            "EXCEEDED_TXOP",
            Other,
            "the device sent for longer than it may",
            "update ESP-IDF",
        ),
        reason(36, "STA_LEAVING", Local, "the station leaves", "look for what the program calls"),
        reason(
            37,
            "END_BA",
            Other,
            "a block acknowledgement session ended",
            "update ESP-IDF and the router",
        ),
        reason(
            38,
            "UNKNOWN_BA",
            Other,
            "a block acknowledgement session is not known",
            "update ESP-IDF and the router",
        ),
        reason(
            39,
            "TIMEOUT",
            Signal,
            "the other side did not answer in time",
            "move nearer, turn the antenna, change the channel",
        ),
        reason(
            46,
            "PEER_INITIATED",
            Steered,
            "the other side ended the link",
            "look at the router's own log",
        ),
        reason(
            47,
            "AP_INITIATED",
            Steered,
            "the access point ended the link",
            "look at the router's own log: steering, limits of clients, a restart",
        ),
        reason(
            48,
            "INVALID_FT_ACTION_FRAME_COUNT",
            Steered,
            "fast roaming (802.11r) failed",
            "turn 802.11r off in the router",
        ),
        reason(
            49,
            "INVALID_PMKID",
            Forgotten,
            "the access point does not know the cached key any more",
            "reconnect; where it comes again, turn caching of keys off in the router",
        ),
        reason(
            50,
            "INVALID_MDE",
            Steered,
            "fast roaming (802.11r) failed",
            "turn 802.11r off in the router",
        ),
        reason(
            51,
            "INVALID_FTE",
            Steered,
            "fast roaming (802.11r) failed",
            "turn 802.11r off in the router",
        ),
        reason(
            67,
            "TRANSMISSION_LINK_ESTABLISH_FAILED",
            Signal,
            "a link could not be established",
            "move nearer, turn the antenna",
        ),
        reason(
            68,
            "ALTERATIVE_CHANNEL_OCCUPIED",
            Other,
            "the other channel is occupied",
            "use a channel of 20 MHz",
        ),
        reason(
            200,
            "BEACON_TIMEOUT",
            Beacons,
            "no beacon came for some 6 s, and no answer to probes",
            "move nearer or turn the antenna; change the channel; sleep less; see whether the router restarted",
        ),
        reason(
            201,
            "NO_AP_FOUND",
            Absent,
            "a scan did not find the network",
            "check its name; the network must be on 2.4 GHz for most chips, on a channel that the country allows, and within range",
        ),
        reason(
            202,
            "AUTH_FAIL",
            Password,
            "authentication failed: mostly a wrong password",
            "check the password and the security mode (WPA3 against WPA2)",
        ),
        reason(
            203,
            "ASSOC_FAIL",
            Refused,
            "the access point refuses the association",
            "look at the router's filter of MAC addresses, its limit of clients and its modes (b/g/n)",
        ),
        reason(
            204,
            "HANDSHAKE_TIMEOUT",
            Handshake,
            "the handshake of keys did not end: frames are lost, or the password is wrong",
            "check the password, its upper and lower case and characters; then the signal",
        ),
        reason(
            205,
            "CONNECTION_FAIL",
            Signal,
            "the connection failed, often on a weak signal",
            "move nearer; see the attempts before it for their reasons",
        ),
        reason(
            206,
            "AP_TSF_RESET",
            Restarted,
            "the access point's clock jumped: it restarted",
            "see why the router restarts: its power, its updates, its schedule",
        ),
        reason(
            207,
            "ROAMING",
            Steered,
            "the device goes to a better access point",
            "nothing, unless it comes often: then raise the threshold of roaming",
        ),
        reason(
            208,
            "ASSOC_COMEBACK_TIME_TOO_LONG",
            Refused,
            "the access point refuses for now, and asks to come back later than the device waits",
            "wait, or restart the router: it may still hold an association of before (protected management frames)",
        ),
        reason(
            209,
            "SA_QUERY_TIMEOUT",
            Forgotten,
            "protected management frames: the two sides no longer agree that there is a link",
            "reconnect; update the router",
        ),
        reason(
            210,
            "NO_AP_FOUND_W_COMPATIBLE_SECURITY",
            Security,
            "the network is there, with a security that the firmware does not accept",
            "set threshold.authmode to what the router has, or enable WPA3 in the firmware",
        ),
        reason(
            211,
            "NO_AP_FOUND_IN_AUTHMODE_THRESHOLD",
            Security,
            "the network is there, with a weaker security than threshold.authmode",
            "lower threshold.authmode, or use WPA2 in the router",
        ),
        reason(
            212,
            "NO_AP_FOUND_IN_RSSI_THRESHOLD",
            Signal,
            "the network is there, weaker than threshold.rssi",
            "move nearer, or lower threshold.rssi",
        ),
    ]
};

const fn reason(
    code: u8,
    name: &'static str,
    group: ReasonGroup,
    cause: &'static str,
    remedy: &'static str,
) -> DisconnectionReason {
    DisconnectionReason { code, name, group, cause, remedy }
}

/// Finds a reason by its number.
#[must_use]
pub fn by_code(code: u8) -> Option<&'static DisconnectionReason> {
    REASONS.iter().find(|it| it.code == code)
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
    REASONS.iter().find(|it| it.name == name).or_else(|| by_words(name))
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
    REASONS.iter().find(|it| folded(it.name) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_names_are_found() {
        assert!(REASONS.windows(2).all(|two| two[0].code < two[1].code));
        for reason in REASONS {
            assert_eq!(by_code(reason.code), Some(reason));
            assert_eq!(by_name(reason.name), Some(reason));
            assert!(!reason.cause.ends_with('.') && !reason.remedy.ends_with('.'), "{reason:?}");
        }
        assert_eq!(by_name("WIFI_REASON_BEACON_TIMEOUT").unwrap().code, 200);
        assert_eq!(by_name("ASSOC_EXPIRE").unwrap().code, 4);
        assert!(by_code(0).is_none() && by_code(199).is_none() && by_name("X").is_none());
    }
}
