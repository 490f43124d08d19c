//! The way to the server: a connection with bounds on every wait, encrypted and verified unless it stays on this machine. A task drives each,
//! says when the server has news, and ends with the session; nothing that the server says is logged but its errors' codes.

use std::convert::Infallible;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, oneshot};
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Host;
use super::error::ShareError;
use super::settings::{ShareSettings, Target, Tls, Unusable};
use crate::files;
use crate::threads::Panicked;

/// How long it may take until a session stands, names looked up and keys exchanged.
const CONNECT: Duration = Duration::from_secs(10);
/// How long one exchange with the server may take, a page of rows with it.
pub(crate) const ANSWER: Duration = Duration::from_mins(1);
/// Silence after which the system asks whether the other side is there, between two such questions, and how many go unanswered.
const SILENCE: Duration = Duration::from_secs(30);
const QUESTIONS: Duration = Duration::from_secs(10);
const UNANSWERED: u32 = 3;
/// How long the task of a session that has ended may still take for its last words.
const FAREWELL: Duration = Duration::from_secs(2);
/// What a session of ours may take of the server: one statement less than an answer, a lock less than a statement. A pooler takes no such
/// thing while it is called, so that it is said afterwards.
const BOUNDS: &str = "SET statement_timeout = '50s'; SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '120s'";
/// For what takes as long as it takes: a migration of a shared store that is large.
pub(crate) const UNBOUNDED: &str = "SET statement_timeout = 0";
/// What the server shows of us.
const NAME: &str = "remembrancer";

/// A session with the server: a client, and the task that drives it, which ends with the session, also where the server hangs.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    /// Dropped with the session, by which its task knows.
    _driven: oneshot::Sender<Infallible>,
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// What the server says unasked: that the team has changed. It is also told when the connection has ended.
#[derive(Debug, Default)]
pub(super) struct News {
    told: Notify,
    /// The team's number as text, once it is known: whoever is logged in may send a notice of anything.
    team: OnceLock<String>,
}

impl News {
    /// Listens for what is said of the team of this number.
    pub(super) fn listen_for(&self, team: i32) {
        self.team.get_or_init(|| team.to_string());
    }

    /// Waits until there are some.
    pub(super) async fn heard(&self) {
        self.told.notified().await;
    }

    fn notice(&self, payload: &str) {
        if self.team.get().is_some_and(|team| team == payload) {
            self.told.notify_one();
        }
    }
}

/// Connects to the server of `settings`. The connection is driven by a task of its own, which ends with the session.
///
/// # Errors
/// [`ShareError`]: of the settings, of the way, or of the server.
pub(crate) async fn connect(settings: &ShareSettings) -> Result<Session, ShareError> {
    connect_and_hear(settings, Arc::default()).await
}

/// As [`connect`]; `news` are told at each notice of the server's that is of their team, and when the connection has ended.
///
/// # Errors
/// As [`connect`].
pub(super) async fn connect_and_hear(settings: &ShareSettings, news: Arc<News>) -> Result<Session, ShareError> {
    let settings = settings.clone();
    // Files are read, and a program may be run.
    let way = tokio::task::spawn_blocking(move || Way::of(&settings.target()?))
        .await
        .map_err(|_| Panicked)??;
    let called = async {
        let session = way.call(news).await?;
        session.batch_execute(BOUNDS).await?;
        Ok::<_, ShareError>(session)
    };
    let session = tokio::time::timeout(CONNECT, called).await;
    session.map_err(|_| ShareError::Late(CONNECT))?
}

/// What the server says within [`ANSWER`].
///
/// # Errors
/// Its error, or [`ShareError::Late`].
pub(super) async fn answered<T>(asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, ShareError> {
    let told = tokio::time::timeout(ANSWER, asked).await;
    Ok(told.map_err(|_| ShareError::Late(ANSWER))??)
}

/// How to call the server.
struct Way {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

impl Way {
    /// May read the system's certificates.
    fn of(target: &Target) -> Result<Self, ShareError> {
        let tls = match &target.tls {
            Tls::Plain => None,
            Tls::Verified(ca_file) => Some(MakeRustlsConnect::new(verified(ca_file.as_deref())?)),
        };
        let mut config = Config::new();
        config
            .user(&target.address.user)
            .dbname(&target.address.database)
            .port(target.address.port)
            .application_name(NAME)
            .connect_timeout(CONNECT)
            .tcp_user_timeout(ANSWER)
            .keepalives(true)
            .keepalives_idle(SILENCE)
            .keepalives_interval(QUESTIONS)
            .keepalives_retries(UNANSWERED)
            .ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        match &target.address.host {
            Host::Name(name) => config.host(name),
            Host::Socket(folder) => config.host_path(folder),
        };
        if let Some(password) = &target.password {
            config.password(password.expose());
        }
        Ok(Self { config, tls })
    }

    async fn call(self, news: Arc<News>) -> Result<Session, ShareError> {
        let Self { config, tls } = self;
        let (driven, session) = oneshot::channel();
        let client = match tls {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(drive(connection, news, session));
                client
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(drive(connection, news, session));
                client
            }
        };
        Ok(Session { client, _driven: driven })
    }
}

/// Moves what is sent and received, until the session has ended or the connection has.
async fn drive<S, T>(connection: Connection<S, T>, news: Arc<News>, session: oneshot::Receiver<Infallible>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let ended = async {
        session.await.ok();
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        () = deliver(connection, &news) => {}
        // A server that hangs is not waited for.
        () = ended => {}
    }
    // Whoever waits for news finds the connection gone.
    news.told.notify_one();
}

/// Moves what is sent and received, until the client is gone and has nothing to come, or the connection is gone.
async fn deliver<S, T>(mut connection: Connection<S, T>, news: &News)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match std::future::poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(notice))) => news.notice(notice.payload()),
            // A notice may quote a row.
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

/// How rustls judges the server: by the certificates in `ca_file`, or by those of the system.
fn verified(ca_file: Option<&Path>) -> Result<ClientConfig, Unusable> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            let named = |error: &dyn std::fmt::Display| Unusable(format!("{}: {error}", path.display()));
            let pem = files::read(path).map_err(|error| Unusable(error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| named(&error))?;
                roots.add(certificate).map_err(|error| named(&error))?;
            }
        }
        None => {
            // Some systems hold some that nobody can read.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let place = ca_file.map_or_else(|| "this system".to_owned(), |path| path.display().to_string());
        return Err(Unusable(format!(
            "{place} has no certificates by which the server could be judged: name a file of them by share.ca_file"
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Unusable(format!("TLS can't be used: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, DuplexStream};
    use tokio_postgres::config::Host as ServerHost;
    use tokio_postgres::tls::MakeTlsConnect;

    use super::*;
    use crate::share::settings::tests::settings;

    fn way(url: &str) -> Way {
        Way::of(&settings(url).target().unwrap()).unwrap()
    }

    #[test]
    fn a_socket_is_called_without_tls() {
        let way = way("postgres://ada@%2Frun%2Fpg/memory");
        assert!(way.tls.is_none() && way.config.get_ssl_mode() == SslMode::Disable);
        assert_eq!(way.config.get_hosts(), [ServerHost::Unix("/run/pg".into())]);
        assert_eq!(
            (way.config.get_user(), way.config.get_dbname()),
            (Some("ada"), Some("memory"))
        );
        assert_eq!(way.config.get_connect_timeout(), Some(&CONNECT));
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        for (text, expected) in [
            ("no certificate\n", "has no certificates"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "ca.pem"),
        ] {
            fs_err::write(&path, text).unwrap();
            let told = verified(Some(&path)).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        }
        assert!(verified(Some(&folder.path().join("gone"))).is_err());
    }

    #[tokio::test]
    async fn news_are_of_ones_own_team_alone() {
        let news = News::default();
        let is_told = || async { tokio::time::timeout(Duration::ZERO, news.heard()).await.is_ok() };
        news.notice("7");
        assert!(!is_told().await, "its team is not known yet");
        news.listen_for(7);
        for other in ["8", "", "77", "7 ", "; 7"] {
            news.notice(other);
        }
        assert!(!is_told().await, "whoever is logged in may send them");
        news.notice("7");
        assert!(is_told().await);
    }

    /// That whoever asks is let in, and the server is ready.
    const LET_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

    #[tokio::test(start_paused = true)]
    async fn the_task_of_a_server_that_hangs_ends_after_its_session() {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        theirs.write_all(LET_IN).await.unwrap();
        let mut config = Config::new();
        config.user("ada").ssl_mode(SslMode::Disable);
        let (client, connection) = config.connect_raw(ours, NoTls).await.unwrap();
        let (driven, session) = oneshot::channel();
        let news = Arc::<News>::default();
        let task = tokio::spawn(drive(connection, Arc::clone(&news), session));
        let session = Session { client, _driven: driven };
        let asked = tokio::time::timeout(Duration::from_mins(1), session.batch_execute(UNBOUNDED)).await;
        assert!(asked.is_err() && !task.is_finished(), "it does not answer");
        drop(session);
        tokio::time::timeout(FAREWELL * 2, task).await.unwrap().unwrap();
        news.heard().await;
    }

    /// What comes of a call to a server that says no more than `says`, in the clear or by TLS.
    async fn called(says: &[u8], mode: SslMode) -> ShareError {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        theirs.write_all(says).await.unwrap();
        let mut config = Config::new();
        config.user("ada").ssl_mode(mode);
        let error = if mode == SslMode::Disable {
            config.connect_raw(ours, NoTls).await.err()
        } else {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let client = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth();
            let mut tls = MakeRustlsConnect::new(client);
            let tls = MakeTlsConnect::<DuplexStream>::make_tls_connect(&mut tls, "db.example.org").unwrap();
            config.connect_raw(ours, tls).await.err()
        };
        error.unwrap().into()
    }

    #[tokio::test]
    async fn what_a_setting_is_missing_for_is_told_as_such() {
        let wants_a_password = b"R\0\0\0\x08\0\0\0\x03";
        for (error, expected) in [
            (called(wants_a_password, SslMode::Disable).await, "share.password_file"),
            (called(b"N", SslMode::Require).await, "share.tls"),
        ] {
            assert!(error.is_refusal() && error.to_string().contains(expected), "{error}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_told_with_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("postgres:///memory?user=ada&host={}", folder.path().display());
        let error = connect(&settings(&url)).await.unwrap_err();
        assert!(
            matches!(&error, ShareError::Unreachable(why) if why.contains("socket")),
            "{error:?}"
        );
        assert!(!error.is_refusal());
    }
}
