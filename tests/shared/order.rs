//! The order of changes while several push at once: whoever asks for what comes after a number misses nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use postgres::IsolationLevel;

use crate::store::{Episode, Member, Store, bring, changes, push, refused, short};

/// Transactions of each of those who push.
const ROUNDS: usize = 40;
/// Of so many one is taken back.
const ABANDONED: usize = 7;

fn push_and_sometimes_give_up(mut member: Member, name: &str) {
    for round in 0..ROUNDS {
        let rows: Vec<Episode> = (0..3)
            .map(|row| Episode::of(member.team, &format!("{name}{round}-{row}")))
            .collect();
        let mut transaction = member.client.transaction().unwrap();
        bring(&mut transaction, &rows).unwrap();
        push(&mut transaction, member.team, &member.machine).unwrap();
        // Numbers are held for a while, so that others have to wait for them.
        transaction.batch_execute("SELECT pg_sleep(0.002)").unwrap();
        if round % ABANDONED == ABANDONED - 1 {
            transaction.rollback().unwrap();
        } else {
            transaction.commit().unwrap();
        }
    }
}

#[test]
fn nothing_is_missed_between_two_pages_while_three_push() {
    let Some(mut store) = Store::new() else { return };
    store.team("one");
    let members = [
        (store.member("one", "ann", "laptop"), "a"),
        (store.member("one", "bob", "desk"), "b"),
        (store.member("one", "ann", "tablet"), "c"),
    ];
    let mut reader = store.member("one", "carl", "reader");
    let running = AtomicUsize::new(members.len());
    let mut seen = Vec::new();
    thread::scope(|scope| {
        for (member, name) in members {
            let running = &running;
            scope.spawn(move || {
                push_and_sometimes_give_up(member, name);
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let mut cursor = 0;
        loop {
            let is_last = running.load(Ordering::SeqCst) == 0;
            let page = reader.pull(cursor, 1000).unwrap();
            assert!(page.iter().all(|change| change.seq > cursor || change.kind == 3));
            seen.extend(short(&page).into_iter().map(|(_, name)| name));
            cursor = page.last().unwrap().seq;
            if is_last {
                break;
            }
        }
    });
    let all: BTreeSet<&String> = seen.iter().collect();
    let kept = ROUNDS - ROUNDS / ABANDONED;
    assert_eq!(
        (seen.len(), all.len()),
        (3 * 3 * kept, 3 * 3 * kept),
        "each once, and none is missing"
    );
    let numbers = "SELECT count(*) - max(seq) FROM remembrancer.episodes";
    assert_eq!(store.count(numbers), 0, "what was given up left no gap");
}

#[test]
fn who_holds_the_team_holds_up_pushes_for_a_bounded_time_and_no_page() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let mut transaction = ann.client.transaction().unwrap();
    bring(&mut transaction, &Episode::all(team, &["a"])).unwrap();
    push(&mut transaction, team, &ann.machine).unwrap();
    assert_eq!(short(&bob.pull(0, 100).unwrap()), changes(&[]));
    // Ten seconds; a lock that is not got in that time has the code of PostgreSQL.
    refused(bob.push(&Episode::all(team, &["b"])), "55P03");
    transaction.commit().unwrap();
    bob.push(&Episode::all(team, &["b"])).unwrap();
}

#[test]
fn a_push_that_can_t_see_the_last_change_is_refused_instead_of_numbered_twice() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    let mut transaction = ann
        .client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .start()
        .unwrap();
    transaction.query("SELECT count(*) FROM remembrancer.teams", &[]).unwrap();
    bob.push(&Episode::all(team, &["b"])).unwrap();
    bring(&mut transaction, &Episode::all(team, &["a"])).unwrap();
    refused(push(&mut transaction, team, &ann.machine), "40001");
}

#[test]
fn who_listens_is_told_of_changes_and_of_nothing_else() {
    let Some(mut store) = Store::new() else { return };
    let team = store.team("one");
    let (mut ann, mut bob) = (store.member("one", "ann", "laptop"), store.member("one", "bob", "desk"));
    bob.client.batch_execute(remembrancer_schema::shared::LISTEN).unwrap();
    let mut told = || {
        use postgres::fallible_iterator::FallibleIterator;
        let mut notices = bob.client.notifications();
        let notices = notices.timeout_iter(std::time::Duration::from_millis(300));
        notices
            .map(|notice| Ok(notice.payload().to_owned()))
            .collect::<Vec<String>>()
            .unwrap()
    };
    ann.push(&Episode::all(team, &["a"])).unwrap();
    assert_eq!(told(), [team.to_string()]);
    ann.push(&Episode::all(team, &["a"])).unwrap();
    assert_eq!(told(), Vec::<String>::new(), "nothing changed");
    ann.forget(&["a"]).unwrap();
    assert_eq!(told(), [team.to_string()]);
}
