use super::*;

/// Returns a firmware with the build's defaults.
fn base(context: &SdkContext) -> Candidate {
    let config = OptionValues::default().config(context);
    Candidate { config, clock_mhz: 160, power: Power::Awake }
}

/// Returns what may be changed in a firmware with the build's defaults.
fn around(context: SdkContext, metrics: &[Metric], streams: u16) -> SearchSpace {
    SearchSpace::new(context, base(&context), metrics, streams, false)
}

#[test]
fn the_ranks_and_the_defaults_are_in_it() {
    let context = SdkContext::default();
    let space = around(context, &Metric::ALL, 1);
    for rank in Rank::of(context.chip) {
        let config = rank.settings().config(&context);
        let found = space.candidate(&space.nearest(&Candidate { config, ..base(&context) })).config;
        let some = |it: &SdkConfig| (it.static_rx, it.dynamic_rx, it.tx, it.lwip_iram);
        assert_eq!(some(&found), some(&config), "{}", rank.name);
    }
    let defaults = SdkConfig::default();
    let found = space.candidate(&space.nearest(&Candidate { config: defaults, ..base(&context) }));
    assert_eq!(found.config, defaults);
    assert_eq!(found.changes(&base(&context)), []);
    assert_eq!(space.starts().len(), 4 * 4);
}

#[test]
fn what_is_not_asked_is_not_turned() {
    let context = SdkContext::default();
    let space = around(context, &[Metric::TcpTx, Metric::Heap], 1);
    assert_eq!((space.levels(Knob::Power), space.levels(Knob::UdpMailbox)), (1, 1));
    assert!(space.levels(Knob::SendBuffer) > 1);
    let udp = around(context, &[Metric::UdpRx], 1);
    assert_eq!((udp.levels(Knob::Window), udp.levels(Knob::UdpMailbox)), (1, 5));
}

#[test]
fn a_neighbour_differs_in_one_knob_and_is_within() {
    let space = around(SdkContext::default(), &Metric::ALL, 1);
    let mut random = Xoshiro256PlusPlus::new(1);
    for _ in 0..100 {
        let place = space.any(&mut random);
        for next in space.neighbours(&place) {
            let moved = next.iter().zip(&place).filter(|(a, b)| a != b).count();
            assert_eq!(moved, 1);
            let range = ConfigOption::StaticRx.range(space.context());
            assert!(range.contains(&space.candidate(&next).config.static_rx.into()));
        }
    }
}

#[test]
fn a_step_can_be_taken_again_within_the_space() {
    let space = around(SdkContext::default(), &Metric::ALL, 1);
    let from = space.nearest(&base(&SdkContext::default()));
    let mut to = from;
    to[Knob::DynamicRx as usize] += 1;
    let next = space.onwards(&from, &to).unwrap();
    assert_eq!(next[Knob::DynamicRx as usize], from[Knob::DynamicRx as usize] + 2);
    let mut end = from;
    end[Knob::Power as usize] = 3;
    assert_eq!(space.onwards(&from, &end), None, "there are four ways to sleep");
}

/// Candidates keep the rules of a check that call something wrong.
#[test]
fn values_of_a_candidate_fit_each_other() {
    use crate::tune::check::{CheckInput, Severity, check};
    use espbench_model::sdkconfig::ParsedSdkConfig;
    use espbench_model::sdkconfig::memory::Traffic;
    let mut random = Xoshiro256PlusPlus::new(1);
    for (chip, streams) in
        Chip::ALL.into_iter().flat_map(|chip| [1, 2, 4, 12].map(|streams| (chip, streams)))
    {
        let context = SdkContext { chip, ..SdkContext::default() };
        let space = around(context, &Metric::ALL, streams);
        for _ in 0..50 {
            let candidate = space.candidate(&space.any(&mut random));
            let settings = OptionValues::from(&candidate.config);
            let checked = check(&CheckInput {
                file: "candidate".into(),
                reading: ParsedSdkConfig { settings, ..ParsedSdkConfig::default() },
                context,
                chip_is_said: false,
                traffic: Traffic { streams, udp_sockets: 1 },
                rtt: core::time::Duration::from_millis(5).into(),
                burst: None,
                // The lab says what is left.
                heap: Some(1 << 30),
            });
            let wrong = checked.findings.iter().find(|it| it.severity == Severity::Wrong);
            assert_eq!(wrong, None, "{chip}, {streams} streams: {candidate:?}");
        }
    }
}

#[test]
fn a_setting_can_be_taken_back() {
    let context = SdkContext::default();
    let base = base(&context);
    let config = SdkConfig { tx: 16, lwip_iram: true, ..base.config };
    let candidate = Candidate { config, clock_mhz: 80, power: Power::MinModem };
    let tx = TunedSetting::Option(ConfigOption::DynamicTx);
    let iram = TunedSetting::Option(ConfigOption::LwipIram);
    let changes = candidate.changes(&base);
    assert_eq!(changes, [tx, iram, TunedSetting::Clock, TunedSetting::Sleep]);
    let mut back = candidate;
    for (at, setting) in changes.iter().enumerate() {
        back = setting.taken(&back, &base);
        assert_eq!(back.changes(&base), changes[at + 1..]);
    }
    assert_eq!(back, base);
    let lines: Vec<String> = changes.iter().map(|it| it.line(&candidate, &context, true)).collect();
    assert_eq!(
        lines,
        [
            "CONFIG_ESP_WIFI_STATIC_TX_BUFFER_NUM=16",
            "CONFIG_LWIP_IRAM_OPTIMIZATION=y",
            "CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_80=y",
            "esp_wifi_set_ps(WIFI_PS_MIN_MODEM)"
        ]
    );
    assert_eq!(iram.shown(&base), "n");
}

/// A file's own values stand, whether the knobs have them or not, and what does not fit is left alone
/// as long as nothing is turned.
#[test]
fn a_search_begins_with_the_firmware_as_it_is() {
    let context = SdkContext::default();
    let config = SdkConfig {
        dynamic_rx: 17,
        tcp_window: 33_333,
        rx_ba_window: 0,
        wifi_rx_iram: false,
        ..SdkConfig::default()
    };
    let firmware = Candidate { config, clock_mhz: 80, power: Power::Awake };
    let space = SearchSpace::new(context, firmware, &Metric::ALL, 1, false);
    assert_eq!(space.candidate(&space.starts()[0]), firmware);
    assert_eq!(*space.base(), firmware);
    for candidate in space.single_changes() {
        assert_ne!(candidate, firmware);
        assert!(candidate.config.tcp_window <= 33_333 || candidate.config.tcp_mailbox > 6);
    }
}

#[test]
fn the_values_between_two_are_those_of_the_knob_the_nearest_first() {
    let context = SdkContext::default();
    let (space, base) = (around(context, &[Metric::TcpTx], 1), base(&context));
    let send = TunedSetting::Option(ConfigOption::SendBuffer);
    let fast = send.set(&base, 24_576);
    let between = space.between(send, &base, &fast);
    let values: Vec<Option<u32>> = between.iter().map(|it| send.number(it)).collect();
    assert_eq!(values, [Some(16_384), Some(12_288), Some(8192)]);
    assert_eq!(space.between(TunedSetting::Sleep, &base, &fast), []);
}

/// Turns what is behind the processor's caches, where the chip has a choice and the board PSRAM.
#[test]
fn memories_are_turned_where_the_chip_has_a_choice() {
    let levels = |chip, psram| {
        let context = SdkContext { chip, ..SdkContext::default() };
        let own = Candidate { config: base(&context).config.resolved(&context), ..base(&context) };
        let space = SearchSpace::new(context, own, &[Metric::TcpRx], 1, psram);
        [Knob::FlashMode, Knob::FlashClock, Knob::InstructionCache, Knob::Psram, Knob::DataCache]
            .map(|knob| space.levels(knob))
    };
    assert_eq!(levels(Chip::Esp32, false), [2, 4, 1, 1, 1]);
    assert_eq!(levels(Chip::Esp32c2, false), [2, 3, 1, 1, 1]);
    assert_eq!(levels(Chip::Esp32s2, false), [2, 4, 2, 1, 1]);
    assert_eq!(levels(Chip::Esp32s3, true), [2, 3, 2, 2, 3]);
}

#[test]
fn a_change_of_memory_is_a_line_and_can_be_taken_back() {
    let context = SdkContext { chip: Chip::Esp32s2, ..SdkContext::default() };
    let own = Candidate { config: base(&context).config.resolved(&context), ..base(&context) };
    let space = SearchSpace::new(context, own, &[Metric::TcpRx], 1, true);
    let mut place = space.nearest(&own);
    place[Knob::FlashMode as usize] = 0;
    place[Knob::InstructionCache as usize] = 1;
    place[Knob::Psram as usize] = 1;
    let turned = space.candidate(&place);
    let changes = turned.changes(&own);
    let lines: Vec<String> = changes.iter().map(|it| it.line(&turned, &context, false)).collect();
    let wanted = [
        "CONFIG_ESP_WIFI_STATIC_TX_BUFFER_NUM=32",
        "CONFIG_SPIRAM_TRY_ALLOCATE_WIFI_LWIP=y",
        "CONFIG_ESPTOOLPY_FLASHMODE_QIO=y",
        "CONFIG_ESP32S2_INSTRUCTION_CACHE_16KB=y",
        "CONFIG_SPIRAM=y",
    ];
    assert_eq!(lines, wanted);
    let back = changes.iter().fold(turned, |it, change| change.taken(&it, &own));
    assert_eq!(back, own);
}

/// Kconfig offers an ESP32 80 MHz for its PSRAM only where the flash has as much.
#[test]
fn an_esp32_s_psram_is_no_faster_than_its_flash() {
    let context = SdkContext { chip: Chip::Esp32, ..SdkContext::default() };
    let own = Candidate { config: base(&context).config.resolved(&context), ..base(&context) };
    let space = SearchSpace::new(context, own, &[Metric::TcpRx], 1, true);
    let mut random = Xoshiro256PlusPlus::new(1);
    for _ in 0..200 {
        let memory = space.candidate(&space.any(&mut random)).config.memory;
        let mhz = |key| memory.value(key, Chip::Esp32);
        assert!(mhz(ConfigOption::PsramClock) <= mhz(ConfigOption::FlashClock).max(40));
    }
}
