//! Arguments of the tools, with their schemas, and the commands that they become. Ranges and words are the command's:
//! what it refuses is told with what to do.

use super::arguments::WholeNumbers;
use super::child::ChildCommand;
use super::results::ResultsWanted;
use super::words;
use crate::cli::predict::ProfileChoice;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::Write as _;
use tempfile::TempPath;

/// Arguments of `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckAsked {
    /// Path of an sdkconfig or sdkconfig.defaults.
    sdkconfig: String,
    /// Chip, such as esp32c3; without it the file's.
    chip: Option<String>,
    /// Release of ESP-IDF, such as v5.2; without it the file's.
    idf: Option<String>,
    /// Round trip to the other side, such as 20ms.
    rtt: Option<String>,
    /// TCP streams at a time.
    streams: Option<u16>,
    /// UDP datagrams that come back to back.
    burst: Option<u32>,
    /// Free heap before Wi-Fi starts, as esp_get_free_heap_size() answers in the firmware, such as 200KB.
    heap: Option<String>,
    /// All of the answer, in place of at most 4 kB.
    #[serde(default)]
    pub(super) full: bool,
}

impl CheckAsked {
    pub(super) fn command(self) -> ChildCommand {
        ChildCommand::new(&["tune", "--format=json", "-q"])
            .flag("check", Some(self.sdkconfig))
            .flag("chip", self.chip)
            .flag("idf", self.idf)
            .flag("rtt", self.rtt)
            .flag("streams", self.streams)
            .flag("burst", self.burst)
            .flag("heap", self.heap)
    }
}

/// Arguments of `predict`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PredictAsked {
    /// Devices that send: `60`, `[10, 30, 60]` or `"1..200"`; one number where profiles are compared. Without it those of `lab`, with `loss`
    /// or `p99` the largest fleet that keeps them; 20 where profiles are compared.
    devices: Option<WholeNumbers>,
    /// Time between two messages of a device, such as 5s; 1s without it.
    every: Option<String>,
    /// Bytes of a message; 100 without it.
    payload: Option<u32>,
    /// Room of the fleet.
    #[serde(default)]
    #[schemars(schema_with = "words::rooms")]
    room: Option<String>,
    /// Lab in place of a room.
    #[serde(default)]
    #[schemars(schema_with = "words::labs")]
    lab: Option<String>,
    /// Profile of the devices; several with commas, or `all`, are compared: which chip serves best.
    #[serde(default)]
    #[schemars(schema_with = "words::profiles")]
    profile: Option<String>,
    /// PHY rate, such as 1M, 54M or HT20-MCS7.
    phy_rate: Option<String>,
    /// How messages are sent.
    #[serde(default)]
    #[schemars(schema_with = "words::casts")]
    cast: Option<String>,
    /// Battery, such as 2xAA or 2500mAh.
    battery: Option<String>,
    /// Loss that a fleet should keep, such as 1%.
    loss: Option<String>,
    /// 99th percentile of the latency that it should keep, such as 50ms.
    p99: Option<String>,
    /// Sleep of the devices between their messages, such as deep.
    #[serde(default)]
    #[schemars(schema_with = "words::sleeps")]
    sleep: Option<String>,
    /// Bootloader of devices in deep sleep: checked, or fast, which does not check the image.
    #[serde(default)]
    #[schemars(schema_with = "words::boots")]
    boot: Option<String>,
    /// Attempts that a sleeping device makes for a message.
    attempts: Option<u32>,
    /// Lines of the devices' sdkconfig, such as CONFIG_ESPTOOLPY_FLASHFREQ_80M=y.
    #[serde(default)]
    set: Vec<String>,
    /// Most devices that the search for the largest fleet tries.
    most: Option<u32>,
    /// Time that the search may take, such as 60s.
    time_limit: Option<String>,
    /// Rooms over which the messages of a figure are divided, each with other fading: more tell more about places.
    rooms: Option<u32>,
    /// Messages of a figure in all its rooms: more are slower and narrow the interval of the loss.
    messages: Option<u32>,
    /// Seed of everything random: the same gives the same answer.
    seed: Option<u64>,
    /// All of the answer, in place of at most 4 kB.
    #[serde(default)]
    pub(super) full: bool,
}

impl PredictAsked {
    pub(super) fn command(self) -> ChildCommand {
        let asked = self.profile.as_deref().and_then(|it| it.parse::<ProfileChoice>().ok());
        let several = asked.is_some_and(|it| it.is_several());
        let question = if several { "compare" } else { "fleet" };
        let command = ChildCommand::new(&["predict", question, "--format=json", "-q"]);
        let command = self.set.into_iter().fold(command, |it, line| it.flag("set", Some(line)));
        command
            .flag("devices", self.devices)
            .flag("every", self.every)
            .flag("payload", self.payload)
            .flag("room", self.room)
            .flag("lab", self.lab)
            .flag("profile", self.profile)
            .flag("phy-rate", self.phy_rate)
            .flag("cast", self.cast)
            .flag("battery", self.battery)
            .flag("loss", self.loss)
            .flag("p99", self.p99)
            .flag("sleep", self.sleep)
            .flag("boot", self.boot)
            .flag("attempts", self.attempts)
            .flag("most", self.most)
            .flag("time-limit", self.time_limit)
            .flag("rooms", self.rooms)
            .flag("messages", self.messages)
            .flag("seed", self.seed)
    }
}

/// Arguments of `tune`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TuneAsked {
    /// Goals: tcp-tx, tcp-rx, udp-tx, udp-rx in Mbit/s, udp-latency in ms, heap in KB, current in mA, battery in d; such as
    /// `tcp-tx>=20Mbit/s`.
    #[schemars(length(min = 1))]
    want: Vec<String>,
    /// Path of an sdkconfig to start from: then the fewest changes to it are looked for.
    sdkconfig: Option<String>,
    /// Chip, such as esp32c3.
    chip: Option<String>,
    /// Evaluations of candidates, 120 without it: fewer are faster.
    budget: Option<u16>,
    /// Seed of everything random.
    seed: Option<u64>,
    /// Free heap before Wi-Fi starts, as esp_get_free_heap_size() answers in the firmware, such as 200KB.
    heap: Option<String>,
    /// All of the answer, in place of at most 4 kB.
    #[serde(default)]
    pub(super) full: bool,
}

impl TuneAsked {
    pub(super) fn command(self) -> Result<ChildCommand, String> {
        if self.want.is_empty() {
            return Err("tune: `want` is empty\n  do: name a goal such as tcp-tx>=20Mbit/s".into());
        }
        let command = ChildCommand::new(&["tune", "--format=json", "-q"]);
        let command = self.want.into_iter().fold(command, |it, want| it.flag("want", Some(want)));
        Ok(command
            .flag("check", self.sdkconfig)
            .flag("chip", self.chip)
            .flag("budget", self.budget)
            .flag("heap", self.heap)
            .flag("seed", self.seed))
    }
}

/// Arguments of `doctor`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoctorAsked {
    /// Paths of console logs and of the sdkconfig that their firmware was built with, or names of stored runs.
    #[serde(default)]
    files: Vec<String>,
    /// Text of a console log, in place of a file.
    log: Option<String>,
    /// All of the answer, in place of at most 4 kB.
    #[serde(default)]
    pub(super) full: bool,
}

impl DoctorAsked {
    pub(super) fn command(self) -> Result<ChildCommand, String> {
        let mut names = self.files;
        let mut files = Vec::new();
        if let Some(text) = self.log {
            let path = kept(&text, ".log")?;
            names.push(path.display().to_string());
            files.push((path, "log"));
        }
        if names.is_empty() {
            return Err("doctor: name files, or give the text of a log".into());
        }
        let command = ChildCommand::new(&["doctor", "--format=json"]).names(names);
        Ok(ChildCommand { files, ..command })
    }
}

/// Arguments of `run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunAsked {
    /// Name of a built-in plan, or path of a TOML file.
    #[serde(default)]
    #[schemars(schema_with = "words::plans")]
    plan: Option<String>,
    /// Text of a plan in TOML, in place of a name.
    plan_toml: Option<String>,
    /// Target: sim, sim:LAB, loopback, udp:HOST, icmp:HOST, tcp:HOST, serial:auto, …; without it the virtual lab, or loopback
    /// for plans that are not for the lab.
    on: Option<String>,
    /// Seed of everything random.
    seed: Option<u64>,
    /// Metrics that the answer has, in place of those that lead.
    #[serde(default)]
    #[schemars(schema_with = "words::metrics")]
    metrics: Vec<String>,
    /// All results, or with `metrics` all of these, in place of at most 4 kB: up to 200, some tens of kB.
    #[serde(default)]
    full: bool,
}

impl RunAsked {
    pub(super) fn wanted(&self) -> ResultsWanted {
        ResultsWanted { metrics: self.metrics.clone(), full: self.full }
    }

    pub(super) fn command(self) -> Result<ChildCommand, String> {
        let (plan, files) = match (self.plan, self.plan_toml) {
            (Some(plan), None) => (plan, Vec::new()),
            (None, Some(text)) => {
                let path = kept(&text, ".toml")?;
                (path.display().to_string(), vec![(path, "plan_toml")])
            }
            _ => return Err("run: give either plan or plan_toml".into()),
        };
        let command = ChildCommand::new(&["run", "--format=json", "-q"])
            .flag("on", self.on)
            .flag("seed", self.seed)
            .names([plan]);
        Ok(ChildCommand { files, ..command })
    }
}

/// Arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadAsked {
    /// Name of a run; without it the newest.
    run: Option<String>,
    /// Metrics that the answer has, in place of those that lead.
    #[serde(default)]
    #[schemars(schema_with = "words::metrics")]
    metrics: Vec<String>,
    /// All results, or with `metrics` all of these, in place of at most 4 kB: up to 200, some tens of kB.
    #[serde(default)]
    full: bool,
}

impl ReadAsked {
    pub(super) fn wanted(&self) -> ResultsWanted {
        ResultsWanted { metrics: self.metrics.clone(), full: self.full }
    }

    pub(super) fn command(self) -> ChildCommand {
        let run = self.run.unwrap_or_else(|| "last".into());
        ChildCommand::new(&["report", "--format=json"]).names([run])
    }
}

/// Arguments of `compare`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareAsked {
    /// Name of a run (`last`, `last~1`), or path of a report in JSON.
    run: String,
    /// Another run or report; without it the published figures.
    other: Option<String>,
    /// Metrics that are compared; without them all.
    #[serde(default)]
    #[schemars(schema_with = "words::metrics")]
    metrics: Vec<String>,
    /// All pairs, in place of those that differ most: up to 200.
    #[serde(default)]
    pub(super) full: bool,
}

impl CompareAsked {
    pub(super) fn command(self) -> ChildCommand {
        let command = ChildCommand::new(&["compare", "--format=json"]);
        let of = |it: ChildCommand, metric| it.flag("metric", Some(metric));
        let command = self.metrics.into_iter().fold(command, of);
        command.names(std::iter::once(self.run).chain(self.other))
    }
}

/// Keeps text in a file until the command has ended.
fn kept(text: &str, ending: &str) -> Result<TempPath, String> {
    let file = tempfile::Builder::new().prefix("espbench-").suffix(ending).tempfile();
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    written
        .map(tempfile::NamedTempFile::into_temp_path)
        .map_err(|error| format!("no temporary file: {error}"))
}
