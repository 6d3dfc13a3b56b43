//! `espbench tune --want`: a search in the virtual lab.

use super::super::common::Format;
use super::super::output;
use super::Args;
use super::lab::{TrialPool, advised, file, lab};
use crate::cli::file::replace;
use crate::cli::flow;
use crate::say::say;
use crate::user_error::UserError;
use crate::{labs, render};
use anyhow::Context as _;
use espbench_engine::tune::{TuneLab, search};
use espbench_measure::cell::Origin;
use espbench_measure::tune::answer::{TuneAnswer, fragment, report};
use espbench_model::speech::FlagName;
use std::process::ExitCode;

/// Where the rest of an answer is.
const MORE: &str =
    "All settings that were tried: --full, or -o FILE.html; lines for a file: --fragment FILE";

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    output::without_published(&args.output, "in tune")?;
    output::check(&args.output)?;
    let file = args.check.first().map(|path| file(args, path)).transpose()?;
    if let Some(host) = file.as_ref().filter(|it| it.reading.hosted.is_host) {
        return Err(UserError::new(format!("the lab cannot search from {}", host.name))
            .because(labs::NO_HOST)
            .remedy(format!("check the file without {}", FlagName("--want")))
            .into());
    }
    let lab = lab(args, file)?.map_err(advised)?;
    let mut runner = TrialPool::new(args)?;
    let answer = search(&lab, &mut runner)?;
    drop(runner);
    write(args, &lab, &answer)
}

fn write(args: &Args, lab: &TuneLab, answer: &TuneAnswer) -> anyhow::Result<ExitCode> {
    let report = report(&lab.facts(answer.spent), answer);
    let lines = fragment(answer);
    output::files(&report, &args.output, args.lab.quiet)?;
    if let Some(path) = &args.fragment {
        replace(path, lines.as_bytes()).with_context(|| output::cannot_write(path))?;
        if !args.lab.quiet {
            say!("wrote {}", path.display());
        }
    }
    match args.output.format {
        Format::Text if !args.output.full => {
            let origin = Some(Origin::Simulated);
            output::print_drawing(&render::tune::first_screen(
                &answer.card(),
                origin,
                MORE,
                output::screen(),
            ))?;
        }
        Format::Text => {
            output::print(&render::text::render_on(&report, output::screen()))?;
            if args.fragment.is_none() && !lines.is_empty() {
                output::print(&format!(
                    "\nFor sdkconfig.defaults (--fragment FILE writes it):\n\n{lines}"
                ))?;
            }
        }
        format => output::print(&output::draw(&report, format))?,
    }
    Ok(match &answer.recommended {
        _ if answer.stopped => ExitCode::from(flow::STOPPED),
        None => ExitCode::from(2),
        Some(best) => ExitCode::from(u8::from(!best.is_reached())),
    })
}
