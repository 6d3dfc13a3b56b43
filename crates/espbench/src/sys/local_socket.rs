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

/// Listens on a socket that only this user may connect to, whatever the umask says.
///
/// # Errors
/// The system's.
#[cfg(unix)]
pub fn listen(path: &Path) -> std::io::Result<LocalListener> {
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::PermissionsExt as _;
    let own = || std::fs::Permissions::from_mode(0o600);
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None)?;
    // On Linux the file gets the socket's mode, so that it is never there with another; other systems refuse.
    let socket = std::fs::File::from(OwnedFd::from(socket));
    let _ = socket.set_permissions(own());
    let socket = socket2::Socket::from(OwnedFd::from(socket));
    socket.bind(&socket2::SockAddr::unix(path)?)?;
    std::fs::set_permissions(path, own())?;
    socket.listen(16)?;
    Ok(LocalListener::from(OwnedFd::from(socket)))
}

/// Says that this system has no such sockets.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn listen(path: &Path) -> std::io::Result<LocalListener> {
    LocalListener::bind(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn only_this_user_may_connect() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = listen(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
        LocalStream::connect(&path).unwrap();
        listener.accept().unwrap();
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
