//! The numbers of a lab with their origins: for `espbench lab constants`.

use super::super::constant::Notes;
use super::super::document::Constant;
use super::super::environment::PLACE;
use super::super::pattern::Pattern;
use super::LabFile;
use super::layer::{Layer, Value};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::f64::consts::PI;

impl LabFile {
    /// Lists the numbers that the lab states, in the order of its file. Settings of sdkconfig are no
    /// constants: they are what is measured.
    pub(in super::super) fn constants(&self) -> Vec<Constant> {
        let mut list = Vec::new();
        self.of_layer(&self.lab, "", &mut list);
        for (name, layer) in &self.variants {
            self.of_layer(layer, &format!("variant.{name}."), &mut list);
        }
        list
    }

    fn of_layer(&self, layer: &Layer, before: &str, list: &mut Vec<Constant>) {
        for entry in &layer.values {
            let notes = layer.notes.iter().find(|it| it.0 == entry.table).map(|it| &it.1);
            let table = if entry.table.is_empty() { "" } else { "." };
            let key = format!("{before}{}{table}", entry.table);
            for (name, number) in numbers(entry.key, &entry.value) {
                list.push(self.constant(format!("{key}{name}"), entry.key, number, notes));
            }
        }
        for part in &layer.parts {
            let notes = part.layer.notes.first().map(|it| &it.1);
            for entry in &part.layer.values {
                for (name, number) in numbers(entry.key, &entry.value) {
                    let key = format!("{before}{}.{}.{name}", part.table, part.name);
                    list.push(self.constant(key, entry.key, number, notes));
                }
            }
        }
    }

    fn constant(&self, key: String, name: &str, number: f64, notes: Option<&Notes>) -> Constant {
        let own = notes.map(|it| it.of(name, String::new())).filter(|it| it.origin.is_some());
        let source = own.unwrap_or_else(|| self.notes.of(name, String::new()));
        Constant {
            key,
            value: Some(number),
            about: String::new(),
            source: source.text,
            origin: source.origin,
            looked_at: source.looked_at.unwrap_or_default(),
            confidence: source.confidence,
        }
    }
}

/// Returns the numbers of a value, with the ends of their keys.
fn numbers(key: &str, value: &Value) -> Vec<(String, f64)> {
    let named = |pairs: &[(&str, f64)]| pairs.iter().map(|it| (it.0.into(), it.1)).collect();
    let degrees = |radians: f64| radians * 180.0 / PI;
    match value {
        Value::Number(number) => named(&[(key, *number)]),
        Value::Place(at) => PLACE.into_iter().map(String::from).zip([at.x, at.y, at.z]).collect(),
        Value::Pattern(Pattern::Line { step_m, angle }) => {
            named(&[("line.step_m", *step_m), ("line.angle_deg", degrees(*angle))])
        }
        Value::Pattern(Pattern::Grid { step_m, columns }) => {
            let columns = columns.map(|it| ("grid.columns", f64::from(it)));
            let all: Vec<_> = core::iter::once(("grid.step_m", *step_m)).chain(columns).collect();
            named(&all)
        }
        Value::Pattern(Pattern::Ring { radius_m }) => named(&[("ring.radius_m", *radius_m)]),
        Value::Pattern(Pattern::Cluster { least_m, most_m, arc }) => named(&[
            ("cluster.least_m", *least_m),
            ("cluster.most_m", *most_m),
            ("cluster.arc_deg", degrees(*arc)),
        ]),
        Value::Word(_)
        | Value::Text(_)
        | Value::Switch(_)
        | Value::Modes(_)
        | Value::Firmware(_) => Vec::new(),
    }
}
