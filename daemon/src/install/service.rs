//! The daemon as a service of the user: the units or the agent of `packaging/` with the program's own path, and the commands by which
//! the service manager takes them up. Paths come in; changes of files and command lines go out. Nothing is run here.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::settings_file::{Change, Refusal, SettingsFile};
use super::words::{first_command, quoted};

const UNIT: &str = include_str!("../../../packaging/systemd/remembrancer.service");
/// What stands for the program in the unit.
const UNIT_PROGRAM: &str = "%h/.local/bin/remembrancer";
const UNIT_NAME: &str = "remembrancer.service";
const SOCKET_UNIT: &str = include_str!("../../../packaging/systemd/remembrancer.socket");
const SOCKET_UNIT_NAME: &str = "remembrancer.socket";
/// What needs namespaces, which not every system lets a service of a user have.
const NAMESPACES: &str = include_str!("../../../packaging/systemd/remembrancer.service.d/namespaces.conf");
const NAMESPACES_NAME: &str = "remembrancer.service.d/namespaces.conf";
/// What opens the network, for a shared store.
const SHARE: &str = include_str!("../../../packaging/systemd/remembrancer.service.d/share.conf");
const SHARE_NAME: &str = "remembrancer.service.d/share.conf";

const LAUNCH_AGENT: &str = include_str!("../../../packaging/launchd/dev.remembrancer.daemon.plist");
/// What stands for the program in the launch agent.
const LAUNCH_AGENT_PROGRAM: &str = "\"$HOME/.local/bin/remembrancer\"";
const LAUNCH_AGENT_LABEL: &str = "dev.remembrancer.daemon";

/// Before the sum in the last line of a file of ours.
const SEAL: &str = "As remembrancer wrote it: ";

/// A command line.
pub(crate) type CommandLine = Vec<String>;

/// Where a file of the service is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Everywhere,
    /// Where a service may have namespaces: elsewhere it fails by this file.
    WithNamespaces,
    /// Where there is a shared store.
    WhereSharing,
}

/// A file of the service.
#[derive(Debug)]
struct ServiceFile {
    path: PathBuf,
    template: &'static str,
    /// What stands for the program in the template, where it names it.
    placeholder: Option<&'static str>,
    wanted: Wanted,
}

/// The service of one user.
#[derive(Debug)]
pub(crate) struct Service {
    files: Vec<ServiceFile>,
    /// How many folders above the files are made for services alone.
    own_folders: usize,
    program: String,
    uid: u32,
    /// The settings name a shared store.
    shares: bool,
    /// Succeeds where the user's service manager answers.
    pub(crate) answers: CommandLine,
    /// Succeeds where a service may have what the file that needs namespaces asks for; `None` where no file does.
    pub(crate) has_namespaces: Option<CommandLine>,
    /// Succeeds where the service runs.
    pub(crate) runs: CommandLine,
    /// Says `yes` where the user's services run although the user is not logged in; `None` where the system has no such thing.
    pub(crate) lingers: Option<CommandLine>,
    /// Have new files taken up, and the service started now and at every login.
    pub(crate) start: Vec<CommandLine>,
    /// Have changed files taken up.
    pub(crate) restart: Vec<CommandLine>,
    /// Have the service stopped, now and for good.
    pub(crate) stop: Vec<CommandLine>,
    /// Have it forgotten that there were files.
    pub(crate) forget: Vec<CommandLine>,
}

impl Service {
    /// The service for systemd, whose units of this user lie below `config_home`.
    pub(crate) fn systemd(config_home: &Path, program: &str, uid: u32) -> Self {
        let folder = config_home.join("systemd/user");
        let take_up = vec![
            line("systemctl --user daemon-reload"),
            line(&format!("systemctl --user enable {SOCKET_UNIT_NAME} {UNIT_NAME}")),
            // In one command: a socket can't be started beside a service that runs without it.
            line(&format!("systemctl --user restart {SOCKET_UNIT_NAME} {UNIT_NAME}")),
        ];
        Self {
            files: vec![
                ServiceFile {
                    path: folder.join(SOCKET_UNIT_NAME),
                    template: SOCKET_UNIT,
                    placeholder: None,
                    wanted: Wanted::Everywhere,
                },
                ServiceFile {
                    path: folder.join(UNIT_NAME),
                    template: UNIT,
                    placeholder: Some(UNIT_PROGRAM),
                    wanted: Wanted::Everywhere,
                },
                ServiceFile {
                    path: folder.join(NAMESPACES_NAME),
                    template: NAMESPACES,
                    placeholder: None,
                    wanted: Wanted::WithNamespaces,
                },
                ServiceFile {
                    path: folder.join(SHARE_NAME),
                    template: SHARE,
                    placeholder: None,
                    wanted: Wanted::WhereSharing,
                },
            ],
            own_folders: 2,
            program: unit_word(program),
            uid,
            shares: false,
            answers: line("systemctl --user show --property=Version"),
            has_namespaces: Some(trial(NAMESPACES)),
            runs: line(&format!("systemctl --user --quiet is-active {UNIT_NAME}")),
            lingers: Some(line(&format!("loginctl show-user {uid} --property=Linger --value"))),
            start: take_up.clone(),
            restart: take_up,
            stop: vec![line(&format!(
                "systemctl --user disable --now {SOCKET_UNIT_NAME} {UNIT_NAME}"
            ))],
            forget: vec![line("systemctl --user daemon-reload")],
        }
    }

    /// The service for launchd, whose agents of this user lie below `home`.
    pub(crate) fn launchd(home: &Path, program: &str, uid: u32) -> Self {
        let path = home.join("Library/LaunchAgents").join(format!("{LAUNCH_AGENT_LABEL}.plist"));
        let domain = format!("gui/{uid}");
        let mut bootstrap = line(&format!("launchctl bootstrap {domain}"));
        bootstrap.push(path.to_string_lossy().into_owned());
        let bootout = line(&format!("launchctl bootout {domain}/{LAUNCH_AGENT_LABEL}"));
        Self {
            files: vec![ServiceFile {
                path,
                template: LAUNCH_AGENT,
                placeholder: Some(LAUNCH_AGENT_PROGRAM),
                wanted: Wanted::Everywhere,
            }],
            // The folder is the system's.
            own_folders: 0,
            program: quoted(program)
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;"),
            uid,
            shares: false,
            answers: line(&format!("launchctl print {domain}")),
            has_namespaces: None,
            runs: line(&format!("launchctl print {domain}/{LAUNCH_AGENT_LABEL}")),
            lingers: None,
            start: vec![bootstrap.clone()],
            restart: vec![bootout.clone(), bootstrap],
            stop: vec![bootout],
            forget: Vec::new(),
        }
    }

    /// The service where the settings name a shared store, or none.
    pub(crate) fn sharing(self, shares: bool) -> Self {
        Self { shares, ..self }
    }

    /// Plans to write the files, all of them or none. Nothing: they are there already. What needs namespaces is written where a service
    /// `has_namespaces`, and removed where it has none; where that is not known, it stays as it is. What opens the network is written
    /// where there is a shared store, and removed where there is none.
    ///
    /// # Errors
    /// Why the files are left as they are, for one because their user has edited one.
    pub(crate) fn install(&self, has_namespaces: Option<bool>) -> Result<Vec<Change>, Refusal> {
        let remedy = "take your changes to a file in a folder `….d` beside it, as `systemctl --user edit` does, and remove it, or set the program's path there yourself";
        let files = self
            .files
            .iter()
            .filter(|file| file.wanted != Wanted::WithNamespaces || has_namespaces.is_some());
        self.plan(files, remedy, |file| {
            let is_wanted = match file.wanted {
                Wanted::Everywhere => true,
                Wanted::WithNamespaces => has_namespaces == Some(true),
                Wanted::WhereSharing => self.shares,
            };
            is_wanted.then(|| file.text_for(&self.program))
        })
    }

    /// Plans to remove the files, all of them or none, and the folders for services that are empty then. Nothing: they are not there.
    ///
    /// # Errors
    /// As [`Service::install`].
    pub(crate) fn uninstall(&self) -> Result<Vec<Change>, Refusal> {
        let changes = self.plan(self.files.iter(), "remove it yourself", |_| None)?;
        // A drop-in lies in a folder of its own.
        let is_drop_in = |path: &Path| [NAMESPACES_NAME, SHARE_NAME].iter().any(|name| path.ends_with(name));
        let folders = |change: &Change| self.own_folders + usize::from(is_drop_in(change.path()));
        Ok(changes
            .into_iter()
            .map(|change| {
                let folders = folders(&change);
                change.with_folders(folders)
            })
            .collect())
    }

    /// What is wrong with its files, where it was installed: one is missing beside another, or names a program that is gone. Whether one
    /// was edited is its user's affair.
    pub(crate) fn faults(&self) -> Vec<String> {
        if !self.is_installed() {
            return Vec::new();
        }
        let fault = |file: &ServiceFile| {
            let path = file.path.display();
            let Ok(text) = fs_err::read_to_string(&file.path) else {
                let is_missed = match file.wanted {
                    Wanted::Everywhere => true,
                    Wanted::WithNamespaces => false,
                    Wanted::WhereSharing => self.shares,
                };
                return (is_missed && !file.path.exists()).then(|| format!("{path} is missing"));
            };
            let program = file.program_in(&text)?;
            let names = file.path_of(program);
            let is_gone = program != self.program && Path::new(&names).is_absolute() && !Path::new(&names).exists();
            is_gone.then(|| format!("{path} starts {names}, which is not there"))
        };
        self.files.iter().filter_map(fault).collect()
    }

    /// Whether it was installed: any of its files is there.
    pub(crate) fn is_installed(&self) -> bool {
        self.files.iter().any(|file| file.path.symlink_metadata().is_ok())
    }

    fn plan<'a>(
        &self,
        files: impl Iterator<Item = &'a ServiceFile>,
        remedy: &str,
        wanted: impl Fn(&ServiceFile) -> Option<String>,
    ) -> Result<Vec<Change>, Refusal> {
        let change = |file: &ServiceFile| Ok(file.read(self.uid, remedy)?.change_to(wanted(file)));
        files.filter_map(|file| change(file).transpose()).collect()
    }
}

impl ServiceFile {
    fn text_for(&self, program: &str) -> String {
        let mut text = match self.placeholder {
            Some(placeholder) => self.template.replace(placeholder, program),
            None => self.template.to_owned(),
        };
        text.push_str(&self.seal(&text));
        text
    }

    /// The last line of a file of ours, by which a later version knows that nobody has edited what this one wrote.
    fn seal(&self, text: &str) -> String {
        let sum = Sha256::digest(text);
        let sum: String = sum[..8].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        if self.is_agent() {
            format!("<!-- {SEAL}{sum} -->\n")
        } else {
            format!("# {SEAL}{sum}\n")
        }
    }

    /// Whether it is an agent of launchd's, and not a unit.
    fn is_agent(&self) -> bool {
        self.template.starts_with("<?xml")
    }

    /// The path that a program as it stands in the file stands for.
    fn path_of(&self, program: &str) -> String {
        if self.is_agent() {
            path_in_agent(program)
        } else {
            path_in_unit(program)
        }
    }

    /// What stands above the seal of a file that nobody has edited.
    fn unsealed<'a>(&self, text: &'a str) -> Option<&'a str> {
        let last = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (above, seal) = text.split_at(last);
        (seal == self.seal(above)).then_some(above)
    }

    fn read(&self, uid: u32, remedy: &str) -> Result<SettingsFile, Refusal> {
        let file = SettingsFile::read(&self.path, uid)?;
        if file
            .text()
            .is_none_or(|text| self.unsealed(text).is_some() || self.is_template(without_seal(text)))
        {
            return Ok(file);
        }
        Err(Refusal::Edited {
            path: self.path.clone(),
            remedy: remedy.to_owned(),
        })
    }

    /// Whether a text is the template with any program.
    fn is_template(&self, text: &str) -> bool {
        let Some(placeholder) = self.placeholder else {
            return text == self.template;
        };
        let (before, after) = self
            .template
            .split_once(placeholder)
            .expect("invariant: the template names its program");
        let middle = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        middle.is_some_and(|program| !program.contains('\n'))
    }

    /// The program as a text names it that is the template but for that.
    fn program_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (before, after) = self.template.split_once(self.placeholder?)?;
        without_seal(text).strip_prefix(before)?.strip_suffix(after)
    }
}

/// A text but for a last line that seals it, whether or not the seal fits.
fn without_seal(text: &str) -> &str {
    let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
    if text[last..].contains(SEAL) { &text[..last] } else { text }
}

/// The path that the word of an agent's command line stands for, which a shell runs.
fn path_in_agent(word: &str) -> String {
    let unmarked = word.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let (words, _) = first_command(&unmarked);
    words.into_iter().next().map(|word| word.text).unwrap_or_default()
}

/// The path that the first word of a unit's command line stands for, but for specifiers and variables: systemd splits at blanks alone,
/// outside of quotes, and a backslash stands before what is to be taken as it is.
fn path_in_unit(words: &str) -> String {
    let mut path = String::new();
    let mut quote = None;
    let mut chars = words.trim_start().chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => break,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (_, '\\') => path.extend(chars.next().map(|escaped| if escaped == 's' { ' ' } else { escaped })),
            (_, c) => path.push(c),
        }
    }
    path.replace("%%", "%").replace("$$", "$")
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

/// Runs nothing as a service with the settings of this drop-in.
fn trial(drop_in: &str) -> CommandLine {
    let mut trial = line("systemd-run --user --wait --collect --quiet");
    let settings = drop_in.lines().filter(|line| line.contains('=') && !line.starts_with('#'));
    trial.extend(settings.map(|setting| format!("--property={setting}")));
    trial.extend(line("/bin/sh -c :"));
    trial
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

    #[rstest]
    #[case::no_shell_s_words("/opt/r&d/remembrancer", "/opt/r&d/remembrancer")]
    #[case::no_comment("/opt/#1;2/remembrancer", "/opt/#1;2/remembrancer")]
    #[case::the_first_word("/opt/remembrancer --config /x", "/opt/remembrancer")]
    #[case::quoted("\"/a b/it's\" --config /x", "/a b/it's")]
    #[case::a_blank(r"/a\sb/50%%/$$x", "/a b/50%/$x")]
    fn a_unit_s_word_is_a_path(#[case] word: &str, #[case] expected: &str) {
        assert_eq!(path_in_unit(word), expected);
    }

    #[rstest]
    #[case::plain("/a/remembrancer")]
    #[case::specifier("/a/50%/$x")]
    #[case::quotes("/a\"b\\c d/it's;#&")]
    fn what_is_written_for_a_unit_is_read_again(#[case] path: &str) {
        assert_eq!(path_in_unit(&unit_word(path)), path);
    }

    fn services(home: &Path, program: &str) -> [Service; 2] {
        let uid = rustix::process::getuid().as_raw();
        [
            Service::systemd(&home.join(".config"), program, uid).sharing(true),
            Service::launchd(home, program, uid).sharing(true),
        ]
    }

    fn apply(changes: Vec<Change>) {
        for change in changes {
            change.apply().unwrap();
        }
    }

    #[test]
    fn files_are_written_moved_and_removed() {
        let home = tempfile::tempdir().unwrap();
        for (old, new) in services(home.path(), "/old/r & d/remembrancer")
            .iter()
            .zip(&services(home.path(), "/new/remembrancer"))
        {
            let written = old.install(Some(true)).unwrap();
            assert_eq!(written.len(), old.files.len());
            apply(written);
            assert!(old.install(Some(true)).unwrap().is_empty());
            let moved = new.install(Some(true)).unwrap();
            assert!(
                matches!(&moved[..], [one] if one.before().unwrap().contains("/old/r ")),
                "only what names the program: {moved:?}"
            );
            apply(moved);
            for file in &new.files {
                let text = fs_err::read_to_string(&file.path).unwrap();
                let names_it = file
                    .placeholder
                    .is_none_or(|placeholder| text.contains("/new/remembrancer") && !text.contains(placeholder));
                assert!(names_it, "{text}");
            }
            let removed = new.uninstall().unwrap();
            assert_eq!(removed.len(), new.files.len());
            apply(removed);
            assert!(new.uninstall().unwrap().is_empty() && !new.is_installed());
        }
    }

    #[test]
    fn what_needs_namespaces_is_there_where_there_are_some() {
        let home = tempfile::tempdir().unwrap();
        let [service, _] = services(home.path(), "/a/remembrancer");
        let drop_in = home.path().join(".config/systemd/user").join(NAMESPACES_NAME);
        for (has_namespaces, is_there) in [(None, false), (Some(true), true), (None, true), (Some(false), false)] {
            apply(service.install(has_namespaces).unwrap());
            assert_eq!(drop_in.exists(), is_there, "{has_namespaces:?}");
        }
    }

    #[test]
    fn the_network_is_open_where_there_is_a_shared_store() {
        let home = tempfile::tempdir().unwrap();
        let drop_in = home.path().join(".config/systemd/user").join(SHARE_NAME);
        for shares in [false, true, true, false] {
            let [service, _] = services(home.path(), "/a/remembrancer");
            let service = service.sharing(shares);
            apply(service.install(None).unwrap());
            assert_eq!((drop_in.exists(), service.faults()), (shares, Vec::new()));
        }
        assert!(SHARE_NAME > NAMESPACES_NAME, "the last of two settings counts");
    }

    #[test]
    fn a_file_that_is_missing_or_starts_nothing_is_a_fault() {
        let home = tempfile::tempdir().unwrap();
        let there = home.path().join("it's here & there");
        fs_err::write(&there, "").unwrap();
        for (gone, right) in services(home.path(), "/gone/50% & more/remembrancer")
            .iter()
            .zip(&services(home.path(), there.to_str().unwrap()))
        {
            assert_eq!(gone.faults(), [""; 0]);
            apply(gone.install(Some(true)).unwrap());
            assert!(
                matches!(&right.faults()[..], [fault] if fault.contains("starts /gone/50% & more/remembrancer,")),
                "{:?}",
                right.faults()
            );
            apply(right.install(Some(true)).unwrap());
            assert_eq!((right.faults(), gone.faults()), (Vec::new(), Vec::new()));
            fs_err::remove_file(&right.files[0].path).unwrap();
            assert_eq!(right.faults().len(), usize::from(right.files.len() > 1));
        }
    }

    #[test]
    fn the_trial_has_each_setting_as_it_stands() {
        let trial = trial("# a=b\n[Service]\nPrivateUsers=yes\nCapabilityBoundingSet=\n");
        let expected = "systemd-run --user --wait --collect --quiet --property=PrivateUsers=yes --property=CapabilityBoundingSet= /bin/sh -c :";
        assert_eq!(trial.join(" "), expected);
    }

    #[test]
    fn the_folders_of_units_go_where_nothing_else_is_in_them() {
        let home = tempfile::tempdir().unwrap();
        let [systemd, _] = services(home.path(), "/a/remembrancer");
        let folder = home.path().join(".config/systemd");
        apply(systemd.install(Some(true)).unwrap());
        apply(systemd.uninstall().unwrap());
        assert!(!folder.exists() && home.path().join(".config").exists());
        apply(systemd.install(Some(true)).unwrap());
        fs_err::write(folder.join("user/mine.service"), "").unwrap();
        apply(systemd.uninstall().unwrap());
        assert!(folder.join("user/mine.service").exists());
    }

    #[test]
    fn what_an_older_version_wrote_is_brought_up_to_date_and_what_was_edited_since_is_not() {
        let home = tempfile::tempdir().unwrap();
        for service in services(home.path(), "/a/remembrancer") {
            let file = &service.files[0];
            let older = "[Unit]\nDescription=as it was\n";
            fs_err::create_dir_all(file.path.parent().unwrap()).unwrap();
            fs_err::write(&file.path, format!("{older}{}", file.seal(older))).unwrap();
            apply(service.install(Some(true)).unwrap());
            assert_eq!(fs_err::read_to_string(&file.path).unwrap(), file.text_for(&service.program));
            fs_err::write(&file.path, format!("{older}# mine\n{}", file.seal(older))).unwrap();
            assert!(matches!(service.install(Some(true)), Err(Refusal::Edited { .. })));
            fs_err::remove_file(&file.path).unwrap();
        }
    }

    #[test]
    fn an_edited_file_is_left_alone_with_those_beside_it() {
        let home = tempfile::tempdir().unwrap();
        for service in services(home.path(), "/a/remembrancer") {
            for edited in &service.files {
                apply(service.install(Some(true)).unwrap());
                let text = fs_err::read_to_string(&edited.path).unwrap();
                fs_err::write(&edited.path, format!("{text}# mine\n")).unwrap();
                assert!(matches!(service.install(Some(true)), Err(Refusal::Edited { .. })));
                assert!(matches!(service.uninstall(), Err(Refusal::Edited { .. })));
                fs_err::write(&edited.path, text).unwrap();
            }
        }
    }
}
