//! Values that a plan sets of a variant, over those of its file.

use super::super::Overrides;
use super::LabFile;
use super::keys::{CLOCK, IDLE_CLOCK};
use super::layer::{DEVICE_TABLE, Entry, Layer, ROUTER_TABLE, Value};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;

/// The tables whose `rates` are those of frames with payload.
const RATES: [&str; 3] = [DEVICE_TABLE, ROUTER_TABLE, "pc"];

impl LabFile {
    /// Returns whether a variant has places for more devices than one.
    pub(in super::super) fn has_places(&self, variant: &str) -> bool {
        self.layers(variant).is_ok_and(|it| it.pattern(DEVICE_TABLE).is_some())
    }

    /// Returns the file with what is set over what one of its variants says. `mode`: that of frames with
    /// payload, where it is set.
    pub(in super::super) fn set(
        &self,
        variant: &str,
        set: &Overrides,
        mode: Option<WifiMode>,
    ) -> Self {
        let mut file = self.clone();
        let mut layers = vec![&mut file.lab];
        let own = file.variants.iter_mut().find(|it| it.0 == variant);
        let Some((_, own)) = own else { return file };
        layers.push(own);
        for layer in layers {
            // What would hold against the plan's.
            layer.values.retain(|it| !holds_against(it, set));
            if mode.is_some() {
                for part in layer.parts.iter_mut().filter(|it| it.table == ROUTER_TABLE) {
                    part.layer.values.retain(|it| it.key != "rates");
                }
            }
        }
        if let Some((_, own)) = file.variants.iter_mut().find(|it| it.0 == variant) {
            own.put_over(&layer(set, mode, own.start));
        }
        file
    }
}

/// Returns whether a value says the same as one that is set, in another way: where the device stands, or
/// how results name the environment.
fn holds_against(it: &Entry, set: &Overrides) -> bool {
    match (it.table, it.key) {
        (DEVICE_TABLE, "at") => set.distance_m.is_some(),
        ("", "column_environment") => set.environment.is_some(),
        _ => false,
    }
}

/// Returns what is set as a layer of a file.
fn layer(set: &Overrides, mode: Option<WifiMode>, start: usize) -> Layer {
    let text = |it: &Option<String>| it.clone().map(Value::Text);
    let number = |it: Option<f64>| it.map(Value::Number);
    let modes = || mode.map(|mode| Value::Modes([mode].into()));
    let mut values: Vec<Entry> = Vec::new();
    let mut put = |table, key, value: Option<Value>| {
        values.extend(value.map(|value| Entry { table, key, value, at: start }));
    };
    put("", "environment", text(&set.environment));
    put(DEVICE_TABLE, "profile", text(&set.profile));
    put(DEVICE_TABLE, "power_dbm", number(set.power_dbm));
    put(DEVICE_TABLE, CLOCK, number(set.clock_mhz.map(f64::from)));
    put(DEVICE_TABLE, IDLE_CLOCK, number(set.idle_clock_mhz.map(f64::from)));
    put(DEVICE_TABLE, "count", number(set.devices.map(f64::from)));
    put(DEVICE_TABLE, "distance_m", number(set.distance_m.map(|it| it.0)));
    put(DEVICE_TABLE, "esp_now_mode", modes());
    for table in RATES {
        put(table, "rates", modes());
    }
    let sdk = set.sdkconfig.given().map(|(option, value)| (option, value, start)).collect();
    Layer { values, sdk, start, ..Layer::NOTHING }
}
