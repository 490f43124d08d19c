//! `remembrancer config edit`: the settings file in the user's editor, made from the defaults where there is none. What comes back is
//! checked; what can't be used may be edited again or taken back, and where nobody can be asked it is taken back.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::Command;

use remembrancer_hooks::protocol::Request;

use super::super::ask;
use super::super::error::{CliError, Kind};
use super::super::install::{ask_manager, service_of_this_system};
use super::super::steer::counted;
use super::super::surroundings::{Surroundings, editor};
use super::Place;
use crate::cli::output::{complain, say, tell};
use crate::config;
use crate::files::private_folder;
use crate::install::replace;
use crate::system;

/// What a new file may be read by: its user.
const PRIVATE: u32 = 0o600;

/// What the user wants with a file that can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Again,
    Back,
    Keep,
}

pub(super) fn run(place: &Place) -> Result<(), CliError> {
    let before = place.read()?;
    if before.is_none() {
        make(&place.file)?;
    }
    // What a link leads to is edited and put back, and the link stays.
    let file = fs_err::canonicalize(&place.file)?;
    let begun_with = before.clone().unwrap_or_else(config::skeleton);
    loop {
        open_editor(&file)?;
        let after = place.read()?.ok_or_else(|| {
            CliError::new(
                Kind::Failed,
                format!("{} is gone since your editor ended", place.file.display()),
            )
        })?;
        if after == begun_with {
            if before.is_none() {
                fs_err::remove_file(&file)?;
            }
            say!("Nothing was changed.");
            return Ok(());
        }
        let Err(error) = place.parse(&after) else {
            return told(place, &begun_with, &after);
        };
        complain!("{error}");
        match wish()? {
            Wish::Again => {}
            Wish::Keep => {
                let hint = "until it is correct, no command but `config` and `doctor` runs, and the daemon does not start";
                return Err(CliError::new(Kind::Usage, "the settings can't be used as they are").with_hint(hint));
            }
            Wish::Back => return Err(take_back(&file, before.as_deref(), &after)?),
        }
    }
}

/// Makes a file of the defaults, each behind a mark.
fn make(file: &Path) -> Result<(), CliError> {
    if let Some(folder) = file.parent().filter(|folder| !folder.exists()) {
        private_folder(folder)?;
    }
    replace(file, &config::skeleton(), PRIVATE)?;
    Ok(())
}

/// Runs the user's editor, which may be given with arguments of its own, as a shell reads them.
fn open_editor(file: &Path) -> Result<(), CliError> {
    let editor = editor();
    let ended = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg("editor")
        .arg(file)
        .status()?;
    if ended.success() {
        return Ok(());
    }
    Err(CliError::new(
        Kind::Failed,
        format!("the editor `{editor}` failed ({ended}); {} is as it left it", file.display()),
    )
    .with_hint("VISUAL or EDITOR names another one; `remembrancer config check` says whether the file can be used"))
}

/// What is to be done with it; without a terminal nobody can be asked.
fn wish() -> Result<Wish, CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Ok(Wish::Back);
    }
    loop {
        tell!("Edit it again, go back to what it was, or keep it as it is? [E/g/k] ");
        let mut answer = String::new();
        if stdin.lock().read_line(&mut answer)? == 0 {
            return Ok(Wish::Back);
        }
        if let Some(wish) = read_wish(&answer) {
            return Ok(wish);
        }
    }
}

fn read_wish(answer: &str) -> Option<Wish> {
    match answer.trim().to_ascii_lowercase().as_str() {
        "" | "e" | "edit" => Some(Wish::Again),
        "g" | "go back" => Some(Wish::Back),
        "k" | "keep" => Some(Wish::Keep),
        _ => None,
    }
}

/// Puts back what was there, and what was refused beside it; gives what to say.
fn take_back(file: &Path, before: Option<&str>, refused: &str) -> Result<CliError, CliError> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".refused");
    let beside = file.with_file_name(name);
    replace(&beside, refused, PRIVATE)?;
    match before {
        Some(text) => {
            let mode = system::mode(&fs_err::metadata(file)?) & 0o777;
            replace(file, text, mode)?;
        }
        None => fs_err::remove_file(file)?,
    }
    let message = format!("the settings are as they were; what you wrote is in {}", beside.display());
    Ok(CliError::new(Kind::Usage, message).with_hint(format!(
        "correct it, try it by `remembrancer config check {}`, and move it to {}",
        beside.display(),
        file.display()
    )))
}

/// What has changed, and whether the daemon knows.
fn told(place: &Place, before: &str, after: &str) -> Result<(), CliError> {
    let (before, after) = (config::settings(before), config::settings(after));
    let changed = || {
        after
            .iter()
            .filter(|now| before.iter().all(|then| (&then.key, &then.value) != (&now.key, &now.value)))
    };
    let number = changed().count();
    say!(
        "{} is valid; {} changed.",
        place.file.display(),
        counted(&number.into(), "setting has", "settings have")
    );
    for setting in changed() {
        say!("  {} = {}", setting.key, super::written(&setting.value));
    }
    if number > 0 {
        tell_of_the_daemon(place)?;
    }
    Ok(())
}

/// A daemon keeps the settings that it was started with.
fn tell_of_the_daemon(place: &Place) -> Result<(), CliError> {
    let surroundings = Surroundings::of_process(Some(place.file.clone()))?;
    // One that can't be asked is `status`' and `doctor`'s to tell of.
    let pid = ask::data(&surroundings, &Request::Ping)
        .ok()
        .flatten()
        .and_then(|answer| answer["pid"].as_u64());
    let Some(pid) = pid else {
        say!("No daemon runs; the next one takes them.");
        return Ok(());
    };
    let service = service_of_this_system(&surroundings, "remembrancer");
    let is_service = ask_manager(&service.answers).is_ok() && ask_manager(&service.runs).is_ok();
    let restart = if is_service && cfg!(target_os = "macos") {
        format!("launchctl kickstart -k gui/{}/dev.remembrancer.daemon", place.places.uid())
    } else if is_service {
        "systemctl --user restart remembrancer.service".to_owned()
    } else {
        format!("kill {pid}, then remembrancer run")
    };
    say!("The daemon (process {pid}) has not taken them: it reads its settings when it starts. Restart it:");
    say!("    {restart}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("\n", Some(Wish::Again))]
    #[case::back(" G \n", Some(Wish::Back))]
    #[case::keep("keep", Some(Wish::Keep))]
    #[case::something_else("yes", None)]
    fn an_answer(#[case] answer: &str, #[case] expected: Option<Wish>) {
        assert_eq!(read_wish(answer), expected);
    }

    #[test]
    fn what_is_taken_back_is_there_and_what_was_refused_lies_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        replace(&file, "wrong", 0o640).unwrap();
        let error = take_back(&file, Some("right"), "wrong").unwrap();
        assert!(error.message().contains("config.toml.refused"), "{error}");
        assert_eq!(fs_err::read_to_string(&file).unwrap(), "right");
        assert_eq!(system::mode(&fs_err::metadata(&file).unwrap()) & 0o777, 0o640);
        let beside = folder.path().join("config.toml.refused");
        assert_eq!(fs_err::read_to_string(&beside).unwrap(), "wrong");
        assert_eq!(system::mode(&fs_err::metadata(&beside).unwrap()) & 0o777, 0o600);
        take_back(&file, None, "wrong").unwrap();
        assert!(!file.exists(), "there was none before");
    }
}
