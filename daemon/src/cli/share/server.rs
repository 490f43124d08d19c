//! The shared store's server, for as long as a command needs it: a runtime of its own, a connection as a member or as who runs the
//! server, and what the server says as an error of the command line, with the remedy.

use std::path::{Path, PathBuf};

use remembrancer_schema::shared::{CLIENT_VERSION, HELLO, OLDEST_SERVER};
use tokio::runtime::Runtime;

use crate::causes::with_causes;
use crate::cli::ask;
use crate::cli::error::{CliError, Kind};
use crate::cli::surroundings::{SHARE_ADMIN_URL_FILE, Surroundings};
use crate::control;
use crate::files::read_text;
use crate::share::{
    self, ANSWER, Address, KeyFileError, PasswordSource, Server, Session, ShareError, ShareSettings, TeamKey, TlsChoice,
};
use crate::system;

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
    pub(in crate::cli) version: i32,
    pub(super) machine: [u8; 16],
    pub(super) team: i32,
    pub(super) id: i32,
    pub(in crate::cli) login: String,
    pub(in crate::cli) sealed: bool,
    pub(super) key_check: Option<Vec<u8>>,
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
        let reader = ask::reader(surroundings)?;
        control::refuse_unless_shared(&reader)?;
        let machine = reader.share_state()?.map(|state| state.machine).unwrap_or_default();
        drop(reader);
        if machine == [0; 16] {
            return Err(CliError::new(
                Kind::Usage,
                "this memory was put back or made anew, and is no machine of the team's yet",
            )
            .with_hint("start the daemon, which makes it one"));
        }
        network.wait(async {
            let client = share::connect(settings).await.map_err(|error| share_error(&error))?;
            Self::greet(client, machine, settings).await
        })
    }

    /// Says hello on a connection.
    ///
    /// # Errors
    /// What the server refuses.
    async fn greet(client: Session, machine: [u8; 16], settings: &ShareSettings) -> Result<Self, CliError> {
        let (bytes, name) = (machine.as_slice(), share::machine_name(settings));
        let row = in_time(client.query_one(HELLO, &[&bytes, &name, &settings.team, &CLIENT_VERSION])).await?;
        let read = |client: Session| -> Result<Self, tokio_postgres::Error> {
            Ok(Self {
                client,
                version: row.try_get("server_version")?,
                machine,
                team: row.try_get("team_id")?,
                id: row.try_get("member_id")?,
                login: row.try_get("member_login")?,
                sealed: row.try_get("sealed")?,
                key_check: row.try_get("key_check")?,
            })
        };
        let member = read(client).map_err(said)?;
        if member.version < OLDEST_SERVER {
            let message = format!(
                "the shared store is of version {}, and this program needs {OLDEST_SERVER} or later",
                member.version
            );
            return Err(CliError::new(Kind::Failed, message).with_hint("have who runs the server run `remembrancer share init`"));
        }
        Ok(member)
    }

    /// The team's key, where the team is sealed.
    ///
    /// # Errors
    /// Where the settings name none, it can't be read, or it is another team's.
    pub(in crate::cli) fn key(&self, settings: &ShareSettings) -> Result<Option<TeamKey>, CliError> {
        if !self.sealed {
            return Ok(None);
        }
        let Some(file) = &settings.key_file else {
            return Err(CliError::new(
                Kind::Usage,
                format!("the team {} is sealed, and the settings name no key", settings.team),
            )
            .with_hint("ask who set up the team for the key's file, and name it by `share.key_file`"));
        };
        let key = TeamKey::read(file).map_err(|error| key_error(&error))?;
        if self.key_check.as_deref().is_some_and(|check| check != key.check()) {
            return Err(CliError::new(
                Kind::Usage,
                format!("{} is not the key of the team {}", file.display(), settings.team),
            )
            .with_hint("ask who set up the team for the right file, and name it by `share.key_file`"));
        }
        Ok(Some(key))
    }
}

/// Where the URL of who runs the server stands.
#[derive(Debug, clap::Args)]
pub(super) struct AdminArguments {
    /// A file of yours alone (mode 0600) with the URL of the database, as its owner or an admin of the team; a password may stand
    /// in it.
    #[arg(long, value_name = "FILE")]
    url_file: Option<PathBuf>,
}

/// Why no URL is taken as an argument.
const NOT_HERE: &str = "a URL on a command line can be read by every user of this machine, password and all";

impl AdminArguments {
    /// Connects as who runs the server.
    ///
    /// # Errors
    /// Where no file is named or it can't be used; what keeps the connection from being made.
    pub(super) fn connect(&self, network: &Network, surroundings: &Surroundings) -> Result<Session, CliError> {
        let named = self.url_file.clone().or_else(|| surroundings.share_admin_url_file.clone());
        let Some(file) = named else {
            return Err(CliError::new(Kind::Usage, "no file with the URL of the database is named")
                .with_hint(format!("name it by --url-file or by {SHARE_ADMIN_URL_FILE}")));
        };
        if is_url(&file) {
            return Err(CliError::new(Kind::Usage, NOT_HERE)
                .with_hint("write it into a file of mode 0600, and name the file; change the password if it stood here"));
        }
        let (address, password) = read_url(&file)?;
        let of_member = surroundings.config.share.as_ref();
        let settings = ShareSettings {
            tls: tls_for(&address, of_member),
            server: Server::At(address),
            password: password.map_or(PasswordSource::None, PasswordSource::given),
            team: String::new(),
            projects: Vec::new(),
            machine: None,
            ca_file: of_member.and_then(|settings| settings.ca_file.clone()),
            key_file: None,
            pull: false,
            remote: false,
        };
        network.wait(share::connect(&settings)).map_err(|error| share_error(&error))
    }
}

/// A way that does not leave this machine needs no encryption; any other is verified, whatever the member's settings say.
fn tls_for(address: &Address, of_member: Option<&ShareSettings>) -> TlsChoice {
    let may_be_plain = of_member.is_none_or(|settings| settings.tls == TlsChoice::Off);
    if may_be_plain && address.is_near() {
        TlsChoice::Off
    } else {
        TlsChoice::Verify
    }
}

fn is_url(file: &Path) -> bool {
    let text = file.to_string_lossy();
    ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme)) || text.contains("://")
}

/// The URL in a file, and the password in it.
fn read_url(file: &Path) -> Result<(Address, Option<String>), CliError> {
    let shown = file.display();
    let refused = |why: String, hint: &str| CliError::new(Kind::Usage, why).with_hint(hint.to_owned());
    let text = read_text(file).map_err(|error| refused(with_causes(&error), "name a file with the URL of the database"))?;
    let metadata = fs_err::metadata(file)?;
    let mode = system::mode(&metadata) & 0o777;
    if system::owner(&metadata) != system::user_id() || mode & 0o077 != 0 {
        let why = format!("others can reach {shown} (mode {mode:04o}), and it may hold a password");
        return Err(refused(why, "make it your own, and `chmod 600` it"));
    }
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some((url, password)) = line.and_then(without_password) else {
        let hint = "write postgres://user:password@host/database on its first line";
        return Err(refused(format!("{shown} holds no URL of a database"), hint));
    };
    let address = Address::parse(&url).map_err(|remedy| refused(format!("the URL in {shown} can't be used"), &remedy))?;
    Ok((address, password))
}

/// A URL without the password in it, and the password; none where it is no URL, or its password is spelled wrongly.
fn without_password(url: &str) -> Option<(String, Option<String>)> {
    let (scheme, rest) = url.split_once("://")?;
    // What is behind the last @ is the place: a password may have one.
    let authority = rest.find(['/', '?']).map_or(rest, |end| &rest[..end]);
    let Some(at) = authority.rfind('@') else {
        return Some((url.to_owned(), None));
    };
    match rest[..at].split_once(':') {
        None => Some((url.to_owned(), None)),
        Some((user, password)) => Some((format!("{scheme}://{user}{}", &rest[at..]), Some(decoded(password)?))),
    }
}

/// `text` with each `%41` as the byte that it stands for.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
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
        let refused = CliError::new(Kind::Failed, format!("the shared store refuses this: {}", told.message()));
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
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none("postgres://ada@db/memory", "postgres://ada@db/memory", None)]
    #[case::plain("postgres://ada:s3cret@db:5433/memory", "postgres://ada@db:5433/memory", Some("s3cret"))]
    #[case::escaped("postgres://ada:a%40%2Fb@db/memory", "postgres://ada@db/memory", Some("a@/b"))]
    #[case::with_an_at("postgres://ada:a@b@db/memory", "postgres://ada@db/memory", Some("a@b"))]
    #[case::colons("postgres://ada:a:b@db/memory", "postgres://ada@db/memory", Some("a:b"))]
    #[case::address("postgres://ada:x@[::1]:5432/memory", "postgres://ada@[::1]:5432/memory", Some("x"))]
    #[case::no_user("postgres:///memory?host=/run/pg", "postgres:///memory?host=/run/pg", None)]
    #[case::mail_behind("postgres://db/memory?user=a@b", "postgres://db/memory?user=a@b", None)]
    fn a_password_is_taken_out_of_a_url(#[case] url: &str, #[case] expected: &str, #[case] password: Option<&str>) {
        let (without, found) = without_password(url).unwrap();
        assert_eq!((without.as_str(), found.as_deref()), (expected, password));
    }

    #[test]
    fn what_is_no_url_or_wrongly_spelled_gives_none() {
        for wrong in [
            "",
            "ada@db",
            "postgres://ada:a%4@db/m",
            "postgres://ada:a%zz@db/m",
            "postgres://ada:%ff@db/m",
        ] {
            assert_eq!(without_password(wrong), None, "{wrong}");
        }
    }

    #[rstest]
    #[case("postgres://ada:s3cret@db/memory", true)]
    #[case("postgresql://db/memory", true)]
    #[case("/home/ada/url", false)]
    #[case("url", false)]
    fn a_url_is_told_from_a_file(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_url(Path::new(text)), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_is_not_waited_for() {
        let asked = std::future::pending::<Result<(), tokio_postgres::Error>>();
        let error = in_time(asked).await.unwrap_err();
        assert!(error.message().contains("did not answer within 60 s"), "{error}");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_no_password_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("url");
        fs_err::write(&file, "# of the owner\npostgres://ada:s3cret@db/memory\n").unwrap();
        fs_err::set_permissions(&file, system::permissions(0o644)).unwrap();
        let error = read_url(&file).unwrap_err();
        assert!(error.message().contains("mode 0644"), "{error}");
        fs_err::set_permissions(&file, system::permissions(0o600)).unwrap();
        let (address, password) = read_url(&file).unwrap();
        assert_eq!(address.to_string(), "postgres://ada@db:5432/memory");
        assert_eq!(password.as_deref(), Some("s3cret"));
        fs_err::write(&file, "mysql://ada:s3cret@db/memory\n").unwrap();
        let error = read_url(&file).unwrap_err().to_string();
        assert!(error.contains("write postgres://") && !error.contains("s3cret"), "{error}");
    }
}
