//! Who shared episodes: three columns of a query that has `shared_episodes` joined, and how they are read; and of whole turns the members
//! that shared something of them. Where nothing is shared the tables are empty, and a look at them costs a page.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::Reader;
use crate::error::QueryError;
use crate::ids::{EpisodeId, TurnUid};
use crate::rows::{SharedBy, Sharers};

/// The member's login, the machine's name, and whether the member is oneself: all of one's own that another machine shared, by the number
/// and the name that one has at the shared store now.
macro_rules! shared_by_columns {
    () => {
        "shared_episodes.member_login, shared_episodes.machine_name,
            CASE WHEN shared_episodes.member IS NOT NULL THEN EXISTS (SELECT 1 FROM share_target
                WHERE share_target.member = shared_episodes.member AND share_target.member_login = shared_episodes.member_login) END"
    };
}
pub(super) use shared_by_columns;

/// The other members that shared parts of a turn, with how many.
const OF_TURN: &str = "SELECT member_login, count(*) FROM episodes JOIN shared_episodes ON episode_id = episodes.id
    WHERE turn_uid = :turn AND NOT EXISTS (SELECT 1 FROM share_target
        WHERE share_target.member = shared_episodes.member AND share_target.member_login = shared_episodes.member_login)
    GROUP BY member_login";

/// How many parts of a turn the shared store may have of this memory, or are copies of what another machine of one's own shared.
const SHARED_ON: &str = "SELECT count(*) FROM episodes LEFT JOIN shared_episodes ON episode_id = episodes.id
    WHERE turn_uid = :turn AND (
        EXISTS (SELECT 1 FROM share_pushed WHERE share_pushed.uid = episodes.uid AND state > 0)
        OR EXISTS (SELECT 1 FROM share_target
            WHERE share_target.member = shared_episodes.member AND share_target.member_login = shared_episodes.member_login))";

/// Who of others shared the first of the session of a turn that is another's.
const OF_SESSION: &str = "SELECT member_login, machine_name, 0 FROM episodes JOIN shared_episodes ON episode_id = episodes.id
    WHERE session_id = (SELECT session_id FROM episodes WHERE id = :id) AND NOT EXISTS (SELECT 1 FROM share_target
        WHERE share_target.member = shared_episodes.member AND share_target.member_login = shared_episodes.member_login)
    ORDER BY episodes.created_at, episodes.id LIMIT 1";

impl Reader {
    /// Who else has some of these turns: the other members that shared them, and how many of the user's own are shared.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sharers_of(&self, turns: &[TurnUid]) -> Result<Sharers, QueryError> {
        self.run("read who shared turns", |db| sharers_of(db, turns))
    }
}

/// Whether anything here is a copy of what was shared.
fn is_anything_shared(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM shared_episodes LIMIT 1")?.exists([])
}

/// Whether this memory shares with a team.
fn is_sharing(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM share_target WHERE active = 1")?.exists([])
}

/// As [`Reader::sharers_of`].
pub(crate) fn sharers_of(db: &Connection, turns: &[TurnUid]) -> rusqlite::Result<Sharers> {
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    if is_anything_shared(db)? {
        let mut statement = db.prepare_cached(OF_TURN)?;
        for turn in turns {
            let mut rows = statement.query(named_params! {":turn": turn})?;
            while let Some(row) = rows.next()? {
                *others.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)? as u64;
            }
        }
    }
    let mut shared_on = 0;
    if is_sharing(db)? {
        let mut statement = db.prepare_cached(SHARED_ON)?;
        for turn in turns {
            shared_on += statement.query_row(named_params! {":turn": turn}, |row| row.get::<_, i64>(0))? as u64;
        }
    }
    Ok(Sharers {
        others: others.into_iter().collect(),
        shared_on,
    })
}

/// Who of others shared the first of the session of the episode `turn` that is another's; `None` where all of it is the user's own.
pub(super) fn sharer_of_session(db: &Connection, turn: EpisodeId) -> rusqlite::Result<Option<SharedBy>> {
    if !is_anything_shared(db)? {
        return Ok(None);
    }
    let mut statement = db.prepare_cached(OF_SESSION)?;
    let found = statement
        .query_row(named_params! {":id": turn}, |row| shared_by(row, 0))
        .optional()?;
    Ok(found.flatten())
}

/// Who shared it, of these columns from the one at `first` on; `None` of what is this machine's own.
pub(super) fn shared_by(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<SharedBy>> {
    let member: Option<String> = row.get(first)?;
    let Some(member) = member else {
        return Ok(None);
    };
    Ok(Some(SharedBy {
        member,
        machine: row.get(first + 1)?,
        is_own: row.get(first + 2)?,
    }))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::testing::{Store, batch, turn, turn_uid};
    use crate::{EpisodeFilter, EpisodeId, ForgetTarget, ShareSetup, SharedBy, Sharers, TurnPlace, UnixMillis};

    /// As if `member`, of the number that `login` has at the shared store, had shared it.
    fn mark(store: &Store, id: EpisodeId, member: i32, login: &str) {
        let db = Connection::open(&store.path).expect("opens");
        db.execute(
            "INSERT INTO shared_episodes (episode_id, member, member_login, machine, machine_name, seq)
             VALUES (?1, ?2, ?3, zeroblob(16), 'den', 1)",
            rusqlite::params![id, member, login],
        )
        .expect("marks");
    }

    fn by(member: &str, is_own: bool) -> SharedBy {
        SharedBy {
            member: member.to_owned(),
            machine: "den".to_owned(),
            is_own,
        }
    }

    #[test]
    fn texts_and_turns_tell_who_shared_them() {
        let mut store = Store::new();
        let turns = (1..=4).map(|number| turn(number, "s", &["one"]));
        store.writer.ingest(&batch(turns.collect())).expect("stores");
        let ids: Vec<EpisodeId> = (1..=4).map(|number| store.id(number, 0)).collect();
        let told = |store: &Store| {
            let reader = store.reader();
            let texts = reader.texts(&ids).expect("reads");
            let of_texts: Vec<_> = texts.into_iter().map(|text| text.shared_by).collect();
            let mut turns = reader
                .older_turns(&EpisodeFilter::default(), TurnPlace::LAST, 10)
                .expect("reads");
            turns.sort_by_key(|turn| turn.place.id);
            let of_turns: Vec<_> = turns.into_iter().map(|turn| turn.shared_by).collect();
            assert_eq!(of_texts, of_turns);
            of_texts
        };
        assert_eq!(told(&store), [None, None, None, None], "nothing is shared");

        mark(&store, ids[1], 1, "ada");
        mark(&store, ids[2], 2, "bob");
        // Of a member that has one's number by another name.
        mark(&store, ids[3], 1, "eve");
        let others = [None, Some(by("ada", false)), Some(by("bob", false)), Some(by("eve", false))];
        assert_eq!(told(&store), others, "it is not known yet who one is");

        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: Vec::new(),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        assert_eq!(told(&store), others, "nor here");
        store.writer.note_member(1, "ada").expect("notes");
        assert_eq!(
            told(&store),
            [None, Some(by("ada", true)), Some(by("bob", false)), Some(by("eve", false))]
        );
    }

    #[test]
    fn sessions_tell_which_other_member_shared_the_first_of_them() {
        let mut store = Store::new();
        let turns = (1..=6).map(|number| turn(number, ["a", "b", "c"][usize::from(number % 3)], &["one", "two"]));
        store.writer.ingest(&batch(turns.collect())).expect("stores");
        let told = |store: &Store| {
            let sessions = store
                .reader()
                .sessions_before(&EpisodeFilter::default(), TurnPlace::LAST, 9)
                .expect("lists");
            let mut told: Vec<_> = sessions
                .into_iter()
                .map(|session| (session.session.external_id, session.shared_by))
                .collect();
            told.sort_by(|one, other| one.0.cmp(&other.0));
            told.into_iter().map(|(_, by)| by).collect::<Vec<_>>()
        };
        assert_eq!(told(&store), [None, None, None], "nothing is shared");
        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: Vec::new(),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        store.writer.note_member(1, "ada").expect("notes");
        // Of `a` are turns 3 and 6, of `b` 1 and 4, of `c` 2 and 5.
        for (number, part, member, login) in [(6, 0, 2, "eve"), (3, 1, 3, "bob"), (1, 0, 1, "ada")] {
            mark(&store, store.id(number, part), member, login);
        }
        assert_eq!(told(&store), [Some(by("bob", false)), None, None]);
    }

    #[test]
    fn what_is_forgotten_of_others_is_told_with_who_shared_it() {
        let mut store = Store::new();
        let turns = (1..=3).map(|number| turn(number, "s", &["one", "two"]));
        store.writer.ingest(&batch(turns.collect())).expect("stores");
        let turns = [1, 2, 3].map(turn_uid);
        assert_eq!(store.reader().sharers_of(&turns).expect("reads"), Sharers::default());
        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: Vec::new(),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        store.writer.note_member(1, "ada").expect("notes");
        for (number, part, member, login) in [(1, 0, 1, "ada"), (2, 0, 2, "eve"), (2, 1, 2, "eve"), (3, 1, 3, "bob")] {
            mark(&store, store.id(number, part), member, login);
        }
        let others = vec![("bob".to_owned(), 1), ("eve".to_owned(), 2)];
        let expected = Sharers { others, shared_on: 1 };
        assert_eq!(store.reader().sharers_of(&turns).expect("reads"), expected);
        assert_eq!(store.reader().sharers_of(&turns[..1]).expect("reads").others, []);
        let forgotten = store.writer.forget(&ForgetTarget::All, UnixMillis(1)).expect("forgets");
        assert_eq!((forgotten.episodes, forgotten.sharers), (6, expected));
    }

    #[test]
    fn how_many_of_ones_own_are_shared_is_told_while_they_are_shared() {
        let mut store = Store::new();
        let turns = (1..=3).map(|number| turn(number, "s", &["one", "two"]));
        store.writer.ingest(&batch(turns.collect())).expect("stores");
        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: Vec::new(),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        store.writer.note_member(1, "ada").expect("notes");
        let told = |store: &Store| {
            let told = store.reader().sharers_of(&[1, 2, 3].map(turn_uid)).expect("reads");
            assert_eq!(told.others, []);
            told.shared_on
        };
        assert_eq!(told(&store), 0, "nothing was sent");
        // Of what was sent, the last was taken back.
        for (number, part, state) in [(1, 0, 1), (1, 1, 2), (2, 0, 0)] {
            let db = Connection::open(&store.path).expect("opens");
            let sent = "INSERT INTO share_pushed (uid, turn_uid, state) SELECT uid, turn_uid, ?2 FROM episodes WHERE id = ?1";
            db.execute(sent, rusqlite::params![store.id(number, part), state])
                .expect("notes");
        }
        assert_eq!(told(&store), 2);
        mark(&store, store.id(3, 0), 1, "ada");
        assert_eq!(told(&store), 3, "another machine's of one's own goes there, too");
        assert_eq!(store.reader().sharers_of(&[turn_uid(2)]).expect("reads").shared_on, 0);
        store.writer.set_sharing(None, [0; 16]).expect("stops");
        assert_eq!(told(&store), 0, "nothing is told to anybody any more");
    }
}
