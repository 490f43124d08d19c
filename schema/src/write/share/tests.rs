//! Sharing by the store's own side: what is offered to push and when it is done with, what becomes of what others shared, and that neither
//! is taken for the other, whatever happens to the file.

mod adopting;
mod happenings;
mod leaving;
mod marks;
mod pulling;
mod pushing;
mod simulation;
mod taken_back;
mod teams;
mod trust;
mod urgency;

use std::sync::Arc;

use crate::testing::{MODEL, Store, batch, in_project, turn, turn_uid};
use crate::{
    Applied, EpisodeId, EpisodeUid, ForgetTarget, OwnEpisode, ProjectId, ProjectRef, PulledChange, PulledPage, ShareOrigin,
    ShareSetup, ToPush, ToldProject, TurnUpsert, UnixMillis, audit,
};

const NOW: UnixMillis = UnixMillis(2_000_000);
const ADA: i32 = 1;
const BOB: i32 = 2;
const APP: &str = "url:example.org/acme/app";
const OTHER: &str = "url:example.org/other/tool";

fn machine(number: u8) -> [u8; 16] {
    [number; 16]
}

fn setup(globs: &[&str]) -> ShareSetup {
    ShareSetup {
        team_key: "db.example.org/shared/team".to_owned(),
        allowed: globs.iter().map(|&glob| glob.to_owned()).collect(),
    }
}

/// A store that shares as Ada what the globs allow.
fn sharing(globs: &[&str]) -> Store {
    let mut store = Store::new();
    share(&mut store, globs, 1);
    store
}

fn share(store: &mut Store, globs: &[&str], number: u8) {
    store.writer.set_sharing(Some(&setup(globs)), machine(number)).expect("sets");
    store.writer.note_member(ADA, "ada").expect("notes");
}

fn project(store: &mut Store, key: &str, root: &str) -> ProjectId {
    let keys = [key.to_owned(), format!("cwd:{root}")];
    let resolved = store.writer.resolve_project(&keys, "app", Some(root), NOW);
    resolved.expect("resolves")
}

/// A turn in a project that its transcript tells of.
fn told(mut turn: TurnUpsert, key: &str, root: &str) -> TurnUpsert {
    turn.cwd = Some(root.to_owned());
    turn.project = Some(ProjectRef::Told(Arc::new(ToldProject {
        keys: vec![key.to_owned(), format!("cwd:{root}")],
        name: "app".to_owned(),
        root: root.to_owned(),
    })));
    turn
}

/// Stores turn `number` of the project that is shared.
fn store_turn(store: &mut Store, number: u8, prompts: &[&str]) {
    let turn = told(turn(number, "s", prompts), APP, "/home/ada/app");
    store.writer.ingest(&batch(vec![turn])).expect("stores");
}

fn uid(number: u8, part: u32) -> EpisodeUid {
    EpisodeUid::of(&turn_uid(number), part)
}

fn next(store: &Store) -> ToPush {
    store.reader().next_to_push(500, false).expect("reads")
}

/// Pushes all there is, and gives what a shared store would have got.
fn drain(store: &mut Store) -> ToPush {
    let mut page = next(store);
    let sent = store.writer.pushing(&mut page).expect("notes");
    store.writer.pushed(&sent).expect("notes");
    page
}

fn pushed(page: &ToPush) -> Vec<EpisodeUid> {
    sorted(page.live.iter().map(|own| own.episode.uid))
}

fn sorted(uids: impl IntoIterator<Item = EpisodeUid>) -> Vec<EpisodeUid> {
    let mut uids: Vec<EpisodeUid> = uids.into_iter().collect();
    uids.sort_unstable();
    uids
}

/// What a store of Bob's would push of turns of the shared project.
fn of_bob(turns: &[(u8, &str)]) -> Vec<OwnEpisode> {
    let mut store = Store::new();
    store.writer.set_sharing(Some(&setup(&["*"])), machine(9)).expect("sets");
    let turns = turns
        .iter()
        .map(|(number, prompt)| told(turn(*number, "of-bob", &[prompt]), APP, "/home/bob/app"));
    store.writer.ingest(&batch(turns.collect())).expect("stores");
    store.embed();
    let mut live = next(&store).live;
    live.sort_by_key(|own| own.episode.turn);
    live
}

fn from(member: i32, number: u8) -> ShareOrigin {
    ShareOrigin {
        member,
        member_login: if member == ADA { "ada" } else { "bob" }.to_owned(),
        machine: machine(number),
        machine_name: format!("machine-{number}"),
    }
}

fn live(seq: i64, origin: ShareOrigin, own: &OwnEpisode) -> PulledChange {
    PulledChange::Live {
        seq,
        from: origin,
        episode: Box::new(own.episode.clone()),
    }
}

fn withdrawn(seq: i64, uid: EpisodeUid) -> PulledChange {
    PulledChange::Withdrawn {
        seq,
        uid,
        member: BOB,
        machine: machine(9),
    }
}

/// That Ada's machine of that number shares turn `number` no more; 0 is all of them.
fn taken_back(seq: i64, number: u8, by: u8) -> PulledChange {
    PulledChange::Withdrawn {
        seq,
        uid: uid(number, 0),
        member: ADA,
        machine: machine(by),
    }
}

fn forgotten(seq: i64, number: u8, member: i32) -> PulledChange {
    PulledChange::Forgotten {
        seq,
        turn_uid: turn_uid(number),
        member,
    }
}

/// A page from where the store is.
fn page(store: &Store, changes: Vec<PulledChange>) -> PulledPage {
    let place = store.reader().share_place().expect("reads").expect("shares");
    let cursor = place.cursor + changes.len() as i64;
    PulledPage {
        after: place.cursor,
        sent: place.sent,
        changes,
        cursor,
        head: cursor,
        marks_only: false,
    }
}

fn apply(store: &mut Store, changes: Vec<PulledChange>) -> Applied {
    let page = page(store, changes);
    let applied = store.writer.apply_pulled(&page, NOW).expect("applies");
    assert!(!applied.stale);
    assert_sound(store);
    applied
}

/// How many episodes came, changed and went.
fn changes(applied: &Applied) -> [usize; 3] {
    [applied.stored.len(), applied.replaced.len(), applied.removed.len()]
}

/// Those of these episodes that have a vector of the current model.
fn embedded(store: &Store, ids: &[EpisodeId]) -> Vec<EpisodeId> {
    let rows = store.reader().candidates(ids, MODEL).expect("reads");
    rows.into_iter()
        .filter(|row| row.embedding.is_some())
        .map(|row| row.id)
        .collect()
}

/// What waits to be told, and whether it is urgent.
fn waiting(store: &Store) -> Vec<(EpisodeUid, bool)> {
    let db = rusqlite::Connection::open(&store.path).expect("opens");
    let mut statement = db
        .prepare("SELECT uid, urgent FROM share_outbox ORDER BY uid")
        .expect("prepares");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("reads");
    rows.map(|row| row.expect("is a row")).collect()
}

fn assert_sound(store: &Store) {
    assert_eq!(audit(&store.path).expect("reads").faults, Vec::<String>::new());
}

fn forget_turn(store: &mut Store, number: u8) {
    let target = ForgetTarget::Episode(uid(number, 0).to_string());
    store.writer.forget(&target, NOW).expect("forgets");
}

/// Who shared the episodes that hold a word.
fn origins(store: &Store, word: &str) -> Vec<Option<String>> {
    let ids = store.found(word);
    let origins = store.reader().shared_origin(&ids).expect("reads");
    ids.iter()
        .map(|id| origins.get(id).map(|origin| origin.member_login.clone()))
        .collect()
}

fn unshared(store: &mut Store, number: u8, key: &str) {
    let project = project(store, key, "/home/ada/elsewhere");
    let turn = in_project(turn(number, "t", &["not for others"]), project);
    store.writer.ingest(&batch(vec![turn])).expect("stores");
}
