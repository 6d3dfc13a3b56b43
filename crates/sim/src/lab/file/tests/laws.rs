//! Laws that hold for any text.

use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

fn kinds() -> impl Strategy<Value = FileKind> {
    prop_oneof![Just(FileKind::Profile), Just(FileKind::Environment), Just(FileKind::Lab)]
}

/// Read once for all cases.
static BUILT_IN: LazyLock<Library> = LazyLock::new(Library::built_in);

/// Makes a built-in file with a part replaced.
fn spoiled() -> impl Strategy<Value = (FileKind, String)> {
    let words = prop_oneof![
        Just(String::new()),
        "[-0-9.e_]{1,8}",
        "[a-z_]{1,8} = [0-9]{1,4}\n",
        Just("\"x\"".to_string()),
        Just("[[group]]\n".to_string()),
        Just("[1, 2, 3]".to_string()),
        ".{1,4}",
    ];
    (0..built_in::FILES.len(), any::<(prop::sample::Index, prop::sample::Index)>(), words).prop_map(
        |(file, (from, length), word)| {
            let (kind, _, text) = built_in::FILES[file];
            let chars: Vec<char> = text.chars().collect();
            let from = from.index(chars.len());
            let to = (from + length.index(30)).min(chars.len());
            let spoiled = chars[..from].iter().copied().chain(word.chars());
            (kind, spoiled.chain(chars[to..].iter().copied()).collect())
        },
    )
}

/// Returns whether an error shows a place in the text.
fn has_place(wrong: &FileError, text: &str) -> bool {
    let line = text.split('\n').nth(wrong.line.wrapping_sub(1));
    let within = line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&wrong.column));
    within && !wrong.message.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_read_or_refused_with_a_place(kind in kinds(), text in "(.|\n){0,200}") {
        if let Err(wrong) = Library::new().add(kind, "any", &text) {
            prop_assert!(has_place(&wrong, &text), "{wrong}");
        }
    }

    #[test]
    fn a_spoiled_file_is_refused_with_a_place_or_makes_a_room((kind, text) in spoiled()) {
        let mut library = BUILT_IN.clone();
        match library.add(kind, "any", &text) {
            Err(wrong) => prop_assert!(has_place(&wrong, &text), "{wrong}"),
            Ok(()) if kind == FileKind::Lab => {
                for variant in library.variants("any") {
                    if let Ok(scene) = library.variant_scene("any", variant) {
                        prop_assert!(!scene.devices.is_empty() && scene.variant == variant);
                    }
                }
                if let Ok(scene) = library.scene("any", &Overrides::default(), 1) {
                    prop_assert!(!scene.nodes.is_empty());
                    prop_assert!(scene.nodes.iter().all(|it| it.at.to(it.at) == 0.0));
                }
            }
            Ok(()) => {}
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_places(seed: u64, devices in 1_u16..150, metres in 0.0..30.0_f64) {
        let library = BUILT_IN.clone();
        let change = Overrides {
            devices: Some(devices),
            distance_m: Some((metres, metres)),
            ..Overrides::default()
        };
        let places = || -> Vec<_> {
            let scene = library.scene("ota", &change, seed).unwrap();
            scene.nodes.iter().map(|it| it.at).collect()
        };
        let (once, again) = (places(), places());
        prop_assert_eq!(&once, &again);
        let away: Vec<f64> = once[1..].iter().map(|it| it.to(once[0])).collect();
        prop_assert!(away.iter().all(|it| (it - metres).abs() <= 0.25 + 1e-9), "{:?}", away);
    }
}
