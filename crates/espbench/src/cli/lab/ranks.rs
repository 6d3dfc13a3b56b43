//! `espbench lab ranks`: the ranks of settings of Espressif's guide in the lab, beside the guide's figures.

use crate::cli::common::chip;
use crate::cli::{flow, output};
use crate::user_error::UserError;
use espbench_dot11::radio::WifiMode;
use espbench_engine::tune::{RankSetup, SimulatedRank, TuneError, simulate_ranks};
use espbench_measure::table::{Column, Table};
use espbench_model::sdkconfig::Chip;
use espbench_sim::lab::file::Library;
use espbench_stats::quantile::Sorted;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chip: esp32, esp32c3, …
    #[arg(value_parser = chip)]
    chip: Chip,
    /// Mode in which router and device send data frames, such as HT40-MCS4-SGI [default: the fastest
    /// that arrives]
    #[arg(long, value_name = "PHY_RATE", value_parser = rate)]
    phy_rate: Option<WifiMode>,
    /// Load that UDP offers to the device, in Mbit/s
    #[arg(long, value_name = "MBIT/S", default_value_t = 105,
        value_parser = clap::value_parser!(u16).range(1..=150))]
    offered: u16,
    /// Seeds of which each figure is the mean
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    seeds: u16,
}

fn rate(text: &str) -> Result<WifiMode, String> {
    text.parse().map_err(|e| format!("`{text}` is {e}"))
}

/// Simulates the ranks, and prints the table.
///
/// # Errors
/// The chip has no ranks; it does not send in that mode; the user stopped it.
pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let cancel = flow::on_interrupt()?;
    let setup = RankSetup {
        chip: args.chip,
        lab: "shield-box".into(),
        phy_rate: args.phy_rate,
        offered_mbit_s: args.offered.into(),
        time: Duration::from_secs(3),
        seeds: args.seeds.into(),
    };
    let library = Library::built_in();
    let stop = || cancel.load(Ordering::Relaxed);
    let ranks = simulate_ranks(&setup, &library, &stop).map_err(advised)?;
    let errors =
        Sorted::new(ranks.iter().flat_map(SimulatedRank::errors_percent).map(f64::abs).collect());
    let [median, worst] =
        [errors.quantile(0.5), errors.max()].map(|it| it.value.unwrap_or_default());
    output::print_text(&format!(
        "Ranks of settings of {}: simulated/published Mbit/s, and the error\n\n{}\n{} figures: median error \
         {median:.1} %, worst {worst:.0} %\n",
        args.chip,
        output::table(&table(&ranks)),
        errors.values().len()
    ))
}

fn table(ranks: &[SimulatedRank]) -> Table {
    let columns =
        ["rank", "TCP from the chip", "TCP to the chip", "UDP from the chip", "UDP to the chip"]
            .map(Column::words)
            .to_vec();
    let rows = ranks.iter().map(|it| {
        let errors = it.errors_percent();
        let cell = |at: usize| {
            let (ours, published) = (it.mbit_s[at], it.rank.mbit_s[at]);
            format!("{ours:.1}/{published:.1} {:+.0} %", errors[at])
        };
        std::iter::once(it.rank.name.to_string()).chain((0..4).map(cell)).collect()
    });
    super::table("ranks", "", columns, rows.collect())
}

/// Says what to do about a mistake.
fn advised(wrong: TuneError) -> anyhow::Error {
    match wrong {
        TuneError::NoRanks { chip, known } => {
            UserError::new(format!("Espressif's guide has no ranks of the {chip}"))
                .because(format!("it has those of {}", known.join(", ")))
                .remedy(format!(
                    "espbench tune --want 'tcp-tx>=20Mbit/s' --chip {} finds settings without them",
                    chip.name()
                ))
                .into()
        }
        wrong => wrong.into(),
    }
}
