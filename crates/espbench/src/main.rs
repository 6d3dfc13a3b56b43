//! The `espbench` command.

fn main() -> std::process::ExitCode {
    espbench::cli::main()
}
