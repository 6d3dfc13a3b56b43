//! Captures and logs of a lab whose devices speak IP over Wi-Fi.

use crate::timeline::assert_whole;
use crate::util::{TestDir, peer, tshark};
use espbench_capture::file::{CaptureReader, CapturedPacket};
use espbench_capture::link::{LinkContent, content};
use espbench_ieee80211::view::MpduView;
use std::collections::BTreeSet;
use std::path::Path;

/// Echoes and messages of devices over Wi-Fi.
pub(crate) const ECHOES_AND_MESSAGES: &str = r#"
[[measure]]
kind = "udp-echo"
variant = "arduino"
size = 100
count = 50
discard = 1
timeout = "1 s"

[[measure]]
kind = "mqtt-rate"
variant = "smooth-example"
offered = "20 /s"
qos = 2
size = 16
time = "2 s"
"#;

const STREAM: &str = r#"
name = "short"
title = "a stream, an echo, and messages"

[[measure]]
kind = "iperf"
variant = "rank-iperf"
transport = "tcp"
direction = "reverse"
length = 16384
time = "1 s"
"#;

/// A whole command: captures that tshark reads, and the report of what was on the air.
#[test]
fn tshark_reads_streams_and_the_report_shows_windows_and_queues() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    bench.write("short.toml", &format!("{STREAM}{ECHOES_AND_MESSAGES}"));
    let html = bench.path("report.html");
    let args =
        ["run", "short.toml", "--pcap", "air.pcapng", "-o", "report.html", "--format", "json"];
    let json = bench.run(&args).ok();
    let [stream, echo, messages] = [1, 2, 3].map(|n| bench.path(&format!("air-00{n}.pcapng")));
    for file in [&stream, &echo, &messages] {
        assert_whole(file);
        let bad = tshark(file, "wlan.fcs.status == 0", "frame.number");
        assert_eq!(bad, tshark(file, "radiotap.flags.badfcs == 1", "frame.number"));
        // But what other people say is not known.
        let protected = "wlan.fc.protected == 1 && wlan.bssid != 02:00:00:02:ff:ff";
        assert!(tshark(file, protected, "frame.number").is_empty());
        let beacons = tshark(file, "wlan.fc.type_subtype == 8", "wlan.tim.dtim_period");
        assert!(!beacons.is_empty() && beacons.iter().all(|it| it == "1"), "{beacons:?}");
    }
    let segments = tshark(&stream, "tcp.stream == 0 && tcp.len > 1000", "tcp.len");
    assert!(segments.len() > 1000, "{}", segments.len());
    let wrong = "ip.checksum.status == \"Bad\" || tcp.checksum.status == \"Bad\"";
    assert!(tshark(&stream, wrong, "frame.number").is_empty());
    let aggregated = tshark(&stream, "radiotap.ampdu.reference", "radiotap.ampdu.reference");
    let aggregates: BTreeSet<&String> = aggregated.iter().collect();
    assert!(aggregated.len() > 2 * aggregates.len() && aggregates.len() > 50);
    let answers = tshark(&stream, "wlan.fc.type_subtype == 0x19", "wlan.ba.bm");
    assert!(answers.len() * 10 > aggregates.len() * 9, "each A-MPDU has an answer, nearly");
    assert_eq!(tshark(&echo, "udp.dstport == 10000", "frame.number").len(), 51);
    // Forty were due. What goes to the broker is on the air, and nothing of what goes from there to
    // the subscriber beside it.
    let published = tshark(&messages, "mqtt.msgtype == 3 && wlan.fc.retry == 0", "mqtt.topic");
    assert!((35..100).contains(&published.len()), "{}", published.len());
    assert!(published.iter().all(|it| it == "network_test"));
    assert!(tshark(&messages, "mqtt.msgtype == 8", "frame.number").is_empty(), "a SUBSCRIBE");

    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let timelines = report["timelines"].as_array().expect("timelines");
    assert_eq!(timelines.len(), 3, "one for each test");
    let levels = timelines[0]["windows"][0]["levels"].as_array().expect("levels");
    let names: BTreeSet<&str> = levels.iter().filter_map(|it| it["name"].as_str()).collect();
    for level in ["cwnd", "send-window", "in-flight", "tx-buffers", "heap"] {
        assert!(names.contains(level), "{level}: {names:?}");
    }
    assert!(levels.iter().all(|it| it["points"].as_array().unwrap().len() < 4096));
    for test in [1, 2] {
        let probes = timelines[test]["windows"][0]["probes"].as_array().expect("probes");
        assert!(!probes.is_empty(), "{test}");
    }
    for it in report["occupancy"].as_array().expect("occupancy") {
        let spent = it["spent_ns"].as_object().unwrap();
        let sum: u64 = spent.values().filter_map(serde_json::Value::as_u64).sum();
        assert_eq!(sum, it["time_ns"]);
    }
    assert!(report["occupancy"][0]["spent_ns"]["block-ack"].as_u64() > Some(0));
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains("class=\"lv l"), "levels are drawn");
    assert!(html.len() < 900 << 10, "{}", html.len());
}

const ESP_NOW: &str = r#"
name = "windows"
title = "ESP-NOW in a network"

[[measure]]
kind = "udp-echo"
variant = "esp-now-aligned-10-100"
size = 64
format = "binary"
count = 20
discard = 0
interval = "200 ms"
timeout = "1 s"
"#;

/// ESP-NOW while connected is on the timeline and in the capture as all else: its requests begin with
/// beacons.
#[test]
fn windows_of_esp_now_are_seen() {
    let bench = TestDir::new();
    bench.write("windows.toml", ESP_NOW);
    let json = bench.run(&["run", "windows.toml", "--pcap", "air.pcapng", "--format", "json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let probes = report["timelines"][0]["windows"][0]["probes"].as_array().expect("probes");
    assert!(!probes.is_empty());
    assert!(report["occupancy"][0]["spent_ns"]["data"].as_u64() > Some(0));
    if !peer("tshark") {
        return;
    }
    let file = bench.path("air.pcapng");
    assert_whole(&file);
    let action = "wlan.fc.type_subtype == 13 && wlan.fc.retry == 0";
    let sent = tshark(&file, action, "frame.time_relative");
    assert_eq!(sent.len(), 40, "a request and an answer each");
    let beacons: Vec<f64> = tshark(&file, "wlan.fc.type_subtype == 8", "frame.time_relative")
        .iter()
        .map(|it| it.parse().unwrap())
        .collect();
    for at in sent.iter().map(|it| it.parse::<f64>().unwrap()) {
        let since = beacons.iter().map(|it| at - it).filter(|it| *it > -0.004);
        let since = since.fold(f64::INFINITY, f64::min);
        assert!(since < 0.015, "{at}: {since} s after a beacon");
    }
}

/// A datagram of iperf to the PC: sender's address, receiver's port, number.
type Datagram = ([u8; 4], u16, u32);

fn datagram(packet: &CapturedPacket<'_>) -> Option<Datagram> {
    let LinkContent::Air(air) = content(packet) else { return None };
    let (0x0800, ip) = MpduView::parse(air.frame)?.packet()? else { return None };
    let (from, to, port) = (ip.get(12..16)?, ip.get(16..20)?, ip.get(22..24)?);
    let port = u16::from_be_bytes(port.try_into().ok()?);
    // UDP without IP options, from a device: the PC has the last address.
    if *ip.get(9)? != 17 || !(5001..5100).contains(&port) || from[3] > to[3] {
        return None;
    }
    let number = u32::from_be_bytes(ip.get(28..32)?.try_into().ok()?);
    Some((from.try_into().ok()?, port, number))
}

fn datagrams(file: &Path) -> BTreeSet<Datagram> {
    let (mut reader, mut seen) = (CaptureReader::default(), BTreeSet::new());
    let bytes = std::fs::read(file).unwrap();
    reader.push(&bytes, &mut |packet| seen.extend(datagram(packet))).unwrap();
    seen
}

/// Stations that offer more than the channel takes: what they sent is what was on the air, and what sendto refused
/// is none of it.
#[test]
fn packets_sent_are_those_on_the_air_whatever_was_refused() {
    let bench = TestDir::new();
    let plan = "name = \"offer\"\ntitle = \"an offer to one router and to three\"\n\
                [[measure]]\nkind = \"iperf\"\ntransport = \"udp\"\ndirection = \"reverse\"\n\
                variant = [\"40-on-1-router\", \"40-on-3-channels\"]\ndevices = 20\n\
                bandwidth = [\"500k\", \"2m\"]\ntime = \"1 s\"\ninterval = \"200 ms\"\n";
    bench.write("offer.toml", plan);
    let args = ["run", "offer.toml", "--on", "sim:forty-stations", "--pcap", "air.pcapng"];
    let json = bench.run(&[&args[..], &["--format", "json"]].concat()).ok();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let values = |metric: &str| -> Vec<f64> {
        let cells = report["cells"].as_array().unwrap().iter();
        cells.filter(|it| it["metric"] == metric).map(|it| it["value"].as_f64().unwrap()).collect()
    };
    let [sent, lost, refused, loss] =
        ["packets_total", "packets_lost", "packets_refused", "loss"].map(values);
    let [arrived, offered, limits] =
        ["throughput_tx", "throughput_sent", "loss_of_offered"].map(values);
    for cell in 0..4 {
        let on_air = datagrams(&bench.path(&format!("air-00{}.pcapng", cell + 1))).len() as f64;
        assert_eq!(sent[cell], on_air, "cell {cell}");
        assert!((loss[cell] - 100.0 * lost[cell] / on_air).abs() < 1e-9);
        // Of each of twenty 43 and 171 a second, and one more: the first two leave at once.
        let asked = [20.0 * 44.0, 20.0 * 172.0][cell % 2];
        let tried = sent[cell] + refused[cell];
        assert!((tried - asked).abs() <= 0.02 * asked, "{cell}: the pace holds: {tried}");
        assert!(arrived[cell] <= offered[cell] + 1e-9, "{cell}: {arrived:?} {offered:?}");
        assert!(limits[cell] >= loss[cell] - 1e-9);
    }
    assert!(refused[1] > 500.0 && refused[0] < refused[1], "{refused:?}");
    // Three channels carry more than one, and their limit is that of all three.
    assert!(sent[3] > sent[1]);
    let limit = |cell: usize| {
        let all = report["cells"].as_array().unwrap().iter();
        all.filter(|it| it["metric"] == "throughput_tx").nth(cell).unwrap()["limit"]
            .as_f64()
            .unwrap()
    };
    assert!((limit(3) - 3.0 * limit(1)).abs() < 1e-6);
    let tables = report["tables"].as_array().unwrap().iter();
    let stations = tables.filter(|it| it["id"].as_str().unwrap().starts_with("stations-"));
    let rows: Vec<usize> = stations.map(|it| it["rows"].as_array().unwrap().len()).collect();
    assert_eq!(rows, [20; 4]);
}
