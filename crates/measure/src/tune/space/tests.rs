use super::*;

#[test]
fn the_ranks_and_the_defaults_are_in_it() {
    let context = SdkContext::default();
    let space = SearchSpace::new(context, &Metric::ALL, 1);
    for rank in Rank::of(context.chip) {
        let config = rank.settings().config(&context);
        let found = space.candidate(&space.nearest(&config, Power::Awake)).config;
        let some = |it: &SdkConfig| (it.static_rx, it.dynamic_rx, it.tx, it.lwip_iram);
        assert_eq!(some(&found), some(&config), "{}", rank.name);
    }
    let defaults = SdkConfig::default();
    let found = space.candidate(&space.nearest(&defaults, Power::Awake));
    assert_eq!(found.config, defaults);
    assert_eq!(found.changes(&context), []);
    assert_eq!(space.starts().len(), 4 * 4);
}

#[test]
fn what_is_not_asked_is_not_turned() {
    let context = SdkContext::default();
    let space = SearchSpace::new(context, &[Metric::TcpTx, Metric::Heap], 1);
    assert_eq!((space.levels(Knob::Power), space.levels(Knob::UdpMailbox)), (1, 1));
    assert!(space.levels(Knob::SendBuffer) > 1);
    let udp = SearchSpace::new(context, &[Metric::UdpRx], 1);
    assert_eq!((udp.levels(Knob::Window), udp.levels(Knob::UdpMailbox)), (1, 5));
}

#[test]
fn a_neighbour_differs_in_one_knob_and_is_within() {
    let space = SearchSpace::new(SdkContext::default(), &Metric::ALL, 1);
    let mut random = Random::new(1);
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
    let space = SearchSpace::new(SdkContext::default(), &Metric::ALL, 1);
    let from = space.nearest(&SdkConfig::default(), Power::Awake);
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
    use espbench_model::sdkconfig::memory::Traffic;
    use espbench_model::sdkconfig::{Chip, ParsedSdkConfig};
    let mut random = Random::new(1);
    for (chip, streams) in
        Chip::ALL.into_iter().flat_map(|chip| [1, 2, 4, 12].map(|streams| (chip, streams)))
    {
        let context = SdkContext { chip, ..SdkContext::default() };
        let space = SearchSpace::new(context, &Metric::ALL, streams);
        for _ in 0..50 {
            let candidate = space.candidate(&space.any(&mut random));
            let settings = OptionValues::from(&candidate.config);
            let checked = check(&CheckInput {
                file: "candidate".into(),
                reading: ParsedSdkConfig { settings, ..ParsedSdkConfig::default() },
                context,
                traffic: Traffic { streams, udp_sockets: 1 },
                rtt: core::time::Duration::from_millis(5),
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
    let config = SdkConfig { tx: 16, lwip_iram: true, ..SdkConfig::default() };
    let candidate = Candidate { config, power: Power::Awake };
    assert_eq!(
        candidate.changes(&context),
        [(ConfigOption::DynamicTx, 16), (ConfigOption::LwipIram, 1)]
    );
    assert_eq!(candidate.without(ConfigOption::DynamicTx, &context).config.tx, 32);
}
