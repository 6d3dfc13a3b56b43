//! Labs, profiles and environments.

use espbench_sim::lab::file::{Constants, FileError, FileKind, Library, Overrides, constants};
use std::sync::LazyLock;

/// Reading the repository's files takes longer than all else.
static BUILT_IN: LazyLock<Library> = LazyLock::new(Library::built_in);

/// Reads a file whose kind the first byte chooses. An error has a place in the text; a file without
/// errors describes a room whose numbers are finite.
pub fn lab_file(data: &[u8]) {
    let [kind, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let kind = FileKind::ALL[usize::from(*kind) % FileKind::ALL.len()];
    let _ = FileKind::of(text);
    let mut library = BUILT_IN.clone();
    if let Err(wrong) = library.add(kind, "any", text) {
        assert!(has_place(&wrong, text), "{wrong}");
        return;
    }
    let all = match kind {
        FileKind::Profile => library.profile("any").map(|it| constants(Constants::Profile(&it))),
        FileKind::Environment => {
            library.environment("any").map(|it| constants(Constants::Environment(&it)))
        }
        FileKind::Lab => {
            variants(&library);
            return room(&library);
        }
    };
    for constant in all.unwrap_or_default() {
        assert!(constant.value.is_none_or(f64::is_finite), "{constant:?}");
    }
}

fn room(library: &Library) {
    let changes = [
        Overrides::default(),
        Overrides {
            devices: Some(7),
            distance_m: Some((1.0, 2.0)),
            encrypted: Some(true),
            profile: Some("esp32c3".into()),
            ..Overrides::default()
        },
    ];
    for change in changes {
        let Ok(scene) = library.scene("any", &change, 1) else { continue };
        assert!(!scene.nodes.is_empty());
        let first = scene.nodes[0].at;
        assert!(scene.nodes.iter().all(|it| it.at.to(first).is_finite()));
        for (from, it) in scene.background.iter().enumerate() {
            let to = it.to.map(usize::from);
            assert!(to.is_none_or(|to| to < scene.background.len() && to != from));
        }
    }
}

/// Checks devices over Wi-Fi: each variant that is read has a device, known numbers, and a heap
/// that its settings fit or do not.
fn variants(library: &Library) {
    for variant in library.variants("any") {
        let Ok(scene) = library.variant_scene("any", variant) else { continue };
        assert!(!scene.devices.is_empty() && scene.variant == variant);
        for device in &scene.devices {
            let memory = &device.profile.memory;
            let left = memory.started(&device.sdk);
            assert!(left.is_none_or(|it| it + memory.fixed(&device.sdk) == memory.heap_bytes));
            assert!(device.sdk.tcp_mss > 0 && device.sdk.tick_hz > 0, "{:?}", device.sdk);
        }
    }
}

fn has_place(wrong: &FileError, text: &str) -> bool {
    let line = text.split('\n').nth(wrong.line.wrapping_sub(1));
    let within = line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&wrong.column));
    within && !wrong.message.is_empty()
}

/// A lab with two nodes whose links a trace drives.
const TRACED: &str = "title = \"t\"\nenvironment = \"office\"\n[link]\ntrace = \"any.csv\"\n\
    [[group]]\nname = \"a\"\nprofile = \"esp32\"\n[[group]]\nname = \"b\"\nprofile = \"esp32c3\"\n";

/// Reads a trace of links. An error has a line; a trace without errors describes a room whose powers
/// are finite.
pub fn link_trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut library = BUILT_IN.clone();
    if let Err(wrong) = library.add_link_trace("any.csv", text) {
        assert!((1..=text.lines().count() + 1).contains(&wrong.line), "{wrong}");
        return;
    }
    library.add(FileKind::Lab, "any", TRACED).expect("the lab is right");
    let Ok(scene) = library.scene("any", &Overrides::default(), 1) else { return };
    for link in scene.survey(1).between {
        assert!(link.strongest_dbm.is_finite() && link.weakest_dbm.is_finite(), "{link:?}");
    }
}
