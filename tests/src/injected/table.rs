//! The summary: one row for each phase, call and class, with what was met and what was found.

use std::collections::BTreeMap;
use std::fmt;

use super::case::{Case, Outcome, Phase};

/// What a sweep came to.
#[derive(Debug, Default)]
pub struct Table {
    rows: BTreeMap<(Phase, &'static str, &'static str), Row>,
    findings: Vec<String>,
}

#[derive(Debug, Default)]
struct Row {
    errors: Vec<String>,
    runs: usize,
    met: usize,
    ended: usize,
    crashes: usize,
    lost: usize,
    doubled: usize,
    hooks: usize,
    spins: usize,
    untold: usize,
    others: usize,
    longest: f64,
}

impl Table {
    /// Adds what became of `case`.
    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        let call = case.rule.call.map_or("*", |call| call.name());
        let class = case.rule.class.map_or("*", |class| class.name());
        let row = self.rows.entry((case.phase, call, class)).or_default();
        let what = case.rule.what();
        if !row.errors.contains(&what) {
            row.errors.push(what);
        }
        row.runs += 1;
        row.met += usize::from(outcome.fired > 0);
        row.ended += usize::from(outcome.ended);
        row.crashes += usize::from(outcome.crashed.is_some());
        row.lost += outcome.lost;
        row.doubled += outcome.doubled;
        row.hooks += usize::from(outcome.hook.is_some());
        row.spins += usize::from(outcome.spins());
        row.untold += usize::from(case.is_to_be_told() && outcome.fired > 0 && !outcome.ended && outcome.untold.is_some());
        row.others += usize::from(!outcome.faults.is_empty());
        row.longest = row
            .longest
            .max(outcome.recovered.map_or(f64::INFINITY, |took| took.as_secs_f64()));
        for finding in outcome.findings() {
            self.findings.push(format!("{}: {finding}", case.name()));
        }
    }

    /// All that is to be looked into, a line each.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| phase | call | class | errors | runs | met | ended by name | crashes | lost | doubled | hook | spins | not in status | else | recovery, s |"
        )?;
        writeln!(f, "|{}", " --- |".repeat(15))?;
        for ((phase, call, class), row) in &self.rows {
            writeln!(
                f,
                "| {} | {call} | {class} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
                phase.name(),
                row.errors.join(" "),
                row.runs,
                row.met,
                row.ended,
                row.crashes,
                row.lost,
                row.doubled,
                row.hooks,
                row.spins,
                row.untold,
                row.others,
                row.longest,
            )?;
        }
        let sum = |of: fn(&Row) -> usize| self.rows.values().map(of).sum::<usize>();
        writeln!(
            f,
            "\n{} runs, {} met a fault, {} ended by name; {} crashes, {} lost, {} doubled, {} hooks at fault, {} spins, {} not in status, {} else",
            sum(|row| row.runs),
            sum(|row| row.met),
            sum(|row| row.ended),
            sum(|row| row.crashes),
            sum(|row| row.lost),
            sum(|row| row.doubled),
            sum(|row| row.hooks),
            sum(|row| row.spins),
            sum(|row| row.untold),
            sum(|row| row.others),
        )
    }
}
