//! `espbench completions` and `espbench man`: what shells and `man` know of the command.

use super::{builtin, output};
use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use espbench_sim::lab::file::{FileKind, Library};
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
pub fn completions(args: &CompletionsArgs, command: clap::Command) -> anyhow::Result<ExitCode> {
    let library = Library::built_in();
    // A parser keeps its values for as long as the process lasts.
    let labs: Vec<&'static str> =
        library.names(FileKind::Lab).map(|it| &*it.to_string().leak()).collect();
    let plans: Vec<&'static str> = builtin::all().map(|(name, _)| name).collect();
    let mut command = with_names(command, &labs, &plans);
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "espbench", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if args.shell == clap_complete::Shell::Zsh {
        for (function, names) in [("_espbench_labs", &labs), ("_espbench_plans", &plans)] {
            text = with_files(&text, function, &names.join(" "));
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Lets zsh offer files beside names: what is generated offers the names alone. Other shells go on with files by
/// themselves.
fn with_files(text: &str, function: &str, names: &str) -> String {
    let offers = format!(
        "\n(( $+functions[{function}] )) ||\n{function}() {{\n    _alternative 'names:name:({names})' 'files:file:_files'\n}}\n"
    );
    let text = text.replace(&format!(":({names})"), &format!(":{function}"));
    // Before the last lines, which call what is defined above.
    let end = text.rfind("\nif [ \"$funcstack[1]\"").unwrap_or(text.len());
    format!("{}{offers}{}", &text[..end], &text[end..])
}

/// Lets shells complete the names of built-in plans and labs.
fn with_names(
    command: clap::Command,
    labs: &[&'static str],
    plans: &[&'static str],
) -> clap::Command {
    let (labs, plans) = (labs.to_vec(), plans.to_vec());
    let lab = |id: &'static str| {
        let labs = labs.clone();
        move |it: clap::Command| {
            it.mut_arg(id, |arg| arg.value_parser(PossibleValuesParser::new(labs)))
        }
    };
    command
        .mut_subcommand("run", |it| {
            it.mut_arg("plans", |arg| arg.value_parser(PossibleValuesParser::new(plans)))
        })
        .mut_subcommand("live", lab("place"))
        .mut_subcommand("lab", |it| it.mut_subcommand("show", lab("lab")))
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
