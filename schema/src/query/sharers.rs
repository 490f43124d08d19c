//! Who shared an episode: three columns of a query that has `shared_episodes` joined, and how they are read.
//! Where nothing is shared the table is empty, and the columns cost a look at one page.

use rusqlite::Row;

use crate::rows::SharedBy;

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

    use crate::testing::{Store, batch, turn};
    use crate::{EpisodeFilter, EpisodeId, ShareSetup, SharedBy, TurnPlace};

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

    fn by(member: &str, is_own: bool) -> Option<SharedBy> {
        Some(SharedBy {
            member: member.to_owned(),
            machine: "den".to_owned(),
            is_own,
        })
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
        let others = [None, by("ada", false), by("bob", false), by("eve", false)];
        assert_eq!(told(&store), others, "it is not known yet who one is");

        let setup = ShareSetup {
            team_key: "db.example.org/shared/team".to_owned(),
            allowed: Vec::new(),
        };
        store.writer.set_sharing(Some(&setup), [1; 16]).expect("sets");
        assert_eq!(told(&store), others, "nor here");
        store.writer.note_member(1, "ada").expect("notes");
        assert_eq!(told(&store), [None, by("ada", true), by("bob", false), by("eve", false)]);
    }
}
