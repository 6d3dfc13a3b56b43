//! `--what-if [DEVICE:]KEY=VALUE@TIME`: what is changed while the lab runs, and how it is written.

use espbench_dot11::wifi::PowerSave;
use espbench_measure::units;
use espbench_sim::lab::live::WhatIf;
use std::time::Duration;

/// Listen interval of `max`, in beacons: the default of ESP-IDF.
const LISTEN_INTERVAL: u16 = 3;

/// Example in errors.
const EXAMPLE: &str = "loss=10%@5s, device:distance=20m@5s, load=30%@5s, sleep=none@5s";

/// A change, at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WhatIfAt {
    pub(super) device: Option<String>,
    pub(super) what: WhatIf,
    pub(super) at: Duration,
}

impl WhatIfAt {
    /// Returns whether it is the load of others.
    pub(super) const fn is_load(&self) -> bool {
        matches!(self.what, WhatIf::Load(_))
    }
}

/// Returns the key and the value of a change, as they are told.
pub(super) fn key_and_value(what: WhatIf) -> (&'static str, String) {
    match what {
        WhatIf::Loss(share) => ("loss", format!("{:.4} %", share * 100.0)),
        WhatIf::Load(share) => ("load", format!("{:.4} %", share * 100.0)),
        WhatIf::Distance(metres) => ("distance", format!("{metres} m")),
        WhatIf::Sleep(PowerSave::None) => ("sleep", "none".into()),
        WhatIf::Sleep(PowerSave::MinModem) => ("sleep", "min".into()),
        WhatIf::Sleep(PowerSave::MaxModem { .. }) => ("sleep", "max".into()),
    }
}

/// Parses `[DEVICE:]KEY=VALUE@TIME`.
pub(crate) fn what_if(text: &str) -> Result<WhatIfAt, String> {
    let wrong = || format!("write {EXAMPLE}");
    let (change, at) = text.rsplit_once('@').ok_or_else(wrong)?;
    let (place, value) = change.split_once('=').ok_or_else(wrong)?;
    let (device, key) = match place.split_once(':') {
        Some((device, key)) => (Some(device.to_owned()), key),
        None => (None, place),
    };
    let what = parse(key, value).map_err(|why| format!("{why}; {}", wrong()))?;
    Ok(WhatIfAt { device, what, at: units::seconds(at)? })
}

/// Parses a key and its value.
pub(super) fn parse(key: &str, value: &str) -> Result<WhatIf, String> {
    match key.trim() {
        "loss" => share(value).map(WhatIf::Loss),
        "load" => share(value).map(WhatIf::Load),
        "distance" => {
            let text = value.trim().trim_end_matches('m').trim_end();
            let metres = text.parse::<f64>().ok().filter(|it| (0.1..=100_000.0).contains(it));
            let wrong = || format!("`{value}` is no distance from 0.1 to 100000 m");
            metres.map(WhatIf::Distance).ok_or_else(wrong)
        }
        "sleep" => match value.trim() {
            "none" => Ok(WhatIf::Sleep(PowerSave::None)),
            "min" => Ok(WhatIf::Sleep(PowerSave::MinModem)),
            "max" => Ok(WhatIf::Sleep(PowerSave::MaxModem { listen_interval: LISTEN_INTERVAL })),
            other => Err(format!("`{other}` is none of none, min, max")),
        },
        other => Err(format!("`{other}` is none of loss, distance, load, sleep")),
    }
}

fn share(value: &str) -> Result<f64, String> {
    let percent = value.trim().strip_suffix('%').and_then(|it| it.trim().parse::<f64>().ok());
    let percent = percent.filter(|it| (0.0..=100.0).contains(it));
    percent.map(|it| it / 100.0).ok_or_else(|| format!("`{value}` is no share such as 10%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_with_their_units() {
        let it = what_if("device:loss=12.5 %@1.5s").unwrap();
        assert_eq!((it.device.as_deref(), it.what), (Some("device"), WhatIf::Loss(0.125)));
        assert_eq!(it.at, Duration::from_millis(1500));
        assert_eq!(what_if("distance=20m@0s").unwrap().what, WhatIf::Distance(20.0));
        assert_eq!(what_if("sleep=min@0s").unwrap().what, WhatIf::Sleep(PowerSave::MinModem));
        assert!(what_if("load=30%@1s").unwrap().is_load());
        for text in [
            "",
            "loss",
            "loss=10%",
            "loss=10@1s",
            "loss=-1%@1s",
            "loss=101%@1s",
            "load=x%@1s",
            "distance=0@1s",
            "distance=near@1s",
            "sleep=deep@1s",
            "colour=red@1s",
            "loss=1%@x",
        ] {
            assert!(what_if(text).is_err(), "{text}");
        }
    }
}
