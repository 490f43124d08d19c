//! What is remembered of a project in a file that a host reads by itself: for hosts that run no hook at a prompt. At the user's
//! word alone, a file at a time (`cli/instruct.rs`); the store knows which.
//!
//! `hosts` says which file each host reads; `block` edits a text; `file` judges a file and plans its change; `git` tells what is
//! tracked. In the daemon, `due` gathers whose files are to be written anew, and `refresh` does it: after a project has been quiet
//! for a while, so never during a turn, and at once where something was forgotten. What the user took out is not put back.

mod block;
mod due;
mod file;
pub(crate) mod git;
mod hosts;
mod refresh;
#[cfg(feature = "testing")]
pub(crate) mod testing;

use remembrancer_processor::recall::{CAPS, standing_block};
use remembrancer_schema::InstructionFile;

pub(crate) use due::Due;
pub(crate) use file::{Refusal, insert, remove, remove_made_folders, stands, topmost_missing};
pub(crate) use hosts::{HOSTS, Host};
pub(crate) use refresh::Refresher;

/// What [`insert`] puts into a file: the line, or a block that tells of nothing yet.
fn first_of(file: &InstructionFile) -> String {
    file.line.clone().unwrap_or_else(nothing)
}

/// Has the blocks in `files` of the user `uid` tell of nothing: what they show may have left the memory, and no daemon runs that
/// would say what to show instead.
///
/// # Errors
/// Which files may still show it, and why.
pub(crate) fn empty_all(files: &[InstructionFile], uid: u32) -> std::io::Result<()> {
    let blocks = files.iter().filter(|file| file.line.is_none());
    failures(blocks.filter_map(|file| write(file, &nothing(), uid).err().map(|refusal| refusal.to_string())))
}

/// Has the block in a file of the user `uid` be `block`. What holds no block, or is gone, shows nothing.
fn write(file: &InstructionFile, block: &str, uid: u32) -> Result<(), Refusal> {
    match file::update(file, block, uid)? {
        Some(change) => Ok(change.apply()?),
        None => Ok(()),
    }
}

fn nothing() -> String {
    as_ours(&standing_block(&[], CAPS))
}

/// A block as it is put into a text, where its last line break is the text's.
fn as_ours(block: &str) -> String {
    block.trim_end_matches('\n').to_owned()
}

/// An error that names the files that may still show what left the memory.
fn failures(refusals: impl Iterator<Item = String>) -> std::io::Result<()> {
    let refusals: Vec<String> = refusals.collect();
    if refusals.is_empty() {
        return Ok(());
    }
    Err(std::io::Error::other(format!(
        "what has left the memory may still stand in an instruction file: {}",
        refusals.join("; ")
    )))
}
