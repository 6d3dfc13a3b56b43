//! `espbench run`.

use super::builtin::{self, PLANS};
use super::common::MeasureArgs;
use super::flow::{self, Job};
use crate::store::{Run, Store};
use crate::target::replay::ReplayTarget;
use crate::target::several::Several;
use crate::target::{Target, spec};
use anyhow::bail;
use espbench_measure::plan::Set;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Built-in plans or TOML files [default: every built-in plan]
    plans: Vec<String>,
    /// Where: loopback, udp:HOST[:PORT], tcp:…, iperf:…, mqtt:…, replay:RUN. Repeatable: each
    /// piece of work goes to the first target that can do it
    #[arg(long, value_name = "TARGET", default_value = "loopback")]
    on: Vec<String>,
    /// Go on with a run that was cut short [default: the newest such run]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["plans", "on", "seed"])]
    resume: Option<String>,
    /// List the built-in plans and stop
    #[arg(long)]
    list: bool,
    /// UDP port that echo replies come to (the published sketch replies to 10001)
    #[arg(long, value_name = "PORT")]
    local_port: Option<u16>,
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
        flow::set_of(PLANS.iter().map(|(name, _)| builtin::plan(name)).collect::<Result<_, _>>()?)?
    } else {
        flow::set_of(args.plans.iter().map(|name| builtin::plan(name)).collect::<Result<_, _>>()?)?
    };
    let target_text = args.on.join(" ");
    let target = target(args, &args.on)?;
    flow::measure(Job { set, target_text, target, args: &args.measure, live: None, prints: false })
}

fn resume(args: &Args, name: &str) -> anyhow::Result<ExitCode> {
    let store = args.measure.store.open()?;
    let run = if name.is_empty() { store.newest_open()? } else { store.run(name)? };
    let set = Set::parse(&run.facts.plan_text)?;
    let target_text = run.facts.target.clone();
    let names: Vec<String> = target_text.split(' ').map(ToOwned::to_owned).collect();
    let target = target(args, &names)?;
    let job = Job { set, target_text, target, args: &args.measure, live: None, prints: false };
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
    let mut access = args.measure.site.access();
    access.local_port = args.local_port;
    let mut targets: Vec<Box<dyn Target>> = Vec::new();
    for name in names {
        targets.push(match name.strip_prefix("replay:") {
            Some(run) => replay(&args.measure.store.open()?, run)?,
            None => spec::parse(name, &access).map_err(anyhow::Error::msg)?,
        });
    }
    Ok(match targets.len() {
        1 => targets.remove(0),
        _ => Box::new(Several(targets)),
    })
}

/// A stored run as a target.
fn replay(store: &Store, name: &str) -> anyhow::Result<Box<dyn Target>> {
    let run: Run = store.run(name)?;
    let mut cells = Vec::new();
    for cell in &run.cells {
        cells.extend(store.recorded(cell)?);
    }
    if cells.is_empty() {
        bail!("{} has nothing recorded to replay", run.facts.name);
    }
    Ok(Box::new(ReplayTarget { name: run.facts.name, site: run.facts.site, cells }))
}
