//! `espbench board flash`: an image into a board's flash.

use super::ports::{PortArgs, number};
use crate::cli::common::idle;
use crate::cli::output;
use crate::flash::chip;
use crate::flash::image::FlashFile;
use crate::flash::loader::{BoardLoader, LoaderAccess};
use crate::named_file;
use crate::say::{self, say};
use crate::serial::ports::BoardPort;
use crate::sys::terminal;
use crate::user_error::{ForUser as _, UserError};
use espflash::target::{Chip as FlashChip, ProgressCallbacks};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The ELF that the build gave, a merged image (.bin), or any data with --at
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    port: PortArgs,
    /// The chip that must be there, such as esp32c3 [default: the one that the image is for]
    #[arg(long, value_parser = chip::parse)]
    chip: Option<FlashChip>,
    /// Where in flash the file goes, if it does not say so itself
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    at: Option<u32>,
    /// Table of partitions for an ELF, as CSV or binary [default: one program, nvs and phy_init]
    #[arg(long, value_name = "FILE")]
    partition_table: Option<PathBuf>,
    /// Rate of the serial port while the image is sent
    #[arg(long, value_name = "BAUD", default_value_t = 460_800)]
    baud: u32,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let bytes = named_file::program(&args.file)
        .for_user(|| format!("cannot read {name}"), "name the file that the build gave")?;
    let file = FlashFile::read(&name, bytes, args.at)?;
    if args.partition_table.is_some() && matches!(file, FlashFile::Raw { .. }) {
        let place = format!("beside {name}, which has its own table or needs none");
        return Err(idle("--partition-table", &place, "leave it out").into());
    }
    if let Some(table) = &args.partition_table {
        check_table(table)?;
    }
    let wanted = args.chip.or(file.chip());
    if let Some(chip) = args.chip.filter(|it| !file.fits(*it)) {
        let found = file.chip().map_or_else(|| "another processor".into(), chip::title);
        let what = format!("{name} is for {found}, not {}", chip::title(chip));
        return Err(UserError::new(what)
            .remedy("build it for that chip, or correct --chip")
            .into());
    }
    let mut failed = 0;
    for port in args.port.ports(false)? {
        if let Err(error) = flash(&port, wanted, args, &file) {
            error.say();
            failed += 1;
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Checks that a table of partitions is a plain file of a usual length, since a library reads it by its name.
///
/// # Errors
/// It is none.
fn check_table(path: &Path) -> Result<(), UserError> {
    let (what, remedy) =
        (|| format!("cannot read {}", path.display()), "name partitions.csv, or the build's .bin");
    if path.exists() && !path.is_file() {
        return Err(UserError::new(what()).because("it is no plain file").remedy(remedy));
    }
    named_file::bytes(path, named_file::WRITTEN).for_user(what, remedy).map(drop)
}

/// Flashes one board, and says how it went.
fn flash(
    port: &BoardPort,
    chip: Option<FlashChip>,
    args: &Args,
    file: &FlashFile,
) -> Result<(), UserError> {
    let begun = Instant::now();
    let mut board = BoardLoader::connect(LoaderAccess { port, chip, baud: args.baud }, true)?;
    let facts = board.facts()?;
    let mut progress = FlashProgress::new(port.name.clone());
    let written = board.write(file, args.partition_table.as_deref(), &mut progress);
    progress.clear();
    let length = written?;
    board.start_program()?;
    let revision = facts.revision.map_or_else(String::new, |it| format!(" {it}"));
    let line = format!(
        "{}: {}{revision}, MAC {}: {length} bytes in {:.1} s, {}; MD5 of flash agrees; started\n",
        port.name,
        chip::parse(&facts.chip).map_or(facts.chip, chip::title),
        facts.mac.as_deref().unwrap_or("unknown"),
        begun.elapsed().as_secs_f64(),
        match (progress.written, progress.skipped) {
            (_, 0) => "all written".to_owned(),
            (0, _) => "all there already".to_owned(),
            (_, skipped) =>
                format!("{skipped} of {} parts there already", progress.written + skipped),
        },
    );
    let told = output::print(&line);
    told.map_err(|e| UserError::new("cannot print").because(e))
}

/// Progress in place on a terminal; elsewhere a line for each part.
struct FlashProgress {
    port: String,
    at: u32,
    total: usize,
    begun: Instant,
    written: u32,
    skipped: u32,
}

impl FlashProgress {
    fn new(port: String) -> Self {
        Self { port, at: 0, total: 0, begun: Instant::now(), written: 0, skipped: 0 }
    }

    fn show(&self, text: &str) {
        if terminal::can_redraw() {
            say::status(&[format!("{}: {text}", self.port)]);
        }
    }

    fn clear(&self) {
        if terminal::can_redraw() {
            say::status(&[]);
        }
    }
}

/// Cells of the bar.
const BAR: usize = 24;

impl ProgressCallbacks for FlashProgress {
    fn init(&mut self, addr: u32, total: usize) {
        (self.at, self.total, self.begun) = (addr, total.max(1), Instant::now());
        self.update(0);
    }

    fn update(&mut self, current: usize) {
        let cells = BAR * current.min(self.total) / self.total.max(1);
        let bar = format!("{}{}", "#".repeat(cells), "-".repeat(BAR - cells));
        let percent = 100 * current / self.total.max(1);
        let spent = self.begun.elapsed();
        let left = spent.as_secs_f64() * (self.total - current.min(self.total)) as f64;
        let left = if current == 0 {
            String::new()
        } else {
            format!("  ({:.0} s left)", left / current as f64)
        };
        self.show(&format!("{bar} {percent:3} %  writing at {:#x}{left}", self.at));
    }

    fn verifying(&mut self) {
        self.show(&format!("verifying at {:#x}", self.at));
    }

    fn finish(&mut self, skipped: bool) {
        if skipped {
            self.skipped += 1;
        } else {
            self.written += 1;
            if !terminal::can_redraw() {
                say!("{}: written and verified at {:#x}", self.port, self.at);
            }
        }
    }
}
