//! TLS by rustls with the provider ring: whom to trust, who one is, and what was agreed on.

use crate::named_file;
use espbench_model::fact::{self, CertificateCheck};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files and names of TLS, as typed.
#[derive(Clone, Debug, Default)]
pub struct TlsFiles {
    /// Certificates of the authorities that are trusted, in PEM; the system's where not given.
    pub ca: Option<PathBuf>,
    /// The client's certificate with those between it and its authority, in PEM.
    pub cert: Option<PathBuf>,
    /// Private key of the client's certificate, in PEM.
    pub key: Option<PathBuf>,
    /// The name that the certificate must be for, where it is not the host's.
    pub server_name: Option<String>,
    /// Trust any certificate.
    pub insecure: bool,
}

impl TlsFiles {
    /// Tells whether anything was typed.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        let Self { ca, cert, key, server_name, insecure } = self;
        ca.is_some() || cert.is_some() || key.is_some() || server_name.is_some() || *insecure
    }
}

/// The settings of TLS with a broker.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    insecure: bool,
}

impl Tls {
    /// Reads the files. `host` is the name that the certificate must be for, unless another is given.
    ///
    /// # Errors
    /// A sentence that says which file is unusable, and why.
    pub fn new(files: &TlsFiles, host: &str) -> Result<Self, String> {
        let name = files.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned()).map_err(|_| {
            format!(
                "`{name}` is no name that a certificate could have: give one with --server-name"
            )
        })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|e| format!("TLS is not usable: {e}"))?;
        let builder = if files.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unverified(Arc::clone(&provider))))
        } else {
            let roots = Arc::new(roots(files.ca.as_deref())?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
            builder.with_webpki_verifier(verifier.map_err(|e| format!("TLS is not usable: {e}"))?)
        };
        let config = match (&files.cert, &files.key) {
            (None, None) => builder.with_no_client_auth(),
            (Some(cert), Some(key)) => {
                let chain = certificates(cert)?;
                let wrong =
                    |why: String| format!("{}: no private key in PEM ({why})", key.display());
                let pem = named_file::bytes(key, named_file::WRITTEN);
                let pem = pem.map_err(|e| wrong(e.to_string()))?;
                let secret =
                    PrivateKeyDer::from_pem_slice(&pem).map_err(|e| wrong(e.to_string()))?;
                builder.with_client_auth_cert(chain, secret).map_err(|e| {
                    format!("{} and {} do not go together: {e}", cert.display(), key.display())
                })?
            }
            _ => return Err("--cert and --key go together: give both".into()),
        };
        Ok(Self { config: Arc::new(config), name, insecure: files.insecure })
    }

    /// Opens a connection that has not yet sent anything.
    ///
    /// # Errors
    /// The library's.
    pub fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        // What is given to it is at most one batch, and that was bounded before.
        connection.set_buffer_limit(None);
        Ok(connection)
    }

    /// Returns what was agreed on: names and values of facts.
    #[must_use]
    pub fn facts(&self, connection: &ClientConnection) -> Vec<(&'static str, String)> {
        let version = connection.protocol_version().map_or("unknown", version_name);
        let suite = connection.negotiated_cipher_suite().map(|suite| suite.suite());
        let suite = suite.and_then(|suite| suite.as_str()).unwrap_or("unknown");
        let certificate =
            if self.insecure { CertificateCheck::NotVerified } else { CertificateCheck::Verified };
        let (name, certificate) = fact::TLS_CERTIFICATE.of(certificate);
        vec![
            ("tls_version", version.into()),
            ("tls_cipher_suite", suite.into()),
            (name, certificate.to_string()),
            (fact::TLS_SERVER_NAME, self.name.to_str().into_owned()),
        ]
    }
}

fn version_name(version: rustls::ProtocolVersion) -> &'static str {
    match version {
        rustls::ProtocolVersion::TLSv1_2 => "1.2",
        rustls::ProtocolVersion::TLSv1_3 => "1.3",
        _ => "unknown",
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |why: String| format!("{}: no certificate in PEM ({why})", file.display());
    let pem = named_file::bytes(file, named_file::WRITTEN).map_err(|e| wrong(e.to_string()))?;
    let list: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|e| wrong(e.to_string()))?;
    if list.is_empty() { Err(wrong("there is none in it".into())) } else { Ok(list) }
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca {
        for certificate in certificates(file)? {
            roots.add(certificate).map_err(|e| {
                format!("{}: not the certificate of an authority ({e})", file.display())
            })?;
        }
        return Ok(roots);
    }
    let (usable, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if usable == 0 {
        return Err(
            "this system has no certificates of authorities: give one with --ca FILE".into()
        );
    }
    Ok(roots)
}

/// Takes any certificate; signatures are checked all the same, so that the connection is one.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
