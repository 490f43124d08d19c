//! The shared store's server, for as long as a command needs it: a runtime of its own, a connection as a member, and what the server says as
//! an error of the command line, with the remedy.

use remembrancer_schema::shared::{CLIENT_VERSION, HELLO};
use tokio::runtime::Runtime;

use crate::causes::with_causes;
use crate::cli::ask;
use crate::cli::error::{CliError, Kind};
use crate::cli::share::begun;
use crate::cli::surroundings::Surroundings;
use crate::share::{self, ANSWER, Hello, KeyFileError, Session, ShareError, ShareSettings, TeamKey};

/// Where a connection is waited for: the thread that drives it runs beside the command's own.
pub(in crate::cli) struct Network(Option<Runtime>);

impl Network {
    /// Starts it.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(in crate::cli) fn start() -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// What the server says to what it is asked, within the time that it has for one answer.
    ///
    /// # Errors
    /// What it says is wrong, with the remedy; that it does not answer.
    pub(super) fn ask<T>(&self, asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, CliError> {
        self.wait(in_time(asked))
    }

    /// Waits for `work`.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        let runtime = self.0.as_ref().expect("invariant: it is there until it is dropped");
        runtime.block_on(work)
    }
}

impl Drop for Network {
    /// A look-up of a name that hangs must not keep the process.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A connection to one team, as one of its members.
pub(in crate::cli) struct Member {
    pub(super) client: Session,
    pub(super) machine: [u8; 16],
    pub(in crate::cli) hello: Hello,
}

impl Member {
    /// Connects as the settings say, under the machine that the store is.
    ///
    /// # Errors
    /// Where this memory is not shared yet; what keeps the connection from being made; what the server refuses.
    pub(in crate::cli) fn connect(
        network: &Network,
        settings: &ShareSettings,
        surroundings: &Surroundings,
    ) -> Result<Self, CliError> {
        let machine = machine(surroundings)?;
        network.wait(async {
            let client = share::connect(settings).await.map_err(|error| share_error(&error))?;
            Self::greet(client, machine, settings).await
        })
    }

    /// Says hello on a connection.
    ///
    /// # Errors
    /// What the server refuses; where its version and this one do not fit.
    async fn greet(client: Session, machine: [u8; 16], settings: &ShareSettings) -> Result<Self, CliError> {
        let (bytes, name) = (machine.as_slice(), share::machine_name(settings));
        let asked = async {
            client
                .query_one(HELLO, &[&bytes, &name, &settings.team, &CLIENT_VERSION])
                .await
        };
        let row = in_time(asked).await?;
        let hello = Hello::of(&row).map_err(|error| share_error(&error))?;
        Ok(Self { client, machine, hello })
    }

    /// The team's key, where the team is sealed.
    ///
    /// # Errors
    /// Where what the settings name does not fit the team, or can't be read.
    pub(in crate::cli) fn key(&self, settings: &ShareSettings) -> Result<Option<TeamKey>, CliError> {
        key_of(&self.hello, settings)
    }
}

/// As [`Member::key`], of whom the server said this.
fn key_of(hello: &Hello, settings: &ShareSettings) -> Result<Option<TeamKey>, CliError> {
    let key = settings.key_file.as_deref().map(TeamKey::read).transpose();
    let key = key.map_err(|error| key_error(&error))?;
    let sealing = hello.sealing(&settings.team, key);
    let sealing = sealing.map_err(|error| CliError::new(Kind::Usage, with_causes(&error)))?;
    Ok(sealing.map(|sealing| sealing.key))
}

/// What this memory is called at the shared store.
///
/// # Errors
/// Where this memory is not shared yet.
fn machine(surroundings: &Surroundings) -> Result<[u8; 16], CliError> {
    let machine = begun(&ask::reader(surroundings)?, &surroundings.config)?.machine;
    if machine == [0; 16] {
        return Err(CliError::new(
            Kind::Usage,
            "this memory was put back or made anew, and is no machine of the team's yet",
        )
        .with_hint("start the daemon, which makes it one"));
    }
    Ok(machine)
}

/// As [`Network::ask`].
async fn in_time<T>(asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, CliError> {
    match tokio::time::timeout(ANSWER, asked).await {
        Ok(told) => told.map_err(said),
        Err(_) => Err(share_error(&ShareError::Late(ANSWER)).with_hint(UNANSWERED)),
    }
}

/// What to do about a server that does not answer.
const UNANSWERED: &str =
    "see that the server runs and can be reached from here, and try again; what was asked may have been done";

/// What keeps a connection from being made.
pub(super) fn share_error(error: &ShareError) -> CliError {
    CliError::new(Kind::Failed, with_causes(error))
}

/// What is wrong with a key's file.
pub(super) fn key_error(error: &KeyFileError) -> CliError {
    let kind = match error {
        KeyFileError::Read { .. } | KeyFileError::Write { .. } => Kind::Failed,
        KeyFileError::Missing { .. } => Kind::NotFound,
        _ => Kind::Usage,
    };
    CliError::new(kind, with_causes(error))
}

/// How the SQLSTATEs of the shared store's own refusals begin: their messages hold names alone, and their hints are the remedy.
const OURS: &str = "RM";
/// The SQLSTATE of a team that is not there, and of a login that is not in one.
pub(super) const NOT_THERE: &str = "RM002";

/// What is to be done about what a database says to who runs it, by its SQLSTATE.
const REMEDIES: [(&str, &str); 4] = [
    (
        "42501",
        "name a URL of the database's owner, or for members of an admin of the team",
    ),
    (
        "53300",
        "the server has no connection free; try again, or have its `max_connections` raised",
    ),
    ("55P03", "another change of the same team goes on; try again"),
    (
        "58P01",
        "the server lacks a file, as a rule of the extension pgvector; have it installed there",
    ),
];

/// What the database says, in words with the remedy.
pub(super) fn said(error: tokio_postgres::Error) -> CliError {
    let Some(told) = error.as_db_error() else {
        return share_error(&error.into()).with_hint(UNANSWERED);
    };
    let code = told.code().code();
    if code.starts_with(OURS) {
        let kind = if code == NOT_THERE { Kind::NotFound } else { Kind::Failed };
        let refused = CliError::new(kind, format!("the shared store refuses this: {}", told.message()));
        return match told.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        };
    }
    match REMEDIES.iter().find(|(known, _)| *known == code) {
        Some((_, remedy)) => CliError::new(
            Kind::Failed,
            format!("the database says: {} (SQLSTATE {code})", told.message()),
        )
        .with_hint(*remedy),
        None => share_error(&error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use remembrancer_schema::shared::OLDEST_SERVER;

    use super::*;
    use crate::share::{Address, PasswordSource, Server, TlsChoice};

    #[test]
    fn a_key_is_judged_as_the_daemon_does() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| folder.path().join(name));
        let key = TeamKey::generate(&ours).unwrap();
        TeamKey::generate(&other).unwrap();
        let judged = |check: Option<&TeamKey>, key_file: Option<&Path>| {
            let hello = Hello {
                server_version: OLDEST_SERVER,
                oldest_client: CLIENT_VERSION,
                team: 1,
                member: 1,
                login: "ada".to_owned(),
                is_sealed: check.is_some(),
                key_check: check.map(|key| key.check().to_vec()),
                head: 0,
            };
            let settings = ShareSettings {
                server: Server::At(Address::parse("postgres://ada@db/memory").unwrap()),
                password: PasswordSource::None,
                team: "acme".to_owned(),
                projects: Vec::new(),
                machine: None,
                tls: TlsChoice::Verify,
                ca_file: None,
                key_file: key_file.map(Path::to_owned),
                pull: true,
                remote: false,
            };
            key_of(&hello, &settings)
        };
        assert!(judged(None, None).unwrap().is_none());
        assert_eq!(judged(Some(&key), Some(&ours)).unwrap().unwrap().check(), key.check());
        for (check, key_file, expected) in [
            (None, Some(&*ours), "take it out"),
            (Some(&key), None, "name its file by share.key_file"),
            (Some(&key), Some(&*other), "ask its admin"),
        ] {
            let error = judged(check, key_file).unwrap_err();
            assert!(error.kind() == Kind::Usage && error.message().contains(expected), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_is_not_waited_for() {
        let asked = std::future::pending::<Result<(), tokio_postgres::Error>>();
        let error = in_time(asked).await.unwrap_err();
        assert!(error.message().contains("did not answer within 60 s"), "{error}");
    }
}
