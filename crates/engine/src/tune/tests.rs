//! A search and a check that agree, over labs, chips and round trips.

use super::{
    InTurn, RankSetup, SimulatedRank, TuneError, TuneFile, TuneLab, TuneSetup, search, simulate,
    simulate_ranks,
};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_measure::tune::answer::{TuneAnswer, fragment};
use espbench_measure::tune::check::{CheckInput, Checked, check};
use espbench_measure::tune::{
    DirectionLimits, Evaluation, LimitCause, Metric, RoundTrip, RoundTripSource, TunedSetting,
};
use espbench_model::sdkconfig::memory::Traffic;
use espbench_model::sdkconfig::{Chip, ConfigOption, read};
use espbench_sim::lab::file::Library;

fn setup(wants: &[&str]) -> TuneSetup {
    TuneSetup {
        lab: "shield-box".into(),
        variant: None,
        file: None,
        chip: None,
        release: None,
        heap: None,
        psram: false,
        rtt: None,
        streams: 1,
        time: Duration::from_millis(500),
        message_every: Duration::from_secs(10),
        battery: "2210mAh".parse().unwrap(),
        wants: wants.iter().map(|it| it.parse().unwrap()).collect(),
        budget: 10,
        seed: 1,
    }
}

fn lab(setup: TuneSetup) -> TuneLab {
    TuneLab::new(setup, &Library::built_in()).unwrap()
}

fn file(name: &str, text: &str) -> TuneFile {
    TuneFile { name: name.to_string(), reading: read(text).unwrap() }
}

/// Checks a file in the lab of a setup.
fn checked(setup: TuneSetup, text: &str) -> Checked {
    let file = file("tuned", text);
    let lab = lab(TuneSetup { file: Some(file.clone()), wants: Vec::new(), ..setup });
    let input = CheckInput {
        file: file.name,
        reading: file.reading,
        context: *lab.context(),
        chip_is_said: false,
        traffic: Traffic { streams: lab.setup().streams, udp_sockets: 1 },
        rtt: lab.rtt().clone(),
        burst: None,
        heap: None,
    };
    let mut checked = check(&input);
    simulate(&mut checked, &input, &lab, &mut InTurn).unwrap();
    checked
}

/// Asserts that nothing is faster than its limits, and that a check of what is recommended has the same
/// limits and names the same bottleneck.
fn agree(setup: TuneSetup, answer: &TuneAnswer) -> usize {
    let best = answer.recommended.as_ref().unwrap();
    let checked = checked(setup, &fragment(answer));
    assert!((checked.rtt_ms - answer.rtt.ms()).abs() < 1e-4);
    let mut compared = 0;
    for own in &best.limits {
        let most = own.at_most_mbit_s().unwrap();
        for outcome in &best.outcomes {
            let rate = outcome.value(own.metric).unwrap();
            assert!(rate <= most, "{:?}: {rate} Mbit/s, at most {most}: {own:?}", own.metric);
        }
        let of_check = checked.limits.iter().find(|it| it.metric == own.metric).unwrap();
        let cause = |it: &DirectionLimits| it.bottleneck().map(|it| it.cause);
        assert_eq!(cause(of_check), cause(own));
        assert_eq!(of_check.at_most_mbit_s(), own.at_most_mbit_s());
        compared += 1;
    }
    compared
}

#[test]
fn a_check_of_what_is_recommended_agrees_with_the_search() {
    let millis = |it| Some(RoundTrip::from(Duration::from_millis(it)));
    let both = ["tcp-tx>=18Mbit/s", "tcp-rx>=15Mbit/s"];
    for (chip, rtt, streams, wants) in [
        (Chip::Esp32c3, None, 1, &both[..]),
        (Chip::Esp32c3, millis(5), 1, &both),
        (Chip::Esp32s3, None, 2, &both),
        (Chip::Esp32c6, millis(20), 4, &["tcp-rx>=10Mbit/s"]),
        (Chip::Esp32, millis(3), 1, &["tcp-tx>=24Mbit/s"]),
    ] {
        let setup = TuneSetup { chip: Some(chip), rtt, streams, ..setup(wants) };
        let answer = search(&lab(setup.clone()), &mut InTurn).unwrap();
        assert!(answer.recommended.as_ref().unwrap().is_reached(), "{chip} {:?}", answer.rtt);
        assert_eq!(agree(setup, &answer), wants.len());
    }
}

/// A coin cell gives 15 mA, and an ESP32-C3 takes twenty times as much while it sends.
#[test]
fn a_battery_that_cannot_give_the_pulses_is_named_first() {
    let of = |battery: &str| {
        let setup =
            TuneSetup { battery: battery.parse().unwrap(), budget: 1, ..setup(&["battery>=0.3d"]) };
        search(&lab(setup), &mut InTurn).unwrap().shortfalls()
    };
    let said = of("CR2032");
    assert!(said[0].starts_with("CR2032 cannot give the pulses"), "{said:?}");
    assert!(of("2xAA").iter().all(|it| !it.contains("pulses")));
}

/// A candidate of the search that is no nearer to what is wanted than the firmware is no advice.
#[test]
fn a_change_that_brings_nothing_is_not_recommended() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=5744\n\
                CONFIG_LWIP_TCP_WND_DEFAULT=5744\n";
    for seed in 1..=3 {
        let setup = TuneSetup {
            file: Some(file("mine", text)),
            budget: 6,
            seed,
            ..setup(&["tcp-tx>=25Mbit/s"])
        };
        let answer = search(&lab(setup), &mut InTurn).unwrap();
        let best = answer.recommended.as_ref().unwrap();
        let gain = answer.missing(&answer.before) - best.missing;
        assert!(best.changes.is_empty() || gain > 0.01, "{gain}: {:?}", best.changes);
        let says = answer.shortfalls().iter().any(|it| it.starts_with("No change that was tried"));
        assert_eq!(says, best.changes.is_empty() && !best.is_reached());
    }
}

/// The file of the review: 20 Mbit/s take one change, and the rest of the file stays.
#[test]
fn a_search_from_a_file_changes_what_the_want_needs_and_no_more() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=7\n\
                CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=28\nCONFIG_LWIP_UDP_RECVMBOX_SIZE=9\n\
                CONFIG_LWIP_TCP_SND_BUF_DEFAULT=5760\n";
    let setup =
        TuneSetup { file: Some(file("mine", text)), budget: 24, ..setup(&["tcp-tx>=27Mbit/s"]) };
    let lab = lab(setup.clone());
    let answer = search(&lab, &mut InTurn).unwrap();
    let best = answer.recommended.as_ref().unwrap();
    assert!(best.is_reached() && best.outcomes.len() == 5);
    assert_eq!(best.changes.len(), 1, "{:?}", best.changes);
    // Without the change the want fails, and with a step less of it, too: the least is recommended and shown.
    let change = &best.changes[0];
    let want = setup.wants[0];
    assert!(want.shortfall(&change.without.unwrap()) > 0.0);
    let missed = change.missed.expect("a step less");
    let outcomes: Vec<Evaluation> = (1000..1005)
        .map(|seed| lab.evaluate(&missed, seed, &[want.metric], &|| false).unwrap())
        .collect();
    assert!(want.shortfall(&Evaluation::mean(&outcomes)) > 0.0);
    let told = answer.card().change_sentences();
    assert!(told[0].ends_with(" is not enough"), "{told:?}");
    assert_eq!((best.candidate.config.static_rx, best.candidate.config.udp_mailbox), (7, 9));
    let lines = fragment(&answer);
    let set: Vec<&str> = lines.lines().filter(|it| it.starts_with("CONFIG_")).collect();
    assert_eq!(set.len(), 1, "{lines}");
}

#[test]
fn what_a_file_reaches_already_needs_no_change() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=16384\n";
    let setup = TuneSetup { file: Some(file("mine", text)), ..setup(&["tcp-tx>=20Mbit/s"]) };
    let answer = search(&lab(setup), &mut InTurn).unwrap();
    let best = answer.recommended.as_ref().unwrap();
    assert!(best.is_reached() && best.changes.is_empty());
    assert_eq!(answer.verdict(), "tcp-tx>=20Mbit/s: reached by mine, with no change");
}

/// Wants beyond physics say so, and what is recommended is the nearest, whatever heap it leaves.
#[test]
fn what_cannot_be_met_is_said_and_the_nearest_is_recommended() {
    for (want, metric) in [
        ("tcp-tx>=500Mbit/s", Metric::TcpTx),
        ("battery>=300d", Metric::Battery),
        ("udp-latency<=0.5ms", Metric::UdpLatency),
    ] {
        let answer = search(&lab(setup(&[want])), &mut InTurn).unwrap();
        let best = answer.recommended.as_ref().unwrap();
        assert!(!best.is_reached());
        let [beyond] = &answer.beyond[..] else { panic!("{want}: {:?}", answer.beyond) };
        let reached = best.mean().value(metric).unwrap();
        let tried = answer.tried.iter().filter_map(|it| it.mean.value(metric));
        if metric.more() {
            assert!(reached <= beyond.best && beyond.best < beyond.want.value, "{beyond:?}");
            let most = tried.reduce(f64::max).unwrap();
            assert!(reached > 0.97 * most, "{want}: {reached}, {most} was tried");
        } else {
            assert!(reached >= beyond.best && beyond.best > beyond.want.value, "{beyond:?}");
            let least = tried.reduce(f64::min).unwrap();
            assert!(reached < 1.03 * least, "{want}: {reached}, {least} was tried");
        }
    }
}

/// The clock is a knob: a current that 160 MHz does not allow is reached with 80 MHz.
#[test]
fn the_clock_is_turned_for_a_current() {
    let setup = TuneSetup { budget: 40, ..setup(&["current<=19mA"]) };
    let answer = search(&lab(setup), &mut InTurn).unwrap();
    let best = answer.recommended.as_ref().unwrap();
    assert!(best.is_reached(), "{best:?}");
    let changed: Vec<TunedSetting> = best.changes.iter().map(|it| it.setting).collect();
    assert_eq!(changed, [TunedSetting::Clock, TunedSetting::Sleep]);
    assert!(fragment(&answer).contains("\nCONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_80=y\n"));
}

#[test]
fn the_round_trip_is_the_one_that_was_asked_for() {
    let own = lab(setup(&[]));
    assert_eq!(own.rtt().source, RoundTripSource::Lab("shield-box".into()));
    let own = own.rtt().time;
    assert!((Duration::from_millis(1)..Duration::from_millis(3)).contains(&own), "{own:?}");
    let asked =
        |time| TuneSetup { rtt: Some(RoundTrip::from(time)), ..setup(&["udp-latency<=99ms"]) };
    let lab = lab(asked(Duration::from_millis(30)));
    let outcome = lab.evaluate(lab.base(), 0, &[Metric::UdpLatency], &|| false).unwrap();
    let (mean, _) = outcome.latency_ms.unwrap();
    // An echo of a program takes its calls longer than a ping, with code in flash.
    assert!((30.0..30.8).contains(&mean), "{mean}");
    let short = TuneLab::new(asked(own / 2), &Library::built_in()).unwrap_err();
    assert!(short.to_string().contains("is shorter than that of lab shield-box"), "{short}");
}

#[test]
fn a_board_of_a_chip_without_psram_is_refused() {
    let wrong =
        TuneLab::new(TuneSetup { psram: true, ..setup(&["heap>=1KB"]) }, &Library::built_in());
    let wrong = wrong.unwrap_err().to_string();
    assert_eq!(wrong, "no esp32c3 has PSRAM; there are esp32, esp32s2, esp32s3, esp32c5, esp32c61");
}

/// Packets in PSRAM leave the heap alone once Wi-Fi has started, and cost the processor.
#[test]
fn buffers_in_psram_are_tried_where_the_board_has_it() {
    // A window that leaves the processor as the limit.
    let text = "CONFIG_IDF_TARGET=\"esp32s2\"\nCONFIG_SPIRAM=y\n\
                CONFIG_LWIP_TCP_WND_DEFAULT=32768\nCONFIG_LWIP_TCP_RECVMBOX_SIZE=40\n";
    let with = text.to_string() + "CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y\n";
    let tried = |text: &str| {
        let lab = lab(TuneSetup { file: Some(file("mine", text)), ..setup(&["heap>=1KB"]) });
        assert!(lab.psram());
        let (scene, metrics) = (lab.scene(lab.base()), [Metric::TcpRx]);
        let device = &scene.devices[0];
        let started = device.profile.memory_with(&device.sdk).started(&device.sdk).map(i64::from);
        (lab.evaluate(lab.base(), 0, &metrics, &|| false).unwrap(), started)
    };
    let ((in_ram, _), (in_psram, started)) = (tried(text), tried(&with));
    assert!(in_psram.tcp_rx < in_ram.tcp_rx, "{in_psram:?} {in_ram:?}");
    assert_eq!(in_psram.free_heap, started, "packets take nothing of it");
}

/// Flash and its cache are knobs: what DIO at 40 MHz does not allow is reached with other flash.
#[test]
fn the_flash_is_turned_for_a_throughput() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_ESPTOOLPY_FLASHFREQ_20M=y\n\
                CONFIG_LWIP_TCP_SND_BUF_DEFAULT=40960\nCONFIG_LWIP_IRAM_OPTIMIZATION=y\n";
    let file = file("mine", text);
    let slow = lab(TuneSetup { file: Some(file.clone()), ..setup(&[]) });
    let slow = slow.evaluate(slow.base(), 0, &[Metric::TcpTx], &|| false).unwrap();
    let want = alloc::format!("tcp-tx>={:.1}Mbit/s", slow.tcp_tx.unwrap() * 1.1);
    // Heap for the segments that a faster sender has in flight, and none for TCP's paths in RAM, which would do as well.
    let heap = alloc::format!("heap>={}KB", slow.free_heap.unwrap() / 1024 - 9);
    let setup = TuneSetup { file: Some(file), budget: 40, ..setup(&[&want, &heap]) };
    let answer = search(&lab(setup), &mut InTurn).unwrap();
    let best = answer.recommended.as_ref().unwrap();
    assert!(best.is_reached(), "{want}: {best:?}");
    let text = fragment(&answer);
    assert!(text.contains("CONFIG_ESPTOOLPY_FLASH"), "{text}");
}

/// The advice set a send buffer of 65535 B, and a line below it one of 5760.
#[test]
fn one_option_has_one_value_beside_the_advice() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_SND_BUF_DEFAULT=2440\n\
                CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=1\n";
    let card = checked(setup(&[]), text).card();
    assert!(card.changes[0].line.starts_with("CONFIG_LWIP_TCP_SND_BUF_DEFAULT="), "{card:?}");
    let [range, segments] = &card.warnings[..] else { panic!("{:?}", card.warnings) };
    assert!(range.ends_with(": CONFIG_ESP_WIFI_STATIC_RX_BUFFER_NUM=2"), "{range}");
    assert!(segments.ends_with("two segments (2880 B): the advised change mends it"), "{segments}");
}

/// The one change of a check is proved: what it sets makes the direction faster in other rooms, too.
/// A window that its mailbox and buffers have room for is the bottleneck where a larger one is the advice: with a
/// mailbox for the small window alone, the largest would lose segments and give nothing.
#[test]
fn the_bottleneck_of_a_check_is_what_its_advice_lifts() {
    let text = "CONFIG_IDF_TARGET=\"esp32s3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n\
                CONFIG_LWIP_TCP_RECVMBOX_SIZE=6\nCONFIG_LWIP_IRAM_OPTIMIZATION=y\n";
    let checked = checked(setup(&[]), text);
    let advice = checked.advice.as_ref().unwrap();
    assert!(advice.set[0].line.starts_with("CONFIG_LWIP_TCP_WND_DEFAULT="), "{advice:?}");
    let first = &checked.limits[0];
    let bottleneck = first.bottleneck().unwrap();
    assert_eq!((first.metric, bottleneck.cause), (Metric::TcpRx, LimitCause::Window));
    assert!(bottleneck.lifted_mbit_s.unwrap() > 0.9 * advice.after[0], "{first:?}");
}

#[test]
fn the_advice_of_a_check_holds_with_other_seeds() {
    let text = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=23040\n\
                CONFIG_LWIP_TCP_RECVMBOX_SIZE=18\n";
    let checked = checked(setup(&[]), text);
    let advice = checked.advice.unwrap();
    assert!(advice.after[1] > advice.before[2], "{advice:?}");
    assert_eq!(checked.limits[0].metric, advice.metric, "what it is about comes first");
    let lines: Vec<&str> = advice.set.iter().map(|it| &*it.line).collect();
    let all = lines.join("\n");
    let reading = read(&all).unwrap();
    assert!(reading.settings.get(ConfigOption::SendBuffer).is_some_and(|it| it > 5760), "{all}");
    let faster: String = text.to_string() + &all + "\n";
    let again = lab(TuneSetup { file: Some(file("mine", &faster)), seed: 9, ..setup(&[]) });
    let rate = again.evaluate(again.base(), 0, &[advice.metric], &|| false).unwrap();
    assert!(rate.value(advice.metric).unwrap() > advice.before[2]);
}

/// Half of the ESP32's figures are within 10 % (docs/fit.md).
#[test]
fn ranks_of_the_esp32_follow_from_their_settings() {
    let setup = RankSetup {
        chip: Chip::Esp32,
        lab: "shield-box".into(),
        phy_rate: None,
        offered_mbit_s: 105.0,
        time: Duration::from_secs(1),
        seeds: 1,
    };
    let ranks = simulate_ranks(&setup, &Library::built_in(), &|| false).unwrap();
    assert_eq!(ranks.len(), 7);
    let mut errors: Vec<f64> =
        ranks.iter().flat_map(SimulatedRank::errors_percent).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] <= 10.0, "{errors:?}");
    let none = RankSetup { chip: Chip::Esp32c61, ..setup };
    let refused = simulate_ranks(&none, &Library::built_in(), &|| false);
    assert!(matches!(refused, Err(TuneError::NoRanks { .. })), "{refused:?}");
}
