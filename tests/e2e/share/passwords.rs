//! Where the server and the password are found: in a service of libpq's, in a file, by a program. The engine takes nobody without a
//! password (`scram-sha-256`). One that is missing, wrong or open to others is named with what to do and nothing is sent; none is ever
//! seen in the log, in what a command says, or among the arguments of a process.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use remembrancer_tests::{DaemonProcess, sandbox};
use rustix::process::Signal;
use url::Url;

use super::world::{Machine, Settings, Store, private, said};

/// A password that nobody has.
const WRONG: &str = "not-the-one-of-ada";

/// The password is in nothing that others may see of this machine and its daemon.
fn is_seen_nowhere(password: &str, machine: &Machine, daemon: &DaemonProcess<'_>) {
    let password = password.trim_end();
    assert!(!password.is_empty());
    assert!(!daemon.log().contains(password), "in the log");
    let commands: [&[&str]; 5] = [
        &["share", "status"],
        &["share", "status", "--json"],
        &["status", "--json"],
        &["doctor"],
        &["config"],
    ];
    for command in commands {
        let told = said(&machine.sandbox.run(command));
        assert!(!told.is_empty() && !told.contains(password), "{command:?}: {told}");
    }
    assert_eq!(process_with(password), None, "among the arguments of a process");
}

/// The arguments of a process, whosever it is, that hold `words`; none where the system does not tell.
fn process_with(words: &str) -> Option<String> {
    let processes = fs_err::read_dir("/proc").ok()?;
    processes.flatten().find_map(|process| {
        let arguments = fs_err::read(process.path().join("cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        arguments.contains(words).then_some(arguments)
    })
}

/// A file that this user alone can read.
fn write(file: &Path, text: &str) {
    fs_err::write(file, text).unwrap();
    private(file);
}

fn open_to_all(file: &Path) {
    fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
}

/// With every line of the log: what is not logged there is logged nowhere.
fn telling_all(settings: Settings) -> Settings {
    Settings {
        more: "[log]\nlevel = \"debug\"\n".to_owned(),
        ..settings
    }
}

/// The service `memory` of a file of services: what the settings' URL says, and further lines.
fn services(settings: &Settings, more: &str) -> String {
    let url = Url::parse(&settings.url).unwrap();
    let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
    let (database, user) = (url.path().trim_start_matches('/'), url.username());
    let memory = format!("[memory]\nhost={host}\nport={port}\ndbname={database}\nuser={user}\n{more}");
    format!("# Of other programs, too.\n[elsewhere]\nhost=db.example.org\nuser=nobody\n\n{memory}")
}

#[test]
fn a_service_names_the_server_and_may_have_the_password() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let of_laptop = store.settings("ada", "core", "laptop");
    let password = fs_err::read_to_string(&of_laptop.password_file).unwrap();
    // The usual file, which has all.
    let usual = laptop.sandbox.home().join(".pg_service.conf");
    let right = services(&of_laptop, &format!("password={}\nsslmode=disable\n", password.trim_end()));
    write(&usual, &right);
    let by_service = of_laptop.by("service = \"memory\"\n").verified_by(None);
    laptop.configure(&telling_all(by_service));
    // One that a variable names, and a password of the settings' own.
    let of_desk = store.settings("bob", "core", "desk");
    let named = desk.sandbox.home().join("services");
    fs_err::write(&named, services(&of_desk, "application_name=psql\n")).unwrap();
    let file = of_desk.password_file.display().to_string();
    desk.configure(&of_desk.by(&format!("service = \"memory\"\npassword_file = {file:?}\n")));
    laptop.transcript("of-laptop").topics(100..104);
    desk.transcript("of-desk").topics(110..111);
    let writes = laptop.sandbox.start();
    let _recalls = desk.sandbox.start_with(&[("PGSERVICEFILE", named.to_str().unwrap())]);
    desk.wait_for("case103");
    laptop.wait_for("case110");
    is_seen_nowhere(&password, &laptop, &writes);

    // It is read at each call.
    open_to_all(&usual);
    store.disconnect_all();
    let told = laptop.wait_for_status(&["chmod 600"]);
    eprintln!("a file of services that others can read: {told}");
    laptop.answers(100..104, "others can read the password");
    write(&usual, &right.replace("[memory]", "[memories]"));
    laptop.nudge();
    let told = laptop.wait_for_status(&["there is none: add [memory]"]);
    assert!(told.contains(".pg_service.conf"), "{told}");
    write(&usual, &right.replace(password.trim_end(), WRONG));
    laptop.nudge();
    let told = laptop.wait_for_status(&["does not take the password"]);
    eprintln!("a service with a wrong password: {told}");
    is_seen_nowhere(WRONG, &laptop, &writes);
    write(&usual, &right);
    laptop.nudge();
    laptop.transcript("later").topics(104..105);
    desk.wait_for("case104");
    is_seen_nowhere(&password, &laptop, &writes);
}

/// Tells what is in the file that it is given, and notes what others can see of it meanwhile.
const PROGRAM: &str = "{ echo \"$0 $*\"; env; } >>\"$1.seen\"\ncat \"$1\"\n";

#[test]
fn a_program_gives_the_password() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let settings = store.settings("ada", "core", "laptop");
    let password = fs_err::read_to_string(&settings.password_file).unwrap();
    let [program, secret, seen] = ["tell", "secret", "secret.seen"].map(|name| laptop.sandbox.home().join(name));
    fs_err::write(&program, PROGRAM).unwrap();
    write(&secret, &password);
    let command: [&Path; 3] = [Path::new("/bin/sh"), &program, &secret];
    let by_program = format!("url = {:?}\npassword_command = {command:?}\n", settings.url);
    laptop.configure(&telling_all(settings.by(&by_program)));
    laptop.transcript("of-laptop").topics(100..104);
    desk.transcript("of-desk").topics(110..111);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case103");
    laptop.wait_for("case110");

    // Called again, by a daemon that knows it already.
    let calls = || fs_err::read_to_string(&seen).unwrap();
    let first = calls().len();
    store.disconnect_all();
    laptop.transcript("second").topics(104..105);
    desk.wait_for("case104");
    assert!(calls().len() > first, "it is asked at each call of the server");
    assert!(!calls().contains(password.trim_end()), "in its arguments or its environment");
    is_seen_nowhere(&password, &laptop, &writes);

    write(&secret, WRONG);
    store.disconnect_all();
    let told = laptop.wait_for_status(&["does not take the password"]);
    eprintln!("a program that tells a wrong password: {told}");
    assert!(told.contains("share.password_command"), "{told}");
    laptop.transcript("third").topics(105..106);
    writes.flush();
    laptop.answers(100..104, "the password is wrong");
    store.holds_none(&["case105"], "nobody let it in");
    is_seen_nowhere(WRONG, &laptop, &writes);
    fs_err::remove_file(&secret).unwrap();
    laptop.nudge();
    let told = laptop.wait_for_status(&["`share.password_command` failed"]);
    assert!(told.contains("/bin/sh"), "{told}");

    write(&secret, &password);
    laptop.nudge();
    desk.wait_for("case105");
    is_seen_nowhere(&password, &laptop, &writes);
}

#[test]
fn a_password_that_is_missing_is_named_with_the_setting_for_it() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada"]);
    let laptop = store.home();
    let mut settings = telling_all(store.settings("ada", "core", "laptop"));
    let password = fs_err::read_to_string(&settings.password_file).unwrap();
    laptop.configure(&settings.clone().by(&format!("url = {:?}\n", settings.url)));
    laptop.transcript("live").topics(100..104);
    let writes = laptop.sandbox.start();
    writes.flush();
    let told = laptop.wait_for_status(&["password"]);
    eprintln!("no password: {told}");
    assert!(told.contains("share.password_file"), "what to do: {told}");
    laptop.answers(100..104, "no password is named");
    store.holds_none(&["case100"], "nobody let it in");
    writes.stop(Signal::TERM);

    settings.password_file = laptop.sandbox.home().join("password");
    laptop.configure(&settings);
    let writes = laptop.sandbox.start();
    let told = laptop.wait_for_status(&["refused:"]);
    let file = settings.password_file.display().to_string().to_lowercase();
    assert!(told.contains(&file), "{told}");
    fs_err::write(&settings.password_file, &password).unwrap();
    open_to_all(&settings.password_file);
    laptop.nudge();
    let told = laptop.wait_for_status(&["chmod 600"]);
    assert!(told.contains(&file), "{told}");
    laptop.answers(100..104, "others can read the password");
    store.holds_none(&["case100"], "nobody let it in");
    private(&settings.password_file);
    laptop.nudge();
    store.wait_for_live(4);
    is_seen_nowhere(&password, &laptop, &writes);
}
