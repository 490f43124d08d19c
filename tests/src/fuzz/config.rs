//! The settings: any text is a valid configuration, or an error that names the file and the line, and where a value is wrong, its key.

use std::path::Path;
use std::time::Duration;

use remembrancer::config::{Config, ConfigError, DEFAULT_TOML};

use super::input::text;

const FILE: &str = "/home/ada/.config/remembrancer/config.toml";

pub(super) fn run(data: &[u8]) {
    let text = text(data);
    let home = Path::new("/nonexistent/ada");
    match Config::parse(Path::new(FILE), &text, home) {
        Ok(config) => {
            check(&config);
            let again = Config::parse(Path::new(FILE), &text, home).expect("valid once, valid twice");
            assert_eq!(config, again);
        }
        Err(error) => check_error(&error, &text),
    }
}

fn check(config: &Config) {
    assert!((Duration::from_millis(20)..=Duration::from_millis(240)).contains(&config.budget));
    assert!(
        config.backfill_share > 0.0 && config.backfill_share <= 1.0,
        "a share of {}",
        config.backfill_share
    );
    let transcripts = &config.transcripts;
    assert!((Duration::from_secs(1)..=Duration::from_hours(24)).contains(&transcripts.rescan));
    assert!(transcripts.exclude.iter().all(|path| path.is_absolute()));
    assert_ne!(transcripts.newest, Some(0));
    for folder in [&config.model_dir, &config.reranker_dir].into_iter().flatten() {
        assert!(folder.is_absolute(), "{}", folder.display());
    }
    let floor = &config.recall.floor;
    assert!(
        (0.0..=1.0).contains(&floor.least_probability) && (-1.0..=1.0).contains(&floor.ample_cosine),
        "{floor:?}"
    );
}

fn check_error(error: &ConfigError, text: &str) {
    let message = error.to_string();
    assert!(message.starts_with(FILE), "{message:?} does not begin with the file");
    let is_there = |line: usize| assert!((1..=text.matches('\n').count() + 1).contains(&line), "line {line}");
    match error {
        ConfigError::Parse { line, message, .. } => {
            is_there(*line);
            assert!(!message.is_empty());
        }
        ConfigError::Value { line, key, remedy, .. } => {
            is_there(*line);
            let named = key.rsplit('.').next().unwrap_or_default();
            let above = text
                .lines()
                .take(*line)
                .any(|line| line.contains(named) || line.contains('\\'));
            assert!(above, "{named} is not named up to line {line}");
            assert!(!remedy.is_empty());
            let (_, key) = key.split_once('.').unwrap_or_else(|| panic!("{key} names no table"));
            assert!(DEFAULT_TOML.contains(key), "{key} is no key of the shipped file");
        }
        ConfigError::Read { .. } => panic!("nothing was read: {message}"),
    }
}
