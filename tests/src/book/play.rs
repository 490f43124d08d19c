//! A page is played: its blocks come in, one after another in one home; faults, and the page as it should be, go out.

use super::markdown::{Block, Page};
use super::scene::{Before, Scene};
use super::script::{self, Step};
use super::world::{Ran, World};
use super::writes;

/// Languages of blocks that hold no command.
const OTHERS: &[&str] = &["json", "jsonc", "text", "json request", "json reply"];
/// How often a command is put whose answer may come too late: again whatever was wrong with it.
const TRIES: usize = 8;

/// What became of a page.
#[derive(Debug, Default)]
pub struct Played {
    /// Commands that were run.
    pub commands: usize,
    /// Blocks that are not run, each with its place and reason.
    pub not_run: Vec<String>,
    /// What is wrong, each with its place.
    pub faults: Vec<String>,
    /// The page with what the commands print now, where that differs.
    pub written: Option<String>,
}

/// Plays `page` in the home that `make` makes, which is asked for once there is something to run.
///
/// # Panics
/// Where a block has no end, or the home can't be used.
pub fn play<'a>(page: &Page, make: impl FnOnce() -> World<'a>) -> Played {
    let mut played = Played::default();
    let mut make = Some(make);
    let mut world: Option<World<'a>> = None;
    let mut anew: Vec<(Block, Vec<String>)> = Vec::new();
    for block in page.blocks() {
        let place = format!("{}:{}", page.path.display(), block.line);
        let (scene, steps) = match read(&block) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(fault) => {
                played.faults.push(format!("{place}: {fault}"));
                continue;
            }
        };
        if let Some(reason) = &scene.not_run {
            played.not_run.push(format!("{place}: {reason}"));
            continue;
        }
        if let Some(make) = make.take() {
            world = Some(make());
        }
        let world = world.as_mut().expect("invariant: it was made");
        let before = played.faults.len();
        let mut run = Run {
            world,
            scene: &scene,
            place: &place,
            played: &mut played,
        };
        let printed = run.all(&steps);
        if played.faults.len() > before && block.language == "console" {
            anew.push((block, script::rendered(&printed)));
        }
    }
    if writes() && !anew.is_empty() {
        played.written = Some(with(page, anew));
    }
    played
}

/// The page's text with other lines in some of its blocks, which are in its order.
fn with(page: &Page, blocks: Vec<(Block, Vec<String>)>) -> String {
    let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    // From the last to the first, since lengths change.
    for (block, new) in blocks.into_iter().rev() {
        lines.splice(block.line..block.line + block.lines.len(), new);
    }
    lines.join("\n") + "\n"
}

/// How a block is run; `None` for one without commands.
fn read(block: &Block) -> Result<Option<(Scene, Vec<Step>)>, String> {
    let steps = match block.language.as_str() {
        "console" => script::console(&block.lines)?,
        "sh" => script::sh(&block.lines),
        "toml" => vec![checked_settings(block)],
        language if OTHERS.contains(&language) => return Ok(None),
        "" => return Err("a block says what it holds: sh, console, toml, json, text".to_owned()),
        other => return Err(format!("no such language of blocks: {other}")),
    };
    if steps.is_empty() {
        return Err("there is no command in it".to_owned());
    }
    Ok(Some((Scene::of(&block.notes)?, steps)))
}

/// Settings on a page are such as can be used.
fn checked_settings(block: &Block) -> Step {
    let text = block.lines.join("\n").replace('\'', "'\\''");
    Step {
        command: format!("printf '%s\\n' '{text}' > ~/run/page.toml && remembrancer config check ~/run/page.toml"),
        output: None,
    }
}

/// A block that is run.
struct Run<'p, 'w> {
    world: &'p mut World<'w>,
    scene: &'p Scene,
    place: &'p str,
    played: &'p mut Played,
}

impl Run<'_, '_> {
    /// Runs its steps. Returns them with what they printed.
    fn all(&mut self, steps: &[Step]) -> Vec<Step> {
        for before in &self.scene.before {
            match before {
                Before::NoDaemon => self.world.stop(),
                Before::Daemon => self.world.start(),
                Before::Prompt { folder, text } => self.world.prompt(folder, text),
                Before::Command(command) => {
                    let ran = self.world.run(command);
                    if ran.code != 0 {
                        let fault = format!("{}: `{command}` before it exits with {}", self.place, ran.code);
                        self.played.faults.push(fault);
                    }
                }
            }
        }
        let mut printed = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let code = if number + 1 == steps.len() { self.scene.code } else { 0 };
            printed.push(self.step(step, code));
        }
        printed
    }

    /// Runs one, which is to exit with `code`.
    fn step(&mut self, step: &Step, code: i32) -> Step {
        let mut ran = self.world.run(&step.command);
        let is_right = |ran: &Ran| ran.code == code && step.prints(&ran.lines);
        let tries = if self.scene.may_be_late { TRIES } else { 1 };
        for _ in 1..tries {
            if is_right(&ran) {
                break;
            }
            ran = self.world.run(&step.command);
        }
        self.played.commands += 1;
        if !is_right(&ran) {
            self.played.faults.push(format!(
                "{}: `{}` exits with {}, and prints:\n    {}",
                self.place,
                step.command,
                ran.code,
                ran.lines.join("\n    ")
            ));
        }
        let is_told = step.output.is_some() && step.prints(&ran.lines);
        Step {
            command: step.command.clone(),
            output: if is_told { step.output.clone() } else { Some(ran.lines) },
        }
    }
}
