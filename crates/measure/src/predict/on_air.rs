//! Which PHY rate ESP-NOW's frames really have, by the call that sets it, the chip and the release of ESP-IDF.
//!
//! Sources: ESP-IDF Programming Guide, ESP-NOW ("The default ESP-NOW bit rate is 1 Mbps"; Config ESP-NOW Rate);
//! `esp_now.h` of v5.1 to v5.5 (`esp_wifi_config_espnow_rate` is deprecated: "only work when not use Wi-Fi 6 and
//! `esp_now_set_peer_rate_config` not called"; that one is per peer, after `esp_wifi_start` and `esp_now_init`);
//! esp-hal issue 1612 (the ESP32-C6 answers the first "is not supported in WIFI6 mode") and pull request 5884 (it is
//! gone from v6.0); esp-idf issue 7687 (40 MHz asks for `esp_wifi_set_bandwidth` and a second channel);
//! `ESP8266_RTOS_SDK` issue 1198 (no such call there).

use super::card::RateRole;
use super::range::{metres_of, range_words};
use super::report::{PredictAnswer, PredictQuestion};
use crate::digits;
use crate::predict::PointEstimates;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_dot11::radio::name::PhyRateCodes;
use espbench_dot11::radio::{ChannelWidth, Ht, WifiMode};
use espbench_model::sdkconfig::{Chip, IdfRelease};

/// The call with which a firmware sets the PHY rate of ESP-NOW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateCall {
    /// None.
    Nothing,
    /// `esp_wifi_config_espnow_rate`, for all frames of an interface.
    Interface,
    /// `esp_now_set_peer_rate_config`, for those to one peer.
    #[default]
    Peer,
}

impl RateCall {
    /// Returns the name of the function; empty of none.
    #[must_use]
    pub const fn function(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Interface => "esp_wifi_config_espnow_rate",
            Self::Peer => "esp_now_set_peer_rate_config",
        }
    }
}

/// The channel that the station has, where it is connected to an access point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApChannel {
    /// The device is not connected: the firmware chooses.
    #[default]
    None,
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
}

/// A firmware that asks for a PHY rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRequest {
    /// PHY rate that it asks for.
    pub mode: WifiMode,
    /// Call with which it does.
    pub call: RateCall,
    /// Chip; `None` of an ESP8266, which has no ESP-IDF.
    pub chip: Option<Chip>,
    /// Whether the radio of the chip sends that mode.
    pub is_sent: bool,
    /// Whether the band of the channel has that mode.
    pub is_in_band: bool,
    /// PHY rate without any call: 1 Mbit/s, in 5 GHz 6 Mbit/s.
    pub usual: WifiMode,
    /// Release of ESP-IDF.
    pub release: IdfRelease,
    /// Channel of the access point.
    pub ap: ApChannel,
    /// Frames go to all.
    pub is_broadcast: bool,
}

/// Reason for which a rate is, or is not, on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateReason {
    /// The call sets it.
    Set,
    /// Nothing was called, and it is not the default.
    NotAsked,
    /// The rate is the default.
    Default,
    /// The chip's SDK has no such call.
    NoCall,
    /// The radio of the chip does not send the mode.
    NotOfChip,
    /// The band does not have the mode.
    NotInBand,
    /// `wifi_phy_rate_t` has no name for the mode.
    NoName,
    /// The release has no such function yet.
    NotYet,
    /// The release has no such function any more.
    Gone,
    /// Chips with Wi-Fi 6 refuse the call.
    WiFi6,
    /// The access point's channel is 20 MHz wide.
    NarrowChannel,
}

/// The PHY rate that is on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateInForce {
    /// Request of the firmware.
    pub request: RateRequest,
    /// PHY rate of its frames.
    pub on_air: WifiMode,
    /// Reason.
    pub reason: RateReason,
}

/// First release with `esp_now_set_peer_rate_config`.
const PEER_FROM: (u8, u8) = (5, 1);
/// First release without `esp_wifi_config_espnow_rate`.
const INTERFACE_UNTIL: (u8, u8) = (6, 0);

impl RateRequest {
    /// Returns the rate that is on the air.
    #[must_use]
    pub fn in_force(self) -> RateInForce {
        let reason = self.reason();
        let on_air = if reason == RateReason::Set { self.mode } else { self.usual };
        RateInForce { request: self, on_air, reason }
    }

    fn reason(&self) -> RateReason {
        let is_wide = matches!(self.mode, WifiMode::Ht(Ht { width: ChannelWidth::Mhz40, .. }));
        let from = |(major, minor)| self.release.from(major, minor);
        if self.mode == self.usual {
            return RateReason::Default;
        }
        if self.call == RateCall::Nothing {
            return RateReason::NotAsked;
        }
        let Some(chip) = self.chip else { return RateReason::NoCall };
        match self.call {
            _ if !self.is_in_band => RateReason::NotInBand,
            _ if !self.is_sent => RateReason::NotOfChip,
            _ if self.mode.esp_rate(codes_of(chip)).is_none() => RateReason::NoName,
            RateCall::Peer if !from(PEER_FROM) => RateReason::NotYet,
            RateCall::Interface if from(INTERFACE_UNTIL) => RateReason::Gone,
            RateCall::Interface if chip.he() => RateReason::WiFi6,
            _ if is_wide && self.ap == ApChannel::Mhz20 => RateReason::NarrowChannel,
            _ => RateReason::Set,
        }
    }
}

/// Returns the numbering of `wifi_phy_rate_t` on a chip.
const fn codes_of(chip: Chip) -> PhyRateCodes {
    if chip.he() { PhyRateCodes::He } else { PhyRateCodes::Ht }
}

impl RateInForce {
    /// Returns whether the frames have the rate that was asked for.
    #[must_use]
    pub fn takes_effect(&self) -> bool {
        self.on_air == self.request.mode
    }

    /// Returns the part of a rate in the answer.
    #[must_use]
    pub fn role(&self, rate: &str) -> RateRole {
        let (is_on_air, is_default) =
            (rate == self.on_air.to_string(), rate == self.request.usual.to_string());
        match (is_on_air, is_default) {
            (true, true) => RateRole::OnAirByDefault,
            (true, false) => RateRole::OnAir,
            (false, true) => RateRole::Default,
            (false, false) => RateRole::Wanted,
        }
    }

    /// Says which rate is on the air, and why.
    #[must_use]
    pub fn sentence(&self) -> String {
        let RateRequest { mode, call, chip, release, is_broadcast, usual, .. } = self.request;
        let (name, function) = (mode.to_string(), call.function());
        let chip = chip.map_or_else(|| "ESP8266".to_string(), |it| it.to_string());
        let stays = format!("{name} does not take effect, {} stays on the air", usual);
        match self.reason {
            RateReason::Default => {
                format!("{name} is on the air, which is ESP-NOW's default without any call.")
            }
            RateReason::Set => {
                let whose = match (call, is_broadcast) {
                    (RateCall::Peer, true) => {
                        "for the peer FF:FF:FF:FF:FF:FF, and for no other peer"
                    }
                    (RateCall::Peer, false) => "for the peer that it names, and for no broadcast",
                    _ => "for all frames of the interface, broadcasts too",
                };
                format!("{name} is on the air: {function} sets it {whose}.")
            }
            RateReason::NotAsked => {
                format!("{stays}: nothing sets it, and the peers do not negotiate a rate.")
            }
            RateReason::NoCall => format!("{stays}: the {chip}'s SDK has no call for it."),
            RateReason::NotOfChip => format!("{stays}: the {chip} does not send it."),
            RateReason::NotInBand => {
                format!("{stays}: 5 GHz has no DSSS, CCK and Long Range, which are of 2.4 GHz.")
            }
            RateReason::NoName => {
                format!("{stays}: wifi_phy_rate_t of ESP-IDF has no name for it.")
            }
            RateReason::NotYet => format!("{stays}: ESP-IDF {release} has no {function} yet."),
            RateReason::Gone => format!("{stays}: ESP-IDF {release} has no {function} any more."),
            RateReason::WiFi6 => {
                format!("{stays}: the {chip} refuses {function}, \"not supported in WIFI6 mode\".")
            }
            RateReason::NarrowChannel => {
                format!(
                    "{stays}: the access point's channel is 20 MHz wide, and so is the station's."
                )
            }
        }
    }

    /// Says what to do for the rate to take effect, or what to mind where it does.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        let RateRequest { mode, call, chip, release, .. } = self.request;
        let peer = RateCall::Peer.function();
        let at = |call: RateCall| {
            format!("call {} after esp_wifi_start and esp_now_init", call.function())
        };
        Some(match self.reason {
            RateReason::Default | RateReason::NoCall => return None,
            RateReason::Set => match mode {
                WifiMode::Ht(Ht { width: ChannelWidth::Mhz40, .. }) => {
                    "esp_wifi_set_bandwidth to 40 MHz and a second channel come before it, at the peer, too".into()
                }
                WifiMode::He(he) if he.is_extended() || he.dcm() => {
                    "its phymode is WIFI_PHY_MODE_HE20, and esp_now_rate_config_t has the flags ersu and dcm for it".into()
                }
                _ if call == RateCall::Peer => {
                    "its phymode must be that of the rate, and esp_now_add_peer comes before it".into()
                }
                _ => return None,
            },
            // A firmware before v5.1 has the other call, unless the chip has Wi-Fi 6.
            RateReason::NotAsked if !release.from(PEER_FROM.0, PEER_FROM.1) => at(RateCall::Interface),
            RateReason::NotAsked | RateReason::Gone | RateReason::WiFi6 => at(RateCall::Peer),
            RateReason::NotYet => match chip.is_some_and(Chip::he) {
                true => format!("take ESP-IDF v5.1 or later, which has {peer}"),
                false => format!("{}, or take ESP-IDF v5.1", at(RateCall::Interface)),
            },
            RateReason::NotOfChip => match mode {
                WifiMode::He(_) => "ask for HT20-MCS7, or take an esp32c5, esp32c6 or esp32c61".into(),
                WifiMode::Lr(_) => "ask for 1M, or take a chip with Long Range, such as an esp32".into(),
                _ => "ask for a mode of 20 MHz: HT20-MCS7".into(),
            },
            RateReason::NotInBand => "ask for 6M, or take a channel from 1 to 14".into(),
            RateReason::NoName => {
                "ask for a guard interval of 0.8 us (-SGI) or 1.6 us, and all 242 tones: HE20-ER-MCS0".into()
            }
            RateReason::NarrowChannel => "ask for HT20, or set the access point to 40 MHz".into(),
        })
    }
}

impl PredictAnswer {
    /// Returns the answer in sentences: which rate is on the air, and what it costs against the default.
    pub(super) fn on_air(&self, force: &RateInForce) -> Vec<String> {
        let of = |mode: WifiMode| {
            let name = mode.to_string();
            self.points.iter().find(|it| it.setting.rate == name)
        };
        let mut lines = alloc::vec![force.sentence()];
        let (default, wanted) = (of(force.request.usual), of(force.request.mode));
        let is_other = force.request.mode != force.request.usual;
        lines.extend(
            default.zip(wanted).filter(|_| is_other).map(|(old, new)| cost(force, old, new)),
        );
        lines
    }

    /// Returns the rate in force, where that was the question.
    #[must_use]
    pub const fn rate_in_force(&self) -> Option<&RateInForce> {
        match &self.question {
            PredictQuestion::OnAir(force) => Some(force),
            _ => None,
        }
    }
}

/// Says what a rate costs and gains against the default.
fn cost(force: &RateInForce, old: &PointEstimates, new: &PointEstimates) -> String {
    let would = if force.takes_effect() { "takes" } else { "would take" };
    let air = |it: &PointEstimates| digits::three(it.setting.air_us);
    let mut text = format!(
        "Against {} a frame {would} {} us on the air in place of {}",
        old.setting.rate,
        air(new),
        air(old)
    );
    if let Some((far, before)) = new.setting.range_m.zip(old.setting.range_m) {
        let is_bounded = [new, old].map(|it| it.setting.range_is_bounded);
        let shown = |metres: f64, is_bounded: bool| {
            if is_bounded { metres_of(metres) } else { range_words(metres, false) }
        };
        let (far, before) = (shown(far, is_bounded[0]), shown(before, is_bounded[1]));
        text += &match is_bounded {
            [false, false] => format!("; its range is {far} m in place of {before} m"),
            [false, true] => format!(
                "; its range is {far} m, and that of {} is not known beyond {before} m",
                old.setting.rate
            ),
            [true, false] => {
                format!("; its range is not known beyond {far} m, in place of {before} m")
            }
            [true, true] => format!("; no range is known beyond {far} m"),
        };
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(mode: &str, call: RateCall, chip: Chip, release: (u8, u8)) -> RateRequest {
        RateRequest {
            mode: mode.parse().unwrap(),
            call,
            chip: Some(chip),
            is_sent: true,
            is_in_band: true,
            usual: WifiMode::ESP_NOW,
            release: IdfRelease::new(release.0, release.1),
            ap: ApChannel::None,
            is_broadcast: false,
        }
    }

    #[test]
    fn each_reason_has_its_rate_and_its_way_out() {
        use RateCall::{Interface, Nothing, Peer};
        use RateReason as R;
        let c3 = Chip::Esp32c3;
        for (request, reason, remedy) in [
            (request("24M", Peer, c3, (5, 1)), R::Set, "phymode"),
            (request("24M", Interface, c3, (4, 4)), R::Set, ""),
            (request("1M", Nothing, c3, (5, 1)), R::Default, ""),
            (
                request("24M", Nothing, c3, (5, 1)),
                R::NotAsked,
                "esp_now_set_peer_rate_config after",
            ),
            (request("24M", Nothing, c3, (4, 4)), R::NotAsked, "esp_wifi_config_espnow_rate after"),
            (request("24M", Peer, c3, (5, 0)), R::NotYet, "esp_wifi_config_espnow_rate after"),
            (request("24M", Peer, Chip::Esp32c6, (5, 0)), R::NotYet, "take ESP-IDF v5.1"),
            (request("24M", Interface, c3, (6, 0)), R::Gone, "esp_now_set_peer_rate_config"),
            (request("24M", Interface, Chip::Esp32c6, (5, 2)), R::WiFi6, "esp_now_set_peer"),
            (
                RateRequest { is_sent: false, ..request("HT40-MCS0", Peer, Chip::Esp32c2, (5, 2)) },
                R::NotOfChip,
                "HT20",
            ),
            (
                RateRequest { ap: ApChannel::Mhz20, ..request("HT40-MCS0", Peer, c3, (5, 2)) },
                R::NarrowChannel,
                "40 MHz",
            ),
            (
                RateRequest { ap: ApChannel::Mhz40, ..request("HT40-MCS0", Peer, c3, (5, 2)) },
                R::Set,
                "second channel",
            ),
            (request("HE20-MCS9-SGI", Peer, Chip::Esp32c5, (5, 5)), R::Set, "phymode"),
            (request("HE20-ER-MCS0", Peer, Chip::Esp32c61, (5, 5)), R::Set, "flags ersu and dcm"),
            (request("LR-250K", Peer, c3, (5, 2)), R::Set, "phymode"),
            (
                RateRequest { is_sent: false, ..request("HE20-MCS0", Peer, c3, (5, 2)) },
                R::NotOfChip,
                "esp32c5, esp32c6 or esp32c61",
            ),
            (
                RateRequest { is_sent: false, ..request("LR-250K", Peer, Chip::Esp32c2, (5, 2)) },
                R::NotOfChip,
                "Long Range",
            ),
            (
                RateRequest { is_in_band: false, ..request("11M", Peer, Chip::Esp32c5, (5, 5)) },
                R::NotInBand,
                "ask for 6M",
            ),
            (request("HE20-MCS0-GI3.2", Peer, Chip::Esp32c6, (5, 5)), R::NoName, "-SGI"),
            (request("HE20-ER106-MCS0", Peer, Chip::Esp32c6, (5, 5)), R::NoName, "HE20-ER-MCS0"),
            (RateRequest { chip: None, ..request("6M", Interface, c3, (5, 2)) }, R::NoCall, ""),
        ] {
            let force = request.in_force();
            assert_eq!(force.reason, reason, "{request:?}");
            let is_set = matches!(reason, R::Set | R::Default);
            assert_eq!(force.takes_effect(), is_set, "{request:?}");
            assert_eq!(force.on_air == WifiMode::ESP_NOW, reason != R::Set, "{request:?}");
            assert_eq!(force.sentence().contains("does not take effect"), !is_set, "{request:?}");
            let told = force.remedy().unwrap_or_default();
            assert_eq!(told.is_empty(), remedy.is_empty(), "{told}");
            assert!(told.contains(remedy), "{told}");
        }
        let all = RateRequest { is_broadcast: true, ..request("6M", Peer, c3, (5, 2)) };
        assert!(all.in_force().sentence().contains("FF:FF"));
    }
}
