//! Whole jobs.

use super::*;

#[test]
fn every_device_gets_the_image_at_any_loss() {
    let new = image(60_000, "2.0", 5);
    for (devices, loss) in [(1, 0), (1, 5), (1, 30), (10, 0), (10, 5), (10, 30)] {
        let mut lab = Lab::new(devices, loss, &new);
        lab.send_list(&lab.list());
        lab.finish();
        let totals = lab.totals();
        assert_eq!(
            (totals.done, totals.unfinished),
            (devices as u16, 0),
            "{loss}\n{}",
            lab.sender.text
        );
        assert!(lab.devices.iter().all(|d| has(d, &new)));
        assert!(lab.devices.iter().all(|d| d.events.contains(&EspNowEvent::UpgradeFinished)));
        assert!(lab.devices.iter().all(|d| d.board.upgrade.is_none()));
        let event = EspNowEvent::UpgradeSent { done: devices as u16, unfinished: 0 };
        assert_eq!(lab.sender.events, [event]);
        assert!(lab.groups.iter().all(|g| !g) || loss > 0, "all have left");
        let packets = 60_000usize.div_ceil(208);
        match loss {
            0 => assert_eq!(lab.data, packets, "each packet is sent once"),
            5 => assert!(lab.data >= packets && lab.data < packets * 2, "{}", lab.data),
            _ => assert!(lab.data > packets && lab.data < packets * 4, "{}", lab.data),
        }
    }
}

#[test]
fn the_lines_are_the_components() {
    let new = image(50_000, "2.0", 5);
    let mut lab = Lab::new(2, 0, &new);
    lab.send_list("ff:ff:ff:ff:ff:ff");
    lab.finish();
    let text = &lab.sender.text;
    for line in [
        "espnow_cmd: Send firmware to selected device: ff:ff:ff:ff:ff:ff\r\n",
        "espnow_ota_initatior: [espnow_ota_initiator_send, 390]: total_size: 50000, packet_num: 241\r\n",
        "espnow_ota_initatior: Scan OTA list, num: 2\r\n",
        "espnow_ota_initatior: count: 0, Upgrade_initiator_send, requested_num: 2, unfinished_num: 2, successed_num: 0\r\n",
        "espnow_cmd: Firmware is sent to the device to complete, Spend time: ",
        "espnow_cmd: Devices upgrade completed, successed_num: 2, unfinished_num: 0\r\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = &lab.devices[0].text;
    for line in [
        "espnow_ota_responder: The device starts to upgrade\r\n",
        "espnow_ota_responder: Write total_size: 50000, written_size: 50000, spend time: ",
        "espnow_ota_responder: Running firmware version: 1.0\r\n",
        "espnow_ota_responder: Running firmware version: 2.0\r\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // The scan has taken its 2.5 s, the upgrade itself the air time.
    assert!(lab.sender.text.contains("I (25") || lab.now > Instant::ZERO + Duration::from_secs(2));
}

#[test]
fn a_scan_prints_a_table() {
    let mut lab = Lab::new(2, 0, &image(50_000, "2.0", 5));
    lab.sender.with(Instant::ZERO, |part, cx| part.find(cx, 3000)).expect("idle");
    assert_eq!(lab.sender.with(Instant::ZERO, |part, cx| part.find(cx, 1)), Err(OtaBusy));
    assert!(lab.sender.part.holds_console());
    lab.sender.wake = Instant::ZERO;
    lab.finish();
    assert!(lab.sender.part.is_idle());
    assert_eq!(lab.sent, 5, "requests");
    let text = &lab.sender.text;
    let list = format!("info, num: 2, list: {}|{}|\r\n", mac(1), mac(2));
    assert!(text.contains(&list), "{text}");
    let row = format!(
        "espnow_cmd: | {} |   1   |  -50  |     solution |            v5.1 |         1.0 | 0 | Jan  1 2026 12:00:00 |\r\n",
        mac(1)
    );
    assert!(text.contains(&row), "{text}");
}

#[test]
fn a_long_list_is_printed_whole() {
    let mut lab = Lab::new(100, 0, &image(352, "2.0", 5));
    lab.sender.with(Instant::ZERO, |part, cx| part.find(cx, 3000)).expect("idle");
    lab.sender.wake = Instant::ZERO;
    lab.finish();
    let list: String = (1..=100).map(|n| format!("{}|", mac(n))).collect();
    let line = format!("info, num: 100, list: {list}\r\nI (");
    assert!(lab.sender.text.contains(&line), "{}", lab.sender.text);
    assert_eq!(lab.sender.text.matches("\r\n").count(), 3 + 100);
    assert_eq!(lab.sender.shared.print.dropped.uart_bytes, 0);
}

#[test]
fn a_device_that_resets_midway_goes_on_where_it_was() {
    let new = image(100_000, "2.0", 5);
    let mut lab = Lab::new(3, 5, &new);
    lab.send_list(&lab.list());
    while lab.devices[1].part.progress().is_none_or(|(written, _)| written < 55_000) {
        assert!(lab.step());
    }
    lab.reset(1);
    lab.finish();
    assert_eq!(lab.totals().done, 3, "{}", lab.sender.text);
    assert!(lab.devices.iter().all(|d| has(d, &new)));
    assert_eq!(lab.devices[1].board.erased, 1, "what was there was kept");
    let stored = 50_000 / 208;
    let written = lab.devices[1].part.counters().written;
    assert!(written <= 481 - stored, "{written} packets after the reset");
}

#[test]
fn a_device_that_runs_the_image_is_left_alone() {
    let new = image(50_000, "2.0", 5);
    let mut lab = Lab::new(2, 0, &new);
    lab.devices[0].board.slots[0] = new.clone();
    lab.devices[0].board.lens[0] = new.len() as u32;
    lab.send_list(&lab.list());
    lab.finish();
    let totals = lab.totals();
    assert_eq!((totals.done, totals.had, totals.unfinished), (1, 1, 0));
    // Trap 16: in neither of the printed counts, but in the event.
    assert!(lab.sender.text.contains("successed_num: 1, unfinished_num: 0\r\n"));
    assert_eq!(lab.sender.events, [EspNowEvent::UpgradeSent { done: 2, unfinished: 0 }]);
    assert_eq!(lab.devices[0].board.erased, 0);
    assert!(lab.devices[0].text.contains("so no upgrade"));
}

#[test]
fn a_partition_that_is_too_small_says_so() {
    let new = image(50_000, "2.0", 5);
    let mut lab = Lab::new(2, 0, &new);
    lab.devices[0].board.slots[1].truncate(49_999);
    lab.send_list(&lab.list());
    lab.finish();
    let totals = lab.totals();
    assert_eq!((totals.done, totals.refused, totals.rounds), (1, 1, 2), "{}", lab.sender.text);
    assert!(lab.sender.text.contains("successed_num: 1, unfinished_num: 1\r\n"));
    assert_eq!(lab.devices[0].board.boot, Slot::Running);
}

#[test]
fn a_corrupted_image_is_refused() {
    let new = image(50_000, "2.0", 5);
    let mut lab = Lab::new(1, 0, &new);
    lab.send_list(&lab.list());
    // Every copy that is written has a wrong bit, as in flash that has worn out.
    while lab.totals().rounds < 50 && !lab.sender.part.is_idle() {
        lab.devices[0].board.slots[1][10_000] = 0;
        assert!(lab.step());
    }
    lab.finish();
    let device = &lab.devices[0];
    assert_eq!(device.board.boot, Slot::Running, "the boot slot is as it was");
    assert_eq!(device.events.iter().filter(|e| **e == EspNowEvent::UpgradeRefused).count(), 2);
    assert!(device.board.upgrade.is_none(), "the session is cleared");
    assert_eq!(lab.totals().done, 0);
    assert_eq!(device.board.erased, 2, "once more is tried");
    assert_eq!(lab.sender.events, [EspNowEvent::UpgradeSent { done: 0, unfinished: 1 }]);
}

#[test]
fn an_equal_version_is_refused_if_asked_to() {
    let new = image(50_000, "1.0", 5);
    let mut lab = Lab::new(2, 0, &new);
    lab.devices[0].part = OtaResponder::new(OtaConfig { skip_version_check: false, interval: 10 });
    lab.send_list(&lab.list());
    lab.finish();
    assert_eq!(lab.devices[0].board.boot, Slot::Running);
    assert!(lab.devices[0].events.contains(&EspNowEvent::UpgradeRefused));
    assert!(lab.devices[0].text.contains("W (") && has(&lab.devices[1], &new));
    let totals = lab.totals();
    assert_eq!((totals.done, totals.stopped), (1, 1));
    // Asked again, it answers so at once.
    lab.groups = vec![true; 2];
    lab.send_list(&lab.list());
    lab.finish();
    assert_eq!(lab.totals().stopped, 1);
    assert_eq!(lab.devices[0].board.erased, 1);
}

#[test]
fn a_device_can_stop() {
    let new = image(50_000, "2.0", 5);
    let mut lab = Lab::new(2, 0, &new);
    lab.send_list(&lab.list());
    while lab.devices[0].part.progress().is_none_or(|(written, _)| written < 20_000) {
        assert!(lab.step());
    }
    lab.devices[0].part.stop();
    lab.devices[0].wake = lab.now;
    lab.finish();
    assert!(lab.devices[0].events.contains(&EspNowEvent::UpgradeStopped));
    assert!(lab.devices[0].board.upgrade.is_none());
    assert_eq!((lab.totals().done, lab.totals().stopped), (1, 1));
    // A finished one can be stopped, too.
    assert!(has(&lab.devices[1], &new));
    lab.devices[1].part.stop();
    lab.devices[1].wake = lab.now;
    lab.finish();
    assert_eq!(lab.devices[1].board.boot, Slot::Running);
}

#[test]
fn the_initiator_can_stop() {
    let mut lab = Lab::new(2, 0, &image(50_000, "2.0", 5));
    lab.send_list(&lab.list());
    while lab.data < 50 {
        assert!(lab.step());
    }
    lab.sender.part.stop();
    lab.sender.wake = lab.now;
    lab.finish();
    assert!(lab.sender.part.is_idle());
    assert_eq!((lab.totals().unfinished, lab.groups.clone()), (2, vec![false; 2]));
    assert!(lab.data <= 51);
}

#[test]
fn a_job_without_devices_ends_with_an_error_line() {
    let mut lab = Lab::new(0, 0, &image(50_000, "2.0", 5));
    lab.send_list("ff:ff:ff:ff:ff:ff");
    lab.finish();
    assert!(lab.sender.text.contains("num: 0\r\nE ("), "{}", lab.sender.text);
    assert!(lab.sender.part.is_idle());
    lab.sender.board.lens[1] = 0;
    lab.send_list("ff:ff:ff:ff:ff:ff");
    assert!(lab.sender.text.ends_with("espnow_cmd: Firmware not downloaded\r\n"));
    assert!(lab.sender.part.is_idle());
    let now = lab.now;
    lab.sender.with(now, |part, cx| part.download(cx, "http://host/a.bin")).expect("idle");
    lab.sender.wake = now;
    lab.finish();
    assert!(lab.sender.text.contains("Firmware Download, url: http://host/a.bin\r\n"));
    assert!(lab.sender.text.contains("The service download firmware is complete, total_size: "));
}

#[test]
fn nobody_who_answers_ends_the_job_after_three_requests() {
    let mut lab = Lab::new(1, 100, &image(50_000, "2.0", 5));
    lab.send_list(&lab.list());
    lab.finish();
    let text = &lab.sender.text;
    assert!(text.contains("[espnow_ota_request_status, 289]: <ESP_OK> wait_ticks: 1000\r\n"));
    assert_eq!(text.matches("wait_ticks: 500\r\n").count(), 2);
    assert!(text.contains("W (") && text.contains("ESP_ERR_ESPNOW_OTA_DEVICE_NO_EXIST\r\n"));
    assert_eq!((lab.totals().unfinished, lab.data), (1, 0));
}

#[test]
fn a_list_of_devices_joins_in_chunks_of_32() {
    let mut lab = Lab::new(70, 0, &image(352, "2.0", 5));
    lab.send_list(&lab.list());
    lab.finish();
    assert_eq!(lab.totals().done, 70);
    // Three joins, two rounds of asking, two packets, 70 devices that leave.
    assert_eq!(lab.sent, 3 + 2 + 2 + 70);
}

#[test]
fn rollback_needs_an_image() {
    let new = image(2048, "2.0", 5);
    let mut lab = Lab::new(1, 0, &new);
    let now = lab.now;
    assert!(!lab.devices[0].with(now, |_, cx| rollback(cx)));
    assert_eq!(lab.devices[0].board.boot, Slot::Running);
    assert!(lab.sender.with(now, |_, cx| rollback(cx)));
    assert_eq!(lab.sender.board.boot, Slot::Spare);
    let line = "I (0) rollback_func: The next reboot will fall back to the previous version\r\n";
    assert_eq!(lab.sender.text, line);
}

#[test]
fn ram_is_bounded() {
    let (responder, initiator) = (size_of::<OtaResponder>(), size_of::<OtaInitiator>());
    std::println!("OTA responder {responder} bytes, initiator {initiator} bytes");
    assert!(responder <= 3300 && initiator <= 6500, "{responder} {initiator}");
    let _ = (LogLevel::Info, OtaCode::Ok, OtaInfo(AppDescription::default()), OtaStatus::default());
}

#[test]
fn builds_without_encryption_have_larger_chunks() {
    let new = image(500_000, "2.0", 5);
    let mut lab = Lab::new(2, 30, &new);
    lab.sender.shared.settings.compat.app_security = false;
    lab.devices.iter_mut().for_each(|d| d.shared.settings.compat.app_security = false);
    lab.send_list(&lab.list());
    lab.finish();
    assert_eq!(lab.totals().done, 2, "{}", lab.sender.text);
    assert!(lab.devices.iter().all(|d| has(d, &new)), "in two rows of 1600 packets");
    assert!(lab.sender.text.contains("packet_num: 2233\r\n"));
}

#[test]
fn builds_that_differ_refuse_each_other() {
    let mut lab = Lab::new(1, 0, &image(50_000, "2.0", 5));
    lab.devices[0].shared.settings.compat.app_security = false;
    lab.send_list(&lab.list());
    lab.finish();
    assert_eq!((lab.totals().refused, lab.data), (1, 0));
    assert_eq!(lab.devices[0].board.erased, 0);
}
