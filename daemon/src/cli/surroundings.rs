//! What every command needs to know of its surroundings: places, settings, transcript folders. The only file of the command
//! line that reads the environment.

use std::path::{Path, PathBuf};

use directories::BaseDirs;
use remembrancer_hooks::places::Places;
use remembrancer_hooks::{Environment, Registration};
use remembrancer_processor::ingest::{Agent, Home};

use super::error::{CliError, Kind};
use super::terminal::{Terminal, Wishes};
use crate::config::Config;
use crate::paths;
use crate::roots::{Root, Roots};

/// The surroundings of this process.
pub(crate) struct Surroundings {
    pub(crate) places: Places,
    pub(crate) config: Config,
    pub(crate) home: PathBuf,
    /// What standard output is.
    pub(super) terminal: Terminal,
    /// The file with the URL by which who runs the shared store's server reaches it, as the environment names it.
    #[cfg(feature = "share")]
    pub(super) share_admin_url_file: Option<PathBuf>,
    /// Where each agent keeps its transcripts, by its own rules.
    usual_roots: Vec<Root>,
}

/// Seed 003's kill switch.
pub(super) const V2_SWITCH: &str = "RAG_FUSION_V2_ENABLED";

/// Names the file with the URL of who runs the shared store's server.
pub(super) const SHARE_ADMIN_URL_FILE: &str = "REMEMBRANCER_SHARE_ADMIN_URL_FILE";
/// Where libpq looks for services, too.
const SERVICE_FILE: &str = "PGSERVICEFILE";

/// Variables that decide something here, and what.
const VARIABLES: [(&str, &str); 10] = [
    (V2_SWITCH, "fusion.profile \"v2\" to \"rrf\" where it is false"),
    ("REMEMBRANCER_BUDGET", "the hook's budget"),
    ("REMEMBRANCER_SOCKET", "the daemon's socket"),
    (
        "REMEMBRANCER_GUARD",
        "sessions below this program not to be remembered, unless it is 0",
    ),
    (
        SHARE_ADMIN_URL_FILE,
        "the file with the URL for `share init` and the other commands of who runs the server",
    ),
    (SERVICE_FILE, "the file in which share.service is looked for"),
    ("XDG_CONFIG_HOME", "the folder of settings"),
    ("XDG_DATA_HOME", "the folder of the memory"),
    ("XDG_STATE_HOME", "the folder of recollection files"),
    ("XDG_RUNTIME_DIR", "the folder of the socket"),
];

/// A variable of this process that decides something.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// What it sets.
    pub(super) sets: String,
}

/// The variables that are set here.
pub(super) fn variables() -> Vec<Variable> {
    let of_agents = remembrancer_hooks::Agent::ALL.iter().filter_map(|agent| {
        let registration = agent.registration();
        Some((registration.folder_variable?, format!("the folder of {}", registration.name)))
    });
    let ours = VARIABLES.iter().map(|(name, sets)| (*name, (*sets).to_owned()));
    ours.chain(of_agents)
        .filter_map(|(name, sets)| {
            let value = std::env::var_os(name)?.to_string_lossy().into_owned();
            Some(Variable { name, value, sets })
        })
        .collect()
}

/// The command line of the user's editor.
pub(super) fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// The user's home folder, and where everything lies: without the settings, which may be wrong.
pub(super) fn home_and_places() -> Result<(PathBuf, Places), CliError> {
    let environment = Environment::from_process()
        .ok_or_else(|| CliError::new(Kind::Failed, "you have no home folder").with_hint("set HOME"))?;
    let home = BaseDirs::new().map(|base| base.home_dir().to_owned()).unwrap_or_default();
    Ok((home, Places::new(&environment)))
}

impl Surroundings {
    /// Reads them, and the settings in `config` or in the usual place.
    pub(super) fn of_process(config: Option<PathBuf>) -> Result<Self, CliError> {
        let (home, places) = home_and_places()?;
        if let Some(named) = config.as_ref().filter(|named| !named.exists()) {
            return Err(CliError::new(
                Kind::Usage,
                format!("there is no settings file {}", named.display()),
            ));
        }
        let fusion_v2 = std::env::var(V2_SWITCH).ok();
        let config = Config::load(&config.unwrap_or_else(|| places.config_file()), &home)?
            .with_v2_switched_by(fusion_v2.as_deref())
            .with_service_file(variable(SERVICE_FILE));
        let usual_roots = usual_roots(&home, &variable);
        Ok(Self {
            places,
            config,
            home,
            terminal: terminal(),
            #[cfg(feature = "share")]
            share_admin_url_file: std::env::var_os(SHARE_ADMIN_URL_FILE)
                .filter(|named| !named.is_empty())
                .map(PathBuf::from),
            usual_roots,
        })
    }

    /// The folder in which an agent keeps its own settings.
    pub(super) fn settings_folder(&self, registration: &Registration) -> PathBuf {
        let named = registration.folder_variable.and_then(std::env::var_os).map(PathBuf::from);
        named
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| self.home.join(registration.folder))
    }

    /// `path` as the transcripts would have it. A `~` that the shell left as it was, as between quotes, is the home folder.
    pub(crate) fn as_in_transcripts(&self, path: &Path) -> Result<String, CliError> {
        let path = paths::from_home(path, &self.home).unwrap_or_else(|| path.to_owned());
        paths::resolved(&path)?
            .into_os_string()
            .into_string()
            .map_err(|_| CliError::new(Kind::Usage, format!("{} is not UTF-8, as transcripts are", path.display())))
    }

    /// Folders of transcripts that are known by a variable of this shell alone, such as `CLAUDE_CONFIG_DIR`: a daemon that a service
    /// manager starts does not see it.
    pub(super) fn roots_by_variables(&self) -> Vec<&Root> {
        let lasting = usual_roots(&self.home, &|_| None);
        let read = self.roots();
        let known = |root: &Root| lasting.contains(root) || self.config.transcripts.folders.contains(root);
        self.usual_roots
            .iter()
            .filter(|root| !known(root) && root.folder.is_dir() && read.iter().any(|read| read == *root))
            .collect()
    }

    /// All folders of transcripts.
    pub(super) fn roots(&self) -> Roots {
        let transcripts = &self.config.transcripts;
        let usual = transcripts.usual_folders.then_some(&self.usual_roots).into_iter().flatten();
        let roots = usual.chain(&transcripts.folders);
        Roots::new(
            roots
                .filter(|root| !transcripts.without.contains(&root.agent))
                .cloned()
                .collect(),
        )
    }
}

fn usual_roots(home: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Root> {
    let home = Home { folder: home, variable };
    let of_agent = |agent: &Agent| {
        let agent = *agent;
        let root = move |flat| move |folder| Root { agent, folder, flat };
        let deep = agent.folders(&home).into_iter().map(root(false));
        deep.chain(agent.flat_folders(&home).into_iter().map(root(true)))
    };
    Agent::ALL.iter().flat_map(of_agent).collect()
}

/// What standard output is.
pub(super) fn terminal() -> Terminal {
    Terminal::of_process(&wishes())
}

fn wishes() -> Wishes {
    let variable = |name| std::env::var(name).ok();
    Wishes {
        columns: variable("COLUMNS"),
        no_color: variable("NO_COLOR"),
        kind: variable("TERM"),
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The hook lies beside this program, under the same name with `-hook` in it.
pub(super) fn hook_beside(program: &Path) -> Result<PathBuf, CliError> {
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .replacen("remembrancer", "remembrancer-hook", 1);
    let hook = program.with_file_name(name);
    if hook.is_file() {
        return Ok(hook);
    }
    Err(CliError::new(Kind::Failed, format!("there is no {}", hook.display()))
        .with_hint("build both binaries: cargo build --release"))
}

/// Every variable that is read, and what it sets: for `docs/configuration.md`.
#[cfg(test)]
pub(crate) fn all_variables() -> Vec<(String, String)> {
    tests::all_variables()
}

#[cfg(test)]
mod tests;
