//! What is stored, without what today's rules take out: a row may be older than they are, until it is rewritten.

use std::borrow::Cow;

use remembrancer_schema::{EpisodeText, StoredEpisode};

use super::{redact, redact_folder};

/// Takes out of an episode, before it is shown, what the rules find in any text of it.
pub fn redact_episode(episode: &mut EpisodeText) {
    let facets = &mut episode.facets;
    let lists = [&mut facets.files, &mut facets.commands, &mut facets.errors, &mut facets.tools];
    for text in [&mut episode.prompt, &mut episode.answer, &mut episode.session]
        .into_iter()
        .chain(lists.into_iter().flatten())
        .chain(episode.project_name.as_mut())
        .chain(episode.shared_by.iter_mut().flat_map(|by| [&mut by.member, &mut by.machine]))
    {
        replace(text, redact);
    }
    for folder in episode.cwd.iter_mut().chain(episode.source.as_mut()) {
        replace(folder, redact_folder);
    }
}

/// As [`redact_episode`], of all that is stored of an episode: branch, titles, other sessions, and what its project is known by.
pub fn redact_stored(episode: &mut StoredEpisode) {
    redact_episode(&mut episode.text);
    let words = episode.git_branch.iter_mut().chain(&mut episode.session_title);
    for words in words.chain(&mut episode.also_in) {
        replace(words, redact);
    }
    if let Some(folder) = &mut episode.project_root {
        replace(folder, redact_folder);
    }
    for key in &mut episode.project_keys {
        match key.split_once(':') {
            Some((kind @ ("cwd" | "git"), folder)) => *key = format!("{kind}:{}", redact_folder(folder)),
            _ => replace(key, redact),
        }
    }
}

fn replace(text: &mut String, by: fn(&str) -> Cow<'_, str>) {
    if let Cow::Owned(redacted) = by(text) {
        *text = redacted;
    }
}
