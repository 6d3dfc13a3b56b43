use super::*;
use espbench_dot11::radio::ChannelWidth;
use espbench_model::time::Instant;
use proptest::prelude::*;
use std::vec::Vec;

/// Returns the currents of some chip.
fn currents() -> Currents {
    let cpu = |idle_na, active_na| ClockCurrents { idle_na, active_na };
    Currents {
        supply_mv: 3300,
        transmit: [(335, 21.0), (285, 19.0), (276, 18.5)]
            .map(|(ma, at_dbm)| TransmitCurrent { na: ma * 1_000_000, at_dbm }),
        receive_na: 84_000_000,
        receive_40_na: 87_000_000,
        modem_sleep: [
            cpu(0, 0),
            cpu(13_000_000, 17_000_000),
            cpu(0, 0),
            cpu(16_000_000, 23_000_000),
            cpu(0, 0),
        ],
        light_sleep_na: 130_000,
        flash_na: 0,
        deep_sleep_na: 5_000,
    }
}

/// Returns light sleep without costs, from so long a stretch on.
fn light(least_ns: u64) -> AutoLightSleep {
    AutoLightSleep { least_ns, wake_ns: 0, timer_ns: 0 }
}

fn draw() -> CurrentDraw {
    let firmware = PowerSettings {
        clock_mhz: 160,
        idle_clock_mhz: None,
        width: ChannelWidth::Mhz20,
        power_dbm: [21.0, 19.0, 18.5],
    };
    CurrentDraw::new(&currents(), &firmware)
}

#[derive(Clone, Copy, Debug)]
enum StateChange {
    Modem(ModemState),
    Cpu(CpuState),
    Deep(bool),
    Read,
}

fn change() -> impl Strategy<Value = StateChange> {
    prop_oneof![
        prop::sample::select(&ModemState::ALL[..]).prop_map(StateChange::Modem),
        prop::sample::select(&[CpuState::Idle, CpuState::Busy][..]).prop_map(StateChange::Cpu),
        any::<bool>().prop_map(StateChange::Deep),
        Just(StateChange::Read),
    ]
}

proptest! {
    #[test]
    fn parts_add_up_to_the_whole(
        start in 0..1_000_000_000_u64,
        changes in prop::collection::vec((0..5_000_000_000_u64, change()), 1..60),
        light in prop::option::of((0..1_000_000_000_u64, 0..3_000_000_u64, 0..2_000_000_000_u64)),
    ) {
        let light = light.map(|(least_ns, wake_ns, timer_ns)| AutoLightSleep { least_ns, wake_ns, timer_ns });
        let mut meter = StateMeter::new(Instant::from_nanos(start), light);
        let (mut now, mut before, mut parts) = (start, StateTimes::NONE, Vec::new());
        for (wait, change) in changes {
            now += wait;
            let at = Instant::from_nanos(now);
            match change {
                StateChange::Modem(modem) => meter.modem(at, modem),
                StateChange::Cpu(cpu) => meter.cpu(at, cpu),
                StateChange::Deep(deep) => meter.deep_sleep(at, deep),
                StateChange::Read => continue,
            }
            let times = meter.read(at);
            prop_assert_eq!(times.total_ns(), now - start);
            parts.push(times.since(&before));
            before = times;
        }
        let (draw, whole) = (draw(), meter.read(Instant::from_nanos(now)));
        prop_assert_eq!(whole.total_ns(), now - start);
        parts.push(whole.since(&before));
        // A stretch that is read before its end may become light sleep as a whole afterwards.
        if light.is_none() {
            let sum: ElectricCharge = parts.iter().map(|it| draw.charge(it)).sum();
            prop_assert_eq!(sum, draw.charge(&whole));
        }
        let by_state: ElectricCharge = PowerState::all().map(|it| draw.charge_of(&whole, it)).sum();
        prop_assert_eq!(by_state, draw.charge(&whole));
        // The current lies between the least and the most of any state.
        let least = PowerState::all().map(|it| draw.na(it)).min().unwrap();
        let most = PowerState::all().map(|it| draw.na(it)).max().unwrap();
        if let Some(mean) = draw.charge(&whole).mean_na(whole.total_ns()) {
            prop_assert!((u64::from(least)..=u64::from(most)).contains(&mean));
        }
    }
}

#[test]
fn a_beacon_every_102_ms_draws_what_its_parts_say() {
    // 5 ms of listening, 1.6 ms of receiving, the rest asleep; the processor computes for 2 ms.
    let mut meter = StateMeter::new(Instant::from_nanos(0), Some(light(3_000_000)));
    let at = |us: u64| Instant::from_nanos(us * 1000);
    meter.modem(at(0), ModemState::Listen);
    meter.modem(at(5_000), ModemState::Receive);
    meter.cpu(at(6_000), CpuState::Busy);
    meter.modem(at(6_600), ModemState::Off);
    meter.cpu(at(8_000), CpuState::Idle);
    let times = meter.read(at(102_400));
    let ms = |state| times.ns(state) as f64 / 1e6;
    assert_eq!(ms(PowerState::Awake(ModemState::Listen, CpuState::Idle)), 5.0);
    assert_eq!(ms(PowerState::Awake(ModemState::Receive, CpuState::Idle)), 1.0);
    assert_eq!(ms(PowerState::Awake(ModemState::Receive, CpuState::Busy)), 0.6);
    assert_eq!(ms(PowerState::Awake(ModemState::Off, CpuState::Busy)), 1.4);
    assert_eq!(ms(PowerState::LightSleep), 94.4);
    // 84 mA for 6 ms, 91 for 0.6, 23 for 1.4, 0.13 for 94.4, in microcoulombs.
    let expected_uc = 84.0 * 6.0 + 91.0 * 0.6 + 23.0 * 1.4 + 0.13 * 94.4;
    let charge = draw().charge(&times);
    assert!((charge.picocoulombs() as f64 / 1e6 - expected_uc).abs() < 1e-6);
    assert_eq!(charge.mean_na(102_400_000), Some(5_889_375));
}

#[test]
fn short_pauses_are_no_light_sleep() {
    let mut meter = StateMeter::new(Instant::from_nanos(0), Some(light(30_000_000)));
    meter.cpu(Instant::from_nanos(29_000_000), CpuState::Busy);
    meter.cpu(Instant::from_nanos(30_000_000), CpuState::Idle);
    let times = meter.read(Instant::from_nanos(59_000_000));
    assert_eq!(times.ns(PowerState::LightSleep), 0);
    // Reading the meter during a stretch does not change what the stretch becomes.
    assert_eq!(meter.read(Instant::from_nanos(60_000_000)).ns(PowerState::LightSleep), 30_000_000);
}

#[test]
fn each_wake_up_costs_the_processor_time() {
    // A stretch of 2.5 s with a timer each second: two timers and the end, 600 us each.
    let light = AutoLightSleep { least_ns: 30_000_000, wake_ns: 600_000, timer_ns: 1_000_000_000 };
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let mut meter = StateMeter::new(at(200), Some(light));
    meter.cpu(at(2_700), CpuState::Busy);
    meter.cpu(at(2_800), CpuState::Idle);
    let busy = PowerState::Awake(ModemState::Off, CpuState::Busy);
    let times = meter.read(at(2_800));
    assert_eq!(times.ns(PowerState::LightSleep), 2_500_000_000 - 3 * 600_000);
    assert_eq!(times.ns(busy), 3 * 600_000 + 100_000_000);
    // A short pause has no wake-up.
    assert_eq!(meter.read(at(2_829)).ns(busy), times.ns(busy));
}

#[test]
fn each_state_has_a_number_and_a_name_of_its_own() {
    let numbers: Vec<usize> = PowerState::all().map(PowerState::index).collect();
    assert_eq!(numbers, (0..PowerState::COUNT).collect::<Vec<_>>());
    let mut names: Vec<&str> = PowerState::all().map(PowerState::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PowerState::COUNT);
}

#[test]
fn a_clock_between_two_draws_what_lies_between() {
    let at = |mhz| currents().modem_sleep(mhz).active_na;
    assert_eq!(
        [at(40), at(80), at(120), at(160), at(240)],
        [17, 17, 20, 23, 23].map(|it| it * 1_000_000)
    );
    assert_eq!(Currents::default().modem_sleep(80), ClockCurrents::default());
}
