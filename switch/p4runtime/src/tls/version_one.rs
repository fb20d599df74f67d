//! Clients' certificates of X.509 version 1. `openssl x509 -req` writes them by default, and BMv2 accepts them; rustls
//! supports version 3 only.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use tokio_rustls::rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use x509_parser::prelude::{ASN1Time, FromDer as _, X509Certificate, X509Version};

/// Verifies certificates of both versions. A certificate of version 1 must be signed directly by an authority.
#[derive(Debug)]
pub struct AnyVersion {
    /// Verifier for version 3.
    pub webpki: Arc<dyn ClientCertVerifier>,
    /// Certificates of the authorities.
    pub authorities: Vec<CertificateDer<'static>>,
    /// Algorithms for the client's signature.
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// Parses the certificate, if it has version 1.
fn of_version_one<'a>(certificate: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    (certificate.version() == X509Version::V1).then_some(certificate)
}

impl AnyVersion {
    fn verify(&self, certificate: &X509Certificate<'_>, now: UnixTime) -> Result<ClientCertVerified, CertificateError> {
        let signed = self.authorities.iter().any(|authority| {
            X509Certificate::from_der(authority).is_ok_and(|(_, authority)| {
                authority.subject() == certificate.issuer()
                    && certificate.verify_signature(Some(authority.public_key())).is_ok()
            })
        });
        if !signed {
            return Err(CertificateError::UnknownIssuer);
        }
        let now = ASN1Time::from_timestamp(now.as_secs().cast_signed()).map_err(|_| CertificateError::BadEncoding)?;
        if now < certificate.validity().not_before {
            return Err(CertificateError::NotValidYet);
        }
        if now > certificate.validity().not_after {
            return Err(CertificateError::Expired);
        }
        Ok(ClientCertVerified::assertion())
    }
}

impl ClientCertVerifier for AnyVersion {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.webpki.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match of_version_one(certificate) {
            Some(certificate) => self.verify(&certificate, now).map_err(Error::InvalidCertificate),
            None => self.webpki.verify_client_cert(certificate, intermediates, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match of_version_one(certificate) {
            Some(certificate) => {
                let key = SubjectPublicKeyInfoDer::from(certificate.public_key().raw);
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            None => self.webpki.verify_tls13_signature(message, certificate, signed),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}
