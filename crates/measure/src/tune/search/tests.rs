//! Searches whose best is known.

use super::super::space::Power;
use super::*;
use espbench_model::sdkconfig::SdkContext;
use std::vec;

/// A link that is as fast as the smaller of window and buffers, and a heap that pays for them.
struct Synthetic;

impl Synthetic {
    fn evaluate(candidate: &Candidate, seed: u64) -> Evaluation {
        let it = &candidate.config;
        let segments = f64::from(it.tcp_send_buffer) / 1440.0;
        let carried = segments.min(it.tx.into()).min(24.0);
        let fast = if it.lwip_iram { 1.2 } else { 1.0 };
        let heap = 200_000
            - 1638 * i64::from(it.static_rx + it.dynamic_rx + it.tx)
            - i64::from(it.tcp_send_buffer)
            - if it.lwip_iram { 13_000 } else { 0 };
        let current = match candidate.power {
            Power::Awake => 80.0,
            Power::MinModem => 20.0,
            Power::MaxModem(n) => 20.0 - f64::from(n),
        };
        Evaluation {
            tcp_tx: Some(carried * fast + seed as f64 * 0.01),
            free_heap: Some(heap),
            latency_ms: Some(match candidate.power {
                Power::Awake => (3.0, 8.0),
                _ => (60.0, 110.0),
            }),
            current_ma: Some(current),
            battery_days: Some(2000.0 / current / 24.0),
            ..Evaluation::default()
        }
    }
}

fn wants(texts: &[&str]) -> Vec<Want> {
    texts.iter().map(|it| it.parse().unwrap()).collect()
}

fn space(metrics: &[Metric]) -> SearchSpace {
    let config = espbench_model::sdkconfig::SdkConfig::default();
    let base = Candidate { config, clock_mhz: 160, power: Power::Awake };
    SearchSpace::new(SdkContext::default(), base, metrics, 1, false)
}

fn run(wants: &[Want], seed: u64, budget: usize) -> Search {
    let space = space(&objectives(wants));
    let mut search = Search::new(space, wants, seed, budget);
    loop {
        let batch = search.batch();
        if batch.is_empty() {
            return search;
        }
        let found = |it: &Trial| (*it, Some(Synthetic::evaluate(&it.candidate, it.seed as u64)));
        let results: Vec<_> = batch.iter().map(found).collect();
        search.record(&results);
    }
}

/// Of candidates that have what is wanted, the one that changes least comes first, whatever heap another
/// leaves.
#[test]
fn it_finds_what_is_wanted_with_few_changes() {
    let wants = wants(&["tcp-tx>=20Mbit/s"]);
    let search = run(&wants, 1, 200);
    let changes = |it: &usize| search.tried()[*it].candidate.changes(search.space().base()).len();
    let reached: Vec<usize> =
        search.ranked().into_iter().take_while(|it| search.missing(*it) <= 0.0).collect();
    assert!(reached.len() > 10);
    assert!(reached.windows(2).all(|it| changes(&it[0]) <= changes(&it[1])));
    let heap = |it: &usize| search.tried()[*it].mean().free_heap;
    assert!(reached.iter().any(|it| heap(it) > heap(&reached[0])));
    assert!(search.tried()[reached[0]].candidate.config.tcp_send_buffer >= 24_576);
    assert!(search.spent() <= 200);
}

#[test]
fn the_nearest_comes_first_where_nothing_reaches_the_want() {
    let search = run(&wants(&["tcp-tx>=500Mbit/s"]), 1, 60);
    let rate = |it: &usize| search.tried()[*it].mean().tcp_tx.unwrap();
    let ranked = search.ranked();
    assert!(ranked.windows(2).all(|it| rate(&it[0]) >= rate(&it[1])));
    assert!(rate(&ranked[0]) > 28.0);
}

#[test]
fn the_best_are_tried_with_several_seeds() {
    let search = run(&wants(&["tcp-tx>=20Mbit/s", "heap>=100KB"]), 3, 120);
    let seeds: Vec<usize> = search.tried().iter().map(|it| it.outcomes.len()).collect();
    let best = search.best()[0];
    assert!(search.tried()[best].outcomes.len() >= 2, "{seeds:?}");
    assert!(seeds.iter().filter(|it| **it == 1).count() > 60, "{seeds:?}");
    let total: usize = seeds.iter().sum();
    assert_eq!(total, search.spent());
    assert!(total <= 120);
}

#[test]
fn the_same_seed_tries_the_same_and_another_does_not() {
    let wants = wants(&["tcp-tx>=20Mbit/s", "battery>=5d"]);
    let all = |seed| -> Vec<Candidate> {
        run(&wants, seed, 80).tried().iter().map(|it| it.candidate).collect()
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn a_battery_is_traded_for_latency() {
    let best = |texts: &[&str]| {
        let search = run(&wants(texts), 1, 100);
        let best = search.best()[0];
        assert!(search.missing(best) <= 0.0, "{texts:?}");
        search.tried()[best].candidate.power
    };
    assert_eq!(best(&["battery>=8d"]), Power::MaxModem(10));
    assert_eq!(best(&["udp-latency<=10ms", "battery>=1d"]), Power::Awake);
}

#[test]
fn it_ends_where_nothing_can_be_found_out() {
    let wants = wants(&["tcp-tx>=1Mbit/s"]);
    let mut search = Search::new(space(&[]), &wants, 1, 40);
    let mut spent = 0;
    while let batch @ [_, ..] = search.batch().as_slice() {
        let results: Vec<_> = batch.iter().map(|it| (*it, None)).collect();
        spent += batch.len();
        search.record(&results);
    }
    assert!(spent <= 40 && search.best() == vec![0; 0]);
}

#[test]
fn a_small_budget_is_kept() {
    for budget in 1..20 {
        let search = run(&wants(&["tcp-tx>=20Mbit/s"]), 1, budget);
        assert!(search.spent() <= budget && search.spent() >= 1, "{budget}");
    }
}
