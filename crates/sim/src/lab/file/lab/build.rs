//! A lab, or one of its variants, to a scene.

use super::super::block::TomlText;
use super::super::link_trace::LinkTraceTable;
use super::super::wrong::{FileError, hint};
use super::super::{Library, Overrides, Surroundings};
use super::LabFile;
use super::device::DeviceTable;
use super::keys::{MOST_DEVICES, ROLES, SECURITIES};
use super::layer::{DEVICE_TABLE, Layer, Layers};
use crate::lab::scene::{
    AccessPoint, Background, Columns, Environment, LinkTrace, NetDevice, NetRole, Pc, PcLink,
    Point, Scene,
};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_dot11::wifi::WifiSecurity;

/// A lab, one of its variants, what a test or a plan changes of it, and where to look up what they name.
pub(in super::super) struct Build<'l> {
    pub(in super::super) library: &'l Library,
    pub(in super::super) lab: &'l str,
    /// The name of the variant; empty for a lab without.
    pub(in super::super) variant: &'l str,
    pub(in super::super) file: &'l LabFile,
    pub(in super::super) text: TomlText<'l>,
    pub(in super::super) change: &'l Overrides,
    /// The seed of places in a lab without variants.
    pub(in super::super) seed: u64,
}

/// The network that devices are placed in: routers of one LAN, and the PC.
#[derive(Clone, Copy, Default)]
pub(super) struct NetworkEnds<'n> {
    pub(super) routers: &'n [AccessPoint],
    pub(super) pc: Option<&'n Pc>,
}

impl NetworkEnds<'_> {
    /// Returns the place that distances are counted from: a router, or the PC where there is none.
    pub(super) fn origin(self, router: Option<&AccessPoint>) -> Point {
        match (router, self.pc.map(|it| &it.link)) {
            (Some(router), _) => router.at,
            (None, Some(PcLink::Air(dongle))) => dongle.at,
            (None, Some(PcLink::Wire { .. }) | None) => Point::default(),
        }
    }
}

/// The seed of places in a lab with variants, and the number of the first of its groups: `[device]` and
/// `[other]` come before.
const PLACES: u64 = 1;
const FIRST_GROUP: u32 = 2;
/// The most names of stations in an error.
const MOST_HINTS: usize = 12;
pub(super) static NOTHING: Layer = Layer::NOTHING;

impl Build<'_> {
    /// Returns the scene.
    pub(in super::super) fn scene(&self) -> Result<Scene, FileError> {
        let scene = self.scene_without_trace()?;
        self.with_trace(scene)
    }

    /// Returns the scene with the links that a trace drives.
    fn with_trace(&self, scene: Scene) -> Result<Scene, FileError> {
        let Some(LinkTraceTable { trace: (name, at), frame }) = &self.file.link else {
            return Ok(scene);
        };
        let Some(trace) = self.library.link_traces.get(name) else {
            return Err(self.text.wrong(*at, format!("`trace`: there is no file `{name}` here")));
        };
        let names = scene.names();
        let ends = trace.links.keys().flat_map(|(from, to)| [from, to]);
        if let Some(unknown) = ends.into_iter().find(|end| !names.contains(end)) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = hint(unknown, known.get(..known.len().min(MOST_HINTS)).unwrap_or_default());
            let message = format!("no station of this lab is called `{unknown}`{hint}");
            return Err(FileError::whole(name.as_str(), message));
        }
        let trace = LinkTrace { frame: *frame, ..LinkTrace::clone(trace) };
        Ok(Scene { link_trace: Some(Arc::new(trace)), ..scene })
    }

    fn scene_without_trace(&self) -> Result<Scene, FileError> {
        let named = |it| FileError { file: self.text.file.into(), ..it };
        let layers = self.file.layers(self.variant).map_err(named)?;
        if self.is_of_nodes() {
            let nodes = self.nodes(layers, NetworkEnds::default())?;
            return Ok(Scene { nodes, ..self.place(layers)? });
        }
        let role = ROLE[layers.word("device", "role")];
        let access_points = match role {
            NetRole::SoftAp => Vec::new(),
            NetRole::Station | NetRole::Alone => self.access_points(layers)?,
        };
        let pc = self.pc(layers, access_points.first())?;
        let ends = NetworkEnds { routers: &access_points, pc: Some(&pc) };
        let (devices, measured) = self.devices(layers, ends)?;
        let nodes = self.nodes(layers, ends)?;
        let place = self.place(layers)?;
        let security = SECURITY[match layers.find("", "security") {
            Some(_) => layers.word("", "security"),
            None => 1,
        }];
        let word = |key, usual: &str| String::from(layers.text("", key).unwrap_or(usual));
        Ok(Scene {
            variant: self.variant.into(),
            columns: Columns {
                mode: word("column_mode", ROLES[role as usize]),
                security: word("column_security", SECURITIES[security as usize]),
                environment: word("column_environment", &place.environment.name),
            },
            security,
            access_points,
            devices,
            measured,
            pc: Some(pc),
            nodes,
            ..place
        })
    }

    /// Returns whether the lab has no variants: all its devices are nodes of ESP-NOW.
    pub(super) fn is_of_nodes(&self) -> bool {
        self.variant.is_empty()
    }

    /// Returns the room without our devices.
    fn place(&self, layers: Layers<'_>) -> Result<Scene, FileError> {
        let Surroundings { environment, background, .. } = self.surroundings(layers)?;
        let environment = Environment { barriers: self.file.barriers.clone(), ..environment };
        let mut sources = layers.sources();
        sources.extend(self.file.sources.iter().cloned());
        Ok(Scene {
            title: layers.text("", "title").unwrap_or(&self.file.title).into(),
            routers: self.beacons(layers)?,
            background: joined(background, &self.file.background),
            sources,
            ..Scene::new(self.lab, environment)
        })
    }

    /// Returns an error at a key, with the name of the variant.
    pub(super) fn wrong(
        &self,
        layers: Layers<'_>,
        table: &str,
        key: &str,
        message: impl AsRef<str>,
    ) -> FileError {
        let colon = if self.variant.is_empty() { "" } else { ": " };
        let message = format!("{}{colon}{}", self.variant, message.as_ref());
        self.text.wrong(layers.at(table, key), message)
    }

    fn surroundings(&self, layers: Layers<'_>) -> Result<Surroundings, FileError> {
        if let Some(name) = &self.change.environment {
            return self.library.environment(name);
        }
        let Some(name) = layers.text("", "environment") else {
            return Err(self.wrong(layers, "", "environment", "`environment` is missing"));
        };
        // A name that is not known is shown where the lab gives it.
        let missing =
            |it: FileError| self.text.wrong(layers.at("", "environment"), format!("{it}"));
        self.library.environment(name).map_err(missing)
    }

    /// Returns the devices that speak IP, and how many of them are measured.
    fn devices(
        &self,
        layers: Layers<'_>,
        ends: NetworkEnds<'_>,
    ) -> Result<(Vec<NetDevice>, u16), FileError> {
        let random = |number| RngStream::stream(PLACES, number, Purpose::Place);
        let mut devices = self.table(layers, DEVICE_TABLE, "device").devices(ends, random(0))?;
        let measured = devices.len() as u16;
        if measured == 0 {
            let message = "`count`: at least one device is measured";
            return Err(self.wrong(layers, DEVICE_TABLE, "count", message));
        }
        let soft_ap = |it: &NetDevice| it.role == NetRole::SoftAp;
        if layers.has("other") {
            devices.extend(self.table(layers, "other", "other").devices(ends, random(1))?);
        }
        if devices.iter().skip(1).any(soft_ap) {
            let message = "only the measured device can be the access point";
            return Err(self.wrong(layers, "other", "role", message));
        }
        for (number, name) in (FIRST_GROUP..).zip(layers.parts(DEVICE_TABLE)) {
            let layer = layers.part(DEVICE_TABLE, name);
            let own = Layers { variant: &layer, lab: &NOTHING };
            let table = self.table(own, DEVICE_TABLE, name);
            if table.runs_esp_now() {
                continue;
            }
            let group = table.devices(ends, random(number))?;
            if group.iter().any(soft_ap) {
                let message = "only the measured device can be the access point";
                return Err(self.wrong(own, DEVICE_TABLE, "role", message));
            }
            devices.extend(group);
            if devices.len() > MOST_DEVICES {
                let message = format!("with it there are more than {MOST_DEVICES} devices");
                return Err(self.wrong(own, DEVICE_TABLE, "count", message));
            }
        }
        Ok((devices, measured))
    }

    /// Returns what draws the places of a group: the number is that among all groups.
    pub(super) fn group_places(&self, number: u32) -> RngStream {
        let (seed, first) = if self.is_of_nodes() { (self.seed, 0) } else { (PLACES, FIRST_GROUP) };
        RngStream::stream(seed, first + number, Purpose::Place)
    }

    pub(super) fn table<'b>(
        &'b self,
        layers: Layers<'b>,
        table: &'static str,
        name: &str,
    ) -> DeviceTable<'b> {
        DeviceTable { build: self, layers, table, name: name.into() }
    }
}

pub(super) const ROLE: [NetRole; 3] = [NetRole::Station, NetRole::SoftAp, NetRole::Alone];
const SECURITY: [WifiSecurity; 3] = [WifiSecurity::Open, WifiSecurity::Wpa2, WifiSecurity::Wpa3];

/// Returns the stations of the environment, then those of the lab, whose partners are counted on.
fn joined(mut first: Vec<Background>, more: &[Background]) -> Vec<Background> {
    let before = first.len() as u16;
    first
        .extend(more.iter().map(|it| Background { to: it.to.map(|to| to + before), ..it.clone() }));
    first
}
