//! The list of ports, of a machine that has some: a tree as Linux shows it in `/sys`, mounted over the
//! real one in a namespace of the test's own.

use crate::util::{Ran, TestDir};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A USB device in the tree: its folder, ids, product, serial number and place.
struct UsbNode {
    folder: &'static str,
    ids: [&'static str; 2],
    product: &'static str,
    serial: Option<&'static str>,
    place: [&'static str; 2],
}

/// Writes the tree of a machine with these ports: the name of the terminal, its subsystem (`usb` of a
/// CDC device, `usb-serial` of a bridge) and its device.
fn write(root: &Path, ports: &[(&str, &str, UsbNode)]) {
    let file = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let link = |to: &Path, at: &Path| {
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, at).unwrap();
    };
    std::fs::create_dir_all(root.join("tty")).unwrap();
    for (name, subsystem, usb) in ports {
        let device = root.join("devices").join(usb.folder);
        file(&device.join("idVendor"), &format!("{}\n", usb.ids[0]));
        file(&device.join("idProduct"), &format!("{}\n", usb.ids[1]));
        file(&device.join("product"), &format!("{}\n", usb.product));
        file(&device.join("busnum"), &format!("{}\n", usb.place[0]));
        file(&device.join("devpath"), &format!("{}\n", usb.place[1]));
        if let Some(serial) = usb.serial {
            file(&device.join("serial"), &format!("{serial}\n"));
        }
        let interface = device.join(format!("{}:1.0", usb.folder));
        let own = if *subsystem == "usb-serial" { interface.join(name) } else { interface };
        std::fs::create_dir_all(&own).unwrap();
        let bus = root.join("bus").join(subsystem);
        std::fs::create_dir_all(&bus).unwrap();
        link(&bus, &own.join("subsystem"));
        link(&own, &root.join("tty").join(name).join("device"));
        file(&root.join("dev").join(name), "");
    }
    // A terminal without a device, as every machine has.
    std::fs::create_dir_all(root.join("tty/tty1")).unwrap();
}

/// Runs `espbench board list` on a machine with this tree.
fn list(bench: &TestDir, root: &Path, flags: &str) -> Ran {
    let script = format!(
        "mount --bind {root}/tty /sys/class/tty; mkdir -p {root}/dev; touch {root}/dev/null; \
         mount --bind /dev/null {root}/dev/null; mount --rbind {root}/dev /dev; \
         exec {espbench} board list {flags}",
        root = root.display(),
        espbench = env!("CARGO_BIN_EXE_espbench"),
    );
    let mut command = Command::new("unshare");
    command
        .args(["-r", "-m", "sh", "-euc", &script])
        .env("ESPBENCH_STORE", bench.store())
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
    Ran::of(&mut command)
}

#[test]
#[cfg(target_os = "linux")]
fn ports_are_listed_with_what_their_usb_ids_mean() {
    // Another /dev is mounted over that of the machine, where a temporary folder may be.
    let bench = TestDir { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
    let root = bench.path("machine");
    let bridge = |folder, product_id, product, place| UsbNode {
        folder,
        ids: ["1a86", product_id],
        product,
        serial: None,
        place,
    };
    let jtag = UsbNode {
        folder: "1-2",
        ids: ["303a", "1001"],
        product: "USB JTAG/serial debug unit",
        serial: Some("60:55:F9:00:00:01"),
        place: ["1", "2"],
    };
    let other = UsbNode {
        folder: "1-7",
        ids: ["2341", "0043"],
        product: "Arduino Uno",
        serial: None,
        place: ["1", "7"],
    };
    let ports = [
        ("ttyUSB10", "usb-serial", bridge("1-4.3", "7523", "USB Serial", ["1", "4.3"])),
        ("ttyUSB9", "usb-serial", bridge("1-4.2", "55d4", "USB Single Serial", ["1", "4.2"])),
        ("ttyACM0", "usb", jtag),
        ("ttyACM1", "usb", other),
    ];
    write(&root, &ports);
    let csv = list(&bench, &root, "--format csv").ok();
    let expected = "\
port,usb,bridge,reset,product,serial,location
/dev/ttyACM0,303a:1001,usb-serial-jtag,usb-serial-jtag,USB JTAG/serial debug unit,60:55:F9:00:00:01,1-2
/dev/ttyUSB9,1a86:55d4,ch34x,classic,USB Single Serial,,1-4.2
/dev/ttyUSB10,1a86:7523,ch34x,classic,USB Serial,,1-4.3
/dev/ttyACM1,2341:0043,,,Arduino Uno,,1-7
";
    assert_eq!(csv, expected);
    let text = list(&bench, &root, "").ok();
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.ends_with('\n'), "{text}");
    assert!(text.lines().all(|it| it.chars().count() <= 100), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_ports_says_so_and_its_json_is_an_empty_array() {
    let bench = TestDir::new();
    let root = bench.path("machine");
    write(&root, &[]);
    let text = list(&bench, &root, "");
    assert_eq!((text.status, text.out.as_str()), (Some(0), ""));
    assert!(text.err.contains("no serial ports"), "{}", text.err);
    assert_eq!(list(&bench, &root, "--format json").ok(), "[]\n");
}
