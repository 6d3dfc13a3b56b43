//! Settings that a question gives to a lab in place of those of its file.

use super::Predictor;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use espbench_measure::predict::{PredictAnswer, PredictQuestion};
use espbench_sim::lab::file::{FileError, Overrides};
use espbench_sim::lab::scene::Device;
use espbench_sim::lab::suite::Overridden;

impl Predictor {
    /// Returns each property that the question sets to another value than the lab's file, in words. What an answer
    /// compares or looks for is not among them.
    ///
    /// # Errors
    /// The mistake in the lab.
    pub fn set_of_lab(&self, answer: &PredictAnswer) -> Result<Vec<String>, FileError> {
        let file = self.library.scene(&self.setup.lab, &Overrides::default(), self.setup.seed)?;
        let mut list = Vec::new();
        let mut add = |property, unit, plan: Vec<String>, lab: Vec<String>| {
            let (plan, lab) = (distinct(plan), distinct(lab));
            if !plan.is_empty() && plan != lab {
                list.push(Overridden { property, unit, plan, lab }.to_string());
            }
        };
        let points =
            |of: &dyn Fn(&_) -> String| answer.points.iter().map(|it| of(&it.setting)).collect();
        let is_of_fleet = matches!(
            answer.question,
            PredictQuestion::Fleet | PredictQuestion::Rate | PredictQuestion::Profiles
        );
        // Several numbers are what is compared.
        let has_one_number =
            answer.points.windows(2).all(|it| it[0].setting.devices == it[1].setting.devices);
        if is_of_fleet && has_one_number {
            let beside = vec![self.own_devices().to_string()];
            add("devices", "", points(&|it| it.devices.to_string()), beside);
        }
        let has_one_rate = matches!(
            answer.question,
            PredictQuestion::Fleet | PredictQuestion::LargestFleet(_) | PredictQuestion::Profiles
        );
        if has_one_rate {
            let modes = file.nodes.iter().skip(1).map(|it| it.mode.to_string()).collect();
            add("rate", "", points(&|it| it.rate.clone()), modes);
        }
        let encryption = |it: bool| String::from(if it { "on" } else { "off" });
        let of_file = file.nodes.iter().map(|it| encryption(it.settings.encrypt.enabled)).collect();
        add("encryption", "", vec![encryption(self.setup.encrypted)], of_file);
        if let Some(asked) = self.setup.distance_m {
            add("distance", "m", vec![metres(asked)], vec![metres(file.reach_m())]);
        }
        if self.setup.profile.is_some() && answer.question != PredictQuestion::Profiles {
            add("profile", "", profiles(&self.scene.nodes), profiles(&file.nodes));
        }
        if self.setup.channel.is_some() {
            let channels = file.nodes.iter().map(|it| it.channel.to_string()).collect();
            add("channel", "", vec![self.channel().to_string()], channels);
        }
        Ok(list)
    }
}

/// Returns the profile of each device.
fn profiles(devices: &[Device]) -> Vec<String> {
    devices.iter().map(|it| it.profile.name.clone()).collect()
}

/// Returns the values that differ, in their order.
fn distinct(values: Vec<String>) -> String {
    let mut list: Vec<String> = Vec::new();
    for value in values {
        if !list.contains(&value) {
            list.push(value);
        }
    }
    list.join(" / ")
}

/// Returns a distance, or the nearest and the farthest.
fn metres((near, far): (f64, f64)) -> String {
    if near == far { near.to_string() } else { format!("{near} to {far}") }
}
