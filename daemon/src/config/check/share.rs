//! The settings of the shared store: what a file says of it, checked key by key, whether a server is named or not. No file is read here but
//! the settings': a password, a service or a key is looked for when the server is called.

use std::path::PathBuf;

use super::{Check, ConfigError, set};
use crate::config::file::ShareTable;
use crate::paths;
use crate::share::{Address, PasswordSource, Server, ShareSettings, TlsChoice, without_secrets};

/// Characters of a name, of a pattern, and of an argument at most.
const NAME: usize = 64;
const PATTERN: usize = 256;

/// Where libpq looks for services, below the home folder.
const SERVICE_FILE: &str = ".pg_service.conf";

/// What a name may be.
pub(crate) const NAMES: &str = "write up to 64 letters, digits, '.', '_' or '-', beginning with a letter or a digit";

/// Whether it can be the name of a team, of a machine, or of a service.
pub(crate) fn is_name(name: &str) -> bool {
    let may = |c: char| c.is_alphanumeric() || "._-".contains(c);
    name.starts_with(char::is_alphanumeric) && name.chars().all(may) && name.chars().count() <= NAME
}

impl ShareTable {
    /// Whether it says something of the shared store that is not so by default, and names no server.
    pub(super) fn lacks_server(&self) -> bool {
        let is_said = |text: Option<&String>| text.is_some_and(|text| !text.is_empty());
        let is_listed = |list: Option<&Vec<String>>| list.is_some_and(|list| !list.is_empty());
        let is_named = |file: Option<&PathBuf>| file.is_some_and(|file| !file.as_os_str().is_empty());
        if is_said(self.url.as_ref()) || is_said(self.service.as_ref()) {
            return false;
        }
        [&self.team, &self.machine].into_iter().any(|text| is_said(text.as_ref()))
            || [&self.projects, &self.password_command]
                .into_iter()
                .any(|list| is_listed(list.as_ref()))
            || [&self.password_file, &self.ca_file, &self.key_file]
                .into_iter()
                .any(|file| is_named(file.as_ref()))
            || self.tls.as_deref() == Some("off")
            || self.pull == Some(false)
            || self.remote == Some(true)
    }
}

impl Check<'_> {
    pub(super) fn share_settings(&self, table: ShareTable) -> Result<Option<ShareSettings>, ConfigError> {
        let server = self.server(&set(table.url), &set(table.service))?;
        let password = self.password(&set(table.password_file), set(table.password_command))?;
        let team = self.name("share.team", set(table.team))?;
        let projects = self.patterns(set(table.projects))?;
        let machine = self.name("share.machine", set(table.machine))?;
        let tls = self.tls(&set(table.tls), server.as_ref())?;
        let ca_file = self.model("share.ca_file", &set(table.ca_file))?;
        let key_file = self.model("share.key_file", &set(table.key_file))?;
        let Some(server) = server else { return Ok(None) };
        let team = team.ok_or_else(|| self.refuse("share.team", "", "name the team, as its admin called it"))?;
        Ok(Some(ShareSettings {
            server,
            password,
            team,
            projects,
            machine,
            tls,
            ca_file,
            key_file,
            pull: set(table.pull),
            remote: set(table.remote),
        }))
    }

    fn server(&self, url: &str, service: &str) -> Result<Option<Server>, ConfigError> {
        let address = match url {
            "" => None,
            url => Some(Address::parse(url).map_err(|remedy| self.refuse("share.url", without_secrets(url), remedy))?),
        };
        let named = self.name("share.service", service.to_owned())?;
        let (key, server) = match (address, named) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                return Err(self.refuse("share.service", service, "set share.url or share.service, not both"));
            }
            (Some(address), None) => ("share.url", Server::At(address)),
            (None, Some(name)) => {
                let file = self.home.join(SERVICE_FILE);
                ("share.service", Server::Service { name, file })
            }
        };
        if cfg!(feature = "share") {
            return Ok(Some(server));
        }
        let remedy = "this program was built without its feature `share`: take one that has it, or take this setting out";
        let value = if key == "share.url" {
            without_secrets(url)
        } else {
            service.to_owned()
        };
        Err(self.refuse(key, value, remedy))
    }

    fn password(&self, file: &std::path::Path, command: Vec<String>) -> Result<PasswordSource, ConfigError> {
        const KEY: &str = "share.password_command";
        let file = self.model("share.password_file", file)?;
        let mut parts = command.into_iter();
        let Some(first) = parts.next() else {
            return Ok(file.map_or(PasswordSource::None, PasswordSource::File));
        };
        let program: PathBuf = paths::from_home(first.as_ref(), self.home).ok_or_else(|| {
            self.refuse(
                KEY,
                &first,
                "begin with the whole path of a program, from / or from ~/; no shell is run",
            )
        })?;
        if file.is_some() {
            return Err(self.refuse(KEY, &first, "set share.password_file or share.password_command, not both"));
        }
        Ok(PasswordSource::Command {
            program,
            arguments: parts.collect(),
        })
    }

    /// A name that may be left out.
    fn name(&self, key: &'static str, name: String) -> Result<Option<String>, ConfigError> {
        if name.is_empty() {
            return Ok(None);
        }
        if is_name(&name) {
            Ok(Some(name))
        } else {
            Err(self.refuse(key, name, NAMES))
        }
    }

    fn patterns(&self, patterns: Vec<String>) -> Result<Vec<String>, ConfigError> {
        let says_something = |pattern: &str| pattern.contains(|c: char| c == '*' || c.is_alphanumeric());
        let is_one = |pattern: &str| says_something(pattern) && pattern.len() <= PATTERN && !pattern.contains(char::is_control);
        match patterns.iter().find(|pattern| !is_one(pattern)) {
            None => Ok(patterns),
            Some(pattern) => {
                let remedy = "write a pattern of a project's key, such as \"github.com/acme/*\"; \"*\" is every project";
                Err(self.refuse("share.projects", pattern, remedy))
            }
        }
    }

    fn tls(&self, tls: &str, server: Option<&Server>) -> Result<TlsChoice, ConfigError> {
        match tls {
            "verify" => Ok(TlsChoice::Verify),
            // That of a service is looked at once it is read.
            "off" if server.is_none_or(Server::may_be_near) => Ok(TlsChoice::Off),
            "off" => {
                let remedy = "choose verify: only a unix socket or a loopback address may be reached without";
                Err(self.refuse("share.tls", tls, remedy))
            }
            other => Err(self.refuse("share.tls", other, "choose verify or off")),
        }
    }
}
