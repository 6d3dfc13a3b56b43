use super::pairs::within;
use super::*;
use crate::cell::{Cell, Identity, Origin, PublishedFigure};
use crate::report::{GlanceGroup, GlanceMetric};
use crate::run::RunFacts;
use alloc::format;
use espbench_stats::Estimate;

const PLAN: &str = "name = \"pings\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n\
                    size = [10, 60, 120, 230]\n";
const SIZES: [f64; 4] = [10.0, 60.0, 120.0, 230.0];

fn cell(origin: Origin, number: u32, metric: &str, unit: &str, (value, half): (f64, f64)) -> Cell {
    let estimate =
        Estimate { value: Some(value), n: 100, low: Some(value - half), high: Some(value + half) };
    let id = Identity { metric: metric.into(), transport: "esp-now".into(), ..Identity::default() };
    let mut cell = Cell::of(estimate, id, unit, origin);
    cell.test.number = Some(number);
    cell.test.suite = Some("pings".into());
    cell.test.kind = Some("esp-now".into());
    cell.limit = Some(1.0);
    cell
}

/// Returns a report with the mean round trip of each size, and what is lost.
fn report(origin: Origin, mean: impl Fn(f64) -> f64, loss: f64) -> Report {
    let mut report = Report::empty(RunFacts {
        name: "pings-1".into(),
        target: "sim".into(),
        plan_text: PLAN.into(),
        origin,
        ..RunFacts::default()
    });
    for (number, size) in (1..).zip(SIZES) {
        report.cells.push(cell(origin, number, "rtt_avg", "ms", (mean(size), 0.05)));
        report.cells.push(cell(origin, number, "loss", "percent", (loss, 0.1)));
        report.cells.push(cell(origin, number, "packets_sent", "packets", (100.0, 0.0)));
    }
    let metric = |name: &str, unit: &str| GlanceMetric {
        metric: name.into(),
        quantity: name.into(),
        statistic: String::new(),
        unit: unit.into(),
    };
    report.glance.push(GlanceGroup {
        name: "pings".into(),
        kind: "esp-now".into(),
        goal: None,
        battery: None,
        metrics: [metric("rtt_avg", "ms"), metric("loss", "percent")].into(),
        rows: Vec::new(),
        shared: String::new(),
        axis_ms: None,
        published: None,
        times_limit: None,
    });
    report
}

fn lab_mean(size: f64) -> f64 {
    2.0 + 0.02 * size
}

fn beside(mean: impl Fn(f64) -> f64, loss: f64) -> LabComparison {
    let mut ours = report(Origin::Measured, mean, loss);
    add_lab(&mut ours, &report(Origin::Simulated, lab_mean, 1.0));
    ours.beside.unwrap()
}

#[test]
fn an_interval_is_within_a_band_or_outside_or_neither() {
    let band = (0.7, 1.3);
    let of = |value, low, high| within(value, (low, high), band);
    assert_eq!(of(1.0, Some(0.8), Some(1.29)), LabAgreement::AsPredicted);
    assert_eq!(of(1.0, Some(0.6), Some(1.2)), LabAgreement::Unsure);
    assert_eq!(of(1.5, Some(1.2), Some(1.8)), LabAgreement::Unsure);
    assert_eq!(of(1.5, Some(1.31), Some(1.8)), LabAgreement::Off);
    assert_eq!(of(0.5, Some(0.1), Some(0.69)), LabAgreement::Off);
    assert_eq!(of(1.5, Some(1.31), None), LabAgreement::Off);
    assert_eq!(of(1.2, None, None), LabAgreement::AsPredicted);
    assert_eq!(of(9.0, None, None), LabAgreement::Unsure, "a value alone shows nothing");
}

#[test]
fn equal_figures_are_as_predicted_and_counts_are_not_judged() {
    let it = beside(|size| 1.05 * lab_mean(size), 1.3);
    assert_eq!((it.verdict, it.compared, it.as_predicted), (LabAgreement::AsPredicted, 8, 8));
    assert_eq!((it.pairs.len(), it.hint, it.gap()), (12, None, None));
    let count = it.pairs.iter().find(|it| it.metric == "packets_sent").unwrap();
    assert_eq!((count.verdict, count.leads), (None, false));
    assert!(
        it.sentence().starts_with("As the lab predicts: 8 of 8 figures agree"),
        "{}",
        it.sentence()
    );
}

#[test]
fn a_constant_gap_is_the_firmware_and_one_that_grows_the_radio() {
    let constant = beside(|size| lab_mean(size) + 10.0, 1.0);
    let Some(GapHint::Constant { ms }) = constant.hint else { panic!("{:?}", constant.hint) };
    assert!((ms - 10.0).abs() < 1e-9 && constant.cause == Some(GapCause::Firmware));
    assert_eq!((constant.verdict, constant.off), (LabAgreement::Off, 4));
    let gap = constant.gap().unwrap();
    assert!(gap.contains("10 B: measured 12.2") && gap.contains("lab 2.2"), "{gap}");
    let slope = beside(|size| 2.0 + 0.06 * size, 1.0);
    let Some(GapHint::PerByte { us_per_byte }) = slope.hint else { panic!("{:?}", slope.hint) };
    assert!((us_per_byte - 40.0).abs() < 1e-6 && slope.cause == Some(GapCause::Radio));
    assert!(slope.advice().unwrap().starts_with("Look at the radio: "), "{:?}", slope.advice());
}

#[test]
fn loss_leads_to_the_radio_and_what_no_frame_can_do_to_the_measurement() {
    assert_eq!(beside(lab_mean, 1.9).verdict, LabAgreement::AsPredicted, "less than a point");
    let loss = beside(lab_mean, 7.0);
    assert_eq!((loss.verdict, loss.hint), (LabAgreement::Off, Some(GapHint::Loss)));
    assert!(loss.gap().unwrap().contains("+6.0"), "{:?}", loss.gap());
    assert_eq!(beside(|_| 0.5, 1.0).hint, Some(GapHint::BeyondLimit));
    assert_eq!(beside(|size| 0.6 * lab_mean(size), 1.0).hint, Some(GapHint::Better));
}

#[test]
fn a_test_without_a_counterpart_says_why() {
    let mut ours = report(Origin::Measured, lab_mean, 1.0);
    let mut lab = report(Origin::Simulated, lab_mean, 1.0);
    lab.cells.retain(|it| it.test.number != Some(2));
    ours.cells.retain(|it| it.test.number != Some(3));
    ours.cells.retain(|it| it.test.number != Some(4) || it.id.metric == "loss");
    lab.cells.retain(|it| it.test.number != Some(4) || it.id.metric == "rtt_avg");
    add_lab(&mut ours, &lab);
    let it = ours.beside.as_ref().unwrap();
    let why: Vec<(u32, Unpaired)> = it.unpaired.iter().map(|it| (it.cell, it.why)).collect();
    let wanted =
        [(2, Unpaired::NotSimulated), (3, Unpaired::NotMeasured), (4, Unpaired::OtherFigures)];
    assert_eq!(why, wanted);
    assert!(it.missing().unwrap().starts_with("3 tests have no counterpart"), "{:?}", it.missing());
    assert!(ours.tables.iter().any(|it| it.id == "beside-unpaired" && it.rows.len() == 3));
}

#[test]
fn one_chart_has_measured_lab_published_and_limit_of_the_same_tests() {
    let mut ours = report(Origin::Measured, |size| 1.1 * lab_mean(size), 1.0);
    ours.cells[0].test.published =
        Some(PublishedFigure { value: Some(2.5), ..PublishedFigure::default() });
    add_lab(&mut ours, &report(Origin::Simulated, lab_mean, 1.0));
    let figure = ours.figures.iter().find(|it| it.section == SECTION).unwrap();
    let series: Vec<(Origin, usize, bool)> = figure
        .series
        .iter()
        .map(|it| (it.origin, it.points.len(), it.points[0].low.is_some()))
        .collect();
    let wanted = [
        (Origin::Measured, 4, true),
        (Origin::Simulated, 4, true),
        (Origin::Published, 1, false),
        (Origin::Measured, 4, false),
    ];
    assert_eq!(series, wanted);
    assert_eq!((figure.x.label.as_str(), figure.x.unit.as_str()), ("payload", "B"));
    let xs: Vec<f64> = figure.series[1].points.iter().map(|it| it.x).collect();
    assert_eq!(xs, SIZES);
    // The same in the row of each result.
    let lab = ours.cells[0].test.lab.unwrap();
    assert!(lab.value == Some(2.2) && lab.verdict == Some(LabAgreement::AsPredicted), "{lab:?}");
}

#[test]
fn figures_that_the_lab_was_fitted_to_have_no_verdict_but_against_another_run() {
    let mut lab = report(Origin::Simulated, lab_mean, 1.0);
    for cell in &mut lab.cells {
        cell.test.fitted_run = Some("pings-1".into());
    }
    let mut ours = report(Origin::Measured, lab_mean, 1.0);
    add_lab(&mut ours, &lab);
    let own = ours.beside.take().unwrap();
    assert_eq!((own.verdict, own.fitted), (LabAgreement::NotCompared, 8));
    assert!(own.sentence().contains("was fitted to this run"), "{}", own.sentence());
    let mut other = report(Origin::Measured, lab_mean, 1.0);
    other.run.name = "pings-2".into();
    add_lab(&mut other, &lab);
    assert_eq!(other.beside.unwrap().verdict, LabAgreement::AsPredicted);
}

#[test]
fn repetitions_are_one_pair_with_the_interval_of_their_scatter() {
    let mut ours = report(Origin::Measured, lab_mean, 1.0);
    let again: Vec<Cell> = ours
        .cells
        .iter()
        .cloned()
        .map(|mut it| {
            it.value = it.value.map(|it| it + 0.2);
            it
        })
        .collect();
    ours.cells.extend(again);
    add_lab(&mut ours, &report(Origin::Simulated, lab_mean, 1.0));
    let it = ours.beside.unwrap();
    assert_eq!(it.pairs.len(), 12);
    let first = &it.pairs[0];
    assert!((first.measured.value - 2.3).abs() < 1e-9, "{}", format!("{first:?}"));
    assert!(first.measured.ci_high.unwrap() > 3.0, "two values are few");
}

#[test]
fn a_single_run_is_judged_with_the_scatter_of_the_labs_runs() {
    let verdict = |scatter: f64| {
        let mut lab = report(Origin::Simulated, lab_mean, 1.0);
        for at in [-2.0, -1.0, 1.0, 2.0] {
            let again = report(Origin::Simulated, |size| lab_mean(size) + at * scatter, 1.0);
            lab.cells.extend(again.cells);
        }
        let mut ours = report(Origin::Measured, |size| 2.0 * lab_mean(size), 1.0);
        add_lab(&mut ours, &lab);
        ours.beside.unwrap().pairs[0].verdict.unwrap()
    };
    assert_eq!(verdict(0.01), LabAgreement::Off);
    assert_eq!(verdict(1.0), LabAgreement::Unsure, "a lab's run alone may be the double");
}
