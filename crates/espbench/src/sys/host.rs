//! Facts about the machine that measures: part of every run's facts.

use std::collections::BTreeMap;

/// Returns operating system, kernel, CPU, clock source and socket limits, as far as the system
/// tells. The host's name and its users are not among them.
#[must_use]
pub fn facts() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut note = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            facts.insert(key.to_owned(), value);
        }
    };
    note("os", Some(std::env::consts::OS.to_owned()));
    note("arch", Some(std::env::consts::ARCH.to_owned()));
    note("cpus", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    for (key, path) in [
        ("kernel", "/proc/sys/kernel/osrelease"),
        ("clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ("rmem_max", "/proc/sys/net/core/rmem_max"),
        ("wmem_max", "/proc/sys/net/core/wmem_max"),
        ("tcp_congestion_control", "/proc/sys/net/ipv4/tcp_congestion_control"),
        ("cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ] {
        note(key, std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned()));
    }
    note("cpu", cpu_model());
    facts
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
