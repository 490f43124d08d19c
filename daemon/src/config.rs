//! The settings: `default.toml` in the binary, overlaid by the user's file, checked into a [`Config`].
//!
//! Comes in: text. Goes out: values with units and ranges checked, or an error that names file, line and remedy. Nothing
//! here reads the environment, except for which file to read, which the caller says.

use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_processor::embed::DeviceChoice;
use remembrancer_processor::recall::{FLOOR, Floor, PROFILES, Profile, RRF, RecallSettings, ScopeRule, V2};
use remembrancer_processor::rerank::Blend;
use serde::Deserialize;

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
    #[error("{path}: {key} = {value}: {remedy}")]
    Value {
        /// The file.
        path: PathBuf,
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
    /// The log filter.
    pub log_level: String,
}

/// Where transcripts are read, and which are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcripts {
    /// Folders of Claude Code's transcripts from the settings.
    pub claude_code: Vec<PathBuf>,
    /// Whether the usual folder is read, too.
    pub usual_folders: bool,
    /// Paths never read.
    pub exclude: Vec<PathBuf>,
    /// Read at most this many of the newest; `None` reads all.
    pub newest: Option<usize>,
    /// How often everything is looked at again.
    pub rescan: Duration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    transcripts: TranscriptsFile,
    recall: RecallFile,
    fusion: FusionFile,
    gate: GateFile,
    embedding: EmbeddingFile,
    reranker: RerankerFile,
    backfill: BackfillFile,
    log: LogFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TranscriptsFile {
    claude_code: Option<Vec<PathBuf>>,
    usual_folders: Option<bool>,
    exclude: Option<Vec<PathBuf>>,
    newest: Option<usize>,
    rescan: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RecallFile {
    budget: Option<String>,
    scope: Option<String>,
    top: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FusionFile {
    profile: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GateFile {
    least_probability: Option<f64>,
    ample_cosine: Option<f32>,
    same_topic_cosine: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EmbeddingFile {
    model_dir: Option<String>,
    device: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RerankerFile {
    model_dir: Option<String>,
    blend: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BackfillFile {
    cpu: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogFile {
    level: Option<String>,
}

impl Config {
    /// Reads the settings in `path`; a file that does not exist is an empty one.
    ///
    /// # Errors
    /// [`ConfigError`], naming the file, the line or key, and the remedy.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        match fs_err::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::parse(path, ""),
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

    /// Reads settings from `text`, which came from `path`.
    ///
    /// # Errors
    /// As for [`Config::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let shipped: ConfigFile = read_toml(Path::new("default.toml"), DEFAULT_TOML)?;
        let user: ConfigFile = read_toml(path, text)?;
        Layers { path, user, shipped }.check()
    }
}

fn read_toml(path: &Path, text: &str) -> Result<ConfigFile, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text[..at].matches('\n').count() + 1;
        ConfigError::Parse {
            path: path.to_owned(),
            line,
            message: error.message().to_owned(),
        }
    })
}

struct Layers<'a> {
    path: &'a Path,
    user: ConfigFile,
    shipped: ConfigFile,
}

impl Layers<'_> {
    fn check(self) -> Result<Config, ConfigError> {
        let Self { path, user, shipped } = self;
        let refuse = |key, value: &str, remedy: String| ConfigError::Value {
            path: path.to_owned(),
            key,
            value: value.to_owned(),
            remedy,
        };
        let rescan = user.transcripts.rescan.or(shipped.transcripts.rescan).unwrap_or_default();
        let budget_text = user.recall.budget.or(shipped.recall.budget).unwrap_or_default();
        let budget = duration("recall.budget", &budget_text, &refuse)?;
        if budget > BUDGET || budget < Duration::from_millis(20) {
            return Err(refuse(
                "recall.budget",
                &budget_text,
                format!("choose between 20ms and {}ms", BUDGET.as_millis()),
            ));
        }
        let device = user.embedding.device.or(shipped.embedding.device).unwrap_or_default();
        let cpu = user.backfill.cpu.or(shipped.backfill.cpu).unwrap_or_default();
        Ok(Config {
            transcripts: Transcripts {
                claude_code: user.transcripts.claude_code.unwrap_or_default(),
                usual_folders: user
                    .transcripts
                    .usual_folders
                    .or(shipped.transcripts.usual_folders)
                    .unwrap_or(true),
                exclude: user.transcripts.exclude.unwrap_or_default(),
                newest: user.transcripts.newest.filter(|newest| *newest > 0),
                rescan: duration("transcripts.rescan", &rescan, &refuse)?.max(Duration::from_secs(1)),
            },
            budget,
            recall: RecallSettings {
                profile: profile(user.fusion.profile.or(shipped.fusion.profile), &refuse)?,
                scope: scope(user.recall.scope.or(shipped.recall.scope).as_deref(), &refuse)?,
                top: top(user.recall.top.or(shipped.recall.top), &refuse)?,
                floor: floor(&user.gate, &refuse)?,
                same_topic_cosine: cosine("gate.same_topic_cosine", user.gate.same_topic_cosine, &refuse)?
                    .unwrap_or(remembrancer_processor::recall::SAME_TOPIC_COSINE),
                blend: blend(user.reranker.blend.or(shipped.reranker.blend).as_deref(), &refuse)?,
                ..RecallSettings::default()
            },
            model_dir: folder(user.embedding.model_dir),
            device: device
                .parse()
                .map_err(|_| refuse("embedding.device", &device, "choose auto, cpu, cuda or metal".to_owned()))?,
            reranker_dir: folder(user.reranker.model_dir),
            backfill_share: share(&cpu, &refuse)?,
            log_level: log_level(user.log.level.or(shipped.log.level), &refuse)?,
        })
    }
}

type Refuse<'a> = dyn Fn(&'static str, &str, String) -> ConfigError + 'a;

fn duration(key: &'static str, text: &str, refuse: &Refuse<'_>) -> Result<Duration, ConfigError> {
    text.parse::<jiff::SignedDuration>()
        .ok()
        .and_then(|signed| Duration::try_from(signed).ok())
        .ok_or_else(|| {
            refuse(
                key,
                text,
                "write a duration with its unit, such as \"240ms\" or \"2m\"".to_owned(),
            )
        })
}

/// A folder that may be left unnamed.
fn folder(path: Option<String>) -> Option<PathBuf> {
    path.filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn profile(name: Option<String>, refuse: &Refuse<'_>) -> Result<Profile, ConfigError> {
    let name = name.unwrap_or_default();
    Profile::by_name(&name).copied().ok_or_else(|| {
        let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        refuse("fusion.profile", &name, format!("choose one of: {}", known.join(", ")))
    })
}

fn scope(name: Option<&str>, refuse: &Refuse<'_>) -> Result<ScopeRule, ConfigError> {
    match name.unwrap_or_default() {
        "project-first" => Ok(ScopeRule::ProjectFirst),
        "project" => Ok(ScopeRule::Project),
        "all" => Ok(ScopeRule::All),
        other => Err(refuse(
            "recall.scope",
            other,
            "choose project-first, project or all".to_owned(),
        )),
    }
}

fn blend(name: Option<&str>, refuse: &Refuse<'_>) -> Result<Blend, ConfigError> {
    match name.unwrap_or_default() {
        "position" => Ok(Blend::Position),
        "fused-score" => Ok(Blend::FusedScore),
        other => Err(refuse("reranker.blend", other, "choose position or fused-score".to_owned())),
    }
}

fn top(top: Option<usize>, refuse: &Refuse<'_>) -> Result<usize, ConfigError> {
    match top.unwrap_or_default() {
        top @ 1..=10 => Ok(top),
        other => Err(refuse("recall.top", &other.to_string(), "choose 1 to 10".to_owned())),
    }
}

fn floor(gate: &GateFile, refuse: &Refuse<'_>) -> Result<Floor, ConfigError> {
    Ok(Floor {
        least_probability: probability("gate.least_probability", gate.least_probability, refuse)?
            .unwrap_or(FLOOR.least_probability),
        ample_cosine: cosine("gate.ample_cosine", gate.ample_cosine, refuse)?.map_or(FLOOR.ample_cosine, f64::from),
        ..FLOOR
    })
}

fn cosine(key: &'static str, value: Option<f32>, refuse: &Refuse<'_>) -> Result<Option<f32>, ConfigError> {
    match value {
        Some(value) if !(-1.0..=1.0).contains(&value) => {
            Err(refuse(key, &value.to_string(), "a cosine lies between -1 and 1".to_owned()))
        }
        other => Ok(other),
    }
}

fn probability(key: &'static str, value: Option<f64>, refuse: &Refuse<'_>) -> Result<Option<f64>, ConfigError> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(refuse(
            key,
            &value.to_string(),
            "a probability lies between 0 and 1".to_owned(),
        )),
        other => Ok(other),
    }
}

fn log_level(level: Option<String>, refuse: &Refuse<'_>) -> Result<String, ConfigError> {
    let level = level.unwrap_or_default();
    let names = ["off", "error", "warn", "info", "debug", "trace"];
    // A filter such as "info,remembrancer=debug" is for tracing to judge; a lone word must be a level.
    if level.contains(['=', ',']) || names.contains(&level.to_lowercase().as_str()) {
        return Ok(level);
    }
    Err(refuse("log.level", &level, format!("choose one of: {}", names.join(", "))))
}

fn share(text: &str, refuse: &Refuse<'_>) -> Result<f64, ConfigError> {
    text.strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok())
        .filter(|percent| (1.0..=100.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| refuse("backfill.cpu", text, "write a share from \"1%\" to \"100%\"".to_owned()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(Path::new("config.toml"), text).map_err(|error| error.to_string())
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
    #[case::wrong_type("[recall]\ntop = \"three\"\n", "config.toml:2: invalid type: string \"three\"")]
    #[case::not_toml("[recall\n", "config.toml:1:")]
    #[case::bare_number(
        "[recall]\nbudget = \"240\"\n",
        "config.toml: recall.budget = 240: write a duration with its unit"
    )]
    #[case::budget_too_long("[recall]\nbudget = \"1s\"\n", "choose between 20ms and 240ms")]
    #[case::profile(
        "[fusion]\nprofile = \"best\"\n",
        "fusion.profile = best: choose one of: rrf, union, weighted, v2, convex, default"
    )]
    #[case::share("[backfill]\ncpu = \"half\"\n", "backfill.cpu = half: write a share")]
    #[case::level("[log]\nlevel = \"lod\"\n", "log.level = lod: choose one of")]
    #[case::blend("[reranker]\nblend = \"best\"\n", "reranker.blend = best: choose position or fused-score")]
    #[case::reranker_key("[reranker]\nmodel = \"x\"\n", "config.toml:2: unknown field `model`")]
    #[case::cosine("[gate]\nsame_topic_cosine = 2.0\n", "a cosine lies between")]
    #[case::probability("[gate]\nleast_probability = 40\n", "a probability lies between")]
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

    #[test]
    fn a_missing_file_is_an_empty_one() {
        assert_eq!(
            Config::load(Path::new("/nonexistent/config.toml")).unwrap(),
            parse("").unwrap()
        );
    }
}
