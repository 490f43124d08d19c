//! What is kept out of the memory by the settings and, in the store, by the user's word: whose transcripts are not read,
//! and whose prompts are not answered.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use remembrancer_processor::ingest::{kept_folder, redact_folder};
use remembrancer_schema::{QueryError, Reader, SessionKey};

/// Folders and files that are kept out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exclusions {
    settings: Arc<[PathBuf]>,
}

impl Exclusions {
    /// What the settings keep out. (What the store keeps out, its writer passes over by itself.)
    pub(crate) fn of_settings(paths: &[PathBuf]) -> Self {
        // Where a file is read on, a turn's folder may be known as it was stored.
        let as_stored = |path: &PathBuf| PathBuf::from(redact_folder(&path.to_string_lossy()).into_owned());
        let all = paths.iter().flat_map(|path| [path.clone(), as_stored(path)]);
        Self { settings: all.collect() }
    }

    /// Whether `path` is kept out: a transcript, or a session's working directory.
    pub(crate) fn cover(&self, path: &Path) -> bool {
        self.settings.iter().any(|kept_out| path.starts_with(kept_out))
    }

    /// Whether a prompt of `session` in the folder `cwd` is kept out, by the settings or by what the store knows, under any name of the
    /// folder: `real` says where a folder leads, and is asked only where there is something to compare that with.
    ///
    /// # Errors
    /// The store's error.
    pub(crate) fn cover_prompt(
        &self,
        reader: &Reader,
        session: &SessionKey,
        cwd: Option<&str>,
        real: impl FnOnce(&str) -> Option<String>,
    ) -> Result<bool, QueryError> {
        if reader.is_session_excluded(session)? {
            return Ok(true);
        }
        let stored = reader.exclusions()?;
        let Some(cwd) = cwd.filter(|_| !self.settings.is_empty() || !stored.is_empty()) else {
            return Ok(false);
        };
        let covers = |name: &str| {
            // The store has folders without the secrets in their names.
            let redacted = redact_folder(name);
            let mut names = [name, &*redacted].into_iter().map(Path::new);
            names.any(|name| self.cover(name) || stored.iter().any(|kept_out| name.starts_with(kept_out)))
        };
        let told = kept_folder(cwd).unwrap_or_else(|| cwd.to_owned());
        Ok(covers(cwd) || (told != cwd && covers(&told)) || real(&told).is_some_and(|real| covers(&real)))
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{UnixMillis, Writer};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("s", Some("/srv/shop"), false)]
    #[case::no_folder("s", None, false)]
    #[case::the_settings("s", Some("/by/settings/below"), true)]
    #[case::the_user("s", Some("/by/user/below"), true)]
    #[case::a_sibling("s", Some("/by/user-too"), false)]
    #[case::doubled("s", Some("/by//user/./below"), true)]
    #[case::a_uri("s", Some("file:///by/settings/below"), true)]
    #[case::a_name_that_is_not_stored("s", Some("/by/user/na\tme"), true)]
    #[case::a_link("s", Some("/link/to/user"), true)]
    #[case::the_session("kept out", Some("/srv/shop"), true)]
    #[case::the_session_without_a_folder("kept out", None, true)]
    fn a_prompt_is_kept_out_by(#[case] session: &str, #[case] cwd: Option<&str>, #[case] expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let key = |id: &str| SessionKey {
            agent: "claude-code".to_owned(),
            external_id: id.to_owned(),
        };
        writer.exclude_path("/by/user", UnixMillis(1)).unwrap();
        writer.exclude_session(&key("kept out")).unwrap();
        let exclusions = Exclusions::of_settings(&["/by/settings".into()]);
        let covered = exclusions.cover_prompt(&Reader::open(&path).unwrap(), &key(session), cwd, |told| {
            (told == "/link/to/user").then(|| "/by/user/below".to_owned())
        });
        assert_eq!(covered.unwrap(), expected);
    }
}
