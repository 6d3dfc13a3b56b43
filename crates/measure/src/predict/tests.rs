//! Cards and sentences of points whose figures are known.

use super::battery::Battery;
use super::card::{QuestionKind, RowStanding};
use super::change::{Change, ChangeTried};
use super::cut::SettingsDue;
use super::energy::DeviceCharge;
use super::point::OperatingPoint;
use super::*;
use crate::settings::Settings;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::energy::EnergyPart;
use espbench_model::sample::Cause;
use espbench_stats::Estimate;

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value: Some(value), n: 1000, low: Some(low), high: Some(high) }
}

/// Returns a point with a 99th percentile in milliseconds and a loss in per cent, each known to a
/// twentieth.
fn point(rate: &str, p99: f64, loss: f64) -> PointEstimates {
    PointEstimates {
        setting: OperatingPoint { devices: 20, rate: rate.into(), ..OperatingPoint::default() },
        rooms: 20,
        messages: 8000,
        loss: estimate(loss / 100.0, 0.95 * loss / 100.0, 1.05 * loss / 100.0),
        p99: estimate(p99, 0.95 * p99, 1.05 * p99),
        stages_ms: [1.0, 0.0, 2.0, 5.0, 0.0, 2.0, 0.0],
        ..PointEstimates::default()
    }
}

fn answer(question: PredictQuestion, points: Vec<PointEstimates>) -> PredictAnswer {
    PredictAnswer {
        question,
        title: "20 devices".into(),
        limits: FleetLimits::default(),
        battery: None,
        peak_ma: None,
        beyond_m: None,
        shared: String::new(),
        settings: Settings::default(),
        payload_bytes: 50,
        points,
        changes: Vec::new(),
        notes: Vec::new(),
        remarks: Vec::new(),
        due: SettingsDue::default(),
        stopped: false,
    }
}

#[test]
fn rates_whose_intervals_overlap_tie_and_one_that_loses_too_much_has_no_rank() {
    let points = [
        point("1M", 30.0, 0.1),
        point("11M", 10.5, 0.1),
        point("24M", 10.0, 0.2),
        // The fastest of all, and it loses what the limit forbids.
        point("54M", 5.0, 3.0),
    ];
    let mut answer = answer(PredictQuestion::Rate, points.into());
    answer.limits.loss = Some(0.01);
    use RowStanding::{Behind, Best, LeftOut, Tied};
    assert_eq!(answer.standings(), [Behind, Tied, Best, LeftOut]);
    let card = answer.card();
    let rows: Vec<(&str, RowStanding)> =
        card.rows.iter().map(|it| (it.rate.as_str(), it.standing)).collect();
    assert_eq!(rows, [("24M", Best), ("11M", Tied), ("1M", Behind), ("54M", LeftOut)]);
    assert_eq!(card.question, QuestionKind::Rate);
    let verdict = card.verdict.unwrap();
    assert!(
        verdict.contains("24M has the lowest p99") && verdict.contains("forbids 1 rate"),
        "{verdict}"
    );
}

/// A wide interval ties where a narrow one with a better estimate is behind: rows are in the order of their figures, and
/// the one that ties says that it is less certain.
#[test]
fn rows_stand_in_the_order_of_what_ranks_them() {
    let mut points = [point("1M", 12.0, 0.1), point("11M", 11.0, 0.1), point("24M", 10.0, 0.1)];
    for (it, [low, high]) in points.iter_mut().zip([[9.0, 15.0], [10.8, 11.2], [9.8, 10.2]]) {
        (it.p99.low, it.p99.high) = (Some(low), Some(high));
    }
    let card = answer(PredictQuestion::Rate, points.into()).card();
    use RowStanding::{Behind, Best, Tied};
    let rows: Vec<(&str, RowStanding, bool)> =
        card.rows.iter().map(|it| (it.rate.as_str(), it.standing, it.is_less_certain)).collect();
    assert_eq!(rows, [("24M", Best, false), ("11M", Behind, false), ("1M", Tied, true)]);
}

#[test]
fn nothing_is_ranked_where_the_limit_forbids_all() {
    let points = [point("1M", 30.0, 5.0), point("11M", 10.0, 5.0)];
    let mut answer = answer(PredictQuestion::Rate, points.into());
    answer.limits.loss = Some(0.01);
    assert_eq!(answer.standings(), [RowStanding::LeftOut; 2]);
    let card = answer.card();
    assert!(card.limited_by.is_empty(), "no point is told of");
    assert!(!card.verdict.unwrap().contains("lowest"));
}

fn changed(change: Change, p99: f64, loss: f64) -> ChangeTried {
    ChangeTried { change, point: point("1M", p99, loss) }
}

#[test]
fn a_change_helps_only_by_more_than_chance_and_without_more_loss() {
    let mut it = answer(PredictQuestion::Fleet, [point("1M", 10.0, 0.1)].into());
    let faster = |p99, loss| changed(Change::Rate("24M".into()), p99, loss);
    it.changes = [faster(9.6, 0.1), faster(8.0, 0.1), faster(8.0, 0.9), faster(12.0, 0.1)].into();
    let helps: Vec<bool> = it.card().changes.iter().map(|it| it.helps).collect();
    assert_eq!(helps, [false, true, false, false], "overlap, better, loses more, worse");
    // The best is not the first that was tried, and asking less comes last.
    it.changes = [
        changed(Change::Every(Duration::from_secs(10)), 2.0, 0.1),
        faster(8.0, 0.1),
        changed(Change::Rate("6M".into()), 6.0, 0.1),
        faster(9.6, 0.1),
    ]
    .into();
    let card = it.card();
    let places: Vec<Option<usize>> = card.changes.iter().map(|it| it.place).collect();
    assert_eq!(places, [Some(3), Some(2), Some(1), None]);
    assert!(card.next.unwrap().contains("6M"));
    it.changes = [faster(9.6, 0.1), faster(8.0, 0.1), faster(8.0, 0.9), faster(12.0, 0.1)].into();
    // A limit that held may not be broken by it.
    it.limits.p99_ms = Some(9.0);
    it.changes = [faster(9.3, 0.1)].into();
    let card = it.card();
    assert!(!card.changes[0].keeps_limits);
    assert!(card.verdict.unwrap().contains("broken"));
}

/// Where more is lost than allowed, the change is about the loss, however the latency is.
#[test]
fn loss_leads_where_it_is_high() {
    let mut it = answer(PredictQuestion::Fleet, [point("1M", 10.0, 8.0)].into());
    it.changes = [
        changed(Change::Rate("24M".into()), 5.0, 8.0),
        changed(Change::Every(Duration::from_secs(10)), 20.0, 2.0),
    ]
    .into();
    let card = it.card();
    assert_eq!(card.changes.iter().map(|it| it.helps).collect::<Vec<_>>(), [false, true]);
    assert_eq!(
        card.changes.iter().map(|it| (it.flag.as_str(), it.to.as_str())).collect::<Vec<_>>(),
        [("--phy-rate", "24M"), ("--every", "10s")]
    );
    assert_eq!(card.changes.iter().map(|it| it.to_ms).collect::<Vec<_>>(), [None, Some(1e4)]);
    let next = card.next.unwrap();
    assert!(next.contains("--every 10s"), "{next}");
}

#[test]
fn the_largest_share_is_named_and_a_queue_by_what_stands_behind_it() {
    let shares = |point: PointEstimates| {
        let card = answer(PredictQuestion::Fleet, [point].into()).card();
        let all = card.limited_by.into_iter();
        all.map(|it| (it.of, it.part, (100.0 * it.share).round())).collect::<Vec<_>>()
    };
    let text = |of: &str, part: &str, share| (of.to_string(), part.to_string(), share);
    assert_eq!(shares(point("1M", 10.0, 0.1)), [text("latency", "waiting for the medium", 50.0)]);
    let mut queue = point("1M", 10.0, 0.1);
    queue.stages_ms = [60.0, 0.0, 30.0, 5.0, 0.0, 5.0, 0.0];
    assert_eq!(shares(queue), [text("latency", "a queue behind sender's processor", 60.0)]);
    let mut lossy = point("1M", 10.0, 20.0);
    lossy.causes = [(Cause::Collision, 1200), (Cause::Noise, 400)].into();
    let told = shares(lossy);
    assert!(told.iter().any(|it| it.0 == "loss" && it.2 == 75.0), "{told:?}");
}

/// Returns a room of devices that each draw these charges in millicoulombs over 100 s.
fn sleepers(charges: &[[f64; 6]]) -> RoomTrial {
    let device =
        |mc: &[f64; 6]| DeviceCharge { mc: *mc, ms: [10.0, 20.0, 30.0, 5.0, 5.0, 99_930.0] };
    RoomTrial {
        messages: charges.len() as u64,
        latency_ms: charges.iter().map(|_| 60.0).collect(),
        energy: charges.iter().map(device).collect(),
        ..RoomTrial::default()
    }
}

#[test]
fn parts_of_the_charge_add_up_and_the_battery_lasts_as_long_as_they_say() {
    let rooms: Vec<RoomTrial> = (0..10)
        .map(|room| {
            let more = 0.1 * f64::from(room);
            sleepers(&[
                [1.0, 2.0, 3.0 + more, 2.0, 0.0, 2.0],
                [1.0, 2.0, 3.0, 2.0, 1.0 + more, 2.0],
            ])
        })
        .collect();
    let setting = OperatingPoint { devices: 2, rate: "1M".into(), ..OperatingPoint::default() };
    let mut answer = answer(PredictQuestion::Fleet, [PointEstimates::of(setting, &rooms)].into());
    let battery: Battery = "1000mAh".parse().unwrap();
    answer.battery = Some(battery.clone());
    let budget = answer.card().energy.unwrap();
    let names: Vec<&str> = budget.parts.iter().map(|it| it.part.as_str()).collect();
    assert_eq!(names, EnergyPart::ALL.map(EnergyPart::name), "a charge has no regulator");
    let sum = |of: fn(&super::card::EnergyShare) -> f64| budget.parts.iter().map(of).sum::<f64>();
    assert!((sum(|it| it.share) - 1.0).abs() < 1e-9);
    // 10.95 mC in 100 s, in the mean of both devices and all rooms: two digits of it are told.
    let mean = budget.mean_ma.unwrap();
    assert_eq!(mean.value, 0.11, "{mean:?}");
    assert!((sum(|it| it.day_mah) - 24.0 * 0.1095).abs() < 1e-9);
    assert!((sum(|it| it.message_ms) - 100_000.0).abs() < 1e-6);
    let life = budget.life_days.unwrap();
    assert_eq!(life.value, 380.0, "{} days", battery.days(0.1095));
    // The more is drawn the shorter it lasts.
    assert!(life.ci_low.unwrap() <= life.value && life.value <= life.ci_high.unwrap(), "{life:?}");
    assert!(budget.weakest_days.unwrap() < battery.days(0.1095));
}

/// Self-discharge and the regulator are parts of the charge, and the largest part limits it.
#[test]
fn what_the_battery_loses_by_itself_can_limit_it() {
    let rooms: Vec<RoomTrial> =
        (0..4).map(|_| sleepers(&[[1.0, 0.5, 0.5, 0.5, 0.0, 0.5]])).collect();
    let setting = OperatingPoint { devices: 1, rate: "1M".into(), ..OperatingPoint::default() };
    let mut answer = answer(PredictQuestion::Fleet, [PointEstimates::of(setting, &rooms)].into());
    answer.battery = Some("18650".parse().unwrap());
    let card = answer.card();
    assert_eq!(
        (card.limited_by[0].of.as_str(), card.limited_by[0].part.as_str()),
        ("charge", "self-discharge")
    );
    let parts = card.energy.unwrap().parts;
    let names: Vec<&str> = parts.iter().map(|it| it.part.as_str()).collect();
    assert_eq!(names[6..], ["regulator", "self-discharge"]);
    assert!((parts.iter().map(|it| it.share).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// The table of cells in docs/battery.md has the figures that are reckoned with.
#[test]
fn the_page_has_the_cells_as_they_are() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/battery.md");
    let page = std::fs::read_to_string(page).unwrap();
    let all = super::battery::constants();
    let value = |cell: &str, of: &str| {
        let key = format!("battery.{cell}.{of}");
        all.iter().find(|it| it.key == key).map(|it| it.value).unwrap()
    };
    for cell in ["AA", "AAA", "CR123A", "CR2032", "18650", "LiPo"] {
        let [charge, volts, pulse] =
            ["capacity_mah", "mean_volts", "pulse_ma"].map(|it| value(cell, it));
        let row = format!("| {cell} | {charge} | {volts} | {pulse} |");
        assert!(page.contains(&row), "docs/battery.md lacks {row}");
    }
}

/// A cell that cannot give the pulses is said before how long it would last.
#[test]
fn pulses_that_a_cell_cannot_give_lead() {
    let rooms: Vec<RoomTrial> =
        (0..4).map(|_| sleepers(&[[1.0, 0.5, 0.5, 0.5, 0.0, 0.5]])).collect();
    let setting = OperatingPoint { devices: 1, rate: "1M".into(), ..OperatingPoint::default() };
    let mut answer = answer(PredictQuestion::Fleet, [PointEstimates::of(setting, &rooms)].into());
    answer.battery = Some("CR2032".parse().unwrap());
    answer.peak_ma = Some(335.0);
    let card = answer.card();
    let verdict = card.verdict.unwrap();
    assert!(verdict.starts_with("CR2032 cannot give the pulses: 448 mA"), "{verdict}");
    assert!(
        answer.sentences()[0].starts_with("Simulated: CR2032 cannot give"),
        "{:?}",
        answer.sentences()
    );
    assert!(card.warnings.is_empty(), "it is said once: {:?}", card.warnings);
    answer.battery = Some("CR123A".parse().unwrap());
    assert_eq!(answer.card().verdict, None);
}

/// Of a range nothing is simulated in rooms: what was done are rates.
#[test]
fn a_range_that_is_stopped_says_of_how_many_rates_it_is() {
    let wanted = RangeWanted { loss: 0.01, distance_m: None };
    let mut it = answer(PredictQuestion::Range(wanted), [point("1M", 10.0, 0.1)].into());
    it.stopped = true;
    assert_eq!(it.sentences()[0], "Stopped: this is of 1 PHY rate; others may reach farther.");
    it.points.clear();
    let nothing = "Stopped before the first PHY rate was done: nothing is known.";
    assert_eq!(it.sentences(), [nothing]);
    assert_eq!(it.card().verdict.as_deref(), Some(nothing));
}

#[test]
fn a_card_says_why_it_is_to_be_read_with_care() {
    let mut it = answer(PredictQuestion::Fleet, [point("1M", 10.0, 0.1)].into());
    assert!(it.card().warnings.is_empty());
    it.stopped = true;
    it.due = SettingsDue { settings: 1, rooms: 40, changes: 0 };
    it.points[0].grows = true;
    let warnings = it.card().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("longer and longer"));
    let sentences = it.sentences();
    assert!(
        sentences[0].starts_with("Stopped: each figure is of 20 of 40 rooms, and its"),
        "{sentences:?}"
    );
    assert!(sentences[1].starts_with("Simulated: with 20 devices"), "{sentences:?}");
    assert!(it.card().verdict.unwrap().starts_with("Stopped: each figure is of 20 of 40 rooms"));
    it.points.clear();
    let nothing = "Stopped before the first room was done: nothing is known.";
    assert_eq!(it.card().verdict.as_deref(), Some(nothing));
}

#[test]
fn a_card_reads_back_from_json() {
    let mut it = answer(PredictQuestion::Fleet, [point("1M", 10.0, 8.0)].into());
    it.changes = [changed(Change::Attempts(1), 9.0, 2.0)].into();
    let card = it.card();
    let json = serde_json::to_string(&card).unwrap();
    assert_eq!(serde_json::from_str::<Prediction>(&json).unwrap(), card);
    // No estimate, no figure: a number that nobody knows is not zero.
    let nothing = answer(PredictQuestion::Fleet, [PointEstimates::default()].into()).card();
    assert_eq!((&nothing.rows[0].p99_ms, &nothing.rows[0].loss_percent), (&None, &None));
}

/// Of rates that were stopped some were not tried: none of the others is the best.
#[test]
fn rates_that_were_stopped_name_no_best() {
    let points = ["1M", "11M", "5.5M", "2M"].map(|rate| point(rate, 10.0, 0.1));
    let mut it = answer(PredictQuestion::Rate, points.into());
    it.points[1].p99 = estimate(1.0, 0.9, 1.1);
    it.stopped = true;
    it.due = SettingsDue { settings: 22, rooms: 20, changes: 0 };
    let wanted = "Stopped: 4 of 22 rates were tried; no best can be named.";
    assert_eq!(it.sentences(), [wanted]);
    let card = it.card();
    assert_eq!(card.verdict.as_deref(), Some(wanted));
    assert!(card.rows.iter().all(|it| it.standing == RowStanding::Unranked));
    assert!(card.limited_by.is_empty() && card.next.is_none());
    let whole = report(&crate::run::RunFacts::default(), &it);
    assert!(whole.incomplete && whole.cut_short().is_none(), "no run to resume");
    assert!(whole.lacks().is_some_and(|it| it.contains("was stopped before its end")));
    assert!(whole.figures.iter().all(|it| !it.alt.contains("Lowest")));
    it.points[3].rooms = 7;
    let few = "Stopped: 4 of 22 rates were tried, 1 of them in fewer than 20 rooms; no best can be named.";
    assert_eq!(it.sentences(), [few]);
    // Each rate has its rooms: what is missing is the throughput of one device.
    it.points[3].rooms = 20;
    it.due.settings = 4;
    let told = it.sentences();
    assert!(told[0].contains("throughput of one device is missing"), "{told:?}");
    assert!(told[1].contains("11M has the lowest p99"), "{told:?}");
    it.stopped = false;
    assert!(it.sentences()[0].starts_with("Simulated: 11M has the lowest p99"));
    let whole = report(&crate::run::RunFacts::default(), &it);
    assert_eq!((whole.incomplete, whole.lacks()), (false, None));
}

/// Of changes that were stopped some were not tried: none is recommended, nor said to be all that there is.
#[test]
fn changes_that_were_stopped_have_no_verdict() {
    let mut it = answer(PredictQuestion::Fleet, [point("1M", 10.0, 0.1)].into());
    it.stopped = true;
    it.due = SettingsDue { settings: 1, rooms: 20, changes: 5 };
    for p99 in [10.0, 5.0] {
        it.changes = [changed(Change::Rate("11M".into()), p99, 0.1)].into();
        let told = it.sentences();
        assert_eq!(told[0], "Stopped: 1 of 5 changes was tried.");
        assert!(told.iter().all(|it| !it.contains("Next")), "{told:?}");
        let card = it.card();
        assert_eq!(card.verdict.as_deref(), Some("Stopped: 1 of 5 changes was tried."));
        assert_eq!((card.next, card.changes[0].place), (None, None));
    }
    assert!(report(&crate::run::RunFacts::default(), &it).incomplete);
    it.changes.clear();
    assert_eq!(it.sentences()[0], "Stopped: 0 of 5 changes were tried.");
}

/// Few rooms of which most deliver nothing have a mean whose interval would reach below zero.
#[test]
fn no_time_and_no_rate_has_a_bound_below_zero() {
    let rooms: Vec<RoomTrial> = [1, 1, 1, 1, 40]
        .map(|many: u64| RoomTrial {
            messages: 50,
            latency_ms: (0..many).map(|_| (many * many) as f64).collect(),
            air: ChannelUse {
                window_ns: 1_000_000_000,
                busy_ns: many * many * 100_000,
                data_ns: many * many * 100_000,
                ..ChannelUse::default()
            },
            ..sleepers(&[[0.0, 0.0, (many * many) as f64, 0.0, 0.0, 0.0]])
        })
        .into();
    let setting = |rate: &str, kbit_s, range_m| OperatingPoint {
        devices: kbit_s,
        rate: rate.into(),
        kbit_s,
        range_m: Some(range_m),
        throughput: Some(espbench_stats::interval::mean_t(&[0.0, 0.0, 0.0, 0.0, 0.9])),
        send_ma: Some(100.0),
        acknowledged: true,
        ..OperatingPoint::default()
    };
    let points = [setting("1M", 1000, 90.0), setting("2M", 2000, 70.0)]
        .map(|it| PointEstimates::of(it, &rooms));
    assert!(cluster_low(&rooms) < 0.0, "the interval of the mean itself reaches below zero");
    for question in [PredictQuestion::Rate, PredictQuestion::Fleet] {
        let whole =
            report(&crate::run::RunFacts::default(), &answer(question, points.clone().into()));
        let drawn = whole.figures.iter().flat_map(|it| {
            it.series.iter().flat_map(|s| &s.points).map(|dot| (it.id.clone(), dot.low))
        });
        let cells = whole.cells.iter().map(|it| (it.id.metric.clone(), it.ci_low));
        let below: Vec<_> =
            drawn.chain(cells).filter(|it| it.1.is_some_and(|low| low < 0.0)).collect();
        assert!(below.is_empty(), "{below:?}");
    }
}

/// Returns the lower end of the mean rate of messages, as a mean of any numbers has it.
fn cluster_low(rooms: &[RoomTrial]) -> f64 {
    let rates: Vec<(f64, u64)> = rooms.iter().map(|it| (it.latency_ms.len() as f64, 1)).collect();
    espbench_stats::cluster::mean(&rates).low.unwrap()
}

/// A change that reads the same as before does not help, however narrow the intervals are.
#[test]
fn a_gain_that_cannot_be_seen_does_not_help() {
    let sleeping = |mc: f64| {
        let rooms: Vec<RoomTrial> =
            (0..4).map(|_| sleepers(&[[mc, 0.5, 0.5, 0.5, 0.0, 0.5]])).collect();
        PointEstimates::of(
            OperatingPoint { devices: 1, rate: "1M".into(), ..OperatingPoint::default() },
            &rooms,
        )
    };
    let mut it = answer(PredictQuestion::Fleet, [sleeping(1.0)].into());
    it.battery = Some("CR2032".parse().unwrap());
    let with = |mc| ChangeTried { change: Change::Rate("11M".into()), point: sleeping(mc) };
    it.changes = [with(0.999), with(0.5)].into();
    let card = it.card();
    assert_eq!(card.changes.iter().map(|it| it.helps).collect::<Vec<_>>(), [false, true]);
    it.changes.truncate(1);
    assert!(it.card().next.unwrap().starts_with("nothing that was tried clearly"));
    // Behind the sentence about the pulses the others begin with a capital letter, too.
    it.peak_ma = Some(335.0);
    for line in it.sentences() {
        assert!(!line.starts_with(char::is_lowercase), "{line}");
    }
}

/// The first of those that are compared reads lower than the next one, in the sentence and in the column.
#[test]
fn the_lowest_latency_reads_as_the_lowest() {
    let points = [("24M", 0.985), ("HT20-MCS3", 0.99), ("18M", 0.996), ("1M", 31.26)];
    let points = points.map(|(rate, p99)| point(rate, p99, 0.1));
    let it = answer(PredictQuestion::Rate, points.into());
    let card = it.card();
    let shown: Vec<String> =
        card.rows.iter().filter_map(|row| Some(card.p99_in_places(row)?.0)).collect();
    assert_eq!(shown, ["0.985", "0.990", "0.996", "31.260"]);
    let verdict = card.verdict.unwrap();
    assert!(verdict.starts_with("24M has the lowest p99, 0.985 ms"), "{verdict}");
    let table = report(&crate::run::RunFacts::default(), &it).tables;
    let rates = table.iter().find(|it| it.id == "predict-rates").unwrap();
    let column: Vec<&str> = rates.rows.iter().filter_map(|row| row[7].as_deref()).collect();
    assert_eq!(column, ["0.985", "0.990", "0.996", "31.260"]);
}

/// The table beside it has two digits too: more are not worth anything of a path loss.
#[test]
fn a_range_has_as_many_digits_in_the_sentence_as_in_the_table() {
    let wanted = RangeWanted { loss: 0.01, distance_m: None };
    let mut far = [point("LR-250K", 10.0, 0.1), point("1M", 10.0, 0.1)];
    (far[0].setting.range_m, far[0].setting.is_inferred) = (Some(371.0), true);
    far[1].setting.range_m = Some(298.4);
    let verdict = answer(PredictQuestion::Range(wanted), far.into()).card().verdict.unwrap();
    assert!(verdict.contains("1M reaches farthest, 300 m."), "{verdict}");
}

#[test]
fn a_change_that_saves_little_charge_is_not_worth_advice() {
    let asleep = |factor: f64| {
        let rooms: Vec<RoomTrial> = (0..4)
            .map(|_| sleepers(&[[1.0, 2.0, 3.0, 2.0, 0.0, 2.0].map(|it| factor * it)]))
            .collect();
        let setting = OperatingPoint { devices: 1, rate: "1M".into(), ..OperatingPoint::default() };
        PointEstimates::of(setting, &rooms)
    };
    let mut answer = answer(PredictQuestion::Fleet, [asleep(1.0)].into());
    answer.battery = Some("2xAA".parse().unwrap());
    for (factor, helps) in [(0.95, false), (0.8, true)] {
        answer.changes = [ChangeTried { change: Change::FastBoot, point: asleep(factor) }].into();
        let card = answer.card();
        assert_eq!(card.changes[0].helps, helps, "{factor}");
        let next = card.next.unwrap();
        assert_eq!(next.starts_with("--boot fast: the battery lasts"), helps, "{next}");
    }
}

/// The days hold what is not known of the battery, and the rank does not: the sentence is about the current.
#[test]
fn profiles_tie_by_their_current_and_not_by_the_days_that_are_shown() {
    let of = |name: &str, factor: f64| {
        let rooms: Vec<RoomTrial> = (0..4)
            .map(|room| {
                let chance = factor * (1.0 + 0.01 * f64::from(room));
                sleepers(&[[1.0, 2.0, 3.0, 2.0, 0.0, 2.0].map(|it| chance * it)])
            })
            .collect();
        let setting = OperatingPoint {
            devices: 1,
            rate: "1M".into(),
            profile: name.into(),
            ..OperatingPoint::default()
        };
        PointEstimates::of(setting, &rooms)
    };
    let points = [of("one", 1.0), of("two", 1.005), of("three", 1.15)];
    let mut answer = answer(PredictQuestion::Profiles, points.into());
    answer.battery = Some("2xAA".parse().unwrap());
    use RowStanding::{Behind, Best, Tied};
    assert_eq!(answer.standings(), [Best, Tied, Behind]);
    let verdict = answer.card().verdict.unwrap();
    assert!(
        verdict.contains("two ties with it, since the interval of its current overlaps."),
        "{verdict}"
    );
    assert!(
        verdict.contains("The days of another overlap by what is not known of the battery"),
        "{verdict}"
    );
    // Where no days overlap but those of a profile that ties, nothing is said of them.
    answer.points[2] = of("three", 10.0);
    let verdict = answer.card().verdict.unwrap();
    assert!(!verdict.contains("The days of"), "{verdict}");
}
