//! Captures of others' kind, with what the answer must say.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_capture::answer::answer;
use espbench_capture::document::CaptureDocument;

fn told(file: &[u8]) -> String {
    let mut analysis = CaptureAnalysis::default();
    analysis.push(file).unwrap();
    answer(&CaptureDocument::of("it", &analysis.finish(None).unwrap())).join("\n")
}

/// A sensor that wakes from deep sleep: the same sequence number each time, another payload, no retry bit.
#[test]
fn a_sleeper_with_one_number_has_sent_five_messages() {
    let said = told(include_bytes!("cases/19-deep-sleep-same-sequence-number.pcap"));
    assert!(said.contains("5 messages, 60 % acknowledged, 0 % retries"), "{said}");
}

/// A snap length that cuts the last octet of the FCS alone.
#[test]
fn a_frame_without_its_last_octet_is_esp_now() {
    let said = told(include_bytes!("cases/20-snapped-by-one-octet.pcap"));
    assert!(said.contains("ESP-NOW 02:00:00:00:00:41 -> all: 2 messages"), "{said}");
    assert!(said.contains("limits: 2 packets are cut."), "{said}");
}
