//! Files that a user names, read with a bound: a device, a pipe or a sparse file has no length that could be asked for.

use espbench_doctor::file::{DoctorFileFault, is_binary};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes of a file that people write: a plan, a lab, a profile, a script, keys, certificates.
pub const WRITTEN: u64 = 1 << 20;

/// Bytes of a recorded link, and of an sdkconfig with all that belongs to it.
pub const RECORDED: u64 = 32 << 20;

/// Bytes of results: some 500 a figure, of the largest plan.
pub const RESULTS: u64 = 512 << 20;

/// Bytes of an image: the largest flash of a board.
pub const IMAGE: u64 = 32 << 20;

/// Bytes of a program with its debug information.
pub const PROGRAM: u64 = 512 << 20;

/// Reads a file of at most so many bytes.
///
/// # Errors
/// The system's; it is longer.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    if facts.is_file() && facts.len() > most {
        return Err(too_long(most));
    }
    from(file, most)
}

/// Reads a text file of at most so many bytes.
///
/// # Errors
/// As [`bytes`]; it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    if facts.is_file() && facts.len() > most {
        return Err(too_long(most));
    }
    text_from(file, most)
}

/// Reads a stream to its end, which comes after at most so many bytes.
///
/// # Errors
/// The stream's; it is longer.
pub fn from(stream: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more tells that there is more.
    stream.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(most)) } else { Ok(bytes) }
}

/// Reads the text of a stream, as [`from`] does.
///
/// # Errors
/// As [`from`]; it is not UTF-8.
pub fn text_from(stream: impl Read, most: u64) -> io::Result<String> {
    // What begins as no text is not read to its end: a device may have none.
    as_text(from(LogStream::new(stream), most)?)
}

/// Reads a program in ELF, or an image, which is shorter.
///
/// # Errors
/// As [`bytes`].
pub fn program(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let first = from((&mut file).take(ELF.len() as u64), IMAGE)?;
    let most = if first == ELF { PROGRAM } else { IMAGE };
    let facts = file.metadata()?;
    if facts.is_file() && facts.len() > most {
        return Err(too_long(most));
    }
    from(io::Cursor::new(first).chain(file), most)
}

/// Bytes of a log by which it is known to be one.
const HEAD: usize = 4096;

/// Log of a console, of any length: what begins as no text ends with an error, so that reading a device ends.
#[derive(Debug)]
pub struct LogStream<R> {
    from: R,
    head: Option<Vec<u8>>,
}

impl<R: Read> LogStream<R> {
    /// Reads a log from a stream.
    pub const fn new(from: R) -> Self {
        Self { from, head: Some(Vec::new()) }
    }
}

impl<R: Read> Read for LogStream<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        if let Some(head) = &mut self.head {
            head.extend_from_slice(&into[..count]);
            if head.len() >= HEAD {
                if is_binary(head) {
                    return Err(io::Error::new(
                        ErrorKind::InvalidData,
                        DoctorFileFault::Binary.to_string(),
                    ));
                }
                self.head = None;
            }
        }
        Ok(count)
    }
}

/// First bytes of a file in ELF.
const ELF: &[u8] = b"\x7fELF";

fn as_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn too_long(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it is longer than {} MB", most >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_up_to_its_bound() {
        assert_eq!(from(&b"abc"[..], 3).unwrap(), b"abc");
        let long = from(&b"abcd"[..], 3).unwrap_err();
        assert_eq!(long.kind(), ErrorKind::FileTooLarge);
        let endless = text_from(io::repeat(b'a'), WRITTEN).unwrap_err();
        assert_eq!(endless.to_string(), "it is longer than 1 MB");
        assert_eq!(text_from(&b"\xff"[..], 3).unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_log_that_begins_as_none_ends() {
        let mut bytes = vec![0; 1000];
        let mut zeros = LogStream::new(io::repeat(0));
        let ended =
            std::iter::from_fn(|| Some(zeros.read(&mut bytes))).take(10).find_map(Result::err);
        assert_eq!(ended.unwrap().to_string(), "it holds bytes that no text has");
        let log = [&[0; 9][..], &b"I (1) wifi: x\r\n".repeat(1000)].concat();
        let mut read = Vec::new();
        LogStream::new(&log[..]).read_to_end(&mut read).unwrap();
        assert_eq!(read, log);
        // As PowerShell writes it.
        let wide: Vec<u8> = log[9..].iter().flat_map(|it| [*it, 0]).collect();
        LogStream::new(&wide[..]).read_to_end(&mut read).unwrap();
    }

    #[test]
    fn a_sparse_file_is_refused_before_it_is_read() {
        let name = format!("espbench-sparse-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        File::create(&path).unwrap().set_len(30 << 30).unwrap();
        let said = |read: io::Result<Vec<u8>>| read.unwrap_err().to_string();
        assert_eq!(said(bytes(&path, WRITTEN)), "it is longer than 1 MB");
        assert_eq!(said(program(&path)), "it is longer than 32 MB");
        std::fs::remove_file(&path).unwrap();
    }
}
