//! The medium of the virtual lab, to be looked at: captures, and timelines in the page.

use crate::page::{assert_well_formed, browse, complaints, is_browsers_own, proxy};
use crate::synthetic;
use crate::util::{TestDir, peer, tshark};
use espbench::render;
use espbench_measure::air::Timeline;
use espbench_measure::report::Report;
use espbench_model::excerpt::{LevelPoint, Written};
use std::path::Path;
use std::process::Command;

/// A ping whose answer is spoiled by a beacon and sent again.
const EXCERPT: &str = "station 0 node0
station 1 node1
station 4 <office> & co
share 1 data 1048576 0,809,711
window 1000000 8000000 The start
frame data 0 1 1050000 848000 50000 0 1 1M 82 7 1 1 0 0 1
frame ack 1 0 1908000 304000 0 0 1 1M 14 0 1 0 0 0 1
frame data 1 0 2400000 848000 100000 12000 1 1M 82 7 1 0 1 0 2
frame beacon 4 * 2500000 2000000 0 0 1 1M 226 90 1 1 1 0 1
frame data 1 0 6500000 848000 652000 848000 1 HT20-MCS7 82 7 2 1 0 0 1
probe 0 0 1000000 3600000 delivered
probe 0 1 4900000 6400000 collision
lost 0 3248000 collision
";

fn report() -> Report {
    let mut report = synthetic::report(&[100], 20);
    report.timelines =
        vec![Timeline { id: "air-1".into(), ..Timeline::read("esp-now, <ping>", EXCERPT) }];
    report
}

fn drawing(html: &str) -> &str {
    let begin = html.find("<svg class=\"tl\"").expect("a timeline");
    let end = begin + html[begin..].find("</svg>").expect("its end");
    &html[begin..end + 6]
}

#[test]
fn a_timeline_as_a_picture() {
    let html = render::html::render(&report());
    insta::assert_snapshot!(drawing(&html).replace("><", ">\n<"));
}

/// Makes a TCP sender that slow start takes to the peer's window, and a frame that is lost: the
/// window is halved, and the queue of the driver runs empty. Made by rule, so that every point is
/// known.
fn stream() -> Timeline {
    let mut text = String::from("station 0 esp\nstation 1 router\nwindow 0 40000000 The start\n");
    let mut levels: [Vec<(u64, u64)>; 6] = Default::default();
    let mut cwnd = 2880;
    for burst in 0..20_u64 {
        let at = burst * 2_000_000;
        let lost = burst == 12;
        let frames = (cwnd / 1440).min(4);
        for frame in 0..frames {
            let (begin, sequence) = (at + 100_000 + frame * 300_000, burst * 4 + frame);
            let heard = u64::from(!(lost && frame == 0));
            text += &format!(
                "frame data 0 1 {begin} 230000 40000 0 1 HT20-MCS7 1500 {sequence} 1 {heard} 0 {} {}\n",
                1 - heard,
                frames - frame
            );
            levels[3].push((begin, frames - frame - 1));
        }
        text += &format!("frame ack 1 0 {} 44000 0 0 1 24M 14 0 1 1 0 0 1\n", at + 1_500_000);
        cwnd = if lost { cwnd / 2 } else { (cwnd + 1440).min(17_280) };
        levels[0].push((at + 1_600_000, cwnd));
        levels[1].push((at + 100_000, (frames * 1440).min(5760)));
        levels[1].push((at + 1_600_000, 0));
        levels[2].push((at + 1_600_000, 5760));
        levels[4].push((at + 1_000_000, burst % 3));
        levels[5].push((at, 120_000 + 1600 * frames));
    }
    let names = ["cwnd", "in-flight", "send-window", "tx-buffers", "receive-queue", "heap"];
    for (name, points) in names.into_iter().zip(levels) {
        let points = points.into_iter().map(|(at, value)| LevelPoint { at, value });
        let points: Vec<LevelPoint> = points.collect();
        text += &format!("series 0 {name} {}\n", Written(&points));
    }
    text += "lost 1 24330000 receive-buffers\nseries 7 heap 1:1\nseries 0 moon 1:1\n";
    Timeline {
        id: "air-1".into(),
        ..Timeline::read("iperf, TCP from the device, best-lab-air", &text)
    }
}

#[test]
fn windows_and_queues_stand_below_the_frames() {
    let mut report = synthetic::report(&[100], 20);
    report.timelines = vec![stream()];
    let names: Vec<&str> =
        report.timelines[0].windows[0].levels.iter().map(|it| it.name.as_str()).collect();
    let wanted = ["cwnd", "in-flight", "send-window", "tx-buffers", "receive-queue", "heap"];
    assert_eq!(names, wanted, "what is not known is passed over");
    crate::report::assert_valid(&report);
    let html = render::html::render(&report);
    assert_well_formed(&html);
    let picture = drawing(&html);
    assert_eq!(picture.matches("<path class=\"lv l").count(), 2 * wanted.len(), "curve and key");
    let curves = picture.lines().flat_map(|line| line.split("<g class=\"f v\">")).skip(1);
    insta::assert_snapshot!(curves.map(|it| it.to_owned() + "\n").collect::<String>());
}

/// The script is the page's only one, and the policy lets no other run.
#[test]
fn a_page_has_the_script_that_zooms_only_where_there_is_something_to_zoom() {
    let html = render::html::render(&report());
    assert_well_formed(&html);
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("script-src 'sha256-").count(), 1);
    for elsewhere in ["http:", "https:", "//", "src=", "@import", "eval", "innerHTML", "fetch"] {
        assert!(!html.contains(elsewhere), "{elsewhere}");
    }
    let without = render::html::render(&synthetic::report(&[100], 20));
    assert_eq!(without.matches("<script").count(), 1);
    assert_eq!(without.matches("'sha256-").count(), 1);
}

#[test]
fn chromium_zooms_the_timeline_and_asks_nobody() {
    if !peer("chromium") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let html = render::html::render(&report());
    std::fs::write(&page, &html).unwrap();
    let (port, asked) = proxy();
    let at = format!("{}#air-1-0@1000000-3000000", page.display());
    let (dom, said) = browse(Path::new(&at), &folder.path().join("profile"), port);
    assert_eq!(complaints(&said), Vec::<&str>::new());
    assert!(dom.contains("data-view=\"1000000-3000000\""), "{said}");
    assert!(dom.contains("matrix(3.5 0 0 1 "), "zoomed");
    assert!(dom.contains(">next frame</button>"));
    let by_page = |line: &String| !is_browsers_own(line);
    assert_eq!(asked.try_iter().filter(by_page).collect::<Vec<_>>(), Vec::<String>::new());

    // A script that is not ours does not run.
    let other = html.replace("'use strict';", "'use strict';document.title='changed';");
    std::fs::write(&page, other).unwrap();
    let (dom, said) = browse(&page, &folder.path().join("profile2"), port);
    assert!(!complaints(&said).is_empty() && !dom.contains("data-view"), "{said}");
}

/// Asserts that no frame is malformed; told to check checksums, tshark calls a wrong one so.
pub fn assert_whole(file: &Path) {
    let output = Command::new("tshark").args(["-Y", "_ws.malformed", "-r"]).arg(file).output();
    assert_eq!(String::from_utf8_lossy(&output.expect("tshark runs").stdout), "");
    let whole = "_ws.malformed && radiotap.flags.badfcs == 0";
    assert_eq!(tshark(file, whole, "frame.number"), Vec::<String>::new());
}

/// A whole command: cells of the lab, each with a capture of its air.
#[test]
fn tshark_reads_the_labs_air_without_a_malformed_frame() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    let html = bench.path("report.html");
    let args = ["espnow", "ping", "--devices", "8", "-C", "10", "-l", "10,230", "-b", "1"];
    let more = ["--pcap", "air.pcapng", "-o", "report.html", "--format", "json"];
    let json = bench.run(&[&args[..], &more].concat()).ok();
    for number in 1..=2 {
        let file = bench.path(&format!("air-{number:03}.pcapng"));
        let all = tshark(&file, "frame", "frame.time_epoch");
        assert!(all.len() > 200, "{}", all.len());
        assert_whole(&file);
        let bad = tshark(&file, "wlan.fcs.status == 0", "frame.number");
        let flagged = tshark(&file, "radiotap.flags.badfcs == 1", "frame.number");
        assert_eq!(bad, flagged);
        let remarks = tshark(&file, "frame.comment contains \"collision\"", "frame.comment");
        assert!(remarks.len() >= bad.len());
        let rated = tshark(&file, "radiotap.datarate || radiotap.mcs.index", "frame.number");
        assert_eq!(rated.len(), all.len());
        let mut sorted: Vec<f64> = all.iter().map(|it| it.parse().unwrap()).collect();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, all.iter().map(|it| it.parse().unwrap()).collect::<Vec<f64>>());
    }
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let timelines = report["timelines"].as_array().expect("timelines");
    assert_eq!(timelines.len(), 1, "one for the test");
    assert!(!timelines[0]["windows"][0]["frames"].as_array().unwrap().is_empty());
    let occupancy = report["occupancy"].as_array().expect("occupancy");
    for it in occupancy {
        let spent = it["spent_ns"].as_object().unwrap().values();
        assert_eq!(spent.map(|ns| ns.as_u64().unwrap()).sum::<u64>(), it["time_ns"]);
    }
    let html = std::fs::read_to_string(html).unwrap();
    assert!(drawing(&html).contains("class=\"kd "));
    assert!(html.len() < 700 << 10 && json.len() < 500 << 10, "{} {}", html.len(), json.len());
    // Drawn again from the store, it is the same.
    assert_eq!(bench.run(&["report", "last", "--format", "json"]).ok(), json);
}

/// Beacons and other people's frames, on several channels.
#[test]
fn tshark_reads_beacons_and_other_peoples_frames() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    bench.run(&["espnow", "provision", "--devices", "5", "--pcap", "air.pcapng"]).ok();
    let file = bench.path("air.pcapng");
    assert_whole(&file);
    let beacons = tshark(&file, "wlan.fc.type_subtype == 8", "wlan.ssid");
    assert!(!beacons.is_empty() && beacons.iter().all(|ssid| !ssid.is_empty()));
    let channels = tshark(&file, "wlan.fc.type_subtype == 8", "wlan.ds.current_channel");
    let heard = tshark(&file, "wlan.fc.type_subtype == 8", "wlan_radio.channel");
    assert_eq!(channels, heard, "a beacon names the channel that it is on");
}

/// Faster modes than ESP-NOW's usual one, in a lab of one's own: what radiotap says of them.
#[test]
fn tshark_reads_how_frames_were_sent() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    let group = |name: &str, mode: &str, place: &str| {
        format!("[[group]]\nname = \"{name}\"\nprofile = \"esp32c3\"\nmode = \"{mode}\"\n{place}\n")
    };
    let lab = [
        "title = \"fast\"\nenvironment = \"office\"\ninitiator = \"a\"\n".to_string(),
        group("a", "HT40-MCS7-SGI", "at = [0, 0, 1]"),
        group("b", "HT20-MCS3", "count = 4\ndistance_m = 3\n[group.ring]\nradius_m = 3"),
    ];
    bench.write("fast.toml", &lab.concat());
    let args = ["espnow", "ping", "--lab", "fast.toml", "--devices", "4", "-C", "20", "-l", "230"];
    bench.run(&[&args[..], &["--pcap", "air.pcapng"]].concat()).ok();
    let file = bench.path("air.pcapng");
    assert_whole(&file);
    let of = |filter: &str, field: &str| {
        let mut values = tshark(&file, filter, field);
        values.sort();
        values.dedup();
        values
    };
    let action = "wlan.fc.type_subtype == 0x0d";
    let own = format!("{action} && !radiotap.dbm_antsignal");
    let rates = |filter: &str| {
        ["index", "bw", "gi"].map(|it| of(filter, &format!("radiotap.mcs.{it}")).concat())
    };
    assert_eq!(rates(&own), ["7", "1", "1"], "40 MHz, short guard interval");
    assert_eq!(of(&own, "radiotap.dbm_antnoise"), ["-95"]);
    let others = format!("{action} && radiotap.dbm_antsignal");
    assert_eq!(rates(&others), ["3", "0", "0"]);
    assert_eq!(of(&others, "radiotap.dbm_antnoise"), ["-98"]);
    // An acknowledgement has a basic rate below that of what it is for, and nothing of HT.
    let answers =
        "wlan.fc.type_subtype == 0x1d && radiotap.dbm_antsignal < 0 && wlan.ra contains 24:0a";
    assert_eq!(of(answers, "radiotap.mcs.index"), [""]);
    assert!(of("frame", "radiotap.channel.freq") == ["2412"], "one channel");
    assert_eq!(tshark(&file, "_ws.expert.message contains \"stbc\"", "frame.number"), [""; 0]);
}
