//! Constants with their sources.

use super::super::output;
use crate::labs;
use crate::user_error::UserError;
use anyhow::bail;
use espbench_dot11::radio::{GuardInterval, HeGuard, Preamble, RadioChip, WifiMode};
use espbench_measure::table::Column;
use espbench_sim::lab::file::{Constant, Constants, FileKind, constants};
use espbench_sim::lab::profile::Confidence;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A profile or an environment: a built-in name, or a TOML file
    name: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let name = &args.name;
    let kind = labs::kind(name, FileKind::Profile)?;
    let library = labs::library(kind, name)?;
    let (mut list, radio) = match kind {
        FileKind::Profile => {
            let profile = library.profile(name)?;
            (constants(Constants::Profile(&profile)), radio(profile.chip))
        }
        FileKind::Environment => {
            (constants(Constants::Environment(&library.environment(name)?)), String::new())
        }
        FileKind::Lab => {
            bail!(
                UserError::new(format!("{name} is no profile"))
                    .because("it is a lab")
                    .remedy(format!("`espbench lab show {name}` draws it, and names its profiles"))
            )
        }
    };
    let title = library.title(kind, name).unwrap_or_default();
    list.retain(|it| it.value.is_some());
    let fitted = list.iter().filter(|it| it.fitted()).count();
    let mut out = format!("{} {name}: {title}\n\n", kind.word());
    out += &output::table(&table(&list));
    out += &format!(
        "\n{} constants, {fitted} of them fitted to published cells; the sources of those say \
         which.\n",
        list.len()
    );
    out += &radio;
    output::print_text(&out)
}

/// Returns the table of a chip's radio: transmission power and sensitivity in each mode.
fn radio(chip: RadioChip) -> String {
    let columns = vec![
        Column::words("mode"),
        Column::setting("sends with", "dBm"),
        Column::setting("reads from", "dBm"),
    ];
    // Of modes that differ in a preamble or a guard interval, one is enough.
    let plain = |mode: &WifiMode| match mode {
        WifiMode::Hr(hr) => *hr == hr.with(Preamble::Long),
        WifiMode::Ofdm(_) => true,
        WifiMode::Ht(ht) => ht.guard == GuardInterval::Long,
        WifiMode::He(he) => he.guard() == HeGuard::Us16,
        WifiMode::Lr(_) => true,
    };
    let modes = WifiMode::ALL.into_iter().filter(|mode| plain(mode) && chip.sends(*mode));
    let rows = modes.map(|mode| {
        let reads = chip.sensitivity_dbm(mode).map_or_else(String::new, |dbm| format!("{dbm:.1}"));
        vec![mode.to_string(), format!("{:.1}", chip.power_dbm(mode)), reads]
    });
    let table = super::table("radio", "", columns, rows.collect());
    let [power, sensitivity] = chip.sources();
    format!(
        "\nRadio of an {}, before any limit of software\n\n{}\nPowers: {power}. Between the slowest and \
         the fastest rate of a kind they are in proportion.\nSensitivities: {sensitivity}.\n",
        chip.name(),
        output::table(&table)
    )
}

fn table(list: &[Constant]) -> espbench_measure::table::Table {
    let columns = vec![
        Column::words("constant"),
        Column::setting("value", ""),
        Column::words("fitted"),
        Column::words("confidence"),
        Column::words("source"),
    ];
    let before = std::iter::once(None).chain(list.iter().map(Some));
    let rows = list.iter().zip(before).map(|(it, before)| {
        let value = it.value.map_or_else(String::new, |value| value.to_string());
        let fitted = if it.fitted() { "fitted" } else { "" };
        let same = before.is_some_and(|before| before.source == it.source);
        let source = if same { "as above" } else { &it.source };
        let confidence = it.confidence.map_or("", Confidence::word);
        vec![it.key.clone(), value, fitted.into(), confidence.into(), source.into()]
    });
    super::table("constants", "", columns, rows.collect())
}
