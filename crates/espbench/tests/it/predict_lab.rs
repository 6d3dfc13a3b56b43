//! Labs of one's own in `espbench predict`.

use crate::util::TestDir;

/// Returns a group of a lab's file.
fn group(name: &str, count: u32, places: &str) -> String {
    format!(
        "[[group]]\nname = \"{name}\"\nprofile = \"esp32c3\"\nmode = \"6M\"\ncount = {count}\n{places}"
    )
}

/// Returns a lab's file with those groups.
fn lab(groups: &[String]) -> String {
    format!("title = \"t\"\nenvironment = \"office\"\n{}", groups.concat())
}

/// The devices and the rate of a lab's file hold in `predict`, too. Values that a flag sets in their place stand on
/// the first lines.
#[test]
fn a_labs_own_devices_and_rate_hold() {
    let bench = TestDir::new();
    let line = group("sensors", 3, "[group.line]\nstep_m = 0.5\n");
    bench.write("mine.toml", &lab(&[group("hub", 1, ""), line]));
    let ask = |args: &str| {
        let few = "--lab mine.toml --rooms 2 --messages 100 -q";
        let args = format!("predict {args} {few}");
        bench.run(&args.split(' ').collect::<Vec<_>>()).ok()
    };
    let own = ask("fleet");
    assert!(own.starts_with("3 devices, ") && own.contains(" at 6M, "), "{own}");
    for same in [own, ask("fleet --devices 3"), ask("fleet --devices 3 --phy-rate 6M")] {
        assert!(!same.contains("this question sets"), "{same}");
    }
    let set = ask("fleet --devices 2 --phy-rate 1M --profile esp32");
    let second = set.lines().nth(1).map(str::trim);
    let wanted =
        "! this question sets devices 2 (lab: 3), rate 1M (lab: 6M), profile esp32 (lab: esp32c3)";
    assert_eq!(second, Some(wanted), "{set}");
    let rates = ask("rate --phy-rates 1M,6M");
    assert!(rates.starts_with("3 devices, "), "{rates}");
}
