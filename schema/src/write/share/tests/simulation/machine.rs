//! A machine of a member: a real store in a folder of its own, and what is known of it beside the store: which transcripts it has read,
//! what it was told to keep out, what may leave it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;

use super::server::Server;
use super::{PARTS, TURNS};
use crate::testing::{MODEL, batch, turn, turn_uid, vector};
use crate::{
    Applied, EmbeddedEpisode, EpisodeUid, ForgetTarget, FoundPage, FreshCopy, ProjectRef, PulledPage, Reader, SharePlace,
    ShareSetup, SharedEpisode, ToPush, ToldProject, TurnUid, UnixMillis, Writer, restore, set_aside_and_rebuild,
};

const NOW: UnixMillis = UnixMillis(1_795_000_000_000);
/// Projects that there are: two with an address, and one that only a folder names.
pub(super) const PROJECTS: usize = 3;
/// What may be allowed, and which projects that comes to.
pub(super) const GLOBS: [(&[&str], [bool; PROJECTS]); 5] = [
    (&["*"], [true, true, true]),
    (&["example.org/acme/p0"], [true, false, false]),
    (&["example.org/ACME/*"], [true, true, false]),
    (&[], [false, false, false]),
    (&["*/p2", "root:nothing"], [false, false, true]),
];

/// The text of a part of a turn as its transcript has it at a version.
pub(super) fn own_text(turn: u8, part: u32, version: u8) -> String {
    format!("turn{turn} part{part} version{version}")
}

/// How many parts a turn has at a version.
fn parts(version: u8) -> u32 {
    1 + u32::from(version) % PARTS
}

/// An episode as it is stored.
pub(super) struct Stored {
    pub(super) turn: u8,
    pub(super) hidden: bool,
    pub(super) prompt: String,
    pub(super) has_project: bool,
    /// The member whose it is, if it is another machine's.
    pub(super) shared_by: Option<i32>,
}

/// A copy of the memory, and what had been read when it was made.
struct Backup {
    path: PathBuf,
    told: BTreeMap<u8, u8>,
}

pub(super) struct Machine {
    pub(super) index: u8,
    pub(super) member: i32,
    /// What it is called at the shared store.
    pub(super) name: [u8; 16],
    pub(super) path: PathBuf,
    /// A page that was asked for before other things happened.
    pub(super) kept_page: Option<PulledPage>,
    /// What a search found before other things happened.
    pub(super) kept_search: Option<FoundPage>,
    /// The team that it is set to.
    pub(super) team: usize,
    /// Episodes that were its own at some time: a copy of one that came meanwhile was passed over.
    pub(super) had_as_own: BTreeSet<EpisodeUid>,
    writer: Option<Writer>,
    globs: usize,
    paused: bool,
    /// Whether it has left what is shared.
    left: bool,
    /// How far each transcript has come, and up to where it was stored.
    transcripts: BTreeMap<u8, u8>,
    told: BTreeMap<u8, u8>,
    kept_out: BTreeSet<usize>,
    backups: Vec<Backup>,
    folder: TempDir,
}

impl Machine {
    pub(super) fn new(index: u8, member: i32, globs: usize, name: [u8; 16]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store/memory.db");
        let mut machine = Self {
            index,
            member,
            name,
            path,
            kept_page: None,
            kept_search: None,
            team: 0,
            had_as_own: BTreeSet::new(),
            writer: None,
            globs,
            paused: false,
            left: false,
            transcripts: BTreeMap::new(),
            told: BTreeMap::new(),
            kept_out: BTreeSet::new(),
            backups: Vec::new(),
            folder,
        };
        machine.start(name);
        machine
    }

    /// Starts the program on the store that is there; `fresh` is its name if it has none.
    fn start(&mut self, fresh: [u8; 16]) {
        let mut writer = Writer::open(&self.path).expect("opens");
        writer.set_embedding_model(MODEL, 8).expect("sets the model");
        let state = writer.set_sharing(Some(&self.setup()), fresh).expect("sets");
        writer
            .note_member(self.member, &format!("member-{}", self.member))
            .expect("notes");
        (self.name, self.paused, self.left) = (state.machine, state.paused, state.has_left);
        self.writer = Some(writer);
    }

    fn setup(&self) -> ShareSetup {
        ShareSetup {
            team_key: format!("db.example.org/team-{}", self.team),
            allowed: GLOBS[self.globs].0.iter().map(|&glob| glob.to_owned()).collect(),
        }
    }

    /// Is set to a team; the same again changes nothing.
    pub(super) fn join(&mut self, team: usize) -> String {
        self.team = team;
        let (setup, name, member) = (self.setup(), self.name, self.member);
        let state = self.writer().set_sharing(Some(&setup), name).expect("sets");
        (self.paused, self.left) = (state.paused, state.has_left);
        self.writer().note_member(member, &format!("member-{member}")).expect("notes");
        format!("is set to team {team}")
    }

    pub(super) fn writer(&mut self) -> &mut Writer {
        self.writer.as_mut().expect("is open")
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.path).expect("opens for reading")
    }

    fn root(&self, project: usize) -> String {
        format!("/home/m{}/p{project}", self.index)
    }

    /// Reads a transcript that has grown by `more`; several machines may have the same.
    pub(super) fn read(&mut self, number: u8, more: u8) -> String {
        let version = self.transcripts.get(&number).map_or(more, |version| version + more);
        self.transcripts.insert(number, version);
        self.read_again(number);
        format!("read turn {number} at version {version}")
    }

    fn read_again(&mut self, number: u8) {
        let version = self.transcripts[&number];
        let project = usize::from(number) % PROJECTS;
        let texts: Vec<String> = (0..parts(version)).map(|part| own_text(number, part, version)).collect();
        let mut turn = turn(
            number,
            &format!("s{}", number % 4),
            &texts.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let root = self.root(project);
        let mut keys = vec![format!("cwd:{root}")];
        if project < 2 {
            keys.insert(0, format!("url:example.org/acme/p{project}"));
        }
        turn.cwd = Some(root.clone());
        turn.project = Some(ProjectRef::Told(Arc::new(ToldProject {
            keys,
            name: format!("p{project}"),
            root,
        })));
        self.writer().ingest(&batch(vec![turn])).expect("stores");
        if !self.kept_out.contains(&project) {
            self.told.insert(number, version);
        }
        self.note_own();
    }

    fn note_own(&mut self) {
        let own: Vec<EpisodeUid> = self
            .rows()
            .into_iter()
            .filter(|(_, row)| row.shared_by.is_none())
            .map(|(uid, _)| uid)
            .collect();
        self.had_as_own.extend(own);
    }

    pub(super) fn forget(&mut self, number: u8) -> String {
        let Some(uid) = self
            .rows()
            .into_iter()
            .find(|(_, row)| row.turn == number)
            .map(|(uid, _)| uid)
        else {
            return format!("has nothing of turn {number} to forget");
        };
        let target = ForgetTarget::Episode(uid.to_string());
        self.writer().forget(&target, NOW).expect("forgets");
        format!("forgot turn {number}")
    }

    pub(super) fn retire(&mut self, number: u8) -> String {
        self.writer().retire(&[turn_uid(number)], NOW).expect("retires");
        format!("retired turn {number}")
    }

    pub(super) fn keep_out(&mut self, project: usize) -> String {
        let root = self.root(project);
        self.writer().exclude_path(&root, NOW).expect("excludes");
        self.kept_out.insert(project);
        format!("keeps out project {project}")
    }

    pub(super) fn let_in(&mut self) -> String {
        let Some(project) = self.kept_out.pop_first() else {
            return "keeps nothing out".to_owned();
        };
        let root = self.root(project);
        self.writer().include_path(&root).expect("includes");
        // What was passed over is read again, as after any `include`.
        self.read_all();
        format!("lets in project {project}")
    }

    fn read_all(&mut self) {
        for number in self.transcripts.keys().copied().collect::<Vec<_>>() {
            self.read_again(number);
        }
    }

    pub(super) fn allow(&mut self, globs: usize) -> String {
        self.globs = globs;
        let (setup, name) = (self.setup(), self.name);
        self.writer().set_sharing(Some(&setup), name).expect("sets");
        format!("allows {:?}", GLOBS[globs].0)
    }

    pub(super) fn back_up(&mut self) -> String {
        let number = self.backups.len();
        // Beside the memory's own copies, where nothing that is forgotten leaves them.
        let path = self.folder.path().join(format!("elsewhere-{number}.db"));
        FreshCopy::make(&self.path, &path, &mut |_| std::ops::ControlFlow::Continue(()))
            .and_then(|copy| copy.put_at(&path))
            .expect("copies");
        let told = self.told.clone();
        self.backups.push(Backup { path, told });
        format!("made copy {number}")
    }

    pub(super) fn restore(&mut self, fresh: [u8; 16]) -> String {
        let Some(number) = self.backups.len().checked_sub(1) else {
            return "has no copy to go back to".to_owned();
        };
        self.writer.take().expect("is open").close().expect("closes");
        let backup = &self.backups[number];
        restore(&self.path, &backup.path, &format!("at-{}", fresh[0])).expect("restores");
        self.told.clone_from(&backup.told);
        (self.kept_page, self.kept_search) = (None, None);
        self.start(fresh);
        // Its transcripts are read from where the copy had come to; from their beginnings is the same.
        self.read_all();
        format!("went back to copy {number}")
    }

    pub(super) fn make_anew(&mut self, fresh: [u8; 16]) -> String {
        self.writer.take().expect("is open").close().expect("closes");
        let recovery = set_aside_and_rebuild(&self.path, NOW, "by chance").expect("is made anew");
        assert!(recovery.whole);
        (self.kept_page, self.kept_search) = (None, None);
        self.start(fresh);
        "was made anew".to_owned()
    }

    /// Ends without being told to, and starts again.
    pub(super) fn kill(&mut self) -> String {
        drop(self.writer.take());
        (self.kept_page, self.kept_search) = (None, None);
        let name = self.name;
        self.start(name);
        "was killed and started".to_owned()
    }

    pub(super) fn pause(&mut self, paused: bool) -> String {
        self.writer().pause_sharing(paused).expect("pauses");
        self.paused = paused;
        self.left &= paused;
        format!("paused: {paused}")
    }

    /// Leaves what is shared, until it is paused no more.
    pub(super) fn leave(&mut self) -> String {
        let gone = self.writer().leave_sharing().expect("leaves");
        (self.paused, self.left) = (true, true);
        format!("left what is shared, and {} copies", gone.len())
    }

    /// Wants contents that were passed over.
    pub(super) fn want_contents(&mut self) {
        self.writer().pull_contents().expect("notes");
    }

    /// Tells again what it shares, as after it was let in again.
    pub(super) fn tell_again(&mut self) {
        self.writer().enqueue_shared().expect("tells again");
    }

    /// Takes note of the life that the shared store is in, as whenever it is called.
    pub(super) fn call(&mut self, server: &Server) {
        if self.writer().note_epoch(&server.epoch.to_string()).expect("notes") {
            self.writer().begin_again().expect("begins anew");
        }
    }

    pub(super) fn embed(&mut self) -> String {
        let backlog = self.reader().embedding_backlog(MODEL, 100).expect("reads");
        let rows: Vec<EmbeddedEpisode> = backlog
            .into_iter()
            .map(|row| EmbeddedEpisode {
                id: row.id,
                content_hash: row.content_hash,
                vector: vector(row.id),
            })
            .collect();
        let stored = self.writer().store_embeddings(MODEL, &rows).expect("stores");
        format!("embedded {}", stored.len())
    }

    pub(super) fn next_to_push(&self, most: usize) -> ToPush {
        let page = self.reader().next_to_push(most, self.paused).expect("reads");
        self.assert_nothing_is_overtaken(&page);
        page
    }

    fn place(&self) -> SharePlace {
        let place = self.reader().share_place().expect("reads").expect("shares");
        assert_eq!(place.machine, self.name);
        place
    }

    pub(super) fn pull(&self, server: &Server, most: usize, marks_only: bool) -> PulledPage {
        server.pull(&self.place(), most, marks_only)
    }

    pub(super) fn apply(&mut self, page: &PulledPage) -> Applied {
        let applied = self.writer().apply_pulled(page, NOW).expect("applies");
        assert!(!applied.unscrubbed || page.cursor >= page.head, "there is more to come");
        if applied.unscrubbed {
            self.writer().finish_forgetting().expect("cleans up");
        }
        self.note_own();
        applied
    }

    pub(super) fn search(&self, server: &Server, first: usize, most: usize) -> FoundPage {
        server.search(&self.place(), first, most)
    }

    pub(super) fn adopt(&mut self, page: &FoundPage) -> String {
        let adopted = self.writer().adopt_found(page, NOW).expect("adopts");
        assert_eq!(adopted.here.len(), page.found.len());
        self.note_own();
        format!("searched: {adopted:?}")
    }

    pub(super) fn apply_an_old_page(&mut self) -> String {
        let Some(page) = self.kept_page.take() else {
            return "has kept no page".to_owned();
        };
        let applied = self.apply(&page);
        format!("applied a page that it had kept: {applied:?}")
    }

    /// What is to leave goes before all else: what waits of it is urgent, and there is nothing else on a page while there is more of it.
    fn assert_nothing_is_overtaken(&self, page: &ToPush) {
        let db = Connection::open(&self.path).expect("opens");
        let mut statement = db.prepare("SELECT uid, urgent FROM share_outbox").expect("prepares");
        let waiting: BTreeMap<EpisodeUid, bool> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("reads")
            .map(|row| row.expect("is a row"))
            .collect();
        let (rows, pushed) = (self.rows(), self.pushed());
        for (uid, urgent) in &waiting {
            let is_shown = rows
                .get(uid)
                .is_some_and(|row| row.shared_by.is_none() && !row.hidden && row.has_project && self.allows(row.turn));
            assert!(
                *urgent || is_shown || !pushed.contains(uid),
                "machine {}: {uid} is to leave, and is not urgent",
                self.index
            );
        }
        let on_page: BTreeSet<EpisodeUid> = page.entries.iter().map(|(_, uid)| *uid).collect();
        let has_others = on_page.iter().any(|uid| !waiting[uid]);
        let is_left = waiting.iter().any(|(uid, urgent)| *urgent && !on_page.contains(uid));
        assert!(
            !has_others || !is_left,
            "machine {}: something urgent is overtaken",
            self.index
        );
    }

    /// Whether a clean-up waits for more pages.
    pub(super) fn has_clean_up_waiting(&self) -> bool {
        let db = Connection::open(&self.path).expect("opens");
        let sql = "SELECT EXISTS (SELECT 1 FROM _meta WHERE key = 'share_clean_up_waits' AND value = '1')";
        db.query_row(sql, [], |row| row.get(0)).expect("reads")
    }

    /// Whether turn `number` may leave it.
    pub(super) fn allows(&self, number: u8) -> bool {
        !self.left && GLOBS[self.globs].1[usize::from(number) % PROJECTS]
    }

    /// What leaves is allowed, is this machine's own, can be seen, and says nothing of its folders.
    /// Only what is kept out here is withdrawn wherever it is, or what it had shared under another name.
    pub(super) fn assert_allowed(&self, page: &ToPush) {
        let rows = self.rows();
        for uid in &page.withdraw_everywhere {
            let is_shown = rows
                .get(uid)
                .is_some_and(|row| row.shared_by.is_none() && !row.hidden && row.has_project && self.allows(row.turn));
            assert!(!is_shown, "machine {} hides {uid}", self.index);
        }
        for own in &page.live {
            let row = rows.get(&own.episode.uid).expect("is stored");
            assert!(
                row.shared_by.is_none() && !row.hidden && !self.paused,
                "machine {}",
                self.index
            );
            assert!(self.allows(row.turn), "machine {}: turn {}", self.index, row.turn);
            assert!(!page.withdraw.contains(&own.episode.uid) && !page.withdraw_everywhere.contains(&own.episode.uid));
            let said = format!("{:?}", own.episode);
            assert!(!said.contains("/home/"), "{said}");
        }
    }

    /// Whether the turn was forgotten or retired here.
    pub(super) fn has_removed(&self, turn: TurnUid) -> bool {
        let db = Connection::open(&self.path).expect("opens");
        let sql =
            "SELECT EXISTS (SELECT 1 FROM tombstones WHERE uid = ?1) OR EXISTS (SELECT 1 FROM retired_turns WHERE uid = ?1)";
        db.query_row(sql, [turn], |row| row.get(0)).expect("reads")
    }

    /// Whether retention took copies of the turn here.
    pub(super) fn has_passed(&self, turn: TurnUid) -> bool {
        let db = Connection::open(&self.path).expect("opens");
        let sql = "SELECT EXISTS (SELECT 1 FROM share_turns WHERE turn_uid = ?1 AND what = 'passed')";
        db.query_row(sql, [turn], |row| row.get(0)).expect("reads")
    }

    /// The episodes that it takes to be at the shared store.
    pub(super) fn pushed(&self) -> BTreeSet<EpisodeUid> {
        let db = Connection::open(&self.path).expect("opens");
        let mut statement = db.prepare("SELECT uid FROM share_pushed WHERE state > 0").expect("prepares");
        let uids = statement.query_map([], |row| row.get(0)).expect("reads");
        uids.map(|uid| uid.expect("is one")).collect()
    }

    /// Whether the project of turn `number` is kept out here.
    pub(super) fn keeps_turn_out(&self, number: u8) -> bool {
        self.kept_out.contains(&(usize::from(number) % PROJECTS))
    }

    /// Whether the project of what another shared is kept out here.
    pub(super) fn keeps_out(&self, episode: &SharedEpisode) -> bool {
        self.kept_out
            .iter()
            .any(|project| episode.project_name == format!("p{project}"))
    }

    /// Every episode that is stored.
    pub(super) fn rows(&self) -> BTreeMap<EpisodeUid, Stored> {
        let db = Connection::open(&self.path).expect("opens");
        let mut statement = db
            .prepare(
                "SELECT uid, turn_uid, hidden, prompt, member, project_id IS NOT NULL FROM episodes
                 JOIN episode_texts ON episode_texts.episode_id = id LEFT JOIN shared_episodes ON shared_episodes.episode_id = id",
            )
            .expect("prepares");
        let rows = statement.query_map([], |row| {
            let turn: TurnUid = row.get(1)?;
            let stored = Stored {
                turn: turn.0[0],
                hidden: row.get(2)?,
                prompt: row.get(3)?,
                shared_by: row.get(4)?,
                has_project: row.get(5)?,
            };
            Ok((row.get(0)?, stored))
        });
        rows.expect("reads").map(|row| row.expect("is a row")).collect()
    }

    /// All that it has read is there as it was read, but for what was forgotten or retired.
    pub(super) fn assert_own(&self) {
        let rows = self.rows();
        for number in (0..TURNS).filter(|number| !self.has_removed(turn_uid(*number))) {
            let Some(version) = self.told.get(&number) else { continue };
            for part in 0..parts(*version) {
                let uid = EpisodeUid::of(&turn_uid(number), part);
                let row = rows
                    .get(&uid)
                    .unwrap_or_else(|| panic!("machine {} lost turn {number}", self.index));
                assert_eq!(row.shared_by, None, "machine {}: turn {number}", self.index);
                assert_eq!(row.prompt, own_text(number, part, *version), "machine {}", self.index);
            }
        }
    }
}
