//! The files of the repository.

use super::FileKind;

macro_rules! file {
    ($kind:ident, $folder:literal, $name:literal) => {
        (FileKind::$kind, $name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))
    };
}

/// All files: kind, name, text.
pub(super) const FILES: [(FileKind, &str, &str); 46] = [
    file!(Profile, "profiles", "work"),
    file!(Profile, "profiles", "esp32"),
    file!(Profile, "profiles", "esp32s2"),
    file!(Profile, "profiles", "esp32s3"),
    file!(Profile, "profiles", "esp32c2"),
    file!(Profile, "profiles", "esp32c3"),
    file!(Profile, "profiles", "esp32c5"),
    file!(Profile, "profiles", "esp32c6"),
    file!(Profile, "profiles", "esp32c6-idf51"),
    file!(Profile, "profiles", "esp32c61"),
    file!(Profile, "profiles", "esp8266"),
    file!(Profile, "profiles", "esp8266-sdk14"),
    file!(Profile, "profiles", "esp8266-sdk22"),
    file!(Profile, "profiles", "esp8266-sdk22-station"),
    file!(Environment, "environments", "free-space"),
    file!(Environment, "environments", "office"),
    file!(Environment, "environments", "home"),
    file!(Environment, "environments", "shield-box"),
    file!(Environment, "environments", "lab-air"),
    file!(Environment, "environments", "office-floor"),
    file!(Environment, "environments", "flat"),
    file!(Environment, "environments", "hall"),
    file!(Environment, "environments", "open-field"),
    file!(Environment, "environments", "near-ground"),
    file!(Lab, "labs", "room-office"),
    file!(Lab, "labs", "room-home"),
    file!(Lab, "labs", "room-hall"),
    file!(Lab, "labs", "room-open"),
    file!(Lab, "labs", "two-boards"),
    file!(Lab, "labs", "many-boards"),
    file!(Lab, "labs", "ota"),
    file!(Lab, "labs", "handshake"),
    file!(Lab, "labs", "provisioning"),
    file!(Lab, "labs", "wifi-home"),
    file!(Lab, "labs", "esp8266-iperf"),
    file!(Lab, "labs", "shield-box"),
    file!(Lab, "labs", "smooth"),
    file!(Lab, "labs", "power-save"),
    file!(Lab, "labs", "wifi-join"),
    file!(Lab, "labs", "raw-esp-now"),
    file!(Lab, "labs", "raw-esp-now-5ghz"),
    file!(Lab, "labs", "raw-esp-now-beacons"),
    file!(Lab, "labs", "forty-stations"),
    file!(Lab, "labs", "shared-channel"),
    file!(Lab, "labs", "relay-line"),
    file!(Lab, "labs", "many-to-many"),
];
