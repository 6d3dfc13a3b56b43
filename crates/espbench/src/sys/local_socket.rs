//! Sockets that are files: between programs of one machine.

#[cfg(unix)]
pub use std::os::unix::net::{UnixListener as LocalListener, UnixStream as LocalStream};

#[cfg(not(unix))]
pub use missing::{LocalListener, LocalStream};

use std::path::Path;

/// Tells whether a file is such a socket.
#[must_use]
pub fn is_one(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

#[cfg(not(unix))]
mod missing {
    use std::io;
    use std::path::Path;

    fn there_are_none() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "on this system no sockets are files")
    }

    /// A socket that takes connections: there is none.
    #[derive(Debug)]
    pub enum LocalListener {}

    impl LocalListener {
        /// Says that this system has no such sockets.
        ///
        /// # Errors
        /// Always.
        pub fn bind(_: &Path) -> io::Result<Self> {
            Err(there_are_none())
        }

        /// Returns the connections as they come.
        pub fn incoming(&self) -> std::iter::Empty<io::Result<LocalStream>> {
            match *self {}
        }
    }

    /// A connection: there is none.
    #[derive(Debug)]
    pub enum LocalStream {}

    impl LocalStream {
        /// Says that this system has no such sockets.
        ///
        /// # Errors
        /// Always.
        pub fn connect(_: &Path) -> io::Result<Self> {
            Err(there_are_none())
        }
    }

    impl io::Read for &LocalStream {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match **self {}
        }
    }

    impl io::Write for &LocalStream {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match **self {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match **self {}
        }
    }
}
