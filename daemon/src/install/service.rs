//! The daemon as a service of the user: the unit or agent of `packaging/` with the program's own path, and the commands by which the
//! service manager takes it up. Paths come in; a change of one file and command lines go out. Nothing is run here.

use std::path::{Path, PathBuf};

use super::entry::quoted;
use super::settings_file::{Change, Refusal, SettingsFile};

const UNIT: &str = include_str!("../../../packaging/systemd/remembrancer.service");
/// What stands for the program in the unit.
const UNIT_PROGRAM: &str = "%h/.local/bin/remembrancer";
const UNIT_NAME: &str = "remembrancer.service";

const LAUNCH_AGENT: &str = include_str!("../../../packaging/launchd/dev.remembrancer.daemon.plist");
/// What stands for the program in the launch agent.
const LAUNCH_AGENT_PROGRAM: &str = "\"$HOME/.local/bin/remembrancer\"";
const LAUNCH_AGENT_LABEL: &str = "dev.remembrancer.daemon";

/// A command line.
pub(crate) type CommandLine = Vec<String>;

/// The service of one user.
#[derive(Debug)]
pub(crate) struct Service {
    file: PathBuf,
    template: &'static str,
    placeholder: &'static str,
    program: String,
    uid: u32,
    /// Succeeds where the user's service manager answers.
    pub(crate) answers: CommandLine,
    /// Succeeds where the service runs.
    pub(crate) runs: CommandLine,
    /// Says `yes` where the user's services run although the user is not logged in; `None` where the system has no such thing.
    pub(crate) lingers: Option<CommandLine>,
    /// Have a new file taken up, and the service started now and at every login.
    pub(crate) start: Vec<CommandLine>,
    /// Have a changed file taken up.
    pub(crate) restart: Vec<CommandLine>,
    /// Have the service stopped, now and for good.
    pub(crate) stop: Vec<CommandLine>,
    /// Have it forgotten that there was a file.
    pub(crate) forget: Vec<CommandLine>,
}

impl Service {
    /// The service for systemd, whose units of this user lie below `config_home`.
    pub(crate) fn systemd(config_home: &Path, program: &str, uid: u32) -> Self {
        Self {
            file: config_home.join("systemd/user").join(UNIT_NAME),
            template: UNIT,
            placeholder: UNIT_PROGRAM,
            program: unit_word(program),
            uid,
            answers: line("systemctl --user show --property=Version"),
            runs: line(&format!("systemctl --user --quiet is-active {UNIT_NAME}")),
            lingers: Some(line(&format!("loginctl show-user {uid} --property=Linger --value"))),
            start: vec![
                line("systemctl --user daemon-reload"),
                line(&format!("systemctl --user enable --now {UNIT_NAME}")),
            ],
            restart: vec![
                line("systemctl --user daemon-reload"),
                line(&format!("systemctl --user enable {UNIT_NAME}")),
                line(&format!("systemctl --user restart {UNIT_NAME}")),
            ],
            stop: vec![line(&format!("systemctl --user disable --now {UNIT_NAME}"))],
            forget: vec![line("systemctl --user daemon-reload")],
        }
    }

    /// The service for launchd, whose agents of this user lie below `home`.
    pub(crate) fn launchd(home: &Path, program: &str, uid: u32) -> Self {
        let file = home.join("Library/LaunchAgents").join(format!("{LAUNCH_AGENT_LABEL}.plist"));
        let domain = format!("gui/{uid}");
        let mut bootstrap = line(&format!("launchctl bootstrap {domain}"));
        bootstrap.push(file.to_string_lossy().into_owned());
        let bootout = line(&format!("launchctl bootout {domain}/{LAUNCH_AGENT_LABEL}"));
        Self {
            file,
            template: LAUNCH_AGENT,
            placeholder: LAUNCH_AGENT_PROGRAM,
            program: quoted(program)
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;"),
            uid,
            answers: line(&format!("launchctl print {domain}")),
            runs: line(&format!("launchctl print {domain}/{LAUNCH_AGENT_LABEL}")),
            lingers: None,
            start: vec![bootstrap.clone()],
            restart: vec![bootout.clone(), bootstrap],
            stop: vec![bootout],
            forget: Vec::new(),
        }
    }

    /// Plans to write the file. `None`: it is there already.
    ///
    /// # Errors
    /// Why the file is left as it is, for one because its user has edited it.
    pub(crate) fn install(&self) -> Result<Option<Change>, Refusal> {
        let wanted = self.template.replace(self.placeholder, &self.program);
        let remedy = "take your changes to a file in `remembrancer.service.d` beside it and remove it, or set the program's path there yourself";
        Ok(self.read(remedy)?.change_to(Some(wanted)))
    }

    /// Plans to remove the file. `None`: it is not there.
    ///
    /// # Errors
    /// As [`Service::install`].
    pub(crate) fn uninstall(&self) -> Result<Option<Change>, Refusal> {
        Ok(self.read("remove it yourself")?.change_to(None))
    }

    fn read(&self, remedy: &str) -> Result<SettingsFile, Refusal> {
        let file = SettingsFile::read(&self.file, self.uid)?;
        if file.text().is_none_or(|text| self.is_template(text)) {
            return Ok(file);
        }
        Err(Refusal::Edited {
            path: self.file.clone(),
            remedy: remedy.to_owned(),
        })
    }

    /// Whether a text is the template with any program.
    fn is_template(&self, text: &str) -> bool {
        let (before, after) = self
            .template
            .split_once(self.placeholder)
            .expect("invariant: the template names its program");
        let middle = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        middle.is_some_and(|program| !program.contains('\n'))
    }
}

/// A path as one word of a unit's command line: neither specifier nor variable nor separator in it counts.
fn unit_word(path: &str) -> String {
    let literal = path
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
        .replace('$', "$$");
    if path.chars().any(|c| c.is_whitespace() || "\\\"';".contains(c)) {
        format!("\"{literal}\"")
    } else {
        literal
    }
}

fn line(text: &str) -> CommandLine {
    text.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("/home/you/.local/bin/remembrancer", "/home/you/.local/bin/remembrancer")]
    #[case::specifier("/a/50%/$x", "/a/50%%/$$x")]
    #[case::blank("/a b/it's", "\"/a b/it's\"")]
    #[case::quote("/a\"b\\c", "\"/a\\\"b\\\\c\"")]
    fn a_unit_names_the_very_path(#[case] path: &str, #[case] expected: &str) {
        assert_eq!(unit_word(path), expected);
    }

    fn services(home: &Path, program: &str) -> [Service; 2] {
        let uid = rustix::process::getuid().as_raw();
        [
            Service::systemd(&home.join(".config"), program, uid),
            Service::launchd(home, program, uid),
        ]
    }

    #[test]
    fn a_file_is_written_moved_and_removed() {
        let home = tempfile::tempdir().unwrap();
        for (old, new) in services(home.path(), "/old/r & d/remembrancer")
            .iter()
            .zip(&services(home.path(), "/new/remembrancer"))
        {
            old.install().unwrap().unwrap().apply().unwrap();
            assert!(old.install().unwrap().is_none());
            let moved = new.install().unwrap().unwrap();
            assert!(moved.before().unwrap().contains("/old/r "), "{moved:?}");
            moved.apply().unwrap();
            let text = fs_err::read_to_string(&new.file).unwrap();
            assert!(
                text.contains("/new/remembrancer") && !text.contains(new.placeholder),
                "{text}"
            );
            new.uninstall().unwrap().unwrap().apply().unwrap();
            assert!(new.uninstall().unwrap().is_none());
        }
    }

    #[test]
    fn an_edited_file_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        for service in services(home.path(), "/a/remembrancer") {
            fs_err::create_dir_all(service.file.parent().unwrap()).unwrap();
            fs_err::write(&service.file, service.template.replace("15", "16")).unwrap();
            assert!(matches!(service.install(), Err(Refusal::Edited { .. })));
            assert!(matches!(service.uninstall(), Err(Refusal::Edited { .. })));
        }
    }
}
