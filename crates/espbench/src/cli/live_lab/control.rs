//! `--control SOCKET`: lines of JSON on a socket of the file system change the lab while it runs.
//!
//! A thread takes connections and reads lines; the loop of the lab carries them out one by one and answers
//! each with a line.

use super::request::{ControlRequest, LINE_MAX};
use super::what_if;
use crate::sys::local_socket::{self, LocalListener, LocalStream};
use crate::user_error::UserError;
use espbench_sim::lab::live::WhatIf;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Requests that wait for the loop at most.
const WAITING: usize = 16;

/// Connections at a time; further ones are closed.
const CONNECTIONS: usize = 32;

/// Time for an answer of the loop, after which a connection is given up.
const ANSWER: Duration = Duration::from_secs(10);

/// Time for the last answers to be written once the lab has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Time from a line to the carriage return after it: the line editor of ESP-IDF 4.4 takes what comes within 30 ms for
/// pasted text.
pub(super) const RETURN_AFTER: Duration = Duration::from_millis(40);

/// A request, and where its answer goes.
struct Asked {
    request: ControlRequest,
    answer: Sender<Value>,
}

/// A lab that a control socket changes.
pub(super) trait Controlled {
    /// Returns its socket.
    fn socket(&self) -> Option<&ControlSocket>;

    /// Lets virtual time come to the clock's.
    fn keep_up(&mut self) -> anyhow::Result<()>;

    /// Returns the number of the device of that name.
    fn device(&self, name: &str) -> Result<usize, UserError>;

    /// Changes a property of a device, or of all; returns whether there was one to change.
    fn change(&mut self, device: Option<usize>, what: WhatIf) -> anyhow::Result<bool>;

    /// Types a line at a device's console, and its end [`RETURN_AFTER`] that; returns whether it had room for all.
    fn type_line(&mut self, device: usize, line: &str) -> bool;

    /// Presses a device's reset button.
    fn restart(&mut self, device: usize) -> anyhow::Result<()>;

    /// Returns time, devices and counts.
    fn status(&self) -> Value;

    /// Ends the lab soon.
    fn stop(&mut self);
}

/// Carries out the requests that wait.
pub(super) fn carry_out(lab: &mut impl Controlled) -> anyhow::Result<()> {
    while let Some(Asked { request, answer }) = lab.socket().and_then(ControlSocket::take) {
        lab.keep_up()?;
        let said = answer_to(lab, &request)?;
        // Nobody waits for it any more, maybe.
        let _ = answer.send(said);
    }
    Ok(())
}

fn answer_to(lab: &mut impl Controlled, request: &ControlRequest) -> anyhow::Result<Value> {
    let done = |is_done: bool| match is_done {
        true => json!({ "ok": true }),
        false => refused("this lab has nothing of it to change", ""),
    };
    let device = match request.device().map(|it| lab.device(it)).transpose() {
        Ok(device) => device,
        Err(error) => return Ok(refused(&error.to_string(), "")),
    };
    Ok(match (request, device) {
        (ControlRequest::Set { key, value, .. }, device) => match what_if::parse(key, value) {
            Err(why) => refused(&why, ControlRequest::EXAMPLE),
            Ok(what) => done(lab.change(device, what)?),
        },
        (ControlRequest::Type { line, .. }, Some(device)) => {
            done(!line.contains(['\r', '\n']) && lab.type_line(device, line))
        }
        (ControlRequest::Restart { .. }, Some(device)) => {
            lab.restart(device)?;
            done(true)
        }
        (ControlRequest::Type { .. } | ControlRequest::Restart { .. }, None) => done(false),
        (ControlRequest::Status, _) => lab.status(),
        (ControlRequest::Stop, _) => {
            lab.stop();
            done(true)
        }
    })
}

/// A socket that takes requests; it is removed when this is dropped.
pub(super) struct ControlSocket {
    path: PathBuf,
    /// Requests that wait for the loop; absent once the lab has ended.
    asked: Option<Receiver<Asked>>,
    unanswered: Unanswered,
}

/// A count of the requests whose answer is not written yet.
#[derive(Clone, Default)]
struct Unanswered(Arc<(Mutex<usize>, Condvar)>);

impl Unanswered {
    /// Counts one more until what it returns is dropped.
    fn one_more(&self) -> OneUnanswered {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        OneUnanswered(self.clone())
    }

    /// Waits until no request is unanswered, for at most that time.
    fn wait(&self, most: Duration) {
        let (count, changed) = &*self.0;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_timeout_while(count, most, |it| *it > 0));
    }
}

/// A request that counts as unanswered until this is dropped.
struct OneUnanswered(Unanswered);

impl Drop for OneUnanswered {
    fn drop(&mut self) {
        let (count, changed) = &*self.0.0;
        *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        changed.notify_all();
    }
}

impl ControlSocket {
    /// Makes the socket, in place of one that nobody listens on.
    pub(super) fn open(path: &Path) -> Result<Self, UserError> {
        let cannot = |error| {
            UserError::new(format!("cannot listen on {}", path.display()))
                .because(error)
                .remedy("give a path of which no file is there, of at most 100 characters")
        };
        if LocalStream::connect(path).is_err() && local_socket::is_one(path) {
            let _ = std::fs::remove_file(path);
        }
        let listener = local_socket::listen(path).map_err(cannot)?;
        let (send, asked) = sync_channel(WAITING);
        let unanswered = Unanswered::default();
        let counted = unanswered.clone();
        let named = thread::Builder::new().name("control".into());
        named.spawn(move || accept(&listener, &send, &counted)).map_err(cannot)?;
        Ok(Self { path: path.to_owned(), asked: Some(asked), unanswered })
    }

    /// Takes the next request.
    fn take(&self) -> Option<Asked> {
        self.asked.as_ref()?.try_recv().ok()
    }
}

impl Drop for ControlSocket {
    /// Lets the threads write what was answered last (the answer to `stop` is one): the program ends next.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        // Requests that nobody takes any more are given up at once.
        self.asked = None;
        self.unanswered.wait(LAST_ANSWERS);
    }
}

/// Takes connections; one for which there is no room or no thread is closed.
fn accept(listener: &LocalListener, send: &SyncSender<Asked>, unanswered: &Unanswered) {
    let mut threads: Vec<thread::JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // No descriptor, maybe: there will be one again.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        threads.retain(|it| !it.is_finished());
        if threads.len() >= CONNECTIONS {
            continue;
        }
        let (send, unanswered) = (send.clone(), unanswered.clone());
        let named = thread::Builder::new().name("control-client".into());
        threads.extend(named.spawn(move || serve(&stream, &send, &unanswered)));
    }
}

/// Reads the lines of a connection, and writes the answers.
fn serve(stream: &LocalStream, send: &SyncSender<Asked>, unanswered: &Unanswered) {
    let mut reader = BufReader::new(stream);
    let mut out = stream;
    loop {
        let mut line = Vec::new();
        let most = LINE_MAX as u64 + 1;
        match reader.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let _unanswered = unanswered.one_more();
        let is_cut = line.len() > LINE_MAX && line.last() != Some(&b'\n');
        let answer = match ControlRequest::parse(&line) {
            _ if is_cut => refused(&format!("the line is longer than {LINE_MAX} bytes"), ""),
            Ok(None) => continue,
            Ok(Some(request)) => {
                let (answer, answered) = channel();
                if send.send(Asked { request, answer }).is_err() {
                    return;
                }
                let Ok(value) = answered.recv_timeout(ANSWER) else { return };
                value
            }
            Err(why) => refused(&why, ControlRequest::EXAMPLE),
        };
        if writeln!(out, "{answer}").is_err() || is_cut {
            return;
        }
    }
}

/// Returns the answer to a request that is not carried out.
fn refused(why: &str, remedy: &str) -> Value {
    json!({ "ok": false, "error": why, "remedy": remedy })
}
