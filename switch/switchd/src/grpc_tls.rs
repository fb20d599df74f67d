//! The TLS options of BMv2's `simple_switch_grpc`.

use std::path::PathBuf;

use clap::Args;
use p4sched_p4runtime::TlsFiles;

/// TLS settings of gRPC.
#[derive(Debug, Args)]
pub struct GrpcTls {
    /// Encrypt gRPC with TLS. 'p4sched certificates' makes the files.
    #[arg(long)]
    grpc_server_ssl: bool,

    /// Certificate of this switch, in PEM form; needs --grpc-server-ssl.
    #[arg(long, value_name = "FILE")]
    grpc_server_cert: Option<PathBuf>,

    /// Private key of this certificate, in PEM form; needs --grpc-server-ssl.
    #[arg(long, value_name = "FILE")]
    grpc_server_key: Option<PathBuf>,

    /// Certificate of the authority that signs the clients' certificates, in PEM form.
    #[arg(long, value_name = "FILE")]
    grpc_server_cacert: Option<PathBuf>,

    /// Admit only clients with a certificate of --grpc-server-cacert (mutual TLS).
    #[arg(long)]
    grpc_server_with_client_auth: bool,
}

impl GrpcTls {
    /// The TLS files; `None` if gRPC is not encrypted.
    ///
    /// # Errors
    /// The name of a missing option.
    pub fn files(&self) -> Result<Option<TlsFiles<'_>>, String> {
        if !self.grpc_server_ssl {
            return match self.grpc_server_with_client_auth {
                true => Err(
                    "--grpc-server-with-client-auth needs --grpc-server-ssl: without it, any client may write"
                        .to_owned(),
                ),
                false => Ok(None),
            };
        }
        let (Some(certificate), Some(key)) = (&self.grpc_server_cert, &self.grpc_server_key) else {
            return Err("--grpc-server-ssl needs --grpc-server-cert FILE and --grpc-server-key FILE".to_owned());
        };
        let clients = self.grpc_server_cacert.as_deref();
        if self.grpc_server_with_client_auth && clients.is_none() {
            return Err("--grpc-server-with-client-auth needs --grpc-server-cacert FILE".to_owned());
        }
        Ok(Some(TlsFiles {
            certificate,
            key,
            clients: clients.filter(|_| self.grpc_server_with_client_auth),
        }))
    }

    /// The options on the command line that have no effect, each with the reason. Like BMv2, the switch continues.
    pub fn without_effect(&self) -> Vec<(&'static str, &'static str)> {
        let given = [
            ("--grpc-server-cert", self.grpc_server_cert.is_some()),
            ("--grpc-server-key", self.grpc_server_key.is_some()),
            ("--grpc-server-cacert", self.grpc_server_cacert.is_some()),
        ];
        if !self.grpc_server_ssl {
            let given = given.into_iter().filter(|&(_, given)| given);
            return given
                .map(|(option, _)| (option, "gRPC is not encrypted without --grpc-server-ssl"))
                .collect();
        }
        if self.grpc_server_cacert.is_some() && !self.grpc_server_with_client_auth {
            return vec![(
                "--grpc-server-cacert",
                "clients need no certificate without --grpc-server-with-client-auth",
            )];
        }
        Vec::new()
    }
}
