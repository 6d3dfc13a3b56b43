//! `espbench espnow talk`: fleets, scripts, captures.

use crate::util::{Ran, TestDir, peer, tshark};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

const TALK: [&str; 2] = ["espnow", "talk"];

fn talk(bench: &TestDir, args: &[&str]) -> Ran {
    bench.run(&[&TALK, args].concat())
}

#[test]
fn the_built_in_script_runs_and_repeats() {
    let bench = TestDir::new();
    let args = ["--devices", "3", "--loss", "5%", "--frames"];
    let first = talk(&bench, &args).ok();
    assert!(first.contains("node0 | ") && first.contains("5 packets transmitted"), "{first}");
    assert!(first.contains("node0 $ espnow_iperf -c 24:0a:c4:00:00:02 -p -C 5\n"), "{first}");
    assert!(first.contains("node1 | ") && first.contains("IDF Version"), "{first}");
    assert!(first.contains("; acknowledged"), "frames, too\n{first}");
    assert_eq!(first, talk(&bench, &args).ok());
    let other = talk(&bench, &[&args[..], &["--seed", "2"]].concat()).ok();
    assert_ne!(first, other);
}

#[test]
fn the_same_script_runs_in_a_lab_and_repeats() {
    let bench = TestDir::new();
    let args =
        ["--lab", "two-boards", "--frames", "--pcap", "air.pcapng", "--console", "node0=a.log"];
    let first = talk(&bench, &args);
    assert!(first.err.contains("2 devices in two-boards, "), "{}", first.err);
    let (told, first) = (first.err.clone(), first.ok());
    let (air, log) = (std::fs::read(bench.path("air.pcapng")), std::fs::read(bench.path("a.log")));
    assert!(first.contains("5 packets transmitted") && first.contains("IDF Version"), "{first}");
    assert!(first.contains("node0 > frame ") && first.contains("; heard by node0"), "{first}");
    assert_eq!(first, talk(&bench, &args).ok());
    assert_eq!(air.unwrap(), std::fs::read(bench.path("air.pcapng")).unwrap());
    assert_eq!(log.unwrap(), std::fs::read(bench.path("a.log")).unwrap());
    let read = ["espnow", "read", "a.log", "--simulated", "--format", "csv"];
    assert!(bench.run(&read).ok().contains("simulated"));
    let other = talk(&bench, &[&args[..], &["--seed", "2"]].concat()).ok();
    assert_ne!(first, other);
    if peer("tshark") {
        talk(&bench, &args).ok();
        let file = bench.path("air.pcapng");
        let all = tshark(&file, "frame", "frame.number").len();
        assert!(told.contains(&format!("{all} packets in air.pcapng")), "{told}");
        // With checksums checked, tshark calls those that nobody could read malformed.
        let whole = "_ws.malformed && radiotap.flags.badfcs == 0";
        assert_eq!(tshark(&file, whole, "frame.number"), Vec::<String>::new());
    }
}

#[test]
fn a_lab_says_itself_what_its_devices_and_its_medium_are() {
    let bench = TestDir::new();
    bench.write("loss.talk", "node0> version\nloss 5%");
    bench.write("third.talk", "node2> version\nwait until node2 prints \"IDF Version\"");
    let lab = ["--lab", "two-boards"];
    for (args, remedy) in [
        (&["--loss", "5%"][..], "'--lab <LAB>' cannot be used with '--loss"),
        (&["--release", "2.3"], "'--lab <LAB>' cannot be used with '--release"),
        (&["--script", "loss.talk"], "loss.talk: line 2: in a lab, the room says who hears whom"),
        (&["--script", "third.talk"], "node0 to node1, is wanted\n  do:  raise --devices"),
    ] {
        let ran = talk(&bench, &[&lab, args].concat());
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.contains(remedy), "{args:?}: {}", ran.err);
    }
    let unknown = talk(&bench, &["--lab", "nowhere"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("no lab is called `nowhere`. Known here: "), "{}", unknown.err);
    talk(&bench, &["--lab", "many-boards", "--devices", "3", "--script", "third.talk"]).ok();
}

#[test]
fn the_end_of_a_script_is_the_exit_status() {
    let bench = TestDir::new();
    let run = |text: &str| {
        bench.write("a.talk", text);
        talk(&bench, &["--devices", "2", "--script", "a.talk"])
    };
    let fine = run("node1> wifi_config -i\nwait until node1 prints \"channel: 1\"");
    assert!(fine.err.contains("2 nodes, "), "{}", fine.err);
    fine.ok();
    let missed = run("wait until node1 prints \"never\" max 2s");
    assert_eq!(missed.status, Some(1), "{}", missed.err);
    assert!(missed.err.contains("a.talk: line 1: node1 did not print \"never\" in 2s"));
    let wrong = run("wait 1s\nnode2> help");
    assert_eq!(wrong.status, Some(2));
    let place = "a.talk: line 2, column 1: `node2>` where a node, node0 to node1, is wanted";
    assert!(wrong.err.contains(place), "{}", wrong.err);
    let missing = talk(&bench, &["--script", "none.talk"]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.err.contains("cannot read the script none.talk"), "{}", missing.err);
    let refused = talk(&bench, &["--loss", "5"]);
    assert!(refused.status == Some(2) && refused.err.contains("has no unit"), "{}", refused.err);
}

#[test]
fn a_script_comes_from_stdin() {
    let bench = TestDir::new();
    let mut command = bench.command(&["espnow", "talk", "--devices", "1", "--script", "-", "-q"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"all> heap\nwait until all prints \"heap\"\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && out.contains("Free heap"), "{out}");
    assert_eq!(output.stderr, b"");
}

/// A script that says nothing of the medium runs in a room, too.
#[test]
fn example_scripts_run_in_labs() {
    let bench = TestDir::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    for (script, lab, nodes) in
        [("ping", "two-boards", "2"), ("ota", "ota", "5"), ("provisioning", "provisioning", "3")]
    {
        let path = root.join(format!("examples/talk/{script}.talk"));
        let args = ["--lab", lab, "--devices", nodes, "-q", "--script", path.to_str().unwrap()];
        talk(&bench, &args).ok();
    }
}

/// Every script that is shipped, run by the command that stands in it.
#[test]
fn the_example_scripts_work() {
    let bench = TestDir::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    let folder = root.join("examples/talk").read_dir().expect("the folder");
    let mut scripts = 0;
    for file in folder.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let command = text.lines().find_map(|line| line.strip_prefix("# espbench "));
        let command = command.unwrap_or_else(|| panic!("{}: no command", file.display()));
        let path = root.join(command.rsplit(' ').next().unwrap());
        assert_eq!(path, file, "the command is for this file");
        let words: Vec<&str> = command.split(' ').collect();
        let args = [&words[..words.len() - 1], &[file.to_str().unwrap()]].concat();
        bench.run(&args).ok();
        scripts += 1;
    }
    assert!(scripts >= 4, "{scripts}");
}

#[test]
fn what_cannot_be_done_is_said_with_a_remedy() {
    let bench = TestDir::new();
    bench.write("a.talk", "node2> help\nwait 1s");
    for (args, remedy) in [
        (["--devices", "1"], "raise --devices"),
        (["--devices", "0"], "`0` is not from 1 to 1000"),
        (["--loss", "200%"], "use 0% to 100%"),
        (["--script", "none.talk"], "cannot read the script none.talk"),
        (["--pcap", "no/folder/a.pcap"], "make the folder no/folder first"),
        (["--release", "9"], "use 2022-07, 1.0, 2.0"),
    ] {
        let ran = talk(&bench, &args);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.contains(remedy), "{args:?}: {}", ran.err);
    }
    let few = talk(&bench, &["--devices", "2", "--script", "a.talk"]);
    assert!(few.err.contains("node0 to node1, is wanted\n  do:  raise --devices"), "{}", few.err);
}

/// A capture with all that makes frames: every release's lengths, retries, other channels.
#[test]
fn tshark_reads_the_capture_without_a_malformed_frame() {
    if !peer("tshark") {
        return;
    }
    let bench = TestDir::new();
    for (release, idf, len, long) in [("2.5.3", "5.1", 8, 0), ("head", "5.5", 1400, 40)] {
        let script = format!(
            "wait 200ms
            node1> espnow_iperf -s
            node0> espnow_iperf -c {{node1}} -p -C 20
            wait until node0 prints \"packets transmitted\" max 5min
            node0> espnow_iperf -c {{node1}} -p -C 20 -l {len}
            wait until node0 prints \"packets transmitted\" max 5min
            node0> control -b 1
            node0> command ff:ff:ff:ff:ff:ff \"heap\"
            wait 5s"
        );
        bench.write("a.talk", &script);
        let ran = talk(
            &bench,
            &["--devices", "3", "--loss", "20%", "--script", "a.talk", "--pcap", "a.pcap"]
                .into_iter()
                .chain(["--release", release, "--idf", idf])
                .collect::<Vec<_>>(),
        );
        let told = ran.err.clone();
        ran.ok();
        let file = bench.path("a.pcap");
        let all = frames(&file, "frame");
        assert!(told.contains(&format!("{} packets in a.pcap", all.len())), "{told}");
        assert_eq!(frames(&file, "_ws.malformed"), Vec::<String>::new());
        assert_eq!(frames(&file, "wlan.fcs.status == 0"), Vec::<String>::new(), "bad checksums");
        assert_eq!(frames(&file, "wlan.fcs.status == 1").len(), all.len());
        let actions = frames(&file, "wlan.fc.type_subtype == 0x0d");
        let espressif =
            frames(&file, "wlan.fixed.category_code == 127 && wlan.tag.oui == 0x18fe34");
        assert_eq!(actions.len(), espressif.len(), "Espressif's, all of them");
        let attempts: usize = number_before(&told, " attempts");
        assert_eq!(actions.len(), attempts, "each attempt of the MAC is a frame\n{told}");
        let acknowledgements = frames(&file, "wlan.fc.type_subtype == 0x1d").len();
        assert_eq!(all.len(), actions.len() + acknowledgements);
        assert!(!frames(&file, "wlan.fc.retry == 1").is_empty(), "20 % are lost");
        assert!(!frames(&file, "wlan_radio.channel == 11").is_empty(), "control on all channels");
        assert!(frames(&file, "frame.len > 1400").len() >= long);
    }
}

/// Returns the numbers of the frames that a display filter lets through.
fn frames(file: &Path, filter: &str) -> Vec<String> {
    tshark(file, filter, "frame.number")
}

fn number_before(text: &str, what: &str) -> usize {
    let (before, _) = text.split_once(what).unwrap_or_else(|| panic!("no `{what}` in {text}"));
    before.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number")
}
