//! The answer of a prediction in a few lines, for a terminal: at most 25.

use super::figures::figure;
use super::glance::{Colours, Screen, WIDTH, titled};
use super::{GAP, blocks, tame, width, wrap};
use anstyle::Style;
use espbench_measure::digits;
use espbench_measure::predict::card::{EnergyBudget, PredictionRow, QuestionKind, RowStanding};
use espbench_measure::predict::frames::FramesRow;
use espbench_measure::predict::point::DistanceRow;
use espbench_measure::predict::{Prediction, over_places};
use espbench_measure::report::{GlanceValue, Report};
use espbench_model::energy::EnergyPart;
use espbench_model::text::count;
use std::fmt::Write as _;

/// Rows of a table at most.
const ROWS: usize = 12;

/// Rows at most where the charge of a battery stands below them.
const ROWS_ABOVE_CHARGE: usize = 7;

/// Column of how busy the channel is.
const BUSY: usize = 3;

/// Rows of divisions of a message at most.
const FRAME_ROWS: usize = 16;

/// Rows at most where distances stand below them.
const ROWS_ABOVE_DISTANCES: usize = 5;

/// Renders the card for a screen.
#[must_use]
pub fn render(report: &Report, card: &Prediction, screen: Screen) -> String {
    let mut out = String::new();
    let colours = Colours::new(screen.coloured);
    title(&mut out, card, report, screen);
    let (columns, most) = (screen.width(), screen.most());
    let marked = |out: &mut String, style, mark: &str, text: &str| {
        marked(out, (style, mark), text, columns);
    };
    if !report.overridden.is_empty() {
        let text = format!("this question sets {}", report.overridden.join(", "));
        marked(&mut out, colours.warning, "!", &text);
    }
    if let Some(verdict) = &card.verdict {
        marked(&mut out, Style::new(), "", verdict);
    }
    let shown = rows_shown(card);
    match card.rows.as_slice() {
        [] if card.frames.is_empty() => {}
        [] => frames(&mut out, card, colours, most),
        [only] if card.question != QuestionKind::Range => {
            row_of(&mut out, &figures(only), screen.width());
        }
        _ => table(&mut out, card, &shown, colours, most),
    }
    if has_open_interval(card, &shown) {
        marked(&mut out, colours.faint, "", digits::ONE_END);
    }
    distances(&mut out, card, colours, most);
    if let Some(energy) = &card.energy {
        for (head, text) in energy_lines(energy) {
            marked(&mut out, colours.faint, head, &text);
        }
    }
    for (head, text) in limits(card) {
        marked(&mut out, Style::new(), &format!("{head}:"), &text);
    }
    if let Some(next) = &card.next {
        marked(&mut out, Style::new(), "Next:", next);
    }
    for warning in &card.warnings {
        marked(&mut out, colours.warning, "!", warning);
    }
    let faint = colours.faint;
    let (whole, page) = (super::whole(), super::as_page());
    let _ = writeln!(out, "  {faint}all tables: {whole}   as a page: {page}{faint:#}");
    out
}

/// Says what limits it: by which part, and of what.
pub(super) fn limits(card: &Prediction) -> Vec<(&'static str, String)> {
    card.limited_by.iter().map(|it| ("Limited by", it.words())).collect()
}

/// Writes the fleet and its place, and that all is simulated.
fn title(out: &mut String, card: &Prediction, report: &Report, screen: Screen) {
    let badge = report.run.origin.name().to_uppercase();
    let colours = Colours::new(screen.coloured);
    *out += &titled(&tame(&card.title), &badge, colours, screen.width(), screen.most());
}

/// Writes a sentence behind a mark, in as many lines as it takes.
fn marked(out: &mut String, (style, mark): (Style, &str), text: &str, columns: usize) {
    let indent = if mark.is_empty() { 2 } else { width(mark) + 3 };
    for (number, line) in wrap(text, columns - indent).iter().enumerate() {
        let _ = match (number, mark) {
            (_, "") => writeln!(out, "  {style}{line}{style:#}"),
            (0, mark) => writeln!(out, "  {style}{mark}{style:#} {line}"),
            _ => writeln!(out, "{:indent$}{line}", ""),
        };
    }
}

/// Says how long the battery lasts, and what the charge goes to: heads and sentences.
pub(super) fn energy_lines(energy: &EnergyBudget) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut current = match &energy.mean_ma {
        Some(it) => format!("{} each, as the chip draws it", in_two_digits(it, "mA")),
        None => "unknown".into(),
    };
    if let (Some(days), Some(battery)) = (&energy.life_days, &energy.battery) {
        let mut text = in_two_digits(days, "days");
        if let Some(sooner) = energy.weakest_sooner_percent() {
            text.push_str(&format!(
                "; one device in 20 draws more and is empty {} % sooner",
                digits::two(sooner)
            ));
        }
        lines.push(("battery", text));
        current.push_str(&format!("; battery {battery}"));
    }
    lines.push(("current", current));
    let all: f64 = energy.parts.iter().map(|it| it.message_mc).sum();
    let parts: Vec<String> =
        energy.parts.iter().map(|it| format!("{} {}", it.part, percent(it.share))).collect();
    let whose = if energy.battery.is_some() { " of the battery" } else { "" };
    let text = format!("{} mC{whose} a message: {}", digits::three(all), parts.join(", "));
    lines.push(("charge", text));
    lines
}

/// Prints a value with its interval to two digits: the currents and times of a datasheet are worth no more.
fn in_two_digits(it: &GlanceValue, unit: &str) -> String {
    let (value, interval) = two_digits(it);
    match interval {
        Some(interval) => format!("{value} {unit} [{interval}]"),
        None => format!("{value} {unit}"),
    }
}

fn two_digits(it: &GlanceValue) -> CardCell {
    (digits::two(it.value), digits::interval_in_two(it.ci_low, it.ci_high))
}

/// Prints a share in percent, with a digit more where it is small.
fn percent(share: f64) -> String {
    match 100.0 * share {
        it if it >= 10.0 || it == 0.0 => format!("{it:.0} %"),
        it if it >= 0.1 => format!("{it:.1} %"),
        _ => "< 0.1 %".into(),
    }
}

/// Prints the figures of one row, each with its name.
fn figures(row: &PredictionRow) -> Vec<String> {
    let mut parts = vec![
        format!("loss {}", cell(row.loss_percent.as_ref(), "%")),
        format!("p99 {}", with_unit(p99(row), "ms")),
        format!(
            "channel busy {}{}",
            cell(row.channel_busy_percent.as_ref(), "%"),
            row.own_busy().map(|it| format!(", of it yours {it} %")).unwrap_or_default()
        ),
    ];
    parts.extend(
        row.range().map(|it| format!("range {}", with_unit((it, row.range_interval()), "m"))),
    );
    parts
}

/// Writes figures beside each other, in as many lines as the screen asks for.
fn row_of(out: &mut String, figures: &[String], columns: usize) {
    let mut line = String::new();
    for figure in figures {
        if !line.is_empty() && width(&line) + width(figure) + 3 > columns {
            let _ = writeln!(out, "{line}");
            line.clear();
        }
        line.push_str(if line.is_empty() { "  " } else { "   " });
        line.push_str(figure);
    }
    let _ = writeln!(out, "{line}");
}

/// Prints a value with its unit and its interval.
pub(super) fn cell(value: Option<&GlanceValue>, unit: &str) -> String {
    value.map_or_else(|| "unknown".into(), |it| with_unit(figure(it), unit))
}

fn with_unit((number, interval): CardCell, unit: &str) -> String {
    match interval {
        _ if number == NOTHING => "unknown".into(),
        Some(interval) => format!("{number} {unit} [{interval}]"),
        None => format!("{number} {unit}"),
    }
}

/// Stands in place of a figure that there is not.
const NOTHING: &str = "-";

/// Prints the 99th percentile of the latency: where wake times are in doubt, to two digits.
fn p99(row: &PredictionRow) -> CardCell {
    match &row.p99_ms {
        None => (NOTHING.into(), None),
        Some(it) if row.p99_is_in_doubt => two_digits(it),
        Some(it) => figure(it),
    }
}

/// Prints the range with its interval; of one that the model of the place does not know the lower end, where that is
/// nearer than the place's.
fn range(row: &PredictionRow) -> CardCell {
    let (range, interval) = (row.range().unwrap_or_else(|| NOTHING.into()), row.range_interval());
    match interval {
        Some(low) if row.range_is_bounded && row.range_low_m < row.range_m => (low, None),
        _ if row.range_is_bounded => (range, None),
        interval => (range, interval),
    }
}

/// Returns the word for a row's standing; empty where nothing is ranked.
pub(super) const fn standing(it: RowStanding) -> &'static str {
    match it {
        RowStanding::Unranked => "",
        RowStanding::Best => "best",
        RowStanding::Tied => "tied",
        RowStanding::Behind => "behind",
        RowStanding::LeftOut => "left out",
    }
}

/// Returns the word for a row's place: one that ties though a better one is behind says why.
const fn place(row: &PredictionRow) -> &'static str {
    if row.is_less_certain { "tied: less certain" } else { standing(row.standing) }
}

/// A cell of the card's table: its text, and the interval of its value.
pub(super) type CardCell = (String, Option<String>);

/// Returns the heads of the columns, and the cells of these rows.
pub(super) fn columns(
    card: &Prediction,
    rows: &[&PredictionRow],
) -> (Vec<String>, Vec<Vec<CardCell>>) {
    if card.question == QuestionKind::Range {
        return ranges(rows);
    }
    if card.question == QuestionKind::RateInForce {
        return costs(rows);
    }
    if card.question == QuestionKind::Profiles {
        return profiles(card, rows);
    }
    let is_rate = card.question == QuestionKind::Rate;
    let mut heads = vec![if is_rate { "PHY rate" } else { "devices" }];
    // Rates have further columns.
    let busy = if is_rate { "busy (%)" } else { "channel busy (%)" };
    heads.extend(["loss (%)", "p99 (ms)", busy, "yours"]);
    let has_battery = card.rows.iter().any(|it| it.life_days.is_some());
    heads.extend(has_battery.then_some("battery (days)"));
    if is_rate {
        heads.extend(["range (m)", ""]);
    }
    let value = |it: Option<&GlanceValue>| it.map_or_else(|| ("-".into(), None), figure);
    let texts = |row: &&PredictionRow| {
        let first = if is_rate { row.rate.clone() } else { row.devices.to_string() };
        let mut texts = vec![(first, None)];
        let busy = value(row.channel_busy_percent.as_ref());
        let latency = card.p99_in_places(row).unwrap_or_else(|| p99(row));
        texts.extend([value(row.loss_percent.as_ref()), latency, busy]);
        texts.push((row.own_busy().unwrap_or_else(|| "-".into()), None));
        let days = row.life_days.as_ref().map_or_else(|| ("-".into(), None), two_digits);
        texts.extend(has_battery.then_some(days));
        if is_rate {
            texts.push(range(row));
            texts.push((place(row).into(), None));
        }
        texts
    };
    (heads.into_iter().map(String::from).collect(), rows.iter().map(texts).collect())
}

/// Returns heads and rows of profiles: what ranks them first, then what limits each and what is assumed of it.
fn profiles(card: &Prediction, rows: &[&PredictionRow]) -> (Vec<String>, Vec<Vec<CardCell>>) {
    let has_battery = card.rows.iter().any(|it| it.life_days.is_some());
    let has_little_known = card.rows.iter().any(|it| !it.little_known.is_empty());
    let mut heads = vec!["profile"];
    heads.extend(has_battery.then_some("battery (days)"));
    // Where the model of the place ends before the first one, nothing tells them apart.
    let has_range = card.rows.iter().any(|it| !it.range_is_bounded);
    heads.extend(["p99 (ms)", "loss (%)"]);
    heads.extend(has_range.then_some("range (m)"));
    heads.push("limited by");
    heads.extend(has_little_known.then_some("little known"));
    heads.push("");
    let value = |it: Option<&GlanceValue>| it.map_or_else(|| (NOTHING.into(), None), figure);
    let texts = |row: &&PredictionRow| {
        let plain = |text: Option<String>| (text.unwrap_or_else(|| NOTHING.into()), None);
        let mut texts = vec![(row.profile.clone(), None)];
        let days = row.life_days.as_ref().map_or_else(|| (NOTHING.into(), None), two_digits);
        texts.extend(has_battery.then_some(days));
        let latency = card.p99_in_places(row).unwrap_or_else(|| p99(row));
        texts.extend([latency, value(row.loss_percent.as_ref())]);
        texts.extend(has_range.then(|| range(row)));
        let limit = row.limited_by.as_ref();
        texts.push(plain(limit.map(|it| format!("{} {:.0} %", it.part, 100.0 * it.share))));
        let little_known = match row.little_known.as_slice() {
            [] => None,
            all if all.len() == EnergyPart::ALL.len() => Some("all parts".into()),
            some => Some(some.join(", ")),
        };
        texts.extend(has_little_known.then(|| plain(little_known)));
        texts.push((place(row).into(), None));
        texts
    };
    (heads.into_iter().map(String::from).collect(), rows.iter().map(texts).collect())
}

/// Returns the figures of rates with their cost: a row for each figure, a column for each rate.
fn costs(rows: &[&PredictionRow]) -> (Vec<String>, Vec<Vec<CardCell>>) {
    let value = |it: Option<&GlanceValue>| it.map_or_else(|| ("-".into(), None), figure);
    let plain = |text: String| (text, None);
    let texts = |row: &&PredictionRow| {
        let cost = row.cost.as_ref()?;
        Some([
            plain(digits::three(cost.air_us)),
            value(cost.own_air_percent.as_ref()),
            value(row.channel_busy_percent.as_ref()),
            value(cost.round_trip_ms.as_ref()),
            p99(row),
            value(row.loss_percent.as_ref()),
            value(cost.throughput_mbit_s.as_ref()),
            range(row),
            value(cost.charge_uc.as_ref()),
        ])
    };
    let names = [
        "frame on the air (us)",
        "own airtime (%)",
        "channel busy (%)",
        "round trip (ms)",
        "p99 of the latency (ms)",
        "loss (%)",
        "throughput of one (Mbit/s)",
        "range (m)",
        "charge of a message (uC)",
    ];
    let all: Vec<_> = rows.iter().filter_map(texts).collect();
    let head = |row: &&PredictionRow| {
        let role = row.cost.as_ref().map_or("", |it| it.role.name());
        format!("{}, {role}", row.rate)
    };
    let heads = core::iter::once(String::new()).chain(rows.iter().map(head)).collect();
    let line = |(at, name): (usize, &str)| {
        let cells = all.iter().map(|rate| rate[at].clone());
        core::iter::once(plain(name.into())).chain(cells).collect()
    };
    (heads, names.into_iter().enumerate().map(line).collect())
}

/// Returns heads and rows of ranges.
fn ranges(rows: &[&PredictionRow]) -> (Vec<String>, Vec<Vec<CardCell>>) {
    let texts = |row: &&PredictionRow| {
        let median = row.range_median().unwrap_or_else(|| "-".into());
        let inferred = if row.range_is_inferred { "inferred" } else { "" };
        let stands = match (row.standing, row.range_is_bounded) {
            (RowStanding::LeftOut, true) => "not known",
            (RowStanding::LeftOut, false) => "does not reach",
            _ => "",
        };
        let notes = [inferred, stands].into_iter().filter(|it| !it.is_empty());
        let notes = notes.collect::<Vec<_>>().join(", ");
        let plain = |text: String| (text, None);
        vec![plain(row.rate.clone()), range(row), plain(median), plain(notes)]
    };
    let heads = ["PHY rate", "range (m)", "without fading (m)", ""].map(String::from).into();
    (heads, rows.iter().map(texts).collect())
}

/// Returns at most that many rows: the first of ranked ones, those about the largest fleet, else evenly
/// from all.
pub(super) fn chosen(card: &Prediction, most: usize) -> Vec<&PredictionRow> {
    let rows = &card.rows;
    if rows.len() <= most {
        return rows.iter().collect();
    }
    if matches!(card.question, QuestionKind::Rate | QuestionKind::Range | QuestionKind::Profiles) {
        return rows.iter().take(most).collect();
    }
    if card.question == QuestionKind::LargestFleet {
        let best = rows.iter().position(|it| it.standing == RowStanding::Best).unwrap_or(0);
        let first = best.saturating_sub(most / 2).min(rows.len() - most);
        return rows[first..first + most].iter().collect();
    }
    let last = (rows.len() - 1) as f64;
    let at = |row: usize| (row as f64 * last / (most - 1).max(1) as f64).round() as usize;
    (0..most).map(|row| &rows[at(row)]).collect()
}

/// Writes what becomes of messages by distance, in the middle of the places and from the worst to the best tenth.
fn distances(out: &mut String, card: &Prediction, colours: Colours, most: usize) {
    let Some(rate) = card.rows.first().filter(|_| !card.distances.is_empty()) else { return };
    let faint = colours.faint;
    let head = format!("{} by distance (worst to best tenth of the places)", rate.rate);
    for line in wrap(&head, most.min(WIDTH) - 2) {
        let _ = writeln!(out, "  {faint}{line}{faint:#}");
    }
    let heads = ["metres", "delivered (%)", "Mbit/s", "round trip (ms)"].map(String::from);
    let row = |it: &DistanceRow| {
        let metres =
            if it.metres < 10.0 { digits::three(it.metres) } else { format!("{:.0}", it.metres) };
        let spread =
            [&it.delivery_percent, &it.throughput_mbit_s, &it.round_trip_ms].map(over_places);
        let [delivery, rate, trip] = spread;
        [metres, delivery, rate, trip]
    };
    let plain = |it: &DistanceRow| row(it).map(|text| (text, None)).into();
    let rows: Vec<Vec<CardCell>> = card.distances.iter().map(plain).collect();
    lines(out, &heads, rows, (1, 0), (colours, most));
    let trips =
        |it: &DistanceRow| [it.round_trip_ms.worst, it.round_trip_ms.median].contains(&None);
    if card.distances.iter().any(trips) {
        let _ = writeln!(out, "  {faint}?: nothing arrives there{faint:#}");
    }
}

/// Returns heads and rows of messages in one frame or several.
pub(super) fn frame_columns(card: &Prediction) -> (Vec<String>, Vec<Vec<CardCell>>) {
    let value = |it: &Option<GlanceValue>| it.as_ref().map_or_else(|| ("-".into(), None), figure);
    let plain = |text: String| (text, None);
    let metres =
        |it: f64| if it < 10.0 { digits::three(it).to_string() } else { format!("{it:.0}") };
    let texts = |row: &FramesRow| {
        vec![
            plain(metres(row.metres)),
            plain(format!("{} × {} B", row.frames, row.bytes)),
            value(&row.delivered_percent),
            value(&row.whole_ms),
            value(&row.air_ms),
            value(&row.charge_uc),
            plain(standing(row.standing).into()),
        ]
    };
    let heads =
        ["metres", "frames", "come whole (%)", "all there (ms)", "air (ms)", "charge (uC)", ""];
    (heads.map(String::from).into(), card.frames.iter().map(texts).collect())
}

/// Writes what becomes of a message in one frame or several, by distance.
fn frames(out: &mut String, card: &Prediction, colours: Colours, most: usize) {
    let (heads, mut cells) = frame_columns(card);
    // Intervals of the air time and of the charge are in --full: the screen is not so wide.
    for row in &mut cells {
        for cell in &mut row[4..6] {
            cell.1 = None;
        }
    }
    let more = cells.len().saturating_sub(FRAME_ROWS);
    cells.truncate(FRAME_ROWS);
    lines(out, &heads, cells, (2, more), (colours, most));
}

/// Returns the rows that there is room for beside what else the card tells.
fn rows_shown(card: &Prediction) -> Vec<&PredictionRow> {
    chosen(
        card,
        match (card.distances.is_empty(), card.energy.is_some()) {
            (false, _) => ROWS_ABOVE_DISTANCES,
            (true, true) => ROWS_ABOVE_CHARGE,
            (true, false) => ROWS,
        },
    )
}

/// Returns whether an interval of these rows has one end alone.
pub(super) fn has_open_interval(card: &Prediction, rows: &[&PredictionRow]) -> bool {
    let values = |it: &FramesRow| [it.delivered_percent, it.whole_ms, it.air_ms, it.charge_uc];
    let of_frames = card.frames.iter().flat_map(values).flatten();
    rows.iter().any(|it| it.has_open_interval())
        || of_frames.into_iter().any(|it| it.ci_low.is_some() != it.ci_high.is_some())
}

fn table(
    out: &mut String,
    card: &Prediction,
    shown: &[&PredictionRow],
    colours: Colours,
    most: usize,
) {
    let (heads, mut cells) = columns(card, shown);
    if matches!(
        card.question,
        QuestionKind::Rate | QuestionKind::Fleet | QuestionKind::LargestFleet
    ) {
        // The interval of how busy the channel is stands on the page: the screen is not so wide.
        cells.iter_mut().for_each(|row| row[BUSY].1 = None);
    }
    let more = card.rows.len() - shown.len();
    lines(out, &heads, cells, (1, more), (colours, most));
}

/// Writes a table's lines, and how many more rows there are. Columns that do not fit a line of so many characters stand
/// below, behind the first ones again.
fn lines(
    out: &mut String,
    heads: &[String],
    cells: Vec<Vec<CardCell>>,
    (leads, more): (usize, usize),
    (colours, most): (Colours, usize),
) {
    let joined = |(text, interval): CardCell| match interval {
        Some(interval) => format!("{text} [{interval}]"),
        None => text,
    };
    let texts: Vec<Vec<String>> =
        cells.into_iter().map(|row| row.into_iter().map(joined).collect()).collect();
    let widths: Vec<usize> = (0..heads.len())
        .map(|at| {
            texts.iter().map(|row| width(&row[at])).chain([width(&heads[at])]).max().unwrap_or(0)
        })
        .collect();
    let mut line = |style: Style, cells: &mut dyn Iterator<Item = (&str, usize)>| {
        let mut text = String::new();
        for (cell, size) in cells {
            let _ = write!(text, "  {cell:size$}");
        }
        let _ = writeln!(out, "{style}{}{style:#}", text.trim_end());
    };
    // Each column has its gap in front of it.
    for block in blocks(&widths, leads, most.saturating_sub(GAP)) {
        let of = |row: &'_ [String]| -> Vec<(String, usize)> {
            block.iter().map(|at| (row[*at].clone(), widths[*at])).collect()
        };
        for (number, row) in
            core::iter::once(heads).chain(texts.iter().map(Vec::as_slice)).enumerate()
        {
            let style = if number == 0 { colours.faint } else { Style::new() };
            line(style, &mut of(row).iter().map(|it| (it.0.as_str(), it.1)));
        }
    }
    if more > 0 {
        let text = format!("… and {}", count(more, "more row"));
        line(colours.faint, &mut [(text.as_str(), 0)].into_iter());
    }
}
