//! Settings of logs and files.

use crate::finding::{CauseFinding, DiagnosisVerdict, TroubleCause};
use crate::incident::{Incident, IncidentDiagnosis, diagnose};
use crate::log::{EvidenceSource, LogReader};
use crate::settings::ConfigFile;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use proptest::prelude::*;

const BOOT: &str = "\
ESP-ROM:esp32c3-api1-20210207
I (33) boot: ESP-IDF v5.1.2 2nd stage bootloader
I (455) wifi:Init static rx buffer num: 10
I (455) wifi:Init dynamic rx buffer num: 32
I (455) wifi_init: rx ba win: 6
I (465) wifi_init: tcpip mbox: 32
I (465) wifi_init: udp mbox: 6
I (465) wifi_init: tcp mbox: 6
I (475) wifi_init: tcp tx win: 5760
I (475) wifi_init: tcp rx win: 5760
I (475) wifi_init: tcp mss: 1440
I (485) wifi_init: WiFi IRAM OP enabled
I (900) wifi:connected with attic, aid = 1, channel 6, BW20, bssid = 00:00:5e:00:53:07
";

fn found(log: Option<&str>, config: Option<&str>) -> IncidentDiagnosis {
    let log = log.map(|text| {
        let mut reader = LogReader::new();
        reader.push(text.as_bytes());
        reader.finish()
    });
    let config = config.map(|text| ConfigFile::read(text).unwrap());
    let rtt = Duration::from_millis(5).into();
    diagnose(&Incident { name: "files", log: log.as_ref(), config: config.as_ref(), rtt })
}

#[test]
fn defaults_are_no_cause_and_their_bound_is_told() {
    let it = found(Some(BOOT), None);
    assert_eq!(it.diagnosis.verdict, DiagnosisVerdict::NothingWrong, "{:#?}", it.diagnosis);
    assert!(
        it.diagnosis.notes[1].starts_with("At a round trip of 5 ms TCP receives at most 9.2"),
        "{:?}",
        it.diagnosis.notes
    );
    let check = it.check.unwrap();
    assert_eq!((check.chip.as_str(), check.release.as_str()), ("esp32c3", "v5.1"));
}

#[test]
fn a_small_window_is_a_cause_with_its_line_and_the_change() {
    let small = BOOT.replace("tcp rx win: 5760", "tcp rx win: 2440");
    let it = found(Some(&small), None);
    let first = &it.diagnosis.findings[0];
    assert!(matches!(first.cause, TroubleCause::Settings(_)), "{first:#?}");
    assert_eq!((first.evidence[0].source, first.evidence[0].line), (EvidenceSource::Log, 10));
    assert!(first.remedy.contains("CONFIG_LWIP_TCP_WND_DEFAULT="), "{first:#?}");
    let file = "CONFIG_IDF_TARGET=\"esp32\"\n\nCONFIG_LWIP_TCP_WND_DEFAULT=2440\n";
    let it = found(None, Some(file));
    let first = &it.diagnosis.findings[0];
    assert_eq!((first.evidence[0].source, first.evidence[0].line), (EvidenceSource::SdkConfig, 3));
}

#[test]
fn a_log_that_contradicts_its_file_is_of_another_build() {
    let file = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=11520\nCONFIG_LWIP_TCP_MSS=1440\n";
    let it = found(Some(BOOT), Some(file)).diagnosis;
    assert_eq!(it.findings[0].cause, TroubleCause::OtherBuild, "{it:#?}");
    assert_eq!(
        it.contradictions,
        [
            "CONFIG_LWIP_TCP_WND_DEFAULT: line 10 of the log prints 5760, line 2 of the sdkconfig has 11520."
        ]
    );
    let same = found(Some(BOOT), Some("CONFIG_LWIP_TCP_WND_DEFAULT=5760\n")).diagnosis;
    assert_eq!(
        (same.verdict, same.contradictions),
        (DiagnosisVerdict::NothingWrong, Vec::<String>::new())
    );
    let chip = found(Some(BOOT), Some("CONFIG_IDF_TARGET=\"esp32s3\"\n")).diagnosis;
    assert!(
        chip.contradictions[0].contains("for the esp32s3, but line 1 of the log names the esp32c3")
    );
}

#[test]
fn a_window_beyond_the_buffers_is_wrong() {
    let file = "CONFIG_LWIP_TCP_WND_DEFAULT=65535\nCONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=16\n";
    let it = found(None, Some(file)).diagnosis;
    assert_eq!(it.findings[0].cause, TroubleCause::Settings("window"), "{it:#?}");
    assert_eq!(it.findings[0].evidence.len(), 2);
}

proptest! {
    #[test]
    fn every_finding_has_evidence_whatever_the_files(
        lines in proptest::collection::vec("(I \\([0-9]{1,4}\\) (wifi|wifi_init):(Init static rx buffer num: |rx ba win: | tcp rx win: | tcpip mbox: | udp mbox: )[0-9]{1,6}|ESP-ROM:esp32(c3|s3|c6)-|reason=20[0-9]|[ -~]{0,20})", 0..12),
        config in "(CONFIG_LWIP_TCP_WND_DEFAULT=[0-9]{1,6}\n|CONFIG_ESP_WIFI_DYNAMIC_RX_BUFFER_NUM=[0-9]{1,3}\n|CONFIG_SPIRAM=y\n|# CONFIG_ESP_WIFI_AMPDU_RX_ENABLED is not set\n|CONFIG_IDF_TARGET=\"esp32s2\"\n){0,6}",
    ) {
        let log = lines.join("\n");
        let it = found(Some(&log), Some(&config)).diagnosis;
        for finding in &it.findings {
            prop_assert!(!finding.evidence.is_empty(), "{finding:?}");
        }
        let shares: f64 = it.findings.iter().map(|it| it.share).sum();
        let is_incident = |it: &CauseFinding| !matches!(it.cause, TroubleCause::Settings(_));
        let all = if it.findings.iter().any(is_incident) { 1.0 } else { 0.0 };
        prop_assert!((shares - all).abs() < 1e-9);
    }
}
