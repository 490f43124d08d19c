//! How long the members of a request may be. A request comes in; the first member that is too long goes out. The prompt and the lines of
//! an import alone are bounded by the line.

use super::{
    ExplainRequest, ForgetTarget, InstructionFile, Narrowing, ProtocolError, RecallRequest, Request, SearchRequest,
    SessionsRequest, TimelineRequest,
};

/// The longest id, in bytes. Known session ids are UUIDs of 36.
pub const MAX_ID_BYTES: usize = 256;
/// The longest path, in bytes: `PATH_MAX` of Linux; a longer one opens nowhere.
pub const MAX_PATH_BYTES: usize = 4_096;
/// The longest name of an agent, in bytes.
pub(crate) const MAX_AGENT_BYTES: usize = 64;
/// The longest line or list of words that a person types, in bytes.
const MAX_WORDS_BYTES: usize = 64 * 1_024;

/// Refuses a request of which a member is too long.
///
/// # Errors
///
/// [`ProtocolError::MemberTooLong`].
pub(super) fn check(request: &Request, op: &str) -> Result<(), ProtocolError> {
    let too_long = members(request)
        .into_iter()
        .find(|(_, value, max_bytes)| value.is_some_and(|value| value.len() > *max_bytes));
    match too_long {
        None => Ok(()),
        Some((member, _, max_bytes)) => Err(ProtocolError::MemberTooLong {
            op: op.to_owned(),
            member,
            max_bytes,
        }),
    }
}

type Member<'a> = (&'static str, Option<&'a str>, usize);

/// Of a target that all of several must name, the members of each.
fn members_of(target: &ForgetTarget) -> Vec<Member<'_>> {
    let member = |value, max_bytes| vec![("target", Some(value), max_bytes)];
    match target {
        ForgetTarget::Episode(id) | ForgetTarget::Session(id) => member(id.as_str(), MAX_ID_BYTES),
        ForgetTarget::Project(name) | ForgetTarget::Path(name) => member(name.as_str(), MAX_PATH_BYTES),
        ForgetTarget::Matching(words) => member(words.as_str(), MAX_WORDS_BYTES),
        ForgetTarget::AllOf(targets) => targets.iter().flat_map(members_of).collect(),
        ForgetTarget::After(_) | ForgetTarget::Before(_) | ForgetTarget::All => Vec::new(),
    }
}

/// The members of what narrows a look.
fn narrowed(narrowing: &Narrowing) -> Vec<Member<'_>> {
    let Narrowing { project, agent, .. } = narrowing;
    vec![
        ("project", project.as_deref(), MAX_PATH_BYTES),
        ("agent", agent.as_deref(), MAX_AGENT_BYTES),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line or a few for each operation")]
fn members(request: &Request) -> Vec<Member<'_>> {
    let agent = |agent| ("agent", Some(agent), MAX_AGENT_BYTES);
    let id = |member, id| (member, id, MAX_ID_BYTES);
    let path = |member, path| (member, path, MAX_PATH_BYTES);
    match request {
        Request::Recall(RecallRequest {
            agent: name,
            session,
            cwd,
            prompt_id,
            transcript,
            ..
        }) => vec![
            agent(name.as_str()),
            id("session", Some(session.as_str())),
            path("cwd", cwd.as_deref()),
            id("prompt_id", prompt_id.as_deref()),
            path("transcript", transcript.as_deref()),
        ],
        Request::ExcludeSession { agent: name, session } => vec![agent(name.as_str()), id("session", Some(session.as_str()))],
        Request::Changed { agent: name, transcript } => {
            vec![agent(name.as_str()), path("transcript", Some(transcript.as_str()))]
        }
        Request::Why { session } | Request::LastAnswer { session } | Request::Explanations { session, limit: _ } => {
            vec![id("session", session.as_deref())]
        }
        Request::Explain(ExplainRequest {
            cwd,
            agent: name,
            id: prompt,
            session,
            ..
        }) => vec![
            path("cwd", cwd.as_deref()),
            ("agent", name.as_deref(), MAX_AGENT_BYTES),
            id("id", prompt.as_deref()),
            id("session", session.as_deref()),
        ],
        Request::Exclude { path: folder } | Request::Include { path: folder } => vec![path("path", Some(folder.as_str()))],
        Request::Uninstruct { path: file, line } => {
            vec![path("path", Some(file.as_str())), ("line", line.as_deref(), MAX_WORDS_BYTES)]
        }
        Request::Instruct(InstructionFile {
            path: file,
            folder,
            line,
            made,
            tracked: _,
        }) => vec![
            path("path", Some(file.as_str())),
            path("folder", Some(folder.as_str())),
            ("line", line.as_deref(), MAX_WORDS_BYTES),
            path("made", made.as_deref()),
        ],
        Request::Remember { text, project } => vec![
            ("text", Some(text.as_str()), MAX_WORDS_BYTES),
            path("project", project.as_deref()),
        ],
        Request::Steer { how: _, ids } => ids.iter().map(|episode| id("ids", Some(episode.as_str()))).collect(),
        Request::Backup { path: file } => vec![path("path", file.as_deref())],
        Request::Forget { target } => members_of(target),
        Request::Show { id: episode } => vec![id("id", Some(episode.as_str()))],
        Request::Session { id: session, after } => vec![id("id", Some(session.as_str())), id("after", after.as_deref())],
        Request::Search(SearchRequest { query, narrowing, .. }) => {
            let mut members = narrowed(narrowing);
            members.push(("query", Some(query.as_str()), MAX_WORDS_BYTES));
            members
        }
        Request::Sessions(SessionsRequest { narrowing, before, .. }) => {
            let mut members = narrowed(narrowing);
            members.push(id("before", before.as_deref()));
            members
        }
        Request::Timeline(TimelineRequest {
            narrowing,
            before,
            after,
            around,
            limit: _,
        }) => {
            let mut members = narrowed(narrowing);
            members.extend([
                id("before", before.as_deref()),
                id("after", after.as_deref()),
                id("around", around.as_deref()),
            ]);
            members
        }
        // The lines of an export are as long as the line allows.
        Request::Import { .. }
        | Request::Status
        | Request::Flush
        | Request::Mend { .. }
        | Request::Pause { .. }
        | Request::Resume
        | Request::PauseSharing
        | Request::ResumeSharing
        | Request::ShareLeave
        | Request::Ping => Vec::new(),
    }
}
