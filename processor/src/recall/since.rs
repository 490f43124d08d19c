//! What has become of the files that a recollection speaks of, as one line of its text.
//!
//! In go an episode's files and what is known of them, out comes the line, or nothing where nothing is known. Nothing here looks
//! at a file system or asks git: who knows is asked through [`Afterwards`], and answers from memory, since a prompt waits.

use std::fmt::Write as _;

use remembrancer_schema::EpisodeText;

/// How a line of what has become of files begins.
pub(super) const SINCE_LABEL: &str = "Since then:";
/// Commits of one file that are counted; more are "as many, or more".
pub const MOST_COMMITS: u32 = 20;
/// Files named in the line; of more it is said how many they are.
const FILES: usize = 3;

/// What has become of a file since an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is no longer there.
    Gone,
    /// It is another.
    Changed {
        /// By so many commits; none where no commit tells of it.
        commits: u32,
    },
}

/// A file of an episode that is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// Its place among the episode's files.
    pub file: usize,
    /// What has become of it.
    pub fate: Fate,
}

/// Knows what has become of the files of episodes.
pub trait Afterwards: Sync {
    /// The files of `episode` that are gone or were changed since, in their order; none where nothing is known. A prompt waits
    /// for this: it looks at no file.
    fn since(&self, episode: &EpisodeText) -> Vec<Since>;
}

/// The line for `since`, with its end, of at most `limit` characters; empty where there is nothing to say, or no room for a single
/// file. `name` gives a file's name as it may be shown.
pub(super) fn since_line(since: &[Since], limit: usize, name: impl Fn(usize) -> Option<String>) -> String {
    let told: Vec<String> = since
        .iter()
        .filter_map(|one| Some(format!("{} {}", name(one.file)?, fate(one.fate))))
        .collect();
    (1..=told.len().min(FILES))
        .rev()
        .map(|shown| line(&told, shown))
        .find(|line| line.chars().count() <= limit)
        .unwrap_or_default()
}

fn line(told: &[String], shown: usize) -> String {
    let mut line = format!("{SINCE_LABEL} {}", told[..shown].join(", "));
    let more = told.len() - shown;
    if more > 0 {
        // Writing to a string can't fail.
        write!(line, ", and {more} more").ok();
    }
    line.push('\n');
    line
}

fn fate(fate: Fate) -> String {
    match fate {
        Fate::Gone => "is gone".to_owned(),
        Fate::Changed { commits: 0 } => "changed".to_owned(),
        Fate::Changed { commits: 1 } => "changed (1 commit)".to_owned(),
        Fate::Changed { commits } if commits >= MOST_COMMITS => format!("changed ({MOST_COMMITS} commits or more)"),
        Fate::Changed { commits } => format!("changed ({commits} commits)"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn gone(file: usize) -> Since {
        Since { file, fate: Fate::Gone }
    }

    fn changed(file: usize, commits: u32) -> Since {
        Since {
            file,
            fate: Fate::Changed { commits },
        }
    }

    fn named(file: usize) -> Option<String> {
        ["src/a.rs", "src/b.rs", "c.rs", "d.rs"]
            .get(file)
            .map(|name| (*name).to_owned())
    }

    #[rstest]
    #[case::nothing(&[], 100, "")]
    #[case::two(&[changed(0, 3), gone(1)], 100, "Since then: src/a.rs changed (3 commits), src/b.rs is gone\n")]
    #[case::one_commit(&[changed(0, 1)], 100, "Since then: src/a.rs changed (1 commit)\n")]
    #[case::no_commit(&[changed(2, 0)], 100, "Since then: c.rs changed\n")]
    #[case::many_commits(&[changed(2, 20)], 100, "Since then: c.rs changed (20 commits or more)\n")]
    #[case::more_than_are_named(&[gone(0), gone(1), gone(2), gone(3)], 100, "Since then: src/a.rs is gone, src/b.rs is gone, c.rs is gone, and 1 more\n")]
    #[case::no_room_for_two(&[gone(0), gone(1)], 45, "Since then: src/a.rs is gone, and 1 more\n")]
    #[case::no_room(&[gone(0)], 20, "")]
    #[case::a_file_that_is_not_there(&[gone(9)], 100, "")]
    fn one_line(#[case] since: &[Since], #[case] limit: usize, #[case] expected: &str) {
        let line = since_line(since, limit, named);
        assert_eq!(line, expected);
        assert!(line.chars().count() <= limit);
    }
}
