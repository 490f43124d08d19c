//! The real daemon and the real hook as child processes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use remembrancer_hooks::Client;
use remembrancer_hooks::protocol::{Answer, Reply, Request};
use serde_json::{Value, json};

use super::throwaway::{SESSION, Throwaway};
use super::{look_until, timed};
use crate::cli::error::{CliError, Kind};
use crate::cli::surroundings::hook_beside;
use crate::system;

const START: Duration = Duration::from_secs(10);
const CALL: Duration = Duration::from_secs(10);

/// The daemon, stopped when this is dropped.
pub(super) struct Daemon {
    child: Arc<Mutex<Option<Child>>>,
    client: Client,
    hook: PathBuf,
    place: SurroundedBy,
}

type SurroundedBy = Arc<dyn Fn(&mut Command) + Send + Sync>;

/// What the hook wrote, and how long it ran from start to exit.
pub(super) struct HookAnswer {
    pub(super) stdout: String,
    pub(super) took: Duration,
}

impl Daemon {
    pub(super) fn start(place: &Throwaway) -> Result<Self, CliError> {
        let program = std::env::current_exe()?;
        let hook = hook_beside(&program)?;
        let mut command = Command::new(program);
        command.arg("run").stdin(Stdio::null());
        let child = Arc::new(Mutex::new(Some(place.surround(&mut command).spawn()?)));
        stop_on_signal(Arc::clone(&child), place.path().to_owned())?;
        let daemon = Self {
            child,
            client: Client::new(place.places()),
            hook,
            place: surrounding(place),
        };
        match look_until(START, || daemon.ask(&Request::Ping).ok()) {
            Some(_) => Ok(daemon),
            None => Err(CliError::new(Kind::Daemon, "the daemon did not start; see its message above")),
        }
    }

    /// Waits until all is read and embedded, or until `patience` ends.
    pub(super) fn wait_until_read(&self, patience: Duration, mut show: impl FnMut(&Value)) -> Result<Value, CliError> {
        let mut last = self.ask(&Request::Status)?;
        look_until(patience, || {
            last = self.ask(&Request::Status).ok()?;
            show(&last);
            let scanned = last["ingest"]["transcripts_found"].as_u64() > Some(0);
            let waiting = last["ingest"]["transcripts_waiting"].as_u64().unwrap_or_default();
            let unembedded = last["embedding_backlog"].as_u64().unwrap_or_default();
            let hopeless = last["daemon"]["model"]
                .as_str()
                .is_some_and(|model| model.starts_with("none"));
            (scanned && waiting == 0 && (unembedded == 0 || hopeless)).then_some(())
        });
        Ok(last)
    }

    /// Fires the hook as Claude Code does.
    pub(super) fn fire_hook(&self, prompt: &str, cwd: &str) -> Result<HookAnswer, CliError> {
        let payload = json!({
            "session_id": SESSION,
            "transcript_path": "",
            "cwd": cwd,
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        });
        let mut command = Command::new(&self.hook);
        (self.place)(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (output, took) = timed(|| {
            let mut hook = command.spawn()?;
            if let Some(mut stdin) = hook.stdin.take() {
                stdin.write_all(payload.to_string().as_bytes())?;
            }
            hook.wait_with_output()
        });
        Ok(HookAnswer {
            stdout: String::from_utf8_lossy(&output?.stdout).into_owned(),
            took,
        })
    }

    /// Why the prompt got what it got. The log is stored after the reply, so it may be a moment behind.
    pub(super) fn why(&self) -> Result<Value, CliError> {
        let request = Request::Why {
            session: Some(SESSION.to_owned()),
        };
        look_until(CALL, || self.ask(&request).ok()).ok_or_else(|| CliError::new(Kind::Daemon, "the daemon can't say why"))
    }

    pub(super) fn stop(&self) {
        stop(&self.child);
    }

    fn ask(&self, request: &Request) -> Result<Value, CliError> {
        match self.client.call(request, CALL)? {
            Reply::Answer(Answer { ok: true, data, .. }) => Ok(data),
            Reply::Answer(Answer { error, .. }) => Err(CliError::new(Kind::Daemon, error.unwrap_or_default())),
            Reply::Recall(_) => Err(CliError::new(Kind::Daemon, "the daemon answered something else")),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        stop(&self.child);
    }
}

fn surrounding(place: &Throwaway) -> SurroundedBy {
    let mut model = Command::new("");
    place.surround(&mut model);
    let variables: Vec<_> = model
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(std::ffi::OsStr::to_owned)))
        .collect();
    Arc::new(move |command| {
        for (name, value) in &variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    })
}

/// Asks the child to stop in order, and waits for it.
fn stop(child: &Mutex<Option<Child>>) {
    let Some(mut child) = child.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    system::terminate(&child);
    if look_until(crate::STOP * 2, || child.try_wait().ok().flatten()).is_none() {
        child.kill().ok();
        child.wait().ok();
    }
}

/// On SIGINT or SIGTERM: stops the child, removes the folder, ends.
fn stop_on_signal(child: Arc<Mutex<Option<Child>>>, folder: PathBuf) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let caught = runtime.block_on(async {
            system::stop_signal()?.await;
            Ok::<_, std::io::Error>(())
        });
        if caught.is_ok() {
            stop(&child);
            fs_err::remove_dir_all(folder).ok();
            end();
        }
    })?;
    Ok(())
}

#[expect(clippy::exit, reason = "a signal ends the program; what it made is gone by now")]
fn end() {
    std::process::exit(130);
}
