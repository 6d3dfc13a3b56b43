//! Rules on the values themselves: the file's oddities, ranges, defaults, ranks, flags.

use super::super::words::{kb, mbit};
use super::*;
use Severity::{Limits, Note, Wrong};
use espbench_model::sdkconfig::{MEMORY_OPTIONS, Price, SdkConfigWarning};
use espbench_model::text::{count, counted};

/// Finds mistakes of the file itself.
pub(super) fn file(m: &Material<'_>, out: &mut Vec<Finding>) {
    let reading = &m.question.reading;
    let mut old = 0;
    for warning in &reading.warnings {
        match warning {
            SdkConfigWarning::OldName { .. } => old += 1,
            SdkConfigWarning::Twice { first, .. } => {
                let why = "The build takes the last one.";
                let it = finding("twice", Wrong, warning.to_string(), why, Vec::new());
                out.push(Finding { line: Some(*first), ..it });
            }
            SdkConfigWarning::Near { line, .. } => {
                let why = "The build does not use a name that it does not know.";
                let it = finding("name", Wrong, warning.to_string(), why, Vec::new());
                out.push(Finding { line: Some(*line), ..it });
            }
            SdkConfigWarning::Empty { line, .. } => {
                let why = "Write n, or # CONFIG_NAME is not set.";
                let it = finding("empty", Note, warning.to_string(), why, Vec::new());
                out.push(Finding { line: Some(*line), ..it });
            }
        }
    }
    if old > 0 && m.context.release.from(5, 1) {
        let first =
            reading.warnings.iter().find(|it| matches!(it, SdkConfigWarning::OldName { .. }));
        let first = first.map(ToString::to_string).unwrap_or_default();
        out.push(finding(
            "old-names",
            Note,
            format!("{old} settings have names of older releases"),
            format!("ESP-IDF renames them when it reads the file. The first: {first}."),
            Vec::new(),
        ));
    }
    if reading.warnings_dropped > 0 {
        out.push(finding(
            "file",
            Note,
            format!(
                "The file has {}",
                counted(reading.warnings_dropped.into(), "further oddity", "further oddities")
            ),
            "Those above were the first.",
            Vec::new(),
        ));
    }
    ranges(m, out);
}

fn ranges(m: &Material<'_>, out: &mut Vec<Finding>) {
    for (key, value) in m.settings.given() {
        // Memories of a host are those of its own chip.
        let is_other = m.is_host() && is_of_chip(key);
        if is_other || key.allows(value, &m.context) {
            continue;
        }
        let range = key.range(&m.context);
        let nearest = value.clamp(*range.start(), *range.end());
        out.push(finding(
            "range",
            Wrong,
            match key.words() {
                [] => {
                    let (least, most) = (range.start(), range.end());
                    format!("{}={value} is outside of {least} to {most}", m.name(key))
                }
                _ => format!("{}_{} is none of its values", m.name(key), key.text(value)),
            },
            format!(
                "That is the range for {} with ESP-IDF {}{}; the build does not use the value, but \
                 its default, {}.",
                m.context.chip,
                m.context.release,
                if m.context.psram { " and PSRAM" } else { "" },
                key.text(key.default_in(&m.context))
            ),
            m.change(key, nearest).into_iter().collect(),
        ));
    }
}

pub(super) fn all(m: &Material<'_>, out: &mut Vec<Finding>) {
    out.extend(psram(m));
    out.extend(scaling(m));
    flags(m, out);
    out.extend(defaults(m));
    out.extend(rank(m));
    out.extend(sleep());
}

/// Returns whether an option is of the chip that runs the program: its clocks, caches, flash and PSRAM.
fn is_of_chip(key: ConfigOption) -> bool {
    MEMORY_OPTIONS.contains(&key) || matches!(key, ConfigOption::Psram | ConfigOption::Unicore)
}

fn psram(m: &Material<'_>) -> Option<Finding> {
    if m.is_host() {
        return None;
    }
    let used = m.settings.get(ConfigOption::Psram) == Some(1);
    if used && !m.context.psram && !m.context.chip.psram() {
        return Some(finding(
            "psram",
            Wrong,
            format!("PSRAM is to be used, which no {} has", m.context.chip),
            "The build ignores the setting.",
            m.changes(&[(ConfigOption::Psram, 0)]),
        ));
    }
    if m.context.psram && !m.context.chip.psram() {
        return Some(finding(
            "psram",
            Wrong,
            format!("Buffers are to be in PSRAM, which no {} has", m.context.chip),
            "The build ignores the setting.",
            m.changes(&[(ConfigOption::PsramWifi, 0)]),
        ));
    }
    (m.context.psram && m.settings.get(ConfigOption::DynamicTxBuffer) == Some(1)).then(|| {
        finding(
            "psram",
            Wrong,
            "Dynamic TX buffers are asked for, but with PSRAM the build takes static ones".into(),
            "CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP excludes them (Kconfig); the number of static TX \
             buffers counts.",
            m.changes(&[(ConfigOption::DynamicTxBuffer, 0)]),
        )
    })
}

fn scaling(m: &Material<'_>) -> Option<Finding> {
    (m.context.window_scale && !m.context.psram).then(|| {
        finding(
            "window-scale",
            Wrong,
            "Window scaling is asked for without PSRAM for Wi-Fi and lwIP".into(),
            "Kconfig: it depends on CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP; the build leaves it out, \
             and windows beyond 65535 with it.",
            m.changes(&[(ConfigOption::WindowScale, 0)]),
        )
    })
}

/// Finds code that could be in RAM.
fn flags(m: &Material<'_>, out: &mut Vec<Finding>) {
    let all = [
        (ConfigOption::WifiIram, "The driver's send path runs from flash"),
        (ConfigOption::WifiRxIram, "The driver's receive path runs from flash"),
        (ConfigOption::LwipIram, "lwIP runs from flash"),
    ];
    for (key, what) in all {
        let Price::Code(bytes) = key.fact().price else { continue };
        if m.settings.flag(key, &m.context) {
            continue;
        }
        let gain = match key {
            ConfigOption::LwipIram if m.context.chip.cores() == 1 => {
                "Kconfig: more than 10 % of UDP's and TCP's throughput with one core."
            }
            ConfigOption::LwipIram => "Kconfig: little with two cores, more than 10 % with one.",
            _ => "Kconfig: Wi-Fi throughput is less that way.",
        };
        out.push(finding(
            "flash",
            Limits,
            format!("{what} ({}=n)", m.name(key)),
            format!("{gain} It takes about {} of RAM.", kb(bytes.into())),
            m.change(key, 1).into_iter().collect(),
        ));
    }
}

/// Finds where the documents' "default" is not the build's.
fn defaults(m: &Material<'_>) -> Option<Finding> {
    if m.is_host() {
        return None;
    }
    let rank = Rank::of(m.context.chip).find(|it| it.name == "default")?;
    let settings = rank.settings();
    let differs = |(key, wanted): &(ConfigOption, u32)| {
        m.settings.get(*key).is_none() && m.value(*key) != *wanted
    };
    let set: Vec<(ConfigOption, u32)> = settings.given().filter(differs).collect();
    (!set.is_empty()).then(|| {
        let list = set.iter().map(|(key, wanted)| {
            let own = shown(*key, m.value(*key));
            format!("{} {own} instead of {}", m.name(*key), shown(*key, *wanted))
        });
        finding(
            "defaults",
            Note,
            format!(
                "The file leaves {} out that ESP-IDF sets otherwise than the guide's \"default\" rank",
                count(set.len(), "value")
            ),
            format!(
                "ESP-IDF's own defaults: {}. The guide's {} to send and {} to receive over TCP hold \
                 for the rank.",
                list.collect::<Vec<_>>().join(", "),
                mbit(rank.mbit_s[0]),
                mbit(rank.mbit_s[1])
            ),
            Vec::new(),
        )
    })
}

fn rank(m: &Material<'_>) -> Option<Finding> {
    if m.is_host() {
        return None;
    }
    let (rank, doublings) = Rank::nearest(m.context.chip, &m.config)?;
    let [tcp_tx, tcp_rx, udp_tx, udp_rx] = rank.mbit_s.map(mbit);
    let how = match doublings {
        0.0 => "It is".into(),
        _ => format!("It is {} doublings from", number(doublings)),
    };
    Some(finding(
        "rank",
        Note,
        format!("{how} the guide's \"{}\" rank of the {}", rank.name, m.context.chip),
        format!(
            "Published for it: TCP {tcp_tx} to send and {tcp_rx} to receive, UDP {udp_tx} and {udp_rx}, \
             one stream, shielded box, the best of the laboratory. The distance is the mean number of \
             doublings between the rank's six numbers and these; each of the three flags that differs \
             counts as one.",
        ),
        Vec::new(),
    ))
}

/// Notes the sleep, which no sdkconfig sets.
fn sleep() -> Option<Finding> {
    Some(finding(
        "sleep",
        Note,
        "Modem sleep is not set here, but in code".into(),
        "Without esp_wifi_set_ps(WIFI_PS_NONE) a station sleeps between DTIM beacons \
         (WIFI_PS_MIN_MODEM, the default): what comes for it waits up to 102.4 ms times the access \
         point's DTIM period.",
        Vec::new(),
    ))
}
