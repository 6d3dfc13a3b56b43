//! Cells that are no rooms: what threads do with the order, the memory and the failures of cells.

use super::*;
use espbench_measure::plan::PlannedCell;
use espbench_model::sample::Probe;
use espbench_sim::lab::suite::Seeds;
use std::sync::atomic::AtomicUsize;

/// Takes the first cells' samples; stops after so many.
#[derive(Default)]
struct Kept {
    samples: Vec<u64>,
    counts: Vec<(String, u64)>,
    most: Option<usize>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        let Sample::Probe(probe) = sample else { panic!("probes only") };
        self.samples.push(probe.seq);
    }

    fn count(&mut self, name: &str, by: u64) {
        self.counts.push((name.into(), by));
    }

    fn fact(&mut self, _: &str, _: String) {}

    fn cancelled(&self) -> bool {
        self.most.is_some_and(|most| self.samples.len() >= most)
    }
}

fn probe(seq: u64) -> Sample {
    Sample::Probe(Probe { seq, ..Probe::default() })
}

/// Makes so many cells, each with its number as its seed.
fn cells(count: u64) -> Vec<SeededCell> {
    let work = espbench_model::workload::EspNow {
        test: espbench_model::workload::EspNowTest::Ping,
        cast: espbench_model::workload::EspNowCast::Unicast,
        size: 10,
        count: 1,
        time: Duration::from_secs(1),
        devices: 1,
        distance_m: (1.0, 1.0),
        encrypted: false,
        lab: espbench_model::overrides::LabOverrides::NONE,
    };
    let step = PlannedCell { ordinal: 0, repetition: 0, workload: Workload::EspNow(work) };
    (0..count).map(|seed| SeededCell { position: 0, step, seeds: Seeds::both(seed) }).collect()
}

fn stuck(order: Order) -> TargetError {
    TargetError::Simulated { target: "sim:x".into(), why: format!("stuck {}", order.number) }
}

/// Gives as many samples as the order says; the third cell panics, the fifth is stuck.
fn faulty(order: Order, record: &mut dyn Record) -> Result<(), TargetError> {
    (0..1000).for_each(|seq| record.sample(probe(1000 * order.cell.seeds.cell + seq)));
    record.count("cell", order.cell.seeds.cell);
    assert!(order.number != 2, "the third");
    if order.number == 4 { Err(stuck(order)) } else { Ok(()) }
}

#[test]
fn a_cell_that_breaks_down_is_the_only_one_that_is_lost() {
    // Without a thread whoever asks for a cell carries it out himself.
    for threads in [0, 1, 3] {
        let ahead = Ahead::with(cells(8), threads, SAMPLES, Box::new(faulty));
        for number in 0..8 {
            let mut kept = Kept::default();
            let result = ahead.give(&mut kept).map_err(|error| error.to_string());
            let wanted: Vec<u64> = (0..1000).map(|seq| 1000 * number + seq).collect();
            assert_eq!(kept.samples, wanted, "what it gave before is kept");
            assert_eq!(kept.counts, [("cell".to_string(), number)]);
            match number {
                2 => {
                    let error = result.unwrap_err();
                    assert!(error.contains("broke down (the third); its seed is 2"), "{error}");
                }
                4 => assert_eq!(result, Err("sim:x: stuck 4".into())),
                _ => assert_eq!(result, Ok(())),
            }
        }
        assert_eq!(ahead.next(), None);
    }
}

/// Threads may simulate far ahead, but not more than the samples that may wait, and a batch each.
#[test]
fn threads_wait_where_too_many_samples_do() {
    const MOST: usize = 5 * BATCH;
    const EACH: u64 = 40 * BATCH as u64;
    let given = Arc::new(AtomicUsize::new(0));
    let giving = Arc::clone(&given);
    let carry_out = move |order: Order, record: &mut dyn Record| {
        for seq in 0..EACH {
            giving.fetch_add(1, Ordering::SeqCst);
            record.sample(probe(EACH * order.cell.seeds.cell + seq));
        }
        Ok(())
    };
    let ahead = Ahead::with(cells(4), 3, MOST, Box::new(carry_out));
    let (mut taken, mut next) = (0, 0);
    while next < 4 * EACH {
        let (samples, _) = ahead.take();
        taken += samples.len();
        // What may wait in all, as much of the first cell alone, and of each of three threads a batch
        // that it has just handed over and one in its hands.
        let waiting = given.load(Ordering::SeqCst) - taken;
        assert!(waiting <= 2 * MOST + 6 * BATCH, "{waiting}");
        for sample in samples {
            assert_eq!(sample, probe(next), "in order");
            next += 1;
        }
    }
    assert_eq!(taken, given.load(Ordering::SeqCst));
}

/// Samples that were taken before a stop stay, and threads that wait for room end.
#[test]
fn a_stop_ends_threads_that_wait() {
    let endless = |_: Order, record: &mut dyn Record| {
        let mut seq = 0;
        while !record.cancelled() {
            record.sample(probe(seq));
            seq += 1;
        }
        Err(TargetError::Cancelled)
    };
    let ahead = Ahead::with(cells(3), 3, 4 * BATCH, Box::new(endless));
    let mut kept = Kept { most: Some(10 * BATCH), ..Kept::default() };
    let error = ahead.give(&mut kept).unwrap_err();
    assert!(matches!(error, TargetError::Cancelled) && kept.samples.len() >= 10 * BATCH);
    // It joins its threads.
    drop(ahead);
}
