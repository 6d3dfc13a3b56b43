//! Values of a lab that a plan sets to others than the lab's file.

use super::SuiteError;
use crate::lab::file::Library;
use crate::lab::scene::{Point, Scene};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use espbench_dot11::wifi::DataRates;
use espbench_model::messages::{EspNowMessages, MessagePattern};
use espbench_model::sdkconfig::{Chip, ConfigOption, SdkContext};
use espbench_model::workload::{EspNow, Wifi, Workload};

/// A property of a lab that a plan sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overridden {
    /// Name of the property.
    pub property: &'static str,
    /// Unit of both values; empty where they have none, or bear it.
    pub unit: &'static str,
    /// Value that the plan sets.
    pub plan: String,
    /// Value that the lab's file gives.
    pub lab: String,
}

impl fmt::Display for Overridden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        property(f, (self.property, self.unit), &self.plan, &self.lab)
    }
}

/// Name of the property that says where the devices are.
const DISTANCE: &str = "distance";

/// The properties of one lab that the cells of a plan set, with all values of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabNotice {
    /// Name of the lab.
    pub lab: String,
    /// Each property: its name, its unit, the plan's values, and those of the lab's file.
    pub properties: Vec<(&'static str, &'static str, Vec<String>, Vec<String>)>,
}

impl fmt::Display for LabNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lab: {}; this run sets ", self.lab)?;
        for (at, (name, unit, plan, lab)) in self.properties.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            property(f, (name, unit), &plan.join(" / "), &lab.join(" / "))?;
        }
        Ok(())
    }
}

fn property(
    f: &mut fmt::Formatter<'_>,
    (name, unit): (&str, &str),
    plan: &str,
    lab: &str,
) -> fmt::Result {
    let space = if unit.is_empty() { "" } else { " " };
    write!(f, "{name} {plan}{space}{unit} (lab: {lab})")
}

/// Collects what a cell sets.
struct List(Vec<Overridden>);

impl List {
    fn add(&mut self, (property, unit): (&'static str, &'static str), plan: String, lab: String) {
        self.0.push(Overridden { property, unit, plan, lab });
    }
}

/// Returns what a cell sets of its lab, with the values of the lab's file, whether they differ or not.
/// `named`: whether the user has named the lab; the number of devices, their distance and encryption of a
/// cell of ESP-NOW, which every such cell sets, are told then only.
pub(super) fn of(
    workload: &Workload,
    library: &Library,
    lab: &str,
    named: bool,
) -> Result<Vec<Overridden>, SuiteError> {
    let mut list = List(Vec::new());
    match workload {
        Workload::EspNow(work) if named || !work.lab.is_empty() => {
            let file = library.scene(lab, &Default::default(), 1)?;
            if named {
                esp_now(work, &file, &mut list);
            }
            lab_of_nodes(workload, &file, &mut list);
        }
        Workload::RawEspNow(work) if named || !work.lab.is_empty() => {
            let file = library.scene(lab, &Default::default(), 1)?;
            if named && !work.lab.open.distance {
                let (nearest, farthest) = file.reach_m();
                let metres = f64::from(work.distance_m);
                list.add((DISTANCE, "m"), range(metres, metres), range(nearest, farthest));
            }
            lab_of_nodes(workload, &file, &mut list);
        }
        Workload::EspNowMessages(work) if named || !work.lab.is_empty() => {
            let file = library.scene(lab, &Default::default(), 1)?;
            if named {
                messages(work, &file, &mut list);
            }
            lab_of_nodes(workload, &file, &mut list);
        }
        Workload::Wifi(work) if !work.lab.is_empty() => {
            let file = library.variant_scene(lab, work.variant.as_str())?;
            machines(work, &file, &mut list);
        }
        _ => {}
    }
    Ok(list.0)
}

/// Adds what every cell of ESP-NOW sets.
fn esp_now(work: &EspNow, file: &Scene, list: &mut List) {
    let beside = file.nodes.len().saturating_sub(1);
    if beside > 0 {
        if !work.lab.open.devices {
            list.add(("devices", ""), work.devices.to_string(), beside.to_string());
        }
        let (near, far) = work.distance_m;
        if !work.lab.open.distance {
            let (nearest, farthest) = file.reach_m();
            list.add((DISTANCE, "m"), range(near.into(), far.into()), range(nearest, farthest));
        }
    }
    let encrypted = file.nodes.first().is_some_and(|it| it.settings.encrypt.enabled);
    list.add(("encrypted", ""), work.encrypted.to_string(), encrypted.to_string());
}

/// Adds how many nodes of the lab a cell of messages takes, and how far apart those of a line are.
fn messages(work: &EspNowMessages, file: &Scene, list: &mut List) {
    if !work.lab.open.devices {
        let beside = file.nodes.len().saturating_sub(1);
        list.add(("devices", ""), work.devices.to_string(), beside.to_string());
    }
    if work.pattern == MessagePattern::RelayLine && !work.lab.open.distance {
        let hops = file.nodes.windows(2).map(|it| it[0].at.to(it[1].at));
        let (near, far) = (hops.clone().fold(f64::INFINITY, f64::min), hops.fold(0.0, f64::max));
        let metres = f64::from(work.spacing_m);
        list.add((DISTANCE, "m"), range(metres, metres), range(near, far));
    }
}

fn range(near: f64, far: f64) -> String {
    let round = |metres: f64| libm::round(metres * 1e2) / 1e2;
    let (near, far) = (round(near), round(far));
    if near == far { near.to_string() } else { format!("{near} to {far}") }
}

fn lab_of_nodes(workload: &Workload, file: &Scene, list: &mut List) {
    let set = workload.lab();
    let each = |of: &dyn Fn(&crate::lab::scene::Device) -> String| {
        let mut all: Vec<String> = Vec::new();
        for text in file.nodes.iter().map(of) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all.join(" and ")
    };
    if let Some(name) = &set.profile {
        list.add(("profile", ""), name.as_str().to_owned(), each(&|it| it.profile.name.clone()));
    }
    if let Some(name) = &set.environment {
        let lab = file.environment.name.clone();
        list.add(("environment", ""), name.as_str().to_owned(), lab);
    }
    if let Some(name) = &set.phy_rate {
        list.add(("rate", ""), name.as_str().to_owned(), each(&|it| it.mode.to_string()));
    }
    if let Some(dbm) = set.power_dbm {
        let lab = each(&|it| it.power_dbm.unwrap_or(it.profile.tx_power_dbm).to_string());
        list.add(("power", "dBm"), dbm.to_string(), lab);
    }
    if let Some(mhz) = set.clock_mhz {
        let lab = each(&|it| it.profile.processor.clock_mhz.to_string());
        list.add(("clock", "MHz"), mhz.to_string(), lab);
    }
    if let Some(mhz) = set.idle_clock_mhz {
        let idle = |it: &crate::lab::profile::Profile| it.idle_clock_mhz;
        let lab =
            each(&|it| idle(&it.profile).unwrap_or(it.profile.processor.clock_mhz).to_string());
        list.add(("idle clock", "MHz"), mhz.to_string(), lab);
    }
    for (option, value) in set.sdkconfig.given() {
        let lab = each(&|it| match option {
            ConfigOption::TickHz => {
                (1_000_000_000 / it.settings.tick.period().as_nanos().max(1)).to_string()
            }
            _ => it.profile.tx_buffers.to_string(),
        });
        list.add((option.name(), ""), value.to_string(), lab);
    }
}

fn machines(work: &Wifi, file: &Scene, list: &mut List) {
    let Some(device) = file.devices.first() else { return };
    let set = &work.lab;
    if let Some(count) = set.devices {
        list.add(("devices", ""), count.to_string(), file.measured.to_string());
    }
    if let Some(metres) = set.distance_m {
        let router = file.access_points.get(usize::from(device.access_point.unwrap_or(0)));
        let from = router.map_or_else(Point::default, |it| it.at);
        let far = device.at.to(from);
        list.add((DISTANCE, "m"), range(metres.into(), metres.into()), range(far, far));
    }
    if let Some(name) = &set.profile {
        let lab = device.profile.name.clone();
        list.add(("profile", ""), name.as_str().to_owned(), lab);
    }
    if let Some(name) = &set.environment {
        let lab = file.environment.name.clone();
        list.add(("environment", ""), name.as_str().to_owned(), lab);
    }
    if let Some(name) = &set.phy_rate {
        let lab = match &device.rates {
            DataRates::Fixed(mode) => mode.to_string(),
            DataRates::Adaptive(_) => "adaptive".into(),
        };
        list.add(("rate", ""), name.as_str().to_owned(), lab);
    }
    if let Some(dbm) = set.power_dbm {
        list.add(("power", "dBm"), dbm.to_string(), device.power_dbm.to_string());
    }
    if let Some(mhz) = set.clock_mhz {
        let lab = device.profile.processor.clock_mhz.to_string();
        list.add(("clock", "MHz"), mhz.to_string(), lab);
    }
    if let Some(mhz) = set.idle_clock_mhz {
        let profile = &device.profile;
        let lab = profile.idle_clock_mhz.unwrap_or(profile.processor.clock_mhz).to_string();
        list.add(("idle clock", "MHz"), mhz.to_string(), lab);
    }
    let chip = device.profile.chip.name().parse().unwrap_or(Chip::Esp32);
    let context = device.settings.context(SdkContext { chip, ..SdkContext::default() });
    for (option, value) in set.sdkconfig.given() {
        let text = |value: u32| option.text(value).to_string();
        let lab = text(device.settings.value(option, &context));
        list.add((option.name(), ""), text(value), lab);
    }
}

/// Adds what a cell sets to what other cells of the same lab set.
pub(super) fn note(notices: &mut Vec<LabNotice>, lab: &str, set: Vec<Overridden>) {
    let at = notices.iter().position(|it| it.lab == lab).unwrap_or_else(|| {
        notices.push(LabNotice { lab: lab.to_owned(), properties: Vec::new() });
        notices.len() - 1
    });
    let properties = &mut notices[at].properties;
    for Overridden { property, unit, plan, lab } in set {
        let at = properties.iter().position(|it| it.0 == property).unwrap_or_else(|| {
            properties.push((property, unit, Vec::new(), Vec::new()));
            properties.len() - 1
        });
        let (_, _, plans, labs) = &mut properties[at];
        for (values, value) in [(plans, plan), (labs, lab)] {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
}
