//! `share export`: what stands in the shared store, as the lines that `remembrancer export` writes: what this member shared, or all
//! that the team's members may read. It is read a page at a time, in the order of changes, and goes to a file or to standard
//! output.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use remembrancer_processor::ingest::redact_stored;
use remembrancer_schema::shared::{KIND_END, KIND_LIVE, PULL};
use remembrancer_schema::{
    EpisodeId, EpisodeText, EpisodeUid, Importance, Origin, ShareOrigin, Steered, StoredEpisode, TurnUid, UnixMillis,
};
use tokio_postgres::Row;

use super::server::{Member, Network, said};
use crate::cli::error::{CliError, Kind};
use crate::cli::export::destination::{Failed, to_file, to_stdout};
use crate::cli::export::form;
use crate::cli::output::complain;
use crate::cli::share::settings;
use crate::cli::surroundings::Surroundings;
use crate::plural::counted;
use crate::share::{Opened, TeamKey};
use crate::whose::shared_by_json;

/// Rows asked for at a time.
const PAGE: i32 = 200;

/// What holds of it.
const NOTES: &str = "Each line is as `remembrancer export` writes it, with `shared_by` where others shared it; what the shared store does not know \
is null. docs/export.md explains the members. Vectors are not written. Of a sealed team the texts are opened with the key of \
`share.key_file`.";

#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct ExportArguments {
    /// Where to; `-`, and without it, standard output.
    file: Option<PathBuf>,
    /// All that the team shares, not only what you do.
    #[arg(long)]
    team: bool,
    /// Replace the file if there is one (and only a file).
    #[arg(long, short)]
    force: bool,
}

/// What an export came to.
#[derive(Debug, Default)]
struct Written {
    episodes: u64,
    /// Those that this team's key does not open, and those in the clear where it has one.
    unopened: u64,
}

pub(super) fn run(arguments: &ExportArguments, surroundings: &Surroundings) -> Result<(), CliError> {
    let settings = settings(&surroundings.config)?;
    let network = Network::start()?;
    let member = Member::connect(&network, settings, surroundings)?;
    let key = member.key(settings)?;
    let export = Export {
        network: &network,
        member: &member,
        key: key.as_ref(),
        team: &settings.team,
        whole_team: arguments.team,
    };
    let file = arguments.file.as_deref().filter(|file| *file != Path::new("-"));
    let written = match file {
        None => to_stdout(|out| export.write(out))?.unwrap_or_default(),
        Some(file) => {
            let written = to_file(file, arguments.force, |out| export.write(out))?;
            complain!(
                "Wrote {} to {}.",
                counted(written.episodes, "episode", "episodes"),
                file.display()
            );
            written
        }
    };
    if written.episodes == 0 {
        let whose = if arguments.team { "The team shares" } else { "You share" };
        complain!("{whose} nothing there: there is nothing to write.");
    }
    if written.unopened > 0 {
        complain!(
            "Left out: {} not sealed with the team's key, or changed since.",
            counted(written.unopened, "episode that is", "episodes that are")
        );
    }
    Ok(())
}

struct Export<'a> {
    network: &'a Network,
    member: &'a Member,
    key: Option<&'a TeamKey>,
    team: &'a str,
    whole_team: bool,
}

impl Export<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<Written, Failed> {
        let read = |error| Failed::Read(said(error));
        let mut written = Written::default();
        let mut after = 0_i64;
        loop {
            let rows = self.page(after).map_err(Failed::Read)?;
            let before = after;
            for row in &rows {
                after = row.try_get("seq").map_err(read)?;
                match row.try_get::<_, i16>("kind").map_err(read)? {
                    KIND_LIVE => self.episode(row, out, &mut written)?,
                    KIND_END => return Ok(written),
                    // Nothing is left of what was taken back or forgotten.
                    _ => {}
                }
            }
            if after <= before {
                return Ok(written);
            }
        }
    }

    fn page(&self, after: i64) -> Result<Vec<Row>, CliError> {
        // Of no machine, so that none is left out.
        let (nobody, no_model) = ([0_u8; 16].to_vec(), "");
        let Member { client, hello, .. } = self.member;
        self.network
            .ask(client.query(PULL, &[&hello.team, &nobody, &after, &PAGE, &no_model, &true]))
    }

    fn episode(&self, row: &Row, out: &mut dyn Write, written: &mut Written) -> Result<(), Failed> {
        let read = |error| Failed::Read(said(error));
        let origin = origin(row).map_err(read)?;
        if !self.whole_team && origin.member != self.member.hello.member {
            return Ok(());
        }
        let mut episode = episode(row).map_err(Failed::Read)?;
        let sealed: Option<Vec<u8>> = row.try_get("sealed").map_err(read)?;
        match opened(self.key, self.team, episode.text.uid, sealed.as_deref()) {
            Ok(None) => {}
            Ok(Some(opened)) => unseal(&mut episode, opened),
            Err(Unopened) => {
                written.unopened += 1;
                return Ok(());
            }
        }
        // Whoever shared it may have older rules.
        redact_stored(&mut episode);
        // One's own comes back by `import`; what others shared does not.
        let is_own = origin.member == self.member.hello.member;
        let shared_by = (!is_own).then(|| shared_by_json(&origin));
        let line = form::json_line(&episode, shared_by.as_ref());
        out.write_all(line.as_bytes()).map_err(Failed::Write)?;
        written.episodes += 1;
        Ok(())
    }
}

/// A row that the team's key does not open, or one in the clear where the team has a key, which whoever has none could write.
#[derive(Debug, PartialEq, Eq)]
struct Unopened;

/// What was sealed of a row; `None` where nothing is sealed in this team.
fn opened(key: Option<&TeamKey>, team: &str, uid: EpisodeUid, sealed: Option<&[u8]>) -> Result<Option<Opened>, Unopened> {
    match (key, sealed) {
        (None, None) => Ok(None),
        (Some(key), Some(sealed)) => key.open(team, uid, sealed).map(Some).map_err(|_| Unopened),
        (Some(_), None) | (None, Some(_)) => Err(Unopened),
    }
}

/// Puts what was sealed in its place.
fn unseal(episode: &mut StoredEpisode, opened: Opened) {
    episode.text.prompt = opened.prompt;
    episode.text.answer = opened.answer;
    episode.text.facets = opened.facets;
    episode.text.project_name = Some(opened.project_name).filter(|name| !name.is_empty());
    episode.git_branch = opened.git_branch;
    episode.project_keys = opened.project_keys;
}

fn origin(row: &Row) -> Result<ShareOrigin, tokio_postgres::Error> {
    let machine: Vec<u8> = row.try_get("machine")?;
    Ok(ShareOrigin {
        member: row.try_get("member")?,
        member_login: row.try_get("member_login")?,
        machine: bytes(&machine),
        machine_name: row.try_get::<_, Option<String>>("machine_name")?.unwrap_or_default(),
    })
}

/// What the shared store has of an episode; what it has not is as of one that was never used.
fn episode(row: &Row) -> Result<StoredEpisode, CliError> {
    let read = || -> Result<StoredEpisode, tokio_postgres::Error> {
        let (uid, turn_uid): (Vec<u8>, Vec<u8>) = (row.try_get("uid")?, row.try_get("turn_uid")?);
        let created_at = UnixMillis(row.try_get("created_at")?);
        let text = |name: &str| row.try_get::<_, Option<String>>(name).map(Option::unwrap_or_default);
        let facets = text("facets")?;
        Ok(StoredEpisode {
            text: EpisodeText {
                id: EpisodeId(0),
                uid: EpisodeUid(bytes(&uid)),
                turn_uid: TurnUid(bytes(&turn_uid)),
                part: row.try_get::<_, i32>("part")?.unsigned_abs(),
                turn: row.try_get::<_, i32>("turn")?.unsigned_abs(),
                prompt: text("prompt")?,
                answer: text("answer")?,
                // Empty of what is sealed.
                facets: serde_json::from_str(&facets).unwrap_or_default(),
                created_at,
                project: None,
                project_name: Some(text("project_name")?).filter(|name| !name.is_empty()),
                agent: text("agent")?,
                session: text("session")?,
                cwd: None,
                source: None,
                importance: importance(row.try_get("importance")?),
                importance_rule: text("importance_rule")?,
                shared_by: None,
            },
            origin: if row.try_get::<_, i16>("origin")? == 0 {
                Origin::User
            } else {
                Origin::Subagent
            },
            git_branch: row.try_get("git_branch")?,
            updated_at: UnixMillis(row.try_get("updated_at")?),
            accessed_at: created_at,
            access_count: 0,
            shown_count: 0,
            hidden: false,
            embedding_model: None,
            uses: Vec::new(),
            also_in: Vec::new(),
            project_keys: row.try_get::<_, Option<Vec<String>>>("project_keys")?.unwrap_or_default(),
            project_root: None,
            session_title: None,
            steered: Steered::default(),
        })
    };
    read().map_err(|error| {
        let hint = "see that this program is as new as those of the others";
        CliError::new(
            Kind::Failed,
            format!("the shared store gave a row that can't be read: {error}"),
        )
        .with_hint(hint)
    })
}

fn importance(number: i16) -> Importance {
    match number {
        0 => Importance::Low,
        2 => Importance::High,
        _ => Importance::Normal,
    }
}

/// An id of the shared store, which sees to their lengths.
fn bytes(id: &[u8]) -> [u8; 16] {
    let mut whole = [0; 16];
    let length = id.len().min(whole.len());
    whole[..length].copy_from_slice(&id[..length]);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_with_a_key_exports_nothing_that_was_not_sealed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let key = TeamKey::generate(&folder.path().join("team.key")).unwrap();
        let uid = EpisodeUid([1; 16]);
        assert_eq!(opened(None, "acme", uid, None), Ok(None));
        for (key, sealed) in [(Some(&key), None), (None, Some(&[1][..])), (Some(&key), Some(&[1][..]))] {
            assert_eq!(opened(key, "acme", uid, sealed), Err(Unopened));
        }
    }
}
