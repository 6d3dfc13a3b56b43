//! Places of a lab's devices: what a plan says of them, and what it leaves to the lab's file.

use super::{Plan, PlanSet, print};
use crate::kind;
use crate::kind::esp_now::test_name;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::overrides::OpenPlaces;
use espbench_model::workload::Workload;

/// Number and distance of devices that somebody asks for, in place of the plan's and the lab's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlacesAsked {
    /// Number of devices that are measured.
    pub devices: Option<u16>,
    /// Their distance, in metres.
    pub distance_m: Option<f32>,
}

/// Number of devices beside the first, and distance of the nearest and of the farthest in metres; `None` is not said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NodePlaces {
    pub(crate) devices: Option<u16>,
    pub(crate) distance_m: Option<(f32, f32)>,
}

/// A test among nodes, whose number and distance a plan says, or leaves to the lab's file.
pub(crate) trait PlacedTest {
    /// Puts the nodes where somebody wants them.
    fn put(&mut self, asked: PlacesAsked);
    /// Returns the places that the plan has.
    fn places(&self) -> NodePlaces;
    /// Leaves these places to the lab's file, as far as the test can have any.
    fn leave(&mut self, open: OpenPlaces);
    /// Takes the places of its lab for those that are open.
    fn take(&mut self, lab: NodePlaces);
}

/// Returns a workload with as many devices as its lab has, from the nearest to the farthest in metres, where it leaves
/// them open.
#[must_use]
pub fn placed(
    mut workload: Workload,
    devices: Option<u16>,
    distance_m: Option<(f32, f32)>,
) -> Workload {
    if let Some(test) = kind::of_mut(&mut workload).placed_test() {
        test.take(NodePlaces { devices, distance_m });
    }
    workload
}

impl PlacesAsked {
    /// Puts the devices of a cell there.
    fn put(self, work: &mut Workload) {
        if let Workload::Wifi(it) = work {
            it.lab.distance_m = self.distance_m.or(it.lab.distance_m);
            it.lab.devices = self.devices.or(it.lab.devices);
        } else if let Some(test) = kind::of_mut(work).placed_test() {
            test.put(self);
        }
    }

    /// Returns whether a cell is another one with these places than with those.
    fn differs(self, other: Self, work: &Workload) -> bool {
        let put = |places: Self| {
            let mut work = *work;
            places.put(&mut work);
            work
        };
        put(self) != put(other)
    }
}

/// Returns whether a cell is of as many devices as somebody asks for.
fn takes_devices(work: &Workload) -> bool {
    let of = |devices| PlacesAsked { devices: Some(devices), ..PlacesAsked::default() };
    of(1).differs(of(2), work)
}

/// Returns whether the devices of a cell are as far away as somebody asks for.
fn takes_distance(work: &Workload) -> bool {
    let of = |metres| PlacesAsked { distance_m: Some(metres), ..PlacesAsked::default() };
    of(1.0).differs(of(2.0), work)
}

impl PlanSet {
    /// Names the tests that a number of devices is nothing to, each once, and says whether they are all.
    #[must_use]
    pub fn without_devices(&self) -> (Vec<String>, bool) {
        self.without(takes_devices)
    }

    /// Names the tests that a distance is nothing to, each once, and says whether they are all.
    #[must_use]
    pub fn without_distance(&self) -> (Vec<String>, bool) {
        self.without(takes_distance)
    }

    fn without(&self, takes: fn(&Workload) -> bool) -> (Vec<String>, bool) {
        let all = || self.plans.iter().flat_map(|it| &it.workloads);
        let mut names: Vec<String> = Vec::new();
        for work in all().filter(|it| !takes(it)) {
            let name = match work {
                Workload::EspNow(it) => format!("esp-now {}", test_name(it.test)),
                other => other.kind().into(),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, !all().any(takes))
    }

    /// Returns the plans with their devices so many and so far away; cells that are the same then are measured
    /// once.
    ///
    /// # Errors
    /// A plan has limits on its results, which are those of its own places; in words.
    pub fn with_places(mut self, asked: PlacesAsked) -> Result<Self, String> {
        for plan in &mut self.plans {
            let mut changed = plan.workloads.clone();
            changed.iter_mut().for_each(|it| asked.put(it));
            if changed == plan.workloads {
                continue;
            }
            if !plan.thresholds.is_empty() {
                return Err(format!(
                    "the plan {} has thresholds, which hold for its own devices and distance",
                    plan.name
                ));
            }
            plan.workloads = Vec::new();
            for work in changed {
                if !plan.workloads.contains(&work) {
                    plan.workloads.push(work);
                }
            }
            plan.text = print::plan(plan);
        }
        Ok(self)
    }
}

impl Plan {
    /// Leaves to the lab's file what all cells have in common of the number and distance of devices: a plan that
    /// somebody else wrote for another lab. What it varies stays.
    #[must_use]
    pub fn leaving_places(mut self) -> Self {
        let places = |mut it: Workload| match &mut it {
            Workload::Wifi(it) => NodePlaces {
                devices: it.lab.devices,
                distance_m: it.lab.distance_m.map(|metres| (metres, metres)),
            },
            other => kind::of_mut(other).placed_test().map(|it| it.places()).unwrap_or_default(),
        };
        let all: Vec<NodePlaces> = self.workloads.iter().copied().map(places).collect();
        let open = OpenPlaces {
            devices: all_same(all.iter().map(|it| it.devices)),
            distance: all_same(all.iter().map(|it| it.distance_m)),
        };
        let mut left = self.workloads.clone();
        for work in &mut left {
            if let Workload::Wifi(it) = work {
                it.lab.distance_m = it.lab.distance_m.filter(|_| !open.distance);
                it.lab.devices = it.lab.devices.filter(|_| !open.devices);
            } else if let Some(test) = kind::of_mut(work).placed_test() {
                test.leave(open);
            }
        }
        if left == self.workloads {
            return self;
        }
        self.workloads = left;
        self.text = print::plan(&self);
        // Numbers that are open are the defaults of their kinds.
        Self::parse(&self.text).unwrap_or(self)
    }
}

/// Returns whether all values are the same.
fn all_same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|it| Some(it) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        Plan::parse(&format!("name = \"mine\"\n[[measure]]\nkind = \"esp-now\"\n{text}")).unwrap()
    }

    fn open(plan: &Plan) -> (bool, bool) {
        let open = plan.workloads[0].lab().open;
        (open.distance, open.devices)
    }

    #[test]
    fn what_a_plan_does_not_say_is_open() {
        assert_eq!(open(&plan("test = \"ping\"")), (true, false), "a ping is between two");
        assert_eq!(open(&plan("test = \"ping\"\ndistance = \"3 m\"")), (false, false));
        assert_eq!(open(&plan("test = \"ota\"")), (true, true));
        assert_eq!(open(&plan("test = \"ota\"\ndevices = 1")), (true, false));
        // The text says what is said, even where that is the default.
        let said = plan("test = \"ping\"\ndistance = \"3 m\"");
        let again = Plan::parse(&print::plan(&said)).unwrap();
        assert_eq!(again.workloads, said.workloads);
        let silent = plan("test = \"ota\"");
        assert_eq!(Plan::parse(&print::plan(&silent)).unwrap().workloads, silent.workloads);
    }

    #[test]
    fn a_plan_of_somebody_else_leaves_what_it_does_not_vary() {
        let left = plan("test = \"ping\"\ndistance = \"5 m\"\nsize = [10, 100]").leaving_places();
        assert_eq!(open(&left), (true, false));
        assert!(!left.text.contains("distance"), "{}", left.text);
        assert_eq!(left.workloads.len(), 2);
        let varied = plan("test = \"ota\"\ndistance = [\"3 m\", \"5 m\"]\ndevices = 9");
        let left = varied.clone().leaving_places();
        assert_eq!(open(&left), (false, true), "it is about distances");
        assert_eq!(left.workloads.len(), 2);
    }

    #[test]
    fn who_asks_for_a_place_gets_it() {
        let set = |text: &str| PlanSet { plans: [plan(text)].into() };
        let far = PlacesAsked { distance_m: Some(25.0), devices: Some(7) };
        let moved = set("test = \"ota\"\ndistance = [\"3 m\", \"5 m\"]").with_places(far).unwrap();
        let [Workload::EspNow(only)] = moved.plans[0].workloads.as_slice() else {
            panic!("the same cell is measured once: {moved:?}")
        };
        assert_eq!((only.distance_m, only.devices), ((25.0, 25.0), 7));
        assert_eq!(
            PlanSet::parse(&moved.text()).unwrap().plans[0].workloads,
            moved.plans[0].workloads
        );
        let ping = set("test = \"ping\"").with_places(far).unwrap();
        let Workload::EspNow(ping) = ping.plans[0].workloads[0] else { panic!() };
        assert_eq!(ping.devices, 1, "it is between two");
        let limits = "test = \"ping\"\n[[threshold]]\nmetric = \"loss\"\nmax = \"1 %\"";
        assert!(set(limits).with_places(far).unwrap_err().contains("thresholds"));
    }

    #[test]
    fn tests_between_two_are_named_where_devices_are_asked_for() {
        let set = |texts: &[&str]| PlanSet { plans: texts.iter().map(|it| plan(it)).collect() };
        let two = set(&["test = [\"ping\", \"one-way\"]\nsize = [10, 100]"]);
        assert_eq!(
            two.without_devices(),
            (["esp-now ping", "esp-now one-way"].map(Into::into).into(), true)
        );
        let some = set(&["test = \"ping\"", "test = \"ota\""]);
        assert_eq!(some.without_devices(), (["esp-now ping"].map(Into::into).into(), false));
        assert_eq!(set(&["test = \"ota\""]).without_devices(), (Vec::new(), false));
        let raw = Plan::parse("name = \"mine\"\n[[measure]]\nkind = \"raw-esp-now\"").unwrap();
        let raw = PlanSet { plans: [raw].into() };
        assert_eq!(raw.without_devices(), (["raw-esp-now"].map(Into::into).into(), true));
        assert_eq!(raw.without_distance(), (Vec::new(), false));
    }

    /// A distance beside a relay line was taken without a word, and changed nothing.
    #[test]
    fn a_line_has_its_spacing_and_others_their_number() {
        let of = |pattern: &str| {
            let keys = format!("kind = \"esp-now-messages\"\npattern = \"{pattern}\"");
            let plan = Plan::parse(&format!("name = \"mine\"\n[[measure]]\n{keys}")).unwrap();
            PlanSet { plans: [plan].into() }
        };
        let nothing = || (Vec::from(["esp-now-messages".into()]), true);
        let (line, many) = (of("relay-line"), of("many-to-one"));
        assert_eq!((line.without_devices(), many.without_distance()), (nothing(), nothing()));
        let far = PlacesAsked { devices: Some(7), distance_m: Some(30.0) };
        let placed = |set: PlanSet| match set.with_places(far).unwrap().plans[0].workloads[0] {
            Workload::EspNowMessages(it) => (it.devices, it.spacing_m),
            other => panic!("{other:?}"),
        };
        let [Workload::EspNowMessages(was)] = line.plans[0].workloads[..] else { panic!() };
        assert_eq!(placed(line), (was.devices, 30.0));
        assert_eq!(placed(many).0, 7);
    }
}
