//! Which project a call is about: the one that its argument names, or all, or the one in which the client works: by its roots where it
//! offers them, else by the folder in which it started us.

use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use crate::cli::{CliError, Kind, Surroundings, narrowing};

/// The project of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of them.
    Everywhere,
    /// The one that an argument names: a name, or a folder as transcripts have it.
    Named(String),
    /// That of the folder in which the client works, where the memory knows one.
    Here(String),
}

impl Scope {
    /// What the arguments `project` and `everywhere` say, of a client that works in `folder`.
    ///
    /// # Errors
    /// Where both are given, or a path can't be told.
    pub(super) fn of(arguments: &Arguments, folder: Option<&Path>, surroundings: &Surroundings) -> Result<Self, CliError> {
        match (arguments.text("project"), arguments.flag("everywhere"), folder) {
            (Some(_), true, _) => Err(CliError::new(
                Kind::Usage,
                "`project` names one project, and `everywhere` means all of them",
            )
            .with_hint("give one of the two")),
            (None, true, _) | (None, false, None) => Ok(Self::Everywhere),
            (Some(name), false, _) => Ok(Self::Named(narrowing::project(&from(folder, name), surroundings)?)),
            (None, false, Some(folder)) => Ok(Self::Here(surroundings.as_in_transcripts(folder)?)),
        }
    }
}

/// A folder that is told from where the client works, whole; a name as it is.
fn from(folder: Option<&Path>, name: &str) -> String {
    match folder {
        Some(folder) if narrowing::is_path(name) && !name.starts_with(['/', '~']) => folder.join(name).display().to_string(),
        _ => name.to_owned(),
    }
}

/// The folder in which a client works, by its roots: the one that holds `started_in` where one does, else the first that is a folder.
pub(super) fn of_roots(uris: &[String], started_in: Option<&Path>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = uris.iter().filter_map(|uri| folder_of(uri)).collect();
    let holds = |folder: &&PathBuf| started_in.is_some_and(|started_in| started_in.starts_with(folder));
    folders
        .iter()
        .filter(holds)
        .max_by_key(|folder| folder.components().count())
        .or(folders.first())
        .cloned()
}

/// The folder of a `file://` address of this machine.
fn folder_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = PathBuf::from(decoded(path)?);
    path.is_absolute().then_some(path)
}

/// `%20` as a blank, and likewise.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("file:///home/ada/shop", Some("/home/ada/shop"))]
    #[case::blank("file:///home/ada/my%20shop", Some("/home/ada/my shop"))]
    #[case::letters("file:///home/%C3%A9va", Some("/home/éva"))]
    #[case::host("file://localhost/srv/x", Some("/srv/x"))]
    #[case::another_host("file://server/share", None)]
    #[case::another_scheme("https://example.org/x", None)]
    #[case::cut("file:///home/%C", None)]
    #[case::no_utf8("file:///home/%FF", None)]
    #[case::nul("file:///home/%00", None)]
    fn a_root_is_a_folder_of_this_machine(#[case] uri: &str, #[case] expected: Option<&str>) {
        assert_eq!(folder_of(uri), expected.map(PathBuf::from));
    }

    #[rstest]
    #[case::none(&[], None)]
    #[case::first(&["file:///a", "file:///b"], Some("/a"))]
    #[case::the_one_of_the_start(&["file:///a", "file:///w"], Some("/w"))]
    #[case::the_nearest(&["file:///w", "file:///w/shop"], Some("/w/shop"))]
    #[case::no_folders(&["https://x"], None)]
    fn the_client_works_in_one_of_its_roots(#[case] uris: &[&str], #[case] expected: Option<&str>) {
        let uris: Vec<String> = uris.iter().map(ToString::to_string).collect();
        assert_eq!(of_roots(&uris, Some(Path::new("/w/shop/src"))), expected.map(PathBuf::from));
    }

    #[rstest]
    #[case::a_name("shop", "shop")]
    #[case::whole("/srv/shop", "/srv/shop")]
    #[case::home("~/shop", "~/shop")]
    #[case::below("./shop", "/w/./shop")]
    fn a_folder_is_told_from_where_the_client_works(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(from(Some(Path::new("/w")), name), expected);
    }
}
