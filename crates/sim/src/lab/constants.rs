//! Constants that stand in the code and not in a file: for `espbench lab constants`. A test of the command
//! finds those that are missing here.

use super::file::Constant;
use super::profile::ConstantOrigin::{self, Assumed, Published, Standard};
use super::profile::{Confidence, cache_constants, tcp_code_bytes};
use super::scene::{FLOORS, link_trace_constants};
use super::{file, nodes, predict, radio, wifi};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::radio::mode::LONG_RANGE_GAIN_DB;
use espbench_dot11::radio::receiver::NOISE_FIGURE_DB;
use espbench_dot11::radio::{
    Airtime, FrameCapture, GuardInterval, HeGuard, LongRange, Preamble, RadioChip, WifiMode, timing,
};
use espbench_dot11::wifi::{
    CoexistenceConfig, JoinConfig, PowerSaveTimes, ProcessingTimes, RATE_CONTROL,
};

/// Where a constant of the code is from.
type Ground = (ConstantOrigin, &'static str);

/// Lists the constants of the code; their keys begin with the module that has them.
#[must_use]
pub fn code_constants() -> Vec<Constant> {
    let mut list = Vec::new();
    device(&mut list);
    room(&mut list);
    power_save(&mut list);
    joining(&mut list);
    medium(&mut list);
    chips(&mut list);
    list
}

fn put(list: &mut Vec<Constant>, key: impl Into<String>, value: f64, (origin, source): Ground) {
    let confidence = match origin {
        ConstantOrigin::Assumed | ConstantOrigin::ByHand => Some(Confidence::Low),
        _ => Some(Confidence::High),
    };
    list.push(Constant {
        key: key.into(),
        value: Some(value),
        about: String::new(),
        source: source.into(),
        origin: Some(origin),
        looked_at: String::new(),
        confidence,
    });
}

fn us(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn device(list: &mut Vec<Constant>) {
    let guess = |what| (Assumed, what);
    let mut add = |key: &str, value, ground| put(list, key, value, ground);
    add(
        "lab.wifi.esp.dropped_percent",
        100.0 / wifi::DROPPED as f64,
        guess(
            "an assumption: what a frame costs that finds no buffer, of what one costs that does",
        ),
    );
    add(
        "lab.wifi.esp.least_us",
        wifi::LEAST as f64 / 1e3,
        guess("an assumption: the shortest call or timer, so that time does not stand still"),
    );
    add("lab.wifi.pc.call_us", us(wifi::CALL), guess("an assumption: a call of a PC's program"));
    add(
        "net.fragments.reassembly_age_s",
        crate::net::REASSEMBLY_AGE.as_secs_f64(),
        (Published, "lwIP, opt.h, IP_REASS_MAXAGE: 15 ticks of ip_reass_tmr of a second"),
    );
    add(
        "lab.wifi.pc.interrupt_us",
        us(wifi::INTERRUPT),
        (
            Published,
            "Linux, Documentation/networking, e1000e: InterruptThrottleRate, 20,000 interrupts a second",
        ),
    );
    add(
        "lab.nodes.chip.stays_ms",
        nodes::chip::STAYS_NS as f64 / 1e6,
        guess("an assumption: between two pings code stays in the cache, between two commands not"),
    );
    add(
        "lab.profile.ip.tcp_code_bytes",
        f64::from(tcp_code_bytes()),
        (Published, "ESP-IDF, components/lwip/Kconfig, LWIP_EXTRA_IRAM_OPTIMIZATION: about 17 KB"),
    );
    for (key, value, ground) in cache_constants() {
        add(&format!("lab.profile.cache.{key}"), value, ground);
    }
    add(
        "lab.predict.load.crystal_ppm",
        predict::CRYSTAL_PPM,
        (Published, "Hardware Design Guidelines of the ESP32 series: the accuracy of the crystal"),
    );
    add(
        "lab.predict.load.rtc_ppm",
        predict::RTC_PPM,
        guess("an assumption: the RC oscillator by temperature after its calibration"),
    );
    add(
        "lab.predict.sensors.ahead_ms",
        us(predict::AHEAD) / 1e3,
        guess("an assumption: other people's stations send for so long before a device listens"),
    );
    add(
        "lab.run.stagger_ms",
        us(super::run::STAGGER) / 1e3,
        guess("an assumption: devices are switched on within this time"),
    );
    add(
        "lab.file.lab.idle_ticks",
        file::IDLE_TICKS as f64,
        (Published, "ESP-IDF v5.1, components/freertos/Kconfig, FREERTOS_IDLE_TIME_BEFORE_SLEEP"),
    );
}

fn room(list: &mut Vec<Constant>) {
    let cost = "COST 231, Digital Mobile Radio Towards Future Generation Systems, chapter 4.7";
    let mut add = |key: &str, value, ground| put(list, key, value, ground);
    add(
        "lab.radio.floor_dbm",
        radio::FLOOR_DBM,
        (Assumed, "an assumption: 12 dB below thermal noise nobody notices a sender"),
    );
    add(
        "lab.radio.ground",
        radio::GROUND,
        (Standard, "Recommendation ITU-R P.1411, 4.1.1: the fourth power of the distance"),
    );
    add(
        "lab.radio.lowest_m",
        radio::LOWEST_M,
        (Assumed, "an assumption: nearer to the ground two rays do not hold"),
    );
    add("lab.radio.light_wall_db", radio::LIGHT_WALL_DB, (Published, cost));
    add("lab.scene.barrier.floors", FLOORS, (Published, cost));
    let materials = file::material_constants();
    for (name, loss_db, by_cost) in materials {
        let slab = "a slab, hit at a right angle, with permittivity and conductivity of Recommendation \
                    ITU-R P.2040-1, Table 3, from memory; its thickness is an assumption";
        let ground = if by_cost { (Published, cost) } else { (Assumed, slab) };
        add(&format!("lab.file.barrier.{name}_db"), loss_db, ground);
    }
    for (name, dbi) in file::ANTENNAS.into_iter().zip(file::ANTENNA_DBI) {
        let source = "the middle of efficiencies in datasheets of modules, and of the polarization efficiency of IEEE Std 145: docs/labs.md, `antenna`";
        add(&format!("lab.file.lab.antenna_{name}_dbi"), dbi, (Published, source));
    }
    for (key, value) in link_trace_constants() {
        let source = "an assumption: how a measured delivery becomes a power";
        add(&format!("lab.scene.link_trace.{key}"), value, (Assumed, source));
    }
}

fn power_save(list: &mut Vec<Constant>) {
    let times = PowerSaveTimes::default();
    let idf = |what| (Published, what);
    let mut add =
        |key: &str, value: f64, ground| put(list, format!("wifi.power_save.{key}"), value, ground);
    add(
        "min_active_us",
        us(times.min_active),
        idf("ESP-IDF: ESP_WIFI_SLP_DEFAULT_MIN_ACTIVE_TIME"),
    );
    add(
        "keep_alive_us",
        us(times.keep_alive),
        idf("ESP-IDF: ESP_WIFI_SLP_DEFAULT_MAX_ACTIVE_TIME"),
    );
    add(
        "wait_group_us",
        us(times.wait_group),
        idf("ESP-IDF: ESP_WIFI_SLP_DEFAULT_WAIT_BROADCAST_DATA_TIME"),
    );
    add("missed_us", us(times.missed), idf("ESP-IDF: ESP_WIFI_SLP_BEACON_LOST_TIMEOUT"));
    let drift = "ESP32-C3 datasheet: 10 ppm, and the access point's as much";
    add("drift_ppm", f64::from(times.drift_ppm), idf(drift));
    let guess = (Assumed, "an assumption: the time that a busy medium may take");
    add("coexistence_guard_us", us(CoexistenceConfig::default().guard), guess);
}

fn joining(list: &mut Vec<Constant>) {
    let join = JoinConfig::default();
    let idf = |what| (Published, what);
    let mut add = |key: &str, value, ground| put(list, format!("wifi.join.{key}"), value, ground);
    add("dwell_us", us(join.dwell), idf("ESP-IDF: esp_wifi_set_scan_parameters, 120 ms"));
    let passive = "ESP-IDF: esp_wifi_set_scan_parameters, 360 ms";
    add("dwell_passive_us", us(join.dwell_passive), idf(passive));
    add("hop_us", us(join.hop), (Assumed, "an assumption: a synthesizer and the driver's work"));
    add("answer_us", us(join.answer), (Assumed, "an assumption, after other drivers"));
    add(
        "keys_us",
        us(join.keys),
        idf("ESP-IDF's log: start 10s connect timer for 4 way handshake"),
    );
    add("again_us", us(join.again), (Assumed, "an assumption: ESP-IDF's examples try at once"));
    add("beacon_loss_us", us(join.beacon_loss), idf("ESP-IDF: esp_wifi_set_inactive_time, 6 s"));
    let probes = "ESP-IDF's logs: 2.5 s from bcn_timeout,ap_probe_send_start to ap_probe_send over";
    add("probes", f64::from(join.probes), idf(probes));
    add("probe_interval_us", us(join.probe_interval), idf(probes));
    let log = "ESP-IDF's log in espressif/esp-idf#974: 9 ms from authentication to association, 49 ms for \
               the four EAPOL frames";
    let points = "an assumption: point multiplications of some 50 ms";
    let router = "an assumption: a processor ten times as fast as an ESP's";
    for (who, times) in [("esp", ProcessingTimes::ESP), ("router", ProcessingTimes::ROUTER)] {
        let ground = |own: Ground| if who == "esp" { own } else { (Assumed, router) };
        let name = |what: &str| format!("{who}_{what}_us");
        add(&name("management"), us(times.management), ground((Published, log)));
        add(&name("eapol"), us(times.eapol), ground((Published, log)));
        add(&name("sae_commit"), us(times.sae_commit), ground((Assumed, points)));
        add(&name("sae_confirm"), us(times.sae_confirm), ground((Assumed, points)));
    }
}

fn medium(list: &mut Vec<Constant>) {
    let ns = |it: u64| it as f64 / 1e3;
    let clause = |what| (Standard, what);
    let mut add = |key: &str, value, ground| put(list, key, value, ground);
    add(
        "radio.receiver.noise_figure_db",
        NOISE_FIGURE_DB,
        (Assumed, "an assumption in the range of CMOS receivers"),
    );
    let gain = "ESP-IDF Programming Guide, Wi-Fi Driver: the sensitivity of LR is about 4 dB better than 802.11b's; that this is \
                250 kbit/s, and 500 kbit/s has 3 dB less, is an assumption";
    add("radio.mode.long_range_gain_db", LONG_RANGE_GAIN_DB, (Assumed, gain));
    for rate in LongRange::ALL {
        let key = format!("radio.long_range.{}.lead_us", rate.kbit_s());
        let lead = Airtime::of(WifiMode::Lr(rate), 0).lead_ns();
        let source = "an assumption: nothing is published of preamble and header; those of 802.11b, sent at 250 kbit/s";
        add(&key, ns(lead), (Assumed, source));
    }
    let spread = "IEEE 802.11-2020, 15.4.4: 11 chips of a symbol";
    add("radio.capture.barker_db", FrameCapture::BARKER_DB, clause(spread));
    let slots = "IEEE 802.11-2020, Tables 15-5, 16-4 and 18-5: characteristics of the PHYs";
    add("radio.timing.sifs_us", ns(timing::SIFS_NS), clause(slots));
    add("radio.timing.long_slot_us", ns(timing::LONG_SLOT_NS), clause(slots));
    add("radio.timing.short_slot_us", ns(timing::SHORT_SLOT_NS), clause(slots));
    for (key, value) in RATE_CONTROL {
        let source =
            "an assumption: a rate control in the manner of Minstrel; nobody documents the chips'";
        add(&format!("wifi.rate.{key}"), value, (Assumed, source));
    }
}

/// Lists the powers and sensitivities of all chips, in the modes that differ in more than a preamble or a
/// guard interval.
fn chips(list: &mut Vec<Constant>) {
    let plain = |mode: &WifiMode| match mode {
        WifiMode::Hr(hr) => *hr == hr.with(Preamble::Long),
        WifiMode::Ofdm(_) => true,
        WifiMode::Ht(ht) => ht.guard == GuardInterval::Long,
        WifiMode::He(he) => he.guard() == HeGuard::Us16,
        WifiMode::Lr(_) => true,
    };
    for chip in RadioChip::ALL {
        let [power, sensitivity] = chip.sources();
        // Chips whose table was not at hand have the numbers of others.
        let origin = match chip {
            RadioChip::Esp32S2 | RadioChip::Esp32C2 | RadioChip::Esp32C5 | RadioChip::Esp32C61 => {
                Assumed
            }
            _ => Published,
        };
        for mode in WifiMode::ALL.into_iter().filter(|mode| plain(mode) && chip.sends(*mode)) {
            let name = |what| format!("radio.chip.{}.{mode}.{what}_dbm", chip.name());
            put(list, name("power"), chip.power_dbm(mode), (Published, power));
            if let Some(dbm) = chip.sensitivity_dbm(mode) {
                put(list, name("sensitivity"), dbm, (origin, sensitivity));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn each_is_there_once_with_a_source() {
        let list = code_constants();
        let keys: BTreeSet<&str> = list.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys.len(), list.len());
        assert!(list.iter().all(|it| it.origin.is_some() && it.source.len() > 10));
        let of = |key: &str| list.iter().find(|it| it.key == key).unwrap().value;
        assert_eq!(of("lab.wifi.esp.dropped_percent"), Some(25.0));
        assert_eq!(of("radio.timing.sifs_us"), Some(10.0));
    }
}
