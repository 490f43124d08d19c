//! A database that was damaged and made anew, told in words: for `status` and `doctor`. In goes the store's note of it, out come
//! sentences.

use remembrancer_schema::Recovery;

use crate::control::rfc3339;
use crate::plural::counted;

/// What was damaged, where it is, and what the memory is made of.
pub(crate) fn found(recovery: &Recovery) -> String {
    let episodes = counted(recovery.salvaged, "episode", "episodes");
    let made_of = match (recovery.whole, &recovery.backup) {
        (true, _) => format!("every table of it could be read, so that nothing is lost: {episodes}"),
        (false, None) => format!("{episodes} could be read of it"),
        (false, Some(backup)) => format!(
            "{episodes} could be read of it, others come from the backup {}",
            backup.display()
        ),
    };
    let lost = match recovery.unreadable {
        0 => String::new(),
        lost => format!(", {lost} could not and are lost where their transcripts are gone"),
    };
    let again = if recovery.whole {
        ""
    } else {
        "; the transcripts that are still there are read again"
    };
    format!(
        "the database was damaged ({}) and was made anew on {}: {made_of}{lost}{again}; the damaged file is {}",
        recovery.found,
        rfc3339(recovery.at),
        recovery.set_aside.display()
    )
}

/// How this is no longer told.
pub(crate) fn remedy(recovery: &Recovery) -> String {
    let path = recovery.set_aside.display();
    format!("once nothing is missing, remove it: rm -f '{path}' '{path}-wal' '{path}-shm'")
}

/// Both, in one line.
pub(crate) fn notice(recovery: &Recovery) -> String {
    format!("{}; {}", found(recovery), remedy(recovery))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use remembrancer_schema::UnixMillis;

    use super::*;

    fn recovery() -> Recovery {
        Recovery {
            at: UnixMillis(1_795_000_000_000),
            found: "Tree 9 page 12".to_owned(),
            set_aside: PathBuf::from("/m/memory.db.damaged-1"),
            whole: false,
            backup: None,
            salvaged: 7,
            unreadable: 2,
        }
    }

    #[test]
    fn all_that_a_person_has_to_know_is_told() {
        let told = notice(&recovery());
        for part in [
            "Tree 9 page 12",
            "2026-",
            "7 episodes",
            "2 could not",
            "read again",
            "rm -f '/m/memory.db.damaged-1'",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let backup = Some(PathBuf::from("/m/backups/memory-2.db"));
        assert!(found(&Recovery { backup, ..recovery() }).contains("/m/backups/memory-2.db"));
        let whole = Recovery {
            whole: true,
            unreadable: 0,
            ..recovery()
        };
        assert!(found(&whole).contains("nothing is lost") && !found(&whole).contains("read again"));
    }
}
