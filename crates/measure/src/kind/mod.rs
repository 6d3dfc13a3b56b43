//! The kinds of test. Each has a folder here, which holds all that is its own: the keys of a plan, the
//! settings of a cell, words, result cells, tables, figures, and what of the published documents is
//! like it. The rest of the crate asks `TestKind`, and names no kind.
//!
//! | module | contents |
//! |---|---|
//! | [`esp_now`] | cells of Espressif's ESP-NOW test report |
//! | `esp_now_messages` | messages among nodes of ESP-NOW |
//! | `headline` | the metrics that a report shows first |
//! | [`iperf`] | tests of iperf 2, and echo probes beside them |
//! | `mqtt_rate` | numbered messages through an MQTT broker |
//! | `ping` | ICMP round trips |
//! | `raw_esp_now` | calls of `esp_now_send` without the component |
//! | `tcp_rate` | short messages over TCP, counted for a second at a time |
//! | [`udp_echo`] | UDP round trips |
//! | `wifi_join` | joining a network, over and over |
//!
//! A cell's work is its own `TestKind`: `of` finds it in a [`Workload`]. What does not depend on the
//! work, such as tables, is asked of the kind's default (`all`). To add a kind, add a folder, and its
//! lines below.

pub mod esp_now;
mod esp_now_messages;
pub(crate) mod headline;
pub mod iperf;
mod mqtt_rate;
mod ping;
mod raw_esp_now;
mod tcp_rate;
pub mod udp_echo;
mod wifi_join;

use crate::cell::{Cell, Identity};
use crate::figure::Figure;
use crate::kind::headline::Headline;
use crate::kind::iperf::SentDatagrams;
use crate::limit::TheoreticalLimit;
use crate::live::LateProbes;
use crate::live::figures::{LiveFigures, SeenRate};
use crate::metric;
use crate::plan::{PlacedTest, PlanKey, Scalar};
use crate::report::digest::{Material, RateCurve};
use crate::run::Recorded;
use crate::series::IntervalPlace;
use crate::settings::{Setting, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::truth::CellGroup;
use crate::wifi::{self, Document};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{IpTest, Workload};

/// A kind of test, as the value that says one cell's work.
pub(crate) trait TestKind {
    /// Returns the name: that of a plan's `kind`, of tables and of a report's chapter.
    fn name(&self) -> &'static str;

    /// Names the test with the transport that a cell had.
    fn name_over(&self, _transport: Option<&str>) -> String {
        self.name().into()
    }

    // ---- A plan's block.

    /// Returns the keys beside `kind` and `variant`.
    fn keys(&self) -> &'static [PlanKey];
    /// Sets one key, whose value was checked to be in its range.
    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String>;
    /// Returns the value of a key as TOML; `None` where a plan would leave it out.
    fn get(&self, key: &str) -> Option<String>;
    /// Sets what follows from other keys, where the plan did not name it.
    fn complete(&mut self, _named: &[&str]) {}
    /// Checks that the keys go together.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
    /// Returns a guess at the time that a cell takes, without opening and closing connections.
    fn expected(&self) -> Duration;
    /// Says what that time is made of, such as `12 runs of 60 s`, where it is not the one that was asked for.
    fn made_of(&self) -> Option<String> {
        None
    }
    /// Returns whether the plan says when a cell ends.
    fn ends_by_plan(&self) -> bool {
        false
    }
    /// Returns how many probes a cell sends and records, where the plan says that.
    fn probes(&self) -> Option<u64> {
        None
    }

    // ---- What tells cells apart.

    /// Returns all that tells the work from others of its kind. Counts and lengths of tests are named
    /// only where they are not the usual ones.
    fn settings(&self) -> Settings;
    /// Returns the length of the test, or its number of probes, where the settings do not say it: a short test and a long
    /// one are compared, and yet need names of their own within a report.
    fn length(&self) -> Option<Setting> {
        None
    }
    /// Returns the test where its nodes have places that the plan says, or leaves to the lab.
    fn placed_test(&mut self) -> Option<&mut dyn PlacedTest> {
        None
    }
    /// Says a setting of a plan's cell in this kind's own way; `None` where the usual words do.
    fn word(&self, _setting: &Setting) -> Option<SettingWords> {
        None
    }
    /// Returns the test that a timeline of the medium is of; `None` where nothing is sent.
    fn on_air(&self) -> Option<String> {
        Some(self.name().into())
    }

    // ---- Samples.

    /// Makes the result cells of one recorded cell.
    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell>;
    /// Makes the cells that are made of several cells of a run.
    fn over_cells(&self, _ours: &[Cell]) -> Vec<Cell> {
        Vec::new()
    }
    /// Returns the theoretical limits of a cell's figures, under the settings that its facts name.
    fn limits(&self, _recorded: &Recorded) -> Vec<TheoreticalLimit> {
        Vec::new()
    }
    /// Makes the cell of the same test without a network, of a figure that air times alone give.
    fn without_network(&self, _cells: &[Cell], _facts: &BTreeMap<String, String>) -> Option<Cell> {
        None
    }
    /// Says what a cell's figures leave open, though it did not fail: sentences that a reader must know before the first
    /// number.
    fn caveats(&self, _recorded: &Recorded) -> Vec<String> {
        Vec::new()
    }
    /// Returns whether a figure is one of all repetitions or of none: a time for all devices is not that of the
    /// repetitions in which all were served.
    fn is_of_all(&self, _metric: &str) -> bool {
        false
    }
    /// Returns the samples that tell what was lost and what came twice; `None` where none does.
    fn told_losses<'a>(&self, recorded: &'a Recorded) -> Option<Cow<'a, [Sample]>> {
        Some(Cow::Borrowed(&recorded.samples))
    }
    /// Returns the times of which a report shows the distribution, in milliseconds.
    fn times(&self, _recorded: &Recorded) -> Vec<f64> {
        Vec::new()
    }
    /// Returns the rates over time that a report shows.
    fn rates(&self, _recorded: &Recorded) -> Vec<RateCurve> {
        Vec::new()
    }
    /// Returns whether a report shows the repetitions of a cell as one.
    fn is_pooled(&self) -> bool {
        false
    }
    /// Returns how many tries of a search were made; `None` of what is no search.
    fn tries(&self, _recorded: &Recorded) -> Option<usize> {
        None
    }
    /// Returns whether nothing is sent, and a device is listened to.
    fn is_heard(&self) -> bool {
        false
    }
    /// Returns whether probes are sent and come back.
    fn is_echo(&self) -> bool {
        false
    }
    /// Returns whether a late probe was recorded as lost before.
    fn is_late_after_lost(&self) -> bool {
        false
    }
    /// Returns how a late probe counts in the share that is lost.
    fn late(&self) -> LateProbes {
        if self.is_late_after_lost() { LateProbes::Again } else { LateProbes::Apart }
    }
    /// Returns the figures that are shown while a cell goes: of metrics that the summary has, too.
    fn live(&self) -> LiveFigures {
        LiveFigures::default()
    }
    /// Returns the seconds in which that number of messages comes due, where the work offers them at a rate.
    fn offering(&self, _due: u64) -> Option<f64> {
        None
    }
    /// Returns whether links share the rate that is offered; else each has it.
    fn shares_rate(&self) -> bool {
        false
    }
    /// Returns the number of streams, and the place of an interval of one, of a test that began then.
    fn placed(&self, _begin: Instant, _part: &Interval) -> (usize, IntervalPlace) {
        (1, IntervalPlace::After)
    }
    /// Returns the number and the length of the intervals that count, of several streams whose devices sent for that time.
    fn slots(&self, _sending: Duration) -> (usize, Duration) {
        (0, Duration::ZERO)
    }
    /// Returns the rates that the summary makes of what observers told. `own_count`: the device tells its own counts.
    fn seen(&self, _own_count: bool, _told: &dyn Fn(Observer) -> bool) -> Vec<SeenRate> {
        Vec::new()
    }
    /// Returns whether a device may do this for as long as its battery lasts.
    fn is_lasting(&self) -> bool {
        true
    }

    // ---- Warnings.

    /// Returns the latencies of single probes, of a quantity that leads; none where the load varies under
    /// way.
    fn latencies(&self, _recorded: &Recorded) -> Option<Observations> {
        None
    }
    /// Returns the figures in the order of time that may drift, of a quantity that leads.
    fn course(&self, recorded: &Recorded) -> Option<Observations> {
        self.latencies(recorded)
    }
    /// Returns the rate that was asked of the sender, and the one that it kept.
    fn pace(&self, _recorded: &Recorded) -> Option<SenderPace> {
        None
    }
    /// Returns the datagrams of senders that count what they sent; `None` where none does.
    fn sent(&self, _recorded: &Recorded) -> Option<SentDatagrams> {
        None
    }
    /// Returns whether probes are sent at an interval; `None` where beacons leave no comb.
    fn is_periodic(&self) -> Option<bool> {
        None
    }

    // ---- The report.

    /// Returns the names and titles of the chapters, in order. `documented`: the report holds the cells
    /// against a document that has a chapter for each test.
    fn chapters(&self, documented: bool) -> Vec<(&'static str, &'static str)>;
    /// Says the result in the line that the program prints which people know for this test.
    fn usual_line(&self, _recorded: &Recorded) -> Option<String> {
        None
    }
    /// Returns the metrics that lead, the most telling first.
    fn headlines(&self) -> &'static [Headline] {
        &[]
    }
    /// Returns the metrics that lead where none of the headlines is known.
    fn headlines_without(&self) -> &'static [Headline] {
        &[]
    }
    /// Returns whether a cell with these settings stands for others in the overview. `is_end`: it is the
    /// first or last one.
    fn leads(&self, _settings: &Settings, _is_end: bool) -> bool {
        true
    }
    /// Returns whether tables say once what all cells share, since the cells' names leave it out.
    fn tells_shared(&self) -> bool {
        false
    }
    /// Makes the table that stands right after the overview.
    fn first_table(&self, _material: &Material<'_>) -> Option<Table> {
        None
    }
    /// Makes the tables of all cells of the kind.
    fn tables(&self, material: &Material<'_>) -> Vec<Table>;
    /// Makes the tables of what was typed and found.
    fn findings(&self, _material: &Material<'_>) -> Vec<Table> {
        Vec::new()
    }
    /// Returns whether a fact is told in a table of its own.
    fn tells_fact(&self, _fact: &str) -> bool {
        false
    }
    /// Makes the figures of all cells of the kind.
    fn figures(&self, material: &Material<'_>) -> Vec<Figure>;
    /// Returns the chapter in which a figure of this work's losses stands, where that is its own.
    fn losses_chapter(&self) -> Option<&'static str> {
        None
    }

    // ---- Published documents.

    /// Returns the documents with tests of the kind over Wi-Fi, in the order of suites.
    fn documents(&self) -> &'static [Document] {
        &[]
    }
    /// Returns whether a cell with these settings was taken as the document took its own.
    fn is_procedure(&self, _ours: &Settings, _published: &Settings) -> bool {
        false
    }
    /// Returns whether a document's procedure is that of a cell without settings, and no other.
    fn is_plain(&self) -> bool {
        false
    }
    /// Returns whether a published cell is a result of a document of this kind.
    fn publishes(&self, cell: &Cell) -> bool {
        let of =
            |it: &Document| it.table == cell.id.table && cell.source.as_deref() == Some(it.source);
        self.documents().iter().any(of)
            && (cell.id.transport != "config" || cell.id.metric == wifi::heap::AVAILABLE)
            && cell.value.is_some()
    }
    /// Returns the group of a published cell, which sets how true a simulated one must be.
    fn group(&self, published: &Cell) -> CellGroup {
        CellGroup::of(metric::parse(&published.id.metric).1)
    }
    /// Returns the exact metric behind one that a console cuts or rounds before it prints it; `None` where
    /// it does neither.
    fn exact(&self, _metric: &str) -> Option<&'static str> {
        None
    }
    /// Returns the metric of ours that has not the rounding of a published one; `None` where it has none.
    fn unrounded(&self, _metric: &str) -> Option<&'static str> {
        None
    }
    /// Returns the smallest and the largest value that a document prints as this one.
    fn printed(&self, _id: &Identity, value: f64) -> (f64, f64) {
        around(value, 0.5)
    }
    /// Says what tells a document's cells apart, beside size, devices and distance.
    fn published_words(&self, _id: &Identity) -> Vec<String> {
        Vec::new()
    }
}

/// The words of a kind for a setting.
pub(crate) enum SettingWords {
    /// None: it is the usual form.
    Unsaid,
    /// The words.
    Said(String),
}

/// Observations of one quantity in the order of time.
pub(crate) struct Observations {
    /// Name of the quantity, such as `round trip`: that of a headline.
    pub(crate) quantity: &'static str,
    /// Unit of the values.
    pub(crate) unit: &'static str,
    /// The values.
    pub(crate) values: Vec<f64>,
}

/// How a sender kept to its rate.
pub(crate) struct SenderPace {
    /// Rate asked.
    pub(crate) asked: f64,
    /// Rate kept.
    pub(crate) kept: f64,
    /// Unit of both.
    pub(crate) unit: &'static str,
}

/// Returns what is printed as a value where so much is rounded to either side.
pub(crate) fn around(value: f64, half: f64) -> (f64, f64) {
    ((value - half).max(0.0), value + half)
}

/// Makes the registry of lines `Variant: folder`; a folder has the `DEFAULT` of its work.
macro_rules! registry {
    (over_ip { $($ip:ident: $ip_folder:ident,)* } others { $($other:ident: $folder:ident,)* }) => {
        /// The default work of each kind, in the order of reports: what is over IP first.
        const DEFAULTS: &[Workload] = &[
            $(Workload::$ip($ip_folder::DEFAULT),)*
            $(Workload::$other($folder::DEFAULT),)*
        ];

        /// Finds the kind of a work.
        pub(crate) fn of(workload: &Workload) -> &dyn TestKind {
            match workload {
                $(Workload::$ip(work) => work,)*
                $(Workload::$other(work) => work,)*
                Workload::Wifi(work) => match &work.test {
                    $(IpTest::$ip(work) => work,)*
                },
            }
        }

        /// Finds the kind of a work, to change the work.
        pub(crate) fn of_mut(workload: &mut Workload) -> &mut dyn TestKind {
            match workload {
                $(Workload::$ip(work) => work,)*
                $(Workload::$other(work) => work,)*
                Workload::Wifi(work) => match &mut work.test {
                    $(IpTest::$ip(work) => work,)*
                },
            }
        }
    };
}

registry! {
    over_ip {
        UdpEcho: udp_echo,
        Ping: ping,
        Iperf: iperf,
        TcpRate: tcp_rate,
        MqttRate: mqtt_rate,
        Join: wifi_join,
    }
    others {
        EspNow: esp_now,
        RawEspNow: raw_esp_now,
        EspNowMessages: esp_now_messages,
    }
}

/// Returns all kinds, in the order of reports.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn TestKind> {
    DEFAULTS.iter().map(of)
}

/// Returns the kinds over IP, in the order of reports.
pub(crate) fn over_ip() -> impl Iterator<Item = &'static dyn TestKind> {
    DEFAULTS.iter().filter(|it| it.ip().is_some()).map(of)
}

/// Returns the kinds that are not over IP, in the order of reports.
pub(crate) fn others() -> impl Iterator<Item = &'static dyn TestKind> {
    DEFAULTS.iter().filter(|it| it.ip().is_none()).map(of)
}

/// Returns the kind of that name.
pub(crate) fn named(name: &str) -> Option<&'static dyn TestKind> {
    all().find(|it| it.name() == name)
}

/// Returns the exact figure of a test behind one that a console cuts or rounds before it prints it; `None` where it does
/// neither, or the exact one is not among these.
pub(crate) fn exact_beside<'a>(
    cell: &Cell,
    mut all: &mut dyn Iterator<Item = &'a Cell>,
) -> Option<&'a Cell> {
    let exact = named(cell.test.kind.as_deref()?)?.exact(&cell.id.metric)?;
    let id = Identity { metric: exact.into(), ..cell.id.clone() };
    Iterator::find(&mut all, |it| it.id == id && it.settings == cell.settings)
}

/// Returns the default work of the kind of that name.
pub(crate) fn default_of(name: &str) -> Option<Workload> {
    DEFAULTS.iter().find(|it| of(it).name() == name).copied()
}

/// Returns the names of all kinds, for messages.
pub(crate) fn names() -> Vec<&'static str> {
    all().map(TestKind::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_name_that_the_protocol_has_for_its_work() {
        for workload in DEFAULTS {
            assert_eq!(of(workload).name(), workload.kind());
        }
    }
}
