//! The folder that is thrown away: it stands in for the user's home, so that nothing of the real one is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use remembrancer_hooks::Environment;
use remembrancer_hooks::places::Places;
use tempfile::TempDir;

use crate::cli::error::CliError;
use crate::roots::Roots;

/// The session in whose name the prompt is asked.
pub(super) const SESSION: &str = "try";

/// The folder, removed with all that is in it when this is dropped.
pub(super) struct Throwaway {
    folder: TempDir,
    environment: Environment,
}

impl Throwaway {
    pub(super) fn make() -> Result<Self, CliError> {
        let folder = tempfile::Builder::new().prefix("remembrancer-try-").tempdir()?;
        let home = folder.path().join("home");
        let run = folder.path().join("run");
        for made in [&home, &run] {
            crate::files::private_folder(made)?;
        }
        let (data, state, config) = homes(&home);
        let environment = Environment {
            data_home: data,
            state_home: state,
            config_home: config,
            runtime_dir: Some(run.clone()),
            explicit_socket: Some(run.join("remembrancer.sock")),
            run_user: folder.path().join("none"),
            temporary: PathBuf::from("/tmp"),
            uid: crate::system::user_id(),
            guard: false,
        };
        Ok(Self { folder, environment })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn places(&self) -> Places {
        Places::new(&self.environment)
    }

    pub(super) fn database(&self) -> PathBuf {
        self.places().database_file()
    }

    pub(super) fn recollection_file(&self) -> PathBuf {
        self.places().recollection_path("claude-code", SESSION)
    }

    /// Settings that read `roots` without `exclude` and nothing else, at most `newest` transcripts, and look at all projects.
    pub(super) fn write_config(&self, roots: &Roots, exclude: &[PathBuf], newest: usize) -> Result<(), CliError> {
        let file = self.places().config_file();
        crate::files::private_folder(file.parent().unwrap_or(&file))?;
        let (roots, exclude) = (by_agent(roots), list(exclude));
        let text = format!(
            "[transcripts]\nfolders = {{ {roots} }}\nexclude = {exclude}\nusual_folders = false\nnewest = {newest}\n\n[recall]\nscope = \"all\"\n\n\
             [backfill]\ncpu = \"100%\"\n\n[log]\nlevel = \"warn\"\n"
        );
        Ok(fs_err::write(file, text)?)
    }

    /// Makes `command` see this folder as its user's home.
    pub(super) fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let environment = &self.environment;
        command
            .env("HOME", self.folder.path().join("home"))
            .env("XDG_DATA_HOME", &environment.data_home)
            .env("XDG_STATE_HOME", &environment.state_home)
            .env("XDG_CONFIG_HOME", &environment.config_home)
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .env("REMEMBRANCER_SOCKET", self.folder.path().join("run/remembrancer.sock"))
            .env_remove("REMEMBRANCER_GUARD")
            .env_remove("REMEMBRANCER_BUDGET")
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("NOTIFY_SOCKET")
    }
}

/// Folders by agent, as members of a table in settings.
fn by_agent(roots: &Roots) -> String {
    let mut folders: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for root in roots.iter() {
        folders.entry(root.agent.id()).or_default().push(root.folder.clone());
    }
    let members: Vec<String> = folders
        .iter()
        .map(|(agent, folders)| format!("{agent} = {}", list(folders)))
        .collect();
    members.join(", ")
}

/// Paths as a list in settings.
fn list(paths: &[PathBuf]) -> toml::Value {
    paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .into()
}

/// Data, state and settings folders below `home`, where the system's rules put them.
fn homes(home: &Path) -> (PathBuf, PathBuf, PathBuf) {
    if cfg!(target_os = "macos") {
        let support = home.join("Library/Application Support");
        return (support.clone(), support.clone(), support);
    }
    (home.join(".local/share"), home.join(".local/state"), home.join(".config"))
}
