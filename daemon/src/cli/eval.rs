//! `eval`: how good recall is on judged sets, in every profile and by every leg alone.

mod explain;

use std::path::PathBuf;

use clap::Args;
use remembrancer_processor::embed::BertEmbedder;
use remembrancer_processor::eval::dataset::Dataset;
use remembrancer_processor::eval::report::{Report, ReportOptions};
use remembrancer_processor::eval::statistics::Resampling;
use remembrancer_processor::recall::{PROFILES, Profile, RecallSettings, SINGLE_LEGS};
use remembrancer_processor::rerank::{CrossEncoder, Rerank};
use serde_json::json;

use super::error::{CliError, Kind};
use super::output::{complain, say, say_json};
use super::progress::Progress;
use super::steer::counted;
use super::surroundings::Surroundings;
use crate::causes::with_causes;
use crate::eval::{Bench, EvalError, Models, Swept, Vectors, Ways};

#[derive(Debug, Args)]
pub(super) struct EvalArguments {
    /// Folders of judged sets in BEIR's layout: corpus.jsonl, queries.jsonl and qrels.tsv, plain or gzipped.
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Only these profiles or legs, separated by commas; the others are held against the first.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    compare: Vec<String>,
    /// Show how each profile ranks one query, given by its id in the set or as text.
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["sweep", "features", "json"])]
    explain: Option<String>,
    /// Sweep the constants of fusion instead: K, the share of the cosine, weights of legs.
    #[arg(long, conflicts_with = "features")]
    sweep: bool,
    /// Write what speaks for each candidate into this file instead, for packaging/ranking/train.py.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    features: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Keep the vectors of what is embedded in this folder, for the next run.
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Seed of all that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &EvalArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let settings = &surroundings.config.recall;
    let ways = Ways {
        profiles: profiles(&arguments.compare)?,
        settings: settings.clone(),
        seed: arguments.seed,
    };
    let sets = load(&arguments.folders)?;
    let features = arguments.features.as_ref().map(fs_err::File::create).transpose()?;
    let model = model(surroundings)?;
    let reranker = reranker(surroundings)?;
    let models = Models {
        embedder: &model,
        reranker: reranker.as_ref().map(|reranker| reranker as &dyn Rerank),
    };
    let mut vectors = Vectors::open(&model, arguments.cache.as_deref())?;
    let mut benches = Vec::with_capacity(sets.len());
    for set in &sets {
        let mut progress = Progress::counted(format!("{}: embedding", set.name), 0, arguments.json);
        let mut all = 0;
        let mut tell = |left: usize| {
            all = all.max(left);
            progress.at((all - left) as u64, all as u64);
        };
        let bench = Bench::new(set, models, &mut vectors, &mut tell)?;
        drop(progress);
        tell_of_lost_documents(set, &bench);
        benches.push(bench);
    }
    if let Some(query) = &arguments.explain {
        return explain::run(&sets, &benches, query, &ways);
    }
    if let Some(file) = features {
        return write_features(&sets, &benches, &ways, file);
    }
    if arguments.sweep {
        return sweep(&sets, &benches, settings, arguments.json);
    }
    measure(&sets, &benches, &ways, arguments.json)
}

/// The sets in these folders. Two of one name, which may be one set twice, could not be told apart in what is printed.
fn load(folders: &[PathBuf]) -> Result<Vec<Dataset>, CliError> {
    let mut sets: Vec<Dataset> = Vec::with_capacity(folders.len());
    for folder in folders {
        let set = Dataset::load(folder).map_err(EvalError::from)?;
        if sets.iter().any(|earlier| earlier.name == set.name) {
            return Err(CliError::new(Kind::Usage, format!("two sets are called {}", set.name))
                .with_hint("name each set once, and rename the folder where they differ"));
        }
        sets.push(set);
    }
    Ok(sets)
}

fn measure(sets: &[Dataset], benches: &[Bench<'_>], ways: &Ways, json: bool) -> Result<(), CliError> {
    let mut measured = Vec::new();
    for (place, bench) in benches.iter().enumerate() {
        measured.extend(bench.measure(ways, &questions_of_others(sets, place))?);
    }
    let resampling = Resampling {
        seed: ways.seed,
        ..Resampling::default()
    };
    let options = ReportOptions {
        resampling,
        clustered: false,
    };
    let report = Report::new(&measured, &options);
    if json {
        say_json("eval", &serde_json::to_value(&report).map_err(anyhow::Error::from)?);
        return Ok(());
    }
    say!("{}", report.table());
    Ok(())
}

fn sweep(sets: &[Dataset], benches: &[Bench<'_>], settings: &RecallSettings, json: bool) -> Result<(), CliError> {
    let mut swept: Vec<(&str, Vec<Swept>)> = Vec::new();
    for (set, bench) in sets.iter().zip(benches) {
        swept.push((&set.name, bench.sweep(settings)?));
    }
    if json {
        say_json("eval", &json!({ "swept": swept }));
        return Ok(());
    }
    let heads: Vec<String> = swept.iter().map(|(name, _)| format!("{name:>24}")).collect();
    say!("recall@3 recall@10{:>17}{}", "", heads.join(" "));
    let ways = swept.first().map_or(0, |(_, ways)| ways.len());
    for way in 0..ways {
        let cells: Vec<String> = swept
            .iter()
            .map(|(_, swept)| format!("{:>18.3} {:.3}", swept[way].recall_3, swept[way].recall_10))
            .collect();
        say!("{:<35}{}", swept[0].1[way].constants, cells.join(" "));
    }
    Ok(())
}

fn write_features(sets: &[Dataset], benches: &[Bench<'_>], ways: &Ways, file: fs_err::File) -> Result<(), CliError> {
    let mut out = std::io::BufWriter::new(file);
    for (place, bench) in benches.iter().enumerate() {
        bench.write_features(ways, &questions_of_others(sets, place), &mut out)?;
    }
    std::io::Write::flush(&mut out)?;
    Ok(())
}

fn tell_of_lost_documents(set: &Dataset, bench: &Bench<'_>) {
    if bench.not_memory() > 0 {
        complain!(
            "{}: {} of {} no memory by the rules of ingest, and can't be found",
            set.name,
            bench.not_memory(),
            counted(&set.documents.len().into(), "document is", "documents are")
        );
    }
}

/// The profiles called so; all of them, and every single leg, if none is named.
fn profiles(names: &[String]) -> Result<Vec<Profile>, CliError> {
    let known = || PROFILES.iter().chain(SINGLE_LEGS);
    if names.is_empty() {
        return Ok(known().copied().collect());
    }
    let by_name = |name: &String| {
        known().find(|profile| profile.name == name).copied().ok_or_else(|| {
            let all: Vec<&str> = known().map(|profile| profile.name).collect();
            CliError::new(Kind::Usage, format!("there is no profile {name}")).with_hint(format!("choose of: {}", all.join(", ")))
        })
    };
    if let Some((_, name)) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        return Err(CliError::new(Kind::Usage, format!("profile {name} is named twice"))
            .with_hint("each can be compared with the others only"));
    }
    names.iter().map(by_name).collect()
}

fn model(surroundings: &Surroundings) -> Result<BertEmbedder, CliError> {
    let loaded = match &surroundings.config.model_dir {
        Some(folder) => BertEmbedder::from_dir(folder, surroundings.config.device),
        None => BertEmbedder::embedded_on(surroundings.config.device),
    };
    loaded.map_err(|error| EvalError::from(error).into())
}

/// The reranker of the settings, if they name one: all profiles are measured with it then.
fn reranker(surroundings: &Surroundings) -> Result<Option<CrossEncoder>, CliError> {
    let Some(folder) = &surroundings.config.reranker_dir else {
        return Ok(None);
    };
    let reranker = CrossEncoder::from_dir(folder, surroundings.config.device).map_err(EvalError::from)?;
    complain!("reranked by {}", reranker.model_id());
    Ok(Some(reranker))
}

/// The questions of all sets but the one at `place`.
fn questions_of_others(sets: &[Dataset], place: usize) -> Vec<&str> {
    let others = sets.iter().enumerate().filter(|(other, _)| *other != place);
    others
        .flat_map(|(_, set)| &set.queries)
        .map(|query| query.text.as_str())
        .collect()
}

impl From<EvalError> for CliError {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Dataset(_) => Self::new(Kind::Usage, with_causes(&error)),
            EvalError::Open(error) => error.into(),
            EvalError::Query(error) => error.into(),
            EvalError::Embed(_) | EvalError::Rerank(_) | EvalError::Vectors(_) | EvalError::File(_) => {
                Self::new(Kind::Failed, with_causes(&error))
            }
        }
    }
}
