//! What fuzzing runs: plain functions from bytes to nothing, which panic where a promise is broken. The stable test `replay` runs
//! them on seeds and on what was found before; `tests/fuzz` gives them to libFuzzer. See docs/fuzzing.md.
//!
//! An input is what the tested function takes in the wild, so that a real file is a seed. Whatever else a check needs (where to
//! split, which agent) is drawn from the input itself by [`input::Dice`]: the same input always takes the same course.

mod block;
mod config;
mod cutter;
mod database;
mod fixtures;
mod input;
mod install;
mod json;
mod line;
mod mutate;
mod parser;
mod payload;
mod query;
mod recollection;
mod recollection_file;
mod redact;
pub mod seeds;
mod wire;

pub use mutate::Mutator;

/// One thing to fuzz.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of the fuzz target, and of its folders of inputs.
    pub name: &'static str,
    /// Runs one input.
    ///
    /// # Panics
    /// Where a promise is broken.
    pub run: fn(&[u8]),
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// Every target; those of the parsers in the order of the table of agents.
pub const TARGETS: &[Target] = &[
    target("line", line::run),
    target("json", json::run),
    target("redact", redact::run),
    target("cutter", cutter::run),
    target("query", query::run),
    target("recollection", recollection::run),
    target("recollection_file", recollection_file::run),
    target("wire", wire::run),
    target("payload", payload::run),
    target("config", config::run),
    target("install_json", install::run_json),
    target("install_toml", install::run_toml),
    target("block", block::run),
    target("database", database::run),
    target("parser_claude_code", parser::run::<0>),
    target("parser_amp", parser::run::<1>),
    target("parser_antigravity", parser::run::<2>),
    target("parser_cline", parser::run::<3>),
    target("parser_codex", parser::run::<4>),
    target("parser_copilot_cli", parser::run::<5>),
    target("parser_cursor", parser::run::<6>),
    target("parser_droid", parser::run::<7>),
    target("parser_gemini_cli", parser::run::<8>),
    target("parser_goose", parser::run::<9>),
    target("parser_grok", parser::run::<10>),
    target("parser_hermes", parser::run::<11>),
    target("parser_kimi", parser::run::<12>),
    target("parser_openclaw", parser::run::<13>),
    target("parser_opencode", parser::run::<14>),
    target("parser_pi", parser::run::<15>),
    target("parser_qwen_code", parser::run::<16>),
];

/// The target of this name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}

/// Runs one input of the target of this name.
///
/// # Panics
/// Where there is no such target, or a promise is broken.
pub fn run(name: &str, data: &[u8]) {
    let target = find(name).unwrap_or_else(|| panic!("no target is called {name}"));
    (target.run)(data);
}
