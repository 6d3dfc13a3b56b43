//! The files of the repository.

use super::Kind;

macro_rules! file {
    ($kind:ident, $folder:literal, $name:literal) => {
        (Kind::$kind, $name, include_str!(concat!("../../../../../", $folder, "/", $name, ".toml")))
    };
}

/// All of them: kind, name, text.
pub(super) const FILES: [(Kind, &str, &str); 15] = [
    file!(Profile, "profiles", "esp32"),
    file!(Profile, "profiles", "esp32s2"),
    file!(Profile, "profiles", "esp32s3"),
    file!(Profile, "profiles", "esp32c2"),
    file!(Profile, "profiles", "esp32c3"),
    file!(Profile, "profiles", "esp32c6"),
    file!(Profile, "profiles", "esp8266"),
    file!(Environment, "environments", "free-space"),
    file!(Environment, "environments", "office"),
    file!(Environment, "environments", "home"),
    file!(Lab, "labs", "two-boards"),
    file!(Lab, "labs", "many-boards"),
    file!(Lab, "labs", "ota"),
    file!(Lab, "labs", "handshake"),
    file!(Lab, "labs", "provisioning"),
];
