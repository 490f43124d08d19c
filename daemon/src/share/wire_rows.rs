//! Episodes as the shared store's columns have them, and back. On the way out each text goes through today's redaction, paths lose what
//! they tell of this machine, and where the team has a key the texts are sealed; on the way in they are opened, redacted again and
//! bounded, since whoever wrote them may be anybody with a login.

use remembrancer_processor::ingest::{plausible_time, redact};
use remembrancer_schema::shared::{KIND_END, KIND_FORGOTTEN, KIND_FURTHER, KIND_LIVE, KIND_WITHDRAWN};
use remembrancer_schema::{
    EpisodeUid, Facets, Importance, Origin, OwnEpisode, PulledChange, ShareOrigin, SharedEpisode, TurnUid, UnixMillis,
    content_hash_of, may_be_told,
};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

use super::error::ShareError;
use super::seal::{SealError, TeamKey};

/// The columns of COPY, in their order.
pub(super) const COLUMNS: [Type; 22] = [
    Type::INT4,
    Type::BYTEA,
    Type::BYTEA,
    Type::TEXT_ARRAY,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT2,
    Type::INT4,
    Type::INT4,
    Type::INT2,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::BYTEA,
    Type::BYTEA,
    Type::TEXT,
    Type::FLOAT4_ARRAY,
];

/// Bytes that are taken of each text of others.
const PROMPT: usize = 16 * 1024;
const ANSWER: usize = 64 * 1024;
const FACET: usize = 4 * 1024;
const NAME: usize = 256;
const KEY: usize = 512;
/// How many values of a list are taken.
const FILES: usize = 24;
const COMMANDS: usize = 12;
const ERRORS: usize = 6;
const TOOLS: usize = 12;
const KEYS: usize = 8;

/// What the facets are where they are sealed.
const NO_FACETS: &str = "{}";

/// The team's name and its key.
#[derive(Debug, Clone)]
pub(crate) struct Sealing {
    pub(super) team: String,
    pub(crate) key: TeamKey,
}

/// An episode as it leaves.
#[derive(Debug, PartialEq)]
pub(super) struct Outgoing {
    team: i32,
    uid: [u8; 16],
    turn_uid: [u8; 16],
    project_keys: Vec<String>,
    project_name: String,
    agent: String,
    session: String,
    origin: i16,
    turn: i32,
    part: i32,
    importance: i16,
    importance_rule: String,
    created_at: i64,
    updated_at: i64,
    git_branch: Option<String>,
    prompt: String,
    answer: String,
    facets: String,
    content_hash: [u8; 32],
    sealed: Option<Vec<u8>>,
    model: Option<String>,
    embedding: Option<Vec<f32>>,
}

impl Outgoing {
    /// `own` as it may leave for this team. Its vector goes along where the server knows the model, as `is_known` says.
    ///
    /// # Errors
    /// Where it can't be sealed.
    pub(super) fn of(
        own: &OwnEpisode,
        team: i32,
        sealing: Option<&Sealing>,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SealError> {
        let mut episode = redacted(&own.episode);
        // Before the redaction both were of one form, and after it they still are.
        episode.facets.files = told_from(episode.facets.files, own.project_root.as_deref());
        episode.project_keys.retain(|key| may_be_told(key));
        // Of what leaves, and not of what is stored here: who compares the two would learn of what was left out.
        let own_hash = content_hash_of(&episode.prompt, &episode.answer, &episode.facets);
        let content_hash = sealing.map_or(own_hash, |sealing| sealing.key.hash(&own_hash));
        let sealed = match sealing {
            None => None,
            Some(Sealing { team, key }) => {
                let sealed = key.seal(team, &episode)?;
                episode.project_keys = episode.project_keys.iter().map(|name| key.name(name)).collect();
                episode.session = key.name(&episode.session);
                Some(sealed)
            }
        };
        let (model, embedding) = match episode.embedding {
            Some((model, vector)) if is_known(&model) => (Some(model), Some(vector)),
            _ => (None, None),
        };
        let is_open = sealed.is_none();
        let open = |text: String| if is_open { text } else { String::new() };
        let facets = if is_open {
            serde_json::to_string(&episode.facets).unwrap_or_else(|_| NO_FACETS.to_owned())
        } else {
            NO_FACETS.to_owned()
        };
        Ok(Self {
            team,
            uid: episode.uid.0,
            turn_uid: episode.turn_uid.0,
            project_keys: episode.project_keys,
            project_name: open(episode.project_name),
            agent: episode.agent,
            session: episode.session,
            origin: match episode.origin {
                Origin::User => 0,
                Origin::Subagent => 1,
            },
            turn: i32::try_from(episode.turn).unwrap_or(i32::MAX),
            part: i32::try_from(episode.part).unwrap_or(i32::MAX),
            importance: match episode.importance {
                Importance::Low => 0,
                Importance::Normal => 1,
                Importance::High => 2,
            },
            importance_rule: episode.importance_rule,
            created_at: episode.created_at.0,
            updated_at: episode.updated_at.0,
            git_branch: episode.git_branch.filter(|_| is_open),
            prompt: open(episode.prompt),
            answer: open(episode.answer),
            facets,
            content_hash,
            sealed,
            model,
            embedding,
        })
    }

    /// The values of [`COLUMNS`].
    pub(super) fn values<'a>(&'a self, bytes: &'a Borrowed<'a>) -> [&'a (dyn ToSql + Sync); 22] {
        [
            &self.team,
            &bytes.uid,
            &bytes.turn_uid,
            &self.project_keys,
            &self.project_name,
            &self.agent,
            &self.session,
            &self.origin,
            &self.turn,
            &self.part,
            &self.importance,
            &self.importance_rule,
            &self.created_at,
            &self.updated_at,
            &self.git_branch,
            &self.prompt,
            &self.answer,
            &self.facets,
            &bytes.content_hash,
            &self.sealed,
            &self.model,
            &self.embedding,
        ]
    }

    /// Its arrays, as the driver takes bytes.
    pub(super) fn bytes(&self) -> Borrowed<'_> {
        Borrowed {
            uid: &self.uid,
            turn_uid: &self.turn_uid,
            content_hash: &self.content_hash,
        }
    }
}

/// Bytes of fixed length, borrowed.
pub(super) struct Borrowed<'a> {
    uid: &'a [u8],
    turn_uid: &'a [u8],
    content_hash: &'a [u8],
}

/// About how many bytes an episode takes on the way.
pub(super) fn size(episode: &SharedEpisode) -> usize {
    let Facets {
        files,
        commands,
        errors,
        tools,
    } = &episode.facets;
    let facets: usize = [files, commands, errors, tools].into_iter().flatten().map(String::len).sum();
    let vector = episode.embedding.as_ref().map_or(0, |(_, vector)| vector.len() * 8);
    // The rest of the columns, and what each takes for its length.
    512 + episode.prompt.len() + episode.answer.len() + facets + vector
}

/// What today's rules leave of an episode, and what PostgreSQL takes as text.
fn redacted(episode: &SharedEpisode) -> SharedEpisode {
    let text = |text: &str| clean(redact(text).into_owned());
    let list = |list: &[String]| -> Vec<String> { list.iter().map(|value| text(value)).collect() };
    SharedEpisode {
        project_keys: list(&episode.project_keys),
        project_name: text(&episode.project_name),
        agent: clean(episode.agent.clone()),
        session: text(&episode.session),
        importance_rule: clean(episode.importance_rule.clone()),
        git_branch: episode.git_branch.as_deref().map(text),
        prompt: text(&episode.prompt),
        answer: text(&episode.answer),
        facets: Facets {
            files: list(&episode.facets.files),
            commands: list(&episode.facets.commands),
            errors: list(&episode.facets.errors),
            tools: list(&episode.facets.tools),
        },
        ..episode.clone()
    }
}

/// Without the one character that no text of PostgreSQL may hold.
fn clean(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

/// Files as they are told to others: below the project's folder from there on, elsewhere not at all.
pub(super) fn told_from(files: Vec<String>, root: Option<&str>) -> Vec<String> {
    let root = root
        .map(|root| root.trim_end_matches(['/', '\\']))
        .filter(|root| !root.is_empty());
    let mut told: Vec<String> = Vec::with_capacity(files.len());
    for file in files {
        let Some(below) = below(&file, root) else { continue };
        if !told.contains(&below) {
            told.push(below);
        }
    }
    told
}

/// The path of `file` from `root` on; `None` where it lies elsewhere, or may.
fn below(file: &str, root: Option<&str>) -> Option<String> {
    let path = if is_whole(file) {
        file.strip_prefix(root?)?.strip_prefix(['/', '\\'])?
    } else {
        file.strip_prefix("./").unwrap_or(file)
    };
    let leaves = path.split(['/', '\\']).any(|name| name == "..");
    (!path.is_empty() && !leaves && !is_whole(path)).then(|| path.to_owned())
}

/// Whether a path says where it begins: at a root, a drive, a home folder, or as a URL.
fn is_whole(path: &str) -> bool {
    let mut chars = path.chars();
    let is_of_a_drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':');
    path.starts_with(['/', '\\', '~']) || is_of_a_drive || path.contains("://") || path.starts_with("file:")
}

/// A row of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// A change.
    Change(PulledChange),
    /// A sealed episode that this key does not open, or one in the clear where the team has a key.
    NotOpened,
    /// An episode that is none.
    NotTaken,
    /// How far the page looked, and there may be more behind it.
    Further,
    /// How far the page looked, and nothing is behind it.
    End,
}

/// What is known here of how to read others' episodes.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) sealing: Option<Sealing>,
    /// The model whose vectors were asked for, and how long they are.
    pub(super) model: Option<(String, usize)>,
    pub(super) now: UnixMillis,
}

/// Where a row stands in the order of all changes, and the last change that the server knew of.
///
/// # Errors
/// [`ShareError::Unread`].
pub(super) fn place(row: &Row) -> Result<(i64, i64), ShareError> {
    Ok((get(row, "seq")?, get(row, "head")?))
}

impl Reading {
    /// What a row of a page says.
    ///
    /// # Errors
    /// [`ShareError::Unread`] where the columns are not those of this version; what is in them is never an error.
    pub(super) fn row(&self, row: &Row) -> Result<Incoming, ShareError> {
        let seq: i64 = get(row, "seq")?;
        match get::<i16>(row, "kind")? {
            KIND_LIVE => self.live(seq, row),
            KIND_WITHDRAWN => {
                let (uid, member) = (get::<&[u8]>(row, "uid")?, get(row, "member")?);
                Ok(withdrawn(seq, uid, member, get(row, "machine")?))
            }
            KIND_FORGOTTEN => {
                let (turn, member) = (get::<&[u8]>(row, "turn_uid")?, get(row, "member")?);
                Ok(sixteen(turn).map_or(Incoming::NotTaken, |turn| {
                    Incoming::Change(PulledChange::Forgotten {
                        seq,
                        turn_uid: TurnUid(turn),
                        member,
                    })
                }))
            }
            KIND_END => Ok(Incoming::End),
            KIND_FURTHER => Ok(Incoming::Further),
            kind => Err(ShareError::Unread(format!("a change of kind {kind}"))),
        }
    }

    fn live(&self, seq: i64, row: &Row) -> Result<Incoming, ShareError> {
        let ids = (
            sixteen(get(row, "uid")?),
            sixteen(get(row, "turn_uid")?),
            sixteen(get(row, "machine")?),
            <[u8; 32]>::try_from(get::<&[u8]>(row, "content_hash")?).ok(),
        );
        let (Some(uid), Some(turn_uid), Some(machine), Some(content_hash)) = ids else {
            return Ok(Incoming::NotTaken);
        };
        let from = ShareOrigin {
            member: get(row, "member")?,
            member_login: name(get::<&str>(row, "member_login")?),
            machine,
            machine_name: get::<Option<&str>>(row, "machine_name")?.map(name).unwrap_or_default(),
        };
        let vector: Option<Vec<f32>> = get(row, "embedding")?;
        let told = Told {
            prompt: get(row, "prompt")?,
            answer: get(row, "answer")?,
            facets: get(row, "facets")?,
            git_branch: get(row, "git_branch")?,
            project_name: get(row, "project_name")?,
            project_keys: get(row, "project_keys")?,
            sealed: get(row, "sealed")?,
        };
        let (texts, content_hash) = match self.opened(EpisodeUid(uid), told, content_hash) {
            Ok(opened) => opened,
            Err(instead) => return Ok(instead),
        };
        let (created_at, updated_at) = self.times(UnixMillis(get(row, "created_at")?), UnixMillis(get(row, "updated_at")?));
        let episode = SharedEpisode {
            uid: EpisodeUid(uid),
            turn_uid: TurnUid(turn_uid),
            project_keys: texts.project_keys,
            project_name: texts.project_name,
            agent: name(get::<&str>(row, "agent")?),
            session: name(get::<&str>(row, "session")?),
            origin: if get::<i16>(row, "origin")? == 1 {
                Origin::Subagent
            } else {
                Origin::User
            },
            turn: natural(get(row, "turn")?),
            part: natural(get(row, "part")?),
            importance: match get::<i16>(row, "importance")? {
                0 => Importance::Low,
                2 => Importance::High,
                _ => Importance::Normal,
            },
            importance_rule: name(get::<&str>(row, "importance_rule")?),
            created_at,
            updated_at,
            git_branch: texts.git_branch,
            prompt: texts.prompt,
            answer: texts.answer,
            facets: texts.facets,
            content_hash,
            embedding: vector.and_then(|vector| self.vector(&vector)),
        };
        Ok(Incoming::Change(PulledChange::Live {
            seq,
            from,
            episode: Box::new(episode),
        }))
    }

    /// When an episode began and was stored, by clocks of others: at times that can be.
    fn times(&self, created_at: UnixMillis, updated_at: UnixMillis) -> (UnixMillis, UnixMillis) {
        let created_at = plausible_time(created_at, self.now).unwrap_or(self.now);
        (created_at, plausible_time(updated_at, self.now).unwrap_or(created_at))
    }

    /// The texts of an episode, opened, redacted and bounded, and the hash of them as they were where they come from; or what the row is
    /// instead. Outside a seal stands what the key makes of the hash.
    fn opened(&self, uid: EpisodeUid, told: Told, mut content_hash: [u8; 32]) -> Result<(Texts, [u8; 32]), Incoming> {
        let texts = match (told.sealed, &self.sealing) {
            // Whoever has no key, the server for one, could write it.
            (None, Some(_)) | (Some(_), None) => return Err(Incoming::NotOpened),
            (None, None) => Texts {
                facets: facets(&told.facets).ok_or(Incoming::NotTaken)?,
                prompt: told.prompt,
                answer: told.answer,
                git_branch: told.git_branch,
                project_name: told.project_name,
                project_keys: told.project_keys,
            },
            (Some(sealed), Some(Sealing { team, key })) => {
                let opened = key.open(team, uid, &sealed).map_err(|_| Incoming::NotOpened)?;
                let own_hash = content_hash_of(&opened.prompt, &opened.answer, &opened.facets);
                if key.hash(&own_hash) == content_hash {
                    content_hash = own_hash;
                }
                Texts {
                    prompt: opened.prompt,
                    answer: opened.answer,
                    facets: opened.facets,
                    git_branch: opened.git_branch,
                    project_name: opened.project_name,
                    project_keys: opened.project_keys,
                }
            }
        };
        Ok((texts.bounded(), content_hash))
    }

    /// A vector of the model that was asked for, of length 1 as ours are; none where it can't be one.
    fn vector(&self, vector: &[f32]) -> Option<(String, Vec<f32>)> {
        let (model, dimension) = self.model.as_ref()?;
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        let is_one = vector.len() == *dimension && (0.9..1.1).contains(&length);
        is_one.then(|| (model.clone(), vector.iter().map(|value| value / length).collect()))
    }
}

/// The texts of a row as they came.
struct Told {
    prompt: String,
    answer: String,
    facets: String,
    git_branch: Option<String>,
    project_name: String,
    project_keys: Vec<String>,
    sealed: Option<Vec<u8>>,
}

/// The texts of an episode in the clear.
#[derive(Debug, Default, PartialEq)]
struct Texts {
    prompt: String,
    answer: String,
    facets: Facets,
    git_branch: Option<String>,
    project_name: String,
    project_keys: Vec<String>,
}

impl Texts {
    /// Without secrets, then within what one of ours may have: a secret that is cut first loses its shape.
    fn bounded(self) -> Self {
        let list =
            |list: Vec<String>, most| -> Vec<String> { list.into_iter().take(most).map(|value| text(&value, FACET)).collect() };
        let Facets {
            files,
            commands,
            errors,
            tools,
        } = self.facets;
        let keys = self.project_keys.into_iter();
        // A folder of another machine, or what holds everywhere, is nobody's to name here.
        let keys = keys.filter(|key| key.len() <= KEY && may_be_told(key));
        Self {
            prompt: text(&self.prompt, PROMPT),
            answer: text(&self.answer, ANSWER),
            facets: Facets {
                files: told_from(list(files, FILES), None),
                commands: list(commands, COMMANDS),
                errors: list(errors, ERRORS),
                tools: list(tools, TOOLS),
            },
            git_branch: self.git_branch.as_deref().map(name),
            project_name: name(&self.project_name),
            project_keys: keys.take(KEYS).map(|key| text(&key, KEY)).collect(),
        }
    }
}

/// An episode that this machine of its member's shares no more; where the machine is all zeros, none of them does.
fn withdrawn(seq: i64, uid: &[u8], member: i32, machine: &[u8]) -> Incoming {
    match (sixteen(uid), sixteen(machine)) {
        (Some(uid), Some(machine)) => Incoming::Change(PulledChange::Withdrawn {
            seq,
            uid: EpisodeUid(uid),
            member,
            machine,
        }),
        _ => Incoming::NotTaken,
    }
}

/// Facets as they are written; none is the empty text, too.
fn facets(text: &str) -> Option<Facets> {
    if text.is_empty() {
        return Some(Facets::default());
    }
    serde_json::from_str(text).ok()
}

/// A text of others, redacted and cut.
fn text(text: &str, most: usize) -> String {
    let mut text = redact(text).into_owned();
    text.truncate(text.floor_char_boundary(most));
    text
}

/// A name that others gave, on one line.
fn name(given: &str) -> String {
    text(given, NAME).replace(char::is_control, " ")
}

fn natural(number: i32) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

fn sixteen(bytes: &[u8]) -> Option<[u8; 16]> {
    bytes.try_into().ok()
}

/// A column of a row.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, ShareError> {
    row.try_get(column)
        .map_err(|_| ShareError::Unread(format!("the column `{column}`")))
}

#[cfg(test)]
pub(super) mod tests;
