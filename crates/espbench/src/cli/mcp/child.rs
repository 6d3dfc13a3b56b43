//! espbench as a child process, whose JSON is the answer.

use super::Context;
use super::told::Answer;
use crate::embed::{CALLER, ENDS_WITH_STDIN, WorkDone};
use crate::user_error::ForUser as _;
use rmcp::Json;
use rmcp::model::ProgressNotificationParam;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use tempfile::TempPath;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::Semaphore;

/// Bytes of an answer that are read: a report beyond them is none for a conversation.
const ANSWER: u64 = 64 << 20;
/// Commands at a time: each has threads for all processors.
const AT_A_TIME: usize = 4;
/// Bytes of errors that are told.
const ERRORS: usize = 16 << 10;

/// Arguments of a command, with files that live as long as it runs.
#[derive(Debug, Default)]
pub(super) struct ChildCommand {
    pub(super) args: Vec<String>,
    /// Files of text that the caller gave, with the argument that it was: the caller knows no file.
    pub(super) files: Vec<(TempPath, &'static str)>,
}

impl ChildCommand {
    pub(super) fn new(words: &[&str]) -> Self {
        Self { args: words.iter().map(|it| (*it).to_owned()).collect(), files: Vec::new() }
    }

    /// Adds a flag with its value in one argument, so that no value is taken for a flag.
    pub(super) fn flag(mut self, name: &str, value: Option<impl std::fmt::Display>) -> Self {
        self.args.extend(value.map(|value| format!("--{name}={}", a_name(value.to_string()))));
        self
    }

    /// Adds what is no flag, whatever it begins with.
    pub(super) fn names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.args.push("--".into());
        self.args.extend(names.into_iter().map(a_name));
        self
    }
}

/// Returns a name as a command takes it: `-` is a file here, since the stdin of a command is nobody's text.
fn a_name(name: String) -> String {
    if name == "-" { "./-".into() } else { name }
}

/// Returns the name in an argument of what is neither a file nor a folder: who reads it may wait for ever, and so would every
/// further call. A target that is a device is measured, and not read.
fn without_end(argument: &str) -> Option<&str> {
    let value =
        argument.split_once('=').filter(|it| it.0.starts_with("--")).map_or(argument, |it| it.1);
    let file = value.strip_prefix("sim:").unwrap_or(value);
    std::fs::metadata(file).is_ok_and(|it| !it.is_file() && !it.is_dir()).then_some(file)
}

/// The program itself.
#[derive(Clone, Debug)]
pub(super) struct Child {
    program: PathBuf,
    store: Option<PathBuf>,
    /// Room for commands at a time; further ones wait for their turn.
    room: Arc<Semaphore>,
}

impl Child {
    pub(super) fn new(store: Option<PathBuf>) -> anyhow::Result<Self> {
        let what = || "espbench does not find itself".to_owned();
        let program = std::env::current_exe().for_user(what, "start it by its whole path")?;
        Ok(Self { program, store, room: Arc::new(Semaphore::new(AT_A_TIME)) })
    }

    /// Runs a command to its end, or until the client does not want its answer any more, and reads it.
    pub(super) async fn ask<T: Answer>(
        &self,
        command: ChildCommand,
        wanted: &T::Wanted,
        context: &Context,
    ) -> Result<Json<T>, String> {
        if let Some(name) = command.args.iter().find_map(|it| without_end(it)) {
            return Err(format!(
                "`{name}` is a pipe or a device, which may have no end\n  do: name a file, or give its text"
            ));
        }
        let listener = ProgressListener::of(context);
        let done = context.ct.run_until_cancelled(self.carry_out(&command.args, listener)).await;
        let Some(done) = done else { return Err("cancelled".into()) };
        let (status, out, errors) =
            done.map_err(|error| format!("espbench did not run: {error}"))?;
        let [out, errors] = [out, errors].map(|it| of_caller(it, &command.files));
        // Status 1 is an answer, too: a threshold that failed, settings that do not reach what is wanted.
        if out.is_empty() || !matches!(status, Some(0..=2)) {
            return Err(if errors.is_empty() { "espbench was ended".into() } else { errors });
        }
        T::read(&out, errors, wanted).map(Json)
    }

    async fn carry_out(
        &self,
        args: &[String],
        listener: Option<ProgressListener>,
    ) -> std::io::Result<(Option<i32>, String, String)> {
        let _turn = self.room.acquire().await.map_err(std::io::Error::other)?;
        let mut process = Command::new(&self.program);
        process
            .args(args)
            .env("NO_COLOR", "1")
            .env(CALLER, "mcp")
            .env(ENDS_WITH_STDIN, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(store) = &self.store {
            process.env("ESPBENCH_STORE", store);
        }
        let mut child = process.spawn()?;
        // Held until the command has ended, or this server has.
        let _held = child.stdin.take();
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        // Both pipes at once: a full one would hold the child up.
        let errors = tokio::spawn(told(errors, listener));
        let out = text(out, ANSWER).await?;
        let errors = errors.await.unwrap_or_else(|_| Ok(String::new()))?;
        Ok((child.wait().await?.code(), out, errors.trim().to_owned()))
    }
}

/// Returns what a command told with the names of arguments in place of those of temporary files.
fn of_caller(text: String, files: &[(TempPath, &str)]) -> String {
    let named = |it: String, (path, argument): &(TempPath, &str)| {
        it.replace(&*path.to_string_lossy(), argument)
    };
    files.iter().fold(text, named)
}

/// A client that wants to hear how far a call is.
struct ProgressListener {
    context: Context,
    token: rmcp::model::ProgressToken,
    /// Sum of all steps: a search has parts, of which each begins at 0, and the protocol wants numbers that grow.
    sum: u64,
    last: u64,
}

impl ProgressListener {
    fn of(context: &Context) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        Some(Self { context: context.clone(), token, sum: 0, last: 0 })
    }

    async fn hear(&mut self, work: WorkDone) {
        let step = if work.done < self.last { work.done } else { work.done - self.last };
        self.last = work.done;
        if step == 0 {
            return;
        }
        self.sum += step;
        let told = ProgressNotificationParam::new(self.token.clone(), self.sum as f64)
            .with_message(work.to_string());
        // A client that has gone is told by its cancelled call.
        let _ = self.context.peer.notify_progress(told).await;
    }
}

/// Reads what a command tells: steps of its work are handed on, and the first bytes of all else are kept.
async fn told(
    pipe: Option<impl AsyncRead + Unpin>,
    mut listener: Option<ProgressListener>,
) -> std::io::Result<String> {
    let Some(pipe) = pipe else { return Ok(String::new()) };
    let (mut pipe, mut line, mut kept) = (BufReader::new(pipe), Vec::new(), Vec::new());
    loop {
        line.clear();
        if (&mut pipe).take(ERRORS as u64).read_until(b'\n', &mut line).await? == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        match (serde_json::from_slice::<WorkDone>(&line), &mut listener) {
            (Ok(work), Some(listener)) => listener.hear(work).await,
            (Ok(_), None) => {}
            (Err(_), _) => kept.extend_from_slice(&line[..line.len().min(ERRORS - kept.len())]),
        }
    }
}

/// Reads a pipe to its end, and keeps its first bytes.
async fn text(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<String> {
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let mut bytes = Vec::new();
    (&mut pipe).take(most).read_to_end(&mut bytes).await?;
    let mut rest = [0; 4096];
    while pipe.read(&mut rest).await? > 0 {}
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A board is named by its device, and a lab by its file.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_measured_and_not_read() {
        assert_eq!(without_end("/dev/null"), Some("/dev/null"));
        assert_eq!(without_end("--check=/dev/zero"), Some("/dev/zero"));
        assert_eq!(without_end("--on=sim:/dev/zero"), Some("/dev/zero"));
        for fine in ["--on=serial:/dev/null", "--on=udp:127.0.0.1", "round-trip", "/dev", "-q"] {
            assert_eq!(without_end(fine), None, "{fine}");
        }
    }
}
