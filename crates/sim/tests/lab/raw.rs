//! `esp_now_send` without the component: what fitted the driver, and what it does with a queue.

use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Probe, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{RawEspNow, Workload};
use espbench_sim::lab::file::Library;
use espbench_sim::lab::record::Record;
use espbench_sim::lab::suite::{Seeds, run};

const WORK: RawEspNow = RawEspNow {
    is_broadcast: false,
    size: 250,
    count: 2000,
    awaits_callback: true,
    distance_m: 1.0,
    lab: LabOverrides::NONE,
};

/// Probes of a cell.
#[derive(Default)]
struct Probes(Vec<Probe>);

impl Record for Probes {
    fn sample(&mut self, sample: Sample) {
        if let Sample::Probe(probe) = sample {
            self.0.push(probe);
        }
    }

    fn count(&mut self, _: &str, _: u64) {}

    fn fact(&mut self, _: &str, _: String) {}

    fn cancelled(&self) -> bool {
        false
    }
}

fn probes(work: RawEspNow) -> Vec<Probe> {
    let mut probes = Probes::default();
    let work = Workload::RawEspNow(work);
    run(&work, &Library::built_in(), None, Seeds::both(7), &mut probes).unwrap();
    probes.0
}

/// Returns the 5th percentile, the median and the 95th percentile of the microseconds from one frame to the
/// next.
fn quantiles(probes: &[Probe]) -> [f64; 3] {
    let arrivals: Vec<_> = probes.iter().filter_map(|it| it.received).collect();
    let mut gaps: Vec<f64> =
        arrivals.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e6).collect();
    gaps.sort_by(f64::total_cmp);
    [5, 50, 95].map(|percent| gaps[gaps.len() * percent / 100])
}

#[test]
fn frames_follow_each_other_as_measured_on_boards() {
    for (is_broadcast, measured) in
        [(false, [3124.0, 3148.0, 3207.0]), (true, [2806.0, 2831.0, 2882.0])]
    {
        let got = quantiles(&probes(RawEspNow { is_broadcast, ..WORK }));
        for (got, measured) in got.iter().zip(measured) {
            assert!((got - measured).abs() < 16.0, "{is_broadcast}: {got} for {measured}");
        }
    }
}

#[test]
fn a_driver_with_a_queue_rests_between_two_frames() {
    // 192 us and 8 us an octet, and the MAC's ACK.
    let air = [2536.0 + 10.0 + 304.0, 2536.0];
    for (is_broadcast, air) in [(false, air[0]), (true, air[1])] {
        let work = RawEspNow { is_broadcast, awaits_callback: false, count: 300, ..WORK };
        let probes = probes(work);
        let [least, median, _] = quantiles(&probes);
        // Both turns of its task, and what holds them up.
        assert!(least > air + 82.0 && (100.0..140.0).contains(&(median - air)), "{median}");
        // The queue is as long as the driver has buffers.
        let waits = |it: &Probe| it.acked.unwrap().since(it.queued.unwrap());
        let longest = probes.iter().map(waits).max().unwrap();
        assert!(longest > Duration::from_millis(31 * 2) && longest < Duration::from_millis(32 * 4));
    }
}

#[test]
fn long_bodies_need_a_release_that_has_them() {
    let long = Workload::RawEspNow(RawEspNow { size: 1470, count: 3, ..WORK });
    let library = Library::built_in();
    let run = |lab| run(&long, &library, lab, Seeds::both(1), &mut Probes::default());
    run(None).unwrap();
    let refused = run(Some("two-boards")).unwrap_err().to_string();
    assert!(refused.contains("at most 250 bytes") && refused.contains("5.4"), "{refused}");
}
