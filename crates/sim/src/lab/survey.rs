//! Survey of a scene before anything is sent: who hears whom, for drawing the room.

use super::radio::{StationRadio, arriving};
use super::scene::{Scene, TracedLinks};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use espbench_dot11::radio::{
    Channel, ErrorModelDecoder, ErrorTable, Overlap, RadioChip, WifiMode, receiver,
};

/// Stations that are surveyed: each is held against each.
pub const MOST_STATIONS: usize = 1000;

/// Pairs that are named.
const MOST_NAMED: usize = 12;

/// Kind of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StationKind {
    /// A device.
    Device,
    /// An access point.
    Router,
    /// A station of other people.
    Background,
}

/// Stations alike: a group of devices, or one other station.
#[derive(Clone, Debug, PartialEq)]
pub struct StationGroup {
    /// Name in the lab.
    pub name: String,
    /// Kind of the stations.
    pub kind: StationKind,
    /// Their numbers.
    pub stations: Range<u32>,
    /// Their channel.
    pub channel: u8,
    /// Mode in which they send.
    pub mode: WifiMode,
    /// The nearest and the farthest from the initiator, in metres.
    pub away_m: (f64, f64),
}

/// Signals of one group at another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupLink {
    /// The senders: an index of [`Survey::groups`].
    pub from: usize,
    /// The hearers.
    pub to: usize,
    /// Pairs of them.
    pub pairs: u32,
    /// The least power that arrives, in dBm.
    pub weakest_dbm: f64,
    /// The most.
    pub strongest_dbm: f64,
    /// Pairs where the hearer cannot read what the sender sends.
    pub unread: u32,
}

/// Links of a scene: who hears whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Everybody.
    pub groups: Vec<StationGroup>,
    /// Signals at devices, and signals of devices at routers.
    pub between: Vec<GroupLink>,
    /// Pairs of devices that cannot read each other, in one direction at least.
    pub deaf: u32,
    /// Pairs of devices that both reach the initiator and do not find the medium busy while the
    /// other sends: hidden nodes.
    pub hidden: u32,
    /// Groups of devices, and routers that they would not find: their scan leaves that channel out.
    pub unscanned: Vec<(usize, usize)>,
    /// The first of the deaf and the hidden pairs.
    pub named: Vec<(u32, u32)>,
    /// Stations that were left out because there are too many.
    pub left_out: u32,
}

/// The way of a frame.
struct SurveyLinks<'s> {
    scene: &'s Scene,
    radios: Vec<StationRadio>,
    room: super::radio::RoomLoss,
    traced: Option<TracedLinks>,
    overlap: Overlap,
    /// The weakest frame of each mode that each kind of chip reads, in dBm.
    found: Vec<(RadioChip, [f64; WifiMode::COUNT])>,
}

impl<'s> SurveyLinks<'s> {
    fn new(scene: &'s Scene, seed: u64) -> Self {
        let mut radios = scene.radios(seed);
        let traced = scene.traced_links(&radios);
        radios.truncate(MOST_STATIONS);
        let errors = ErrorTable::shared();
        let mut chips: Vec<RadioChip> = Vec::new();
        for radio in &radios {
            if !chips.contains(&radio.chip) {
                chips.push(radio.chip);
            }
        }
        let found = chips.into_iter().map(|chip| {
            let reader = ErrorModelDecoder::new(errors.clone(), receiver::Receiver::of(chip));
            (chip, WifiMode::ALL.map(|mode| reader.found_dbm(mode)))
        });
        let found = found.collect();
        let (room, overlap) = (scene.environment.losses(seed), Overlap::new());
        Self { scene, radios, room, traced, overlap, found }
    }

    fn dbm(&self, from: u32, to: u32, mode: WifiMode) -> f64 {
        let (sender, hearer) = (&self.radios[from as usize], &self.radios[to as usize]);
        let traced = self.traced.as_ref().and_then(|it| it.most_dbm(from, to));
        let dbm = traced.unwrap_or_else(|| arriving(&self.room, (from, sender), (to, hearer)));
        dbm - sender.output.below_db(mode)
    }

    /// Returns whether the hearer can read frames of that power.
    fn reads(&self, from: u32, to: u32, mode: WifiMode, dbm: f64) -> bool {
        let (sender, hearer) = (&self.radios[from as usize], &self.radios[to as usize]);
        let channels = Channel::of(sender.channel).zip(Channel::of(hearer.channel));
        let Some((one, other)) = channels else { return false };
        let passed = self.overlap.readable_db(mode, one.apart_mhz(other));
        let found = self.found.iter().find(|(chip, _)| *chip == hearer.chip);
        passed.zip(found).is_some_and(|(db, (_, found))| dbm + db >= found[mode.index()])
    }

    fn device_mode(&self, device: u32) -> WifiMode {
        self.scene.nodes[device as usize].mode
    }
}

impl Scene {
    /// Surveys who hears whom, with the shadowing of this seed.
    #[must_use]
    pub fn survey(&self, seed: u64) -> Survey {
        let ways = SurveyLinks::new(self, seed);
        let groups = self.groups(ways.radios.len() as u32);
        let mut between = Vec::new();
        for (from, sender) in groups.iter().enumerate() {
            for (to, hearer) in groups.iter().enumerate() {
                let told = match (sender.kind, hearer.kind) {
                    (_, StationKind::Device) => true,
                    (StationKind::Device, StationKind::Router) => sender.channel == hearer.channel,
                    _ => false,
                };
                if told {
                    between.extend(link(&ways, (from, sender), (to, hearer)));
                }
            }
        }
        let left_out = (self.stations() - ways.radios.len()) as u32;
        let unscanned = self.unscanned(&groups);
        let named = Vec::new();
        let mut survey = Survey { groups, between, deaf: 0, hidden: 0, unscanned, named, left_out };
        survey.pairs(&ways);
        survey
    }

    fn unscanned(&self, groups: &[StationGroup]) -> Vec<(usize, usize)> {
        let of = |kind| groups.iter().enumerate().filter(move |(_, it)| it.kind == kind);
        let mut pairs = Vec::new();
        for (number, group) in of(StationKind::Device) {
            let settings = &self.nodes[group.stations.start as usize].settings;
            let channels = settings.country.scanned(settings.compat.idf);
            let routers = of(StationKind::Router).filter(|(_, it)| !channels.contains(&it.channel));
            pairs.extend(routers.map(|(router, _)| (number, router)));
        }
        pairs
    }

    /// Returns the devices by group, then the others one by one, up to a number of stations.
    fn groups(&self, stations: u32) -> Vec<StationGroup> {
        let origin = self.nodes.first().map(|it| it.at).unwrap_or_default();
        let mut groups: Vec<StationGroup> = Vec::new();
        let mut add = |name: &str, kind, at: super::scene::Point, channel, mode, number: u32| {
            let away = at.to(origin);
            match groups.last_mut() {
                Some(last) if kind == StationKind::Device && last.name == name => {
                    last.stations.end = number + 1;
                    last.away_m = (last.away_m.0.min(away), last.away_m.1.max(away));
                }
                _ => groups.push(StationGroup {
                    name: name.into(),
                    kind,
                    stations: number..number + 1,
                    channel,
                    mode,
                    away_m: (away, away),
                }),
            }
        };
        let mut numbers = 0..stations;
        for (it, number) in self.nodes.iter().zip(numbers.by_ref()) {
            add(&it.group, StationKind::Device, it.at, it.channel, it.mode, number);
        }
        // Beacons are sent as ESP-NOW is, at 1 Mbit/s.
        for (it, number) in self.routers.iter().zip(numbers.by_ref()) {
            add(&it.name, StationKind::Router, it.at, it.channel, WifiMode::ESP_NOW, number);
        }
        for (it, number) in self.background.iter().zip(numbers) {
            add(&it.name, StationKind::Background, it.at, it.channel, it.mode, number);
        }
        groups
    }
}

/// Returns all links from one group to another.
fn link(
    ways: &SurveyLinks<'_>,
    from: (usize, &StationGroup),
    to: (usize, &StationGroup),
) -> Option<GroupLink> {
    let mut it = GroupLink {
        from: from.0,
        to: to.0,
        pairs: 0,
        weakest_dbm: f64::INFINITY,
        strongest_dbm: f64::NEG_INFINITY,
        unread: 0,
    };
    let mode = from.1.mode;
    for sender in from.1.stations.clone() {
        for hearer in to.1.stations.clone().filter(|&hearer| hearer != sender) {
            let dbm = ways.dbm(sender, hearer, mode);
            it.pairs += 1;
            it.weakest_dbm = it.weakest_dbm.min(dbm);
            it.strongest_dbm = it.strongest_dbm.max(dbm);
            it.unread += u32::from(!ways.reads(sender, hearer, mode, dbm));
        }
    }
    (it.pairs > 0).then_some(it)
}

impl Survey {
    /// Adds the pairs of devices.
    fn pairs(&mut self, ways: &SurveyLinks<'_>) {
        let devices = ways.scene.nodes.len().min(ways.radios.len()) as u32;
        let energy = ways.scene.environment.energy_dbm;
        let way = |from, to| {
            let mode = ways.device_mode(from);
            let dbm = ways.dbm(from, to, mode);
            (ways.reads(from, to, mode, dbm), dbm)
        };
        let reaches: Vec<bool> = (0..devices).map(|it| it > 0 && way(it, 0).0).collect();
        for one in 0..devices {
            for other in one + 1..devices {
                let ((there, dbm), (back, _)) = (way(one, other), way(other, one));
                let same = ways.radios[one as usize].channel == ways.radios[other as usize].channel;
                let deaf = same && !(there && back);
                let hidden = deaf
                    && reaches[one as usize]
                    && reaches[other as usize]
                    && !(there || back)
                    && dbm < energy;
                self.deaf += u32::from(deaf);
                self.hidden += u32::from(hidden);
                if deaf && self.named.len() < MOST_NAMED {
                    self.named.push((one, other));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::file::{FileKind, Library, Overrides};

    fn survey(groups: &str) -> Survey {
        let text = alloc::format!(
            "title = \"t\"\nenvironment = \"free-space\"\n\
             [[group]]\nname = \"i\"\nprofile = \"esp32\"\npower_dbm = 0\n{groups}"
        );
        let mut library = Library::built_in();
        library.add(FileKind::Lab, "mine", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        library.scene("mine", &Overrides::default(), 1).unwrap().survey(1)
    }

    /// Returns the text of a group at a distance to the right.
    fn group(name: &str, metres: f64, more: &str) -> String {
        alloc::format!(
            "[[group]]\nname = \"{name}\"\nprofile = \"esp32\"\npower_dbm = 0\n\
             at = [{metres}, 0, 0]\n{more}\n"
        )
    }

    #[test]
    fn far_ones_are_deaf_and_hidden_where_the_middle_hears_both() {
        // 0 dBm is read down to some -101 dBm: 1.1 km in free space.
        let three = survey(&(group("a", -900.0, "") + &group("b", 900.0, "")));
        assert_eq!((three.deaf, three.hidden, &three.named[..]), (1, 1, &[(1, 2)][..]));
        let near = survey(&(group("a", -300.0, "") + &group("b", 300.0, "")));
        assert_eq!((near.deaf, near.hidden), (0, 0));
        // Out of reach of the initiator, too: deaf, not hidden.
        let gone = survey(&(group("a", -900.0, "") + &group("b", 9000.0, "")));
        assert_eq!((gone.deaf, gone.hidden), (2, 0));
    }

    #[test]
    fn links_are_those_of_friis() {
        let it = survey(&group("a", 10.0, "channel = 6"));
        assert_eq!(it.groups.len(), 2);
        assert_eq!(it.groups[1].away_m, (10.0, 10.0));
        let there = it.between.iter().find(|it| (it.from, it.to) == (0, 1)).unwrap();
        // 20 log10(4 pi 10 m 2412 MHz / c) = 60.1 dB.
        assert!((there.strongest_dbm + 60.1).abs() < 0.05, "{there:?}");
        // Five channels away nothing can be read.
        assert_eq!((there.pairs, there.unread), (1, 1));
        assert_eq!(it.deaf, 0);
    }

    #[test]
    fn routers_that_a_scan_leaves_out_are_told() {
        let firmware = "[group.firmware]\ncountry = \"US\"\ncountry_policy = \"manual\"\n";
        let router = |channel: u8| {
            alloc::format!(
                "[[router]]\nname = \"{channel}\"\nssid = \"s\"\npassword = \"12345678\"\n\
                 at = [0, 0, 2]\nchannel = {channel}\n"
            )
        };
        let it = survey(&(group("a", 10.0, firmware) + &router(11) + &router(12)));
        // Group 0 goes by the automatic policy.
        assert_eq!((&it.unscanned[..], it.groups[3].name.as_str()), (&[(1, 3)][..], "12"));
    }

    #[test]
    fn a_large_room_is_surveyed_in_part() {
        let many = "count = 1100\n[group.ring]\nradius_m = 5";
        let it = survey(&alloc::format!(
            "[[group]]\nname = \"m\"\nprofile = \"esp32\"\npower_dbm = 0\n{many}"
        ));
        assert_eq!(it.left_out, 101);
        assert_eq!(it.groups[1].stations, 1..1000);
    }
}
