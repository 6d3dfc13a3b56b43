//! Lines of the client on their way to the server of the protocol. One that is no message of JSON-RPC gets the error that
//! JSON-RPC has for it; the server itself would pass over it, and the client would wait.

use rmcp::model::ClientJsonRpcMessage;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Bytes of the longest line.
const LONGEST: usize = 16 << 20;
/// Bytes of a pipe.
const PIPE: usize = 64 << 10;

/// Errors of JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// The two ends that the server reads and writes, and the task that ends once all is written.
type Pipes = ((ReadHalf<DuplexStream>, WriteHalf<DuplexStream>), JoinHandle<io::Result<()>>);

/// Starts the tasks between stdin, stdout and the server.
pub(super) fn pipes() -> Pipes {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (from_server, to_server) = tokio::io::split(ours);
    let out = Arc::new(Mutex::new(tokio::io::stdout()));
    tokio::spawn(read(BufReader::new(tokio::io::stdin()), to_server, Arc::clone(&out)));
    let written = tokio::spawn(write(BufReader::new(from_server), out));
    (tokio::io::split(theirs), written)
}

/// Hands the server's lines on, each whole.
async fn write(
    mut from: impl AsyncBufRead + Unpin,
    out: Arc<Mutex<impl AsyncWrite + Unpin>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await? > 0 {
        put(&out, &line).await?;
        line.clear();
    }
    Ok(())
}

async fn put(out: &Mutex<impl AsyncWrite + Unpin>, line: &[u8]) -> io::Result<()> {
    let mut out = out.lock().await;
    out.write_all(line).await?;
    out.flush().await
}

/// Hands the client's lines to the server, and answers those that are none of the protocol.
async fn read(
    mut from: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    out: Arc<Mutex<impl AsyncWrite + Unpin>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut from).take(LONGEST as u64 + 1).read_until(b'\n', &mut line).await? == 0 {
            // The server ends with its client.
            return to.shutdown().await;
        }
        let error = if line.len() > LONGEST {
            skip(&mut from, line.last() == Some(&b'\n')).await?;
            Some(error(
                INVALID_REQUEST,
                &format!("the line is longer than {LONGEST} bytes"),
                Value::Null,
            ))
        } else {
            wrong(&line)
        };
        match error {
            Some(error) => put(&out, format!("{error}\n").as_bytes()).await?,
            None => to.write_all(&line).await?,
        }
    }
}

/// Reads on to the end of a line.
async fn skip(from: &mut (impl AsyncBufRead + Unpin), mut is_over: bool) -> io::Result<()> {
    while !is_over {
        let some = from.fill_buf().await?;
        let end = some.iter().position(|&it| it == b'\n');
        is_over = end.is_some() || some.is_empty();
        let len = end.map_or(some.len(), |at| at + 1);
        from.consume(len);
    }
    Ok(())
}

/// Returns the error for a line that is no message of JSON-RPC.
fn wrong(line: &[u8]) -> Option<Value> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(why) => return Some(error(PARSE_ERROR, &format!("no JSON: {why}"), Value::Null)),
    };
    let id = value.get("id").filter(|it| it.is_string() || it.is_number()).cloned();
    let is_request = value.get("method").is_some_and(Value::is_string);
    // Notifications get no answer, and answers are the client's own.
    let is_answer = value.get("result").is_some() || value.get("error").is_some();
    if value.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && (is_answer || (is_request && id.is_none()))
    {
        return None;
    }
    serde_json::from_value::<ClientJsonRpcMessage>(value)
        .err()
        .map(|_| error(INVALID_REQUEST, "no request of JSON-RPC 2.0", id.unwrap_or_default()))
}

fn error(code: i32, message: &str, id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the server gets and what the client gets for those bytes.
    fn carried(bytes: &[u8]) -> (Vec<u8>, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut to, out) = (Vec::new(), Arc::new(Mutex::new(Vec::new())));
            read(BufReader::new(bytes), &mut to, Arc::clone(&out)).await.unwrap();
            let told = out.lock().await.clone();
            let told = told.split(|&it| it == b'\n').filter(|it| !it.is_empty());
            (to, told.map(|it| serde_json::from_slice(it).unwrap()).collect())
        })
    }

    #[test]
    fn a_line_that_is_no_message_gets_an_error_and_the_next_one_is_read() {
        let ping = br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
        let long =
            [&br#"{"jsonrpc":"2.0","id":77,"method":""#[..], &vec![b'A'; LONGEST + 9]].concat();
        let deep = vec![b'['; 100_000];
        for (bytes, code, id) in [
            (&b"{not json"[..], PARSE_ERROR, Value::Null),
            (b"\xff\xfe\x00", PARSE_ERROR, Value::Null),
            (&deep, PARSE_ERROR, Value::Null),
            (b"null", INVALID_REQUEST, Value::Null),
            (b"[]", INVALID_REQUEST, Value::Null),
            (br#"{"jsonrpc":"2.0","id":7}"#, INVALID_REQUEST, json!(7)),
            (br#"{"id":"a","method":1}"#, INVALID_REQUEST, json!("a")),
            (&long, INVALID_REQUEST, Value::Null),
        ] {
            let (to, told) = carried(&[bytes, b"\n", ping, b"\n"].concat());
            assert_eq!(to, [&ping[..], b"\n"].concat(), "the next line");
            let [error] = &told[..] else { panic!("{told:?}") };
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &id), "{error}");
        }
    }

    #[test]
    fn messages_pass_as_they_are() {
        let lines = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","method":"notifications/whatever","params":{"a":1}}
{"jsonrpc":"2.0","id":3,"result":{}}

"#;
        let (to, told) = carried(lines);
        assert_eq!((to.as_slice(), told.len()), (&lines[..], 0));
    }
}
