//! Verdicts as a table for people and as JSON for comparisons. Names and numbers go out, never a text of the set.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::score::{Scores, Share, Verdict};
use crate::spread::Spread;

/// All that was asked of one store.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The set's own questions.
    pub questions: Vec<Verdict>,
    /// What should be answered by silence, by kind of prompt.
    pub noise: Vec<(&'static str, Vec<Verdict>)>,
}

impl Report {
    /// The scores of all answerable questions, then those of each kind, then those that the set holds no answer to.
    fn groups(&self) -> Vec<(String, Scores)> {
        let answerable = || self.questions.iter().filter(|verdict| verdict.is_answerable);
        let mut groups = vec![("all".to_owned(), Scores::of(answerable()))];
        let categories: BTreeSet<&str> = answerable().map(|verdict| verdict.category.as_str()).collect();
        groups.extend(categories.into_iter().map(|category| {
            let of_it = answerable().filter(|verdict| verdict.category == category);
            (category.to_owned(), Scores::of(of_it))
        }));
        let unanswerable = Scores::of(self.questions.iter().filter(|verdict| !verdict.is_answerable));
        groups.push(("without an answer".to_owned(), unanswerable));
        groups.retain(|(_, scores)| scores.silent.of > 0);
        groups
    }

    fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let noise = self.noise.iter().flat_map(|(_, verdicts)| verdicts);
        self.questions.iter().chain(noise)
    }

    fn hooks(&self) -> Spread {
        let hooks: Vec<Duration> = self.verdicts().flat_map(|verdict| verdict.hooks.iter().copied()).collect();
        Spread::from(hooks)
    }

    /// How many prompts were asked again, since the machine was busy.
    fn asked_again(&self) -> usize {
        self.verdicts().filter(|verdict| verdict.hooks.len() > 1).count()
    }

    /// What answers had to do without to the last, and how many.
    fn lacking(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for lack in self.verdicts().flat_map(|verdict| &verdict.lacking) {
            *counts.entry(lack.as_str()).or_default() += 1;
        }
        counts
    }

    /// Everything, one object a verdict, too.
    pub fn json(&self) -> Value {
        let groups = self.groups().into_iter().map(|(name, scores)| (name, scores_json(&scores)));
        let noise = self.noise.iter().map(|(name, verdicts)| {
            let mut scores = scores_json(&Scores::of(verdicts));
            scores["verdicts"] = verdicts.iter().map(verdict_json).collect();
            ((*name).to_owned(), scores)
        });
        let hooks = self.hooks();
        json!({
            "groups": groups.collect::<serde_json::Map<_, _>>(),
            "noise": noise.collect::<serde_json::Map<_, _>>(),
            "hook_ms": {"p50": hooks.millis(0.5), "p99": hooks.millis(0.99), "count": hooks.count()},
            "asked_again": self.asked_again(),
            "lacking": self.lacking(),
            "verdicts": self.questions.iter().map(verdict_json).collect::<Vec<_>>(),
        })
    }
}

fn scores_json(scores: &Scores) -> Value {
    json!({
        "evidence_shown": share_json(scores.evidence_shown),
        "first_right": share_json(scores.first_right),
        "turn_shown": share_json(scores.turn_shown),
        "silent": share_json(scores.silent),
        "beside_the_point": share_json(scores.beside_the_point),
        "characters": scores.characters,
    })
}

fn share_json(share: Share) -> Value {
    let (low, high) = share.interval();
    json!({"hits": share.hits, "of": share.of, "value": share.value(), "low": low, "high": high})
}

fn verdict_json(verdict: &Verdict) -> Value {
    let shown = verdict
        .shown
        .iter()
        .map(|one| json!({"session": one.session, "is_evidence": one.is_evidence, "is_evidence_turn": one.is_evidence_turn}));
    json!({
        "question": verdict.question,
        "category": verdict.category,
        "shown": shown.collect::<Vec<_>>(),
        "characters": verdict.characters,
        "lacking": verdict.lacking,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| asked | prompts | evidence shown | first right | turn shown | silent | characters |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- |")?;
        for (name, scores) in self.groups() {
            writeln!(
                f,
                "| {name} | {} | {} | {} | {} | {} | {:.0} |",
                scores.silent.of,
                Percent(scores.evidence_shown),
                Percent(scores.first_right),
                Percent(scores.turn_shown),
                Percent(scores.silent),
                scores.characters,
            )?;
        }
        writeln!(
            f,
            "\n| noise | prompts | shows anything | of it beside the point | characters |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- |")?;
        for (name, verdicts) in &self.noise {
            let scores = Scores::of(verdicts);
            writeln!(
                f,
                "| {name} | {} | {} | {} | {:.0} |",
                scores.silent.of,
                Percent(scores.silent.rest()),
                Percent(scores.beside_the_point),
                scores.characters,
            )?;
        }
        let hooks = self.hooks();
        writeln!(
            f,
            "\nhook: p50 {:.1}, p99 {:.1} ms over {} prompts; {} asked again; lacking to the last: {:?}",
            hooks.millis(0.5),
            hooks.millis(0.99),
            hooks.count(),
            self.asked_again(),
            self.lacking(),
        )
    }
}

/// A share in percent with its interval.
struct Percent(Share);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.0.interval();
        write!(f, "{:.1} ({:.1} to {:.1})", self.0.value() * 1e2, low * 1e2, high * 1e2)
    }
}
