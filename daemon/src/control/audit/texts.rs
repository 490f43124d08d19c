//! A walk through all stored texts, newest first: what looks like a secret by today's rules, and what of ours stands there. Texts come
//! in a page at a time; kinds, counts and ids go out, and no text.

use remembrancer_processor::Deadline;
use remembrancer_processor::ingest::{Kinds, Suspects, suspects};
use remembrancer_processor::recall::Echo;
use remembrancer_schema::{EpisodeId, EpisodeText, Reader};
use serde_json::{Value, json};

use super::finding::{Finding, Shown};
use super::{ControlError, Step, TOLD, in_time};

/// Episodes read at a time.
const PAGE: usize = 256;

/// What the walk came to.
#[derive(Default)]
pub(super) struct Texts {
    /// Episodes looked at.
    pub(super) looked: u64,
    complete: bool,
    secrets: Holding,
    nearly: Holding,
    echoes: Holding,
}

/// Episodes that hold something of one sort.
#[derive(Default)]
struct Holding {
    episodes: u64,
    kinds: Kinds,
    first: Vec<(EpisodeId, Kinds)>,
}

impl Holding {
    fn add(&mut self, episode: EpisodeId, kinds: Kinds) {
        if kinds.is_empty() {
            return;
        }
        self.episodes += 1;
        for (kind, count) in &kinds {
            *self.kinds.entry(kind.clone()).or_default() += count;
        }
        if self.first.len() < TOLD {
            self.first.push((episode, kinds));
        }
    }

    fn finding(&self, shown: &Shown<'_>, kind: &'static str, complete: bool) -> Result<Finding, ControlError> {
        let mut finding = Finding::new(kind, complete);
        finding.count = self.episodes;
        finding.kinds = Some(json!(self.kinds));
        let ids: Vec<EpisodeId> = self.first.iter().map(|(id, _)| *id).collect();
        let of = |id| {
            let held = self.first.iter().find(|(episode, _)| *episode == id);
            held.map_or(Value::Null, |(_, kinds)| json!({ "kinds": kinds }))
        };
        finding.items = shown.items(&ids, of, "forget")?;
        Ok(finding)
    }
}

/// Looks at every text until `deadline`.
pub(super) fn look(
    reader: &Reader,
    deadline: Deadline,
    episodes: u64,
    tell: &mut dyn FnMut(Step),
) -> Result<Texts, ControlError> {
    let mut texts = Texts::default();
    let mut below = EpisodeId(i64::MAX);
    while let Some(page) = in_time(reader.texts_below(below, PAGE))? {
        let Some(last) = page.last() else {
            texts.complete = true;
            break;
        };
        below = last.id;
        for text in &page {
            if deadline.has_passed() {
                return Ok(texts);
            }
            texts.add(text);
        }
        tell(Step {
            what: "texts",
            done: texts.looked,
            of: episodes.max(texts.looked),
        });
    }
    Ok(texts)
}

impl Texts {
    fn add(&mut self, episode: &EpisodeText) {
        self.looked += 1;
        let mut held = Suspects::default();
        for text in all(episode) {
            held.add(&suspects(text));
        }
        self.secrets.add(episode.id, held.found);
        self.nearly.add(episode.id, held.nearly);
        let echo = all(episode).find_map(Echo::of);
        let echo = echo.map(|echo| (echo.as_str().to_owned(), 1));
        self.echoes.add(episode.id, echo.into_iter().collect());
    }

    /// What is told of it; `behind`: older rows wait to be rewritten by today's rules.
    pub(super) fn findings(&self, shown: &Shown<'_>, behind: bool) -> Result<[Finding; 3], ControlError> {
        let mut secrets = self.secrets.finding(shown, "secrets", self.complete)?;
        if behind && secrets.count > 0 {
            secrets.mend = Some(
                "remembrancer run: the daemon rewrites older texts by today's rules while it has nothing to read".to_owned(),
            );
        }
        Ok([
            self.echoes.finding(shown, "self-echo", self.complete)?,
            secrets,
            self.nearly.finding(shown, "nearly-secrets", self.complete)?,
        ])
    }
}

fn all(episode: &EpisodeText) -> impl Iterator<Item = &str> {
    let facets = &episode.facets;
    let lists = [&facets.files, &facets.commands, &facets.errors, &facets.tools];
    [&episode.prompt, &episode.answer]
        .into_iter()
        .chain(lists.into_iter().flatten())
        .map(String::as_str)
}
