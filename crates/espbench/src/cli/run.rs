//! `espbench run`.

use super::beside::{BesideArgs, SideLab};
use super::builtin;
use super::common::{MeasureArgs, SimArgs, SiteArgs, idle};
use super::flow::{self, Measurement};
use super::mqtt_access::MqttAccessArgs;
use super::plan_sdkconfig::with_sdkconfig;
use super::serial_args::SerialArgs;
use super::shard::Shard;
use crate::say::say;
use crate::store::{Store, StoredRun};
use crate::target::Target;
use crate::target::replay::ReplayTarget;
use crate::target::several::Several;
use crate::target::spec::{self, Access};
use crate::transport::Url;
use crate::user_error::{ForUser as _, UserError};
use anyhow::bail;
use espbench_measure::plan::{PlacesAsked, Plan, PlanSet, lab_keys};
use espbench_measure::predict::battery::Battery;
use espbench_measure::run::RunFacts;
use espbench_model::speech::{CommandName, FlagName, FlagValue};
use espbench_sim::lab::file::{FileKind, built_in_text};
use espbench_sim::lab::suite;
use std::path::PathBuf;
use std::process::ExitCode;

/// Beginning of targets that are boards on serial ports.
const SERIAL: &str = "serial:";

/// Names the keys of a plan that vary the virtual lab.
fn keys() -> String {
    let (any, over_wifi) = lab_keys();
    format!(
        "A plan's blocks [[measure]] may vary the virtual lab, each key with a value or a list of values: {}; \
         over Wi-Fi {}, too. docs/plans.md has all keys of plans with ranges and examples.\n\n\
         Examples:\n  \
         espbench run one-way-latency ota\n  \
         espbench run plan.toml --on udp:192.168.1.50 -o report.html\n  \
         espbench run --resume",
        any.join(", "),
        over_wifi.join(", ")
    )
}

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = keys())]
pub struct Args {
    /// Built-in plans or TOML files [default: the ten suites of Espressif's ESP-NOW test
    /// report, and the six of documents over Wi-Fi]
    plans: Vec<String>,
    /// Targets: sim[:LAB], loopback, udp:HOST[:PORT], icmp:HOST, tcp:…, iperf:…, mqtt:…, mqtts:…, ws://…,
    /// wss://…, serial:PORT[,PORT…], serial:auto (boards that are attached; the first is the initiator),
    /// replay:RUN. Repeatable: each piece of work goes to the first target that can do it
    /// [default: sim, the virtual lab,
    /// for ESP-NOW and devices over Wi-Fi; loopback for all else]
    #[arg(long, value_name = "TARGET")]
    on: Vec<String>,
    /// Go on with a run that was cut short [default: the newest such run]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["plans", "on", "seed", "chip", "mode", "security", "environment", "distance"])]
    resume: Option<String>,
    /// Carry out only this part of the cells, such as 3/8, in a store of its own; `espbench runs merge`
    /// puts the parts together
    #[arg(long, value_name = "I/N", conflicts_with = "list")]
    shard: Option<Shard>,
    /// Battery of the devices: 2xAA, AAA, CR123A, 18650, LiPo-500, CR2032, or a charge such as 2500mAh
    #[arg(long, value_name = "BATTERY", conflicts_with = "resume")]
    battery: Option<Battery>,
    /// Devices that are measured in the virtual lab, in place of the plan's and of the lab's own number
    #[arg(long, value_name = "DEVICES", conflicts_with = "resume",
        value_parser = clap::value_parser!(u16).range(1..))]
    devices: Option<u16>,
    /// sdkconfig of the simulated devices: its chip, its clock and the options that shape links become keys of
    /// the plan, where that does not say them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "list"])]
    sdkconfig: Option<PathBuf>,
    /// List the built-in plans and stop
    #[arg(long, conflicts_with_all = ["plans", "on", "resume", "seed", "output", "full", "local_port"])]
    list: bool,
    /// UDP port that echo replies come to (the sketch of the published benchmark replies to 10001)
    #[arg(long, value_name = "PORT")]
    local_port: Option<u16>,
    #[command(flatten)]
    broker: MqttAccessArgs,
    #[command(flatten)]
    boards: SerialArgs,
    #[command(flatten)]
    beside: BesideArgs,
    #[command(flatten)]
    sim: SimArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from measuring; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        return list();
    }
    if let Some(name) = &args.resume {
        return resume(args, name);
    }
    let set = if args.plans.is_empty() {
        flow::set_of(
            builtin::SUITES.iter().map(|(name, _)| args.plan(name)).collect::<Result<_, _>>()?,
        )?
    } else {
        let lab = !args.on.is_empty() && args.on.iter().all(|on| is_lab(on));
        let named = |name: &String| if lab { builtin::of_lab(name) } else { name }.to_owned();
        // A plan that we wrote for another lab fills what one's own leaves open.
        let is_own_lab = lab && args.on.iter().any(|on| has_own_lab(on));
        let plan = |name: &String| {
            let (name, plan) = (named(name), args.plan(&named(name))?);
            let is_ours = builtin::all().any(|it| it.0 == name);
            Ok(if is_ours && is_own_lab { plan.leaving_places() } else { plan })
        };
        flow::set_of(args.plans.iter().map(plan).collect::<anyhow::Result<_>>()?)?
    };
    let set = args.placed(set)?;
    let set = match &args.battery {
        Some(battery) => set.with_battery(battery).for_user(
            || format!("{} is not the plan's", FlagValue("--battery", &battery.name)),
            "leave it out, or take `battery` out of the plan",
        )?,
        None => set,
    };
    let on =
        if args.on.is_empty() { vec![usual_target(&set)?.to_owned()] } else { args.on.clone() };
    check(args, &on)?;
    let beside = SideLab::of(&args.beside, &set, args.sim.threads)?;
    let target = target(args, &on)?;
    // User and password are neither stored nor shown.
    let shown: Vec<String> = on.iter().map(|on| Url::without_user(on)).collect();
    let target_text = shown.join(" ");
    flow::measure(Measurement {
        set,
        target_text,
        target,
        args: &args.measure,
        live: None,
        prints: flow::Prints::Nothing,
        beside,
        shard: args.shard,
    })
}

/// Returns whether a target is a lab that is not built in.
fn has_own_lab(on: &str) -> bool {
    let lab = on.strip_prefix("sim:").filter(|lab| !lab.is_empty());
    lab.is_some_and(|lab| built_in_text(FileKind::Lab, lab).is_none())
}

impl Args {
    /// Reads a plan, with the firmware of an sdkconfig that was named.
    fn plan(&self, name: &str) -> anyhow::Result<Plan> {
        let plan = builtin::plan(name)?;
        let Some(path) = &self.sdkconfig else { return Ok(plan) };
        if let Some(real) = self.on.iter().find(|on| !is_lab(on)) {
            let place = format!("beside {}: that device has a firmware", FlagValue("--on", real));
            return Err(idle(FlagName("--sdkconfig"), place, or_on("sim")).into());
        }
        with_sdkconfig(&plan, path)
    }

    /// Returns the plans with the devices where --devices and --distance want them, which only the lab can do.
    fn placed(&self, set: PlanSet) -> anyhow::Result<PlanSet> {
        let asked = PlacesAsked {
            devices: self.devices,
            distance_m: self.site.distance.map(|it| it as f32).filter(|_| self.is_in_lab()),
        };
        if asked == PlacesAsked::default() {
            return Ok(set);
        }
        if asked.distance_m.is_some_and(|it| !(0.01..=100_000.0).contains(&it)) {
            return Err(UserError::new(format!("{} is out of range", FlagName("--distance")))
                .because("devices stand 0.01 m to 100 km from each other")
                .remedy(format!("give metres, such as {}", FlagValue("--distance", 5)))
                .into());
        }
        if asked.devices.is_some() && (self.on.is_empty() || self.is_in_lab()) {
            let remedy =
                "leave it out, or take a test of many devices, such as esp-now multi-ping or ota";
            self.refuse_idle(
                "--devices",
                set.without_devices(),
                "these tests are of one device, or of a line of relays",
                remedy,
            )?;
        }
        if asked.distance_m.is_some() {
            let remedy = "leave it out, and write the places into a lab of your own";
            self.refuse_idle(
                "--distance",
                set.without_distance(),
                "their lab says where their nodes stand, and over loopback there is no distance",
                remedy,
            )?;
        }
        Ok(set.with_places(asked).for_user(
            || {
                let (devices, distance) = (FlagName("--devices"), FlagName("--distance"));
                format!("{devices} and {distance} are not for this plan")
            },
            "write them into the plan, with the limits that hold there",
        )?)
    }

    /// Refuses a flag that does nothing with any of the tests, and says so of some of them, with the reason.
    fn refuse_idle(
        &self,
        flag: &str,
        (tests, all): (Vec<String>, bool),
        why: &str,
        remedy: &str,
    ) -> anyhow::Result<()> {
        let names = tests.join(", ");
        if all {
            return Err(idle(FlagName(flag), format!("with {names}"), remedy).because(why).into());
        }
        if !tests.is_empty() && !self.measure.quiet {
            say!("{} does nothing with {names}: {why}", FlagName(flag));
        }
        Ok(())
    }

    /// Returns whether all targets are labs.
    fn is_in_lab(&self) -> bool {
        match self.on.as_slice() {
            [] => self.site.given() == Some("--distance"),
            on => on.iter().all(|on| is_lab(on)),
        }
    }
}

/// Returns the target that plans have where none is named.
fn usual_target(set: &PlanSet) -> anyhow::Result<&'static str> {
    let mut plans = set.plans.iter().map(|plan| plan.workloads.iter().all(suite::is_for_lab));
    let first = plans.next().unwrap_or(true);
    if plans.any(|other| other != first) {
        bail!(
            UserError::new("these plans are for different targets")
                .because("ESP-NOW and Wi-Fi are for sim, the others for loopback")
                .remedy(format!(
                    "run them one after the other, or name a target with {}",
                    FlagName("--on")
                ))
        );
    }
    Ok(if first { "sim" } else { "loopback" })
}

fn resume(args: &Args, name: &str) -> anyhow::Result<ExitCode> {
    let store = args.measure.store.existing()?;
    let run = if name.is_empty() { store.newest_open()? } else { store.run(name)? };
    let set = PlanSet::parse(&run.facts.plan_text)?;
    let target_text = run.facts.target.clone();
    let names: Vec<String> = target_text.split(' ').map(ToOwned::to_owned).collect();
    check(args, &names)?;
    let beside = SideLab::of(&args.beside, &set, args.sim.threads)?;
    let target = target(args, &names)?;
    let job = Measurement {
        set,
        target_text,
        target,
        args: &args.measure,
        live: None,
        prints: flow::Prints::Nothing,
        beside,
        shard: args.shard,
    };
    flow::resume(&store, &run, job)
}

fn list() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for (name, _) in builtin::all() {
        let plan = builtin::plan(name)?;
        let title = plan.title.unwrap_or_default();
        text.push_str(&format!("{name:24} {:>3} cells  {title}\n", plan.workloads.len()));
    }
    super::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn target(args: &Args, names: &[String]) -> anyhow::Result<Box<dyn Target>> {
    let sim = &args.sim;
    let mut access =
        Access { capture: sim.pcap.clone(), threads: sim.threads, ..args.site.access() };
    access.local_port = args.local_port;
    if names.iter().all(|name| is_lab(name)) {
        // A distance in the lab is its devices', which stand there.
        access.site.distance_m = None;
    }
    args.broker.add_to(&mut access)?;
    let mut targets: Vec<Box<dyn Target>> = Vec::new();
    for name in names {
        targets.push(match (name.strip_prefix("replay:"), name.strip_prefix(SERIAL)) {
            (Some(run), _) => replay(&args.measure.store.to_read()?, run)?,
            (_, Some(ports)) => boards(args, ports)?,
            _ => spec::parse(name, &access)?,
        });
    }
    if names.iter().any(|name| Url::is_one(name)) {
        args.broker.warn();
    }
    let origin = |target: &dyn Target| target.origin();
    if let Some(first) = targets.first()
        && targets.iter().any(|target| origin(&**target) != origin(&**first))
    {
        let names: Vec<String> = names.iter().map(|name| Url::without_user(name)).collect();
        bail!(
            UserError::new(format!("{} are not all real", names.join(" and ")))
                .because("a run is either measured or simulated")
                .remedy("make two runs")
        );
    }
    Ok(match targets.len() {
        1 => targets.remove(0),
        _ => Box::new(Several(targets)),
    })
}

/// Refuses flags that none of the targets uses.
fn check(args: &Args, on: &[String]) -> anyhow::Result<()> {
    let shown: Vec<String> = on.iter().map(|on| Url::without_user(on)).collect();
    let place = format!("with the target {}", shown.join(" "));
    let uses = |of: &dyn Fn(&str) -> bool| on.iter().any(|name| of(name));
    let refuse = |flag: Option<&str>, used: bool, remedy: &str| match flag.filter(|_| !used) {
        Some(flag) => Err(idle(FlagName(flag), &place, remedy)),
        None => Ok(()),
    };
    let beside = args.beside.beside.is_some();
    if beside && uses(&is_lab) {
        let remedy = format!("compare two simulated runs: {}", CommandName("compare"));
        return Err(idle(FlagName("--beside"), &place, remedy)
            .because("it sets a lab beside what is measured")
            .into());
    }
    let shard = args.shard.map(|_| "--shard");
    refuse(
        shard,
        on.iter().all(|name| is_lab(name)),
        "leave it out: what is measured is of one place",
    )?;
    let threads = args.sim.pcap.is_none() && args.sim.threads.is_some();
    refuse(args.sim.given(), uses(&is_lab) || beside && threads, &or_on("sim"))?;
    // The lab says itself why it takes none of these.
    let own = |name: &str| name == "loopback" || name.starts_with("replay:");
    refuse(
        args.site.given(),
        uses(&|name| !own(name)),
        "leave it out: it describes a device that is measured",
    )?;
    let local_port = args.local_port.map(|_| "--local-port");
    refuse(local_port, uses(&|name| name.starts_with("udp:")), &or_on("udp:HOST"))?;
    let battery = args.battery.as_ref().map(|_| "--battery");
    refuse(battery, uses(&is_lab), "leave it out: only the lab counts charge")?;
    let devices = args.devices.map(|_| "--devices");
    refuse(
        devices,
        uses(&is_lab),
        "leave it out: devices that are measured are as many as there are",
    )?;
    let boards = uses(&|name| name.starts_with(SERIAL));
    refuse(args.boards.given(), boards, &or_on("serial:auto"))?;
    refuse(args.broker.given(), uses(&Url::is_one), &or_on("mqtt:HOST"))?;
    Ok(())
}

/// Says that a flag is for another target.
fn or_on(target: &str) -> String {
    format!("leave it out, or use {}", FlagValue("--on", target))
}

fn is_lab(name: &str) -> bool {
    name == "sim" || name.starts_with("sim:")
}

/// Makes a target of the boards on these ports.
#[cfg(feature = "serial")]
fn boards(args: &Args, ports: &str) -> anyhow::Result<Box<dyn Target>> {
    use crate::target::serial::SerialTarget;
    let (baud, setup) = (args.boards.baud(), args.boards.setup()?);
    let target = SerialTarget::open(ports, baud, setup, args.site.site())?;
    for missing in target.missing() {
        say!("{}: {}; the others are measured without it", missing.what, missing.why);
    }
    Ok(Box::new(target))
}

/// Refuses boards, which this build knows nothing of.
#[cfg(not(feature = "serial"))]
fn boards(_: &Args, _: &str) -> anyhow::Result<Box<dyn Target>> {
    bail!(super::left_out::without("boards on serial ports", "serial"))
}

/// Makes a target of a stored run.
fn replay(store: &Store, name: &str) -> anyhow::Result<Box<dyn Target>> {
    let run: StoredRun = store.run(name)?;
    let mut cells = Vec::new();
    for cell in &run.cells {
        cells.extend(store.recorded(cell)?);
    }
    if cells.is_empty() {
        bail!(
            UserError::new(format!("{} has nothing recorded to replay", run.facts.name))
                .because("nothing was measured in it")
                .remedy("`espbench runs` lists the runs with their cells")
        );
    }
    let RunFacts { name, site, origin, .. } = run.facts;
    Ok(Box::new(ReplayTarget { name, site, origin, cells }))
}
