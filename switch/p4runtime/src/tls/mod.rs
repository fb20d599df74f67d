//! TLS below gRPC: the server's files, and the decision which clients may connect.

mod version_one;

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;

use version_one::AnyVersion;

/// The most handshakes at the same time. A silent client occupies one of them for [`HANDSHAKE_TIME`].
const HANDSHAKES: usize = 64;
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// Time before the next attempt after the system refused a connection, for example because no file descriptor is free.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// Writes a line for the operator.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Files of the server's keys and certificates, in PEM form.
#[derive(Debug, Clone, Copy)]
pub struct TlsFiles<'a> {
    /// The server's certificate; the intermediate certificates may follow in the same file.
    pub certificate: &'a Path,
    pub key: &'a Path,
    /// The authority that must have signed the clients' certificates; without it, clients need no certificate.
    pub clients: Option<&'a Path>,
}

/// TLS settings of a server.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    refusals: Arc<Refusals>,
}

impl Tls {
    /// Reads the files. `log` gets the reason for each refused client.
    ///
    /// # Errors
    /// A sentence that names the file and the problem.
    pub fn from_files(files: &TlsFiles<'_>, log: Log) -> Result<Tls, String> {
        let TlsFiles {
            certificate,
            key,
            clients,
        } = files;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let wrong = |error: String| format!("{}: {error}", path.display());
                let authorities = certificates(path)?;
                let mut roots = RootCertStore::empty();
                for authority in &authorities {
                    roots.add(authority.clone()).map_err(|error| wrong(error.to_string()))?;
                }
                let algorithms = provider.signature_verification_algorithms;
                let webpki = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
                builder.with_client_cert_verifier(Arc::new(AnyVersion {
                    webpki: webpki.map_err(|error| wrong(error.to_string()))?,
                    authorities,
                    algorithms,
                }))
            }
        };
        let mut config = builder
            .with_single_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| match error {
                Error::InconsistentKeys(_) => {
                    format!(
                        "{}: not the key of the certificate in {}",
                        key.display(),
                        certificate.display()
                    )
                }
                other => format!("{} and {}: {other}", certificate.display(), key.display()),
            })?;
        config.alpn_protocols.push(b"h2".to_vec());
        Ok(Tls {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            refusals: Arc::new(Refusals {
                log,
                last: Mutex::new(None),
            }),
        })
    }

    /// The connections of admitted clients; it accepts clients until the receiver is dropped.
    pub(crate) fn incoming(self, listener: TcpListener) -> ReceiverStream<io::Result<TlsStream<TcpStream>>> {
        let (let_in, incoming) = mpsc::channel(1);
        tokio::spawn(self.accept(listener, let_in));
        ReceiverStream::new(incoming)
    }

    async fn accept(self, listener: TcpListener, let_in: mpsc::Sender<io::Result<TlsStream<TcpStream>>>) {
        let places = Arc::new(Semaphore::new(HANDSHAKES));
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = let_in.closed() => return,
                accepted = accepted => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(AFTER_REFUSAL).await;
                continue;
            };
            let (tls, let_in) = (self.clone(), let_in.clone());
            tokio::spawn(async move {
                let _place = place;
                // Small messages are sent immediately. If this fails, the stream has ended.
                let _ = stream.set_nodelay(true);
                match tokio::time::timeout(HANDSHAKE_TIME, tls.acceptor.accept(stream)).await {
                    // Fails only when nobody accepts connections any more.
                    Ok(Ok(stream)) => drop(let_in.send(Ok(stream)).await),
                    // A client only tested whether a server is there.
                    Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                    Ok(Err(error)) => tls.refusals.report(peer.ip(), &reason(&error)),
                    Err(_) => tls.refusals.report(peer.ip(), "it does not begin to speak TLS"),
                }
            });
        }
    }
}

/// Reports the reason for a refused client; if a client repeats its attempt, only once.
struct Refusals {
    log: Log,
    last: Mutex<Option<(IpAddr, String)>>,
}

impl Refusals {
    fn report(&self, peer: IpAddr, reason: &str) {
        let refusal = Some((peer, reason.to_owned()));
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *last != refusal {
            (self.log)(&format!("client {peer} is not let in: {reason}"));
            *last = refusal;
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let found = found.map_err(|error| format!("{}: {error}", path.display()))?;
    if found.is_empty() {
        return Err(format!("{}: holds no certificate in PEM form", path.display()));
    }
    Ok(found)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|_| {
        format!(
            "{}: holds no private key in PEM form without a passphrase",
            path.display()
        )
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The reason for a failed handshake, described as an action of the client.
fn reason(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
    match tls {
        Some(Error::InvalidMessage(_)) => "it does not speak TLS".to_owned(),
        Some(Error::NoCertificatesPresented) => "it has no certificate".to_owned(),
        Some(Error::InvalidCertificate(wrong)) => match wrong {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired".to_owned()
            }
            CertificateError::UnknownIssuer => "its certificate is of another authority".to_owned(),
            _ => format!("its certificate is not valid: {wrong}"),
        },
        Some(Error::AlertReceived(alert)) => match alert {
            AlertDescription::UnknownCA => "it does not know the authority of this switch's certificate".to_owned(),
            AlertDescription::CertificateExpired => "it finds this switch's certificate expired".to_owned(),
            _ => format!("it refuses this switch's certificate: {alert:?}"),
        },
        Some(other) => other.to_string(),
        None => format!("the connection ended before TLS began: {error}"),
    }
}
