//! Updates of a firmware's image beside the document's.

use super::*;

/// The document's time is of its image, and says nothing of another one.
#[test]
fn an_update_of_another_image_has_no_published_time() {
    let published = shipped();
    let is_update = |it: &&Cell| it.id.table == "ota" && it.id.metric == "ota_time";
    let document = published.iter().find(is_update).unwrap();
    let mut ours = Cell { origin: Origin::Simulated, ..document.clone() };
    let of = |ours: &Cell| one(ours, document).verdict.kind();
    assert_ne!(of(&ours), VerdictKind::NotComparable);
    ours.settings.extend([crate::settings::Setting::Image(20_000)]);
    assert_eq!(of(&ours), VerdictKind::NotComparable);
}
