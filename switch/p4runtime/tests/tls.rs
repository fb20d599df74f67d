//! TLS and mutual TLS: which clients the server admits, and what it reports about the others.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use p4sched_p4runtime::{Tls, TlsFiles};
use p4sched_proto::p4::v1::CapabilitiesRequest;
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::server::{Server, start, start_with};

/// A certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("ring makes keys");
        Authority(CertifiedIssuer::self_signed(params, key).expect("the parameters are right"))
    }

    /// Signs a certificate for loopback; returns it with its key.
    fn signs(&self, last_year: i32) -> (String, String) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(last_year, 12, 31);
        let key = KeyPair::generate().expect("ring makes keys");
        let certificate = params.signed_by(&key, &self.0).expect("the parameters are right");
        (certificate.pem(), key.serialize_pem())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }
}

const VALID: i32 = 2999;
const EXPIRED: i32 = 2001;

/// The files of a server, and the lines that it logs.
struct Lab {
    folder: TempDir,
    authority: Authority,
    said: Arc<Mutex<Vec<String>>>,
}

impl Lab {
    fn new(server_until: i32) -> Lab {
        let lab = Lab {
            folder: TempDir::new().expect("there is room for a folder"),
            authority: Authority::new("the lab's"),
            said: Arc::default(),
        };
        let (certificate, key) = lab.authority.signs(server_until);
        lab.write("server.crt", &certificate);
        lab.write("server.key", &key);
        lab.write("ca.crt", &lab.authority.pem());
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder takes files");
    }

    fn read(&self, certificate: &str, key: &str, clients: Option<&str>) -> Result<Tls, String> {
        let clients = clients.map(|name| self.path(name));
        let files = TlsFiles {
            certificate: &self.path(certificate),
            key: &self.path(key),
            clients: clients.as_deref(),
        };
        let said = Arc::clone(&self.said);
        Tls::from_files(
            &files,
            Arc::new(move |line| said.lock().expect("no test panics here").push(line.to_owned())),
        )
    }

    async fn start(&self, mutual: bool) -> Server {
        let tls = self.read("server.crt", "server.key", mutual.then_some("ca.crt"));
        start_with(Some(tls.expect("the files are right"))).await
    }

    /// The logged lines. Waits until there is at least one.
    async fn said(&self) -> Vec<String> {
        loop {
            let said = self.said.lock().expect("no test panics here").clone();
            if !said.is_empty() {
                return said;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Sends a request over TLS; the client trusts `authority` and has this identity.
async fn ask(server: &Server, authority: &Authority, identity: Option<(String, String)>) -> Result<String, String> {
    let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority.pem()));
    if let Some((certificate, key)) = identity {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    let endpoint = Endpoint::from_shared(server.address.clone()).and_then(|endpoint| endpoint.tls_config(tls));
    let channel = endpoint
        .expect("the files are right")
        .connect()
        .await
        .map_err(|error| error.to_string())?;
    let answer = P4RuntimeClient::new(channel)
        .capabilities(CapabilitiesRequest::default())
        .await;
    answer
        .map(|answer| answer.into_inner().p4runtime_api_version)
        .map_err(|status| status.to_string())
}

#[tokio::test]
async fn a_client_that_knows_the_authority_is_served() {
    let lab = Lab::new(VALID);
    let server = lab.start(false).await;
    ask(&server, &lab.authority, None)
        .await
        .expect("it is let in without a certificate of its own");
    ask(&server, &Authority::new("another"), None)
        .await
        .expect_err("the client refuses the server");
    let [line] = lab.said().await.try_into().expect("one refusal is one line");
    assert_eq!(
        line,
        "client 127.0.0.1 is not let in: it does not know the authority of this switch's certificate"
    );
}

#[tokio::test]
async fn with_mutual_tls_clients_need_a_certificate_of_the_authority() {
    let lab = Lab::new(VALID);
    let cases = [
        (None, "it has no certificate"),
        (
            Some(Authority::new("another").signs(VALID)),
            "its certificate is of another authority",
        ),
        (Some(lab.authority.signs(EXPIRED)), "its certificate has expired"),
    ];
    for (identity, why) in cases {
        lab.said.lock().expect("no test panics here").clear();
        let server = lab.start(true).await;
        ask(&server, &lab.authority, identity).await.expect_err(why);
        assert_eq!(lab.said().await, [format!("client 127.0.0.1 is not let in: {why}")]);
        let own = Some(lab.authority.signs(VALID));
        ask(&server, &lab.authority, own)
            .await
            .expect("the next client is let in");
    }
}

#[tokio::test]
async fn a_server_whose_certificate_has_expired_learns_it_from_its_clients() {
    let lab = Lab::new(EXPIRED);
    let server = lab.start(false).await;
    ask(&server, &lab.authority, None)
        .await
        .expect_err("clients look at the date");
    assert_eq!(
        lab.said().await,
        ["client 127.0.0.1 is not let in: it finds this switch's certificate expired"]
    );
}

#[tokio::test]
async fn a_client_without_tls_gets_no_answer_and_is_reported_once() {
    let lab = Lab::new(VALID);
    let server = lab.start(false).await;
    for _ in 0..3 {
        let plain = format!("http://{}", server.place);
        let channel = Endpoint::from_shared(plain).expect("a URL").connect_lazy();
        let answer = P4RuntimeClient::new(channel)
            .capabilities(CapabilitiesRequest::default())
            .await;
        answer.expect_err("nothing is served without TLS");
    }
    assert_eq!(
        lab.said().await,
        ["client 127.0.0.1 is not let in: it does not speak TLS"]
    );
}

#[tokio::test]
async fn a_client_with_tls_gets_no_answer_from_a_server_without() {
    let lab = Lab::new(VALID);
    let mut server = start().await;
    server.address = format!("https://{}", server.place);
    ask(&server, &lab.authority, None)
        .await
        .expect_err("there is no handshake");
    let plain = P4RuntimeClient::connect(format!("http://{}", server.place)).await;
    let answer = plain
        .expect("it listens")
        .capabilities(CapabilitiesRequest::default())
        .await;
    answer.expect("the server goes on");
}

/// Clients that send random bytes, half a handshake, or nothing.
#[tokio::test]
async fn clients_that_stay_silent_or_talk_nonsense_keep_nobody_out() {
    let lab = Lab::new(VALID);
    let server = lab.start(true).await;
    let mut open = Vec::new();
    for bytes in [&b""[..], &[0x16, 3, 1, 2, 0, 1, 0][..], &[0xff; 100][..]] {
        let mut stream = TcpStream::connect(server.place).await.expect("it listens");
        stream.write_all(bytes).await.expect("the stream is open");
        open.push(stream);
    }
    let own = Some(lab.authority.signs(VALID));
    ask(&server, &lab.authority, own)
        .await
        .expect("it is let in beside them");
    let mut rest = Vec::new();
    let nonsense = open.last_mut().expect("three were opened");
    let ended = tokio::time::timeout(Duration::from_secs(20), nonsense.read_to_end(&mut rest)).await;
    ended.expect("the server closes what is not TLS").ok();
}

#[test]
fn wrong_files_are_named_with_what_is_wrong() {
    let lab = Lab::new(VALID);
    lab.write("other.key", &lab.authority.signs(VALID).1);
    lab.write("empty", "");
    lab.write("half.crt", &lab.authority.pem()[..200]);
    lab.write(
        "bytes.crt",
        "-----BEGIN CERTIFICATE-----\nMAAw\n-----END CERTIFICATE-----\n",
    );
    let cases = [
        ("none.crt", "server.key", None, "none.crt: No such file"),
        ("server.crt", "none.key", None, "none.key: No such file"),
        ("server.crt", "server.key", Some("none.crt"), "none.crt: No such file"),
        ("empty", "server.key", None, "empty: holds no certificate in PEM form"),
        (
            "server.key",
            "server.key",
            None,
            "server.key: holds no certificate in PEM form",
        ),
        ("half.crt", "server.key", None, "half.crt: "),
        ("bytes.crt", "server.key", None, "bytes.crt"),
        (
            "server.crt",
            "server.crt",
            None,
            "server.crt: holds no private key in PEM form",
        ),
        (
            "server.crt",
            "other.key",
            None,
            "other.key: not the key of the certificate in ",
        ),
        (
            "server.crt",
            "server.key",
            Some("empty"),
            "empty: holds no certificate in PEM form",
        ),
        ("server.crt", "server.key", Some("bytes.crt"), "bytes.crt: "),
        (".", "server.key", None, "Is a directory"),
    ];
    for (certificate, key, clients, expected) in cases {
        let problem = lab.read(certificate, key, clients).err().expect(expected);
        assert!(problem.contains(expected) && problem.lines().count() == 1, "{problem}");
        assert!(
            Path::new(problem.split(": ").next().unwrap_or_default()).is_absolute(),
            "{problem}"
        );
    }
}
