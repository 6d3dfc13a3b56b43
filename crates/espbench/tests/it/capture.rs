//! `espbench capture` over what the lab put on the air, beside tshark, and over files of others.

use crate::util::{TestDir, peer, tshark};
use crate::wlan::ECHOES_AND_MESSAGES;
use std::path::Path;

/// Returns a plan of echoes and messages over Wi-Fi.
fn plan() -> String {
    format!("name = \"short\"\ntitle = \"echoes and messages\"\n{ECHOES_AND_MESSAGES}")
}

/// Returns the document of a capture, which is of the schema.
fn json(bench: &TestDir, args: &[&str]) -> serde_json::Value {
    let all = [&["capture"][..], args, &["--format", "json"]].concat();
    let value: serde_json::Value = serde_json::from_str(&bench.run(&all).ok()).unwrap();
    let schema = include_str!("../../../../docs/capture.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).expect("the schema is itself valid");
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    value[0].clone()
}

/// Returns frames and retries of kinds together.
fn kinds(document: &serde_json::Value, names: &[&str]) -> (u64, u64) {
    let all = document["kinds"].as_array().unwrap().iter();
    let own = all.filter(|it| names.is_empty() || names.iter().any(|name| it["kind"] == *name));
    own.fold((0, 0), |sum, it| {
        (sum.0 + it["frames"].as_u64().unwrap(), sum.1 + it["retries"].as_u64().unwrap())
    })
}

fn count(file: &Path, filter: &str) -> u64 {
    let all = format!("radiotap.flags.badfcs == 0 && ({filter})");
    tshark(file, &all, "frame.number").len() as u64
}

#[test]
fn frames_by_kind_and_retries_are_those_of_tshark() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    bench.write("short.toml", &plan());
    bench.run(&["run", "short.toml", "--pcap", "air.pcapng"]).ok();
    for name in ["air-001.pcapng", "air-002.pcapng"] {
        let file = bench.path(name);
        let document = json(&bench, &[name]);
        assert_eq!(document["origin"], "simulated");
        let frames = |names: &[&str]| kinds(&document, names).0;
        assert_eq!(frames(&["beacon"]), count(&file, "wlan.fc.type_subtype == 8"), "{name}");
        assert_eq!(frames(&["ack"]), count(&file, "wlan.fc.type_subtype == 0x1d"), "{name}");
        let block = "wlan.fc.type_subtype == 0x18 || wlan.fc.type_subtype == 0x19";
        assert_eq!(frames(&["block-ack"]), count(&file, block), "{name}");
        let null = "wlan.fc.type_subtype == 0x24 || wlan.fc.type_subtype == 0x2c";
        assert_eq!(frames(&["null"]), count(&file, null), "{name}");
        assert_eq!(frames(&["eapol"]), count(&file, "eapol"), "{name}");
        assert_eq!(kinds(&document, &[]).1, count(&file, "wlan.fc.retry == 1"), "{name}");
        assert_eq!(document["frames"], tshark(&file, "frame", "frame.number").len(), "{name}");
        let short = bench.run(&["capture", name]).ok();
        assert!(short.lines().count() <= 25, "{short}");
        let full = bench.run(&["capture", name, "--full"]).ok();
        assert!(full.contains("The medium by kind of frame"), "{full}");
        // The link is perfect in these labs, and the lab knows it.
        let text = bench.run(&["doctor", name, "--no-proof"]).ok();
        assert!(text.starts_with(name), "{text}");
    }
}

#[test]
fn esp_now_of_the_lab_is_decoded_by_us_and_by_our_dissector() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    // Numbers of types are those of release 2.5.3 on; before it iperf had another.
    let lab = include_str!("../../../../labs/two-boards.toml");
    let lab = bench.write("lab.toml", &lab.replace("release = \"2022-07\"", "release = \"2.5.3\""));
    let lab = lab.to_str().unwrap();
    bench.run(&["espnow", "throughput", "--lab", lab, "-t", "1 s", "--pcap", "now.pcapng"]).ok();
    let file = bench.path("now.pcapng");
    let document = json(&bench, &["now.pcapng"]);
    let link = &document["links"][0];
    assert_eq!(link["esp_now"]["types"][0][0], "iperf", "{link}");
    let messages = link["esp_now"]["types"][0][1].as_u64().unwrap();
    let (from, to) = (link["from"].as_str().unwrap(), link["to"].as_str().unwrap());
    let first = format!("wlan.fc.type_subtype == 13 && wlan.ta == {from} && wlan.ra == {to}");
    let numbers = tshark(&file, &first, "wlan.seq");
    let different: std::collections::BTreeSet<&String> = numbers.iter().collect();
    assert!(messages > 100 && messages == different.len() as u64, "{messages}");
    let lua = bench.run(&["capture", "--lua"]).ok();
    let script = bench.write("espnow.lua", &lua);
    let output = std::process::Command::new("tshark")
        .arg("-X")
        .arg(format!("lua_script:{}", script.display()))
        .args([
            "-Y",
            "espnow.type == 15 && wlan.fc.retry == 0",
            "-T",
            "fields",
            "-e",
            "espnow.iperf.number",
            "-r",
        ])
        .arg(&file)
        .output()
        .unwrap();
    let decoded = String::from_utf8_lossy(&output.stdout).lines().count() as u64;
    assert!(decoded >= messages, "{decoded} of {messages}");
    bench.run(&["capture", "now.pcapng", "-o", "now.html", "-o", "now.csv"]).ok();
    let page = std::fs::read_to_string(bench.path("now.html")).unwrap();
    assert!(page.contains("ESP-NOW by pair") && page.contains("Time on the air"));
    let csv = std::fs::read_to_string(bench.path("now.csv")).unwrap();
    assert!(csv.starts_with("file,table,row,of,figure,unit,value\n"), "{csv}");
}

#[test]
fn files_of_others_and_damaged_ones_are_told_of() {
    let bench = TestDir::new();
    let case = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../doctor/tests/cases");
        std::fs::read(folder.join(name)).unwrap()
    };
    std::fs::write(bench.path("bt.pcap"), case("capture-bluetooth.pcap")).unwrap();
    let text = bench.run(&["capture", "bt.pcap"]).ok();
    assert!(text.contains("This file cannot tell"), "{text}");
    let ran = bench.run(&["doctor", "bt.pcap"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.out.starts_with("bt.pcap: this file cannot tell"), "{}", ran.out);
    std::fs::write(bench.path("cut.pcap"), case("capture-cut.pcap")).unwrap();
    let text = bench.run(&["capture", "cut.pcap"]).ok();
    assert!(text.contains("The file ends within a packet"), "{text}");
    let mut damaged = case("capture-healthy-espnow.pcap");
    damaged[2000..2100].fill(0xFF);
    std::fs::write(bench.path("bad.pcap"), damaged).unwrap();
    let text = bench.run(&["capture", "bad.pcap"]).ok();
    assert!(text.contains("The file is damaged: byte"), "{text}");
    std::fs::write(bench.path("hidden.pcap"), case("capture-hidden-nodes.pcap")).unwrap();
    assert_eq!(json(&bench, &["hidden.pcap"])["origin"], "measured");
    let text = bench.run(&["doctor", "hidden.pcap"]).ok();
    assert!(text.contains("do not hear each other") && text.contains("  frame "), "{text}");
    bench.write("text.pcap", "no capture at all");
    bench.write("keys.txt", "0011");
    for (args, remedy) in [
        (&["capture", "text.pcap"][..], "Wireshark"),
        (&["capture", "missing.pcap"], "pcapng"),
        (&["capture", "bt.pcap", "--keys", "keys.txt"], "hexadecimal"),
        (&["capture", "bt.pcap", "--format", "jsonl"], "json, csv"),
        (&["capture", "bt.pcap", "cut.pcap", "-o", "x.html"], "mergecap"),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        let lines: Vec<&str> = ran.err.lines().collect();
        assert!(lines.len() == 3 && lines[2].contains(remedy), "{args:?}: {}", ran.err);
    }
}
