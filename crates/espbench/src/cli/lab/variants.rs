//! A lab with variants, as tables: what each variant is, and what its firmware is set to.

use crate::render::text;
use espbench_dot11::wifi::{DataRates, PowerSave};
use espbench_measure::table::Column;
use espbench_model::sdkconfig::{ConfigOption, OptionValues};
use espbench_sim::lab::file::{self, Library};
use espbench_sim::lab::scene::{NetRole, PcLink, Scene};

/// Describes a lab with variants: its rooms, and the settings of its firmware.
///
/// # Errors
/// A variant is wrong, or names what is not here.
pub(super) fn text(library: &Library, lab: &str) -> Result<String, file::FileError> {
    let names = library.variants(lab);
    let scenes: Vec<Scene> =
        names.iter().map(|it| library.variant_scene(lab, it)).collect::<Result<_, _>>()?;
    let title = library.title(file::FileKind::Lab, lab).unwrap_or_default();
    let mut out = format!("lab {lab}: {title}\n\n");
    out += &text::table(&rooms(&scenes));
    out.push('\n');
    out += &text::table(&firmware(&scenes));
    out += "\nSettings that a firmware does not name have ESP-IDF's defaults.\n";
    Ok(out)
}

/// Returns the table of the devices, with the room around them.
fn rooms(scenes: &[Scene]) -> espbench_measure::table::Table {
    let columns = ["variant", "device", "sends", "sleep", "router", "pc", "security", "place"];
    let row = |scene: &Scene| {
        let device = &scene.devices[0];
        let role = match device.role {
            NetRole::Station => "station",
            NetRole::SoftAp => "access point",
            NetRole::Alone => "in no network",
        };
        let router = scene.access_points.first().map_or_else(String::new, |it| {
            format!("{}, A-MPDU {}, DTIM {}", rates(&it.rates), it.ampdu, it.dtim)
        });
        let router = match &scene.access_points[..] {
            [] | [_] => router,
            all => {
                let channels: Vec<String> = all.iter().map(|it| it.channel.to_string()).collect();
                format!("{} on channels {}; {router}", all.len(), channels.join(", "))
            }
        };
        let pc = match scene.pc.as_ref().map(|it| &it.link) {
            None => String::new(),
            Some(PcLink::Wire { .. }) => "wire".into(),
            Some(PcLink::Air(it)) => format!("air, {}", rates(&it.rates)),
        };
        vec![
            scene.variant.clone(),
            devices(scene, role),
            rates(&device.rates),
            sleep(scene),
            router,
            pc,
            scene.columns.security.clone(),
            scene.columns.environment.clone(),
        ]
    };
    let columns = columns.into_iter().map(Column::words).collect();
    super::table("variants", "", columns, scenes.iter().map(row).collect())
}

/// Describes the measured devices, and counts the others.
fn devices(scene: &Scene, role: &str) -> String {
    let profile = &scene.devices[0].profile;
    let first = format!("{} {} MHz, {role}", profile.name, profile.processor.clock_mhz);
    let measured = match scene.measured {
        1 => first,
        count => format!("{count} × {first}"),
    };
    match scene.nodes.len() + scene.devices.len() - usize::from(scene.measured) {
        0 => measured,
        others => format!("{measured}; {others} beside it"),
    }
}

fn rates(rates: &DataRates) -> String {
    match rates {
        DataRates::Fixed(mode) => mode.to_string(),
        DataRates::Adaptive(modes) => {
            modes.last().map(|it| format!("up to {it}")).unwrap_or_default()
        }
    }
}

fn sleep(scene: &Scene) -> String {
    let device = &scene.devices[0];
    let mut words = Vec::new();
    match device.sleep {
        PowerSave::None => {}
        PowerSave::MinModem => words.push("min modem".into()),
        PowerSave::MaxModem { listen_interval } => {
            words.push(format!("max modem, {listen_interval}"))
        }
    }
    if let Some(it) = device.connectionless {
        words.push(format!("window {} of {} ms", it.window.as_millis(), it.interval.as_millis()));
    }
    if device.light_sleep.is_some() {
        words.push("light sleep".into());
    }
    words.join("; ")
}

/// Returns the table of the settings that some variant names.
fn firmware(scenes: &[Scene]) -> espbench_measure::table::Table {
    let named =
        |key: &ConfigOption| scenes.iter().any(|it| it.devices[0].settings.get(*key).is_some());
    let keys: Vec<ConfigOption> = ConfigOption::all().filter(named).collect();
    let columns = std::iter::once(Column::words("setting"))
        .chain(scenes.iter().map(|it| Column::setting(&it.variant, "")));
    let rows = keys.iter().map(|key| {
        let value = |settings: &OptionValues| {
            settings.get(*key).map_or_else(String::new, |value| key.text(value).to_string())
        };
        std::iter::once(key.name().trim_start_matches("CONFIG_").to_owned())
            .chain(scenes.iter().map(|it| value(&it.devices[0].settings)))
            .collect()
    });
    super::table("firmware", "", columns.collect(), rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_told_with_their_settings() {
        insta::assert_snapshot!(text(&Library::built_in(), "shield-box").unwrap());
    }
}
