//! Workloads back to a plan's text, so that a command's flags are stored as a plan too.

use super::kinds::{Kind, VARIANT, defaults};
use crate::label;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use espbench_model::workload::{IpTest, MqttMode, MqttVersion, Transport, Workload};

/// A text in TOML's quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text of a plan of these workloads; [`Plan::parse`](super::Plan::parse) gives them back.
#[must_use]
pub fn print(name: &str, seed: u64, workloads: &[Workload]) -> String {
    let mut text = format!("name = {}\nseed = {seed}\n", quoted(name));
    for workload in workloads {
        let _ = write!(text, "\n[[measure]]\nkind = \"{}\"\n", workload.kind());
        for (key, value) in settings(workload) {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
    text
}

/// Keys and values in which a workload differs from its kind's defaults.
fn settings(workload: &Workload) -> Vec<(&'static str, String)> {
    fn differing<K: Kind>(ours: &K, usual: &K) -> Vec<(&'static str, String)> {
        let differs = |key: &str| ours.get(key) != usual.get(key);
        // What a reader of the text would complete otherwise has to be said, too.
        let told: Vec<&str> = K::KEYS.iter().copied().filter(|key| differs(key)).collect();
        let mut completed = ours.clone();
        completed.complete(&told);
        let changed = |key: &&'static str| differs(key) || completed.get(key) != ours.get(key);
        K::KEYS.iter().copied().filter(changed).filter_map(|k| Some((k, ours.get(k)?))).collect()
    }
    let usual = defaults(workload.kind());
    if let (Workload::EspNow(w), Some(Workload::EspNow(d))) = (workload, usual) {
        return differing(w, &d);
    }
    let mut list = match (workload.ip(), usual.and_then(|it| it.ip())) {
        (Some(IpTest::UdpEcho(w)), Some(IpTest::UdpEcho(d))) => differing(&w, &d),
        (Some(IpTest::Ping(w)), Some(IpTest::Ping(d))) => differing(&w, &d),
        (Some(IpTest::Iperf(w)), Some(IpTest::Iperf(d))) => differing(&w, &d),
        (Some(IpTest::TcpRate(w)), Some(IpTest::TcpRate(d))) => differing(&w, &d),
        (Some(IpTest::MqttRate(w)), Some(IpTest::MqttRate(d))) => differing(&w, &d),
        (Some(IpTest::Join(w)), Some(IpTest::Join(d))) => differing(&w, &d),
        _ => Vec::new(),
    };
    list.extend(workload.variant().map(|name| (VARIANT, quoted(name.as_str()))));
    list
}

/// A workload in a few words.
pub(super) fn label(workload: &Workload) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let leading: &[&str] = match &workload.plain() {
        Workload::UdpEcho(w) => {
            words.push(format!("udp-echo {} B", w.size));
            &["size", "count", "discard", "timeout"]
        }
        Workload::Ping(w) => {
            words.push(format!("ping {} B", w.size));
            &["size", "count", "discard", "timeout"]
        }
        Workload::Iperf(w) => {
            let transport = if w.transport == Transport::Udp { "UDP" } else { "TCP" };
            words.push(format!("iperf {transport}"));
            &["transport", "time", "interval"]
        }
        Workload::TcpRate(w) => {
            let nagle = if w.no_delay { "off" } else { "on" };
            words.push(format!("tcp-rate {} B, Nagle {nagle}", w.size));
            &["size", "runs", "discard", "run_time", "no_delay"]
        }
        Workload::MqttRate(w) => {
            let version = if w.version == MqttVersion::V5 { "5" } else { "3.1.1" };
            words.push(format!("mqtt-rate MQTT {version} QoS {}", w.qos));
            if w.mode != MqttMode::Listen {
                words.push(format!("{} B", w.size));
            }
            words.push(match w.mode {
                MqttMode::Saturate => "saturated".into(),
                MqttMode::Offered(rate) => format!("{rate} /s offered"),
                MqttMode::Search { low, high } => format!("search {low} to {high} /s"),
                MqttMode::Listen => "listening".into(),
            });
            &["version", "qos", "size", "offered", "time", "count", "queue"]
        }
        Workload::Join(w) => {
            words.push(if w.cold { "wifi-join" } else { "wifi-join, key known" }.into());
            &["count", "discard", "interval", "timeout", "cold"]
        }
        // A plain workload names no variant.
        Workload::Wifi(_) => &[],
        Workload::EspNow(w) => {
            words.push(format!("esp-now {}", label::settings(&Workload::EspNow(*w))));
            &["test", "cast", "size", "count", "time", "devices", "distance", "encrypted"]
        }
    };
    for (key, value) in settings(workload) {
        if !leading.contains(&key) {
            words.push(match value.as_str() {
                "true" => key.replace('_', " "),
                value => format!("{} {}", key.replace('_', " "), value.trim_matches('"')),
            });
        }
    }
    Some(words.join(", "))
}
