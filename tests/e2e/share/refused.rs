//! A server that takes a machine no more: of a newer schema, by a wrong password, since its member was removed. `share status` says so,
//! prompts go on, and once it takes it again all is caught up. And what is mistaken by who runs the server, or by the settings.

use std::process::Output;

use remembrancer_tests::{eventually, sandbox};
use rustix::process::Signal;
use serde_json::json;
use url::Url;

use super::faults::prompts_go_on;
use super::world::{APP, Machine, Store, private, said};
use crate::PATIENCE;

/// Two machines that have each other's first turn.
fn sharing(store: &Store) -> (Machine, Machine) {
    store.team("core", &["ada", "bob"]);
    let (laptop, desk) = (
        store.machine_of("ada", "core", "laptop"),
        store.machine_of("bob", "core", "desk"),
    );
    // Sessions of their own: what is told by the same ids is the same turn.
    laptop.transcript("of-laptop").topics(100..101);
    desk.transcript("of-desk").topics(110..111);
    (laptop, desk)
}

fn meta(store: &Store, key: &str) -> String {
    let found = "SELECT value FROM remembrancer.meta WHERE key = $1";
    store.client().query_one(found, &[&key]).unwrap().get(0)
}

fn set_meta(store: &Store, key: &str, value: &str) {
    let set = "UPDATE remembrancer.meta SET value = $2 WHERE key = $1";
    assert_eq!(store.client().execute(set, &[&key, &value]).unwrap(), 1);
}

#[test]
fn a_server_of_another_schema_is_named_and_prompts_go_on() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    for (number, key, wrong) in [(101, "oldest_client", "1000000"), (102, "version", "0")] {
        let right = meta(&store, key);
        set_meta(&store, key, wrong);
        store.disconnect_all();
        laptop.transcript(&format!("s{number}")).topics(number..number + 1);
        writes.flush();
        let told = laptop.wait_for_status(&["refused:"]);
        eprintln!("{key} {wrong}: {told}");
        prompts_go_on(&laptop);
        prompts_go_on(&desk);
        store.holds_none(&[&format!("case{number}")], "a server that is refused gets nothing");
        set_meta(&store, key, &right);
        laptop.nudge();
        desk.nudge();
        desk.wait_for(&format!("case{number}"));
    }
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
}

#[test]
fn a_wrong_password_is_named_and_the_right_one_goes_on() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let mut settings = store.settings("ada", "core", "laptop");
    let right = fs_err::read_to_string(&settings.password_file).unwrap();
    settings.password_file = laptop.sandbox.home().join("password");
    fs_err::write(&settings.password_file, "not-the-one\n").unwrap();
    private(&settings.password_file);
    laptop.configure(&settings);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    writes.flush();
    let told = laptop.wait_for_status(&["password"]);
    eprintln!("a wrong password: {told}");
    assert!(!told.contains("not-the-one"), "{told}");
    assert!(!writes.log().contains("not-the-one"));
    prompts_go_on(&laptop);
    store.holds_none(&["case100"], "nobody let it in");

    fs_err::write(&settings.password_file, &right).unwrap();
    laptop.nudge();
    desk.wait_for("case100");
    laptop.wait_for("case110");

    // It is changed under a machine that shares.
    let changed = format!("ALTER ROLE {} PASSWORD 'another-one'", store.login("ada"));
    store.client().batch_execute(&changed).unwrap();
    store.disconnect_all();
    laptop.transcript("second").topics(101..102);
    laptop.wait_for_status(&["password"]);
    prompts_go_on(&laptop);
    fs_err::write(&settings.password_file, "another-one\n").unwrap();
    laptop.nudge();
    desk.wait_for("case101");
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
}

#[test]
fn a_member_that_was_removed_is_told_so_and_one_that_is_taken_again_catches_up() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    let login = store.login("ada");
    let remove = "SELECT remembrancer.remove_member('core', $1, true)";
    store.client().query(remove, &[&login]).unwrap();
    laptop.transcript("second").topics(101..102);
    writes.flush();
    desk.transcript("second-of-desk").topics(111..112);
    store.wait_for_live(3);
    let told = laptop.wait_for_status(&["refused:"]);
    eprintln!("a member that was removed: {told}");
    prompts_go_on(&laptop);
    assert!(!laptop.remembers("case111"), "it is shared with members");
    store.holds_none(&["case101"], "who is no member shares nothing");
    assert!(desk.remembers("case100"), "what it shared was kept");

    store.command(&["share", "add-member", &login, "--team", "core"]);
    laptop.nudge();
    desk.wait_for("case101");
    laptop.wait_for("case111");
    eventually("both to have the same", PATIENCE, || {
        (desk.sandbox.prompts() == laptop.sandbox.prompts()).then_some(())
    });
    assert_eq!(store.live(), 4);
}

/// The URL of a member, for this database.
fn member_url(store: &Store, member: &str) -> Url {
    let mut url = Url::parse(&store.server().login_url(&store.login(member))).unwrap();
    url.set_path(store.database());
    url
}

/// The URL of who runs the server, for this database.
fn owner_url(store: &Store) -> Url {
    let mut url = Url::parse(&store.server().admin_url()).unwrap();
    url.set_path(store.database());
    url
}

/// Writes the URL into `owner.url` of the machine's home.
fn keep(machine: &Machine, url: &Url) {
    let file = machine.sandbox.home().join("owner.url");
    fs_err::write(&file, format!("{url}\n")).unwrap();
    private(&file);
}

/// Runs a command of who runs the server in the machine's home, the file of the URL named so by the environment.
fn as_owner(machine: &Machine, named: &str, arguments: &[&str]) -> Output {
    let mut command = machine.sandbox.command(arguments);
    command
        .env("REMEMBRANCER_SHARE_ADMIN_URL_FILE", named)
        .current_dir(machine.sandbox.home());
    command.output().unwrap()
}

#[test]
fn what_who_runs_the_server_mistakes_is_told_of_the_file_of_the_url() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada"]);
    let laptop = store.machine_of("ada", "core", "laptop");
    let login = store.login("ada");
    let url = owner_url(&store);
    keep(&laptop, &url);
    for named in ["~/owner.url", "owner.url"] {
        let done = as_owner(&laptop, named, &["share", "add-member", &login, "--team", "core"]);
        assert!(done.status.success(), "{named}: {}", said(&done));
    }
    let by_option = ["share", "add-member", &login, "--team", "core", "--url-file", "~/owner.url"];
    let done = as_owner(&laptop, "elsewhere.url", &by_option);
    assert!(done.status.success(), "the option goes before: {}", said(&done));
    let gone = as_owner(&laptop, "elsewhere.url", &["share", "init"]);
    assert_eq!(gone.status.code(), Some(2), "{}", said(&gone));
    assert!(
        said(&gone).contains("elsewhere.url"),
        "a path from the working folder is not passed over: {}",
        said(&gone)
    );

    let mut wrong = url.clone();
    wrong.set_password(Some("not-the-one")).unwrap();
    keep(&laptop, &wrong);
    let refused = as_owner(&laptop, "owner.url", &["share", "init"]);
    let told = said(&refused);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(
        told.contains("owner.url") && !told.contains("share.") && !told.contains("not-the-one"),
        "{told}"
    );
    keep(&laptop, &url);

    let nobody = as_owner(
        &laptop,
        "owner.url",
        &["share", "remove-member", "nobody_here", "--team", "core"],
    );
    assert_eq!(nobody.status.code(), Some(3), "{}", said(&nobody));
    assert!(said(&nobody).contains("nobody_here"), "{}", said(&nobody));
    let oneself = as_owner(
        &laptop,
        "owner.url",
        &["share", "remove-member", url.username(), "--team", "core"],
    );
    assert_eq!(oneself.status.code(), Some(2), "{}", said(&oneself));
    assert!(
        said(&oneself).contains("yourself")
            && said(&oneself).contains("unless you own the shared store")
            && said(&oneself).contains("--yes"),
        "{}",
        said(&oneself)
    );
    let unnamable = as_owner(&laptop, "owner.url", &["share", "add-team", "a team"]);
    assert_eq!(unnamable.status.code(), Some(2), "{}", said(&unnamable));
}

#[test]
fn an_admin_who_takes_herself_out_takes_back_what_she_shared_and_a_plain_member_is_told_how_to_leave() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    store.wait_for_live(2);
    let (ada, bob) = (store.login("ada"), store.login("bob"));
    store.command(&["share", "add-member", &ada, "--team", "core", "--admin"]);
    keep(&laptop, &member_url(&store, "ada"));
    keep(&desk, &member_url(&store, "bob"));
    let add = |login: &str, more: &[&str]| {
        let mut arguments = vec!["share", "add-member", login, "--team", "core"];
        arguments.extend(more);
        as_owner(&laptop, "owner.url", &arguments)
    };
    let remove = |machine: &Machine, login: &str| {
        as_owner(
            machine,
            "owner.url",
            &["share", "remove-member", login, "--team", "core", "--yes"],
        )
    };

    let nobody = add("nobody_here", &[]);
    assert_eq!(nobody.status.code(), Some(3), "{}", said(&nobody));
    assert!(said(&nobody).contains("CREATE ROLE nobody_here"), "{}", said(&nobody));
    let plain = add(&ada, &[]);
    assert_eq!(plain.status.code(), Some(2), "{}", said(&plain));
    assert!(
        said(&plain).contains("a plain member") && said(&plain).contains("--yes"),
        "{}",
        said(&plain)
    );
    let kept = add(&ada, &["--admin"]);
    assert!(kept.status.success(), "she looks after it still: {}", said(&kept));

    let not_hers = remove(&desk, &bob);
    assert_eq!(not_hers.status.code(), Some(1), "{}", said(&not_hers));
    assert!(said(&not_hers).contains("`remembrancer share leave`"), "{}", said(&not_hers));
    assert_eq!(store.live(), 2, "nothing was taken back");
    let out = remove(&laptop, &ada);
    assert!(
        out.status.success() && said(&out).contains("Taken back: 1 episode"),
        "{}",
        said(&out)
    );
    assert_eq!(store.live(), 1, "bob's stays");
    let again = remove(&laptop, &ada);
    assert_eq!(again.status.code(), Some(3), "{}", said(&again));
    assert!(said(&again).contains("shares nothing there"), "{}", said(&again));
}

#[test]
fn a_team_that_is_deleted_is_gone_from_the_server_and_its_members_are_told() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    keep(&laptop, &owner_url(&store));
    let asked = as_owner(&laptop, "owner.url", &["share", "remove-team", "core"]);
    assert_eq!(asked.status.code(), Some(2), "there is nobody to ask: {}", said(&asked));
    assert!(said(&asked).contains("2 episodes"), "{}", said(&asked));
    assert_eq!(store.live(), 2, "nothing was deleted");
    let gone = as_owner(&laptop, "owner.url", &["share", "remove-team", "wrong", "--yes"]);
    assert_eq!(gone.status.code(), Some(3), "{}", said(&gone));

    let done = store.command(&["share", "remove-team", "core", "--yes"]);
    assert!(done.contains("2 episodes"), "{done}");
    assert_eq!(store.live(), 0);
    store.holds_none(&["case100", "case110"], "the team is gone");
    laptop.wait_for_status(&["refused:"]);
    prompts_go_on(&laptop);
    assert!(laptop.remembers("case110"), "what was taken stays");
}

#[test]
fn a_server_that_was_put_back_is_said_to_be_another_one() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = sharing(&store);
    let (_writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    desk.wait_for("case100");
    laptop.wait_for("case110");
    let before = meta(&store, "epoch");
    // What the machines had sent is not in the backup: they would send it no more, if they were not told.
    assert_eq!(store.live(), 2);
    store.client().execute("DELETE FROM remembrancer.episodes", &[]).unwrap();
    assert_eq!(store.live(), 0);
    store.command(&["share", "restored"]);
    assert_ne!(meta(&store, "epoch"), before);
    store.disconnect_all();
    laptop.nudge();
    desk.nudge();
    store.wait_for_live(2);
    laptop.transcript("second").topics(101..102);
    desk.wait_for("case101");
    eventually("both to have the same", PATIENCE, || {
        (desk.sandbox.prompts() == laptop.sandbox.prompts()).then_some(())
    });
}

#[test]
fn patterns_that_name_nothing_are_warned_of_before_anything_is_set_up_and_after() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada"]);
    let laptop = store.home();
    laptop.transcript("a").topics(100..103);
    let alone = laptop.sandbox.start();
    alone.flush();
    alone.stop(Signal::TERM);
    let told = laptop.sandbox.json(&["share", "projects"]);
    assert_eq!(told["set_up"], false);
    let keys = told["projects"][0]["keys"].as_array().unwrap();
    assert!(keys.contains(&json!(APP)), "{told}");
    assert_eq!(
        (&told["projects"][0]["episodes"], &told["projects"][0]["shared"]),
        (&json!(3), &json!(false))
    );
    for command in ["pause", "resume", "leave"] {
        let refused = laptop.sandbox.run(&["share", command]);
        assert_eq!(refused.status.code(), Some(2), "{command}: {}", said(&refused));
    }

    let mut settings = store.settings("ada", "core", "laptop");
    settings.projects.push("github.com/acme/wrong".to_owned());
    laptop.configure(&settings);
    let refused = laptop.sandbox.run(&["share", "pause"]);
    assert_eq!(refused.status.code(), Some(2), "no daemon has read them: {}", said(&refused));
    assert!(said(&refused).contains("start the daemon"), "{}", said(&refused));
    let _shares = laptop.sandbox.start();
    store.wait_for_live(3);
    let status = laptop.sandbox.json(&["share", "status"]);
    assert_eq!(status["unmatched_patterns"], json!(["github.com/acme/wrong"]));
    assert_eq!(status["machine"], "laptop");
    for arguments in [&["share", "status"][..], &["share", "projects"], &["doctor"]] {
        let told = said(&laptop.sandbox.run(arguments));
        assert!(
            told.contains("github.com/acme/wrong") && told.contains("share projects"),
            "{arguments:?}: {told}"
        );
    }
    let shown = laptop.wait_for_status(&["contact:"]);
    let id = status["sharing"]["machine"].as_str().unwrap();
    assert!(shown.contains("this machine laptop") && !shown.contains(id), "{shown}");
    assert_eq!(laptop.sandbox.json(&["share", "projects"])["projects"][0]["sent"], 3);
}
