//! What packages are made of: the tree of the tarball, installed into a home and taken away again; the Debian package; the
//! manual and the completions in it.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use remembrancer_tests::{sandbox, skip};
use rstest::rstest;
use tempfile::TempDir;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What every package has, below its prefix.
const SHIPPED: [&str; 16] = [
    "bin/remembrancer",
    "bin/remembrancer-hook",
    "share/bash-completion/completions/remembrancer",
    "share/doc/remembrancer/CHANGELOG.md",
    "share/doc/remembrancer/LICENSE-MODEL",
    "share/doc/remembrancer/THIRD-PARTY-LICENSES.txt",
    "share/doc/remembrancer/docs/security.md",
    "share/doc/remembrancer/examples/default.toml",
    "share/doc/remembrancer/hooks/PROTOCOL.md",
    "share/doc/remembrancer/remembrancer.cdx.json",
    "share/fish/vendor_completions.d/remembrancer.fish",
    "share/man/man1/remembrancer-hook.1",
    "share/man/man1/remembrancer-status.1",
    "share/man/man1/remembrancer.1",
    "share/man/man5/remembrancer-config.5",
    "share/zsh/site-functions/_remembrancer",
];

/// What the tarball holds, laid out from the binaries under test.
fn staged() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (programs, licences) = (folder.path().join("programs"), folder.path().join("licences"));
    fs_err::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_remembrancer-under-test"), programs.join("remembrancer")).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_remembrancer-hook-under-test"),
        programs.join("remembrancer-hook"),
    )
    .unwrap();
    // Collected by a tool that these tests do not ask for; see packaging/release.sh.
    fs_err::write(&licences, "The licences.\n").unwrap();
    let sbom = folder.path().join("sbom");
    fs_err::write(&sbom, "{}\n").unwrap();
    succeeded(
        Command::new(format!("{REPOSITORY}/packaging/stage.sh"))
            .args([&programs, &licences, &sbom])
            .arg(folder.path().join("tree")),
    );
    folder
}

/// Runs `command`, which must succeed. Returns what it printed.
fn succeeded(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Whether `program` can be run here.
fn is_here(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// Every file and folder below `folder`.
fn all_below(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter();
    entries
        .map(|entry| entry.unwrap().path().strip_prefix(folder).unwrap().to_owned())
        .collect()
}

/// Where the links of a Markdown text lead that name no site, without the place within a page.
fn relative_links(text: &str) -> Vec<&str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.filter(|link| !link.contains("://") && !link.contains('`'))
        .map(|link| link.split('#').next().unwrap_or_default())
        .filter(|link| !link.is_empty())
        .collect()
}

#[test]
fn no_link_of_the_documents_is_dead_in_the_package() {
    let staged = staged();
    let documents = staged.path().join("tree/share/doc/remembrancer");
    let pages = all_below(&documents)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let (mut links, mut dead) = (0, Vec::new());
    for page in pages {
        let text = fs_err::read_to_string(documents.join(&page)).unwrap();
        let folder = documents.join(&page);
        for link in relative_links(&text) {
            links += 1;
            if !folder.with_file_name(link).exists() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(links > 20, "the links were not found");
    assert_eq!(dead, [""; 0]);
}

#[test]
fn what_is_installed_runs_and_goes_without_a_trace() {
    let sandbox = sandbox!();
    let (home, staged) = (sandbox.home(), staged());
    let tree = staged.path().join("tree");
    // Of others: a program, and an agent with settings of its own.
    fs_err::create_dir_all(home.join(".local/bin")).unwrap();
    fs_err::write(home.join(".local/bin/other"), "").unwrap();
    let settings = home.join(".claude/settings.json");
    fs_err::write(&settings, "{ \"model\": \"opus\" }\n").unwrap();
    let temporary = home.join("tmp");
    fs_err::create_dir(&temporary).unwrap();
    let before = all_below(&home);

    let prefix = home.join(".local");
    let install = |script: &Path, arguments: &[&str]| {
        let mut command = sandbox.command_of(script);
        succeeded(command.args(arguments).arg("--prefix").arg(&prefix))
    };
    let said = install(&tree.join("install.sh"), &[]);
    assert!(
        said.contains(&format!("Installed remembrancer {}", remembrancer_hooks::VERSION)),
        "{said}"
    );
    let installed = all_below(&prefix);
    for path in SHIPPED {
        assert!(installed.contains(Path::new(path)), "no {path}");
    }
    install(&tree.join("install.sh"), &[]);
    assert_eq!(all_below(&prefix), installed, "installing again changes nothing");

    let program = prefix.join("bin/remembrancer");
    let run = |arguments: &[&str]| succeeded(sandbox.command_of(&program).args(arguments).env("TMPDIR", &temporary));
    let shown = run(&["try", "--samples"]);
    assert!(shown.contains("<remembrancer-recollections "), "daemon and hook: {shown}");
    run(&["install", "--yes"]);
    assert!(fs_err::read_to_string(&settings).unwrap().contains("bin/remembrancer-hook"));
    // What is remembered is the user's.
    run(&["pause"]);
    assert!(sandbox.places().database_file().is_file());

    // The tarball's folder is not needed any more.
    drop(staged);
    let said = install(&prefix.join("lib/remembrancer/install.sh"), &["--uninstall"]);
    assert!(said.contains("Removed all that was installed"), "{said}");
    assert_eq!(fs_err::read_to_string(&settings).unwrap(), "{ \"model\": \"opus\" }\n");
    let users = sandbox.places().data_dir();
    let left: Vec<PathBuf> = all_below(&home)
        .into_iter()
        .filter(|path| !before.contains(path))
        // The memory's folder, what is in it, and what it is in.
        .filter(|path| !users.starts_with(home.join(path)) && !home.join(path).starts_with(&users))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    assert!(sandbox.places().database_file().is_file(), "the memory stays");
    let said = install(Path::new(&format!("{REPOSITORY}/packaging/install.sh")), &["--uninstall"]);
    assert!(said.contains("Nothing is installed"), "{said}");
}

/// A tarball's folder with a program that is a script: what install.sh does about it, at no cost.
struct Small {
    folder: TempDir,
}

impl Small {
    /// `uninstall` is what the program does when it is asked to leave the settings.
    fn new(uninstall: &str) -> Self {
        let small = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["tree/bin", "tree/share/doc/remembrancer"] {
            fs_err::create_dir_all(small.folder.path().join(folder)).unwrap();
        }
        fs_err::copy(format!("{REPOSITORY}/packaging/install.sh"), small.tree("install.sh")).unwrap();
        let script = format!("#!/bin/sh\ncase $1 in --version) echo remembrancer 1.0 ;; uninstall) {uninstall} ;; esac\n");
        fs_err::write(small.tree("bin/remembrancer"), script).unwrap();
        fs_err::set_permissions(small.tree("bin/remembrancer"), PermissionsExt::from_mode(0o755)).unwrap();
        fs_err::write(small.tree("share/doc/remembrancer/README.md"), "").unwrap();
        small
    }

    fn tree(&self, path: &str) -> PathBuf {
        self.folder.path().join("tree").join(path)
    }

    fn prefix(&self, path: &str) -> PathBuf {
        self.folder.path().join("a prefix").join(path)
    }

    fn install(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.arg(self.tree("install.sh")).arg("--prefix").arg(self.prefix(""));
        command.args(arguments).stdin(Stdio::null()).output().unwrap()
    }
}

#[test]
fn a_newer_version_removes_what_only_the_older_had() {
    let small = Small::new("exit 0");
    fs_err::create_dir(small.tree("share/old")).unwrap();
    fs_err::write(small.tree("share/old/page"), "").unwrap();
    assert!(small.install(&[]).status.success());
    assert!(small.prefix("share/old/page").is_file());
    fs_err::remove_dir_all(small.tree("share/old")).unwrap();
    assert!(small.install(&[]).status.success());
    assert!(!small.prefix("share/old").exists() && small.prefix("bin/remembrancer").is_file());
    assert!(small.install(&["--uninstall"]).status.success());
    assert!(!small.prefix("").exists(), "{:?}", all_below(&small.prefix("")));
}

#[test]
fn what_is_in_the_way_is_left() {
    let small = Small::new("exit 0");
    fs_err::create_dir_all(small.prefix("bin/remembrancer/mine")).unwrap();
    let output = small.install(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("bin/remembrancer is a folder"),
        "{said}"
    );
    // What was done before it is listed, and goes again.
    assert!(small.install(&["--uninstall", "--keep-settings"]).status.success());
    assert_eq!(
        all_below(&small.prefix("")),
        ["bin", "bin/remembrancer", "bin/remembrancer/mine"].map(PathBuf::from).into()
    );
}

#[test]
fn settings_that_name_the_hook_keep_it_installed() {
    let small = Small::new("exit 1");
    assert!(small.install(&[]).status.success());
    let installed = all_below(&small.prefix(""));
    let output = small.install(&["--uninstall"]);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("--keep-settings"));
    assert_eq!(all_below(&small.prefix("")), installed);
    assert!(small.install(&["--uninstall", "--keep-settings"]).status.success());
    assert!(!small.prefix("").exists());
}

#[test]
fn settings_that_name_another_installation_are_left() {
    let small = Small::new("echo \"$@\" >> \"${0%/bin/*}/asked\"; echo '- /elsewhere/bin/remembrancer-hook'");
    assert!(small.install(&[]).status.success());
    assert!(small.install(&["--uninstall"]).status.success());
    let asked = fs_err::read_to_string(small.prefix("asked")).unwrap();
    assert_eq!(asked, "uninstall --service --dry-run\n");
}

#[rstest]
#[case::unknown_option(&["--force"], "there is no option --force")]
#[case::no_folder(&["--prefix"], "--prefix needs a folder")]
fn what_is_asked_wrongly_changes_nothing(#[case] arguments: &[&str], #[case] expected: &str) {
    let small = Small::new("exit 0");
    let output = small.install(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains(expected), "{said}");
    assert!(!small.prefix("").exists());
}

#[test]
fn without_a_prefix_it_is_the_user_s_own_and_root_has_none() {
    let small = Small::new("exit 0");
    let mut command = Command::new("sh");
    let output = command
        .arg(small.tree("install.sh"))
        .env("HOME", small.folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.success(), !rustix::process::getuid().is_root(), "{output:?}");
    assert_eq!(
        output.status.success(),
        small.folder.path().join(".local/bin/remembrancer").exists()
    );
}

#[test]
fn the_manual_is_whole_and_well_formed() {
    let sandbox = sandbox!();
    let folder = sandbox.home().join("manual");
    succeeded(sandbox.command(&["man-pages"]).arg(&folder));
    fs_err::copy(
        format!("{REPOSITORY}/packaging/man/remembrancer-hook.1"),
        folder.join("remembrancer-hook.1"),
    )
    .unwrap();
    let pages = all_below(&folder);
    let help = succeeded(&mut sandbox.command(&["--help"]));
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    for command in commands
        .lines()
        // What is indented by more goes on with the line before.
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
    {
        assert!(
            pages.contains(Path::new(&format!("remembrancer-{command}.1"))),
            "no page of {command}"
        );
    }
    if !is_here("groff", &["--version"]) {
        return skip("there is no groff");
    }
    for page in pages {
        let mut groff = Command::new("groff");
        let output = groff
            .args(["-ww", "-man", "-Kutf8", "-Tutf8", "-P-cbu"])
            .arg(folder.join(&page))
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && complaints.is_empty(),
            "{}: {complaints}",
            page.display()
        );
        assert!(String::from_utf8_lossy(&output.stdout).contains("NAME"), "{}", page.display());
    }
}

#[test]
fn the_page_of_the_hook_names_all_that_its_help_names() {
    let sandbox = sandbox!();
    let help = succeeded(sandbox.hook_command().arg("--help"));
    let page = fs_err::read_to_string(format!("{REPOSITORY}/packaging/man/remembrancer-hook.1")).unwrap();
    let page = page.replace('\\', "");
    let names = help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    let names: Vec<&str> = names
        .filter(|word| word.starts_with("--") || word.starts_with("REMEMBRANCER_"))
        .collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn bash_completes_commands_and_options() {
    if !is_here("bash", &["--version"]) {
        return skip("there is no bash");
    }
    let sandbox = sandbox!();
    let completions = sandbox.home().join("completions");
    fs_err::write(&completions, succeeded(&mut sandbox.command(&["completions", "bash"]))).unwrap();
    let completed = |words: &[&str]| {
        let script = r#". "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _remembrancer remembrancer "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; echo "${COMPREPLY[@]}""#;
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", script, "bash"]).arg(&completions).args(words);
        succeeded(&mut bash).trim().to_owned()
    };
    assert_eq!(completed(&["remembrancer", "doc"]), "doctor");
    assert_eq!(completed(&["remembrancer", "recall", "--em"]), "--embed");
}

#[rstest]
#[case::bash("bash")]
#[case::elvish("elvish")]
#[case::fish("fish")]
#[case::powershell("powershell")]
#[case::zsh("zsh")]
fn a_shell_is_told_of_every_command_wherever_it_is(#[case] shell: &str) {
    let sandbox = sandbox!();
    sandbox.configure("this is no TOML");
    let script = succeeded(&mut sandbox.command(&["completions", shell]));
    for command in ["try", "status", "forget", "completions"] {
        assert!(script.contains(command), "{command}");
    }
}

#[test]
fn the_debian_package_is_installed_and_removed() {
    if !is_here("cargo", &["deb", "--version"]) {
        return skip("there is no cargo-deb");
    }
    if !is_here("dpkg-deb", &["--version"]) || !is_here("fakeroot", &["true"]) {
        return skip("there is no dpkg-deb, or no fakeroot");
    }
    let staged = staged();
    let mut make = Command::new(format!("{REPOSITORY}/packaging/deb.sh"));
    succeeded(
        make.args([&staged.path().join("tree"), staged.path()])
            .args(["--fast", "--quiet"]),
    );
    let package = all_below(staged.path())
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .map(|path| staged.path().join(path))
        .unwrap();

    let about = succeeded(Command::new("dpkg-deb").arg("-I").arg(&package));
    for part in ["Package: remembrancer\n", "Section: utils\n", "libc6 (>= "] {
        assert!(about.contains(part), "no {part:?} in {about}");
    }
    for script in ["preinst", "postinst", "prerm", "postrm"] {
        assert!(!about.contains(script), "nothing is started for anybody: {about}");
    }

    let root = staged.path().join("root");
    for folder in ["updates", "info"] {
        fs_err::create_dir_all(root.join("var/lib/dpkg").join(folder)).unwrap();
    }
    for file in ["status", "available"] {
        fs_err::write(root.join("var/lib/dpkg").join(file), "").unwrap();
    }
    let dpkg = |act: &str, what: &Path| {
        // In this root there is no libc6, nor any other package.
        let mut command = Command::new("fakeroot");
        command
            .args(["dpkg", "--force-depends", "--log=/dev/null"])
            .arg(format!("--root={}", root.display()));
        succeeded(command.arg(act).arg(what));
    };
    dpkg("--install", &package);
    let installed: BTreeSet<PathBuf> = all_below(&root).into_iter().filter(|path| !path.starts_with("var")).collect();
    for path in SHIPPED {
        let path = Path::new("usr").join(path);
        let compressed = PathBuf::from(format!("{}.gz", path.display()));
        assert!(
            path.ends_with("LICENSE-MODEL")
                || path.ends_with("CHANGELOG.md")
                || installed.contains(&path)
                || installed.contains(&compressed),
            "no {}",
            path.display()
        );
    }
    assert!(installed.contains(Path::new("usr/share/doc/remembrancer/copyright")));
    for unit in fs_err::read_dir(format!("{REPOSITORY}/packaging/systemd")).unwrap() {
        let unit = unit.unwrap();
        let packaged = Path::new("usr/lib/systemd/user").join(unit.file_name());
        assert_eq!(installed.contains(&packaged), unit.path().is_file(), "{}", packaged.display());
    }
    let unit = fs_err::read_to_string(root.join("usr/lib/systemd/user/remembrancer.service")).unwrap();
    assert!(
        unit.contains("\nExecStart=/usr/bin/remembrancer run\n") && !unit.contains("%h/.local/bin"),
        "{unit}"
    );
    let version = succeeded(Command::new(root.join("usr/bin/remembrancer")).arg("--version"));
    assert_eq!(version.trim(), format!("remembrancer {}", remembrancer_hooks::VERSION));

    dpkg("--purge", Path::new("remembrancer"));
    let left: Vec<PathBuf> = all_below(&root).into_iter().filter(|path| !path.starts_with("var")).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}
