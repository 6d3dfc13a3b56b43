//! `espbench doctor --rules` and `--explain`.

use crate::util::TestDir;

const RULES: &str = include_str!("../../../doctor/tests/team.toml");

const LOG: &str = "I (300) wifi:connected with attic, aid = 1, channel 6, BW20\n\
                   I (900) esp_netif_handlers: sta ip: 192.0.2.7, mask: 255.255.255.0, gw: 192.0.2.1\n\
                   E (5000) gateway: no answer from gateway 12\n";

#[test]
fn rules_of_a_team_tell_causes_of_its_own() {
    let bench = TestDir::new();
    bench.write("team.toml", RULES);
    bench.write("boot.log", LOG);
    let without = bench.run(&["doctor", "--no-proof", "boot.log"]).ok();
    assert!(without.starts_with("boot.log: nothing wrong is seen\n"), "{without}");
    let with = bench.run(&["doctor", "--no-proof", "--rules", "team.toml", "boot.log"]).ok();
    assert!(with.starts_with("boot.log: the gateway does not answer\n"), "{with}");
    assert!(with.contains("  line 3: no answer from gateway 12\n"), "{with}");
    assert!(with.contains("  do:      see the gateway's own log\n"), "{with}");
}

#[test]
fn a_mistake_in_rules_is_told_with_its_place_and_what_to_do() {
    let bench = TestDir::new();
    bench.write("boot.log", LOG);
    for none in ["absent.toml", "."] {
        let ran = bench.run(&["doctor", "--rules", none, "boot.log"]);
        assert_eq!(ran.status, Some(2), "{}", ran.err);
        assert!(ran.err.contains("docs/doctor-rules.md has one"), "{}", ran.err);
    }
    for (from, to, why) in [
        ("patterns", "patern", "why: line 8: unknown field `patern`"),
        ("[\"error\"]", "[\"eror\"]", "why: line 6: unknown variant `eror`"),
        (
            "name = \"gateway-lost\"",
            "name = \"associated\"",
            "why: rule associated: there is another rule",
        ),
        ("from gateway 7\"", "from it\"", "why: rule gateway-lost: its example"),
        (
            "signs = [\"gateway-lost\"]",
            "signs = [\"gone\"]",
            "why: cause gateway-silent: no rule has",
        ),
    ] {
        assert!(RULES.contains(from), "{from}");
        bench.write("team.toml", &RULES.replace(from, to));
        let ran = bench.run(&["doctor", "--rules", "team.toml", "boot.log"]);
        let lines: Vec<&str> = ran.err.lines().collect();
        assert_eq!((ran.status, lines.len()), (Some(2), 3), "{}", ran.err);
        assert_eq!(lines[0], "espbench: team.toml cannot be read as rules");
        assert!(lines[1].trim_start().starts_with(why), "{}", ran.err);
        assert!(lines[2].contains("docs/doctor-rules.md"), "{}", ran.err);
    }
    let none = bench.run(&["doctor", "--rules", "none.toml", "boot.log"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("none.toml: there is no such file"), "{}", none.err);
}

#[test]
fn a_line_is_explained_by_the_rules_that_it_meets_and_those_near_to_it() {
    let bench = TestDir::new();
    bench.write("team.toml", RULES);
    let line = "\u{1b}[0;31mE (5000) gateway: no answer from gateway 12\u{1b}[0m";
    let with = bench.run(&["doctor", "--rules", "team.toml", "--explain", line]).ok();
    let lines: Vec<&str> = with.lines().collect();
    assert_eq!(lines[0], "Error of \"gateway\": no answer from gateway 12", "{with}");
    let own = "  + gateway-lost (team.toml) tells: sign gateway-lost, cause gateway-silent";
    assert!(lines.contains(&own), "{with}");
    let quiet = line.replace('E', "I");
    let quiet = bench.run(&["doctor", "--rules", "team.toml", "--explain", &quiet]).ok();
    let why = "  - gateway-lost (team.toml) is of another component, level or time: sign gateway-lost, cause gateway-silent";
    assert!(quiet.lines().any(|it| it == why), "{quiet}");
    let hosted = "E (6000) rpc_core: Response not received for [0x13f]";
    let hosted = bench.run(&["doctor", "--explain", hosted]).ok();
    assert!(hosted.contains("  + hosted-rpc-unanswered (hosted.toml) tells: sign "), "{hosted}");
    let diary = bench.run(&["doctor", "--explain", "Today it rained."]).ok();
    assert!(diary.contains("no rule tells what it says"), "{diary}");
    let with_elf = ["doctor", "--explain", "x", "--elf", "app.elf"];
    for words in [&["doctor", "--explain", "x", "boot.log"][..], &["doctor"], &with_elf] {
        assert_eq!(bench.run(words).status, Some(2), "{words:?}");
    }
}
