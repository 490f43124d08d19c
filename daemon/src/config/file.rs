//! The settings as they stand in a file: tables of keys that may be left out. In goes TOML, out comes what it says; ranges
//! are checked by [`super::check`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remembrancer_processor::ingest::redact;
use serde::Deserialize;

use super::{ConfigError, words};

/// Declares a table of the file, and how one is laid over another.
macro_rules! table {
    ($name:ident { $($key:ident: $kind:ty),* $(,)? }) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct $name {
            $(pub(super) $key: Option<$kind>,)*
        }

        impl $name {
            fn over(self, below: Self) -> Self {
                Self { $($key: self.$key.or(below.$key),)* }
            }
        }
    };
}

table!(TranscriptsTable {
    folders: BTreeMap<String, Vec<PathBuf>>,
    usual_folders: bool,
    without: Vec<String>,
    exclude: Vec<PathBuf>,
    newest: usize,
    rescan: String,
});

table!(RecallTable {
    budget: String,
    scope: String,
    top: usize,
});

table!(FusionTable { profile: String });

table!(GateTable {
    least_probability: f64,
    ample_cosine: f32,
    same_topic_cosine: f32,
});

table!(EmbeddingTable {
    model_dir: PathBuf,
    device: String,
});

table!(RerankerTable {
    model_dir: PathBuf,
    blend: String,
});

table!(BackfillTable { cpu: String });

table!(RetentionTable {
    max_age: String,
    max_size: String,
});

table!(BackupTable {
    keep: usize,
    every: String,
});

table!(PageTable {
    serve: String,
    port: usize,
});

table!(ShareTable {
    url: String,
    service: String,
    password_file: PathBuf,
    password_command: Vec<String>,
    team: String,
    projects: Vec<String>,
    machine: String,
    tls: String,
    ca_file: PathBuf,
    key_file: PathBuf,
    pull: bool,
    remote: bool,
});

table!(LogTable { level: String });

/// A settings file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub(super) transcripts: TranscriptsTable,
    pub(super) recall: RecallTable,
    pub(super) fusion: FusionTable,
    pub(super) gate: GateTable,
    pub(super) embedding: EmbeddingTable,
    pub(super) reranker: RerankerTable,
    pub(super) backfill: BackfillTable,
    pub(super) retention: RetentionTable,
    pub(super) backup: BackupTable,
    pub(super) page: PageTable,
    pub(super) share: ShareTable,
    pub(super) log: LogTable,
}

impl ConfigFile {
    /// Reads `text`, which came from `path`.
    pub(super) fn read(path: &Path, text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text[..at].matches('\n').count() + 1;
            ConfigError::Parse {
                path: path.to_owned(),
                line,
                // It quotes what stands there, which may be a secret in the wrong place, and goes to a log.
                message: redact(&words::plain(error.message(), text.lines().nth(line - 1).unwrap_or_default())).into_owned(),
            }
        })
    }

    /// These settings, and where they leave a key out, those `below`.
    pub(super) fn over(self, below: Self) -> Self {
        Self {
            transcripts: self.transcripts.over(below.transcripts),
            recall: self.recall.over(below.recall),
            fusion: self.fusion.over(below.fusion),
            gate: self.gate.over(below.gate),
            embedding: self.embedding.over(below.embedding),
            reranker: self.reranker.over(below.reranker),
            backfill: self.backfill.over(below.backfill),
            retention: self.retention.over(below.retention),
            backup: self.backup.over(below.backup),
            page: self.page.over(below.page),
            share: self.share.over(below.share),
            log: self.log.over(below.log),
        }
    }
}
