//! A service of libpq's: the file of services and a name come in, out come address, password, and what it says of the way there. Keys that
//! say nothing of those are passed over, as what concerns other programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::address::{Address, Parts};
use super::secret::{self, Secret};
use super::settings::Unusable;

/// What a service comes to.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) address: Address,
    pub(super) password: Option<Secret>,
    /// Whether it asks for a way that is not encrypted.
    pub(super) is_plain: bool,
    /// By which certificates the server's is judged, where it says.
    pub(super) ca_file: Option<PathBuf>,
}

/// The service `name` of the file at `path`.
///
/// # Errors
/// Where there is none, or it is not enough to go by: the file, and what to do.
pub(super) fn read(path: &Path, name: &str) -> Result<Service, Unusable> {
    let found = secret::read(path)?;
    let service = Service::of(&found.text, name).map_err(|remedy| {
        let path = path.display();
        Unusable(format!("{path}: service {name}: {remedy}"))
    })?;
    if service.password.is_some() {
        found.is_ours_alone?;
    }
    Ok(service)
}

impl Service {
    fn of(text: &str, name: &str) -> Result<Self, String> {
        let mut keys = keys(text, name)?;
        let mut take = |key: &str| keys.remove(key).unwrap_or_default();
        let parts = Parts {
            host: take("host"),
            port: take("port"),
            database: take("dbname"),
            user: take("user"),
        };
        let (password, mode, ca_file) = (take("password"), take("sslmode"), take("sslrootcert"));
        let ca_file = match ca_file.as_str() {
            "" | "system" => None,
            path if path.starts_with('/') => Some(PathBuf::from(path)),
            _ => return Err("write sslrootcert as a whole path".to_owned()),
        };
        Ok(Self {
            address: parts.address()?,
            password: (!password.is_empty()).then(|| Secret::of_service(password)),
            is_plain: mode == "disable",
            ca_file,
        })
    }
}

/// What stands below `[name]`.
fn keys(text: &str, name: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found: Option<BTreeMap<String, String>> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            // As libpq has it, the first of a name is the one.
            if found.is_some() {
                break;
            }
            found = (section == name).then(BTreeMap::new);
        } else if let Some(keys) = &mut found {
            let (key, value) = line
                .split_once('=')
                .ok_or_else(|| format!("line {} is no `key=value`", number + 1))?;
            keys.entry(key.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }
    found.ok_or_else(|| format!("there is none: add [{name}] with host, dbname and user"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::system;

    const FILE: &str = "# ours\n[other]\nhost=elsewhere\n\n[memory]\nhost=db.example.org\nport = 6543\ndbname=memory\nuser=ada\npassword=s3 = cret\nsslmode=require\nsslrootcert=/ca.pem\napplication_name=psql\n\n[memory]\nhost=late\n";

    #[test]
    fn a_service_is_found_by_its_name() {
        let service = Service::of(FILE, "memory").unwrap();
        assert_eq!(service.address.to_string(), "postgres://ada@db.example.org:6543/memory");
        assert_eq!(service.password.as_ref().map(Secret::expose), Some("s3 = cret"));
        assert_eq!(
            (service.is_plain, service.ca_file.as_deref()),
            (false, Some(Path::new("/ca.pem")))
        );
        assert!(!format!("{service:?}").contains("s3"));
    }

    #[rstest]
    #[case::none(FILE, "nobody", "there is none")]
    #[case::not_enough(FILE, "other", "name the user")]
    #[case::no_pair("[memory]\nhost\n", "memory", "line 2 is no")]
    #[case::relative("[m]\nhost=h\ndbname=d\nuser=u\nsslrootcert=ca.pem\n", "m", "whole path")]
    fn what_is_wrong_with_it_is_told(#[case] text: &str, #[case] name: &str, #[case] expected: &str) {
        let told = Service::of(text, name).unwrap_err();
        assert!(told.contains(expected), "{told}");
    }

    #[rstest]
    #[case::private("[m]\nhost=/run/pg\ndbname=d\nuser=u\npassword=p\n", 0o600, true)]
    #[case::open_with_a_password("[m]\nhost=/run/pg\ndbname=d\nuser=u\npassword=p\n", 0o644, false)]
    #[case::open_without("[m]\nhost=/run/pg\ndbname=d\nuser=u\nsslmode=disable\n", 0o644, true)]
    fn a_password_has_to_be_the_user_s_alone(#[case] text: &str, #[case] mode: u32, #[case] expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("services");
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, system::permissions(mode)).unwrap();
        let read = read(&path, "m");
        assert_eq!(read.is_ok(), expected, "{read:?}");
        if let Err(told) = read {
            assert!(told.to_string().contains("chmod 600"), "{told}");
        }
    }
}
