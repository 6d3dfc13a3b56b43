use super::*;
use espbench_model::workload::Name;
use std::collections::BTreeSet;
use std::string::ToString;

#[test]
fn a_field_has_one_name_and_a_set_one_setting_of_a_key() {
    let names: BTreeSet<&str> = SettingKey::ALL.iter().map(|key| key.name()).collect();
    assert_eq!(names.len(), SettingKey::ALL.len());
    let mut settings = Settings::default();
    assert!(settings.is_empty());
    settings.set(Setting::Nagle(true));
    settings.set(Setting::Qos(1));
    settings.set(Setting::Nagle(false));
    assert_eq!(settings.iter().count(), 2);
    assert!(settings.has(&Setting::Nagle(false)) && !settings.has(&Setting::Nagle(true)));
    assert_eq!(settings.without(&[SettingKey::Qos]), settings.only(&[SettingKey::Nagle]));
    assert_eq!(settings.lab_variant(), None);
    let named = settings.clone().with(Setting::LabVariant(Name::new("home").unwrap()));
    assert_eq!(named.lab_variant().map(Name::as_str), Some("home"));
    assert_eq!(Settings::shared([&settings, &named].into_iter()), settings);
    assert_eq!(Settings::shared(core::iter::empty()), Settings::default());
}

#[test]
fn fields_that_are_not_known_or_of_another_type_are_refused() {
    let error = |json: &str| serde_json::from_str::<Settings>(json).unwrap_err().to_string();
    assert!(error("{\"nagel\": true}").starts_with("no setting `nagel`"));
    assert!(error("{\"nagle\": 1}").starts_with("the setting `nagle` cannot be 1"));
    assert!(error("{\"qos\": 300}").starts_with("the setting `qos` cannot be"));
    assert!(error("{\"interval_s\": -1.5}").starts_with("the setting `interval_s` cannot be"));
    assert!(error("{\"direction\": \"up\"}").starts_with("the setting `direction` cannot be"));
    // A whole number is a number.
    let rate: Settings = serde_json::from_str("{\"offered_per_s\": 100}").unwrap();
    assert!(rate.has(&Setting::Offered(100.0)));
}
