use super::*;
use alloc::string::{String, ToString};
use espbench_model::overrides::LabOverrides;
use espbench_model::workload::EspNowTest;
use espbench_model::workload::{EspNow, EspNowCast};
use proptest::prelude::*;

/// A ping whose answer is spoiled by a beacon and sent again.
const TEXT: &str = "station 0 node0 (initiator)
station 1 node1 (responder)
station 4 office
share 1 data 1048576 0,809,711
window 1000000 10348000 The start
frame data 0 1 1050000 848000 50000 0 1 1M 82 7 1 1 0 0 1
frame ack 1 0 1908000 304000 0 0 1 1M 14 0 1 1 0 0 1
frame data 1 0 2400000 848000 100000 12000 1 1M 82 7 1 0 1 0 2
frame beacon 4 * 2500000 2000000 0 0 1 1M 226 90 1 1 1 0 1
frame data 1 0 6500000 848000 652000 848000 1 HT20-MCS7 82 7 2 0 0 1 1
frame data 9 0 6500000 848000 652000 848000 1 1M 82 8 2 1 0 0 1
probe 0 0 1000000 3600000 delivered
probe 0 1 4900000 6400000 collision
lost 0 5848000 collision
a line of a later version
missing 3
";

fn recorded(ordinal: u32, test: EspNowTest, text: &str) -> Recorded {
    let workload = Workload::EspNow(EspNow {
        test,
        cast: EspNowCast::Unicast,
        size: 10,
        count: 100,
        time: core::time::Duration::ZERO,
        devices: ordinal as u16,
        distance_m: (0.5, 0.5),
        encrypted: false,
        lab: LabOverrides::NONE,
    });
    Recorded {
        ordinal,
        repetition: 0,
        workload,
        samples: Vec::new(),
        counters: [("air-ns-ch1-data", 300), ("air-ns-ch1-ack", 100), ("air-ns-ch1-idle", 600)]
            .into_iter()
            .chain([("air-ns-ch11-beacon", 10), ("air-ns-ch11-idle", 990), ("retries", 7)])
            .map(|(name, n)| (name.to_string(), n))
            .collect(),
        facts: [(FACT.to_string(), text.to_string())].into(),
        error: None,
    }
}

#[test]
fn an_excerpt_as_data() {
    let timeline = Timeline::read("a cell", TEXT);
    insta::assert_snapshot!(serde_json::to_string_pretty(&timeline).unwrap());
    let words: Vec<String> =
        timeline.windows[0].frames.iter().map(|it| it.words(&timeline.stations)).collect();
    insta::assert_snapshot!("frames_in_words", words.join("\n"));
    assert_eq!(
        timeline.windows[0].alt(),
        "9.348 ms: 3 frames of devices, 1 acknowledgements, 1 beacons; 1 of them retries, 2 spoiled by another frame for somebody. 2 probes, 1 of them lost. 3 frames more than are kept."
    );
}

#[test]
fn a_timeline_for_each_test_from_the_cell_that_lost_most() {
    let mut air = AirChapter::default();
    for (ordinal, test, lost) in [
        (0, EspNowTest::Ping, 0),
        (1, EspNowTest::Ping, 50),
        (2, EspNowTest::Ping, 20),
        (3, EspNowTest::Ota, 0),
        (4, EspNowTest::Ota, 0),
    ] {
        let text = TEXT.replace("node0", &alloc::format!("cell{ordinal}"));
        let causes = [("collision".to_string(), lost)].into();
        let losses = Losses { probes: 100, causes, ..Losses::default() };
        air.add(&recorded(ordinal, test, &text), &losses);
    }
    air.add(&recorded(5, EspNowTest::Crypto, ""), &Losses::default());
    let again = Recorded { repetition: 1, ..recorded(0, EspNowTest::Ping, TEXT) };
    air.add(&again, &Losses::default());
    let (occupancy, timelines) = air.finish();
    assert_eq!(occupancy.len(), 12, "two channels in each cell, repetitions together");
    assert_eq!(occupancy.iter().map(|it| it.time_ns).max(), Some(2000));
    let of: Vec<_> = timelines.iter().map(|it| (it.id.as_str(), it.stations[0].as_str())).collect();
    assert_eq!(of, [("air-1", "cell1 (initiator)"), ("air-2", "cell3 (initiator)")]);
}

#[test]
fn occupancy_of_each_channel() {
    let all = occupancy::of(&recorded(0, EspNowTest::Ping, ""));
    let shares: Vec<_> = all.iter().map(|it| (it.channel, it.share("data"), it.busy())).collect();
    assert_eq!(shares, [(1, 30.0, 40.0), (11, 0.0, 1.0)]);
    let table = occupancy::table(&all, crate::cell::Origin::Simulated).unwrap();
    let row: Vec<_> = table.rows[0][1..].iter().flatten().map(String::as_str).collect();
    assert_eq!(row, ["1", "30.0", "10.0", "0.0", "0.0", "0.0", "60.0"]);
    let figure = occupancy::figure(&all, crate::cell::Origin::Simulated).unwrap();
    let names: Vec<_> = figure.series.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["data", "control (ACK, block ACK, RTS, CTS)", "management (beacon, null)"],
        "what is alike is one series"
    );
    assert!(!occupancy::is_counter("retries") && occupancy::is_counter("air-ns-ch13-collided"));
}

#[test]
fn the_course_of_the_busiest_channel() {
    let timeline = Timeline::read("a cell", TEXT);
    let figure = occupancy::course(&timeline, crate::cell::Origin::Simulated).unwrap();
    assert_eq!(figure.series[0].points[1], crate::figure::FigurePoint::new(0.001_048_58, 80.9));
    assert!(occupancy::course(&Timeline::default(), crate::cell::Origin::Simulated).is_none());
}

proptest! {
    /// Whatever stands in a store: no panic, and places that are within the list.
    #[test]
    fn any_text_is_read(lines in prop::collection::vec(
        "(station [0-3] x|window [0-9]{1,20} [0-9]{1,20} w|frame data [0-4] ([0-4]|\\*)( [0-9]{1,20}){4} 1 1M( [0-9]{1,3}){7}|probe [0-4]( [0-9]{1,20}){3} late|lost [0-4] 5 noise|.{0,20})",
        0..12,
    )) {
        let timeline = Timeline::read("a cell", &lines.join("\n"));
        let stations = timeline.stations.len();
        for window in &timeline.windows {
            let _ = window.alt();
            for frame in &window.frames {
                prop_assert!(frame.from < stations && frame.to.is_none_or(|to| to < stations));
                let _ = frame.words(&timeline.stations);
            }
            prop_assert!(window.probes.iter().all(|it| it.station < stations));
            prop_assert!(window.begin_ns <= window.end_ns);
        }
    }
}
