use super::*;
use espbench_sim::lab::file::{FileKind, Library, Overrides};

fn with<T>(lab: &str, change: &Overrides, use_it: impl FnOnce(&Room<'_>) -> T) -> T {
    let scene = Library::built_in().scene(lab, change, 1).unwrap();
    let survey = scene.survey(1);
    use_it(&Room { scene: &scene, survey: &survey, seed: 1 })
}

#[test]
fn rooms_as_text() {
    let change = Overrides { devices: Some(12), ..Overrides::default() };
    let all: String = ["provisioning", "ota"].map(|lab| with(lab, &change, text)).concat();
    insta::assert_snapshot!(all);
}

#[test]
fn hidden_nodes_are_named() {
    let mut library = Library::built_in();
    let far = |name: &str, x: i32| {
        format!(
            "[[group]]\nname = \"{name}\"\nprofile = \"esp32\"\npower_dbm = 0\nat = [{x}, 0, 0]\n"
        )
    };
    let text = format!(
        "title = \"Three in a row\"\nenvironment = \"free-space\"\n{}{}{}",
        far("middle", 0),
        far("left", -900),
        far("right", 900)
    );
    library.add(FileKind::Lab, "row", &text).unwrap();
    let scene = library.scene("row", &Overrides::default(), 1).unwrap();
    let survey = scene.survey(1);
    let room = Room { scene: &scene, survey: &survey, seed: 1 };
    let said = super::text(&room);
    assert!(said.contains("1 pairs of devices cannot read each other: 1-2."), "{said}");
    assert!(svg(&room).contains("1 and 2 cannot read each other"));
}

#[test]
fn every_built_in_lab_is_drawn_within_its_frame() {
    let library = Library::built_in();
    // A lab of variants over Wi-Fi has no room of groups; `lab show` tells it as tables.
    let rooms: Vec<_> =
        library.names(FileKind::Lab).filter(|lab| library.variants(lab).is_empty()).collect();
    assert!(rooms.len() >= 5, "{rooms:?}");
    for lab in rooms {
        with(lab, &Overrides::default(), |room| {
            let drawn = [svg(room), html(room)];
            for text in &drawn {
                let named = text.contains(&room.scene.name);
                assert!(named && !text.contains("NaN") && !text.contains("inf"), "{lab}");
                for x in text.split("<text x=\"").skip(1) {
                    let x: f64 = x.split('"').next().unwrap().parse().unwrap();
                    assert!((0.0..=480.0).contains(&x), "{lab} {x}");
                }
            }
            let lines: Vec<_> = super::text(room).lines().map(|it| it.chars().count()).collect();
            assert!(lines.iter().all(|long| *long <= 130), "{lab}");
        });
    }
}

#[test]
fn names_cannot_break_the_drawing() {
    let mut library = Library::built_in();
    let text = "title = \"<b>\\u001b\"\nenvironment = \"free-space\"\n\
        [[group]]\nname = \"</svg>\"\nprofile = \"esp32\"\n";
    library.add(FileKind::Lab, "evil", text).unwrap();
    let scene = library.scene("evil", &Overrides::default(), 1).unwrap();
    let survey = scene.survey(1);
    let room = Room { scene: &scene, survey: &survey, seed: 1 };
    assert!(!svg(&room).contains("<b>") && svg(&room).matches("</svg>").count() == 1);
    assert!(!super::text(&room).contains('\u{1b}'));
}

#[test]
fn long_tables_are_cut_and_say_so() {
    let mut library = Library::built_in();
    let mut text = String::from("title = \"t\"\nenvironment = \"free-space\"\n");
    for number in 0..30 {
        text += &format!(
            "[[group]]\nname = \"g{number}\"\nprofile = \"esp32\"\nat = [{number}, 0, 0]\n"
        );
    }
    library.add(FileKind::Lab, "many", &text).unwrap();
    let scene = library.scene("many", &Overrides::default(), 1).unwrap();
    let survey = scene.survey(1);
    let room = Room { scene: &scene, survey: &survey, seed: 1 };
    // 30 groups hear 29 others each.
    assert!(super::text(&room).contains("Left out: 570 more rows."));
    assert!(html(&room).contains("Left out: 570 more rows."));
}
