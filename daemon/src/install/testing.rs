//! Editing of settings on plain texts, for the fuzz targets: nothing that runs uses it.

use remembrancer_hooks::Agent;
use serde_json::Value;

use super::{agents, json, toml};

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, comments and trailing commas allowed.
    Json,
    /// TOML.
    Toml,
}

impl Format {
    fn format(self) -> agents::Format {
        match self {
            Self::Json => agents::Format::Json,
            Self::Toml => agents::Format::Toml,
        }
    }

    /// The text with the entries of ours that `agent` lacks.
    ///
    /// # Errors
    /// Where the text can't be edited, with the place in it.
    pub fn register(self, text: &str, agent: Agent, program: &str) -> Result<String, String> {
        self.format()
            .register(text, agent, program)
            .map_err(|problem| problem.to_string())
    }

    /// The text without any entry of ours.
    ///
    /// # Errors
    /// As [`Format::register`].
    pub fn unregister(self, text: &str) -> Result<String, String> {
        self.format().unregister(text).map_err(|problem| problem.to_string())
    }

    /// What `uninstall` makes of a text that was `original` before `install`; `None` where the file goes.
    ///
    /// # Errors
    /// As [`Format::register`].
    pub fn restored(self, text: &str, original: Option<&str>, agent: Agent) -> Result<Option<String>, String> {
        agents::without_hook(text, original, self.format(), agent).map_err(|problem| problem.to_string())
    }

    /// The values of a text.
    ///
    /// # Errors
    /// The first place at which the text is not of this format.
    pub fn values(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Json => json::values(text),
            Self::Toml => super::reading::toml_values(text),
        }
        .map_err(|problem| problem.to_string())
    }

    /// Whether hooks of anybody stand in the text, as `install` looks for them in TOML.
    pub fn holds_hooks(self, text: &str) -> bool {
        self == Self::Toml && toml::holds_hooks(text)
    }
}
