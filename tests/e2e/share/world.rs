//! One server for the tests of this process, a database of its own for each of them, and machines that share by it.

use std::cell::Cell;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use postgres::types::ToSql;
use postgres::{Client, NoTls};
use remembrancer_tests::cutting_proxy::CuttingProxy;
use remembrancer_tests::faults::hooks::fire;
use remembrancer_tests::postgres::Postgres;
use remembrancer_tests::{HookOutput, Sandbox, Transcript, eventually, topic, within};
use url::Url;

use crate::PATIENCE;

/// The server that tests share, as long as one of them runs: the last one stops it.
static SERVER: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
/// Roles belong to the server, not to a database: one database is set up at a time.
static SETTING_UP: Mutex<()> = Mutex::new(());
/// Databases so far.
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The server of this process; `None`, with a printed reason, where none can be had.
pub(super) fn server() -> Option<Arc<Postgres>> {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = server.upgrade() {
        return Some(running);
    }
    let started = Arc::new(Postgres::start().unwrap()?);
    *server = Arc::downgrade(&started);
    Some(started)
}

/// The project that machines share, where a test says nothing else.
pub(super) const APP: &str = "github.com/acme/app";

/// A shared store of a test's own, and the home of whoever looks after it.
pub(super) struct Store {
    database: String,
    admin_url_file: PathBuf,
    /// Whose it is; machines are made beside it, and dropped before.
    admin: Sandbox,
    server: Arc<Postgres>,
}

impl Store {
    /// A new database on the server of this process, set up by the command. `None` where there is no server.
    pub(super) fn of(admin: Sandbox) -> Option<Self> {
        Some(Self::on(server()?, admin))
    }

    /// The same on a server of the test's own, which it may stop.
    pub(super) fn on(server: Arc<Postgres>, admin: Sandbox) -> Self {
        let _one = SETTING_UP.lock().unwrap_or_else(PoisonError::into_inner);
        let database = format!("e2e_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let mut client = Client::connect(&server.admin_url(), NoTls).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
        let admin_url_file = admin.home().join("admin-url");
        let store = Self {
            database,
            admin_url_file,
            admin,
            server,
        };
        let url = store.within(&store.server.admin_url());
        fs_err::write(&store.admin_url_file, format!("{url}\n")).unwrap();
        private(&store.admin_url_file);
        store.command(&["share", "init"]);
        store
    }

    /// The server.
    pub(super) fn server(&self) -> &Postgres {
        &self.server
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port()))
    }

    /// A proxy before it.
    pub(super) fn proxy(&self) -> CuttingProxy {
        CuttingProxy::before(self.address()).unwrap()
    }

    /// The database's name.
    pub(super) fn database(&self) -> &str {
        &self.database
    }

    /// A URL of the server as one of this database.
    fn within(&self, url: &str) -> String {
        let mut url = Url::parse(url).unwrap();
        url.set_path(&self.database);
        url.to_string()
    }

    /// A connection of the server's administrator, whom no policy of a row keeps out.
    pub(super) fn client(&self) -> Client {
        Client::connect(&self.within(&self.server.admin_url()), NoTls).unwrap()
    }

    /// A connection as a member, for what no daemon would ask.
    pub(super) fn client_of(&self, member: &str) -> Client {
        Client::connect(&self.within(&self.server.login_url(&self.login(member))), NoTls).unwrap()
    }

    /// The number that a statement gives the server's administrator.
    pub(super) fn number(&self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> i64 {
        self.client().query_one(statement, parameters).unwrap().get(0)
    }

    /// Runs an administrator's command, which must succeed. Returns what it printed.
    pub(super) fn command(&self, arguments: &[&str]) -> String {
        let mut command = self.admin.command(arguments);
        command.env("REMEMBRANCER_SHARE_ADMIN_URL_FILE", &self.admin_url_file);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The login of a member: logins belong to the server, so that each database has its own.
    pub(super) fn login(&self, member: &str) -> String {
        format!("{}_{member}", self.database)
    }

    /// A team with these members, each with a login of its own.
    pub(super) fn team(&self, team: &str, members: &[&str]) {
        self.command(&["share", "add-team", team]);
        self.members(team, members);
    }

    /// Takes members into a team.
    pub(super) fn members(&self, team: &str, members: &[&str]) {
        for member in members {
            let login = self.login(member);
            self.server.create_login(&login).unwrap();
            self.command(&["share", "add-member", &login, "--team", team]);
        }
    }

    /// The settings of a machine that shares in a team.
    pub(super) fn settings(&self, member: &str, team: &str, machine: &str) -> Settings {
        let login = self.login(member);
        Settings {
            url: self.within(&self.server.url_without_password(&login)),
            password_file: self.server.password_file(&login),
            team: team.to_owned(),
            projects: vec![APP.to_owned()],
            machine: machine.to_owned(),
            more: String::new(),
            server: None,
            way: "tls = \"off\"\n".to_owned(),
        }
    }

    /// A home of its own with a checkout of the project, which does not share yet.
    pub(super) fn home(&self) -> Machine {
        let machine = Machine {
            sandbox: self.admin.another(),
            asked: Cell::new(0),
        };
        machine.repository("app");
        machine
    }

    /// A machine in a home of its own, with a checkout of the project, and these settings.
    pub(super) fn machine(&self, settings: &Settings) -> Machine {
        let machine = self.home();
        machine.configure(settings);
        machine
    }

    /// A machine whose settings nothing is to be changed in.
    pub(super) fn machine_of(&self, member: &str, team: &str, machine: &str) -> Machine {
        self.machine(&self.settings(member, team, machine))
    }

    /// Two members of a team, `core`: Ada with a laptop, Bob with a desk.
    pub(super) fn pair(&self) -> (Machine, Machine) {
        self.team("core", &["ada", "bob"]);
        (
            self.machine_of("ada", "core", "laptop"),
            self.machine_of("bob", "core", "desk"),
        )
    }

    /// Ends every connection to the database but the one that asks for that, as a restart of the server does.
    pub(super) fn disconnect_all(&self) {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";
        self.client().query(end, &[&self.database]).unwrap();
    }

    /// How many episodes the server has that are shared now.
    pub(super) fn live(&self) -> i64 {
        self.number("SELECT count(*) FROM remembrancer.episodes WHERE kind = 0", &[])
    }

    /// Waits until the server has so many.
    pub(super) fn wait_for_live(&self, episodes: i64) {
        eventually(&format!("{episodes} episodes on the server"), PATIENCE, || {
            (self.live() == episodes).then_some(())
        });
    }

    /// The first table of the shared store that holds `needle` anywhere, in capitals or not, as text or as bytes; `None` where none does.
    /// A server keeps what a row was until it is vacuumed; what a row is, is what anybody is given.
    pub(super) fn holding(&self, needle: &str) -> Option<String> {
        let mut client = self.client();
        let tables = "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'remembrancer'::regnamespace AND c.relkind = 'r'";
        let tables: Vec<String> = client.query(tables, &[]).unwrap().iter().map(|row| row.get(0)).collect();
        assert!(tables.len() > 5, "{tables:?}");
        tables.into_iter().find(|table| {
            let copy = format!("COPY remembrancer.\"{table}\" TO STDOUT (FORMAT binary)");
            let mut bytes = Vec::new();
            client.copy_out(copy.as_str()).unwrap().read_to_end(&mut bytes).unwrap();
            let mut windows = bytes.windows(needle.len());
            windows.any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        })
    }

    /// No table holds any of these.
    pub(super) fn holds_none(&self, needles: &[&str], when: &str) {
        for needle in needles {
            assert_eq!(self.holding(needle), None, "{needle}: {when}");
        }
    }
}

/// What a machine's settings say of sharing.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) url: String,
    pub(super) password_file: PathBuf,
    pub(super) team: String,
    pub(super) projects: Vec<String>,
    pub(super) machine: String,
    /// Further lines of the section.
    pub(super) more: String,
    /// Lines in place of those of the URL and of the password's file.
    pub(super) server: Option<String>,
    /// Lines on how the way to the server is protected.
    pub(super) way: String,
}

impl Settings {
    /// The same by another port, behind which a proxy stands.
    pub(super) fn by_port(self, port: u16) -> Self {
        self.at("127.0.0.1", port)
    }

    /// The same by another name of the server, and another port.
    pub(super) fn at(mut self, host: &str, port: u16) -> Self {
        let mut url = Url::parse(&self.url).unwrap();
        url.set_host(Some(host)).unwrap();
        url.set_port(Some(port)).unwrap();
        self.url = url.to_string();
        self
    }

    /// The same with these lines in place of those of the URL and of the password's file.
    pub(super) fn by(mut self, server: &str) -> Self {
        self.server = Some(server.to_owned());
        self
    }

    /// The same, the way encrypted and verified, as it is where nothing is said: by the authorities of a file, or by the system's.
    pub(super) fn verified_by(mut self, authorities: Option<&Path>) -> Self {
        let line = |file: &Path| format!("ca_file = \"{}\"\n", file.display());
        self.way = authorities.map(line).unwrap_or_default();
        self
    }

    fn text(&self) -> String {
        let server = self.server.clone().unwrap_or_else(|| {
            let file = self.password_file.display();
            format!("url = {:?}\npassword_file = \"{file}\"\n", self.url)
        });
        format!(
            "[share]\n{server}team = {:?}\nprojects = {:?}\nmachine = {:?}\n{}{}",
            self.team, self.projects, self.machine, self.way, self.more
        )
    }
}

/// A home that shares.
pub(super) struct Machine {
    pub(super) sandbox: Sandbox,
    asked: Cell<u32>,
}

impl Machine {
    /// Writes the settings; a daemon reads them when it starts.
    pub(super) fn configure(&self, settings: &Settings) {
        self.sandbox.configure(&settings.text());
    }

    /// A checkout of `github.com/acme/<name>`, each machine's in its own home. Returns its folder.
    pub(super) fn repository(&self, name: &str) -> String {
        let folder = self.sandbox.project(name);
        let git = Path::new(&folder).join(".git");
        fs_err::create_dir_all(&git).unwrap();
        let origin = format!("[remote \"origin\"]\n\turl = https://github.com/acme/{name}.git\n");
        fs_err::write(git.join("config"), origin).unwrap();
        folder
    }

    /// A transcript of a session in the shared project.
    pub(super) fn transcript(&self, session: &str) -> Transcript {
        self.sandbox.transcript(session, "app")
    }

    /// Fires the hook in the shared project, in a session of its own.
    pub(super) fn hook(&self, prompt: &str) -> HookOutput {
        let session = self.session();
        self.sandbox.hook(&session, &self.sandbox.project("app"), prompt)
    }

    /// Another session that asks.
    pub(super) fn session(&self) -> String {
        self.asked.set(self.asked.get() + 1);
        format!("asks-{}", self.asked.get())
    }

    /// Asks by the hook, again and again, until what it says holds `words`. Returns all that it says then.
    pub(super) fn wait_to_recall(&self, prompt: &str, words: &str) -> String {
        eventually(&format!("{words} to be recalled"), PATIENCE, || {
            let context = self.hook(prompt).context();
            context.contains(words).then_some(context)
        })
    }

    /// Has prompts asked of these topics, which this memory has: each is answered, and in its time.
    pub(super) fn answers(&self, topics: Range<u32>, when: &str) {
        let app = self.sandbox.project("app");
        for number in topics {
            let fired = fire(&self.sandbox, &self.session(), &app, &topic(number).0);
            assert!(fired.violations.is_empty(), "{when}: {:?}", fired.violations);
            let explained = || self.sandbox.json(&["explain"]);
            assert!(
                fired.spoke,
                "{when}: the prompt of topic {number} got no answer: {}",
                explained()
            );
        }
    }

    /// Whether a prompt or an answer that is remembered here holds `words`.
    pub(super) fn remembers(&self, words: &str) -> bool {
        let mut episodes = self.sandbox.episodes().into_iter();
        episodes.any(|episode| episode.prompt.contains(words) || episode.answer.contains(words))
    }

    /// Waits until something that is remembered here holds `words`.
    pub(super) fn wait_for(&self, words: &str) {
        eventually(&format!("{words} to come"), PATIENCE, || self.remembers(words).then_some(()));
    }

    /// Waits until nothing does.
    pub(super) fn wait_until_gone(&self, words: &str) {
        eventually(&format!("{words} to go"), PATIENCE, || (!self.remembers(words)).then_some(()));
    }

    /// Runs a command, which must succeed. Returns what it printed.
    pub(super) fn run(&self, arguments: &[&str]) -> String {
        let output = self.sandbox.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What `share status` says, in small letters, whatever its exit code.
    pub(super) fn share_status(&self) -> String {
        said(&self.sandbox.run(&["share", "status"])).to_lowercase()
    }

    /// Waits until `share status` holds one of `words`. Returns all that it says then.
    pub(super) fn wait_for_status(&self, words: &[&str]) -> String {
        let mut last = String::new();
        let found = within(PATIENCE, || {
            last = self.share_status();
            words.iter().any(|word| last.contains(word)).then(|| last.clone())
        });
        found.unwrap_or_else(|| panic!("none of {words:?}: {last}"))
    }

    /// Has the daemon try again now, and not when its patience with the network ends.
    pub(super) fn nudge(&self) {
        self.run(&["share", "resume"]);
    }
}

/// All that a command wrote.
pub(super) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A file for its owner alone.
pub(super) fn private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}
