use super::super::space::SearchSpace;
use super::super::want::objectives;
use super::*;
use crate::table::Table;
use core::time::Duration;
use espbench_model::sdkconfig::ConfigOption;
use espbench_model::sdkconfig::{SdkConfig, read};

fn wants() -> Vec<Want> {
    ["tcp-tx>=20Mbit/s", "heap>=100KB"].map(|it| it.parse().unwrap()).into()
}

fn firmware(config: SdkConfig) -> Candidate {
    Candidate { config, clock_mhz: 160, power: Power::Awake }
}

fn outcome(mbit_s: f64, heap: i64) -> Evaluation {
    Evaluation {
        tcp_tx: Some(mbit_s),
        free_heap: Some(heap * 1024),
        current_ma: Some(87.0),
        ..Evaluation::default()
    }
}

fn tested(config: SdkConfig, mbit_s: f64, heap: i64, front: bool) -> TestedCandidate {
    let outcome = outcome(mbit_s, heap);
    let missing = wants().iter().map(|it| it.shortfall(&outcome)).sum();
    let candidate = firmware(config);
    TestedCandidate { candidate, mean: outcome, outcomes: alloc::vec![outcome; 3], missing, front }
}

fn answer() -> TuneAnswer {
    let small = SdkConfig { dynamic_rx: 8, tx: 24, ..SdkConfig::default() };
    let best = SdkConfig { tcp_send_buffer: 24_576, lwip_iram: true, ..small };
    let tried = [
        tested(SdkConfig::default(), 9.0, 137, false),
        tested(best, 27.5, 150, true),
        tested(small, 9.0, 180, true),
    ];
    let change = |key, mbit_s, heap: i64| RecommendedChange {
        setting: TunedSetting::Option(key),
        without: Some(outcome(mbit_s, heap)),
        missed: None,
    };
    let send = TunedSetting::Option(ConfigOption::SendBuffer);
    let candidate = firmware(best);
    let limit = super::super::limit::in_flight(
        Metric::TcpTx,
        1,
        best.tcp_send_buffer,
        &Duration::from_millis(5).into(),
    );
    let limits = DirectionLimits {
        metric: Metric::TcpTx,
        simulated_mbit_s: Some(27.5),
        limits: alloc::vec![limit],
    };
    TuneAnswer {
        wants: wants(),
        objectives: objectives(&wants()),
        context: SdkContext::default(),
        streams: 1,
        file: None,
        static_tx: false,
        base: firmware(SdkConfig::default()),
        before: alloc::vec![outcome(9.0, 137); 5],
        place: "lab x, variant y".into(),
        rtt: Duration::from_millis(5).into(),
        tried: tried.into(),
        recommended: Some(Recommendation {
            candidate,
            outcomes: [27.3, 27.4, 27.5, 27.6, 27.7].map(|it| outcome(it, 150)).into(),
            missing: 0.0,
            changes: alloc::vec![
                change(ConfigOption::DynamicRx, 27.5, 130),
                change(ConfigOption::DynamicTx, 27.5, 150),
                change(ConfigOption::LwipIram, 24.1, 163),
                RecommendedChange {
                    missed: Some(send.set(&candidate, 16_384)),
                    ..change(ConfigOption::SendBuffer, 9.1, 170)
                },
            ],
            with: Some(outcome(27.5, 150)),
            limits: alloc::vec![limits],
        }),
        beyond: Vec::new(),
        weak_battery: None,
        spent: 40,
        stopped: false,
        notes: alloc::vec!["A room.".into()],
    }
}

#[test]
fn every_line_of_the_fragment_says_why() {
    let text = fragment(&answer());
    insta::assert_snapshot!(text);
    let reading = read(&text).expect("a file");
    let best = answer().recommended.unwrap().candidate.config;
    assert_eq!(reading.settings.config(&SdkContext::default()), best);
}

#[test]
fn the_answer_is_told() {
    insta::assert_snapshot!(answer().sentences().join("\n"));
    let mut poor = answer();
    poor.wants[0].value = 50.0;
    if let Some(best) = &mut poor.recommended {
        best.missing = 0.6;
    }
    let lines = poor.sentences();
    assert!(
        lines[0].contains("tcp-tx>=50Mbit/s, heap>=100KB: not reached by any setting"),
        "{lines:?}"
    );
    assert_eq!(
        lines[1],
        "tcp-tx>=50Mbit/s is missed; the best TCP sending that was tried is 27.5 Mbit/s."
    );
    poor.beyond.push(BeyondReach { want: poor.wants[0], best: 41.0, why: "it is so".into() });
    let lines = poor.sentences();
    assert!(lines[0].ends_with(": cannot be met."), "{lines:?}");
    assert_eq!(
        lines[1],
        "tcp-tx>=50Mbit/s cannot be met: it is so, so TCP sending is at most 41 Mbit/s."
    );
    let none = TuneAnswer { tried: Vec::new(), recommended: None, ..answer() };
    assert_eq!((none.sentences().len(), fragment(&none).as_str()), (1, ""));
}

/// "The best that was tried is 21 mA" stood beside a wish of 40 mA that was missed, as if 21 were more than 40.
#[test]
fn wishes_that_exclude_each_other_are_told_with_what_is_given_up() {
    let mut poor = answer();
    // Nothing has both: 27.5 Mbit/s with 150 KB, or 180 KB with 9.
    poor.wants[1].value = 170.0;
    let heap = |answer: &TuneAnswer| answer.shortfalls().join(" ");
    assert_eq!(
        heap(&poor),
        "heap>=170KB is missed: of the settings that were tried and reach it, the nearest has 180 KB, and its TCP sending \
         is 9 Mbit/s."
    );
    poor.before = alloc::vec![outcome(9.0, 175)];
    assert!(heap(&poor).ends_with("9 Mbit/s. Without the changes it is met."), "{}", heap(&poor));
    // In the search one had both, and not when it was tried again.
    poor.tried[1].mean = outcome(27.5, 171);
    assert!(
        heap(&poor).starts_with("heap>=170KB is missed with new seeds: 150 KB."),
        "{}",
        heap(&poor)
    );
}

#[test]
fn sleep_is_told_where_what_is_wanted_depends_on_it() {
    let told = |want: &str| {
        let wants = alloc::vec![want.parse().unwrap()];
        let answer = TuneAnswer { wants, ..answer() };
        let all =
            [fragment(&answer), answer.sentences().join("\n"), answer.card().notes.join("\n")];
        let told = all.each_ref().map(|it| it.contains("WIFI_PS_NONE"));
        assert!(told.iter().all(|it| *it == told[0]), "{want}: {all:?}");
        told[0]
    };
    assert!(
        ["udp-latency<=10ms", "udp-latency-p99<=20ms", "current<=90mA", "battery>=1d"]
            .iter()
            .all(|it| told(it))
    );
    assert!(!["tcp-tx>=20Mbit/s", "udp-rx>=20Mbit/s", "heap>=100KB"].iter().any(|it| told(it)));
}

#[test]
fn a_change_says_what_it_gives_how_far_it_may_go_back_and_what_it_costs() {
    let tables = answer().card().tables();
    let ids: Vec<&str> = tables.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["tune-figures", "tune-changes", "tune-limits"]);
    let row = |table: usize, at: usize| -> Vec<String> {
        tables[table].rows[at].iter().map(|it| it.clone().unwrap_or_default()).collect()
    };
    assert_eq!(row(0, 0), ["TCP sending (Mbit/s)", "9", "27.5 [27.3, 27.7]", ">= 20"]);
    assert_eq!(
        row(1, 3),
        [
            "CONFIG_LWIP_TCP_SND_BUF_DEFAULT=24576",
            "5760",
            "tcp-tx +18.4 Mbit/s",
            "16384",
            "-20 KB",
            "0 mA"
        ]
    );
}

#[test]
fn tables_and_figures_say_that_they_are_simulated() {
    let report = report(&RunFacts::default(), &answer());
    assert!(report.tables.len() == 6 && report.figures.len() == 1);
    let limits = |it: &&Table| it.id != "tune-limits";
    // A table of settings alone has no figure that somebody might take for a measured one.
    let simulated: Vec<_> = report.tables.iter().filter(|it| it.origin().is_some()).collect();
    assert!(
        simulated.iter().filter(|it| limits(it)).all(|it| it.full_title().ends_with("(simulated)"))
    );
    assert!(simulated.len() >= 3, "{simulated:?}");
    assert!(report.figures.iter().all(|it| it.full_title().ends_with("(simulated)")));
    assert!(report.cells.iter().all(|it| it.origin == Origin::Simulated));
    for table in &report.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }
    let names: Vec<&str> = report.figures[0].series.iter().map(|it| &*it.name).collect();
    let expected = [
        "tried",
        "best trade-offs (Pareto front)",
        "the defaults",
        "recommended",
        "wanted: TCP sending",
        "wanted: free heap",
    ];
    assert_eq!(names, expected);
    assert_eq!(report.cells.len(), 4, "two on the front, two metrics");
    assert!(report.sections().iter().any(|it| it.id == super::super::SECTION));
}

#[test]
fn a_search_becomes_an_answer() {
    let wants = wants();
    let space = SearchSpace::new(
        SdkContext::default(),
        firmware(SdkConfig::default()),
        &objectives(&wants),
        1,
        false,
    );
    let mut search = Search::new(space, &wants, 1, 8);
    let batch = search.batch();
    let results: Vec<_> = batch
        .iter()
        .enumerate()
        .map(|(at, it)| {
            let heap = Some(1024 * (200 - at as i64));
            (
                *it,
                Some(Evaluation {
                    tcp_tx: Some(at as f64),
                    free_heap: heap,
                    ..Evaluation::default()
                }),
            )
        })
        .collect();
    search.record(&results);
    let answer = TuneAnswer::of(&search, 2, Duration::from_millis(5).into());
    assert_eq!(answer.tried.len(), batch.len());
    assert!(answer.tried.iter().all(|it| it.front), "more throughput for less heap");
    assert_eq!(search.ranked()[0], batch.len() - 1, "it misses the least");
}
