//! Functions of the fuzz targets. The targets in `fuzz_targets/` call them; the test in
//! `tests/corpus.rs` calls them with the stored corpus, without a fuzzer.

mod app;
mod board_console;
mod broker_url;
mod capture;
mod doctor;
mod esp_now_console;
mod esp_now_control;
mod esp_now_engine;
mod esp_now_iperf;
mod esp_now_node;
mod esp_now_ota;
mod esp_now_prov;
mod esp_now_security;
mod excerpt;
mod http_request;
mod icmp;
mod idf_iperf;
mod ieee80211;
mod iperf;
mod lab_file;
mod live_control;
mod logic_capture;
mod mqtt;
mod mqtt_broker;
mod net;
mod rom_loader;
mod room;
mod router_messages;
mod sdkconfig;
mod talk;
mod traces;
mod transcript;
mod websocket;

pub use app::app;
pub use board_console::board_console;
pub use broker_url::broker_url;
pub use capture::{capture_file, capture_packets};
pub use doctor::{doctor_crash, doctor_rules};
pub use esp_now_console::{esp_now_console, esp_now_debug};
pub use esp_now_control::{esp_now_control, esp_now_time};
pub use esp_now_engine::{esp_now_engine, esp_now_header};
pub use esp_now_iperf::esp_now_iperf;
pub use esp_now_node::esp_now_node;
pub use esp_now_ota::{esp_now_ota, esp_now_ota_initiator, esp_now_ota_responder};
pub use esp_now_prov::esp_now_prov;
pub use esp_now_security::{esp_now_handshake, esp_now_security};
pub use excerpt::excerpt;
pub use http_request::http_request;
pub use icmp::{icmp_message, icmp_prober};
pub use idf_iperf::idf_iperf;
pub use ieee80211::ieee80211;
pub use iperf::{iperf_bounce, iperf_burst, iperf_plausible};
pub use lab_file::{lab_file, link_trace};
pub use live_control::live_control;
pub use logic_capture::logic_capture;
pub use mqtt::{mqtt_exchange, mqtt_stream};
pub use mqtt_broker::{mqtt_broker, mqtt_broker_bytes};
pub use net::net;
pub use rom_loader::rom_loader;
pub use room::room;
pub use router_messages::router_messages;
pub use sdkconfig::sdkconfig;
pub use talk::{talk_script, talk_terminal};
pub use traces::trace_source;
pub use transcript::esp_now_transcript;
pub use websocket::websocket;

/// A fuzz target: its name, which is also its corpus folder, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("plan", plan),
    ("room", room),
    ("rom_loader", rom_loader),
    ("net", net),
    ("router_messages", router_messages),
    ("echo", echo),
    ("icmp_message", icmp_message),
    ("icmp_prober", icmp_prober),
    ("iperf_header", iperf_header),
    ("iperf_report", iperf_report),
    ("iperf_receiver", iperf_receiver),
    ("iperf_burst", iperf_burst),
    ("iperf_plausible", iperf_plausible),
    ("iperf_bounce", iperf_bounce),
    ("esp_now_console", esp_now_console),
    ("esp_now_debug", esp_now_debug),
    ("esp_now_header", esp_now_header),
    ("esp_now_engine", esp_now_engine),
    ("esp_now_handshake", esp_now_handshake),
    ("esp_now_security", esp_now_security),
    ("mqtt_stream", mqtt_stream),
    ("websocket", websocket),
    ("broker_url", broker_url),
    ("live_control", live_control),
    ("http_request", http_request),
    ("esp_now_ota", esp_now_ota),
    ("esp_now_ota_responder", esp_now_ota_responder),
    ("esp_now_ota_initiator", esp_now_ota_initiator),
    ("mqtt_exchange", mqtt_exchange),
    ("mqtt_broker", mqtt_broker),
    ("mqtt_broker_bytes", mqtt_broker_bytes),
    ("ieee80211", ieee80211),
    ("esp_now_control", esp_now_control),
    ("esp_now_time", esp_now_time),
    ("esp_now_iperf", esp_now_iperf),
    ("esp_now_node", esp_now_node),
    ("esp_now_prov", esp_now_prov),
    ("esp_now_transcript", esp_now_transcript),
    ("talk_script", talk_script),
    ("talk_terminal", talk_terminal),
    ("lab_file", lab_file),
    ("link_trace", link_trace),
    ("trace_source", trace_source),
    ("excerpt", excerpt),
    ("app", app),
    ("board_console", board_console),
    ("idf_iperf", idf_iperf),
    ("sdkconfig", sdkconfig),
    ("doctor_log", doctor_log),
    ("doctor_file", doctor_file),
    ("doctor_crash", doctor_crash),
    ("doctor_rules", doctor_rules),
    ("capture_file", capture_file),
    ("capture_packets", capture_packets),
    ("logic_capture", logic_capture),
];

/// Returns the target that the variable `FUZZ_TARGET` of the environment names, for the program `any`: a short run
/// of all targets links one program and not fifty.
///
/// # Panics
/// Where no target has that name.
#[must_use]
pub fn target_of_environment() -> fn(&[u8]) {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|it| it.0 == name);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET={name} names no target")).1
}

/// Reads a console log in two pieces: it tells the same as in one, and the shares of its findings are of one.
pub fn doctor_log(data: &[u8]) {
    use espbench_doctor::{log::LogReader, rules::diagnose};
    let read = |at: usize| {
        let mut reader = LogReader::new();
        reader.push(&data[..at]);
        reader.push(&data[at..]);
        reader.finish()
    };
    let whole = read(data.len());
    assert_eq!(whole, read(data.len() / 2));
    let found = diagnose(&whole);
    let shares: f64 = found.findings.iter().map(|it| it.share).sum();
    assert!(found.findings.is_empty() || (shares - 1.0).abs() < 1e-9, "{found:?}");
    doctor_incident(data, &whole);
}

/// Reads a file of any kind in chunks whose length the first byte chooses: its kind, or the fault, is that of the whole.
pub fn doctor_file(data: &[u8]) {
    use espbench_doctor::file::DoctorFileReader;
    let [chunk, bytes @ ..] = data else { return };
    let read = |chunk: usize| {
        let mut reader = DoctorFileReader::default();
        for it in bytes.chunks(chunk) {
            // Octets behind the last that matters change nothing.
            reader.push(it);
        }
        format!("{:?}", reader.finish())
    };
    assert_eq!(read(bytes.len().max(1)), read(usize::from(*chunk) + 1));
}

/// Diagnoses the same bytes as a log, and what stands behind a line `---` as the sdkconfig of its firmware: each finding
/// has evidence, the shares of incidents are of one, and a setting, which is no incident, has none.
fn doctor_incident(data: &[u8], log: &espbench_doctor::log::LogSummary) {
    use espbench_doctor::finding::TroubleCause;
    use espbench_doctor::incident::{Incident, diagnose};
    let text = String::from_utf8_lossy(data);
    let rest = text.split_once("\n---\n").map_or("", |it| it.1);
    let config = espbench_doctor::settings::ConfigFile::read(rest).ok();
    let rtt = std::time::Duration::from_millis(5).into();
    let found = diagnose(&Incident { name: "fuzz", log: Some(log), config: config.as_ref(), rtt });
    let findings = &found.diagnosis.findings;
    assert!(findings.iter().all(|it| !it.evidence.is_empty()), "{findings:?}");
    let (settings, incidents): (Vec<_>, Vec<_>) =
        findings.iter().partition(|it| matches!(it.cause, TroubleCause::Settings(_)));
    assert!(settings.iter().all(|it| it.share == 0.0), "{settings:?}");
    let shares: f64 = incidents.iter().map(|it| it.share).sum();
    assert!(incidents.is_empty() || (shares - 1.0).abs() < 1e-9, "{incidents:?}");
}

/// Reads a plan's text: reading ends, what is read has a bounded number of cells, and the plan can be printed and read
/// again. So few bytes make at most so many cells in at most so much memory, whatever lists they multiply.
pub fn plan(data: &[u8]) {
    use espbench_measure::label::of_workload as label;
    use espbench_measure::plan::{PlanSet, print};
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(set) = PlanSet::parse(text) else { return };
    assert!(
        set.plans.iter().map(|it| it.workloads.len()).sum::<usize>()
            <= espbench_measure::plan::MOST_CELLS
    );
    assert!(set.steps().len() <= espbench_measure::plan::MOST_STEPS);
    for plan in &set.plans {
        let workloads = &plan.workloads[..plan.workloads.len().min(50)];
        workloads.iter().for_each(|w| assert!(!label(w).is_empty()));
        let again =
            PlanSet::parse(&print(&plan.name, plan.seed, workloads)).expect("it was read once");
        assert_eq!(again.plans[0].workloads, workloads);
    }
}

/// Runs the echo prober: the first bytes choose the workload, then each byte is an operation.
pub fn echo(data: &[u8]) {
    use espbench_model::sample::{Cause, Fate, Sample};
    use espbench_model::time::{Duration, Instant};
    use espbench_model::workload::{EchoFormat, UdpEcho};
    use espbench_proto::node::Output;
    use espbench_proto::node::echo::Prober;
    let [kind, count, window, rest @ ..] = data else { return };
    let format = if kind & 1 == 0 { EchoFormat::Ascii } else { EchoFormat::Binary };
    let work = UdpEcho {
        size: 16 + u32::from(kind >> 4),
        count: u32::from(*count),
        discard: u32::from(kind >> 1 & 1),
        format,
        in_flight: u16::from(*window) + 1,
        interval: (kind & 4 != 0).then_some(Duration::from_micros(700)),
        timeout: Duration::from_millis(5),
    };
    let mut prober = Prober::new(work, 1, Instant::ZERO);
    let (mut now, mut buf, mut last) = (Instant::ZERO, [0; 64], Vec::new());
    let mut fates = 0;
    for (i, byte) in rest.iter().enumerate() {
        match byte & 7 {
            0..=2 => match prober.poll(now, &mut buf) {
                Output::Send { len } => last = buf[..len].to_vec(),
                Output::Sample(Sample::Probe(p)) if p.fate != Fate::Duplicate => fates += 1,
                Output::Sample(_) | Output::WaitUntil(_) | Output::Done => {}
            },
            3 => prober.handle(now, &last, None),
            4 => prober.handle(now, &rest[i..rest.len().min(i + usize::from(byte >> 3))], None),
            5 => {
                if let Some(byte) = last.get_mut(usize::from(byte >> 3)) {
                    *byte ^= 1;
                }
                prober.handle(now, &last, Some(now));
            }
            6 => prober.refused(Cause::NoBuffers),
            _ => now = now + Duration::from_micros(u64::from(byte >> 3) * 400),
        }
    }
    prober.stop();
    for _ in 0..4096 {
        match prober.poll(now, &mut buf) {
            Output::Sample(Sample::Probe(p)) if p.fate != Fate::Duplicate => fates += 1,
            Output::Sample(_) => {}
            Output::Done => break,
            other => panic!("a stopped prober wants {other:?}"),
        }
    }
    assert!(fates <= prober.sent(), "no probe has two fates");
}

/// Parses bytes as an iperf client header, an ack and a greeting: each is written back to the same
/// bytes.
pub fn iperf_header(data: &[u8]) {
    use espbench_proto::wire::iperf2::{
        Carrier, Datagram, HeaderAck, Width, client_greeting, server_greeting,
    };
    let _ = (client_greeting(data), server_greeting(data), HeaderAck::parse(data));
    if let Ok(datagram) = Datagram::new(data) {
        let _ = (datagram.id(Width::Told), datagram.id(Width::Wide), datagram.stamp().as_nanos());
    }
    for carrier in [Carrier::Stream, Carrier::Datagram] {
        iperf_client_header(data, carrier);
    }
}

fn iperf_client_header(data: &[u8], carrier: espbench_proto::wire::iperf2::Carrier) {
    use espbench_proto::wire::iperf2::ClientHeader;
    let Ok(Some(header)) = ClientHeader::parse(data, carrier) else { return };
    let _ = (header.mode(), header.wants_ack(), header.no_report(), header.unsupported());
    let mut out = [0; 112];
    header.emit(&mut out, carrier);
    if let Ok(Some(again)) = ClientHeader::parse(&out, carrier) {
        assert_eq!(
            (again.threads, again.port, again.length),
            (header.threads, header.port, header.length)
        );
        assert_eq!(
            again.extension.map(|e| (e.upper, e.rate)),
            header.extension.map(|e| (e.upper, e.rate))
        );
        assert_eq!(again.start.is_some() || header.start.is_none(), true);
    }
}

/// Parses bytes as an iperf server's closing report: it can be written and parsed again.
pub fn iperf_report(data: &[u8]) {
    use espbench_proto::wire::iperf2::{REPORT, ServerReport};
    let Ok(report) = ServerReport::parse(data) else { return };
    let mut out = [0; REPORT];
    report.emit(&mut out);
    let again = ServerReport::parse(&out).expect("it was just written");
    assert_eq!(
        (again.bytes, again.lost, again.datagrams),
        (report.bytes, report.lost, report.datagrams)
    );
}

/// Runs an iperf receiver: datagrams in and out of order, garbage, time.
pub fn iperf_receiver(data: &[u8]) {
    use espbench_model::sample::{Link, Sample};
    use espbench_model::time::{Duration, Instant};
    use espbench_proto::node::Output;
    use espbench_proto::node::iperf::{ReceiverSetup, UdpReceiver};
    use espbench_proto::wire::iperf2::{Datagram, REPORT, Stamp, Width};
    let [kind, rest @ ..] = data else { return };
    let setup = ReceiverSetup {
        link: Link(0),
        interval: Duration::from_millis(u64::from(kind >> 4) * 10),
        answer: kind & 1 != 0,
        idle: Duration::from_secs(1),
        width: if kind & 2 == 0 { Width::Told } else { Width::Wide },
        until: Instant::NEVER,
        began: None,
        epoch_ns: (kind & 4 != 0).then_some(1),
    };
    let mut receiver = UdpReceiver::new(setup, Instant::ZERO);
    let (mut now, mut id, mut given) = (Instant::ZERO, 0i64, 0u64);
    let poll = |receiver: &mut UdpReceiver, now| {
        let mut out = [0; REPORT];
        let (mut totals, mut reports) = (0, 0);
        loop {
            match receiver.poll(now, &mut out) {
                Output::Sample(Sample::Interval(i)) => totals += u32::from(i.total),
                Output::Send { .. } => reports += 1,
                other => return (totals, reports, other),
            }
        }
    };
    let (mut totals, mut reports) = (0, 0);
    for (i, byte) in rest.iter().enumerate() {
        let by = i64::from(byte >> 3);
        match byte & 7 {
            0..=2 => id = id.wrapping_add(1 + by),
            3 => id = id.wrapping_sub(by),
            4 => id = -id.saturating_abs(),
            5 => now = now + Duration::from_millis(u64::from(byte >> 3) * 20),
            6 => {
                given += 1;
                receiver.datagram(now, &rest[i..rest.len().min(i + 20)], 1470);
                continue;
            }
            _ => id = id.wrapping_mul(1 << (by % 16)),
        }
        let mut head = [0; 16];
        Datagram::emit(&mut head, id, Stamp { seconds: u32::from(*byte), micros: i as u32 });
        given += 1;
        receiver.datagram(now, &head, 1470);
        if byte & 8 != 0 {
            let (more, sent, _) = poll(&mut receiver, now);
            (totals, reports) = (totals + more, reports + sent);
        }
    }
    receiver.stop();
    // The silence after the report is at most a few waits long.
    for _ in 0..100 {
        let (more, sent, next) = poll(&mut receiver, now);
        (totals, reports) = (totals + more, reports + sent);
        match next {
            Output::WaitUntil(at) => now = now.max(at),
            _ => break,
        }
    }
    assert_eq!(totals, 1, "one flow has one total");
    assert!(reports <= 10);
    assert!(receiver.received() <= given, "no more datagrams than were given");
}
