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

/// A prediction is of one rate: a lab whose devices have several asks for it. One whose groups are at least two devices
/// has no throughput of one, and its other figures stand.
#[test]
fn a_lab_of_several_groups_is_predicted() {
    let bench = TestDir::new();
    let near = group("near", 1, "distance_m = 3\n");
    let far = group("far", 1, "distance_m = 8\n");
    let write = |far: &str| {
        bench.write("mine.toml", &lab(&[group("hub", 1, ""), near.clone(), far.into()]))
    };
    let ask = |args: &str| {
        let few = "--lab mine.toml --rooms 2 --messages 100 -q";
        let args = format!("predict {args} {few}");
        bench.run(&args.split(' ').collect::<Vec<_>>())
    };
    write(&far);
    let rates = ask("rate --phy-rates 1M,6M").ok();
    assert!(rates.starts_with("2 devices, "), "{rates}");
    let all = ask("rate --phy-rates 1M,6M --full").ok();
    assert!(all.contains("Lab mine.toml has no room of one device"), "{all}");
    write(&far.replace("6M", "1M"));
    let several = ask("fleet");
    assert_eq!(several.status, Some(2));
    let said =
        "the devices of lab mine.toml send in several modes (6M, 1M), and a prediction is of one";
    assert!(several.err.contains(said) && several.err.contains("--phy-rate"), "{}", several.err);
    assert!(ask("fleet --phy-rate 6M").ok().contains(" at 6M, "));
    // One group that encrypts is enough: the messages of a prediction are all alike.
    write(&(far + "[group.firmware]\nencrypted = true\n"));
    let sealed = ask("fleet").ok();
    assert!(sealed.contains("this question sets encryption on (lab: off / on)"), "{sealed}");
}
