//! A lab with variants, as tables: what each variant is, and what its firmware is set to.

use super::super::output;
use espbench_dot11::wifi::{DataRates, PowerSave};
use espbench_measure::table::Column;
use espbench_model::sdkconfig::{ConfigOption, OptionValues};
use espbench_sim::lab::file::{self, Library};
use espbench_sim::lab::scene::{
    AccessPoint, HeardAccessPoints, NetDevice, NetRole, PcLink, Point, Scene,
};

/// Describes a lab with variants: its rooms, and the settings of its firmware.
///
/// # Errors
/// A variant is wrong, or names what is not here.
pub(super) fn text(library: &Library, lab: &str, seed: u64) -> Result<String, file::FileError> {
    let scenes = scenes(library, lab)?;
    let title = library.title(file::FileKind::Lab, lab).unwrap_or_default();
    let mut out = format!("lab {lab}: {title}\n\n");
    out += &output::table(&rooms(&scenes));
    for scene in scenes.iter().filter(|it| chooses(it)) {
        out += &format!("\n{}: access points, and the stations that join them\n", scene.variant);
        out += &output::table(&access_points(scene));
        out += &format!("\n{}", output::table(&places(scene, seed)));
        out += &format!(
            "Shadowing of seed {seed}. Each cell of a run has a seed of its own; its report has its stations.\n"
        );
    }
    let firmware = firmware(&scenes);
    if !firmware.rows.is_empty() {
        out += &format!("\n{}", output::table(&firmware));
    }
    out += "\nSettings that a firmware does not name have ESP-IDF's defaults.\n";
    Ok(out)
}

fn scenes(library: &Library, lab: &str) -> Result<Vec<Scene>, file::FileError> {
    library.variants(lab).iter().map(|it| library.variant_scene(lab, it)).collect()
}

/// Returns whether it is told which stations join which access point, which the seed decides.
///
/// # Errors
/// A variant is wrong, or names what is not here.
pub(super) fn has_places(library: &Library, lab: &str) -> Result<bool, file::FileError> {
    scenes(library, lab).map(|all| all.iter().any(chooses))
}

/// Returns whether a room has several stations of access points.
fn chooses(scene: &Scene) -> bool {
    scene.devices.len() > 1 && !scene.access_points.is_empty()
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

fn coordinates(at: Point) -> [String; 3] {
    [at.x, at.y, at.z].map(|it| format!("{it:.1}"))
}

/// Returns the table of a lab's access points.
fn access_points(scene: &Scene) -> espbench_measure::table::Table {
    let columns = vec![
        Column::words("access point"),
        Column::setting("x", "m"),
        Column::setting("y", "m"),
        Column::setting("z", "m"),
        Column::setting("channel", ""),
        Column::setting("power", "dBm"),
    ];
    let row = |it: &AccessPoint| {
        let rest = [it.channel.to_string(), it.power_dbm.to_string()];
        [vec![it.name.clone()], coordinates(it.at).into(), rest.into()].concat()
    };
    super::table("access-points", "", columns, scene.access_points.iter().map(row).collect())
}

/// Returns the table of a lab's devices: their places, how each access point arrives there, and which they join.
fn places(scene: &Scene, seed: u64) -> espbench_measure::table::Table {
    let mut columns = vec![
        Column::words("station"),
        Column::setting("x", "m"),
        Column::setting("y", "m"),
        Column::setting("z", "m"),
    ];
    let rssi = |it: &AccessPoint| Column::setting(&format!("RSSI of {}", it.name), "dBm");
    columns.extend(scene.access_points.iter().map(rssi));
    columns.push(Column::words("joins"));
    let row = |(device, heard): (&NetDevice, HeardAccessPoints)| {
        let joins = heard.joins.and_then(|it| scene.access_points.get(usize::from(it)));
        let dbm = heard.rssi_dbm.iter().map(|it| format!("{it:.0}")).collect();
        let name = joins.map_or_else(String::new, |it| it.name.clone());
        [vec![device.name.clone()], coordinates(device.at).into(), dbm, vec![name]].concat()
    };
    let rows = scene.devices.iter().zip(scene.heard_access_points(seed)).map(row);
    super::table("stations", "", columns, rows.collect())
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
        insta::assert_snapshot!(text(&Library::built_in(), "shield-box", 1).unwrap());
    }

    #[test]
    fn stations_are_told_with_their_places_and_what_they_hear() {
        let shown = text(&Library::built_in(), "forty-stations", 1).unwrap();
        let part = shown.split("40-on-3-channels: access points").nth(1).unwrap();
        let lines: Vec<Vec<&str>> =
            part.lines().map(|line| line.split_whitespace().collect()).collect();
        let row = |name: &str| lines.iter().find(|it| it.first() == Some(&name)).unwrap();
        assert_eq!(row("east")[1..5], ["6.0", "5.0", "3.0", "6"]);
        let stations = lines.iter().skip_while(|it| it.first() != Some(&"station")).skip(2);
        let stations: Vec<_> = stations.take_while(|it| it[0] == "device").collect();
        assert_eq!(stations.len(), 40);
        for station in stations {
            let dbm: Vec<f64> = station[5..8].iter().map(|it| it.parse().unwrap()).collect();
            let strongest = dbm.iter().copied().fold(f64::MIN, f64::max);
            let joined = ["access", "east", "south"].iter().position(|it| *it == station[8]);
            assert!(dbm[joined.unwrap()] >= strongest - 1.0, "{station:?}");
        }
    }
}
