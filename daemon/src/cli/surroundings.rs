//! What every command needs to know of its surroundings: places, settings, transcript folders. The only file of the command
//! line that reads the environment.

use std::path::PathBuf;

use directories::BaseDirs;
use remembrancer_hooks::Environment;
use remembrancer_hooks::places::Places;

use super::error::{CliError, Kind};
use crate::config::Config;

/// The surroundings of this process.
pub(super) struct Surroundings {
    pub(super) places: Places,
    pub(super) config: Config,
    pub(super) home: PathBuf,
    claude_config: Option<PathBuf>,
}

impl Surroundings {
    /// Reads them, and the settings in `config` or in the usual place.
    pub(super) fn of_process(config: Option<PathBuf>) -> Result<Self, CliError> {
        let environment = Environment::from_process()
            .ok_or_else(|| CliError::new(Kind::Failed, "you have no home folder").with_hint("set HOME"))?;
        let home = BaseDirs::new().map(|base| base.home_dir().to_owned()).unwrap_or_default();
        let places = Places::new(&environment);
        if let Some(named) = config.as_ref().filter(|named| !named.exists()) {
            return Err(CliError::new(
                Kind::Usage,
                format!("there is no settings file {}", named.display()),
            ));
        }
        let fusion_v2 = std::env::var("RAG_FUSION_V2_ENABLED").ok();
        let config =
            Config::load(&config.unwrap_or_else(|| places.config_file()), &home)?.with_v2_switched_by(fusion_v2.as_deref());
        let claude_config = std::env::var_os("CLAUDE_CONFIG_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        Ok(Self {
            places,
            config,
            home,
            claude_config,
        })
    }

    /// Claude Code's own folder of transcripts.
    pub(super) fn usual_root(&self) -> PathBuf {
        self.claude_config
            .clone()
            .unwrap_or_else(|| self.home.join(".claude"))
            .join("projects")
    }

    /// All folders of transcripts.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let usual = self.config.transcripts.usual_folders.then(|| self.usual_root());
        let mut roots: Vec<PathBuf> = usual.into_iter().collect();
        roots.extend(self.config.transcripts.claude_code.iter().cloned());
        roots
    }
}
