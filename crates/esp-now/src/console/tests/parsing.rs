//! The commands of the report's document, the messages of the parser, and any bytes.

use super::*;

fn line_of(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// Parses a line and calls `f` on the command.
fn with<T>(text: &str, check: impl FnOnce(Command<'_>) -> T) -> T {
    let mut line = line_of(text);
    check(parse(&mut line).unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

fn iperf() -> IperfArgs {
    IperfArgs {
        initiator: None,
        responder: false,
        ping: false,
        count: 64,
        interval: 3,
        time: 60,
        len: None,
        broadcast: None,
        group: false,
        ack: false,
        gpio: None,
        abort: false,
    }
}

#[test]
fn the_documents_measurements() {
    let sec = |text: &str, count, len| {
        with(text, |it| assert_eq!(it, Command::SecTest(SecTestArgs { count, len })));
    };
    sec("sec_test -C 10000 -l 226", 10000, Some(226));
    sec("sec_test -c 5 --len=0x10", 5, Some(16));
    sec("sec_test", 100, None);
    let check = |text: &str, expected: IperfArgs| {
        with(text, |it| assert_eq!(it, Command::Iperf(expected), "{text}"));
    };
    check("espnow_iperf -s -b 0", IperfArgs { responder: true, broadcast: Some(0), ..iperf() });
    check(
        "espnow_iperf -c 24:0a:c4:00:00:02 -b 0 -p -C 10000 -l 10",
        IperfArgs {
            initiator: Some(Ok(PEER)),
            broadcast: Some(0),
            ping: true,
            count: 10000,
            len: Some(10),
            ..iperf()
        },
    );
    check("espnow_iperf -s", IperfArgs { responder: true, ..iperf() });
    check("espnow_iperf -a", IperfArgs { abort: true, ..iperf() });
    check("espnow_iperf -p", IperfArgs { ping: true, ..iperf() });
    check(
        "espnow_iperf -pAc 24:0A:C4:00:00:02 -t1KB --gpio=4 -i 0b11 --group",
        IperfArgs {
            initiator: Some(Ok(PEER)),
            ping: true,
            ack: true,
            time: 1024,
            gpio: Some(4),
            group: true,
            ..iperf()
        },
    );
    check("espnow_iperf -c xx", IperfArgs { initiator: Some(Err(BadMac)), ..iperf() });
}

#[test]
fn the_documents_commands_to_others() {
    for (text, all_channels, line) in [
        ("command FF:FF:FF:FF:FF:FF \"log -m espnow -l ERR\"", false, "log -m espnow -l ERR"),
        (
            "command FF:FF:FF:FF:FF:FF \"espnow_iperf -c 24:0a:c4:00:00:02 -C 100 -p\"",
            false,
            "espnow_iperf -c 24:0a:c4:00:00:02 -C 100 -p",
        ),
        ("command FF:FF:FF:FF:FF:FF \"security -e\"", false, "security -e"),
        ("command -a FF:FF:FF:FF:FF:FF \"provisioning -e\"", true, "provisioning -e"),
        ("command FF:FF:FF:FF:FF:FF \"provisioning -r\"", false, "provisioning -r"),
    ] {
        with(text, |it| {
            let Command::Remote(remote) = it else { panic!("{it:?}") };
            assert_eq!((remote.all_channels, remote.line), (all_channels, line.as_bytes()));
            assert_eq!(remote.to.iter().collect::<Vec<_>>(), [Mac::BROADCAST]);
            with(line, |_| ());
        });
    }
    let find = |ms| OtaOptions { download: None, find_ms: ms, send: None };
    with("ota -f 3000", |it| assert_eq!(it, Command::Ota(find(Some(3000)))));
    with("ota -d http://192.168.0.6:8070/Resp.bin", |it| {
        let download = Some(&b"http://192.168.0.6:8070/Resp.bin"[..]);
        assert_eq!(it, Command::Ota(OtaOptions { download, ..find(None) }));
    });
    for text in [
        "ota -s 24:0a:c4:00:00:01,24:0a:c4:00:00:02,",
        "ota -s \"24:0a:c4:00:00:01 24:0a:c4:00:00:02\"",
        "ota --send=24:0a:c4:00:00:01|24:0a:c4:00:00:02",
        "security -s 24:0a:c4:00:00:01.nonsense.24:0a:c4:00:00:02",
    ] {
        with(text, |it| match it {
            Command::Ota(OtaOptions { send: Some(list), .. })
            | Command::Security(SecurityArgs { send: Some(list), .. }) => {
                assert_eq!(list.iter().collect::<Vec<_>>(), [ME, PEER]);
            }
            other => panic!("{other:?}"),
        });
    }
}

#[test]
fn the_documents_settings() {
    with("wifi_config -s ssid -p password", |it| {
        let Command::WifiConfig(it) = it else { panic!("{it:?}") };
        assert_eq!((it.ssid, it.password), (Some(&b"ssid"[..]), Some(&b"password"[..])));
    });
    with("provisioning -i 30000 ssid password", |it| {
        let Command::Provisioning(it) = it else { panic!("{it:?}") };
        assert_eq!((it.initiator_ms, it.erase, it.responder), (Some(30000), false, false));
        assert_eq!((it.ssid, it.password), (Some(&b"ssid"[..]), Some(&b"password"[..])));
    });
    with("log -m espnow -l warn", |it| {
        let Command::Log(it) = it else { panic!("{it:?}") };
        assert_eq!((it.mode, it.level), (Some(Some(LogSink::Espnow)), Some(Some(LogLevel::Warn))));
    });
    with("control -c 0x201 -t 1 -v 1 --broadcast 0 --forward_ttl 33 -r -40 -aC", |it| {
        let Command::Control(it) = it else { panic!("{it:?}") };
        assert_eq!(
            (it.command, it.responder_attribute, it.responder_value),
            (Some(0x201), Some(1), Some(1))
        );
        assert_eq!((it.broadcast, it.ttl, it.rssi), (Some(false), Some(1), Some(-40)));
        assert!(it.ack && it.filter_adjacent && !it.filter_weak && it.bind.is_none());
    });
    with("scan -r -60 -a", |it| {
        let rssi = Some(-60);
        assert_eq!(it, Command::Scan(ScanArgs { to: None, rssi, all_channels: true }));
    });
    with("espnow_config -r 4 -r 0x10 -r 0 -r 0", |it| {
        let Command::EspnowConfig(it) = it else { panic!("{it:?}") };
        assert_eq!(it.rate, ([4, 16, 0, 0], 4));
    });
}

#[test]
fn every_command_parses_and_is_helped() {
    let mut desk = Desk::prompted(Idf::V5_1);
    for spec in table::TABLE {
        let words = spec.options.iter().filter(|opt| opt.min > 0).map(|_| " x");
        let text = spec.name.to_string() + &words.collect::<String>();
        with(&text, |_| ());
        let help = desk.run(&std::format!("help {}", spec.name));
        assert!(help.starts_with(spec.name) && help.len() < 1500, "{}: {}", spec.name, help.len());
        for opt in spec.options {
            assert!(help.contains(opt.long) && help.contains(opt.help), "{help}");
        }
    }
    let one = desk.run("help sec_test");
    assert_eq!(
        one,
        "sec_test [-c <n>] [-l <bytes>]\r\n  Measures encryption on this device\r\n\
         \x20          -c, -C, --count=<n>  How often (100)\r\n\
         \x20            -l, --len=<bytes>  Bytes to encrypt (as many as fit)\r\n\r\n"
    );
    assert!(desk.run("help nothing").starts_with("help: Unrecognized option 'nothing'\r\nW "));
}

#[test]
fn what_the_parser_says() {
    for (line, said) in [
        ("heap -x", "heap: invalid option \"-x\""),
        ("heap --xyz", "heap: invalid option \"--xyz\""),
        ("heap now", "heap: unexpected argument \"now\""),
        ("espnow_iperf -c", "espnow_iperf: option \"-c\" requires an argument"),
        ("espnow_iperf --len", "espnow_iperf: option \"--len\" requires an argument"),
        ("espnow_iperf --p", "espnow_iperf: [none]"),
        ("espnow_iperf --i", "espnow_iperf: invalid option \"--i\""),
        ("espnow_iperf --ack=1", "espnow_iperf: invalid option \"--ack=1\""),
        ("ping", "ping: missing option <host>"),
        ("sec_test -c 1 -C 2", "sec_test: excess option -c|--count=2"),
        ("espnow_iperf -pp", "espnow_iperf: extraneous option -p|--ping"),
        ("sec_test -c many", "sec_test: invalid argument \"many\" to option -c|--count=<n>"),
        (
            "sec_test -l 3GB",
            "sec_test: integer overflow at option -l|--len=<bytes> (3GB is too large)",
        ),
    ] {
        let mut desk = Desk::prompted(Idf::V5_1);
        let out = desk.run(line);
        if said.ends_with("[none]") {
            assert!(!out.contains("espnow_iperf: "), "{out}");
            continue;
        }
        let error = "Command returned non-zero error code: 0xffffffff (ESP_FAIL)";
        assert_eq!(out, std::format!("{said}\r\nW (1102) espnow_console: {error}\r\n"));
    }
}

/// Generates a word as one would type it.
fn quoted(word: &str) -> String {
    std::format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Generates a word without quotes.
fn escaped(word: &str) -> String {
    let escape = |c: char| match c {
        '\\' | '"' | ' ' => std::format!("\\{c}"),
        _ => c.to_string(),
    };
    word.chars().map(escape).collect()
}

proptest! {
    #[test]
    fn quotes_and_escapes_keep_a_word(words in prop::collection::vec("[ -~]{1,20}", 1..=15)) {
        for form in [quoted, escaped] {
            let line = words.iter().map(|word| form(word)).collect::<Vec<_>>().join("  ");
            let mut line = line_of(&line);
            let split = Words::split(&mut line);
            let back: Vec<_> = split.as_slice().iter().map(|word| word.to_vec()).collect();
            prop_assert_eq!(&back, &words.iter().map(|w| line_of(w)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_line_is_split_and_parsed(mut line: Vec<u8>) {
        prop_assert!(Words::split(&mut line.clone()).as_slice().len() <= words::WORDS_MAX);
        if let Err(error) = parse(&mut line) {
            for (name, fault) in error.lines() {
                prop_assert!(!name.is_empty() && !fault.to_string().is_empty());
            }
        }
    }

    #[test]
    fn near_commands_are_parsed(
        name in prop::sample::select(table::TABLE),
        words in prop::collection::vec("-{0,2}[a-zC]{0,3}(=?[0-9xob]{0,4}([KMG]B)?)?", 0..8),
    ) {
        let mut line = line_of(&std::format!("{} {}", name.name, words.join(" ")));
        if let Err(CommandError::Options(spec, faults)) = parse(&mut line) {
            prop_assert_eq!(spec.name, name.name);
            prop_assert!(!faults.is_empty());
        }
    }

    #[test]
    fn integers_read_back(n: i32) {
        let spec = table::find(b"sec_test").unwrap();
        let forms = [
            std::format!("{n}"),
            std::format!("{}0x{:X}", if n < 0 { "-" } else { "" }, i64::from(n).abs()),
            std::format!("{}0o{:o}", if n < 0 { "-" } else { "+" }, i64::from(n).abs()),
            std::format!("{}0b{:b}", if n < 0 { "-" } else { "" }, i64::from(n).abs()),
        ];
        for form in forms {
            let args = ParsedArgs::read(spec, &[b"-c", form.as_bytes()]).unwrap();
            prop_assert_eq!(args.int("count"), Some(n), "{}", form);
        }
    }

    #[test]
    fn any_bytes_in_any_pieces_print_the_same(
        bytes: Vec<u8>,
        cut in 1_usize..40,
    ) {
        // Within one instant, the division into pieces does not matter.
        let mut whole = Desk::prompted(Idf::V5_1);
        let mut pieces = Desk::prompted(Idf::V5_1);
        let mut bytes = bytes;
        bytes.truncate(200);
        let one = whole.after(1, &bytes);
        let mut many = pieces.after(1, &[]);
        for piece in bytes.chunks(cut) {
            many += &pieces.after(0, piece);
        }
        prop_assert_eq!(one, many);
    }
}
