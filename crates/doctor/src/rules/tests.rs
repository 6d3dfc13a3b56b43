//! Logs with a known cause.

use super::*;
use crate::log::LogReader;

fn diagnosis(log: &str) -> Diagnosis {
    let mut reader = LogReader::new();
    reader.push(log.as_bytes());
    diagnose(&reader.finish())
}

#[test]
fn each_cause_that_is_looked_for_has_a_record() {
    // Those of a kind of reasons are looked for by the kind's name; a name without a record ends each test that looks for it.
    let sources = [
        include_str!("air.rs"),
        include_str!("faint.rs"),
        include_str!("network.rs"),
        include_str!("parts.rs"),
        include_str!("restarts.rs"),
        include_str!("words.rs"),
        include_str!("../rules.rs"),
        include_str!("../captured.rs"),
    ]
    .concat();
    let groups: Vec<String> =
        ReasonGroup::ALL.into_iter().map(|it| format!("link-{}", it.name())).collect();
    let book = crate::matcher::RuleBook::built_in();
    let asked = book.causes().filter(|it| it.asked);
    let unknown: Vec<_> = asked
        .filter(|it| !groups.contains(&it.name) && !sources.contains(&format!("\"{}\"", it.name)))
        .map(|it| &it.name)
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(groups.iter().all(|it| book.cause(it).is_some()));
}

const JOINED: &str = "I (900) wifi:state: assoc -> run (0x10)\n\
    I (910) wifi:security: WPA2-PSK, phy: bgn, rssi: -58\n\
    I (920) wifi:pm start, type: 1\n\
    I (1900) esp_netif_handlers: sta ip: 10.0.0.7, mask: 255.255.255.0, gw: 10.0.0.1\n";

#[test]
fn the_first_cause_is_the_one_that_explains_most() {
    use TroubleCause::{Disconnections, Named};
    let book = crate::matcher::RuleBook::built_in();
    let lost =
        "I (9) wifi:bcn_timeout,ap_probe_send_start\nI (12) wifi:state: run -> init (0xc800)\n";
    for (name, log, cause) in [
        (
            "password",
            "W (5) sta: reason=15\nW (9000) sta: reason=15\nW (12000) sta: reason=204\n".into(),
            Disconnections(ReasonGroup::Password),
        ),
        (
            "absent",
            "W (5) sta: reason=201\nW (9000) sta: reason=201\n".into(),
            Disconnections(ReasonGroup::Absent),
        ),
        ("beacons", format!("{JOINED}{lost}{JOINED}{lost}"), Disconnections(ReasonGroup::Beacons)),
        (
            "brownout",
            format!(
                "{JOINED}Brownout detector was triggered\nrst:0xf (BROWNOUT_RST),boot:0x13\n{JOINED}"
            ),
            TroubleCause::of("brown-out"),
        ),
        (
            "panic",
            format!("{JOINED}Guru Meditation Error: Core  0 panic'ed (StoreProhibited).\n{lost}"),
            TroubleCause::of("panic"),
        ),
        ("heap", format!("{JOINED}E (99) esp-tls: malloc failed\n"), TroubleCause::of("heap")),
        (
            "enomem",
            format!("{JOINED}E (99) udp: sendto: errno 12\nE (99) udp: sendto: errno 12\n"),
            TroubleCause::of("send-buffers"),
        ),
        (
            "esp-now",
            "E (9) now: ESP_ERR_ESPNOW_NOT_FOUND\n".into(),
            Named(NamedCause(book.cause("esp-now-peer-not-found").unwrap())),
        ),
    ] {
        let log: String = log;
        let found = diagnosis(&log);
        assert_eq!(found.verdict, DiagnosisVerdict::Causes, "{name}");
        assert_eq!(found.findings[0].cause, cause, "{name}: {found:#?}");
        assert!(!found.findings[0].evidence.is_empty());
    }
}

#[test]
fn a_weak_signal_is_the_cause_of_lost_beacons_and_a_strong_one_is_told() {
    let lost = "I (12) wifi:state: run -> init (0xc800)\n";
    let weak = diagnosis(&format!("{}{lost}{lost}", JOINED.replace("-58", "-88")));
    assert!(weak.findings[0].title.starts_with("the signal is weak (-88 dBm)"), "{weak:#?}");
    assert_eq!(weak.findings[0].certainty, Certainty::High);
    let strong = diagnosis(&format!("{JOINED}{lost}{lost}"));
    assert_eq!(strong.findings[0].certainty, Certainty::Medium);
    assert!(strong.notes.iter().any(|it| it.contains("strong (-58 dBm)")), "{strong:#?}");
}

#[test]
fn a_healthy_log_raises_no_alarm_and_another_file_tells_nothing() {
    let healthy = diagnosis(&format!(
        "W (400) sta: reason=2\n{JOINED}I (99) wifi:bcn_timeout,ap_probe_send_start\n"
    ));
    assert_eq!((healthy.verdict, healthy.findings.len()), (DiagnosisVerdict::NothingWrong, 0));
    assert!(healthy.notes[0].starts_with("Power save is on"));
    let other = diagnosis("Dear diary,\ntoday it rained.\n");
    assert_eq!((other.verdict, other.notes.len()), (DiagnosisVerdict::CannotTell, 0));
}

#[test]
fn a_password_that_worked_is_not_blamed() {
    let found = diagnosis(&format!("{JOINED}W (5) sta: reason=15\nW (9) sta: reason=15\n"));
    assert_eq!(found.findings[0].certainty, Certainty::Low);
    assert!(found.findings[0].title.contains("although the password worked"), "{found:#?}");
}

#[test]
fn shares_add_up_to_all_incidents() {
    let found =
        diagnosis("W (5) sta: reason=201\nW (9) sta: reason=15\nE (9) esp-tls: malloc failed\n");
    let sum: f64 = found.findings.iter().map(|it| it.share).sum();
    assert!(found.findings.len() == 3 && (sum - 1.0).abs() < 1e-12, "{found:#?}");
}

#[test]
fn a_slow_rate_is_a_cause_where_frames_fail() {
    let slow = "I (5) now: rate WIFI_PHY_RATE_1M_L\n";
    assert_eq!(diagnosis(slow).findings.len(), 0);
    let failed = "E (9) now: sendto: errno 12\n";
    let found = diagnosis(&format!("{slow}{failed}"));
    assert!(found.findings.iter().any(|it| it.cause.is("slow-phy")), "{found:#?}");
}

#[test]
fn slow_replies_are_blamed_on_sleep_only_where_it_is_on() {
    let ping = "64 bytes from 192.0.2.1 icmp_seq=1 ttl=64 time=180 ms\n".repeat(4);
    let asleep = diagnosis(&format!("{JOINED}{ping}"));
    assert_eq!(asleep.findings[0].cause, TroubleCause::of("power-save"), "{asleep:#?}");
    // The last line about it counts.
    let awake = diagnosis(&format!("{JOINED}I (2000) wifi:Set ps type: 0\n{ping}"));
    assert!(awake.findings.is_empty(), "{awake:#?}");
}

#[test]
fn failures_without_a_link_follow_from_it() {
    let lost = "I (5000) wifi:bcn_timeout,ap_probe_send_start\nI (7500) wifi:state: run -> init (0xc800)\n";
    let failed =
        "E (8000) esp-tls: couldn't get hostname for :a.example: getaddrinfo() returns 202\n"
            .repeat(9);
    let found = diagnosis(&format!("{JOINED}{lost}{failed}"));
    assert_eq!(found.findings.len(), 1, "{found:#?}");
    assert_eq!(found.findings[0].cause, TroubleCause::Disconnections(ReasonGroup::Beacons));
    assert!(found.notes.iter().any(|it| it.starts_with("9 failures")), "{found:#?}");
    let linked = diagnosis(&format!("{JOINED}{failed}"));
    assert_eq!(linked.findings[0].cause, TroubleCause::of("dns"));
    assert!(linked.findings[0].title.contains("it is not the link"), "{linked:#?}");
}

#[test]
fn attempts_before_a_link_that_holds_are_in_order_and_later_ones_are_not() {
    let failed = "W (300) sta: reason=202\nW (700) sta: reason=201\n";
    let found = diagnosis(&format!("{failed}{JOINED}"));
    assert_eq!(
        (found.verdict, found.findings.len()),
        (DiagnosisVerdict::NothingWrong, 0),
        "{found:#?}"
    );
    let after = diagnosis(&format!("{JOINED}{failed}"));
    assert_eq!(after.findings.len(), 2, "{after:#?}");
    // A log that ends without its link tells of the end, be it one.
    let ended = diagnosis(&format!("{JOINED}I (9000) wifi:Send disconnect event, reason=8\n"));
    assert_eq!(ended.findings[0].cause, TroubleCause::Disconnections(ReasonGroup::Local));
}

#[test]
fn an_association_without_an_address_is_a_cause_after_ten_seconds() {
    let joined = "I (900) wifi:connected with a, aid = 1\n";
    let late = diagnosis(&format!("{joined}I (11000) app: waiting\n"));
    assert_eq!(late.findings[0].cause, TroubleCause::of("no-address"), "{late:#?}");
    // A shorter wait is the faint sign of one, and a log that ends at once has a note.
    let waiting = diagnosis(&format!("{joined}I (9000) app: waiting\n"));
    assert_eq!(waiting.findings[0].certainty, Certainty::Low, "{waiting:#?}");
    let ended = diagnosis(&format!("{joined}I (1200) app: waiting\n"));
    assert!(ended.findings.is_empty() && ended.notes[0].contains("300 ms"), "{ended:#?}");
    let slow =
        diagnosis(&format!("{joined}I (12000) esp_netif_handlers: sta ip: 10.0.0.7, mask: x\n"));
    assert!(slow.findings.is_empty(), "{slow:#?}");
}

#[test]
fn strengths_of_a_scan_are_not_those_of_the_link() {
    let scan: String = (60..95).map(|dbm| format!("[D][wifi:1]:     RSSI: -{dbm} dB\n")).collect();
    let lost = "I (9000) wifi:state: run -> init (0xc800)\n";
    let found = diagnosis(&format!("{scan}{JOINED}{lost}{lost}"));
    assert!(!found.findings[0].title.contains("weak"), "{found:#?}");
    let found = diagnosis(&format!("{scan}I (9000) a: reason=200\n"));
    assert_eq!(found.findings[0].certainty, Certainty::Medium, "{found:#?}");
}

#[test]
fn what_repeats_weighs_less_than_what_restarts() {
    let absent = "W (5) sta: reason=201\n".repeat(6);
    let found = diagnosis(&format!("{absent}Brownout detector was triggered\n"));
    assert_eq!(found.findings[0].cause, TroubleCause::of("brown-out"), "{found:#?}");
}

#[test]
fn a_lone_reason_that_means_two_things_names_both() {
    let first = |log: &str| diagnosis(log).findings.remove(0);
    let lone = first("W (5) sta: reason=15\n");
    assert_eq!(lone.cause, TroubleCause::Disconnections(ReasonGroup::Password));
    assert_eq!(lone.certainty, Certainty::Medium);
    assert!(lone.title.contains("password") && lone.title.contains("frames"), "{}", lone.title);
    let again = first("W (5) sta: reason=15\nW (9000) sta: reason=15\n");
    assert_eq!(again.certainty, Certainty::High);
    let own = first("W (5) sta: reason=204\nW (9000) sta: reason=204\n");
    assert_eq!(own.cause, TroubleCause::Disconnections(ReasonGroup::Handshake));
    assert!(own.title.contains("password"), "{}", own.title);
}

#[test]
fn an_own_access_point_that_moves_is_a_cause_where_no_address_follows() {
    let used = "I (400) wifi:station: 00:00:5e:00:53:31 join, AID=1, bgn, 20\n";
    let moves = "I (800) wifi:ap channel adjust o:1,1 n:9,1\n";
    let causes = |log: &str| diagnosis(log).findings.iter().map(|it| it.cause).collect::<Vec<_>>();
    assert_eq!(causes(&[used, moves].concat()), [TroubleCause::of("channel-moved")]);
    assert!(causes(&[used, moves, JOINED].concat()).is_empty());
    assert!(causes(&[moves, JOINED].concat()).is_empty());
}

#[test]
fn frames_without_a_buffer_are_no_memory_where_buffers_are_taken() {
    let causes = |log: &str| diagnosis(log).findings.iter().map(|it| it.cause).collect::<Vec<_>>();
    let frame = "W (5) wifi:m f null\n";
    assert_eq!(causes(frame), [TroubleCause::of("heap")]);
    let full = "E (6) wifi:esf_buf: t=3 l=24 max:8, alloc:8 no eb\n";
    assert_eq!(causes(&[frame, full].concat()), [TroubleCause::of("send-buffers")]);
    let little = "W (6) wifi:alloc eb len=24 type=3 fail, heap:3012\n";
    assert_eq!(causes(&[frame, little].concat()), [TroubleCause::of("heap")]);
}

#[test]
fn losses_are_of_the_signal_where_each_association_is_at_the_edge() {
    let lost = "I (5000) wifi:state: run -> init (7c0)\n";
    let faint = JOINED.replace("-58", "-92");
    for (log, group) in [
        (format!("{faint}{lost}"), ReasonGroup::Signal),
        (format!("{faint}{lost}{faint}"), ReasonGroup::Signal),
        (format!("{faint}{lost}{JOINED}"), ReasonGroup::Forgotten),
    ] {
        let found = diagnosis(&log);
        assert_eq!(found.findings[0].cause, TroubleCause::Disconnections(group), "{log}");
    }
}

/// Returns the diagnosis of a log among the cases.
fn of_case(name: &str) -> Diagnosis {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    diagnosis(&std::fs::read_to_string(folder.join(name)).unwrap())
}

#[test]
fn remedies_and_remarks_fit_the_board_and_the_code() {
    let loud = of_case("c3-full-power-auth-expires.log");
    assert!(loud.findings[0].remedy.contains("WIFI_POWER_8_5dBm"), "{loud:#?}");
    let sum = of_case("tls-memory-in-a-sum-of-codes.log");
    assert!(
        sum.notes.iter().any(|it| it.contains("RSA_PUBLIC_FAILED (0x4280) and MPI_ALLOC_FAILED")),
        "{sum:#?}"
    );
    let evidence = of_case("evidence-joins-two-lines.log");
    assert!(
        evidence.findings[0].evidence.iter().all(|it| !it.text.contains("36.01")),
        "{evidence:#?}"
    );
}

#[test]
fn what_follows_from_a_cause_names_it() {
    let log = "Brownout detector was triggered\nrst:0xf (BROWN_OUT_RESET)\nGuru Meditation Error: Core 0 panic'ed\n";
    let found = diagnosis(log).findings;
    let causes: Vec<_> = found.iter().map(|it| (it.cause, it.follows_from)).collect();
    let root = TroubleCause::of("brown-out");
    assert_eq!(causes, [(root, None), (TroubleCause::of("panic"), Some(root))]);
}

#[test]
fn a_brown_out_and_its_reset_are_one() {
    let log = "Brownout detector was triggered\n\nets Jul 29 2019 12:21:46\n\nrst:0xf (BROWNOUT_RST),boot:0x13 (SPI_FAST_FLASH_BOOT)\n";
    assert_eq!(diagnosis(&log.repeat(3)).findings[0].incidents, 3);
    let untold = "rst:0xf (BROWNOUT_RST),boot:0x13 (SPI_FAST_FLASH_BOOT)\n";
    assert_eq!(diagnosis(&untold.repeat(3)).findings[0].incidents, 3);
}

#[test]
fn lines_of_one_failure_are_one_incident() {
    let failure = |at: u32| {
        format!(
            "E ({at}) esp-tls: [sock=54] select() timeout\nE ({}) transport_base: Failed to open a new connection\n\
             E ({}) mqtt_client: Error transport connect\n",
            at + 1,
            at + 2
        )
    };
    let start =
        "I (1870) esp_netif_handlers: sta ip: 192.0.2.34, mask: 255.255.255.0, gw: 192.0.2.1\n";
    let log = [start, &failure(9000), &failure(29_000)].concat();
    let found = diagnosis(&log).findings;
    assert_eq!((found[0].cause, found[0].incidents), (TroubleCause::of("connections"), 2));
}

#[test]
fn what_a_program_makes_good_is_no_finding() {
    let start =
        "I (1870) esp_netif_handlers: sta ip: 192.0.2.34, mask: 255.255.255.0, gw: 192.0.2.1\n";
    let failed = "E (2900) esp-tls: couldn't get hostname for :mill.example: getaddrinfo() returns 202, addrinfo=0x0\n";
    let goes_on: String = (1..8).map(|it| format!("I ({it}00000) app: posted\n")).collect();
    assert_eq!(diagnosis(&[start, failed, &goes_on].concat()).findings, []);
    // Where the log ends soon, or it comes again, it is the complaint.
    assert_eq!(diagnosis(&[start, failed].concat()).findings[0].cause, TroubleCause::of("dns"));
    let again = failed.replace("2900", "650000");
    let twice = [start, failed, &goes_on, &again].concat();
    assert_eq!(diagnosis(&twice).findings[0].cause, TroubleCause::of("dns"));
}
