//! A shared store of a test's own: its teams, its members with their machines, and rows as a daemon sends them.

use std::fmt::Debug;
use std::sync::OnceLock;

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::ToSql;
use postgres::{Client, Error, NoTls, Row, Transaction};
use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, CLIENT_VERSION, COPY_INCOMING, FORGET, HELLO, PULL, PUSH, REGISTER_MODEL, WITHDRAW, WITHDRAW_ALL,
};
use remembrancer_tests::postgres::{Database, INCOMING, Postgres};

/// A model that each store knows, and how long its vectors are.
pub(super) const MODEL: &str = "small";
pub(super) const DIMENSION: usize = 8;

/// What was done in a team that is shown to who asks, the newest first.
pub(super) const AUDIT: &str = "SELECT m.login::text AS login, a.act, a.count FROM remembrancer.audit a
    LEFT JOIN remembrancer.members m ON m.id = a.member WHERE a.team = $1 ORDER BY a.id DESC";

/// The one server of this process; `None`, with a printed reason, where none can be had. It ends with the process.
pub(super) fn server() -> Option<&'static Postgres> {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    SERVER
        .get_or_init(|| Postgres::start_with(&["max_connections=200"]).unwrap())
        .as_ref()
}

/// A database with the schema, and its superuser.
pub(super) struct Store {
    database: Database<'static>,
    pub(super) admin: Client,
}

impl Store {
    /// `None` where there is no server.
    pub(super) fn new() -> Option<Self> {
        let database = server()?.fresh_database().unwrap();
        let admin = Client::connect(&database.admin_url(), NoTls).unwrap();
        let mut store = Self { database, admin };
        store.admin.query_one(REGISTER_MODEL, &[&MODEL, &(DIMENSION as i32)]).unwrap();
        Some(store)
    }

    /// Another session of the superuser, for a look while the first is at work.
    pub(super) fn another_admin(&self) -> Client {
        Client::connect(&self.database.admin_url(), NoTls).unwrap()
    }

    /// Makes a team in the clear.
    pub(super) fn team(&mut self, name: &str) -> i32 {
        self.admin
            .query_one(ADD_TEAM, &[&name, &false, &None::<Vec<u8>>])
            .unwrap()
            .get(0)
    }

    /// Makes a sealed one.
    pub(super) fn sealed_team(&mut self, name: &str) -> i32 {
        self.admin
            .query_one(ADD_TEAM, &[&name, &true, &Some(vec![7_u8; 16])])
            .unwrap()
            .get(0)
    }

    /// What a login of a test is called: logins belong to the server, so each database has its own.
    pub(super) fn login(&self, name: &str) -> String {
        format!("{}_{name}", self.database.name())
    }

    /// A session of a login that is made, if need be, and is in no team.
    pub(super) fn stranger(&self, name: &str) -> Client {
        let login = self.login(name);
        server().unwrap().create_login(&login).unwrap();
        Client::connect(&self.database.login_url(&login), NoTls).unwrap()
    }

    /// A member of a team at a machine of theirs, which has said hello.
    pub(super) fn member(&mut self, team: &str, name: &str, machine: &str) -> Member {
        self.member_as(team, name, machine, false)
    }

    /// The same, who looks after the team.
    pub(super) fn keeper(&mut self, team: &str, name: &str, machine: &str) -> Member {
        self.member_as(team, name, machine, true)
    }

    fn member_as(&mut self, team: &str, name: &str, machine: &str, admin: bool) -> Member {
        let client = self.stranger(name);
        let login = self.login(name);
        self.admin.query_one(ADD_MEMBER, &[&team, &login, &admin]).unwrap();
        let mut member = Member {
            client,
            team: 0,
            id: 0,
            machine: id(machine),
        };
        let told = member.hello(team).unwrap();
        (member.team, member.id) = (told.get("team_id"), told.get("member_id"));
        member
    }

    /// One number that the superuser asks for.
    pub(super) fn count(&mut self, sql: &str) -> i64 {
        self.admin.query_one(sql, &[]).unwrap().get(0)
    }
}

/// A login of a team, at a machine.
pub(super) struct Member {
    pub(super) client: Client,
    pub(super) team: i32,
    pub(super) id: i32,
    pub(super) machine: Vec<u8>,
}

/// What a push came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    pub(super) taken: i64,
    pub(super) unchanged: i64,
    pub(super) refused: i64,
}

/// A push's result, in few words.
pub(super) fn pushed(taken: i64, unchanged: i64, refused: i64) -> Pushed {
    Pushed {
        taken,
        unchanged,
        refused,
    }
}

impl Member {
    pub(super) fn hello(&mut self, team: &str) -> Result<Row, Error> {
        self.client
            .query_one(HELLO, &[&self.machine, &"a machine", &team, &CLIENT_VERSION])
    }

    pub(super) fn push(&mut self, rows: &[Episode]) -> Result<Pushed, Error> {
        let mut transaction = self.client.transaction()?;
        bring(&mut transaction, rows)?;
        let pushed = push(&mut transaction, self.team, &self.machine)?;
        transaction.commit()?;
        Ok(pushed)
    }

    pub(super) fn pull(&mut self, after: i64, most: i32) -> Result<Vec<Change>, Error> {
        self.page(after, most, true)
    }

    /// What was taken back and forgotten alone.
    pub(super) fn pull_marks(&mut self, after: i64, most: i32) -> Result<Vec<Change>, Error> {
        self.page(after, most, false)
    }

    fn page(&mut self, after: i64, most: i32, contents: bool) -> Result<Vec<Change>, Error> {
        let parameters: [&(dyn ToSql + Sync); 6] = [&self.team, &self.machine, &after, &most, &MODEL, &contents];
        let rows = self.client.query(PULL, &parameters)?;
        Ok(rows.iter().map(Change::of).collect())
    }

    /// Withdraws what this machine brought.
    pub(super) fn withdraw(&mut self, names: &[&str]) -> Result<i64, Error> {
        self.withdraw_of(names, false)
    }

    /// Withdraws what any machine of the member brought.
    pub(super) fn withdraw_everywhere(&mut self, names: &[&str]) -> Result<i64, Error> {
        self.withdraw_of(names, true)
    }

    fn withdraw_of(&mut self, names: &[&str], everywhere: bool) -> Result<i64, Error> {
        let uids: Vec<Vec<u8>> = names.iter().map(|name| id(name)).collect();
        let row = self
            .client
            .query_one(WITHDRAW, &[&self.team, &self.machine, &uids, &everywhere])?;
        Ok(row.get(0))
    }

    /// One step of at most so many.
    pub(super) fn withdraw_all(&mut self, keys: Option<&[&str]>, most: i32) -> Result<i64, Error> {
        let row = self
            .client
            .query_one(WITHDRAW_ALL, &[&self.team, &self.machine, &keys, &most])?;
        Ok(row.get(0))
    }

    /// Forgets the turns of episodes of these names.
    pub(super) fn forget(&mut self, names: &[&str]) -> Result<i64, Error> {
        let turns: Vec<Vec<u8>> = names.iter().map(|name| turn_of(name)).collect();
        let row = self.client.query_one(FORGET, &[&self.team, &self.machine, &turns])?;
        Ok(row.get(0))
    }
}

/// Sends rows, which a push of the same transaction takes.
pub(super) fn bring(transaction: &mut Transaction<'_>, rows: &[Episode]) -> Result<u64, Error> {
    let mut writer = BinaryCopyInWriter::new(transaction.copy_in(COPY_INCOMING)?, &INCOMING);
    for row in rows {
        writer.write(&row.values())?;
    }
    writer.finish()
}

pub(super) fn push(transaction: &mut Transaction<'_>, team: i32, machine: &[u8]) -> Result<Pushed, Error> {
    let row = transaction.query_one(PUSH, &[&team, &machine])?;
    Ok(pushed(row.get("taken"), row.get("unchanged"), row.get("refused")))
}

/// An id from a name: its bytes, filled up.
pub(super) fn id(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    assert!(bytes.len() <= 16, "{name}");
    bytes.resize(16, 0);
    bytes
}

/// The turn that an episode of this name is a part of.
pub(super) fn turn_of(name: &str) -> Vec<u8> {
    id(&format!("t{name}"))
}

/// An episode on its way to the server.
#[derive(Debug, Clone)]
pub(super) struct Episode {
    pub(super) team: i32,
    pub(super) uid: Vec<u8>,
    pub(super) turn_uid: Vec<u8>,
    pub(super) project_keys: Option<Vec<String>>,
    pub(super) project_name: String,
    pub(super) agent: String,
    pub(super) session: Option<String>,
    pub(super) origin: i16,
    pub(super) turn: i32,
    pub(super) part: i32,
    pub(super) importance: i16,
    pub(super) importance_rule: String,
    pub(super) created_at: Option<i64>,
    pub(super) updated_at: i64,
    pub(super) git_branch: Option<String>,
    pub(super) prompt: String,
    pub(super) answer: Option<String>,
    pub(super) facets: String,
    pub(super) content_hash: Vec<u8>,
    pub(super) sealed: Option<Vec<u8>>,
    pub(super) model: Option<String>,
    pub(super) embedding: Option<Vec<f32>>,
}

impl Episode {
    /// An episode that tells its name.
    pub(super) fn of(team: i32, name: &str) -> Self {
        Self {
            team,
            uid: id(name),
            turn_uid: turn_of(name),
            project_keys: Some(vec!["url:github.com/acme/app".to_owned()]),
            project_name: "app".to_owned(),
            agent: "claude-code".to_owned(),
            session: Some("a session".to_owned()),
            origin: 0,
            turn: 0,
            part: 0,
            importance: 1,
            importance_rule: "usual".to_owned(),
            created_at: Some(1_700_000_000_000),
            updated_at: 1_700_000_000_000,
            git_branch: None,
            prompt: format!("the prompt of {name}"),
            answer: Some(format!("the answer of {name}")),
            facets: "{}".to_owned(),
            content_hash: vec![1; 32],
            sealed: None,
            model: None,
            embedding: None,
        }
    }

    /// Those of several names.
    pub(super) fn all(team: i32, names: &[&str]) -> Vec<Self> {
        names.iter().map(|name| Self::of(team, name)).collect()
    }

    /// The same of other words.
    pub(super) fn saying(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self.content_hash = prompt.bytes().chain(std::iter::repeat(0)).take(32).collect();
        self
    }

    /// The same with a vector that points along one axis, and a little along the next.
    pub(super) fn pointing(self, axis: usize) -> Self {
        let mut vector = vec![0.0; DIMENSION];
        vector[axis % DIMENSION] = 1.0;
        vector[(axis + 1) % DIMENSION] = 0.25;
        self.with_vector(MODEL, vector)
    }

    pub(super) fn with_vector(mut self, model: &str, vector: Vec<f32>) -> Self {
        (self.model, self.embedding) = (Some(model.to_owned()), Some(vector));
        self
    }

    /// The same as a sealed team's.
    pub(super) fn sealed(mut self, sealed: &[u8]) -> Self {
        self.project_keys = Some(vec![format!("h:{}", "a".repeat(32))]);
        self.session = Some(format!("h:{}", "b".repeat(32)));
        self.answer = Some(String::new());
        self.sealed = Some(sealed.to_vec());
        self.project_name.clear();
        self.prompt.clear();
        self
    }

    fn values(&self) -> [&(dyn ToSql + Sync); 22] {
        [
            &self.team,
            &self.uid,
            &self.turn_uid,
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
            &self.content_hash,
            &self.sealed,
            &self.model,
            &self.embedding,
        ]
    }
}

/// A change as it is pulled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) seq: i64,
    pub(super) kind: i16,
    pub(super) uid: Option<Vec<u8>>,
    pub(super) turn_uid: Option<Vec<u8>>,
    pub(super) member: Option<i32>,
    pub(super) machine: Option<Vec<u8>>,
    pub(super) prompt: Option<String>,
    pub(super) embedding: Option<Vec<f32>>,
    pub(super) head: i64,
}

impl Change {
    fn of(row: &Row) -> Self {
        Self {
            seq: row.get("seq"),
            kind: row.get("kind"),
            uid: row.get("uid"),
            turn_uid: row.get("turn_uid"),
            member: row.get("member"),
            machine: row.get("machine"),
            prompt: row.get("prompt"),
            embedding: row.get("embedding"),
            head: row.get("head"),
        }
    }

    /// Its kind, and the name that its uid, or its turn's, was made from.
    pub(super) fn short(&self) -> (i16, String) {
        let named = self.uid.as_ref().or(self.turn_uid.as_ref());
        let name = named.map(|bytes| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned());
        (self.kind, name.unwrap_or_default())
    }
}

/// The changes of a page, in short, without its end.
pub(super) fn short(page: &[Change]) -> Vec<(i16, String)> {
    page.iter()
        .filter(|change| ![3, 5].contains(&change.kind))
        .map(Change::short)
        .collect()
}

/// A page in short, as it is written in a test.
pub(super) fn changes(expected: &[(i16, &str)]) -> Vec<(i16, String)> {
    expected.iter().map(|(kind, name)| (*kind, (*name).to_owned())).collect()
}

/// That the server refused it with this SQLSTATE. Returns what it said.
pub(super) fn refused<T: Debug>(result: Result<T, Error>, sqlstate: &str) -> String {
    let error = result.unwrap_err();
    let said = error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| error.message().to_owned());
    let state = error.code().map(|code| code.code().to_owned());
    assert_eq!(state.as_deref(), Some(sqlstate), "{said}");
    said
}
