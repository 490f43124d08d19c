//! Which projects may be shared: those of which a key is matched by a glob of the user's. In go globs and keys, out come projects.
//! A key that is a path is matched, and never told to anybody.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::ids::ProjectId;
use crate::rows::EVERYWHERE_KEY;

/// Kinds of keys that say the same on every machine.
const TOLD: [&str; 2] = ["url:", "root:"];
/// The kinds of keys, by which they are stored and not shown.
const KINDS: [&str; 4] = ["url:", "root:", "git:", "cwd:"];

/// Whether `text` is what `glob` says, in which `*` stands for any run of characters.
pub(crate) fn matches(glob: &str, text: &str) -> bool {
    let mut pieces = glob.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether the key of a project may leave this machine, and is taken from others: it says the same on every machine, and is no folder.
pub fn may_be_told(key: &str) -> bool {
    TOLD.iter().any(|kind| {
        key.strip_prefix(kind)
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    })
}

/// Whether one of `globs` matches a key, as it is stored or as it is shown. What holds everywhere is never shared.
fn is_allowed(globs: &[String], key: &str) -> bool {
    if key == EVERYWHERE_KEY {
        return false;
    }
    let shown = shown(key);
    globs.iter().any(|glob| {
        // Addresses are stored in small letters, however the user writes them.
        let small = key.starts_with("url:").then(|| glob.to_lowercase());
        let glob = small.as_deref().unwrap_or(glob);
        matches(glob, shown) || matches(glob, key)
    })
}

/// A key as a user writes it: without its kind.
pub(super) fn shown(key: &str) -> &str {
    KINDS.iter().find_map(|kind| key.strip_prefix(kind)).unwrap_or(key)
}

/// Whether `globs` allow the project of these keys.
pub(super) fn may_be_shared(globs: &[String], keys: &[&String]) -> bool {
    !keys.iter().any(|key| *key == EVERYWHERE_KEY) && keys.iter().any(|key| is_allowed(globs, key))
}

/// The projects that `globs` allow, as a list of JSON, which a statement takes as one parameter. What others call a project counts for
/// nothing: it is not among the keys that were told here.
pub(crate) fn allowed_projects(db: &Connection, globs: &[String]) -> rusqlite::Result<String> {
    let mut statement = db.prepare_cached("SELECT key, project_id FROM project_aliases")?;
    let mut rows = statement.query([])?;
    // The project of what holds everywhere is not shared, whatever else may name it.
    let mut projects: BTreeMap<ProjectId, (bool, bool)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_str()?;
        let (allowed, everywhere) = projects.entry(row.get(1)?).or_default();
        *allowed |= is_allowed(globs, key);
        *everywhere |= key == EVERYWHERE_KEY;
    }
    let ids: Vec<String> = projects
        .into_iter()
        .filter(|(_, (allowed, everywhere))| *allowed && !everywhere)
        .map(|(project, _)| project.to_string())
        .collect();
    Ok(format!("[{}]", ids.join(",")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::itself("github.com/acme/app", "github.com/acme/app", true)]
    #[case::no_part_of_it("github.com/acme", "github.com/acme/app", false)]
    #[case::no_longer_one("github.com/acme/app", "github.com/acme/apple", false)]
    #[case::all("*", "anything", true)]
    #[case::all_of_nothing("*", "", true)]
    #[case::below("github.com/acme/*", "github.com/acme/app", true)]
    #[case::not_beside("github.com/acme/*", "github.com/acmeish/app", false)]
    #[case::in_the_middle("*/acme/*", "git.example.org/acme/app", true)]
    #[case::the_pieces_in_their_order("a*b*c", "axxbyyc", true)]
    #[case::not_in_another("a*b*c", "a c b", false)]
    #[case::a_piece_is_used_once("ab*ba", "aba", false)]
    #[case::at_its_end("*app", "my app, and more", false)]
    #[case::the_last_of_several("*app", "app app", true)]
    #[case::two_stars("a**b", "ab", true)]
    #[case::letters_beyond_ascii("grün*", "grünland", true)]
    #[case::nothing("", "a", false)]
    #[case::nothing_of_nothing("", "", true)]
    fn globs(#[case] glob: &str, #[case] text: &str, #[case] expected: bool) {
        assert_eq!(matches(glob, text), expected);
    }

    #[test]
    fn keys_are_matched_as_they_are_shown_and_as_they_are_stored() {
        let allowed = |glob: &str, key: &str| is_allowed(&[glob.to_owned()], key);
        assert!(allowed("github.com/Acme/*", "url:github.com/acme/app"));
        assert!(allowed("url:github.com/acme/*", "url:github.com/acme/app"));
        assert!(allowed("/srv/shop", "cwd:/srv/shop") && allowed("/srv/*/.git", "git:/srv/shop/.git"));
        assert!(!allowed("/srv/shop", "cwd:/srv/shop2") && !allowed("/SRV/*", "cwd:/srv/shop"));
        assert!(allowed("1f0c*", "root:1f0c9a"));
        assert!(!allowed("*", EVERYWHERE_KEY), "what holds everywhere stays home");
        assert!(
            !is_allowed(&[], "url:github.com/acme/app"),
            "nothing is shared unless it is allowed"
        );
    }

    #[test]
    fn a_key_that_is_a_path_is_told_to_nobody() {
        assert!(may_be_told("url:github.com/acme/app") && may_be_told("root:1f0c9a"));
        for key in [
            "cwd:/srv/shop",
            "git:/srv/shop/.git",
            EVERYWHERE_KEY,
            "url:",
            "url:/srv/shop",
            "odd",
        ] {
            assert!(!may_be_told(key), "{key}");
        }
    }
}
