//! Passwords: from a file of the user's alone, or from a program that tells it. What goes out is never printed: not in a log, an error or a
//! setting.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::settings::Unusable;
use crate::{git, system};

/// How long a program may take to tell a password.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of a file that are read: a file of services is some kilobytes.
const MOST: u64 = 256 * 1024;

/// What is not to be shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// The first line of `text`.
    ///
    /// # Errors
    /// Where that is empty; `place` is what gave the text.
    fn first_line(text: &str, place: &dyn fmt::Display) -> Result<Self, Unusable> {
        let line = text.lines().next().unwrap_or_default();
        if line.is_empty() {
            return Err(Unusable(format!("{place} gives no password: it has to be the first line")));
        }
        Ok(Self(line.to_owned()))
    }

    /// That of a file of services, which is for it.
    pub(super) fn of_service(text: String) -> Self {
        Self(text)
    }

    /// The secret itself, for the server alone.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

/// The password in the first line of the file at `path`.
///
/// # Errors
/// Where it is not there, can't be read, or others can read it: what to do.
pub(super) fn of_file(path: &Path) -> Result<Secret, Unusable> {
    if fs_err::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Err(Unusable(format!(
            "{}: there is no such file: write the password into it, mode 600, or name another by share.password_file",
            path.display()
        )));
    }
    let found = read(path)?;
    found.is_ours_alone?;
    Secret::first_line(&found.text, &path.display())
}

/// The password in the first line that a program writes.
///
/// # Errors
/// Where it fails, takes longer than ten seconds, or writes none.
pub(super) fn of_program(program: &Path, arguments: &[String]) -> Result<Secret, Unusable> {
    let mut command = Command::new(program);
    command.args(arguments);
    let told = git::first_output(command, PATIENCE).ok_or_else(|| {
        let (program, seconds) = (program.display(), PATIENCE.as_secs());
        Unusable(format!(
            "`share.password_command` failed, or gave nothing within {seconds} s: see what {program} says where you run it by hand, without a terminal"
        ))
    })?;
    Secret::first_line(&told, &program.display())
}

/// What a file holds, and whether nobody else can read it.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) is_ours_alone: Result<(), Unusable>,
}

/// Reads a file that may hold a secret.
///
/// # Errors
/// Where it can't be read as text.
pub(super) fn read(path: &Path) -> Result<Found, Unusable> {
    let unreadable = |error: std::io::Error| Unusable(error.to_string());
    // A pipe would be waited for without an end.
    if let Some(what) = system::other_than_a_file(&fs_err::metadata(path).map_err(unreadable)?) {
        return Err(Unusable(format!("{} is {what}, and no file", path.display())));
    }
    let file = fs_err::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(unreadable)?;
    Ok(Found {
        text,
        is_ours_alone: ours_alone(path, system::owner(&metadata), system::mode(&metadata)),
    })
}

fn ours_alone(path: &Path, owner: u32, mode: u32) -> Result<(), Unusable> {
    let path = path.display();
    if owner != system::user_id() {
        return Err(Unusable(format!(
            "{path} holds a password and is another user's: make one of your own"
        )));
    }
    if mode & 0o077 != 0 {
        return Err(Unusable(format!(
            "{path} holds a password, and other users can read it: make it yours alone by `chmod 600 {path}`"
        )));
    }
    Ok(())
}

/// Where the password comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PasswordSource {
    /// From nowhere: the server asks for none, or the service has it.
    None,
    /// The first line of a file.
    File(PathBuf),
    /// The first line that a program writes.
    Command {
        /// Its whole path.
        program: PathBuf,
        /// What it is given.
        arguments: Vec<String>,
    },
    /// It was at hand, as in an owner's URL.
    Given(Secret),
}

impl PasswordSource {
    /// A password that is at hand.
    pub(crate) fn given(text: String) -> Self {
        Self::Given(Secret(text))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn file(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, system::permissions(mode)).unwrap();
        (folder, path)
    }

    #[rstest]
    #[case::alone("tr0ub4dor")]
    #[case::a_line("tr0ub4dor\n")]
    #[case::of_windows("tr0ub4dor\r\nand a note\r\n")]
    fn a_password_is_the_first_line_of_a_private_file(#[case] text: &str) {
        let (_folder, path) = file(text, 0o600);
        assert_eq!(of_file(&path).unwrap().expose(), "tr0ub4dor");
    }

    #[rstest]
    #[case::open_to_others("tr0ub4dor\n", 0o604, "chmod 600")]
    #[case::open_to_the_group("tr0ub4dor\n", 0o640, "chmod 600")]
    #[case::empty("", 0o600, "gives no password")]
    #[case::first_line_empty("\ntr0ub4dor\n", 0o600, "gives no password")]
    fn a_file_that_is_not_right_is_refused_with_its_remedy(#[case] text: &str, #[case] mode: u32, #[case] expected: &str) {
        let (_folder, path) = file(text, mode);
        let told = of_file(&path).unwrap_err().to_string();
        assert!(
            told.contains(expected) && told.contains(&path.display().to_string()),
            "{told}"
        );
        assert!(!told.contains("tr0ub4dor"), "{told}");
    }

    #[test]
    fn a_file_of_another_user_and_what_is_no_file_are_refused() {
        let told = ours_alone(Path::new("/p"), system::user_id() + 1, 0o600)
            .unwrap_err()
            .to_string();
        assert!(told.contains("another user's"), "{told}");
        let folder = tempfile::tempdir().unwrap();
        assert!(of_file(folder.path()).unwrap_err().to_string().contains("is a folder"));
        let gone = folder.path().join("gone");
        let told = of_file(&gone).unwrap_err().to_string();
        assert!(
            told.starts_with(&format!(
                "{}: there is no such file: write the password into it",
                gone.display()
            )) && told.contains("mode 600"),
            "{told}"
        );
    }

    #[rstest]
    #[case::tells("echo tr0ub4dor; echo more", Ok("tr0ub4dor"))]
    #[case::fails("echo tr0ub4dor; exit 1", Err("failed"))]
    #[case::says_nothing("true", Err("gives no password"))]
    fn a_program_tells_a_password(#[case] script: &str, #[case] expected: Result<&str, &str>) {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let told = of_program(Path::new("/bin/sh"), &arguments);
        match (expected, told) {
            (Ok(expected), Ok(told)) => assert_eq!(told.expose(), expected),
            (Err(expected), Err(error)) => {
                let error = error.to_string();
                assert!(error.contains(expected) && !error.contains("tr0ub4dor"), "{error}");
            }
            (expected, told) => panic!("{expected:?}, {told:?}"),
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::of_service("tr0ub4dor".to_owned());
        assert!(!format!("{secret:?} {:?}", Some(&secret)).contains("tr0ub4dor"));
    }
}
