//! The exact-match stratum, made by rule from a set's documents: prompts that quote what stands in one document alone.
//!
//! In goes a set, out come queries whose answer is sure without anyone's judgement: of all documents in the prompt's project
//! one holds the quoted identifier, error line, command, name or number. What is quoted is what a person would remember, and
//! the same seed quotes the same.

mod quote;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memchr::memmem::Finder;
use remembrancer_schema::UnixMillis;

use super::dataset::{Dataset, JudgedQuery};
use super::random::Random;
use quote::{Quote, QuoteKind};

/// The category of the queries made here.
pub const CATEGORY: &str = "exact";

/// How many quotes of a document are tried before it is passed over.
const TRIES: usize = 12;

const IDENTIFIER_PROMPTS: &[&str] = &[
    "where did we use {x}?",
    "what was `{x}` for again?",
    "I have to change {x}, what did we do there?",
    "show me what we did with `{x}`",
    "didn't we touch {x} before?",
];
const ERROR_PROMPTS: &[&str] = &[
    "I get `{x}` again",
    "{x}\n\nhave we seen this before?",
    "where does \"{x}\" come from?",
    "it fails with: {x}",
];
const COMMAND_PROMPTS: &[&str] = &[
    "what was this for: {x}",
    "`{x}`\nwhen did we run that?",
    "explain `{x}` to me once more",
    "I found {x} in my shell history, what did it do?",
];
const NAME_PROMPTS: &[&str] = &[
    "what did we say about {x}?",
    "{x}, remember?",
    "when did {x} come up?",
    "tell me again about {x}",
    "what was it with {x}?",
];
const PHRASE_PROMPTS: &[&str] = &[
    "what was \"{x}\" about?",
    "where did we have \"{x}\"?",
    "\"{x}\" - when was that?",
    "I am looking for the place with \"{x}\"",
];
const NUMBER_PROMPTS: &[&str] = &[
    "what was {x} about?",
    "where does {x} come from?",
    "we had {x} somewhere, what was it?",
];

/// Makes up to `limit` queries, each from another document; where too few documents hold a name or the like, rare
/// words of others are quoted with what stands beside them.
pub fn queries(dataset: &Dataset, limit: usize, seed: u64) -> Vec<JudgedQuery> {
    let corpus = Corpus::new(dataset);
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..dataset.documents.len()).collect();
    random.shuffle(&mut order);

    let quoted = order
        .iter()
        .filter_map(|document| Some((*document, corpus.quote(*document, &mut random)?)));
    let mut chosen: Vec<(usize, Quote)> = quoted.take(limit).collect();
    let taken: HashSet<usize> = chosen.iter().map(|(document, _)| *document).collect();
    let others = order.iter().filter(|document| !taken.contains(document));
    let fragments = others.filter_map(|document| Some((*document, corpus.fragment(*document)?)));
    chosen.extend(fragments.take(limit - taken.len()));

    let queries = chosen.into_iter();
    queries
        .map(|(document, quote)| corpus.query(document, &prompt(&quote, &mut random)))
        .collect()
}

fn prompt(quote: &Quote, random: &mut Random) -> String {
    let prompts = match quote.kind {
        QuoteKind::Identifier => IDENTIFIER_PROMPTS,
        QuoteKind::Error => ERROR_PROMPTS,
        QuoteKind::Command => COMMAND_PROMPTS,
        QuoteKind::Name => NAME_PROMPTS,
        QuoteKind::Phrase => PHRASE_PROMPTS,
        QuoteKind::Number => NUMBER_PROMPTS,
    };
    prompts[random.below(prompts.len())].replace("{x}", quote.text)
}

/// A set's documents, ready to be searched word for word.
struct Corpus<'a> {
    dataset: &'a Dataset,
    /// The texts in lower case: a prompt may write a word in any case.
    folded: Vec<String>,
    projects: HashMap<Option<&'a str>, Project>,
    /// All words that somewhere stand in lower case, and so are no names.
    common: HashSet<&'a str>,
    /// In how many documents each word stands.
    frequencies: HashMap<String, usize>,
}

#[derive(Default)]
struct Project {
    documents: Vec<usize>,
    /// When the last of them was written, or the last question asked: nothing that is quoted lies in the future.
    latest: Option<UnixMillis>,
}

impl<'a> Corpus<'a> {
    fn new(dataset: &'a Dataset) -> Self {
        let mut projects: HashMap<Option<&str>, Project> = HashMap::new();
        for (index, document) in dataset.documents.iter().enumerate() {
            let project = projects.entry(document.project.as_deref()).or_default();
            project.documents.push(index);
            project.latest = project.latest.max(document.timestamp);
        }
        for query in &dataset.queries {
            if let Some(project) = projects.get_mut(&query.project.as_deref()) {
                project.latest = project.latest.max(query.timestamp);
            }
        }
        let texts = || dataset.documents.iter().map(|document| document.text.as_str());
        let folded: Vec<String> = texts().map(str::to_lowercase).collect();
        let mut frequencies = HashMap::new();
        for text in &folded {
            for word in quote::words(text).collect::<BTreeSet<&str>>() {
                *frequencies.entry(word.to_owned()).or_default() += 1;
            }
        }
        Self {
            dataset,
            folded,
            projects,
            common: texts().flat_map(quote::common_words).collect(),
            frequencies,
        }
    }

    /// Something that stands in this document and in no other of its project.
    fn quote(&self, document: usize, random: &mut Random) -> Option<Quote<'a>> {
        let mut quotes = quote::quotes(&self.dataset.documents[document].text, &self.common);
        random.shuffle(&mut quotes);
        // One quotes what is rarest, and remembers a bare number last.
        quotes.sort_by_cached_key(|quote| (quote.kind == QuoteKind::Number, self.rarest_word(quote.text)));
        quotes
            .into_iter()
            .take(TRIES)
            .find(|quote| self.holders(document, quote.text) == [document])
    }

    /// In how many documents the rarest word of `text` stands.
    fn rarest_word(&self, text: &str) -> usize {
        let words = quote::words(text).map(|word| self.frequency(&word.to_lowercase()));
        words.min().unwrap_or(usize::MAX)
    }

    fn frequency(&self, word: &str) -> usize {
        self.frequencies.get(word).copied().unwrap_or_default()
    }

    /// A rare word of the document within its phrase, if that stands here alone.
    fn fragment(&self, document: usize) -> Option<Quote<'a>> {
        let quote = quote::fragment(&self.dataset.documents[document].text, |word| self.frequency(word))?;
        (self.holders(document, quote.text) == [document]).then_some(quote)
    }

    /// The documents of the same project that hold `text`, in any case.
    fn holders(&self, document: usize, text: &str) -> Vec<usize> {
        let text = text.to_lowercase();
        let finder = Finder::new(&text);
        let project = &self.projects[&self.dataset.documents[document].project.as_deref()];
        let holders = project.documents.iter().copied();
        holders.filter(|other| holds(&self.folded[*other], &text, &finder)).collect()
    }

    fn query(&self, document: usize, text: &str) -> JudgedQuery {
        let found = &self.dataset.documents[document];
        JudgedQuery {
            id: format!("{CATEGORY}:{}", found.id),
            text: text.to_owned(),
            category: Some(CATEGORY.to_owned()),
            timestamp: self.projects[&found.project.as_deref()].latest,
            project: found.project.clone(),
            relevant: BTreeMap::from([(document, 1)]),
            relevant_sessions: BTreeSet::from_iter(found.session.clone()),
        }
    }
}

/// Whether `text` holds what the finder looks for as whole words: `cat` does not stand in `concat`.
fn holds(text: &str, needle: &str, finder: &Finder) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins_word = needle.starts_with(is_word);
    let ends_word = needle.ends_with(is_word);
    finder.find_iter(text.as_bytes()).any(|at| {
        let (before, after) = (&text[..at], &text[at + needle.len()..]);
        !(begins_word && before.ends_with(is_word) || ends_word && after.starts_with(is_word))
    })
}

#[cfg(test)]
mod tests;
