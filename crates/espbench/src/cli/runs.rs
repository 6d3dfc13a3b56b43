//! `espbench runs`.

use super::common::StoreArgs;
use super::{file, flow, output};
use crate::say::{self, say};
use crate::store::merge::{self, MergedRun};
use crate::store::{Listed, Store, ThresholdOutcome};
use crate::user_error::{ForUser as _, UserError};
use espbench_measure::label;
use espbench_measure::plan::PlanSet;
use espbench_model::untrusted::Untrusted;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Remove this run and its samples from the store
    #[arg(long, value_name = "RUN")]
    remove: Option<String>,
    /// Print what the consoles of a run's boards printed, by cell and port
    #[arg(long, value_name = "RUN", conflicts_with = "remove")]
    consoles: Option<String>,
    /// The database of runs [default: runs.sqlite in the user's data folder]
    #[arg(long, value_name = "FILE", env = "ESPBENCH_STORE")]
    store: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Put the stores of shards together: what `espbench run --shard` measured becomes whole runs
    Merge(MergeArgs),
}

/// Flags of `espbench runs merge`.
#[derive(Debug, clap::Args)]
struct MergeArgs {
    /// Stores of the shards
    #[arg(required = true, value_name = "STORE")]
    stores: Vec<PathBuf>,
    /// The store to write, which must not be there yet
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// The store's.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Action::Merge(args)) = &args.action {
        return merge(args);
    }
    let store = StoreArgs { store: args.store.clone() };
    if let Some(name) = &args.remove {
        let name = store.existing()?.remove(name)?;
        say!("removed {name}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &args.consoles {
        return consoles(&store, name);
    }
    let path = store.path()?;
    let opened = if path.exists() { Some(store.to_read()?) } else { None };
    let runs = opened.as_ref().map(Store::list).transpose()?.unwrap_or_default();
    let Some(opened) = opened.filter(|_| !runs.is_empty()) else {
        say!("no runs yet in {}; `espbench run` makes one", path.display());
        return Ok(ExitCode::SUCCESS);
    };
    let widest = |of: fn(&Listed) -> &str| runs.iter().map(|it| of(it).chars().count()).max();
    let width = widest(|it| &it.name).unwrap_or(0);
    let targets = widest(|it| &it.facts.target).unwrap_or(0);
    let mut text = String::new();
    for run in runs {
        let mut state = match run.done {
            done if done == run.planned => "complete".to_owned(),
            done => format!("{done} of {}", run.planned),
        };
        for (count, word) in [(run.failed, "failed"), (run.stopped, "stopped")] {
            if count > 0 {
                let _ = write!(state, ", {count} {word}");
            }
        }
        state += &thresholds(&opened, &run);
        let [name, started, target] = [&run.name, &run.facts.started, &run.facts.target]
            .map(|it| Untrusted::line(it).to_string());
        let line = format!("{name:width$}  {started}  {target:targets$}  {state}");
        // On a narrow terminal the rest stands below the name.
        let _ = match output::screen().columns {
            Some(columns) if line.chars().count() > columns => {
                writeln!(text, "{name}\n  {started}  {target}  {state}")
            }
            _ => writeln!(text, "{line}"),
        };
    }
    output::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Says how many thresholds of a run failed; nothing where it has none, or none of its cells was measured.
fn thresholds(store: &Store, run: &Listed) -> String {
    let set = PlanSet::parse(&run.facts.plan_text);
    let planned = set.map_or(0, |set| set.thresholds().len());
    if run.done == 0 || planned == 0 {
        return String::new();
    }
    // A run that was cut short kept none, and an older espbench counted a threshold once for each result.
    let kept = store.outcome(run).ok().flatten().filter(|it| it.thresholds == planned);
    let told = || output::report(store, &run.name).ok().map(|it| output::outcome(&it));
    match kept.or_else(told) {
        None => ", thresholds not known".into(),
        Some(ThresholdOutcome { thresholds, failed: 0 }) => {
            format!(", thresholds held ({thresholds})")
        }
        Some(ThresholdOutcome { thresholds, failed }) => {
            format!(", {failed} of {thresholds} thresholds failed")
        }
    }
}

/// Prints the consoles of a run's boards, with a head above each.
fn consoles(store: &StoreArgs, name: &str) -> anyhow::Result<ExitCode> {
    let store = store.to_read()?;
    let run = store.run(name)?;
    let consoles = store.consoles(&run)?;
    if consoles.is_empty() {
        let what = format!("{} has no consoles", run.facts.name);
        let why = "only runs on boards have them (--on serial:…)";
        return Err(UserError::new(what).because(why).into());
    }
    let mut text = String::new();
    for it in consoles {
        let label = run.cells.get(it.position).map(|cell| label::of_workload(&cell.step.workload));
        let label = label.unwrap_or_default();
        let _ = writeln!(text, "=== {}, cell {}: {label}", it.port, it.position + 1);
        let printed = String::from_utf8_lossy(&it.bytes);
        let colours = say::is_coloured();
        let plain = anstream::adapter::strip_str(&printed).to_string();
        text.push_str(if colours { &printed } else { &plain });
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    output::print_drawing(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Puts stores together. Exit status: 0 where each run is complete, else 2.
fn merge(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let path = &args.output;
    let shown = path.display();
    if path.exists() {
        return Err(UserError::new(format!("{shown} is already there"))
            .because("a store is put together from nothing but the shards")
            .remedy("name another file with -o, or remove this one")
            .into());
    }
    let stores = merge::open(&args.stores)?;
    let cancel = flow::on_interrupt()?;
    let beside = file::beside(path);
    let merged = Store::open(&beside)
        .map_err(|error| UserError::from(&error))
        .and_then(|mut into| merge::merge(&stores, &mut into, &cancel));
    let renamed = merged.and_then(|runs| {
        let what = || format!("cannot write {shown}");
        std::fs::rename(&beside, path).for_user(what, "name another file with -o")?;
        Ok(runs)
    });
    let runs = renamed.inspect_err(|_| remove(&beside))?;
    let mut whole = true;
    for MergedRun { name, parts, planned, done, failed } in &runs {
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        let runs = if *parts == 1 { "run" } else { "runs" };
        say!("{name}: {done} of {planned} cells, from {parts} {runs}{failed}");
        if done < planned {
            whole = false;
            say!("to measure what is missing: espbench run --resume {name} --store {shown}");
        }
    }
    say!("wrote {shown}");
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Removes a store that is not whole, with what SQLite had beside it.
fn remove(store: &std::path::Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = store.as_os_str().to_owned();
        name.push(ending);
        let _ = std::fs::remove_file(name);
    }
}
