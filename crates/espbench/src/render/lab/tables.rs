//! Who is there, and what reaches whom.

use super::Room;
use espbench_measure::table::{Column, Table};
use espbench_model::text::count;
use espbench_sim::lab::survey::{GroupLink, StationGroup, StationKind};

/// Rows of a table: a room of a thousand groups would have a million links.
const MOST_ROWS: usize = 300;

/// Returns all tables that have rows. In text, the first column has the marks of the plan.
pub(super) fn all(room: &Room<'_>, marks: bool) -> Vec<Table> {
    let mut tables = vec![groups(room), routers(room), background(room)];
    for table in &mut tables {
        if !marks {
            table.columns.remove(0);
            table.rows.iter_mut().for_each(|row| drop(row.remove(0)));
        }
    }
    tables.push(links(room));
    tables.retain(|table| !table.rows.is_empty());
    for table in &mut tables {
        let more = table.rows.len().saturating_sub(MOST_ROWS);
        if more > 0 {
            table.rows.truncate(MOST_ROWS);
            table.notes.push(format!("Left out: {}.", count(more, "more row")));
        }
    }
    tables
}

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Table {
    let rows = rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
    Table {
        id: id.into(),
        section: "lab".into(),
        title: title.into(),
        columns,
        rows,
        ..Table::default()
    }
}

/// Parties of a kind with their places in the survey.
fn of<'r>(room: &Room<'r>, kind: StationKind) -> impl Iterator<Item = (usize, &'r StationGroup)> {
    let groups = &room.survey.groups;
    groups.iter().enumerate().filter(move |(_, it)| it.kind == kind)
}

fn metres(group: &StationGroup) -> String {
    let (near, far) = group.away_m;
    if far - near < 0.005 { format!("{near:.2}") } else { format!("{near:.2} to {far:.2}") }
}

fn groups(room: &Room<'_>) -> Table {
    let columns = vec![
        Column::words(""),
        Column::words("group"),
        Column::setting("devices", ""),
        Column::words("profile"),
        Column::setting("away", "m"),
        Column::setting("channel", ""),
        Column::words("mode"),
        Column::setting("power", "dBm"),
        Column::words("encrypted"),
    ];
    let rows = of(room, StationKind::Device).filter_map(|(at, group)| {
        let device = room.scene.nodes.get(group.stations.start as usize)?;
        Some(vec![
            room.mark(at).to_string(),
            group.name.clone(),
            group.stations.len().to_string(),
            device.profile.name.clone(),
            metres(group),
            group.channel.to_string(),
            group.mode.to_string(),
            format!("{:.1}", device.power_dbm()),
            if device.settings.encrypt.enabled { "yes" } else { "no" }.into(),
        ])
    });
    table("groups", "Devices", columns, rows.collect())
}

fn routers(room: &Room<'_>) -> Table {
    let columns = vec![
        Column::words(""),
        Column::words("router"),
        Column::words("SSID"),
        Column::setting("channel", ""),
        Column::setting("away", "m"),
        Column::setting("power", "dBm"),
    ];
    let rows = of(room, StationKind::Router).zip(&room.scene.routers).map(|((at, group), it)| {
        vec![
            room.mark(at).to_string(),
            it.name.clone(),
            it.ssid.clone(),
            it.channel.to_string(),
            metres(group),
            it.power_dbm.to_string(),
        ]
    });
    table("routers", "Routers", columns, rows.collect())
}

fn background(room: &Room<'_>) -> Table {
    let stations = &room.scene.background;
    let columns = vec![
        Column::words(""),
        Column::words("station"),
        Column::setting("channel", ""),
        Column::setting("away", "m"),
        Column::setting("frames", "1/s"),
        Column::setting("burst", ""),
        Column::setting("octets", ""),
        Column::words("mode"),
        Column::words("to"),
    ];
    let rows = of(room, StationKind::Background).zip(stations).map(|((at, group), it)| {
        let to = it.to.and_then(|to| stations.get(usize::from(to)));
        vec![
            room.mark(at).to_string(),
            it.name.clone(),
            it.channel.to_string(),
            metres(group),
            it.rate.to_string(),
            it.burst.to_string(),
            it.octets.to_string(),
            it.mode.to_string(),
            to.map_or("all", |to| to.name.as_str()).into(),
        ]
    });
    table("background", "Other people’s stations", columns, rows.collect())
}

fn links(room: &Room<'_>) -> Table {
    let columns = vec![
        Column::words("from"),
        Column::words("to"),
        Column::setting("strongest", "dBm"),
        Column::setting("weakest", "dBm"),
        Column::setting("pairs", ""),
        Column::words("cannot be read"),
    ];
    let groups = &room.survey.groups;
    let rows = room.survey.between.iter().map(|it| {
        vec![
            groups[it.from].name.clone(),
            groups[it.to].name.clone(),
            format!("{:.0}", it.strongest_dbm),
            format!("{:.0}", it.weakest_dbm),
            it.pairs.to_string(),
            unread(&groups[it.from], &groups[it.to], it),
        ]
    });
    table("links", "What arrives", columns, rows.collect())
}

fn unread(from: &StationGroup, to: &StationGroup, it: &GroupLink) -> String {
    match it.unread {
        0 => "-".into(),
        all if all == it.pairs && from.channel != to.channel => "on another channel".into(),
        all if all == it.pairs => "by nobody".into(),
        some => format!("in {some} pairs"),
    }
}
