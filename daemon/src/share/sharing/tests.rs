use remembrancer_processor::embed::{Embed, EmbedError, Embedding};
use remembrancer_schema::{EpisodeUid, ProjectRef, PulledChange, PulledPage, ToldProject, TurnUid};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::*;
use crate::codes::SharedCodes;
use crate::embedder::start_with;
use crate::exclusions::Exclusions;
use crate::instructions::Refresher;
use crate::politeness::Politeness;
use crate::progress::Progress;
use crate::project::Folders;
use crate::sample_rows::{batch, turn};
use crate::share::Shared;
use crate::share::hello::tests::hello;
use crate::share::settings::tests::settings;
use crate::store::Store;

/// How long what is to happen within milliseconds is waited for, and how long nothing is to happen.
pub(in crate::share) const PATIENCE: Duration = Duration::from_secs(20);
pub(in crate::share) const MOMENT: Duration = Duration::from_millis(100);

const MODEL: &str = "test-model";

/// A memory of one turn that may be shared. There is no server: what it says is made up.
pub(in crate::share) struct Here {
    pub(in crate::share) sharing: Sharing,
    _folder: TempDir,
}

impl Here {
    /// Shares, with this model.
    pub(in crate::share) async fn new(model: ModelState) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let mut writer = Writer::open(&path).unwrap();
        let mut turn = turn(1, "/shop");
        turn.project = Some(ProjectRef::Told(Arc::new(ToldProject {
            keys: vec!["url:example.org/acme/shop".to_owned()],
            name: "shop".to_owned(),
            root: "/shop".to_owned(),
        })));
        writer.ingest(&batch(vec![turn])).unwrap();
        let progress: Arc<Progress> = Arc::default();
        let store = Store::start(writer, &path, &progress).unwrap();
        let (embedder, _threads) = start_with(move || model, 1).unwrap();
        embedder.loaded().await;
        let refresher = Refresher {
            background: store.background.clone(),
            embedder: embedder.clone(),
            codes: SharedCodes::new(DIMENSION),
            settings: Arc::default(),
            exclusions: Exclusions::default(),
            folders: Arc::new(Folders::new(None)),
            progress: Arc::clone(&progress),
            due: Arc::default(),
            uid: rustix::process::getuid().as_raw(),
            one_at_a_time: Arc::default(),
        };
        let sharing = Sharing {
            settings: settings("postgres://ada@db/m"),
            shared: shared(),
            writer: store.writer,
            background: store.background,
            embedder,
            codes: refresher.codes.clone(),
            conversations: Arc::default(),
            refresher,
            went: Notify::new(),
            mailbox: Arc::default(),
            progress,
            politeness: Politeness::new(1.0),
            recollections: folder.path().join("recollections"),
        };
        sharing.prepare().await.unwrap();
        let here = Self {
            sharing,
            _folder: folder,
        };
        here.welcome("one").await;
        here.send_all().await;
        assert!(!here.has_changes().await);
        here
    }

    /// What a new start of the daemon knows.
    async fn start_anew(&mut self) {
        self.sharing.shared = shared();
        self.sharing.prepare().await.unwrap();
    }

    /// The server of this epoch says hello.
    async fn welcome(&self, epoch: &str) {
        self.sharing.catch_up(&hello(), epoch.to_owned()).await.unwrap();
    }

    /// Has the server told all that is to be told.
    async fn send_all(&self) {
        loop {
            let page = self.sharing.background.call(|reader| reader.next_to_push(200, false));
            let mut page = page.await.unwrap().unwrap();
            if page.entries.is_empty() {
                return;
            }
            let sent = self.sharing.writer.call(move |writer| {
                let sent = writer.pushing(&mut page)?;
                writer.pushed(&sent)
            });
            sent.await.unwrap().unwrap();
        }
    }

    /// Whether anything is to be told.
    async fn has_changes(&self) -> bool {
        self.sharing.place().await.unwrap().has_changes
    }

    /// Whether something is to be done within that time, where contents are taken or not.
    async fn is_needed(&self, contents: bool, there: Duration, within: Duration) -> bool {
        let looks = Looks {
            here: Duration::from_millis(5),
            there,
        };
        let needed = timeout(within, self.sharing.needed(contents, looks)).await;
        needed.is_ok_and(|needed| needed.is_ok())
    }
}

const DIMENSION: usize = 4;

/// A model of which only the name matters.
struct Model;

impl Embed for Model {
    fn model_id(&self) -> &'static str {
        MODEL
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed_query(&self, _: &str) -> Result<Embedding, EmbedError> {
        Embedding::normalised(vec![1.0; DIMENSION])
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared::new("acme".to_owned(), "desk".to_owned(), false))
}

pub(in crate::share) fn no_model() -> ModelState {
    ModelState::Failed("on purpose".to_owned())
}

/// A team at a server that takes vectors of these models.
fn team(models: &[&str]) -> Team {
    Team {
        id: 1,
        machine: [1; 16],
        sealing: None,
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        epoch: "one".to_owned(),
    }
}

#[tokio::test]
async fn who_was_put_out_tells_all_again_once_let_in_also_after_a_start() {
    let mut here = Here::new(no_model()).await;
    here.sharing.note_put_out().await.unwrap();
    here.start_anew().await;
    assert!(here.sharing.shared.is_put_out());
    here.welcome("one").await;
    assert!(here.has_changes().await, "it may have been taken back");
    here.send_all().await;
    here.start_anew().await;
    assert!(!here.sharing.shared.is_put_out());
    here.welcome("one").await;
    assert!(!here.has_changes().await, "that is over");
}

#[tokio::test]
async fn who_is_let_in_again_tells_nothing_that_it_took_back_itself() {
    let mut here = Here::new(no_model()).await;
    let at = here.sharing.place().await.unwrap();
    let mark = PulledChange::Withdrawn {
        seq: 1,
        uid: EpisodeUid::of(&TurnUid([1; 16]), 0),
        member: 1,
        machine: [0; 16],
    };
    let page = PulledPage {
        after: at.cursor,
        sent: at.sent,
        changes: vec![mark],
        cursor: at.cursor + 1,
        head: at.cursor + 1,
        marks_only: true,
    };
    let applied = here
        .sharing
        .writer
        .call(move |writer| writer.apply_pulled(&page, UnixMillis(1)));
    assert!(!applied.await.unwrap().unwrap().stale);
    here.sharing.note_put_out().await.unwrap();
    let welcome = Hello { head: 1, ..hello() };
    here.start_anew().await;
    here.sharing.catch_up(&welcome, "one".to_owned()).await.unwrap();
    assert!(!here.has_changes().await, "it would be shared again");
}

#[tokio::test]
async fn what_was_forgotten_is_cleaned_up_though_the_server_went_away_before_the_last_page() {
    let mut here = Here::new(no_model()).await;
    let folder = tempfile::tempdir().unwrap();
    here.sharing.settings = settings(&format!("postgres:///m?user=ada&host={}", folder.path().display()));
    let (adopted, _to_follow) = mpsc::channel(FOUND);
    tokio::select! {
        () = here.sharing.sessions(&adopted) => panic!("it goes on for ever"),
        told = timeout(PATIENCE, here.sharing.progress.forgetting_unfinished.notified()) => told.unwrap(),
    }
}

#[test]
fn a_team_that_is_made_again_is_of_another_epoch_and_so_is_a_server_that_was_put_back() {
    let epochs = [epoch_of("one", 1), epoch_of("one", 2), epoch_of("two", 1)];
    assert_eq!(epochs.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[tokio::test]
async fn a_model_that_was_registered_while_the_daemon_was_off_is_noticed() {
    let mut here = Here::new(ModelState::Ready(Arc::new(Model))).await;
    here.sharing.tell_of_model(&team(&[])).await.unwrap();
    assert!(!here.has_changes().await);
    here.start_anew().await;
    assert_eq!(here.sharing.shared.unknown_model().as_deref(), Some(MODEL));
    here.sharing.tell_of_model(&team(&[MODEL])).await.unwrap();
    assert!(here.has_changes().await, "its vector was left out");
    here.send_all().await;
    here.start_anew().await;
    assert_eq!(here.sharing.shared.unknown_model(), None);
    here.sharing.tell_of_model(&team(&[MODEL])).await.unwrap();
    assert!(!here.has_changes().await, "that is over");
}

#[tokio::test]
async fn without_a_model_it_stays_known_which_one_the_server_did_not_know() {
    let here = Here::new(ModelState::Ready(Arc::new(Model))).await;
    here.sharing.tell_of_model(&team(&[])).await.unwrap();
    here.sharing.embedder.give_up("on purpose".to_owned());
    here.sharing.tell_of_model(&team(&[MODEL])).await.unwrap();
    assert!(!here.has_changes().await);
    assert_eq!(here.sharing.shared.unknown_model().as_deref(), Some(MODEL));
}

#[tokio::test]
async fn a_server_of_another_epoch_is_told_all_again() {
    let mut here = Here::new(no_model()).await;
    for (epoch, expected) in [("one", false), ("two", true), ("two", false)] {
        here.start_anew().await;
        here.welcome(epoch).await;
        assert_eq!(here.has_changes().await, expected, "{epoch}");
        here.send_all().await;
    }
}

#[tokio::test]
async fn what_waits_is_noticed_whoever_wrote_it() {
    const NEVER: Duration = Duration::from_hours(1);
    let here = Here::new(no_model()).await;
    assert!(!here.is_needed(true, NEVER, MOMENT).await);
    assert!(
        here.is_needed(true, Duration::ZERO, PATIENCE).await,
        "the server was not looked at for long"
    );
    here.sharing.shared.poke();
    assert!(here.is_needed(true, NEVER, PATIENCE).await);
    here.sharing.progress.memory_changed.notify_one();
    assert!(here.is_needed(true, NEVER, PATIENCE).await);
    // By the store alone.
    here.sharing.writer.call(Writer::enqueue_all).await.unwrap().unwrap();
    assert!(here.is_needed(true, NEVER, PATIENCE).await);
    here.sharing
        .writer
        .call(|writer| writer.pause_sharing(true))
        .await
        .unwrap()
        .unwrap();
    assert!(here.is_needed(true, NEVER, PATIENCE).await, "contents are wanted no more");
    assert!(!here.is_needed(false, NEVER, MOMENT).await, "what waits goes on waiting");
    here.sharing
        .writer
        .call(|writer| writer.pause_sharing(false))
        .await
        .unwrap()
        .unwrap();
    assert!(here.is_needed(false, NEVER, PATIENCE).await);
}

#[tokio::test]
async fn what_is_refused_is_a_problem_until_all_goes_well() {
    let here = Here::new(no_model()).await;
    let Sharing { shared, progress, .. } = &here.sharing;
    here.sharing.tell(&ShareError::Refused("no member".to_owned()));
    assert!(progress.is_failing(Part::Sharing));
    shared.connected(UnixMillis(0), 6, "ada".to_owned());
    here.sharing.tell(&ShareError::Unreachable("away".to_owned()));
    assert!(progress.is_failing(Part::Sharing), "nobody has changed anything yet");
    here.sharing.went_well();
    assert!(!progress.is_failing(Part::Sharing));
    assert!(!shared.is_news(true) && shared.status_json()["last_contact"].is_string());
}

#[test]
fn two_memories_are_not_called_the_same() {
    assert_ne!(new_machine().unwrap(), new_machine().unwrap());
}
