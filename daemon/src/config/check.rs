//! From what a settings file says to values with units and within their ranges; what is not is refused with its remedy.

pub(super) mod share;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remembrancer_hooks::clock::BUDGET;
use remembrancer_processor::embed::DeviceChoice;
use remembrancer_processor::ingest::{Agent, redact};
use remembrancer_processor::recall::{FLOOR, Floor, PROFILES, Profile, RecallSettings, ScopeRule};
use remembrancer_processor::rerank::Blend;

use super::file::{BackupTable, ConfigFile, GateTable, PageTable, TranscriptsTable};
use super::{BackupSettings, Config, ConfigError, PageServing, PageSettings, Transcripts, place};
use crate::paths;
use crate::retention::Bounds;
use crate::roots::Root;

/// What a recall may take: the least is what an answer by words alone takes on a slow machine.
const BUDGETS: RangeInclusive<Duration> = Duration::from_millis(20)..=BUDGET;
/// How often everything may be looked at again.
const RESCANS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(24);
/// The shortest age at which turns may leave the memory: by less, what was said this morning would be gone.
const SHORTEST_AGE: Duration = Duration::from_hours(24);
/// Units of a size, in bytes.
const UNITS: [(&str, f64); 6] = [
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];
/// The least and the most that the database may be bounded to, in bytes: an empty one takes some hundred thousand.
const SMALLEST_SIZE: f64 = 1e7;
const LARGEST_SIZE: f64 = 1e15;

/// How often a backup may be made, and how many may be kept.
const BACKUPS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(720);
const MOST_BACKUPS: usize = 100;

/// The first port that a user may listen at.
const FIRST_PORT: u16 = 1_024;

/// Checks the settings of one file, laid over those that are shipped.
pub(super) struct Check<'a> {
    /// The file, and its text, for errors.
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    /// The user's home folder, for `~`.
    pub(super) home: &'a Path,
}

/// The value of a key: each is in `default.toml`, over which the user's file is laid.
fn set<T>(value: Option<T>) -> T {
    value.expect("invariant: default.toml sets every key")
}

impl Check<'_> {
    pub(super) fn config(&self, file: ConfigFile) -> Result<Config, ConfigError> {
        Ok(Config {
            budget: self.duration("recall.budget", &set(file.recall.budget), &BUDGETS, "20ms and 240ms")?,
            recall: RecallSettings {
                profile: self.profile(&set(file.fusion.profile))?,
                scope: self.scope(&set(file.recall.scope))?,
                top: self.top(set(file.recall.top))?,
                floor: self.floor(&file.gate)?,
                same_topic_cosine: self.cosine("gate.same_topic_cosine", set(file.gate.same_topic_cosine))?,
                blend: self.blend(&set(file.reranker.blend))?,
                ..RecallSettings::default()
            },
            transcripts: self.transcripts(file.transcripts)?,
            model_dir: self.model("embedding.model_dir", &set(file.embedding.model_dir))?,
            device: self.device(&set(file.embedding.device))?,
            reranker_dir: self.model("reranker.model_dir", &set(file.reranker.model_dir))?,
            backfill_share: self.share(&set(file.backfill.cpu))?,
            retention: Bounds {
                max_age: self.age(&set(file.retention.max_age))?,
                max_bytes: self.size(&set(file.retention.max_size))?,
            },
            backup: self.backup(&file.backup)?,
            page: self.page(&file.page)?,
            share_lacks_server: file.share.lacks_server(),
            share: self.share_settings(file.share)?,
            log_level: self.log_level(set(file.log.level))?,
        })
    }

    fn refuse(&self, key: &'static str, value: impl Display, remedy: impl Into<String>) -> ConfigError {
        let value = value.to_string();
        ConfigError::Value {
            path: self.path.to_owned(),
            line: place::line_of(self.text, key, &value),
            key,
            // It may be a secret that was put in the wrong place, and this goes to a log.
            value: redact(&value).into_owned(),
            remedy: remedy.into(),
        }
    }

    fn transcripts(&self, table: TranscriptsTable) -> Result<Transcripts, ConfigError> {
        Ok(Transcripts {
            folders: self.folders(&set(table.folders))?,
            usual_folders: set(table.usual_folders),
            without: set(table.without)
                .iter()
                .map(|id| self.agent("transcripts.without", id))
                .collect::<Result<_, _>>()?,
            exclude: self.exclude(&set(table.exclude))?,
            newest: Some(set(table.newest)).filter(|newest| *newest > 0),
            rescan: self.duration("transcripts.rescan", &set(table.rescan), &RESCANS, "1s and 24h")?,
        })
    }

    fn folders(&self, folders: &BTreeMap<String, Vec<PathBuf>>) -> Result<Vec<Root>, ConfigError> {
        let mut roots = Vec::new();
        for (id, folders) in folders {
            let agent = self.agent("transcripts.folders", id)?;
            for folder in folders {
                let folder = self.absolute("transcripts.folders", folder)?;
                roots.push(Root {
                    agent,
                    folder,
                    flat: false,
                });
            }
        }
        Ok(roots)
    }

    fn agent(&self, key: &'static str, id: &str) -> Result<Agent, ConfigError> {
        Agent::parse(id).ok_or_else(|| {
            let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.id()).collect();
            self.refuse(key, id, format!("choose among {}", known.join(", ")))
        })
    }

    /// Each as it is written and, where that differs, as transcripts have it: the folders of transcripts may be reached by
    /// a link, while agents tell where a folder really is.
    fn exclude(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, ConfigError> {
        let mut excluded = Vec::new();
        for path in paths {
            let written = self.absolute("transcripts.exclude", path)?;
            let resolved = paths::resolved(&written).ok().filter(|resolved| *resolved != written);
            excluded.push(written);
            excluded.extend(resolved);
        }
        Ok(excluded)
    }

    fn absolute(&self, key: &'static str, path: &Path) -> Result<PathBuf, ConfigError> {
        paths::from_home(path, self.home)
            .ok_or_else(|| self.refuse(key, path.display(), "write the whole path, from / or from ~/"))
    }

    /// A folder that may be left unnamed.
    fn model(&self, key: &'static str, folder: &Path) -> Result<Option<PathBuf>, ConfigError> {
        if folder.as_os_str().is_empty() {
            return Ok(None);
        }
        self.absolute(key, folder).map(Some)
    }

    fn duration(
        &self,
        key: &'static str,
        text: &str,
        range: &RangeInclusive<Duration>,
        between: &str,
    ) -> Result<Duration, ConfigError> {
        let duration = text
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|signed| Duration::try_from(signed).ok())
            .ok_or_else(|| self.refuse(key, text, "write a duration with its unit, such as \"240ms\" or \"2m\""))?;
        if range.contains(&duration) {
            Ok(duration)
        } else {
            Err(self.refuse(key, text, format!("choose between {between}")))
        }
    }

    /// An age by the calendar: a year has 365 days, a month 30. Empty is none.
    fn age(&self, text: &str) -> Result<Option<Duration>, ConfigError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let refused = || {
            let remedy = "write an age with its unit, at least a day, such as \"180d\" or \"2y\", or leave it empty";
            self.refuse("retention.max_age", text, remedy)
        };
        let span: jiff::Span = text.trim().parse().map_err(|_| refused())?;
        let days = i64::from(span.get_years()) * 365 + i64::from(span.get_months()) * 30;
        let rest = span.years(0).months(0).to_duration(jiff::SpanRelativeTo::days_are_24_hours());
        let age = rest
            .ok()
            .and_then(|rest| rest.checked_add(jiff::SignedDuration::from_hours(days * 24)));
        age.and_then(|age| Duration::try_from(age).ok())
            .filter(|age| *age >= SHORTEST_AGE)
            .map(Some)
            .ok_or_else(refused)
    }

    /// A size in bytes. Empty is none.
    fn size(&self, text: &str) -> Result<Option<u64>, ConfigError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let unit = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .map(|(_, bytes)| *bytes);
        number
            .trim()
            .parse::<f64>()
            .ok()
            .zip(unit)
            .map(|(number, unit)| number * unit)
            .filter(|bytes| (SMALLEST_SIZE..=LARGEST_SIZE).contains(bytes))
            .map(|bytes| Some(bytes as u64))
            .ok_or_else(|| {
                let remedy = "write a size from \"10MB\" on, such as \"500MB\" or \"2GB\", or leave it empty";
                self.refuse("retention.max_size", text, remedy)
            })
    }

    fn profile(&self, name: &str) -> Result<Profile, ConfigError> {
        Profile::by_name(name).copied().ok_or_else(|| {
            let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
            self.refuse("fusion.profile", name, format!("choose one of: {}", known.join(", ")))
        })
    }

    fn scope(&self, name: &str) -> Result<ScopeRule, ConfigError> {
        match name {
            "project-first" => Ok(ScopeRule::ProjectFirst),
            "project" => Ok(ScopeRule::Project),
            "all" => Ok(ScopeRule::All),
            other => Err(self.refuse("recall.scope", other, "choose project-first, project or all")),
        }
    }

    fn blend(&self, name: &str) -> Result<Blend, ConfigError> {
        match name {
            "position" => Ok(Blend::Position),
            "fused-score" => Ok(Blend::FusedScore),
            other => Err(self.refuse("reranker.blend", other, "choose position or fused-score")),
        }
    }

    fn top(&self, top: usize) -> Result<usize, ConfigError> {
        match top {
            1..=10 => Ok(top),
            other => Err(self.refuse("recall.top", other, "choose 1 to 10")),
        }
    }

    fn floor(&self, gate: &GateTable) -> Result<Floor, ConfigError> {
        let least_probability = set(gate.least_probability);
        if !(0.0..=1.0).contains(&least_probability) {
            let remedy = "a probability lies between 0 and 1";
            return Err(self.refuse("gate.least_probability", least_probability, remedy));
        }
        Ok(Floor {
            least_probability,
            ample_cosine: self.cosine("gate.ample_cosine", set(gate.ample_cosine))?.into(),
            ..FLOOR
        })
    }

    fn cosine(&self, key: &'static str, value: f32) -> Result<f32, ConfigError> {
        if (-1.0..=1.0).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(key, value, "a cosine lies between -1 and 1"))
        }
    }

    fn device(&self, name: &str) -> Result<DeviceChoice, ConfigError> {
        name.parse()
            .map_err(|_| self.refuse("embedding.device", name, "choose auto, cpu, cuda or metal"))
    }

    fn share(&self, text: &str) -> Result<f64, ConfigError> {
        text.strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok())
            .filter(|percent| (1.0..=100.0).contains(percent))
            .map(|percent| percent / 100.0)
            .ok_or_else(|| self.refuse("backfill.cpu", text, "write a share from \"1%\" to \"100%\""))
    }

    fn backup(&self, table: &BackupTable) -> Result<BackupSettings, ConfigError> {
        let keep = set(table.keep);
        if keep > MOST_BACKUPS {
            return Err(self.refuse("backup.keep", keep, format!("choose 0 to {MOST_BACKUPS}")));
        }
        let every = set(table.every.clone());
        Ok(BackupSettings {
            keep,
            every: self.duration("backup.every", &every, &BACKUPS, "1s and 720h")?,
        })
    }

    fn page(&self, table: &PageTable) -> Result<PageSettings, ConfigError> {
        let (serve, port) = (set(table.serve.as_deref()), set(table.port));
        Ok(PageSettings {
            serve: match serve {
                "off" => PageServing::Off,
                "socket" => PageServing::Socket,
                "port" => PageServing::Port,
                other => return Err(self.refuse("page.serve", other, "choose off, socket or port")),
            },
            port: match u16::try_from(port) {
                Ok(0) => None,
                Ok(port @ FIRST_PORT..) => Some(port),
                Ok(_) | Err(_) => {
                    return Err(self.refuse("page.port", port, "choose 1024 to 65535, or 0 for one that is free"));
                }
            },
        })
    }

    fn log_level(&self, level: String) -> Result<String, ConfigError> {
        let names = ["off", "error", "warn", "info", "debug", "trace"];
        // A filter such as "info,remembrancer=debug" is for tracing to judge; a lone word must be a level.
        if level.contains(['=', ',']) || names.contains(&level.to_lowercase().as_str()) {
            return Ok(level);
        }
        Err(self.refuse("log.level", &level, format!("choose one of: {}", names.join(", "))))
    }
}
