//! The home in which the commands of a page are run: the real programs by their own names, a daemon that has read the sample sessions,
//! and their two projects as `~/kiosk` and `~/orrery`. A page begins in the home folder, and `cd` lasts until its end.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::daemon_process::DaemonProcess;
use crate::sandbox::Sandbox;
use crate::wait::eventually;

/// The projects of the sample sessions, and where those say that they lie.
const PROJECTS: [&str; 2] = ["kiosk", "orrery"];
const WRITTEN: &str = "/home/sample/";
/// The session in whose name prompts are submitted.
const SESSION: &str = "today";
/// For a daemon's start, for what it logs after an answer, and for a command.
const PATIENCE: Duration = Duration::from_mins(1);

/// A home under way.
pub struct World<'a> {
    sandbox: &'a Sandbox,
    daemon: Option<DaemonProcess<'a>>,
    programs: PathBuf,
    /// Where the next command is run.
    folder: String,
    prompts: usize,
}

/// What a command did.
#[derive(Debug)]
pub(super) struct Ran {
    /// What it printed, to both of its outputs, with `~` for the home folder.
    pub(super) lines: Vec<String>,
    /// What it exited with; -1 where a signal ended it.
    pub(super) code: i32,
}

impl<'a> World<'a> {
    /// Makes it in `sandbox`, whose hook is `hook`, and starts the daemon.
    ///
    /// # Panics
    /// Where it can't be made.
    pub fn new(sandbox: &'a Sandbox, hook: &Path) -> Self {
        let home = sandbox.home().canonicalize().unwrap();
        let samples = sandbox.root().join("samples");
        fs_err::create_dir_all(&samples).unwrap();
        let shipped = super::root().join("daemon/src/cli/samples");
        for entry in fs_err::read_dir(shipped).unwrap() {
            let path = entry.unwrap().path();
            let text = fs_err::read_to_string(&path)
                .unwrap()
                .replace(WRITTEN, &format!("{}/", home.display()));
            fs_err::write(samples.join(path.file_name().unwrap()), text).unwrap();
        }
        for project in PROJECTS {
            fs_err::create_dir_all(home.join(project)).unwrap();
        }
        let programs = home.join(".local/bin");
        fs_err::create_dir_all(&programs).unwrap();
        for (program, name) in [(sandbox.program(), "remembrancer"), (hook, "remembrancer-hook")] {
            let to = programs.join(name);
            // The same file where the file systems allow it: it is large.
            if fs_err::hard_link(program, &to).is_err() {
                fs_err::copy(program, &to).unwrap();
            }
        }
        let mut world = Self {
            sandbox,
            daemon: None,
            programs,
            folder: home.display().to_string(),
            prompts: 0,
        };
        world.start();
        world
    }

    /// Starts the daemon, if it does not run, and waits until all is read and embedded.
    pub fn start(&mut self) {
        if self.daemon.is_none() {
            let daemon = self.sandbox.start();
            daemon.wait_for_model();
            daemon.wait_for_vectors();
            daemon.embed_all();
            self.daemon = Some(daemon);
        }
    }

    /// Stops it.
    pub fn stop(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop(Signal::TERM);
        }
    }

    /// Submits a prompt as an agent does, in a session of its own.
    ///
    /// # Panics
    /// Where no daemon runs.
    pub fn prompt(&mut self, folder: &str, text: &str) {
        self.prompts += 1;
        let session = format!("{SESSION}-{}", self.prompts);
        let folder = self.folded_out(folder);
        let daemon = self.daemon.as_ref().expect("invariant: a page submits prompts to a daemon");
        daemon.recall(&session, &folder, text);
        daemon.why(&session);
    }

    /// How an answer to `prompt` comes about now: what `explain --json` prints.
    ///
    /// # Panics
    /// Where it prints no JSON.
    pub fn explained(&self, folder: &str, prompt: &str) -> serde_json::Value {
        let folder = self.folded_out(folder);
        eventually("an answer in time", PATIENCE, || {
            let explanation = self.sandbox.json(&["explain", "--prompt", prompt, "--cwd", &folder]);
            (explanation["reason"] != "out-of-time").then_some(explanation)
        })
    }

    /// Runs a command by the shell.
    ///
    /// # Panics
    /// Where there is no shell.
    pub(super) fn run(&mut self, command: &str) -> Ran {
        let after = self.sandbox.home().join("run/folder");
        let script = format!("{command}\ncode=$?\npwd > '{}'\nexit $code", after.display());
        let mut shell = Command::new("/bin/sh");
        self.sandbox.surround(&mut shell);
        let (reader, writer) = std::io::pipe().unwrap();
        shell
            .args(["-c", &script])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs.display()))
            .env("TZ", "UTC")
            .env_remove("EDITOR")
            .env_remove("VISUAL")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let mut child = shell.spawn().unwrap();
        drop(shell);
        let (told, printed) = std::sync::mpsc::channel();
        std::thread::spawn(move || told.send(std::io::read_to_string(reader)));
        let Ok(printed) = printed.recv_timeout(PATIENCE) else {
            kill_process_group(Pid::from_child(&child), Signal::KILL).ok();
            child.wait().ok();
            panic!("`{command}` does not end: mark it as not run, with the reason");
        };
        let (printed, status) = (printed.unwrap(), child.wait().unwrap());
        if let Ok(folder) = fs_err::read_to_string(&after) {
            folder.trim_end().clone_into(&mut self.folder);
        }
        Ran {
            lines: self.folded(&printed).lines().map(|line| line.trim_end().to_owned()).collect(),
            code: status.code().unwrap_or(-1),
        }
    }

    /// Text with `~` for the home folder.
    fn folded(&self, text: &str) -> String {
        let home = self.sandbox.home();
        let canonical = home.canonicalize().unwrap();
        text.replace(&canonical.display().to_string(), "~")
            .replace(&home.display().to_string(), "~")
    }

    /// A path with the home folder for `~`.
    fn folded_out(&self, path: &str) -> String {
        let home = self.sandbox.home().canonicalize().unwrap();
        path.replacen('~', &home.display().to_string(), 1)
    }
}
