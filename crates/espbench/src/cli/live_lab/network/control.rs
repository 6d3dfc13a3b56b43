//! `--control SOCKET`: lines of JSON on a socket of the file system change the lab while it runs.
//!
//! A thread takes connections and reads lines; the loop of the lab carries them out one by one and answers
//! each with a line.

use super::request::{ControlRequest, LINE_MAX};
use crate::user_error::UserError;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// Requests that wait for the loop at most.
const WAITING: usize = 16;

/// Time for an answer of the loop, after which a connection is given up.
const ANSWER: Duration = Duration::from_secs(10);

/// A request, and where its answer goes.
pub(super) struct Asked {
    pub(super) request: ControlRequest,
    pub(super) answer: Sender<Value>,
}

/// A socket that takes requests; it is removed when this is dropped.
pub(super) struct ControlSocket {
    path: PathBuf,
    asked: Receiver<Asked>,
}

impl ControlSocket {
    /// Makes the socket, in place of one that nobody listens on.
    pub(super) fn open(path: &Path) -> Result<Self, UserError> {
        let cannot = |error| {
            UserError::new(format!("cannot listen on {}", path.display()))
                .because(error)
                .remedy("give a path of which no file is there, of at most 100 characters")
        };
        if UnixStream::connect(path).is_err() && is_socket(path) {
            let _ = std::fs::remove_file(path);
        }
        let listener = UnixListener::bind(path).map_err(cannot)?;
        let (send, asked) = sync_channel(WAITING);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let send = send.clone();
                thread::spawn(move || serve(&stream, &send));
            }
        });
        Ok(Self { path: path.to_owned(), asked })
    }

    /// Takes the next request.
    pub(super) fn take(&self) -> Option<Asked> {
        self.asked.try_recv().ok()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

/// Reads the lines of a connection, and writes the answers.
fn serve(stream: &UnixStream, send: &SyncSender<Asked>) {
    let mut reader = BufReader::new(stream);
    let mut out = stream;
    loop {
        let mut line = Vec::new();
        let most = LINE_MAX as u64 + 1;
        match reader.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
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
pub(super) fn refused(why: &str, remedy: &str) -> Value {
    json!({ "ok": false, "error": why, "remedy": remedy })
}
