//! How sharing stands, for `status`: written by the task, read by whoever asks, never with a text of an episode, a password, or what may be
//! one. And how others wake the task, which then looks at what the store says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remembrancer_schema::UnixMillis;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::desk::{Answers, Desk};
use crate::control::rfc3339;

/// How sharing stands, and the way to its task.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    team: String,
    machine_name: String,
    told: Mutex<Told>,
    poked: Notify,
    /// Where prompts have the server searched, if they may.
    desk: Option<Arc<Desk>>,
}

/// What is known by now.
#[derive(Debug, Default)]
struct Told {
    /// Where the server is, without secrets.
    server: Option<String>,
    way: Way,
    /// When all went well last, both ways.
    last_contact: Option<UnixMillis>,
    /// Whether the log was told last that the server is there, once it was told either.
    logged: Option<bool>,
    /// The last that was in the way, also once it is over.
    last_error: Option<(UnixMillis, String)>,
    counts: Counts,
    /// The model whose vectors stay here, since the server does not know it.
    unknown_model: Option<String>,
    /// Whether the server said that this is no member of the team, and has not let it in since.
    is_put_out: bool,
}

/// The way to the server.
#[derive(Debug, Default)]
enum Way {
    /// Not tried yet.
    #[default]
    Beginning,
    Connected {
        since: UnixMillis,
        server_version: i32,
        login: String,
        /// Whether all has gone well once on this connection, both ways.
        is_proven: bool,
    },
    Waiting {
        until: UnixMillis,
        /// Whether somebody has to change something.
        is_refused: bool,
    },
}

/// What was done since the start, in episodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Sent, and taken as news.
    pub(super) sent: u64,
    /// Not taken: another member's, or forgotten there.
    pub(super) refused: u64,
    /// Beyond the server's bounds, and set aside.
    pub(super) set_aside: u64,
    /// Stored here.
    pub(super) taken: u64,
    /// Sealed, and not opened by this key.
    pub(super) not_opened: u64,
    /// What others sent as an episode, and is none.
    pub(super) not_taken: u64,
}

impl Shared {
    /// Nothing is known yet of this team, of which this machine is called so, and which prompts may ask or not.
    pub(crate) fn new(team: String, machine_name: String, remote: bool) -> Self {
        Self {
            team,
            machine_name,
            desk: remote.then(Arc::default),
            ..Self::default()
        }
    }

    /// What this machine is called there.
    pub(super) fn machine_name(&self) -> &str {
        &self.machine_name
    }

    /// Where prompts have the server searched, if they may.
    pub(crate) fn desk(&self) -> Option<&Arc<Desk>> {
        self.desk.as_ref()
    }

    /// Has the task look at what the store says of a pause, and the server called at once, whatever it waits for.
    pub(crate) fn poke(&self) {
        self.poked.notify_one();
    }

    /// Waits until somebody wants that.
    pub(super) async fn poked(&self) {
        self.poked.notified().await;
    }

    pub(super) fn set_server(&self, server: String) {
        lock(&self.told).server = Some(server);
    }

    pub(super) fn connected(&self, now: UnixMillis, server_version: i32, login: String) {
        lock(&self.told).way = Way::Connected {
            since: now,
            server_version,
            login,
            is_proven: false,
        };
    }

    /// All has gone well, both ways. Says whether that is so for the first time on this connection.
    pub(super) fn proven(&self, now: UnixMillis) -> bool {
        let mut guard = lock(&self.told);
        let Told { way, last_contact, .. } = &mut *guard;
        match way {
            Way::Connected { is_proven, .. } => {
                *last_contact = Some(now);
                !std::mem::replace(is_proven, true)
            }
            Way::Beginning | Way::Waiting { .. } => false,
        }
    }

    /// Whether it has, on the connection that is.
    pub(super) fn is_proven(&self) -> bool {
        matches!(lock(&self.told).way, Way::Connected { is_proven: true, .. })
    }

    /// Whether the log has not been told yet that the server is there, or is not: it may go and come for days.
    pub(super) fn is_news(&self, is_there: bool) -> bool {
        lock(&self.told).logged.replace(is_there) != Some(is_there)
    }

    /// What the store knows of before. That this was put out stays also where the store could not take it.
    pub(super) fn remember(&self, is_put_out: bool, unknown_model: Option<String>) {
        let mut told = lock(&self.told);
        told.is_put_out |= is_put_out;
        told.unknown_model = unknown_model;
    }

    /// The server said whether this is a member of the team.
    pub(super) fn set_put_out(&self, is_put_out: bool) {
        lock(&self.told).is_put_out = is_put_out;
    }

    /// Whether it said last that it is none.
    pub(super) fn is_put_out(&self) -> bool {
        lock(&self.told).is_put_out
    }

    /// It failed so, and is tried again then.
    pub(super) fn failed(&self, now: UnixMillis, why: String, until: UnixMillis, is_refused: bool) {
        let mut told = lock(&self.told);
        told.way = Way::Waiting { until, is_refused };
        told.last_error = Some((now, why));
    }

    /// The model that the server was last found not to know.
    pub(super) fn unknown_model(&self) -> Option<String> {
        lock(&self.told).unknown_model.clone()
    }

    pub(super) fn set_unknown_model(&self, model: Option<String>) {
        lock(&self.told).unknown_model = model;
    }

    /// Adds to what was done.
    pub(super) fn count(&self, add: impl FnOnce(&mut Counts)) {
        add(&mut lock(&self.told).counts);
    }

    /// How the work with the server stands; what is shared, the store knows.
    pub(crate) fn status_json(&self) -> Value {
        let told = lock(&self.told);
        let (mut connected, mut version, mut member, mut next, mut is_refused) = (None, None, None, None, false);
        match &told.way {
            Way::Beginning => {}
            Way::Connected {
                since,
                server_version,
                login,
                ..
            } => {
                connected = Some(rfc3339(*since));
                version = Some(*server_version);
                member = Some(login.as_str());
            }
            Way::Waiting {
                until,
                is_refused: refused,
            } => {
                next = Some(rfc3339(*until));
                is_refused = *refused;
            }
        }
        let Counts {
            sent,
            refused,
            set_aside,
            taken,
            not_opened,
            not_taken,
        } = told.counts;
        json!({
            "server": told.server,
            "team": self.team,
            "machine": self.machine_name,
            "member": member,
            "connected_since": connected,
            "server_version": version,
            "needs_a_change": is_refused,
            "tried_again": next,
            "last_contact": told.last_contact.map(rfc3339),
            "put_out": told.is_put_out,
            "last_error": told.last_error.as_ref().map(|(at, why)| json!({"at": rfc3339(*at), "why": why})),
            "since_start": {
                "sent": sent,
                "refused": refused,
                "set_aside": set_aside,
                "taken": taken,
                "not_opened": not_opened,
                "not_taken": not_taken,
            },
            "remote": self.desk.as_ref().map(|desk| {
                let Answers { asked, late, absent } = desk.answers();
                json!({"asked": asked, "late": late, "absent": absent})
            }),
            "model_not_known_there": told.unknown_model,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> Shared {
        Shared::new("acme".to_owned(), "desk".to_owned(), false)
    }

    #[test]
    fn it_tells_of_the_way_and_of_what_went_along_it() {
        let shared = shared();
        assert_eq!(
            (&shared.status_json()["connected_since"], &shared.status_json()["tried_again"]),
            (&Value::Null, &Value::Null)
        );
        shared.set_server("postgres://ada@db:5432/memory".to_owned());
        shared.connected(UnixMillis(0), 5, "ada".to_owned());
        shared.count(|counts| counts.sent += 2);
        shared.set_unknown_model(Some("minilm".to_owned()));
        let told = shared.status_json();
        assert_eq!(
            (&told["server"], &told["team"]),
            (&json!("postgres://ada@db:5432/memory"), &json!("acme"))
        );
        assert_eq!((&told["machine"], &told["member"]), (&json!("desk"), &json!("ada")));
        assert_eq!(
            (&told["connected_since"], &told["tried_again"]),
            (&json!("1970-01-01T00:00:00Z"), &Value::Null)
        );
        assert_eq!((&told["since_start"]["sent"], &told["last_error"]), (&json!(2), &Value::Null));
        assert_eq!(told["model_not_known_there"], "minilm");
    }

    #[test]
    fn prompts_that_may_ask_the_server_are_counted() {
        assert_eq!(shared().status_json()["remote"], Value::Null);
        let shared = Shared::new("acme".to_owned(), "desk".to_owned(), true);
        assert!(shared.desk().is_some());
        assert_eq!(shared.status_json()["remote"], json!({"asked": 0, "late": 0, "absent": 0}));
    }

    #[test]
    fn what_was_in_the_way_is_told_after_it_is_over() {
        let shared = shared();
        shared.failed(UnixMillis(0), "the server is away".to_owned(), UnixMillis(1_000), true);
        let told = shared.status_json();
        assert_eq!(
            (&told["tried_again"], &told["needs_a_change"]),
            (&json!("1970-01-01T00:00:01Z"), &json!(true))
        );
        shared.connected(UnixMillis(2_000), 5, "ada".to_owned());
        let told = shared.status_json();
        assert_eq!((&told["needs_a_change"], &told["member"]), (&json!(false), &json!("ada")));
        assert_eq!(told["last_error"]["why"], "the server is away");
    }

    #[test]
    fn a_connection_is_proven_once_all_went_well_on_it() {
        let shared = shared();
        let last = || shared.status_json()["last_contact"].clone();
        assert!(!shared.proven(UnixMillis(0)) && !shared.is_proven(), "there is none");
        shared.connected(UnixMillis(1_000), 5, "ada".to_owned());
        assert!(!shared.is_proven());
        assert_eq!(last(), Value::Null, "hello alone proves nothing");
        assert!(shared.proven(UnixMillis(2_000)) && !shared.proven(UnixMillis(3_000)) && shared.is_proven());
        shared.connected(UnixMillis(4_000), 5, "ada".to_owned());
        assert!(!shared.is_proven());
        shared.failed(UnixMillis(5_000), "away".to_owned(), UnixMillis(6_000), false);
        assert_eq!(last(), "1970-01-01T00:00:03Z", "it stays known");
    }

    #[test]
    fn the_log_is_told_once_of_each_turn() {
        let shared = shared();
        let told = [false, false, true, true, false].map(|is_there| shared.is_news(is_there));
        assert_eq!(told, [true, false, true, false, true]);
    }

    #[test]
    fn that_one_was_put_out_is_told_until_one_is_let_in() {
        let shared = shared();
        assert_eq!(shared.status_json()["put_out"], false);
        shared.remember(true, Some("minilm".to_owned()));
        // The store may not have been told.
        shared.remember(false, None);
        let told = shared.status_json();
        assert_eq!(
            (&told["put_out"], &told["model_not_known_there"]),
            (&json!(true), &Value::Null)
        );
        shared.set_put_out(false);
        assert_eq!(shared.status_json()["put_out"], false);
    }

    #[tokio::test]
    async fn a_poke_waits_for_who_is_not_listening_yet() {
        let shared = shared();
        shared.poke();
        shared.poked().await;
    }
}
