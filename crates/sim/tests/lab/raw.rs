//! `esp_now_send` without the component: what fitted the driver, and what it does with a queue.

use esp_now::frame::mpdu_len;
use espbench_dot11::radio::airtime::ACK_OCTETS;
use espbench_dot11::radio::{BasicRates, WifiMode, airtime};
use espbench_model::overrides::LabOverrides;
use espbench_model::sample::{Probe, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{Name, RawEspNow, Workload};
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
    probes_in(work, None)
}

fn probes_in(work: RawEspNow, lab: Option<&str>) -> Vec<Probe> {
    let mut probes = Probes::default();
    let work = Workload::RawEspNow(work);
    run(&work, &Library::built_in(), lab, Seeds::both(7), &mut probes).unwrap();
    probes.0
}

/// Returns the 5th percentile, the median and the 95th percentile of the microseconds from one frame to the
/// next.
fn quantiles(probes: &[Probe]) -> [f64; 3] {
    let gaps = gaps(probes);
    [5, 50, 95].map(|percent| gaps[gaps.len() * percent / 100])
}

/// Returns the microseconds from one frame to the next, the shortest first.
fn gaps(probes: &[Probe]) -> Vec<f64> {
    let arrivals: Vec<_> = probes.iter().filter_map(|it| it.received).collect();
    let mut gaps: Vec<f64> =
        arrivals.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e6).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

#[test]
fn a_beacon_puts_off_one_frame_of_thirty_and_so_the_99th_percentile() {
    for (is_broadcast, measured) in [(false, [3148.0, 6449.0]), (true, [2831.0, 5938.0])] {
        let work = RawEspNow { is_broadcast, ..WORK };
        let gaps = gaps(&probes_in(work, Some("raw-esp-now-beacons")));
        let got = [50, 99].map(|percent| gaps[gaps.len() * percent / 100]);
        assert!((got[0] - measured[0]).abs() < 16.0, "{is_broadcast}: {got:?}");
        // Of 280 octets; a beacon of 353 would take the rest.
        assert!((got[1] / measured[1] - 0.86).abs() < 0.03, "{is_broadcast}: {got:?}");
        let quiet = quantiles(&probes(work));
        assert!(quiet[2] < 1.1 * quiet[1], "{quiet:?}");
    }
}

#[test]
fn a_call_makes_room_for_the_driver_whose_core_it_has() {
    let work = |profile: &str| {
        let lab = LabOverrides { clock_mhz: Some(80), ..at(profile, "HT20-MCS7").lab };
        RawEspNow { is_broadcast: true, lab, ..at(profile, "HT20-MCS7") }
    };
    let costs = |profile: &str| {
        let chip = Library::built_in().profile(profile).unwrap().node_at_clock(80);
        let turns = chip.send_latency.ns(250) + chip.sent_latency.ns(250) + 2 * chip.jitter_ns;
        [chip.esp_now_send.ns(250) as f64 / 1e3, turns as f64 / 1e3]
    };
    // The frame takes less than the call: the processor is the limit, also where another core has nothing to do.
    for chip in ["esp32c3", "esp32"] {
        let [call, turns] = costs(chip);
        let [_, median, _] = quantiles(&probes(work(chip)));
        assert!((median / (call + turns) - 1.0).abs() < 0.1, "{median} for {call} and {turns}");
    }
}

#[test]
fn with_frequency_scaling_each_interrupt_takes_longer() {
    let [_, median, _] = quantiles(&probes(WORK));
    let idle = LabOverrides { idle_clock_mhz: Some(80), ..LabOverrides::NONE };
    let [_, scaled, _] = quantiles(&probes(RawEspNow { lab: idle, ..WORK }));
    // One interrupt from frame to frame: that of its end.
    assert!((scaled - median - 10.0).abs() < 2.0, "{median} {scaled}");
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

/// Returns a raw test on a chip at a rate.
fn at(profile: &str, rate: &str) -> RawEspNow {
    let lab = LabOverrides {
        profile: Name::new(profile),
        phy_rate: Name::new(rate),
        ..LabOverrides::NONE
    };
    RawEspNow { awaits_callback: false, count: 300, lab, ..WORK }
}

/// Returns the median of the microseconds between frames, and the microseconds of a frame with its ACK.
fn spacing(work: RawEspNow, rate: &str, space: f64) -> (f64, f64) {
    let mode: WifiMode = rate.parse().unwrap();
    let answer = airtime(BasicRates::NONE.response_to(mode), ACK_OCTETS);
    let air = (airtime(mode, mpdu_len(250) as u32) + answer) as f64 / 1e3;
    let probes = probes(work);
    assert!(probes.iter().filter(|it| it.received.is_some()).count() > 295, "{rate}");
    (quantiles(&probes)[1], air + space)
}

#[test]
fn he_frames_follow_at_the_air_times_of_their_mode() {
    for chip in ["esp32c5", "esp32c6", "esp32c61"] {
        let rates =
            ["HE20-MCS0", "HE20-MCS9-SGI", "HE20-MCS0-DCM", "HE20-ER-MCS0", "HE20-ER106-MCS0"];
        for rate in rates {
            let (median, air) = spacing(at(chip, rate), rate, 10.0);
            assert!((20.0..260.0).contains(&(median - air)), "{chip} {rate}: {median} over {air}");
        }
    }
    let refused = run(
        &Workload::RawEspNow(at("esp32c3", "HE20-MCS0")),
        &Library::built_in(),
        None,
        Seeds::both(1),
        &mut Probes::default(),
    );
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("an esp32c3 has no 802.11ax"), "{refused}");
    assert!(refused.contains("esp32c6, esp32c5, esp32c61"), "{refused}");
}

#[test]
fn long_range_is_slow_and_of_chips_that_have_it() {
    for (rate, least) in [("LR-250K", 10_000.0), ("LR-500K", 5_400.0)] {
        let (median, air) = spacing(at("esp32", rate), rate, 10.0);
        assert!(median > least && (20.0..260.0).contains(&(median - air)), "{rate}: {median}");
    }
    for chip in ["esp32c2", "esp8266"] {
        let work = Workload::RawEspNow(at(chip, "LR-250K"));
        let library = Library::built_in();
        let refused = run(&work, &library, None, Seeds::both(1), &mut Probes::default());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("has no Long Range"), "{chip}: {refused}");
    }
}

#[test]
fn in_5_ghz_frames_go_at_6_mbit_s_and_an_esp32_does_not() {
    let lab = Some("raw-esp-now-5ghz");
    let set = |phy_rate: Option<&str>| LabOverrides {
        phy_rate: phy_rate.and_then(Name::new),
        ..LabOverrides::NONE
    };
    let work = |rate| RawEspNow { awaits_callback: false, count: 300, lab: set(rate), ..WORK };
    // 20 us, (16 + 8 x 293 + 6) / 24 = 98.6 symbols of 4 us; SIFS of 16 us; and an ACK of 44 us.
    let air = 20.0 + 99.0 * 4.0 + 16.0 + 44.0;
    let [_, median, _] = quantiles(&probes_in(work(None), lab));
    assert!((30.0..260.0).contains(&(median - air)), "{median} over {air}");
    let [_, fast, _] = quantiles(&probes_in(work(Some("HE20-MCS9-SGI")), lab));
    assert!(fast < median - 200.0, "{fast} {median}");
    let refused = |work: RawEspNow| {
        let (work, library) = (Workload::RawEspNow(work), Library::built_in());
        let end = run(&work, &library, lab, Seeds::both(1), &mut Probes::default());
        end.unwrap_err().to_string()
    };
    let slow = refused(work(Some("1M")));
    assert!(slow.contains("on channel 36: 5 GHz has no DSSS"), "{slow}");
    let profile = LabOverrides { profile: Name::new("esp32c6"), ..LabOverrides::NONE };
    let other = refused(RawEspNow { lab: profile, ..WORK });
    assert!(other.contains("an esp32c6 has no 5 GHz (esp32c5 has)"), "{other}");
}
