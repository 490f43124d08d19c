//! What the settings say of the shared store, and what they come to: server, password, the way there. The files that they name are read
//! when the server is called, every time, so that a new password needs no restart.

use std::path::PathBuf;

use super::address::{Address, Host};
use super::secret::{self, PasswordSource, Secret};
use super::service_file;

/// What keeps the settings from being followed, with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(pub(crate) String);

/// The settings of the shared store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareSettings {
    /// The server.
    pub(crate) server: Server,
    /// Where its password comes from.
    pub(crate) password: PasswordSource,
    /// The team.
    pub(crate) team: String,
    /// Patterns of the keys of projects whose episodes leave this machine.
    pub(crate) projects: Vec<String>,
    /// What this machine is called; its host name, where nothing is said.
    pub(crate) machine: Option<String>,
    /// How the way to the server is protected.
    pub(crate) tls: TlsChoice,
    /// The certificates by which the server's is judged, in place of the system's.
    pub(crate) ca_file: Option<PathBuf>,
    /// The file of the team's key.
    pub(crate) key_file: Option<PathBuf>,
    /// Whether what the others share is taken; else only what they take back is.
    pub(crate) pull: bool,
    /// Whether a prompt may have the server searched.
    pub(crate) remote: bool,
}

/// Which server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    /// That at this address.
    At(Address),
    /// That of a service in a file of libpq's.
    Service {
        /// The service.
        name: String,
        /// The file.
        file: PathBuf,
    },
}

/// How the way to the server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsChoice {
    /// Encrypted, the server's certificate verified.
    Verify,
    /// Not at all.
    Off,
}

/// What the settings come to at one moment.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) address: Address,
    pub(super) password: Option<Secret>,
    pub(super) tls: Tls,
}

/// The way to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tls {
    /// Not encrypted.
    Plain,
    /// Encrypted; the server's certificate is judged by those of this file, or by the system's.
    Verified(Option<PathBuf>),
}

impl Server {
    /// Whether it may be on this machine, as far as that is known without a file being read.
    pub(crate) fn may_be_near(&self) -> bool {
        match self {
            Self::At(address) => address.is_near(),
            Self::Service { .. } => true,
        }
    }
}

impl ShareSettings {
    /// A service is looked for in this file.
    pub(crate) fn use_service_file(&mut self, named: PathBuf) {
        if let Server::Service { file, .. } = &mut self.server {
            *file = named;
        }
    }

    /// The server's address, for who does not call it. May read a file.
    ///
    /// # Errors
    /// Where a service can't be read.
    pub(super) fn address(&self) -> Result<Address, Unusable> {
        match &self.server {
            Server::At(address) => Ok(address.clone()),
            Server::Service { name, file } => Ok(service_file::read(file, name)?.address),
        }
    }

    /// By what the team of these settings is told from every other. May read a file.
    ///
    /// # Errors
    /// Where a service can't be read: why, and what to do.
    pub(crate) fn team_key(&self) -> Result<String, String> {
        let address = self.address().map_err(|unusable| unusable.to_string())?;
        Ok(address.team_key(&self.team))
    }

    /// What is needed to call the server. Reads files, and may run a program for ten seconds.
    ///
    /// # Errors
    /// What is in the way, and what to do.
    pub(super) fn target(&self) -> Result<Target, Unusable> {
        let (address, of_service, is_plain, ca_file) = match &self.server {
            Server::At(address) => (address.clone(), None, false, None),
            Server::Service { name, file } => {
                let service = service_file::read(file, name)?;
                (service.address, service.password, service.is_plain, service.ca_file)
            }
        };
        let is_plain = is_plain || self.tls == TlsChoice::Off;
        let tls = if matches!(address.host, Host::Socket(_)) || (is_plain && address.is_near()) {
            Tls::Plain
        } else if is_plain {
            return Err(Unusable(format!(
                "{address} would be reached unencrypted, by `share.tls` or the service's `sslmode`: only a unix socket or a loopback address may be"
            )));
        } else {
            Tls::Verified(self.ca_file.clone().or(ca_file))
        };
        let password = match &self.password {
            PasswordSource::None => of_service,
            PasswordSource::Given(secret) => Some(secret.clone()),
            PasswordSource::File(path) => Some(secret::of_file(path)?),
            PasswordSource::Command { program, arguments } => Some(secret::of_program(program, arguments)?),
        };
        Ok(Target { address, password, tls })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rstest::rstest;

    use super::*;
    use crate::system;

    /// Settings for this URL, and nothing else said.
    pub(crate) fn settings(url: &str) -> ShareSettings {
        ShareSettings {
            server: Server::At(Address::parse(url).unwrap()),
            password: PasswordSource::None,
            team: "acme".to_owned(),
            projects: vec!["*".to_owned()],
            machine: None,
            tls: TlsChoice::Verify,
            ca_file: None,
            key_file: None,
            pull: true,
            remote: false,
        }
    }

    #[rstest]
    #[case::verified("postgres://ada@db/m", TlsChoice::Verify, Ok(Tls::Verified(None)))]
    #[case::near_and_verified("postgres://ada@127.0.0.1/m", TlsChoice::Verify, Ok(Tls::Verified(None)))]
    #[case::near_and_plain("postgres://ada@127.0.0.1/m", TlsChoice::Off, Ok(Tls::Plain))]
    #[case::socket("postgres:///m?host=/run/pg&user=ada", TlsChoice::Verify, Ok(Tls::Plain))]
    #[case::far_and_plain("postgres://ada@db/m", TlsChoice::Off, Err(()))]
    fn the_way_is_encrypted_unless_it_stays_here(#[case] url: &str, #[case] tls: TlsChoice, #[case] expected: Result<Tls, ()>) {
        let settings = ShareSettings { tls, ..settings(url) };
        assert_eq!(settings.target().map(|target| target.tls).map_err(drop), expected);
    }

    #[test]
    fn a_service_gives_what_the_settings_do_not_say() {
        let folder = tempfile::tempdir().unwrap();
        let (file, password) = (folder.path().join("services"), folder.path().join("password"));
        let of_service = "host=db\ndbname=m\nuser=ada\npassword=theirs\nsslrootcert=/ca.pem\n";
        fs_err::write(&file, format!("[m]\n{of_service}[plain]\n{of_service}sslmode=disable\n")).unwrap();
        fs_err::write(&password, "ours\n").unwrap();
        for path in [&file, &password] {
            fs_err::set_permissions(path, system::permissions(0o600)).unwrap();
        }
        let server = |name: &str| Server::Service {
            name: name.to_owned(),
            file: PathBuf::from("/nowhere"),
        };
        let mut settings = ShareSettings {
            server: server("m"),
            ..settings("postgres://ada@db/m")
        };
        assert!(settings.address().is_err(), "there is no such file");
        assert!(settings.team_key().unwrap_err().contains("/nowhere"));
        settings.use_service_file(file.clone());
        let target = settings.target().unwrap();
        assert_eq!(settings.team_key().unwrap(), target.address.team_key("acme"));
        assert_eq!(target.address, settings.address().unwrap());
        assert_eq!(target.tls, Tls::Verified(Some(PathBuf::from("/ca.pem"))));
        assert_eq!(target.password.as_ref().map(Secret::expose), Some("theirs"));
        settings.password = PasswordSource::File(password);
        settings.ca_file = Some(PathBuf::from("/mine.pem"));
        let target = settings.target().unwrap();
        assert_eq!(target.tls, Tls::Verified(Some(PathBuf::from("/mine.pem"))));
        assert_eq!(target.password.as_ref().map(Secret::expose), Some("ours"));
        settings.server = server("plain");
        settings.use_service_file(file);
        let told = settings.target().unwrap_err().to_string();
        assert!(told.contains("unencrypted"), "{told}");
    }
}
