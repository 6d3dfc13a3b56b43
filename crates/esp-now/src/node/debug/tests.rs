//! Conversations of a sender, its targets and a monitor, by hand and on virtual time.

use super::*;
use crate::component::{DataType, FrameConfig, GroupPayload};
use crate::console::command::{Macs, RemoteArgs, ScanArgs};
use crate::console::{EspError, parse};
use crate::node::board::BareBoard;
use crate::node::print::LogLevel;
use crate::node::task::{
    BuildInfo, Cx, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

/// Frames that a task sent, with their times.
type Frames = Vec<(Instant, SendRequest, Vec<u8>)>;

const DONE: TransmitOutcome = TransmitOutcome::Done { attempts: 1 };

fn mac(n: u8) -> Mac {
    Mac([0x24, 0x0A, 0xC4, 0, 0, n])
}

/// Returns a list of `n` addresses, as it is typed.
fn list(n: u8) -> String {
    (1..=n).map(|n| mac(n).to_string() + ",").collect()
}

struct Device {
    now: Instant,
    board: BareBoard,
    shared: Shared,
}

impl Device {
    fn new(n: u8) -> Self {
        let shared = Shared::new(mac(n), NodeSettings::default());
        Self { now: Instant::ZERO + Duration::from_secs(1), board: BareBoard(7), shared }
    }

    fn cx(&mut self) -> Cx<'_> {
        Cx { now: self.now, board: &mut self.board, shared: &mut self.shared }
    }

    fn printed(&mut self) -> String {
        let mut buf = [0; 2048];
        let len = self.shared.print.take_output(&mut buf);
        String::from_utf8(buf[..len].to_vec()).unwrap()
    }

    /// Runs a task until it waits for nothing more; `ends` gives the outcome of each transmission.
    fn drain(
        &mut self,
        task: &mut dyn Task,
        mut ends: impl FnMut(&SendRequest) -> TransmitOutcome,
    ) -> Frames {
        let mut frames = Vec::new();
        loop {
            let mut cx = self.cx();
            match task.run(&mut cx) {
                TaskStep::Idle => return frames,
                TaskStep::Until(at) => self.now = at,
                TaskStep::Send => {
                    let mut payload = [0xEE; 230];
                    let out = task.compose(&mut cx, &mut payload).expect("something to send");
                    let outcome = ends(&out);
                    task.sent(&mut cx, outcome);
                    frames.push((self.now, out, payload[..out.len].to_vec()));
                }
            }
        }
    }
}

/// Returns the frames of one command to `n` devices.
fn command(n: u8, fails_at: Option<Mac>) -> (Frames, Result<(), EspError>) {
    let mut device = Device::new(99);
    let mut commander = Commander::<40, 512>::new();
    let to = list(n);
    let remote = RemoteArgs { to: Macs(to.as_bytes()), line: b"restart", all_channels: false };
    commander.start(&mut device.cx(), &remote).unwrap();
    assert_eq!(commander.start(&mut device.cx(), &remote), Err(EspError::InvalidState));
    let frames = device.drain(&mut commander, |out| {
        if Some(out.dest) == fails_at { TransmitOutcome::Failed } else { DONE }
    });
    assert!(!commander.busy());
    (frames, commander.take_result().unwrap())
}

#[test]
fn few_get_a_unicast_frame_each() {
    for n in [1, 7] {
        let (frames, result) = command(n, None);
        assert_eq!((frames.len(), result), (usize::from(n), Ok(())));
        for (i, (_, out, payload)) in (1..).zip(&frames) {
            assert_eq!((out.dest, out.data_type), (mac(i), DataType::DebugCommand));
            let config = FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST };
            assert_eq!((out.config, payload.as_slice()), (config, &b"restart\0"[..]));
        }
    }
    let (frames, result) = command(7, Some(mac(3)));
    assert_eq!((frames.len(), result), (3, Err(EspError::Fail)), "it stops at the first failure");
}

#[test]
fn many_are_a_group_for_one_command() {
    for (n, chunks) in [(8_u8, 1_usize), (30, 1), (32, 1), (40, 2)] {
        let (frames, result) = command(n, None);
        assert_eq!((frames.len(), result), (2 * chunks + 1, Ok(())));
        let config = FrameConfig {
            filter_adjacent: true,
            broadcast: true,
            group: true,
            copies: 31,
            ttl: 1,
            rssi: -25,
            ..FrameConfig::UNICAST
        };
        assert!(frames.iter().all(|(_, out, _)| out.config == config));
        let (_, text, payload) = &frames[chunks];
        let id = text.dest;
        assert_eq!(
            (text.data_type, payload.as_slice()),
            (DataType::DebugCommand, &b"restart\0"[..])
        );
        for (join, frames) in [(true, &frames[..chunks]), (false, &frames[chunks + 1..])] {
            let mut members = Vec::new();
            for (_, out, payload) in frames {
                let group = GroupPayload::parse(payload).unwrap();
                assert_eq!((out.data_type, out.dest), (DataType::Group, Mac::BROADCAST));
                assert_eq!((group.join, group.id), (join, id));
                members.extend(group.members());
            }
            assert_eq!(members, (1..=n).map(mac).collect::<Vec<_>>());
            let magics: Vec<_> = frames.iter().map(|(_, out, _)| out.magic).collect();
            assert!(magics.iter().all(|&magic| magic != 0));
            assert!(magics.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)));
        }
    }
}

#[test]
fn the_group_is_left_though_the_command_failed() {
    let mut device = Device::new(99);
    device.shared.settings.encrypt.debug = true;
    let mut commander = Commander::<32>::new();
    let to = list(9);
    let remote = RemoteArgs { to: Macs(to.as_bytes()), line: b"heap", all_channels: false };
    commander.start(&mut device.cx(), &remote).unwrap();
    let frames = device.drain(&mut commander, |out| match out.data_type {
        DataType::DebugCommand => TransmitOutcome::Refused,
        _ => DONE,
    });
    assert_eq!(frames.len(), 3);
    assert!(frames.iter().all(|it| it.1.config.security), "in GROUP frames, too");
    assert_eq!(commander.take_result(), Some(Err(EspError::InvalidArg)));
}

#[test]
fn what_could_not_be_sent_is_told_as_the_component_tells_it() {
    let lines = [
        (&b"command 24:0a:c4:00:00:01 heap"[..], "[command_func, 115] <ESP_FAIL> espnow_send"),
        (b"command ff:ff:ff:ff:ff:ff heap", "[command_func, 109] <ESP_FAIL> espnow_send"),
        (b"scan", "[scan_func, 224] <ESP_FAIL> espnow_send"),
        (b"scan -a", "[scan_func, 213] <ESP_FAIL> espnow_send"),
    ];
    for (line, told) in lines {
        let mut device = Device::new(99);
        let mut commander = Commander::<32>::new();
        let mut line = line.to_vec();
        match parse(&mut line) {
            Ok(crate::console::Command::Remote(it)) => {
                commander.start(&mut device.cx(), &it).unwrap();
            }
            Ok(crate::console::Command::Scan(it)) => {
                commander.scan(&mut device.cx(), &it).unwrap();
            }
            _ => panic!("another command"),
        }
        device.drain(&mut commander, |_| TransmitOutcome::Failed);
        assert_eq!(commander.take_result(), Some(Err(EspError::Fail)));
        let mut out = [0; 128];
        let len = device.shared.print.take_output(&mut out);
        let out = std::string::String::from_utf8_lossy(&out[..len]);
        assert!(out.ends_with(&std::format!("espnow_cmd: {told}\r\n")), "{out}");
    }
}

#[test]
fn everybody_on_all_channels() {
    let mut device = Device::new(99);
    device.shared.settings.encrypt.debug = true;
    let mut commander = Commander::<32>::new();
    let mut line = *b"command -a FF:FF:FF:FF:FF:FF \"provisioning -e\"";
    let Ok(crate::console::Command::Remote(remote)) = parse(&mut line) else {
        panic!("not a command");
    };
    commander.start(&mut device.cx(), &remote).unwrap();
    let frames = device.drain(&mut commander, |_| DONE);
    let config = FrameConfig {
        channel: 15,
        security: true,
        broadcast: true,
        copies: 31,
        ttl: 1,
        rssi: -25,
        ..FrameConfig::UNICAST
    };
    assert_eq!((frames.len(), frames[0].1.dest), (1, Mac::BROADCAST));
    assert_eq!((frames[0].1.config, frames[0].2.as_slice()), (config, &b"provisioning -e\0"[..]));
}

#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let mut device = Device::new(99);
    let mut commander = Commander::<8, 512>::new();
    let to = list(9);
    let mut start = |to: &str, line: &[u8]| {
        let remote = RemoteArgs { to: Macs(to.as_bytes()), line, all_channels: false };
        commander.start(&mut device.cx(), &remote)
    };
    assert_eq!(start("nobody", b"heap"), Err(EspError::InvalidArg));
    assert_eq!(start(&to, b"heap"), Err(EspError::InvalidArg), "eight places");
    assert_eq!(start(&to[..18], &[b'x'; 218]), Err(EspError::InvalidArg), "218 with its NUL");
    assert_eq!(start(&to[..18], &[b'x'; 217]), Ok(()));
}

#[test]
fn a_scan_asks_on_every_channel() {
    let mut device = Device::new(99);
    device.shared.air.channel = 6;
    let mut commander = Commander::<32>::new();
    let scan = ScanArgs { to: None, rssi: Some(-60), all_channels: false };
    commander.scan(&mut device.cx(), &scan).unwrap();
    let frames = device.drain(&mut commander, |_| DONE);
    let config = FrameConfig {
        broadcast: true,
        copies: 31,
        filter_adjacent: true,
        filter_weak: true,
        rssi: -60,
        ..FrameConfig::UNICAST
    };
    assert_eq!((frames.len(), frames[0].1.config), (1, config));
    assert_eq!(frames[0].2, b"beacon\0");

    let scan = ScanArgs { to: Some(Ok(mac(2))), rssi: None, all_channels: true };
    commander.scan(&mut device.cx(), &scan).unwrap();
    let began = device.now;
    let frames = device.drain(&mut commander, |_| DONE);
    assert_eq!(frames.len(), 33, "three on each of eleven channels");
    for (i, (at, out, _)) in frames.iter().enumerate() {
        assert_eq!((usize::from(out.config.channel), out.dest), (1 + i / 3, mac(2)));
        assert_eq!(out.magic, frames[0].1.magic);
        assert_eq!(at.since(began), Duration::from_secs(i as u64), "100 ticks of 10 ms");
    }
    assert_eq!(device.now.since(began), Duration::from_secs(33));
    assert_eq!((device.shared.air.channel, commander.take_result()), (6, Some(Ok(()))));
}

#[test]
fn a_target_tells_a_monitor_who_it_is() {
    let mut target = Device::new(2);
    target.shared.print.colours = true;
    target.shared.settings.build = BuildInfo {
        project: "a_project_of_a_name_that_does_not_end_before_the_frame_does",
        version: "v1.0-12-gabcdef",
        idf: "v5.1.2-a-branch-of-somebody-and-a-hash",
        date: "Nov 21 2026",
        time: "23:59:59",
    };
    let mut inbox = Inbox::new();
    assert_eq!((inbox.take().is_none(), inbox.from()), (true, Mac::BROADCAST));
    let frame = |data| Received {
        from: mac(1),
        data_type: DataType::DebugCommand,
        data,
        rssi: -42,
        channel: 6,
        at: Instant::ZERO,
    };
    inbox.receive(&mut target.cx(), &frame(b"beacon\0rubbish"));
    inbox.receive(&mut target.cx(), &frame(b"restart\0"));
    assert_eq!(inbox.take(), Some(&mut b"beacon".to_vec()[..]));
    assert_eq!(inbox.take(), None);
    assert_eq!((inbox.lost, target.shared.air.command_rssi), (1, -42));

    let mut commander = Commander::<32>::new();
    commander.beacon(&mut target.cx(), inbox.from());
    let frames = target.drain(&mut commander, |_| DONE);
    let mut monitor = Device::new(1);
    let mut log = RemoteLog::default();
    for (_, out, payload) in &frames {
        assert_eq!((out.dest, out.data_type), (mac(1), DataType::DebugLog));
        assert_eq!(out.config, FrameConfig::default());
        log.receive(&mut monitor.cx(), &frame(payload));
    }
    let text = "\x1b[0;32mI (1000) beacon_func: project_name: \
        a_project_of_a_name_that_does_not_end_before_the_frame_does, app_version: \
        v1.0-12-gabcdef, esp-idf_version: v5.1.2-a-branch-of-somebody-and-a-hash, \
        free_heap: 0, total_heap: 0, rx_rssi: -42, compile_time: Nov 21 2026 23:59:59";
    let (first, second) = text.split_at(218);
    let head = "[24:0a:c4:00:00:01][6][-42]: ";
    assert_eq!(monitor.printed(), std::format!("{head}{first}{head}{second}\r\n"));
    assert_eq!((frames.len(), frames[1].2.last()), (2, Some(&0)));
}

#[test]
fn log_lines_go_out_one_by_one() {
    let mut device = Device::new(2);
    device.shared.print.remote = LogLevel::Info;
    device.cx().log(LogLevel::Info, "app", format_args!("n: {}", 7));
    device.cx().log(LogLevel::Warn, "app", format_args!("{:0300}", 1));
    device.cx().log(LogLevel::Info, "espnow", format_args!("not this"));
    let mut log = RemoteLog::default();
    let frames = device.drain(&mut log, |_| DONE);
    assert_eq!(frames[0].2, b"I (1000) app: n: 7\n\0");
    let long = &frames[1].2;
    assert_eq!((long.len(), long.last(), &long[..14]), (218, Some(&0), &b"W (1000) app: "[..]));
    assert_eq!((frames.len(), log.sent, log.failed), (2, 2, 0));
    assert!(frames.iter().all(|it| it.1.config == FrameConfig::default()));
    let mut monitor = Device::new(1);
    let frame = Received {
        from: mac(2),
        data_type: DataType::DebugLog,
        data: &frames[0].2,
        rssi: -30,
        channel: 1,
        at: Instant::ZERO,
    };
    log.receive(&mut monitor.cx(), &frame);
    assert_eq!(monitor.printed(), "[24:0a:c4:00:00:02][1][-30]: I (1000) app: n: 7\r\n");
}

#[test]
fn sizes() {
    let sizes = [
        ("console", size_of::<crate::console::Console>()),
        ("local commands", size_of::<crate::console::Local>()),
        ("commander", size_of::<Commander>()),
        ("inbox", size_of::<Inbox>()),
        ("remote log", size_of::<RemoteLog>()),
    ];
    let sum: usize = sizes.iter().map(|it| it.1).sum();
    std::println!("{sizes:?}: {sum} bytes");
    assert!(sum < 2560, "{sizes:?}");
}

proptest! {
    #[test]
    fn an_answer_is_whole_whatever_the_frames_hold(room in 1_usize..300) {
        let mut device = Device::new(2);
        let mut commander = Commander::<32>::new();
        commander.beacon(&mut device.cx(), mac(1));
        let mut text = Vec::new();
        let mut cx = device.cx();
        while commander.run(&mut cx) == TaskStep::Send {
            let mut payload = std::vec![0; room];
            let out = commander.compose(&mut cx, &mut payload).unwrap();
            text.extend_from_slice(&payload[..out.len]);
            commander.sent(&mut cx, DONE);
        }
        prop_assert!(text.starts_with(b"I (1000) beacon_func: project_name: espbench, "));
        prop_assert!(text.ends_with(b"\n\0") && !text[..text.len() - 1].contains(&0));
    }
}
