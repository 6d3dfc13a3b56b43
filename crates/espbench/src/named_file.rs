//! Files that a user names, read with a bound: a device, a pipe or a sparse file has no length that could be asked for.

use espbench_doctor::file::{DoctorFileFault, is_binary};
use flate2::read::MultiGzDecoder;
use std::borrow::BorrowMut;
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

/// Bytes that a packed stream may unpack to: logs of any length are read in constant memory, and one without end is none.
pub const UNPACKED: u64 = 10 << 30;

/// First bytes of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads a stream that may be gzip, unpacked as it comes, in constant memory.
///
/// # Errors
/// The stream's. Reading fails where it is broken, or unpacks to more than 10 GB.
pub fn unpacked<'a>(mut stream: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut first = [0; GZIP.len()];
    let mut filled = 0;
    while filled < first.len() {
        match stream.read(&mut first[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(why) if is_for_later(&why) => {}
            Err(why) => return Err(why),
        }
    }
    let whole = io::Cursor::new(first).take(filled as u64).chain(stream);
    if filled < first.len() || first != GZIP {
        return Ok(Box::new(whole));
    }
    Ok(Box::new(UnpackedStream { from: MultiGzDecoder::new(whole), left: UNPACKED }))
}

/// Returns whether an error of a stream only says that nothing has come yet.
#[must_use]
pub fn is_for_later(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

/// Reads a packed stream that something else unpacks. It fails where it unpacks to more than is left, of [`UNPACKED`] for all
/// streams of a file.
pub fn bounded<'a>(from: impl Read + 'a, left: &'a mut u64) -> Box<dyn Read + 'a> {
    Box::new(UnpackedStream { from, left })
}

/// Stream that is unpacked, with what is left of its bound.
struct UnpackedStream<R, L> {
    from: R,
    left: L,
}

/// Says that what is packed is broken, where the one who unpacks it has found that; other errors are those of the file.
fn broken(why: io::Error) -> io::Error {
    use ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let kind = why.kind();
    match kind {
        InvalidData | InvalidInput | Other | UnexpectedEof => {
            io::Error::new(kind, format!("what is packed is broken: {why}"))
        }
        _ => why,
    }
}

impl<R: Read, L: BorrowMut<u64>> Read for UnpackedStream<R, L> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into).map_err(broken)?;
        let left = self.left.borrow_mut();
        *left = left.checked_sub(count as u64).ok_or_else(|| {
            let most = UNPACKED >> 30;
            io::Error::new(ErrorKind::FileTooLarge, format!("it unpacks to more than {most} GB"))
        })?;
        Ok(count)
    }
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

    fn packed(bytes: &[u8]) -> Vec<u8> {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Stream that has nothing each second time.
    struct Slow<'a>(&'a [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let most = into.len().min(3);
            self.0.read(&mut into[..most])
        }
    }

    #[test]
    fn gzip_is_unpacked_as_it_comes() {
        let log = b"I (1) wifi: x\r\n".repeat(1000);
        let one = packed(&log);
        for (bytes, all) in
            [(&log, &log), (&one, &log), (&[&one[..], &one].concat(), &log.repeat(2))]
        {
            let mut read = Vec::new();
            unpacked(&bytes[..]).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == *all);
            let mut slow = unpacked(Slow(bytes, false)).unwrap();
            let (mut read, mut some) = (Vec::new(), [0; 100]);
            loop {
                match slow.read(&mut some) {
                    Ok(0) => break,
                    Ok(count) => read.extend_from_slice(&some[..count]),
                    Err(why) => assert!(is_for_later(&why), "{why}"),
                }
            }
            assert!(read == *all);
        }
        for short in [&b""[..], b"x", &GZIP[..1]] {
            let mut read = Vec::new();
            unpacked(short).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, short);
        }
        let cut = unpacked(&one[..one.len() - 9]).unwrap().read_to_end(&mut Vec::new());
        assert!(cut.unwrap_err().to_string().starts_with("what is packed is broken"));
    }

    #[test]
    fn a_bomb_is_no_file_in_memory() {
        let bomb = packed(&vec![0; 64 << 20]);
        assert!(bomb.len() < 1 << 20);
        let read = from(unpacked(&bomb[..]).unwrap(), RECORDED).unwrap_err();
        assert_eq!(read.kind(), ErrorKind::FileTooLarge);
        let mut left = 65 << 20;
        let mut read = || {
            let from = MultiGzDecoder::new(&bomb[..]);
            io::copy(&mut bounded(from, &mut left), &mut io::sink())
        };
        assert_eq!(read().unwrap(), 64 << 20);
        assert_eq!(read().unwrap_err().to_string(), "it unpacks to more than 10 GB");
    }

    #[test]
    fn an_error_of_a_file_is_told_as_it_is_and_not_as_one_of_what_is_packed() {
        struct Unplugged;
        impl Read for Unplugged {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::StorageFull.into())
            }
        }
        let log = packed(&b"I (1) wifi: x\r\n".repeat(1000));
        let from = io::Cursor::new(&log[..20]).chain(Unplugged);
        let why = unpacked(from).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(
            (why.kind(), why.to_string()),
            (ErrorKind::StorageFull, "no storage space".into())
        );
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
