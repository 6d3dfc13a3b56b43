//! Flags of every subcommand that reaches an MQTT broker.

use crate::named_file;
use crate::say::say;
use crate::target::spec::Access;
use crate::transport::TlsFiles;
use anyhow::Context as _;
use std::path::PathBuf;

/// How to reach a broker, and as whom.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "The MQTT broker")]
pub struct MqttAccessArgs {
    /// Topic to publish on, or to listen to (such as 'sensor/#') [default: one of this run's own]
    #[arg(long)]
    pub topic: Option<String>,
    /// User name
    #[arg(short, long, env = "ESPBENCH_MQTT_USERNAME", hide_env_values = true)]
    pub username: Option<String>,
    /// Password; others on this computer may see it in the list of processes
    #[arg(short = 'P', long, env = "ESPBENCH_MQTT_PASSWORD", hide_env_values = true)]
    pub password: Option<String>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    pub password_file: Option<PathBuf>,
    /// Client identifier; "-p" and "-s" are added for publisher and subscriber [default: one of this
    /// run's own]
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    /// Keep-alive asked of the broker, in seconds; 0 is none [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub keep_alive: Option<u16>,
    /// Certificates of the authorities that are trusted, in PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Client certificate, with those between it and its authority, in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Name that the broker's certificate must be for, and that it is asked for (SNI) [default: the
    /// host's]
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Accept any certificate. Another machine may then answer, and read user name and password; stderr and
    /// the report say so
    #[arg(long)]
    pub insecure: bool,
}

impl MqttAccessArgs {
    /// Returns the first of these flags that was given; user name and password may be of the environment.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--topic", self.topic.is_some()),
            ("--password-file", self.password_file.is_some()),
            ("--client-id", self.client_id.is_some()),
            ("--keep-alive", self.keep_alive.is_some()),
            ("--ca", self.ca.is_some()),
            ("--cert", self.cert.is_some()),
            ("--server-name", self.server_name.is_some()),
            ("--insecure", self.insecure),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Says on stderr, whatever else is kept quiet, that the broker may be anyone.
    pub fn warn(&self) {
        if self.insecure {
            say!(
                "warning: --insecure: the broker's certificate is not checked, so another machine may answer"
            );
        }
    }

    /// Adds these flags to how a target is reached.
    ///
    /// # Errors
    /// The file of the password cannot be read.
    pub fn add_to(&self, access: &mut Access) -> anyhow::Result<()> {
        let password = match &self.password_file {
            Some(file) => {
                let text = named_file::text(file, named_file::WRITTEN)
                    .with_context(|| format!("{}: cannot read the password", file.display()))?;
                Some(text.lines().next().unwrap_or_default().to_owned())
            }
            None => self.password.clone(),
        };
        access.topic.clone_from(&self.topic);
        access.username.clone_from(&self.username);
        access.password = password;
        access.client_id.clone_from(&self.client_id);
        access.keep_alive = self.keep_alive;
        access.tls = TlsFiles {
            ca: self.ca.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            server_name: self.server_name.clone(),
            insecure: self.insecure,
        };
        Ok(())
    }
}
