//! `espbench completions` and `espbench man`: what shells and `man` know of the command.

use super::output;
use anyhow::Context as _;
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags of `espbench completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  espbench completions bash > ~/.local/share/bash-completion/completions/espbench
  espbench completions zsh > ~/.zfunc/_espbench
  espbench completions fish > ~/.config/fish/completions/espbench.fish
  espbench completions powershell >> $PROFILE")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Flags of `espbench man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  espbench man | man -l -
  espbench man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for one page for each subcommand, made where it is missing [default: the command's own page
    /// on stdout]
    folder: Option<PathBuf>,
}

/// Prints the completions of a shell.
///
/// # Errors
/// Stdout cannot be written.
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "espbench", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes one for each subcommand.
///
/// # Errors
/// Stdout or a file cannot be written.
pub fn man(args: &ManArgs, command: clap::Command) -> anyhow::Result<ExitCode> {
    match &args.folder {
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text).context("the manual page")?;
            output::print(&String::from_utf8_lossy(&text))?;
        }
        Some(folder) => {
            let cannot = || format!("cannot write manual pages to {}", folder.display());
            std::fs::create_dir_all(folder).with_context(cannot)?;
            clap_mangen::generate_to(command, folder).with_context(cannot)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
