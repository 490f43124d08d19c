//! A real PostgreSQL with pgvector for tests, in a temporary folder: on a unix socket and a port of the loopback address, with passwords.
//! It ends with the process that started it, however that ends. Where none can be had, the reason is printed, and it is an error
//! only with `REMEMBRANCER_REQUIRE_POSTGRES=1`.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use postgres::types::Type;
use remembrancer_schema::shared::SHARED_MIGRATIONS;
use tempfile::TempDir;

use crate::shared::skip;
use crate::wait::within;
use programs::Programs;

mod programs;

/// The types of what is copied into `incoming`, in the order of its columns (`COPY_INCOMING`).
pub const INCOMING: [Type; 22] = [
    Type::INT4,
    Type::BYTEA,
    Type::BYTEA,
    Type::TEXT_ARRAY,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT2,
    Type::INT4,
    Type::INT4,
    Type::INT2,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::BYTEA,
    Type::BYTEA,
    Type::TEXT,
    Type::FLOAT4_ARRAY,
];

/// The user that the server runs as where this process is root's, as which it refuses to run: `nobody`, of no group.
const NOBODY: u32 = 65534;
/// The database's superuser.
const ADMIN: &str = "postgres";
/// A database of all tests, with nothing in it.
const DATABASE: &str = "remembrancer";
/// The database that [`Postgres::fresh_database`] copies.
const TEMPLATE: &str = "remembrancer_template";
/// How long a start or a stop may take: far longer than it does.
const PATIENCE: Duration = Duration::from_mins(1);
/// A port that is free when it is looked for may be taken a moment later.
const TRIES: usize = 5;

/// A running server. Its own folder goes when it is dropped.
#[derive(Debug)]
pub struct Postgres {
    programs: Programs,
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    /// Whether the programs run as [`NOBODY`].
    drops: bool,
    serving: Mutex<Option<Child>>,
    passwords: Mutex<BTreeMap<String, String>>,
    is_template_made: Mutex<bool>,
    databases: AtomicU32,
}

/// A database of a test's own.
#[derive(Debug)]
pub struct Database<'a> {
    server: &'a Postgres,
    name: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Postgres {
    /// Starts a server with an empty database. `None`, with a printed reason, where there are no programs.
    ///
    /// # Errors
    /// Where there are programs and they don't serve; where there are none and `REMEMBRANCER_REQUIRE_POSTGRES` is `1`.
    pub fn start() -> anyhow::Result<Option<Self>> {
        Self::start_with(&[])
    }

    /// The same with further settings, such as `max_connections=5`.
    ///
    /// # Errors
    /// As [`Postgres::start`].
    pub fn start_with(settings: &[&str]) -> anyhow::Result<Option<Self>> {
        let programs = match Programs::find() {
            Ok(programs) => programs,
            Err(reason) => {
                let is_required = std::env::var_os("REMEMBRANCER_REQUIRE_POSTGRES").is_some_and(|value| value == "1");
                ensure!(!is_required, "{reason}");
                skip(&reason);
                return Ok(None);
            }
        };
        let folder = tempfile::Builder::new().prefix("rmbpg").tempdir()?;
        let drops = rustix::process::geteuid().is_root();
        let programs = if drops {
            chown(folder.path(), Some(NOBODY), Some(NOBODY))?;
            programs.for_another_user(folder.path())?
        } else {
            programs
        };
        let mut server = Self {
            programs,
            folder,
            port: 0,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            drops,
            serving: Mutex::default(),
            passwords: Mutex::new(BTreeMap::from([(ADMIN.to_owned(), "password-of-the-admin".to_owned())])),
            is_template_made: Mutex::default(),
            databases: AtomicU32::new(0),
        };
        server.make()?;
        server.serve_at_any_port()?;
        server.administer("postgres", &format!("CREATE DATABASE {DATABASE}"))?;
        Ok(Some(server))
    }

    /// Makes the folder of data.
    fn make(&self) -> anyhow::Result<()> {
        let sockets = self.socket_folder();
        fs_err::create_dir(&sockets)?;
        let password = self.folder.path().join("password");
        fs_err::write(&password, self.password(ADMIN)?)?;
        if self.drops {
            chown(&sockets, Some(NOBODY), Some(NOBODY))?;
            chown(&password, Some(NOBODY), Some(NOBODY))?;
        }
        let mut initdb = self.unprivileged(self.programs.command("initdb"));
        initdb.args([
            "--username",
            ADMIN,
            "--auth",
            "scram-sha-256",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
            "--no-sync",
        ]);
        initdb.arg("--pwfile").arg(&password).arg("--pgdata").arg(self.data());
        let output = initdb.output().context("cannot run initdb")?;
        ensure!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        fs_err::remove_file(&password)?;
        Ok(())
    }

    fn serve_at_any_port(&mut self) -> anyhow::Result<()> {
        for _ in 1..TRIES {
            self.port = free_port()?;
            if self.serve().is_ok() {
                return Ok(());
            }
        }
        self.port = free_port()?;
        self.serve()
    }

    /// Has the server run until it takes connections.
    fn serve(&self) -> anyhow::Result<()> {
        let folder = self.folder.path();
        let ended = folder.join("ended");
        if ended.exists() {
            fs_err::remove_file(&ended)?;
        }
        let mut shell = self.unprivileged(Command::new("/bin/sh"));
        shell.arg("-c").arg(include_str!("postgres/serving.sh")).arg(folder);
        let postgres = self.programs.command("postgres");
        shell.arg(postgres.get_program()).arg("-D").arg(self.data());
        shell.env("LC_ALL", "C").env_remove("PGDATA");
        let own = [
            format!("port={}", self.port),
            format!("unix_socket_directories={}", self.socket_folder().display()),
            "listen_addresses=127.0.0.1".to_owned(),
            // What a crash of the machine would lose, no test needs; a crash of the server loses nothing by it.
            "fsync=off".to_owned(),
            "full_page_writes=off".to_owned(),
            "shared_buffers=64MB".to_owned(),
            "max_connections=60".to_owned(),
            "autovacuum_naptime=5s".to_owned(),
            "timezone=UTC".to_owned(),
        ];
        for setting in own.iter().chain(&self.settings) {
            shell.arg("-c").arg(setting);
        }
        let child = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        *locked(&self.serving) = Some(child);
        let is_up = within(PATIENCE, || {
            let stood = fs_err::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            let is_ready = stood.lines().nth(7).is_some_and(|state| state.trim() == "ready");
            (is_ready || ended.exists()).then_some(is_ready)
        });
        if is_up == Some(true) {
            return Ok(());
        }
        self.end("stop")?;
        let log = fs_err::read_to_string(folder.join("log")).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(5).collect();
        bail!("the server does not start: {}", last.join(" / "))
    }

    /// Tells the shell to end the server, and waits until it has.
    fn end(&self, word: &str) -> anyhow::Result<()> {
        let Some(mut child) = locked(&self.serving).take() else {
            return Ok(());
        };
        if let Some(mut stdin) = child.stdin.take() {
            writeln!(stdin, "{word}")?;
        }
        child.wait()?;
        Ok(())
    }

    /// Stops the server as an admin does: connections are cut, and all that was committed is on the disk.
    ///
    /// # Errors
    /// Where it can't be told.
    pub fn stop(&self) -> anyhow::Result<()> {
        self.end("stop")
    }

    /// Stops it at once, as if it had crashed.
    ///
    /// # Errors
    /// Where it can't be told.
    pub fn kill(&self) -> anyhow::Result<()> {
        self.end("kill")
    }

    /// Starts it after [`Postgres::stop`] or [`Postgres::kill`], at the same port, with what it had.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start_again(&self) -> anyhow::Result<()> {
        ensure!(locked(&self.serving).is_none(), "the server runs");
        self.serve()
    }

    /// The port of 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its unix socket.
    pub fn socket_folder(&self) -> PathBuf {
        self.folder.path().join("sockets")
    }

    /// The empty database's URL for the superuser, with the password.
    pub fn admin_url(&self) -> String {
        self.url(ADMIN, true, DATABASE)
    }

    /// The same for a login of [`Postgres::create_login`].
    ///
    /// # Panics
    /// Where there is no such login.
    pub fn login_url(&self, name: &str) -> String {
        self.url(name, true, DATABASE)
    }

    /// The same without the password.
    pub fn url_without_password(&self, name: &str) -> String {
        self.url(name, false, DATABASE)
    }

    fn url(&self, name: &str, with_password: bool, database: &str) -> String {
        let password = if with_password {
            format!(":{}", self.password(name).expect("a login that was made"))
        } else {
            String::new()
        };
        format!("postgres://{name}{password}@{}:{}/{database}", Ipv4Addr::LOCALHOST, self.port)
    }

    fn password(&self, name: &str) -> anyhow::Result<String> {
        let passwords = locked(&self.passwords);
        passwords
            .get(name)
            .cloned()
            .with_context(|| format!("no login {name} was made"))
    }

    /// A file with the login's password, which this user alone can read.
    ///
    /// # Panics
    /// Where there is no such login, or the file can't be written.
    pub fn password_file(&self, name: &str) -> PathBuf {
        let file = self.folder.path().join(format!("password-of-{name}"));
        fs_err::write(&file, format!("{}\n", self.password(name).unwrap())).unwrap();
        fs_err::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        file
    }

    /// Makes a role that may log in, by a password of its own. Roles belong to the server, whatever the database. Nothing, where it was
    /// made before.
    ///
    /// # Errors
    /// Where the server refuses.
    pub fn create_login(&self, name: &str) -> anyhow::Result<()> {
        let is_plain = name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        ensure!(
            is_plain && !name.is_empty(),
            "a login of tests has small letters, digits and _: {name:?}"
        );
        let mut passwords = locked(&self.passwords);
        if passwords.contains_key(name) {
            return Ok(());
        }
        let password = format!("password-{}-of-{name}", passwords.len());
        self.as_admin(
            "postgres",
            &passwords[ADMIN],
            &format!("CREATE ROLE {name} LOGIN PASSWORD '{password}'"),
        )?;
        passwords.insert(name.to_owned(), password);
        Ok(())
    }

    /// Has the superuser run statements in a database. Returns what they gave, a line a row.
    ///
    /// # Errors
    /// The server's error.
    pub fn administer(&self, database: &str, sql: &str) -> anyhow::Result<String> {
        self.as_admin(database, &self.password(ADMIN)?, sql)
    }

    fn as_admin(&self, database: &str, password: &str, sql: &str) -> anyhow::Result<String> {
        let mut psql = self.programs.command("psql");
        psql.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--set",
            "ON_ERROR_STOP=1",
        ]);
        psql.args([
            "--host",
            "127.0.0.1",
            "--username",
            ADMIN,
            "--dbname",
            database,
            "--file",
            "-",
        ]);
        psql.args(["--port", &self.port.to_string()]).env("PGPASSWORD", password);
        psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = psql.spawn().context("cannot run psql")?;
        let stdin = running.stdin.take();
        // It reads all before it says much: statements of tests are few.
        stdin.context("invariant: stdin is piped")?.write_all(sql.as_bytes())?;
        let output = running.wait_with_output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// A new database with nothing in it.
    ///
    /// # Errors
    /// Where the server refuses.
    pub fn empty_database(&self) -> anyhow::Result<Database<'_>> {
        self.database("")
    }

    /// A new database with the shared store's schema, as this version has it.
    ///
    /// # Errors
    /// Where the server refuses, or a migration fails.
    pub fn fresh_database(&self) -> anyhow::Result<Database<'_>> {
        let mut is_made = locked(&self.is_template_made);
        if !*is_made {
            self.administer("postgres", &format!("CREATE DATABASE {TEMPLATE}"))?;
            for migration in SHARED_MIGRATIONS {
                self.administer(TEMPLATE, migration.sql)
                    .with_context(|| format!("in migration {}", migration.number))?;
            }
            *is_made = true;
        }
        // Nobody else may look at the template while it is copied, which the lock sees to.
        self.database(&format!(" TEMPLATE {TEMPLATE}"))
    }

    fn database(&self, how: &str) -> anyhow::Result<Database<'_>> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.administer("postgres", &format!("CREATE DATABASE {name}{how}"))?;
        Ok(Database { server: self, name })
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The command as a user that PostgreSQL takes, in a folder that this one can enter.
    fn unprivileged(&self, mut command: Command) -> Command {
        if self.drops {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut child) = locked(&self.serving).take() {
            // Its end of the pipe goes: the shell stops the server, and removes the folder.
            drop(child.stdin.take());
            child.wait().ok();
        }
    }
}

impl Database<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its URL for the superuser.
    pub fn admin_url(&self) -> String {
        self.server.url(ADMIN, true, &self.name)
    }

    /// Its URL for a login of [`Postgres::create_login`].
    ///
    /// # Panics
    /// Where there is no such login.
    pub fn login_url(&self, name: &str) -> String {
        self.server.url(name, true, &self.name)
    }
}

/// A port that is free now.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
