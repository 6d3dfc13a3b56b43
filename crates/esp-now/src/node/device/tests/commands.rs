//! Every command of the console, and consoles that wait.

use super::*;

/// Runs the commands that the report's document and the component's help name, on two nodes, and
/// checks a line that each prints.
const COMMANDS: [(&str, &str); 41] = [
    ("version", "version_func: IDF Version:v5.1"),
    ("heap", "esp_mem: Free heap, current: 0, minimum: 0"),
    ("restart -i", "restart_func: num: 1, reason: 1, crash: 0"),
    ("time -g", "system_cmd: time_zone: "),
    ("gpio -s 2 -l 1", "peripherals_cmd: Set gpio num: 2, level: 1"),
    ("wifi_config -c 1", "wifi_config_func: Set Channel, channel: 1"),
    ("wifi_config -i", "wifi_config_func: rx: 0, tx_power: "),
    ("wifi_scan", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("ping 192.168.1.1", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("ap name", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("coredump", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("tasks", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("deep_sleep -t 100", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("light_sleep -t 100", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("uart -s", "0x106 (ESP_ERR_NOT_SUPPORTED)"),
    ("log -i", "log_func: log level, uart: INFO, espnow: NONE"),
    ("espnow_config -i", "iperf_cmd: Channel, primary: 1, second: 0"),
    ("espnow_config -c 1 -C US", "esp32c3> "),
    ("espnow_iperf -c 24:0a:c4:00:00:02 -p -C 2", "initiator ping report:"),
    ("espnow_iperf -c 24:0a:c4:00:00:02 -t 1", "initiator Report:"),
    ("espnow_iperf -s", "responder 24:0a:c4:00:00:01 listening"),
    ("espnow_iperf -s", "ESPNOW iperf is running"),
    ("espnow_iperf -a", "esp32c3> "),
    ("espnow_iperf", "Should specific initiator/responder mode"),
    ("command 24:0a:c4:00:00:02 \"heap\"", "esp32c3> "),
    ("scan", "][1][-20]: I ("),
    ("beacon", "esp32c3> "),
    ("control -b 1", "The binding device, attribute: 1"),
    (
        "control -c 1 -t 2 -v 3",
        "initiator_attribute: 1, responder_attribute: 2, responder_value: 3",
    ),
    ("control -u 1", "The unbinding device, attribute: 1"),
    ("control -l", "esp32c3> "),
    // Control went over all channels and stayed on the last.
    ("wifi_config -c 1", "Set Channel, channel: 1"),
    ("ota -f 3000", "info, num: 1, list: 24:0a:c4:00:00:02"),
    ("ota -s ff:ff:ff:ff:ff:ff", "Firmware not downloaded"),
    ("ota -d http://here/image", "Open HTTP connection: http://here/image"),
    ("security -f 3000", "info, num: 1, list: 24:0a:c4:00:00:02"),
    ("security -s 24:0a:c4:00:00:02", "Secure key is not set"),
    ("sec_test -c 10", "Decrypting data of 218 bytes takes an average of 0 us"),
    ("provisioning -i 1000 net secret", "Add device to the network: net"),
    ("rollback", "0xffffffff (ESP_FAIL)"),
    ("provisioning -r", "Start provisioning"),
];

#[test]
fn every_command_says_what_it_does() {
    let mut world = World::with(vec![settings(1000); 2], Setup::default(), |_, board| {
        board.slots[0] = image(5_008);
    });
    world.types(1, "espnow_iperf -s", 50);
    for (line, expected) in COMMANDS {
        let printed = world.types(0, line, 6000);
        assert!(printed.contains(expected), "{line}: {printed}");
        let taken = world.types(0, "nonsense", 10);
        assert!(taken.contains("Unrecognized command"), "{line} holds the console: {taken}");
    }
    assert!(world.places[1].printed.contains("Free heap"), "the remote command");
    for (line, expected) in [
        ("restart", "Restarting"),
        ("reset", "reset_func: Restarting"),
        ("security -e", "Erase key info and restart"),
        ("provisioning -e", ""),
    ] {
        world.places[0].events.clear();
        assert!(world.types(0, line, 10).contains(expected));
        assert!(world.places[0].events.contains(&EspNowEvent::Restart), "{line}");
        world.restart(0);
    }
    assert_eq!(world.places[0].node.dropped().total(), 0);
}

#[test]
fn help_is_complete_and_what_is_typed_meanwhile_waits() {
    let mut world = World::new(vec![settings(1000)]);
    let printed = world.types(0, "help\rRheap", 100);
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    for name in ["help", "espnow_iperf", "provisioning", "sec_test", "wifi_config"] {
        at(name);
    }
    assert!(at("Free heap") > at("wifi_config") && at("Free heap") > at("sec_test"));
    assert_eq!(world.places[0].node.dropped().total(), 0);
}

#[test]
fn options_of_one_line_are_done_in_order() {
    let mut world = World::new(vec![settings(1000); 2]);
    world.types(1, "control -b 9", 500);
    let printed = world.types(0, "control -l -u 7 -b 7 -c 7 -t 1 -v 2", 3000);
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    let order = [
        at("command, initiator_attribute: 7"),
        at("The binding device, attribute: 7"),
        at("The unbinding device, attribute: 7"),
        at("initiator_type: 0, initiator_value: 9"),
    ];
    assert!(order.is_sorted(), "{printed}");
    assert_eq!(
        world.places[1].events,
        [EspNowEvent::Bound(mac(0), 7), EspNowEvent::Unbound(mac(0), 7)]
    );
    let printed = world.types(0, "control -c 7 -t 1", 100);
    assert!(
        printed.contains("Please enter the parameters: responder_attribute & responder_value")
            && printed.contains("0x102 (ESP_ERR_INVALID_ARG)"),
        "{printed}"
    );
    let printed = world.types(0, "ota -f 3000 -s ff:ff:ff:ff:ff:ff", 9000);
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    assert!(at("Find upgradeable devices") < at("info, num: 1"));
    assert!(at("info, num: 1") < at("Firmware not downloaded"));
}

/// Checks `control -l` with a full list, which is longer than the ring of the console.
#[test]
fn a_long_list_is_printed_whole() {
    let mut world = World::new(vec![settings(1000); 2]);
    for attribute in 0..20 {
        world.types(1, &std::format!("control -b {attribute}"), 300);
    }
    let bound =
        world.places[0].events.iter().filter(|e| matches!(e, EspNowEvent::Bound(..))).count();
    assert!(bound > 10);
    let printed = world.types(0, "control -l", 100);
    assert_eq!(printed.matches("initiator_value: ").count(), bound, "{printed}");
    assert_eq!(world.places[0].node.dropped().console_out, 0);
}

/// Checks that a remote command that waits holds the main task: the next one waits in the queue,
/// and the terminal is free.
#[test]
fn a_remote_command_that_waits_holds_the_main_task_only() {
    let mut world = World::new(vec![settings(1000); 3]);
    world.types(1, "log -l INFO -m espnow", 50);
    for line in ["ota -f 3000", "nonsense", "help"] {
        world.types(0, &std::format!("command {} \"{line}\"", mac(1)), 100);
    }
    world.places[1].printed.clear();
    let printed = world.types(1, "heap", 100);
    assert!(printed.contains("Free heap"), "{printed}");
    assert!(!printed.contains("Unrecognized"), "{printed}");
    world.run(5000);
    let printed = &world.places[1].printed;
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    assert!(at("Unrecognized command") < at("espnow_iperf"), "in their order");
    // Answers wait behind it, so the scan has found no device.
    assert!(!printed.contains("info, num"), "{printed}");
    let log = &world.places[0].printed;
    assert!(log.contains("espnow_console: Unrecognized command"), "{log}");
    // Each console wants that part: the second gets an error.
    world.types(0, &std::format!("command {} \"scan -a\"", mac(1)), 100);
    let printed = world.types(1, "scan", 100);
    assert!(printed.contains("0x103 (ESP_ERR_INVALID_STATE)"), "{printed}");
    let printed = world.types(1, "heap", 100);
    assert!(printed.contains("Free heap"), "{printed}");
}
