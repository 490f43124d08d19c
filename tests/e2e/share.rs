//! Several machines that share by one server: the real daemons, each in a home of its own, and a real PostgreSQL with pgvector. Where
//! there is none, the engine prints why and these tests pass.

mod encrypted;
mod encrypting;
mod faults;
mod leaving;
mod left_team;
mod passwords;
mod refused;
mod remote;
mod sealed;
mod teams;
mod whose;
mod world;

use std::time::Duration;

use remembrancer_tests::{any_own_file_holds, eventually, sandbox, timed, topic};
use rustix::process::Signal;
use serde_json::json;

use self::world::Store;
use crate::PATIENCE;

/// From the line on one machine to its recollection on the other.
const IN_TIME: Duration = Duration::from_secs(5);

const PROMPT: &str = "How can I back up the Postgres database every night?";
const ANSWER: &str = "I added a cron job that dumps Postgres at 2 am, compresses the dump and keeps seven copies.";
/// Shares no word with the turn.
const REWORDED: &str = "save our relational data automatically each evening";

#[test]
fn what_is_written_on_one_machine_is_recalled_on_another_in_time() {
    let Some(store) = Store::of(sandbox!(alone)) else { return };
    let (laptop, desk) = store.pair();
    desk.transcript("older").topics(100..103);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    for daemon in [&writes, &recalls] {
        daemon.wait_for_model();
        daemon.embed_all();
    }
    laptop.wait_for("case102");
    writes.embed_all();

    // The newest of all, as what was just written is.
    laptop.transcript("live").on_day(28).turn(PROMPT, ANSWER);
    let (_, by_words) = timed(|| desk.wait_to_recall(PROMPT, "seven copies"));
    let (_, then) = timed(|| desk.wait_to_recall(REWORDED, "seven copies"));
    let by_meaning = by_words + then;
    eprintln!("from a line on one machine to its recollection on another: {by_words:?} by words, {by_meaning:?} by meaning");
    assert!(by_words <= IN_TIME, "{by_words:?} by words");
    assert!(by_meaning <= IN_TIME, "{by_meaning:?} by meaning");

    let shown = desk.run(&["show", &desk.sandbox.id_of("back up the Postgres")]);
    assert!(shown.contains(&store.login("ada")) && shown.contains("laptop"), "{shown}");
    let own = desk.run(&["show", &desk.sandbox.id_of("case101")]);
    assert!(!own.contains(&store.login("ada")), "{own}");
    let there = laptop.run(&["show", &laptop.sandbox.id_of("case101")]);
    assert!(there.contains(&store.login("bob")) && there.contains("desk"), "{there}");
    let found = desk.run(&["search", "back up the Postgres"]);
    assert!(found.contains(&format!("shared by {}", store.login("ada"))), "{found}");
    eprintln!("{}", desk.share_status());

    let id = desk.sandbox.id_of("back up the Postgres");
    let would = desk.run(&["forget", &id, "--dry-run"]);
    let did = desk.run(&["forget", &id]);
    for said in [would, did] {
        assert!(
            said.contains(&format!("stays with {}, who shared it", store.login("ada"))) && !said.contains("for good"),
            "{said}"
        );
    }
    assert!(laptop.remembers("seven copies"), "it stays with who shared it");
}

/// A token of GitHub's shape, put together here, so that none stands in this file.
fn token() -> String {
    format!("gh{}_{}", 'p', "xY1Lo2Ph3On4Eq5Ua6Rt7Zk8Wq9Vb0Nm1Cd2")
}

#[test]
fn only_what_is_allowed_leaves_the_machine_and_that_redacted() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let app = laptop.repository("app");
    laptop.repository("payroll");
    let secret = token();
    let home = laptop.sandbox.home();
    let temporary = home.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    laptop.sandbox.transcript("payroll", "payroll").turn(
        "Why is the marmaladezinc of the payroll wrong?",
        "The marmaladezinc was rounded twice.",
    );
    laptop.sandbox.transcript("loose", "loose").turn(
        "Why is the oboesapphire of this folder wrong?",
        "The oboesapphire had no repository.",
    );
    laptop
        .transcript("allowed")
        .prompt(&format!(
            "Why does the till print the zanzibarquill twice? Its key is {secret}. <private>tubaonyx</private>"
        ))
        .tool("Edit", &json!({"file_path": format!("{app}/src/till.rs")}), "done", false)
        .tool("Edit", &json!({"file_path": "/srv/cellopearl/other.toml"}), "done", false)
        .answer("The zanzibarquill was printed for the drawer, too; it has a flag now, and a test.");
    let (writes, _recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    writes.flush();
    assert_eq!(laptop.sandbox.episodes().len(), 3);
    desk.wait_for("zanzibarquill");
    // What is written now comes after all that was to be left at home.
    laptop.transcript("later").topics(100..101);
    desk.wait_for("case100");

    assert_eq!(store.live(), 2);
    for there in ["zanzibarquill", "src/till.rs", "github.com/acme/app"] {
        assert!(store.holding(there).is_some(), "the test looks in the right places: {there}");
    }
    let kept = [
        "marmaladezinc",
        "oboesapphire",
        "payroll",
        "tubaonyx",
        "cellopearl",
        &secret,
        &temporary,
    ];
    store.holds_none(&kept, "it was not to leave the machine");
    for word in [secret.as_str(), "tubaonyx", "marmaladezinc"] {
        assert_eq!(any_own_file_holds(&desk.sandbox, word.as_bytes()), None, "{word}");
    }
    let shown = desk.run(&["show", &desk.sandbox.id_of("zanzibarquill")]);
    assert!(shown.contains("src/till.rs") && !shown.contains(&temporary), "{shown}");
}

#[test]
fn nothing_leaves_where_sharing_is_not_set_up_and_nothing_is_shared_by_default() {
    let Some(store) = Store::of(sandbox!()) else { return };
    store.team("core", &["ada", "bob"]);
    let mut nothing = store.settings("ada", "core", "laptop");
    nothing.projects.clear();
    let (laptop, desk) = (store.machine(&nothing), store.machine_of("bob", "core", "desk"));
    // Sessions of their own: what is told by the same ids is the same turn.
    laptop.transcript("of-laptop").topics(100..103);
    desk.transcript("of-desk").topics(110..111);
    let (writes, shares) = (laptop.sandbox.start(), desk.sandbox.start());
    writes.flush();
    laptop.wait_for("case110");
    assert_eq!(
        store.live(),
        1,
        "an empty list allows nothing, and what others share comes all the same"
    );
    store.holds_none(&["case101"], "no project is on the list");
    drop(shares);

    desk.sandbox.configure("");
    let alone = desk.sandbox.start();
    desk.transcript("alone").topics(111..112);
    alone.flush();
    assert!(desk.remembers("case111"), "it is read, and stays at home");
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usename = $2";
    let (database, login) = (store.database(), store.login("bob"));
    eventually("the connection of before to end", PATIENCE, || {
        (store.number(connections, &[&database, &login]) == 0).then_some(())
    });
    store.holds_none(&["case111"], "sharing is not set up");
}

#[test]
fn a_machine_that_was_away_catches_up_by_pages() {
    const TURNS: u32 = 700;
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    for session in 0..7 {
        let first = 1_000 + session * TURNS / 7;
        laptop.transcript(&format!("s{session}")).topics(first..first + TURNS / 7);
    }
    let writes = laptop.sandbox.start();
    writes.flush();
    let ((), pushed) = timed(|| store.wait_for_live(i64::from(TURNS)));
    writes.stop(Signal::TERM);
    // Its only peer is off by now: the server has all.
    let recalls = desk.sandbox.start();
    let ((), pulled) = timed(|| {
        eventually("all to come", PATIENCE, || {
            (desk.sandbox.prompts().len() == TURNS as usize).then_some(())
        });
    });
    eprintln!("{TURNS} episodes: pushed {pushed:?} after they were read, pulled after {pulled:?}");
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
    recalls.wait_for_model();
    desk.wait_to_recall(&topic(1_300).0, "case1300");
}

#[test]
fn a_restored_backup_catches_up_and_brings_nothing_forgotten_back() {
    let Some(store) = Store::of(sandbox!()) else { return };
    let (laptop, desk) = store.pair();
    let mut transcript = laptop.transcript("live");
    transcript.topics(100..103);
    desk.transcript("own").topics(110..112);
    let (writes, recalls) = (laptop.sandbox.start(), desk.sandbox.start());
    laptop.wait_for("case111");
    desk.wait_for("case102");
    let backup = desk.sandbox.json(&["backup"]);
    let backup = backup["path"].as_str().unwrap();
    transcript.topics(103..105);
    desk.transcript("more").topics(112..113);
    laptop.run(&["forget", "--yes", "--matching", "case101"]);
    desk.wait_for("case104");
    desk.wait_until_gone("case101");
    laptop.wait_for("case112");
    recalls.stop(Signal::TERM);

    desk.run(&["restore", backup, "--yes"]);
    let _recalls = desk.sandbox.start();
    desk.wait_for("case104");
    desk.wait_until_gone("case101");
    transcript.topics(105..106);
    desk.wait_for("case105");
    assert_eq!(desk.sandbox.prompts(), laptop.sandbox.prompts());
    assert_eq!(store.live(), 8, "none is there twice");
    drop(writes);
}
