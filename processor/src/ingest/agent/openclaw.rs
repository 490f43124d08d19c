//! `OpenClaw`'s sessions: Pi's records, with what its channels, timers and itself put around a message or in its place.

mod prompt;

use super::pi::{Dialect, Pi};
use super::{Context, Description, Shape, has_extension};

pub(super) const DESCRIPTION: Description = Description {
    id: "openclaw",
    name: "OpenClaw",
    folders: |home| {
        let mut folders = vec![home.folder("OPENCLAW_STATE_DIR", ".openclaw").join("agents")];
        folders.extend(FORMER.map(|former| home.folder.join(former).join("agents")));
        folders
    },
    flat_folders: super::none,
    shape: |path| {
        let is_session = super::is_below(path, "sessions") && has_extension(path, "jsonl");
        let is_log = NO_SESSIONS.iter().any(|mark| super::stem(path).contains(mark));
        (is_session && !is_log).then_some(Shape::Lines)
    },
    context: |_, _| Context::default(),
    parser: |info, from| Box::new(Pi::new(info, from, DIALECT)),
};

/// Its folders under its former names.
const FORMER: [&str; 3] = [".clawdbot", ".moltbot", ".moldbot"];
/// What the names of files beside the sessions hold.
const NO_SESSIONS: &[&str] = &[".checkpoint.", ".trajectory"];

const DIALECT: Dialect = Dialect {
    heard: prompt::heard,
    told: prompt::told,
};
