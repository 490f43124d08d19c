//! A home of its own for one test, with the real binaries in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use remembrancer_hooks::Environment;
use remembrancer_hooks::clock::BUDGET;
use remembrancer_hooks::places::Places;
use remembrancer_schema::{EpisodeText, ForgetTarget, Reader};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::daemon_process::DaemonProcess;
use crate::transcript::Transcript;
use crate::wait::timed;

/// Sandboxes of this process share it; one that measures times has it alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Held as long as a sandbox exists, only for what its drop does.
#[derive(Debug)]
enum Share {
    Shared(#[expect(dead_code, reason = "held, never read")] RwLockReadGuard<'static, ()>),
    Alone(#[expect(dead_code, reason = "held, never read")] RwLockWriteGuard<'static, ()>),
    /// By the sandbox that this one was made beside.
    Beside,
}

/// A user's home in a temporary folder, removed when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
    program: PathBuf,
    hook: PathBuf,
    _share: Share,
}

/// What the hook did.
#[derive(Debug, Clone)]
pub struct HookOutput {
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr: it must be nothing.
    pub stderr: String,
    /// How it ended.
    pub status: ExitStatus,
    /// From its start to its exit, as its parent sees it.
    pub took: Duration,
}

impl HookOutput {
    /// The injected text; empty where there was none.
    ///
    /// # Panics
    /// Where stdout is neither empty nor exactly the object that the host knows.
    pub fn context(&self) -> String {
        if self.stdout.trim().is_empty() {
            return String::new();
        }
        let object: Value = serde_json::from_str(&self.stdout).expect("invariant: the hook writes JSON");
        let context = object["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .expect("invariant: it has a context");
        let event = &object["hookSpecificOutput"]["hookEventName"];
        let expected = json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}});
        assert_eq!(object, expected, "a host refuses any other key");
        context.to_owned()
    }
}

impl Sandbox {
    /// A new home with `program` as `remembrancer` and `hook` as `remembrancer-hook`. One a test: a second would wait for
    /// the first, and is made by [`Sandbox::another`].
    ///
    /// # Panics
    /// Where no temporary folder can be made.
    pub fn new(program: &str, hook: &str) -> Self {
        Self::with(
            program,
            hook,
            Share::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner)),
        )
    }

    /// The same, for a test that measures times: no other test of this process runs beside it.
    ///
    /// # Panics
    /// As [`Sandbox::new`].
    pub fn alone(program: &str, hook: &str) -> Self {
        Self::with(
            program,
            hook,
            Share::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner)),
        )
    }

    /// Another home for the same test, as of another user or on another machine. It has no share of the machine of its own, and so must
    /// be dropped before this one.
    ///
    /// # Panics
    /// As [`Sandbox::new`].
    #[must_use]
    pub fn another(&self) -> Self {
        Self::with(&self.program, &self.hook, Share::Beside)
    }

    fn with(program: impl Into<PathBuf>, hook: impl Into<PathBuf>, share: Share) -> Self {
        let folder = tempfile::Builder::new().prefix("rmb").tempdir().unwrap();
        let sandbox = Self {
            folder,
            program: program.into(),
            hook: hook.into(),
            _share: share,
        };
        for made in [sandbox.home(), sandbox.root(), sandbox.home().join("run")] {
            fs_err::create_dir_all(made).unwrap();
        }
        sandbox
    }

    /// Keeps the folder with the home and the daemon's log after this one is dropped. Returns it.
    pub fn keep(mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The program under test.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Claude Code's folder of transcripts.
    pub fn root(&self) -> PathBuf {
        self.home().join(".claude/projects")
    }

    /// A folder for a project's working tree; it exists.
    ///
    /// # Panics
    /// Where it can't be made.
    pub fn project(&self, name: &str) -> String {
        let folder = self.home().join("work").join(name);
        fs_err::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap().display().to_string()
    }

    /// Where everything lies in this home.
    pub fn places(&self) -> Places {
        let home = self.home();
        Places::new(&Environment {
            data_home: home.join(".local/share"),
            state_home: home.join(".local/state"),
            config_home: home.join(".config"),
            runtime_dir: Some(home.join("run")),
            explicit_socket: None,
            run_user: home.join("no-run-user"),
            temporary: PathBuf::from("/tmp"),
            uid: rustix::process::getuid().as_raw(),
            guard: false,
        })
    }

    /// Whether the system has a runtime folder for this user, outside of any sandbox: what is started without a folder in its place
    /// would meet the user's own daemon there.
    pub fn has_real_runtime_folder(&self) -> bool {
        Path::new("/run/user").join(self.places().uid().to_string()).exists()
    }

    /// Writes the settings.
    ///
    /// # Panics
    /// Where they can't be written.
    pub fn configure(&self, text: &str) {
        let file = self.places().config_file();
        fs_err::create_dir_all(file.parent().expect("invariant: settings lie in a folder")).unwrap();
        fs_err::write(file, text).unwrap();
    }

    /// A command of the program in this home.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_of(&self.program);
        command.args(arguments);
        command
    }

    /// Another program in this home.
    pub fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        self.surround(&mut command).stdin(Stdio::null());
        command
    }

    /// Runs a command of the program to its end.
    ///
    /// # Panics
    /// Where it can't be started.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command with `--json` and reads what it printed.
    ///
    /// # Panics
    /// Where it fails or prints no JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts the daemon and waits until it answers.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(&self) -> DaemonProcess<'_> {
        self.start_with(&[])
    }

    /// The same with further environment variables.
    ///
    /// # Panics
    /// As [`Sandbox::start`].
    pub fn start_with(&self, variables: &[(&str, &str)]) -> DaemonProcess<'_> {
        let mut command = self.command(&["run"]);
        command.envs(variables.iter().copied());
        let mut daemon = self.spawn(command);
        daemon.wait_until_ready();
        daemon
    }

    /// Starts the daemon and does not wait.
    ///
    /// # Panics
    /// Where it can't be started.
    pub fn start_unready(&self) -> DaemonProcess<'_> {
        self.spawn(self.command(&["run"]))
    }

    /// Starts what becomes the daemon, in this home.
    pub(crate) fn spawn(&self, mut command: Command) -> DaemonProcess<'_> {
        let log = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_file())
            .unwrap();
        let child = command.stderr(log.into_parts().0).stdout(Stdio::null()).spawn().unwrap();
        DaemonProcess::new(child, self)
    }

    /// A transcript of `session` in the project `project`; nothing of it is written yet.
    ///
    /// # Panics
    /// Where the project's folder can't be made.
    pub fn transcript(&self, session: &str, project: &str) -> Transcript {
        Transcript::new(&self.root(), session, &self.project(project))
    }

    /// The store, read-only, as it stands: without a daemon, too.
    ///
    /// # Panics
    /// Where it can't be opened.
    pub fn reader(&self) -> Reader {
        Reader::open(&self.places().database_file()).unwrap()
    }

    /// All episodes, in the order in which they came.
    ///
    /// # Panics
    /// Where the store can't be read.
    pub fn episodes(&self) -> Vec<EpisodeText> {
        let reader = self.reader();
        let ids = reader.episodes_of(&ForgetTarget::All).unwrap();
        let mut episodes = reader.texts(&ids).unwrap();
        episodes.sort_by_key(|episode| episode.id);
        episodes
    }

    /// The id, in short, of the first episode whose prompt holds `words`.
    ///
    /// # Panics
    /// Where none does; as [`Sandbox::episodes`].
    pub fn id_of(&self, words: &str) -> String {
        let mut episodes = self.episodes().into_iter();
        let found = episodes.find(|episode| episode.prompt.contains(words));
        found.unwrap().uid.short()
    }

    /// The prompts of all episodes, sorted.
    ///
    /// # Panics
    /// As [`Sandbox::episodes`].
    pub fn prompts(&self) -> Vec<String> {
        let mut prompts: Vec<String> = self.episodes().into_iter().map(|episode| episode.prompt).collect();
        prompts.sort();
        prompts
    }

    /// Fires the hook as Claude Code does.
    pub fn hook(&self, session: &str, cwd: &str, prompt: &str) -> HookOutput {
        self.hook_with(prompt_of_claude_code(session, cwd, prompt).as_bytes(), &[])
    }

    /// A command of the hook in this home, with pipes for all it reads and writes.
    pub fn hook_command(&self) -> Command {
        let mut command = Command::new(&self.hook);
        self.surround(&mut command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Fires the hook with `stdin` and further environment variables.
    ///
    /// # Panics
    /// Where it can't be started; where it writes to stderr or exits with anything but 0, which it must never do.
    pub fn hook_with(&self, stdin: &[u8], variables: &[(&str, &str)]) -> HookOutput {
        let mut command = self.hook_command();
        command.envs(variables.iter().copied());
        fire(command, stdin)
    }

    /// Fires the hook of another agent.
    ///
    /// # Panics
    /// As [`Sandbox::hook_with`].
    pub fn hook_of(&self, agent: &str, stdin: &[u8], variables: &[(&str, &str)]) -> HookOutput {
        let mut command = self.hook_command();
        command.args(["--agent", agent]).envs(variables.iter().copied());
        fire(command, stdin)
    }

    /// The session's recollection file as it stands; `None` where there is none.
    pub fn recollection_file(&self, session: &str) -> Option<String> {
        fs_err::read_to_string(self.places().recollection_path("claude-code", session)).ok()
    }

    /// The whole budget of a hook.
    pub fn budget(&self) -> Duration {
        BUDGET
    }

    /// Where the daemon's log goes.
    pub(crate) fn log_file(&self) -> PathBuf {
        self.folder.path().join("daemon.log")
    }

    pub(crate) fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let home = self.home();
        command
            .env("HOME", &home)
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("REMEMBRANCER_SOCKET")
            .env_remove("REMEMBRANCER_GUARD")
            .env_remove("REMEMBRANCER_BUDGET")
            .env_remove("RAG_FUSION_V2_ENABLED")
            .env_remove("NOTIFY_SOCKET")
            .current_dir(&home)
    }
}

/// What Claude Code tells its hooks of a prompt.
pub(crate) fn prompt_of_claude_code(session: &str, cwd: &str, prompt: &str) -> String {
    let payload = json!({
        "session_id": session,
        "transcript_path": "",
        "cwd": cwd,
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
    });
    payload.to_string()
}

/// Runs a command whose stdin is piped to its end, whatever that is.
pub(crate) fn run_fed(mut command: Command, stdin: &[u8]) -> (Output, Duration) {
    timed(|| {
        let mut child = command.spawn().unwrap();
        // A hook that has no use for its stdin may have closed it.
        child.stdin.take().expect("invariant: stdin is piped").write_all(stdin).ok();
        child.wait_with_output().unwrap()
    })
}

/// Fires a hook, which must neither write to stderr nor exit with anything but 0.
fn fire(command: Command, stdin: &[u8]) -> HookOutput {
    let (output, took) = run_fed(command, stdin);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && stderr.is_empty(),
        "the hook ended with {}: {stderr}",
        output.status
    );
    HookOutput {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr,
        status: output.status,
        took,
    }
}
