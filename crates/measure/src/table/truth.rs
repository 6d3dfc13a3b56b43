//! Tables of simulated figures' errors against the published ones.

use super::{Column, Table, TableRow, unit_sign};
use crate::cell::{Identity, Origin};
use crate::digits;
use crate::kind;
use crate::truth::{CellDeviation, CellStanding, GroupErrors, SeedGroup, SeedRange, Truth};
use crate::wifi;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::text::count;

/// The chapter of a report.
pub const SECTION: &str = "truth";

/// Examples of what prints alike in the documents.
const OF_ESP_NOW: &str = "2 ms that the console cut for 2 to 3 ms, 0.01 Mbit/s for 0.005 to 0.015";
const OF_WIFI: &str = "7.2 Mbit/s for 7.15 to 7.25, a best of 40 for 39.5 to 40.5";

/// Cells that a report shows; `--truth` shows all.
pub const FEW: usize = 12;

/// Makes the table of the lab's errors over several seeds; none where they are not known.
#[must_use]
pub fn over_seeds(groups: &[SeedGroup]) -> Option<Table> {
    let seeds = groups.first()?.seeds;
    let row = |it: &SeedGroup| {
        let whole = it.standing.is_none() && it.documents.is_some();
        let target = it.group.target().filter(|_| whole);
        let asked = |sign: &str, part: f64| format!("{sign} {:.0} %", part * 100.0);
        alloc::vec![
            Some(match (it.documents, it.standing) {
                (None, _) => "all means …, fitted ones among them".into(),
                (Some(of), None) => format!("{}: {}", of.words(), it.group.name()),
                (Some(of), Some(standing)) => {
                    format!("{}: means …, {}", of.words(), standing_words(standing))
                }
            }),
            Some(digits::count(it.cells.into())),
            it.median_percent.map(|range| format!("{:.1}", range.mean)),
            it.median_percent.map(|range| ends(range, 1)),
            target.and_then(|it| it.median).map(|part| asked("≤", part)),
            Some(it.group.limit().into()),
            it.within_percent.map(|range| format!("{:.0}", range.mean)),
            it.within_percent.map(|range| ends(range, 0)),
            target.map(|it| asked("≥", it.share)),
        ]
    };
    Some(Table {
        id: "truth-seeds".into(),
        section: SECTION.into(),
        title: format!("The virtual lab against published figures, over {seeds} seeds"),
        columns: alloc::vec![
            Column::words("figures"),
            Column::setting("cells", ""),
            Column::result("median error", "percent", Origin::Simulated),
            Column::result("from–to", "percent", Origin::Simulated),
            Column::setting("target", ""),
            Column::words("limit"),
            Column::result("within it", "percent", Origin::Simulated),
            Column::result("from–to", "percent", Origin::Simulated),
            Column::setting("target", ""),
        ],
        rows: groups.iter().map(row).collect(),
        notes: alloc::vec![
            "Means over the seeds, with the smallest and the largest. Figures that constants were \
             fitted to are left out but in rows that say so; next to fitted ones are those of the next size \
             or the next row of their table. `espbench lab truth` computes this table again."
                .into()
        ],
        ..Table::default()
    })
}

/// Returns what cells of a standing are, in words.
const fn standing_words(standing: CellStanding) -> &'static str {
    match standing {
        CellStanding::Fitted => "fitted",
        CellStanding::Neighbour => "next to fitted ones",
        CellStanding::Independent => "independent of fitted ones",
    }
}

fn ends(range: SeedRange, decimals: usize) -> String {
    let (low, high) = (format!("{:.decimals$}", range.low), format!("{:.decimals$}", range.high));
    if low == high { low } else { format!("{low}–{high}") }
}

/// Returns a sentence for each set of documents: how true the lab is, and where it is worst.
#[must_use]
pub fn sentences(groups: &[SeedGroup]) -> Vec<String> {
    let of_documents = groups.chunk_by(|a, b| a.documents == b.documents);
    of_documents.filter_map(sentence).collect()
}

fn sentence(groups: &[SeedGroup]) -> Option<String> {
    let first = groups.first()?;
    let independent = groups.iter().find(|it| it.standing == Some(CellStanding::Independent));
    let groups = groups.iter().filter(|it| it.standing.is_none());
    let told = |it: &SeedGroup| {
        let (median, within) = (it.median_percent?, it.within_percent?);
        let (mean, range, limit) = (median.mean, ends(median, 1), it.group.limit());
        Some(format!("{mean:.1} % ({range}), {:.0} % within {limit}", within.mean))
    };
    let mut text = format!(
        "How true ({}, {} seeds): median error {}",
        first.documents?.words(),
        first.seeds,
        told(first)?
    );
    let within = |it: &SeedGroup| it.within_percent.map_or(100.0, |range| range.mean);
    if let Some(range) = independent.and_then(|it| it.median_percent) {
        text.push_str(&format!("; independent of fitted cells {:.1} %", range.mean));
    }
    let worst = groups.min_by(|a, b| within(a).total_cmp(&within(b)));
    if let Some(worst) = worst.filter(|it| it.group != first.group)
        && let Some(told) = told(worst)
    {
        text.push_str(&format!("; worst: {}: {told}", worst.group.name()));
    }
    Some(text)
}

/// Makes the table of groups, each with its target and its outcome.
#[must_use]
pub fn groups(truth: &Truth) -> Table {
    let mut rows: Vec<TableRow> = truth.groups.iter().map(|g| row(g.kind.name(), g)).collect();
    if truth.fitted.cells > 0 {
        let fitted = GroupErrors { target: None, held: None, ..truth.fitted.clone() };
        rows.push(row("cells that constants were fitted on", &fitted));
    }
    for it in truth.standings.iter().filter(|it| it.standing != CellStanding::Fitted) {
        rows.push(row(&format!("means …, {}", standing_words(it.standing)), &it.errors));
    }
    Table {
        id: "truth".into(),
        section: SECTION.into(),
        title: "This run against published figures that no constant was fitted to".into(),
        columns: alloc::vec![
            Column::words("cells of"),
            Column::setting("cells", ""),
            Column::result("median error", "percent", Origin::Simulated),
            Column::setting("asked", ""),
            Column::words("within"),
            Column::result("share", "percent", Origin::Simulated),
            Column::setting("asked", ""),
            Column::words("outcome"),
        ],
        rows,
        notes: notes(truth),
        ..Table::default()
    }
}

/// Relabels the table as that of tests over Wi-Fi.
#[must_use]
pub fn of_wifi(table: Table) -> Table {
    Table {
        id: table.id.replace("truth", "truth-wifi"),
        title: format!("{}, over Wi-Fi", table.title),
        notes: table.notes.iter().map(|note| note.replace(OF_ESP_NOW, OF_WIFI)).collect(),
        ..table
    }
}

fn row(name: &str, group: &GroupErrors) -> Vec<Option<String>> {
    let outcome = group.held.map(|held| if held { "held" } else { "NOT HELD" }.to_string());
    let at = |sign: &str, part: f64| format!("{sign} {:.0} %", part * 100.0);
    alloc::vec![
        Some(name.into()),
        Some(digits::count(group.cells.into())),
        group.median.map(|m| format!("{:.1}", m * 100.0)),
        group.target.and_then(|t| t.median).map(|m| at("≤", m)),
        Some(group.kind.limit().into()),
        group.share.map(|s| format!("{:.1}", s * 100.0)),
        group.target.map(|t| at("≥", t.share)),
        outcome,
    ]
}

fn notes(truth: &Truth) -> Vec<String> {
    let mut notes = alloc::vec![format!(
        "A printed value stands for every value that is printed so ({OF_ESP_NOW}). The error is the \
         distance to the nearest of them, and 0 within their range. Ours is compared before it is \
         rounded, where that figure is known."
    )];
    if truth.missing > 0 {
        let are = if truth.missing == 1 { "is" } else { "are" };
        notes.push(format!(
            "{} of the document {are} not in this run.",
            count(truth.missing as usize, "published cell")
        ));
    }
    if truth.other_procedure > 0 {
        notes.push(format!(
            "{} did not follow the document's own procedure (other counts or times): minima and maxima \
             cannot be compared fairly, and counts of packets are left out.",
            count(truth.other_procedure as usize, "cell")
        ));
    }
    notes
}

/// Returns the first sentence of a simulated report: how far it is from the measured figures.
#[must_use]
pub fn headline(truth: &Truth) -> Option<String> {
    let group = truth.groups.first().filter(|g| g.cells > 0)?;
    let (median, share) = (group.median? * 100.0, group.share? * 100.0);
    Some(format!(
        "How true: over {} that nothing was fitted to ({}), the median error is \
         {median:.1} %, and {share:.0} % of them are within {}.",
        count(group.cells as usize, "published cell"),
        group.kind.name(),
        group.kind.limit()
    ))
}

/// Returns the first sentence for tests over Wi-Fi.
#[must_use]
pub fn headline_wifi(truth: &Truth) -> Option<String> {
    headline(truth).map(|line| line.replacen("How true:", "How true over Wi-Fi:", 1))
}

/// Makes a table of cells with their errors, the largest error first; of at most `most` cells.
#[must_use]
pub fn cells(truth: &Truth, most: usize) -> Table {
    let mut table = Table {
        id: "truth-cells".into(),
        section: SECTION.into(),
        title: "Errors of single figures in this run".into(),
        columns: alloc::vec![
            Column::words("cell"),
            Column::words("unit"),
            Column::result("value", "", Origin::Published),
            Column::result("value", "", Origin::Simulated),
            Column::result("error", "percent", Origin::Simulated),
            Column::words("within"),
            Column::words("standing"),
            Column::words("fitted"),
        ],
        rows: truth.rows.iter().take(most).map(cell).collect(),
        ..Table::default()
    };
    if truth.rows.len() > most {
        table.notes.push(format!(
            "The {most} cells that are farthest off; `espbench report --truth` shows all {}.",
            truth.rows.len()
        ));
    }
    table
}

fn cell(row: &CellDeviation) -> Vec<Option<String>> {
    let within = if row.within { "yes" } else { "no" };
    alloc::vec![
        Some(named(&row.id)),
        Some(unit_sign(&row.unit).into()),
        Some(row.published.to_string()),
        Some(digits::plain(row.simulated)),
        row.error.map(|e| format!("{:+.1}", e * 100.0)),
        row.fitted.is_none().then(|| within.into()),
        Some(row.standing.name().into()),
        row.fitted.clone(),
    ]
}

/// Returns a cell in words, such as `round-trip rtt_avg, unicast, 100 B, 3 m`.
fn named(id: &Identity) -> String {
    let mut words = alloc::vec![format!("{} {}", id.table, id.metric)];
    // What a table has only one of needs no word.
    let modes = ["round-trip", "throughput", "multi-device-round-trip"];
    if modes.contains(&id.table.as_str()) {
        words.push(id.mode.clone());
    }
    let kind = kind::named(wifi::kind_of(&id.table));
    words.extend(kind.into_iter().flat_map(|it| it.published_words(id)));
    words.extend(id.payload_bytes.map(|bytes| format!("{bytes} B")));
    words.extend(id.devices.filter(|&n| n > 1).map(|n| format!("{n} devices")));
    words.extend(id.distance_m.map(|d| format!("{d} m")));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_is_no_more_than_one() {
        let notes = |n| notes(&Truth::of(Vec::new(), n, n))[1..].join(" ");
        let one = notes(1);
        assert!(
            one.starts_with("1 published cell of the document is not in this run. 1 cell did not")
        );
        assert!(
            notes(2)
                .starts_with("2 published cells of the document are not in this run. 2 cells did")
        );
    }
}
