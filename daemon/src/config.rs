//! The settings: `default.toml` in the binary, overlaid by the user's file, checked into a [`Config`].
//!
//! Comes in: text. Goes out: values with units and ranges checked, or an error that names file, line and remedy. Every
//! default stands in `default.toml`. Nothing here reads the environment: which file to read, and the home folder, the caller
//! says.

mod check;
mod contradictions;
mod file;
mod origins;
mod place;
mod reference;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use check::Check;
#[cfg(feature = "share")]
pub(crate) use check::share::{NAMES as SHARE_NAMES, is_name as is_share_name};
use file::ConfigFile;
pub(crate) use origins::{Origin, Setting, settings, skeleton};
pub(crate) use reference::{Described, Part, parts as reference};
use remembrancer_processor::embed::DeviceChoice;
use remembrancer_processor::ingest::Agent;
use remembrancer_processor::recall::{RRF, RecallSettings, V2};

use crate::files::read_text;
use crate::retention::Bounds;
use crate::roots::Root;
use crate::share::ShareSettings;

/// The settings as shipped, in the form in which a user writes them.
pub const DEFAULT_TOML: &str = include_str!("config/default.toml");

/// A setting that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not TOML, or holds an unknown key or a value of the wrong type.
    #[error("{path}:{line}: {message}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A value is out of its range.
    #[error("{path}:{line}: {key} = {value}: {remedy}")]
    Value {
        /// The file.
        path: PathBuf,
        /// The line of the value, from 1.
        line: usize,
        /// The key, with its table.
        key: &'static str,
        /// The value as written.
        value: String,
        /// What would be right.
        remedy: String,
    },
}

/// The checked settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where transcripts are.
    pub transcripts: Transcripts,
    /// From the hook's start to its exit.
    pub budget: Duration,
    /// How recalls are made.
    pub recall: RecallSettings,
    /// Another model's folder, if the built-in one is not to be used.
    pub model_dir: Option<PathBuf>,
    /// On what the models run.
    pub device: DeviceChoice,
    /// The reranker's folder, if there is to be one.
    pub reranker_dir: Option<PathBuf>,
    /// The share of the machine for backfill, in (0, 1].
    pub backfill_share: f64,
    /// How much is kept.
    pub retention: Bounds,
    /// The backups that the daemon makes by itself.
    pub backup: BackupSettings,
    /// The page that is looked at in a browser.
    pub page: PageSettings,
    /// The shared store, where one is named.
    pub share: Option<ShareSettings>,
    /// Whether something is set of the shared store, and no server.
    pub share_lacks_server: bool,
    /// The log filter.
    pub log_level: String,
}

/// Where the page is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSettings {
    /// Whether the daemon serves it itself, and where.
    pub serve: PageServing,
    /// The port of the loopback address, for the daemon and for `remembrancer serve`; `None` takes one that is free.
    pub port: Option<u16>,
}

/// Where the daemon serves the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageServing {
    /// Nowhere.
    Off,
    /// At a unix socket beside its own.
    Socket,
    /// At a port of the loopback address.
    Port,
}

/// The backups that the daemon makes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSettings {
    /// How many are kept; 0 makes none.
    pub keep: usize,
    /// How often one is made, where something has changed.
    pub every: Duration,
}

/// Where transcripts are read, and which are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcripts {
    /// Folders of transcripts from the settings.
    pub(crate) folders: Vec<Root>,
    /// Whether the usual folders are read, too.
    pub usual_folders: bool,
    /// Agents whose transcripts are not read.
    pub without: Vec<Agent>,
    /// Paths never read, as they are written and as transcripts have them.
    pub exclude: Vec<PathBuf>,
    /// Read at most this many of the newest; `None` reads all.
    pub newest: Option<usize>,
    /// How often everything is looked at again.
    pub rescan: Duration,
}

impl Config {
    /// Reads the settings in `path`, of the user whose home is `home`; a file that does not exist is an empty one.
    ///
    /// # Errors
    /// [`ConfigError`], naming the file, the line or key, and the remedy.
    pub fn load(path: &Path, home: &Path) -> Result<Self, ConfigError> {
        match read_text(path) {
            Ok(text) => Self::parse(path, &text, home),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::parse(path, "", home),
            Err(source) => Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Seed 003's kill switch: with `RAG_FUSION_V2_ENABLED` set to `false`, the profile `v2` is plain Reciprocal Rank Fusion.
    #[must_use]
    pub fn with_v2_switched_by(mut self, switch: Option<&str>) -> Self {
        let off = switch.is_some_and(|value| matches!(value.trim(), "false" | "0"));
        if off && self.recall.profile.name == V2.name {
            self.recall.profile = RRF;
        }
        self
    }

    /// A service of the shared store is looked for in `named`, where that is given, in place of the user's usual file.
    #[must_use]
    pub fn with_service_file(mut self, named: Option<PathBuf>) -> Self {
        if let (Some(share), Some(file)) = (&mut self.share, named) {
            share.use_service_file(file);
        }
        self
    }

    /// Reads settings from `text`, which came from `path`.
    ///
    /// # Errors
    /// As for [`Config::load`].
    pub fn parse(path: &Path, text: &str, home: &Path) -> Result<Self, ConfigError> {
        let shipped = ConfigFile::read(Path::new("default.toml"), DEFAULT_TOML)?;
        let settings = ConfigFile::read(path, text)?.over(shipped);
        Check { path, text, home }.config(settings)
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_hooks::clock::BUDGET;
    use remembrancer_processor::rerank::Blend;
    use rstest::rstest;

    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        parse_at(text, Path::new("/home/ada"))
    }

    fn parse_at(text: &str, home: &Path) -> Result<Config, String> {
        Config::parse(Path::new("config.toml"), text, home).map_err(|error| error.to_string())
    }

    #[test]
    fn the_shipped_file_gives_the_defaults_of_the_code() {
        let shipped = parse(DEFAULT_TOML).unwrap();
        assert_eq!(shipped, parse("").unwrap());
        assert_eq!(shipped.recall, RecallSettings::default());
        assert_eq!(shipped.budget, BUDGET);
    }

    #[rstest]
    #[case::unknown_key("[recall]\nbudget = \"200ms\"\nspeed = 3\n", "config.toml:3: unknown field `speed`")]
    #[case::unknown_table("\n[recal]\n", "config.toml:2: unknown field `recal`")]
    #[case::wrong_type(
        "[recall]\ntop = \"three\"\n",
        "config.toml:2: top takes a whole number, 0 or more, not the text \"three\""
    )]
    #[case::below_nothing("[recall]\ntop = -1\n", "config.toml:2: top takes a whole number, 0 or more, not -1")]
    #[case::no_number("[gate]\nample_cosine = true\n", "config.toml:2: ample_cosine takes a number, not true")]
    #[case::no_text("[recall]\nscope = 3\n", "config.toml:2: scope takes a text in quotes, not 3")]
    #[case::no_list(
        "[transcripts]\nwithout = \"codex\"\n",
        "config.toml:2: without takes a list, not the text \"codex\""
    )]
    #[case::no_yes_or_no(
        "[transcripts]\nusual_folders = 1\n",
        "config.toml:2: usual_folders takes true or false, not 1"
    )]
    #[case::no_table("recall = 3\n", "config.toml:1: recall takes a table, not 3")]
    #[case::not_toml("[recall\n", "config.toml:1:")]
    #[case::bare_number(
        "[recall]\nbudget = \"240\"\n",
        "config.toml:2: recall.budget = 240: write a duration with its unit"
    )]
    #[case::budget_too_long("[recall]\nbudget = \"1s\"\n", "choose between 20ms and 240ms")]
    #[case::profile(
        "[fusion]\nprofile = \"best\"\n",
        "config.toml:2: fusion.profile = best: choose one of: rrf, union, weighted, v2, convex, default"
    )]
    #[case::share("[backfill]\ncpu = \"half\"\n", "backfill.cpu = half: write a share")]
    #[case::level("[log]\nlevel = \"lod\"\n", "log.level = lod: choose one of")]
    #[case::backups_kept("[backup]\nkeep = 1000\n", "backup.keep = 1000: choose 0 to 100")]
    #[case::backups_too_often("[backup]\nevery = \"1ms\"\n", "backup.every = 1ms: choose between 1s and 720h")]
    #[case::page("[page]\nserve = \"yes\"\n", "config.toml:2: page.serve = yes: choose off, socket or port")]
    #[case::port("[page]\nport = 80\n", "config.toml:2: page.port = 80: choose 1024 to 65535")]
    #[case::blend("[reranker]\nblend = \"best\"\n", "reranker.blend = best: choose position or fused-score")]
    #[case::reranker_key("[reranker]\nmodel = \"x\"\n", "config.toml:2: unknown field `model`")]
    #[case::cosine("[gate]\nsame_topic_cosine = 2.0\n", "a cosine lies between")]
    #[case::probability("[gate]\nleast_probability = 40\n", "a probability lies between")]
    #[case::rescan_too_rare(
        "[transcripts]\nrescan = \"300000000000h\"\n",
        "transcripts.rescan = 300000000000h: choose between 1s and 24h"
    )]
    #[case::rescan_too_often("[transcripts]\nrescan = \"10ms\"\n", "choose between 1s and 24h")]
    #[case::exclude(
        "[transcripts]\nexclude = [\"secret\"]\n",
        "config.toml:2: transcripts.exclude = secret: write the whole path"
    )]
    #[case::one_of_several(
        "[transcripts]\nexclude = [\n  \"/a\", # one\n  \"secret\",\n]\n",
        "config.toml:4: transcripts.exclude = secret"
    )]
    #[case::dotted("# mine\n\ntranscripts.rescan = \"10ms\"\n", "config.toml:3: transcripts.rescan = 10ms")]
    #[case::a_number(
        "[log]\nlevel = \"info\"\n[recall]\n\ntop = 99\n",
        "config.toml:5: recall.top = 99: choose 1 to 10"
    )]
    #[case::a_folder_among_others(
        "[transcripts.folders]\ncodex = [\"/a\"]\nclaude-code = [\"/b\",\n\"c\"]\n",
        "config.toml:4: transcripts.folders = c"
    )]
    #[case::folder(
        "[transcripts]\nfolders = { codex = [\"~ada/x\"] }\n",
        "transcripts.folders = ~ada/x: write the whole path"
    )]
    #[case::unknown_agent(
        "[transcripts]\nwithout = [\"ed\"]\n",
        "transcripts.without = ed: choose among claude-code, "
    )]
    #[case::folder_of_an_unknown_agent(
        "[transcripts]\nnewest = 1\nfolders = { ed = [\"/x\"] }\n",
        "config.toml:3: transcripts.folders = ed: choose among claude-code, "
    )]
    #[case::age_without_a_unit("[retention]\nmax_age = \"2\"\n", "retention.max_age = 2: write an age with its unit")]
    #[case::age_too_short("[retention]\nmax_age = \"2h\"\n", "retention.max_age = 2h: write an age")]
    #[case::size_without_a_unit("[retention]\nmax_size = \"2\"\n", "retention.max_size = 2: write a size")]
    #[case::size_too_small("[retention]\nmax_size = \"1MB\"\n", "retention.max_size = 1MB: write a size")]
    #[case::negative_size("[retention]\nmax_size = \"-2GB\"\n", "retention.max_size = -2GB: write a size")]
    #[case::share_url(
        "[share]\nurl = \"host/db\"\n",
        "config.toml:2: share.url = host/db: write postgres://you@host/database"
    )]
    #[case::share_team("[share]\nurl = \"postgres://ada@db/memory\"\n", "share.team = : name the team")]
    #[case::share_tls(
        "[share]\nurl = \"postgres://ada@db/memory\"\nteam = \"acme\"\ntls = \"off\"\n",
        "config.toml:4: share.tls = off: choose verify"
    )]
    #[case::share_twice(
        "[share]\nurl = \"postgres://ada@db/memory\"\nservice = \"memory\"\nteam = \"acme\"\n",
        "config.toml:3: share.service = memory: set share.url or share.service, not both"
    )]
    #[case::share_command(
        "[share]\npassword_command = [\"pass\", \"show\"]\n",
        "share.password_command = pass: begin with the whole path of a program"
    )]
    #[case::share_two_passwords(
        "[share]\npassword_command = [\"/bin/pass\"]\npassword_file = \"/p\"\n",
        "config.toml:2: share.password_command = /bin/pass: set share.password_file or share.password_command, not both"
    )]
    #[case::share_projects(
        "[share]\nprojects = [\"a\",\n\"-\"]\n",
        "config.toml:3: share.projects = -: write a pattern"
    )]
    #[case::share_key("[share]\nkey_file = \"team.key\"\n", "share.key_file = team.key: write the whole path")]
    #[case::model("[embedding]\nmodel_dir = \"model\"\n", "embedding.model_dir = model: write the whole path")]
    fn a_wrong_setting_names_its_place_and_remedy(#[case] text: &str, #[case] expected: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[rstest]
    #[case::none("", None, Blend::Position)]
    #[case::unnamed("model_dir = \"\"", None, Blend::Position)]
    #[case::named("model_dir = \"/models/minilm\"", Some("/models/minilm"), Blend::Position)]
    #[case::by_position("blend = \"position\"", None, Blend::Position)]
    #[case::by_fused_score("blend = \"fused-score\"", None, Blend::FusedScore)]
    fn a_reranker_is_named_by_its_folder(#[case] keys: &str, #[case] folder: Option<&str>, #[case] blend: Blend) {
        let config = parse(&format!("[reranker]\n{keys}\n")).unwrap();
        assert_eq!(config.reranker_dir.as_deref(), folder.map(Path::new));
        assert_eq!(config.recall.blend, blend);
    }

    #[rstest]
    #[case::none("", None, None)]
    #[case::empty("max_age = \"\"\nmax_size = \"\"", None, None)]
    #[case::days("max_age = \"180d\"", Some(180), None)]
    #[case::years("max_age = \"2y\"", Some(730), None)]
    #[case::weeks("max_age = \"6 weeks\"", Some(42), None)]
    #[case::gigabytes("max_size = \"2GB\"", None, Some(2_000_000_000))]
    #[case::with_a_blank("max_size = \"1.5 gb\"", None, Some(1_500_000_000))]
    #[case::binary("max_size = \"512MiB\"", None, Some(536_870_912))]
    fn the_memory_is_bounded_by(#[case] keys: &str, #[case] days: Option<u64>, #[case] max_bytes: Option<u64>) {
        let bounds = parse(&format!("[retention]\n{keys}\n")).unwrap().retention;
        let max_age = days.map(|days| Duration::from_hours(24 * days));
        assert_eq!(bounds, Bounds { max_age, max_bytes });
    }

    #[test]
    fn paths_below_home_are_excluded_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        fs_err::create_dir(home.join("secret")).unwrap();
        fs_err::os::unix::fs::symlink(home.join("secret"), home.join("link")).unwrap();
        let text = "[transcripts]\nexclude = [\"~/link\", \"~/secret/below\"]\nfolders = { codex = [\"~/x\"] }\n";
        let transcripts = parse_at(text, &home).unwrap().transcripts;
        let expected = ["link", "secret", "secret/below"].map(|path| home.join(path));
        assert_eq!(transcripts.exclude, expected);
        let folders: Vec<_> = transcripts
            .folders
            .iter()
            .map(|root| (root.agent.id(), &root.folder))
            .collect();
        assert_eq!(folders, [("codex", &home.join("x"))]);
    }

    #[test]
    fn a_default_is_what_the_shipped_file_says() {
        let shipped = DEFAULT_TOML
            .replace("ample_cosine = 0.5", "ample_cosine = 0.75")
            .replace("newest = 0", "newest = 7")
            .replace("model_dir = \"\"", "model_dir = \"/models\"");
        let file = ConfigFile::default().over(ConfigFile::read(Path::new("default.toml"), &shipped).unwrap());
        let (path, home) = (Path::new("config.toml"), Path::new("/home/ada"));
        let config = Check { path, text: "", home }.config(file).unwrap();
        let models = [config.model_dir, config.reranker_dir].map(Option::unwrap_or_default);
        assert_eq!((config.recall.floor.ample_cosine, config.transcripts.newest), (0.75, Some(7)));
        assert_eq!(models, [Path::new("/models"), Path::new("/models")]);
    }

    #[test]
    fn a_missing_file_is_an_empty_one() {
        assert_eq!(
            Config::load(Path::new("/nonexistent/config.toml"), Path::new("/home/ada")).unwrap(),
            parse("").unwrap()
        );
    }
}
