//! What a `forget` came to, in words for people: the reply of the daemon or of the store comes in, sentences go out, the same on the
//! command line and in the page. No text of what was forgotten is ever in them.

use serde_json::Value;

use crate::plural::counted;
use crate::whose::{Others, goes_everywhere, shared_on};

/// What came of it, and what is left of it for the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    /// How many episodes.
    pub episodes: u64,
    /// What of them others shared, who have it still.
    pub others: Others,
    /// How many of one's own go from the shared store, too.
    pub shared_on: u64,
    /// Whether the log beside the database, or a backup that is being made, keeps bytes of them until another program is done.
    pub bytes_left: bool,
    /// How many damaged databases, set aside earlier, went with them.
    pub set_aside: u64,
    /// Whether transcripts held something that was not read before, which may be of what was named.
    pub unread: bool,
}

impl Forgotten {
    /// Of the reply `done`. `is_one` says that a single episode was named, which nothing unread can belong to.
    pub(crate) fn of(done: &Value, is_one: bool) -> Self {
        Self {
            episodes: done["forgotten"].as_u64().unwrap_or_default(),
            others: Others::of(&done["shared"]),
            shared_on: shared_on(done),
            bytes_left: done["log_emptied"] == false,
            set_aside: done["set_aside_removed"].as_u64().unwrap_or_default(),
            unread: done["caught_up"] == false && !is_one,
        }
    }

    /// The sentences, the first of which says how much it was; what stays with others is forgotten here, and not for good.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let episodes = counted(self.episodes, "episode", "episodes");
        let stays = self.others.sentence(self.episodes);
        let mut said = vec![match stays {
            None => format!("Forgotten: {episodes}, for good."),
            Some(_) if self.others.episodes >= self.episodes => format!("Forgotten here: {episodes}."),
            Some(_) => format!("Forgotten: {episodes}."),
        }];
        said.extend(goes_everywhere(self.shared_on, self.episodes));
        said.extend(stays);
        if self.bytes_left {
            said.push(
                "Another program is reading the database, or a backup of it is being made: until that ends, the log beside it or the \
                 backup keeps bytes of them. They go as soon as the daemon finds it possible."
                    .to_owned(),
            );
        }
        if self.set_aside > 0 {
            said.push(format!(
                "Removed as well, since it may stand there: {} that had been set aside.",
                counted(self.set_aside, "damaged database", "damaged databases")
            ));
        }
        if self.unread {
            said.push(
                "Not everything that stands in the transcripts was read before: what comes from there later is remembered. \
                 `remembrancer status --flush`, then do this again, if that is not what you want."
                    .to_owned(),
            );
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::all_of_it(json!({"forgotten": 1, "log_emptied": true, "set_aside_removed": 0, "caught_up": true}), false, &[])]
    #[case::bytes(json!({"forgotten": 1, "log_emptied": false, "set_aside_removed": 0, "caught_up": true}), false, &["a backup of it"])]
    #[case::damaged(json!({"forgotten": 1, "log_emptied": true, "set_aside_removed": 2, "caught_up": true}), false, &["2 damaged databases"])]
    #[case::unread(json!({"forgotten": 1, "log_emptied": true, "set_aside_removed": 0, "caught_up": false}), false, &["read before"])]
    #[case::unread_beside_one(json!({"forgotten": 1, "log_emptied": true, "set_aside_removed": 0, "caught_up": false}), true, &[])]
    #[case::of_another_version(json!({"forgotten": 1}), false, &[])]
    #[case::shared(json!({"forgotten": 1, "shared": [], "shared_on": 1}), true, &["It goes from the team and from your other machines, too."])]
    #[case::of_nobody_else(json!({"forgotten": 1, "shared": []}), false, &[])]
    fn what_is_left_is_told(#[case] done: Value, #[case] is_one: bool, #[case] expected: &[&str]) {
        let said = Forgotten::of(&done, is_one).sentences();
        assert_eq!(said[0], "Forgotten: 1 episode, for good.");
        assert_eq!(said.len(), 1 + expected.len(), "{said:?}");
        for (sentence, part) in said[1..].iter().zip(expected) {
            assert!(sentence.contains(part), "{part}: {sentence}");
        }
    }

    #[rstest]
    #[case::all(
        1,
        "Forgotten here: 1 episode.",
        "It goes from your machines alone, and stays with bob, who shared it."
    )]
    #[case::some(
        3,
        "Forgotten: 3 episodes.",
        "Of them 1 episode goes from your machines alone, and stays with bob"
    )]
    fn what_stays_with_others_is_not_called_gone_for_good(#[case] all: u64, #[case] first: &str, #[case] second: &str) {
        let done = json!({"forgotten": all, "shared": [{"member": "bob", "episodes": 1}]});
        let said = Forgotten::of(&done, true).sentences();
        assert_eq!((said.len(), said[0].as_str()), (2, first));
        assert!(said[1].starts_with(second), "{said:?}");
    }
}
