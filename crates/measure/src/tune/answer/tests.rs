use super::super::space::SearchSpace;
use super::super::want::objectives;
use super::*;
use espbench_model::sdkconfig::{SdkConfig, read};

fn wants() -> Vec<Want> {
    ["tcp-tx>=20Mbit/s", "heap>=100KB"].map(|it| it.parse().unwrap()).into()
}

fn tested(config: SdkConfig, mbit_s: f64, heap: i64, front: bool) -> TestedCandidate {
    let outcome =
        Evaluation { tcp_tx: Some(mbit_s), free_heap: Some(heap * 1024), ..Evaluation::default() };
    let missing = wants().iter().map(|it| it.shortfall(&outcome)).sum();
    let candidate = Candidate { config, power: Power::Awake };
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
    let without = |key, value, mbit_s, heap: i64| Without {
        key,
        value,
        outcome: Some(Evaluation {
            tcp_tx: Some(mbit_s),
            free_heap: Some(heap * 1024),
            ..Evaluation::default()
        }),
    };
    TuneAnswer {
        wants: wants(),
        objectives: objectives(&wants()),
        context: SdkContext::default(),
        streams: 1,
        tried: tried.into(),
        recommended: Some(1),
        without: alloc::vec![
            without(ConfigOption::DynamicRx, 8, 27.5, 130),
            without(ConfigOption::DynamicTx, 24, 27.5, 150),
            without(ConfigOption::LwipIram, 1, 24.1, 163),
            without(ConfigOption::SendBuffer, 24_576, 9.1, 170),
        ],
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
    let best = answer().best().unwrap().candidate.config;
    assert_eq!(reading.settings.config(&SdkContext::default()), best);
}

#[test]
fn the_answer_is_told() {
    insta::assert_snapshot!(answer().sentences().join("\n"));
    let mut poor = answer();
    poor.wants[0].value = 50.0;
    for it in &mut poor.tried {
        it.missing = poor.wants.iter().map(|want| want.shortfall(&it.mean)).sum();
    }
    let lines = poor.sentences();
    assert!(lines[0].contains("nothing that was tried has all of tcp-tx>=50Mbit/s"), "{lines:?}");
    assert_eq!(
        lines[1],
        "tcp-tx>=50Mbit/s is missed; the best of TCP sending by itself was 27.5 Mbit/s."
    );
    let none = TuneAnswer { tried: Vec::new(), recommended: None, ..answer() };
    assert_eq!((none.sentences().len(), fragment(&none).as_str()), (1, ""));
}

#[test]
fn tables_and_figures_say_that_they_are_simulated() {
    let report = report(&RunFacts::default(), &answer());
    assert!(report.tables.len() == 3 && report.figures.len() == 1);
    assert!(report.tables.iter().all(|it| it.title.ends_with("(simulated)")));
    assert!(report.figures.iter().all(|it| it.title.ends_with("(simulated)")));
    assert!(report.cells.iter().all(|it| it.origin == Origin::Simulated));
    for table in &report.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }
    let names: Vec<&str> = report.figures[0].series.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["tried", "Pareto front", "recommended", "wanted"]);
    assert_eq!(report.cells.len(), 4, "two on the front, two metrics");
    assert!(report.sections().iter().any(|it| it.id == super::super::SECTION));
}

#[test]
fn what_changes_nothing_need_not_be_written() {
    let mut answer = answer();
    let best = answer.best().unwrap().candidate;
    // The TX buffers change nothing by themselves.
    let plain = answer.plain().unwrap();
    assert_eq!(plain.config, SdkConfig { tx: 32, ..best.config });
    let worse = Evaluation { tcp_tx: Some(19.0), ..answer.best().unwrap().mean };
    assert!(!answer.prefer(plain, alloc::vec![worse]), "it misses what is wanted");
    assert!(!answer.prefer(plain, Vec::new()));
    let same = answer.best().unwrap().mean;
    assert!(answer.prefer(plain, alloc::vec![same]));
    assert_eq!(answer.best().unwrap().candidate, plain);
    assert_eq!(answer.plain(), None, "nothing is known yet of what its settings are good for");
    assert!(answer.front().iter().all(|it| it.candidate != best));
}

#[test]
fn a_search_becomes_an_answer() {
    let wants = wants();
    let space = SearchSpace::new(SdkContext::default(), &objectives(&wants), 1);
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
    let answer = TuneAnswer::of(&search, SdkContext::default(), 2);
    assert_eq!(answer.tried.len(), batch.len());
    assert!(answer.tried.iter().all(|it| it.front), "more throughput for less heap");
    assert_eq!(answer.recommended, Some(batch.len() - 1), "it misses the least");
}
