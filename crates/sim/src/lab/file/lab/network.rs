//! Routers and the PC of a lab.

use super::super::wrong::FileError;
use super::build::{Build, NOTHING};
use super::keys::{OF_BEACONS, ROUTER};
use super::layer::{Layer, Layers, ROUTER_TABLE};
use crate::lab::scene::{AccessPoint, Delay, Dongle, Gather, Pc, PcLink, Point, Router};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::{ChannelWidth, GuardInterval, Mcs, WifiMode};
use espbench_dot11::wifi::DataRates;

/// The name of the router of `[access_point]`.
const FIRST_ROUTER: &str = "access point";

impl Build<'_> {
    /// Returns the router of `[access_point]`, and those beside it on the LAN.
    pub(super) fn access_points(&self, layers: Layers<'_>) -> Result<Vec<AccessPoint>, FileError> {
        let mut all = vec![self.access_point(layers, FIRST_ROUTER)?];
        for name in layers.parts(ROUTER_TABLE) {
            let part = layers.part(ROUTER_TABLE, name);
            if self.only_sends_beacons(&part) {
                continue;
            }
            let layer = layers.router(name);
            let own = Layers { variant: &layer, lab: &NOTHING };
            if name == FIRST_ROUTER {
                let message = format!("`name`: `{name}` is the router of [access_point]");
                return Err(self.wrong(own, ROUTER_TABLE, "name", message));
            }
            if let Some(it) = ["password", "beacon_octets"]
                .into_iter()
                .find(|key| own.find(ROUTER_TABLE, key).is_some())
            {
                return Err(self.wrong(
                    own,
                    ROUTER_TABLE,
                    it,
                    format!("`{it}`: it needs an `ssid`"),
                ));
            }
            all.push(self.access_point(own, name)?);
        }
        Ok(all)
    }

    /// Returns whether a router is on no LAN: it sends beacons, and nodes join it.
    fn only_sends_beacons(&self, router: &Layer) -> bool {
        self.is_of_nodes() || router.find(ROUTER_TABLE, "ssid").is_some()
    }

    /// Returns the routers that only send beacons.
    pub(super) fn beacons(&self, layers: Layers<'_>) -> Result<Vec<Router>, FileError> {
        let mut all = Vec::new();
        for name in layers.parts(ROUTER_TABLE) {
            let layer = layers.part(ROUTER_TABLE, name);
            if self.only_sends_beacons(&layer) {
                all.push(self.beacon_router(Layers { variant: &layer, lab: &NOTHING }, name)?);
            }
        }
        Ok(all)
    }

    fn beacon_router(&self, own: Layers<'_>, name: &str) -> Result<Router, FileError> {
        const TABLE: &str = ROUTER_TABLE;
        if let Some(it) = own.variant.values.iter().find(|it| !OF_BEACONS.contains(&it.key)) {
            let message = format!("`{}`: a router with an `ssid` has none", it.key);
            return Err(self.wrong(own, TABLE, it.key, message));
        }
        let ssid = self.must(own, "ssid", own.text(TABLE, "ssid"))?;
        if ssid.len() > 32 {
            let message = "`ssid`: an SSID has at most 32 bytes (IEEE 802.11-2020, 9.4.2.2)";
            return Err(self.wrong(own, TABLE, "ssid", message));
        }
        let password = self.must(own, "password", own.text(TABLE, "password"))?;
        if !(8..=63).contains(&password.len()) {
            let message = "`password`: a WPA2 password has 8 to 63 bytes";
            return Err(self.wrong(own, TABLE, "password", message));
        }
        let number = |key, usual| own.number(TABLE, key).unwrap_or(usual);
        Ok(Router {
            name: name.into(),
            ssid: ssid.into(),
            password: password.into(),
            at: self.must(own, "at", own.place(TABLE, "at"))?,
            channel: self.must(own, "channel", own.number(TABLE, "channel"))? as u8,
            power_dbm: number("power_dbm", 20.0),
            beacon: us(number("beacon_ms", 102.4) * 1e3),
            beacon_octets: number("beacon_octets", 250.0) as u32,
        })
    }

    /// Returns a value that such a router must have.
    fn must<T>(&self, own: Layers<'_>, key: &str, value: Option<T>) -> Result<T, FileError> {
        value.ok_or_else(|| {
            let is = ROUTER.iter().find(|it| it.name == key).map(|it| it.is);
            let is = is.map(|it| format!(": give {it}")).unwrap_or_default();
            self.wrong(own, ROUTER_TABLE, key, format!("`{key}` is missing here{is}"))
        })
    }

    fn access_point(&self, layers: Layers<'_>, name: &str) -> Result<AccessPoint, FileError> {
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
            burst: us(number("burst_us", 0.0)),
            beacon: us(number("beacon_ms", 102.4) * 1e3),
            dtim: number("dtim", 1.0) as u8,
            queue: number("queue", 256.0) as u16,
            multicast_buffer: Some(number("multicast_buffer", 128.0) as u16).filter(|it| *it > 0),
            forward: delay(layers, TABLE, "forward_us", "forward_random_us", 50.0),
            gather: Gather {
                after: us(number("gather_us", 0.0)),
                most: number("gather_frames", 1000.0) as u16,
            },
        })
    }

    /// Returns the other end of the tests.
    pub(super) fn pc(
        &self,
        layers: Layers<'_>,
        router: Option<&AccessPoint>,
    ) -> Result<Pc, FileError> {
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

    /// Checks that rates are slow first, and that none is wider than the channel.
    pub(super) fn rising(
        &self,
        layers: Layers<'_>,
        table: &str,
        rates: &[WifiMode],
        width: ChannelWidth,
    ) -> Result<(), FileError> {
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

pub(super) const WIDTH: [ChannelWidth; 2] = [ChannelWidth::Mhz20, ChannelWidth::Mhz40];

/// Returns all rates of a width, slow first, with the short guard interval at the end.
pub(super) fn every(width: ChannelWidth) -> Vec<WifiMode> {
    let mut modes: Vec<WifiMode> =
        Mcs::ALL.iter().map(|&mcs| WifiMode::ht(mcs, width, GuardInterval::Long)).collect();
    modes.push(WifiMode::ht(Mcs::Mcs7, width, GuardInterval::Short));
    modes
}

/// Returns the choice among these modes.
pub(super) fn chosen(modes: Vec<WifiMode>) -> DataRates {
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

/// Returns a time of so many microseconds.
pub(super) fn us(us: f64) -> Duration {
    Duration::from_nanos(libm::rint(us * 1e3) as u64)
}
