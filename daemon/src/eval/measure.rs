//! One set, asked in every way: for each query the ranking before the gates and what would be shown; for prompts that
//! nothing answers, whether anything would be shown.

use std::collections::BTreeMap;
use std::io::Write;

use remembrancer_processor::Stopwatch;
use remembrancer_processor::eval::dataset::{Dataset, JudgedQuery};
use remembrancer_processor::eval::noise::{self, Half, NoiseKind, NoisePrompt};
use remembrancer_processor::eval::report::{Measured, NoiseResult, QueryResult};
use remembrancer_processor::eval::{exact, pasted};
use remembrancer_processor::recall::{Profile, Recall, RecallSettings, Weighed, Weighing};
use remembrancer_schema::UnixMillis;

use super::asker::{Asked, Asker, Models};
use super::error::EvalError;
use super::store::EvalStore;
use super::sweep::{Swept, sweep};
use super::vectors::Vectors;

/// Documents of a ranking that are judged.
const JUDGED: usize = 10;
/// Queries of the exact and of the pasted stratum made of each set.
const MADE_QUERIES: usize = 200;
/// Another conversation's questions that a set is asked at most.
const FOREIGN_QUESTIONS: usize = 300;

/// The ways in which a set is asked.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// The profiles; the first is what the others are held against.
    pub(crate) profiles: Vec<Profile>,
    /// How recalls are made otherwise.
    pub(crate) settings: RecallSettings,
    /// The seed of what is drawn.
    pub(crate) seed: u64,
}

/// A set in its store.
pub(crate) struct Bench<'a> {
    dataset: &'a Dataset,
    store: EvalStore,
    models: Models<'a>,
    noise_prompts: Vec<NoisePrompt>,
}

/// What the lines of one prompt have in common.
struct Line<'a> {
    kind: &'a str,
    id: &'a str,
    project: Option<&'a str>,
    relevant: Option<&'a BTreeMap<usize, u32>>,
}

impl<'a> Bench<'a> {
    /// Stores `dataset`; `progress` is told how many episodes are left to embed.
    ///
    /// # Errors
    /// What the store, the model or the file system reports.
    pub(crate) fn new(
        dataset: &'a Dataset,
        models: Models<'a>,
        vectors: &mut Vectors<'_>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, EvalError> {
        let store = EvalStore::build(dataset, models.embedder, vectors, progress)?;
        Ok(Self {
            dataset,
            store,
            models,
            noise_prompts: noise::prompts(),
        })
    }

    /// How many documents can't be found, since ingest takes them for no memory.
    pub(crate) fn not_memory(&self) -> usize {
        self.store.not_memory
    }

    /// Asks the set in all ways. `foreign` are questions about other things than this set's.
    ///
    /// # Errors
    /// Where a prompt can't be embedded.
    pub(crate) fn measure(&self, ways: &Ways, foreign: &[&str]) -> Result<Vec<Measured>, EvalError> {
        let mut asker = Asker::new(&self.store, self.models, self.now());
        let exact = exact::queries(self.dataset, MADE_QUERIES, ways.seed);
        let pasted = pasted::queries(self.dataset, MADE_QUERIES, ways.seed);
        let mut all = Vec::new();
        for profile in &ways.profiles {
            let settings = RecallSettings {
                profile: *profile,
                ..ways.settings.clone()
            };
            let mut queries = Vec::new();
            for query in self.dataset.queries.iter().chain(&exact).chain(&pasted) {
                queries.push(ask(&mut asker, query, &settings)?);
            }
            all.push(Measured {
                set: self.dataset.name.clone(),
                profile: profile.name.to_owned(),
                queries,
                noise: self.noise(&mut asker, &settings, foreign)?,
            });
        }
        Ok(all)
    }

    /// What would be recalled for one prompt.
    ///
    /// # Errors
    /// Where it can't be embedded.
    pub(crate) fn recall(&self, asked: Asked<'_>, settings: &RecallSettings) -> Result<Recall, EvalError> {
        Asker::new(&self.store, self.models, self.now()).recall(asked, settings)
    }

    /// The document of a candidate, by its place in the set.
    pub(crate) fn document(&self, weighed: &Weighed) -> Option<usize> {
        self.store.document(&weighed.text.turn_uid)
    }

    /// Writes what speaks for each candidate of each prompt, for a model to learn from: tab-separated, a line a candidate, the
    /// prompts that nothing answers with the rest.
    ///
    /// # Errors
    /// Where a prompt can't be embedded, or the lines can't be written.
    pub(crate) fn write_features(&self, ways: &Ways, foreign: &[&str], out: &mut dyn Write) -> Result<(), EvalError> {
        let mut asker = Asker::new(&self.store, self.models, self.now());
        let settings = without_gates(&ways.settings);
        let exact = exact::queries(self.dataset, MADE_QUERIES, ways.seed);
        let all = self.dataset.queries.iter().chain(&exact);
        for query in all.filter(|query| !query.relevant.is_empty()) {
            let kind = query.category.as_deref().unwrap_or("judged");
            let weighing = asker.recall(Asked::of(query), &settings)?.weighing;
            let line = Line {
                kind,
                id: &query.id,
                project: query.project.as_deref(),
                relevant: Some(&query.relevant),
            };
            self.write_candidates(&line, &weighing, out)?;
        }
        for (kind, asks) in self.unanswerable(foreign, &[Half::Tune, Half::Judge]) {
            for (number, asked) in asks.into_iter().enumerate() {
                let weighing = asker.recall(asked, &settings)?.weighing;
                let line = Line {
                    kind,
                    id: &format!("{kind}-{number}"),
                    project: asked.project,
                    relevant: None,
                };
                self.write_candidates(&line, &weighing, out)?;
            }
        }
        Ok(())
    }

    fn write_candidates(&self, line: &Line<'_>, weighing: &Weighing, out: &mut dyn Write) -> Result<(), EvalError> {
        let row = |features: &[f64]| -> String {
            let columns: Vec<String> = features.iter().map(|value| format!("{value:.6}")).collect();
            columns.join("\t")
        };
        let support = row(&weighing.support.features());
        for weighed in &weighing.candidates {
            let Some(document) = self.store.document(&weighed.text.turn_uid) else {
                continue;
            };
            let grade = line
                .relevant
                .and_then(|relevant| relevant.get(&document))
                .copied()
                .unwrap_or_default();
            writeln!(
                out,
                "{}\t{}\t{}\t{}\t{}\t{document}\t{grade}\t{}\t{}",
                self.dataset.name,
                line.kind,
                line.id,
                line.project.unwrap_or_default(),
                line.relevant.map_or(0, BTreeMap::len),
                support,
                row(&weighed.evidence.features()),
            )?;
        }
        Ok(())
    }

    /// Fuses the set's candidate pools with every constant.
    ///
    /// # Errors
    /// Where a prompt can't be embedded.
    pub(crate) fn sweep(&self, settings: &RecallSettings) -> Result<Vec<Swept>, EvalError> {
        sweep(self.dataset, &mut Asker::new(&self.store, self.models, self.now()), settings)
    }

    /// Asks what this set has no answer to: chatter, coding prompts, questions about people whom nobody in it knows, and those
    /// about other projects and other sets.
    fn noise(&self, asker: &mut Asker<'_>, settings: &RecallSettings, foreign: &[&str]) -> Result<Vec<NoiseResult>, EvalError> {
        let mut results = Vec::new();
        for (kind, asks) in self.unanswerable(foreign, &[Half::Judge]) {
            let mut shown_something = 0;
            for asked in &asks {
                shown_something += usize::from(!asker.recall(*asked, settings)?.recollections.is_empty());
            }
            results.push(NoiseResult {
                kind: kind.to_owned(),
                prompts: asks.len(),
                shown_something,
            });
        }
        Ok(results)
    }

    fn unanswerable<'q>(&'q self, foreign: &[&'q str], halves: &[Half]) -> BTreeMap<&'static str, Vec<Asked<'q>>> {
        let project = self.dataset.queries.first().and_then(|query| query.project.as_deref());
        let mut asks: BTreeMap<&'static str, Vec<Asked<'q>>> = BTreeMap::new();
        for prompt in self.noise_prompts.iter().filter(|prompt| halves.contains(&prompt.half)) {
            let kind = match prompt.kind {
                NoiseKind::Chatter => "chatter",
                NoiseKind::Coding => "coding",
                NoiseKind::Personal => "personal",
            };
            asks.entry(kind).or_default().push(elsewhere(&prompt.text, project));
        }
        asks.insert("foreign", self.foreign(foreign));
        asks
    }

    /// Each project's questions asked in the next project; where there is but one, questions of other sets.
    fn foreign<'q>(&'q self, others: &[&'q str]) -> Vec<Asked<'q>> {
        let mut projects: Vec<Option<&str>> = self.dataset.queries.iter().map(|query| query.project.as_deref()).collect();
        projects.sort_unstable();
        projects.dedup();
        let next = |project: Option<&str>| {
            let place = projects.iter().position(|other| *other == project).unwrap_or_default();
            projects[(place + 1) % projects.len()]
        };
        let all: Vec<Asked<'q>> = if projects.len() > 1 {
            let queries = self.dataset.queries.iter();
            queries
                .map(|query| Asked {
                    project: next(query.project.as_deref()),
                    ..Asked::of(query)
                })
                .collect()
        } else {
            others
                .iter()
                .map(|text| elsewhere(text, projects.first().copied().flatten()))
                .collect()
        };
        let step = all.len().div_ceil(FOREIGN_QUESTIONS).max(1);
        all.into_iter().step_by(step).collect()
    }

    /// The latest time in the set: when a prompt without a time is asked.
    fn now(&self) -> UnixMillis {
        let documents = self.dataset.documents.iter().filter_map(|document| document.timestamp);
        documents.max().unwrap_or(UnixMillis(0))
    }
}

fn elsewhere<'q>(text: &'q str, project: Option<&'q str>) -> Asked<'q> {
    Asked { text, project, at: None }
}

/// Asks one query twice: for its ranking, and for what would be shown.
fn ask(asker: &mut Asker<'_>, query: &JudgedQuery, settings: &RecallSettings) -> Result<QueryResult, EvalError> {
    let prompt = Asked::of(query);
    let ranking = asker.recall(prompt, &without_gates(settings))?;
    let mut watch = Stopwatch::start();
    let shown = asker.recall(prompt, settings)?;
    watch.lap("recall");
    let shown = asker.recalled(&shown);
    Ok(QueryResult {
        query_id: query.id.clone(),
        category: query.category.clone(),
        strata: strata(query),
        cluster: query.project.clone().unwrap_or_default(),
        ranked: asker.recalled(&ranking),
        relevant: query.relevant.clone(),
        millis: watch.total().as_secs_f64() * 1_000.0,
        shown: shown.len(),
        shown_relevant: shown.iter().filter(|document| query.relevant.contains_key(document)).count(),
    })
}

/// The same recall, judged by its ranking: ten, whatever their relevance and length.
fn without_gates(settings: &RecallSettings) -> RecallSettings {
    RecallSettings {
        top: JUDGED,
        ..settings.clone().without_gates()
    }
}

/// The strata of a query (DESIGN §10): exact and pasted are what the bench makes, paraphrase is `NL2Bash`, multi-hop is
/// LoCoMo's category.
fn strata(query: &JudgedQuery) -> Vec<String> {
    let stratum = match query.category.as_deref().unwrap_or_default() {
        exact::CATEGORY => Some("exact"),
        pasted::CATEGORY => Some("pasted"),
        "nl2bash-paraphrase" => Some("paraphrase"),
        "multi-hop" => Some("multi-hop"),
        _ => None,
    };
    stratum.into_iter().map(str::to_owned).collect()
}
