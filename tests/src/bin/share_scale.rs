//! The shared store by its size: `cargo build --release && target/release/share-scale 1000000`.
//!
//! Loads synthetic episodes into a PostgreSQL by the statements that the daemon sends, in several teams of which the first is the
//! largest, and prints what pushing, pulling and searching take, how long the index of the vectors takes to build, how much of the
//! nearest it finds, and what all that takes on the disk. `--admin-url-file` names the server, whose database has to be empty; without
//! it the tests' own is started, in a temporary folder.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints measurements")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls, Row};
use remembrancer_processor::embed::{BertEmbedder, Embed, Embedding};
use remembrancer_schema::shared::{
    ADD_MEMBER, ADD_TEAM, CLIENT_VERSION, COPY_INCOMING, HELLO, PULL, PUSH, REGISTER_MODEL, SEARCH, SHARED_MIGRATIONS,
};
use remembrancer_schema::{NewEpisode, ProjectId, query_terms};
use remembrancer_tests::corpus::Numbers;
use remembrancer_tests::postgres::{INCOMING, Postgres};
use remembrancer_tests::synthetic::{MODEL, Synthetic, Vectors};
use remembrancer_tests::{Spread, timed};

/// Rows of a push and of a pull, as the daemon has them at most.
const PAGE: usize = 500;
/// Turns of a session, which stay in one team.
const SESSION: u64 = 20;
/// Words of a search.
const WORDS: usize = 12;
/// What a search is to give.
const FOUND: usize = 10;
/// Who pushes, and who pulls and searches; members of every team.
const LOGINS: [&str; 2] = ["scale_writer", "scale_reader"];
const MACHINES: [[u8; 16]; 2] = [[1; 16], [2; 16]];

#[derive(Debug, Parser)]
struct Arguments {
    /// How many episodes are loaded.
    #[arg(default_value_t = 1_000_000)]
    episodes: u64,
    /// In how many teams; the n-th has a share of 1/n.
    #[arg(long, default_value_t = 20)]
    teams: usize,
    /// How many of them are pushed last, beside the finished index of the vectors.
    #[arg(long, default_value_t = 10_000)]
    last: u64,
    /// How many episodes are pulled at most.
    #[arg(long, default_value_t = 200_000)]
    pulled: u64,
    /// Searches of each kind.
    #[arg(long, default_value_t = 300)]
    queries: u64,
    /// Searches whose results are compared with the exact ones.
    #[arg(long, default_value_t = 100)]
    sample: u64,
    /// Embed every text by the model (hours at a million), rather than vary the vectors of 2,000 texts.
    #[arg(long)]
    embed: bool,
    /// `maintenance_work_mem` while the index is built.
    #[arg(long, default_value = "2GB")]
    build_memory: String,
    /// A file with the URL of an empty database, by which its administrator logs in.
    #[arg(long)]
    admin_url_file: Option<PathBuf>,
}

fn main() {
    let arguments = Arguments::parse();
    let own = arguments
        .admin_url_file
        .is_none()
        .then(|| Postgres::start().unwrap())
        .flatten();
    let url = match (&arguments.admin_url_file, &own) {
        (Some(file), _) => fs_err::read_to_string(file).unwrap().trim().to_owned(),
        (None, Some(own)) => own.admin_url().clone(),
        (None, None) => return println!("there is no PostgreSQL with pgvector here: name a server by --admin-url-file"),
    };
    let mut report = Report::default();
    let mut bench = Bench::set_up(&url, &arguments);
    bench.load(&arguments, &mut report);
    bench.pull(&arguments, &mut report);
    bench.search(&arguments, &mut report);
    bench.recall(&arguments, &mut report);
    bench.sizes(&arguments, &mut report);
    report.print(&arguments, &bench.surroundings());
    drop(bench);
    drop(own);
}

/// Lines of the table.
#[derive(Default)]
struct Report(Vec<(String, String)>);

impl Report {
    fn add(&mut self, what: impl Into<String>, value: String) {
        let what = what.into();
        println!("{what}: {value}");
        self.0.push((what, value));
    }

    fn rate(&mut self, what: &str, rows: u64, took: Duration) {
        let rate = rows as f64 / took.as_secs_f64();
        self.add(what, format!("{rate:.0} rows/s ({rows} in {:.1} s)", took.as_secs_f64()));
    }

    fn times(&mut self, what: &str, times: Vec<Duration>) {
        let spread = Spread::from(times);
        let (p50, p99, most) = (spread.millis(0.5), spread.millis(0.99), spread.millis(1.0));
        self.add(
            what,
            format!(
                "p50 {p50:.1} ms, p99 {p99:.1} ms, max {most:.1} ms ({} of them)",
                spread.count()
            ),
        );
    }

    fn print(&self, arguments: &Arguments, surroundings: &str) {
        println!(
            "\n| {} episodes in {} teams | |\n| --- | --- |",
            arguments.episodes, arguments.teams
        );
        for (what, value) in &self.0 {
            println!("| {what} | {value} |");
        }
        println!("\n{surroundings}");
    }
}

/// One row as it is copied in.
struct Given {
    episode: NewEpisode,
    project_keys: Vec<String>,
    project_name: String,
    session: String,
    facets: String,
    uid: Vec<u8>,
    turn_uid: Vec<u8>,
    content_hash: Vec<u8>,
    turn: i32,
    git_branch: Option<String>,
    sealed: Option<Vec<u8>>,
    model: Option<String>,
    embedding: Option<Vec<f32>>,
}

impl Given {
    /// The columns, in the order of [`INCOMING`].
    fn columns<'a>(&'a self, team: &'a i32) -> [&'a (dyn ToSql + Sync); 22] {
        [
            team,
            &self.uid,
            &self.turn_uid,
            &self.project_keys,
            &self.project_name,
            &"claude-code",
            &self.session,
            &0_i16,
            &self.turn,
            &0_i32,
            &1_i16,
            &self.episode.importance_rule,
            &self.episode.created_at.0,
            &self.episode.created_at.0,
            &self.git_branch,
            &self.episode.prompt,
            &self.episode.answer,
            &self.facets,
            &self.content_hash,
            &self.sealed,
            &self.model,
            &self.embedding,
        ]
    }
}

/// What episodes are made of.
struct Source {
    synthetic: Synthetic,
    vectors: Vectors,
    /// Embeds each text, where it was asked for.
    embedder: Option<BertEmbedder>,
    teams: usize,
}

impl Source {
    /// The team of an episode, by its session.
    fn team_of(&self, number: u64) -> usize {
        let shares: Vec<usize> = (1..=self.teams).map(|place| 1_000_000 / place).collect();
        let mut left = Numbers::new(number / SESSION).below(shares.iter().sum());
        let found = shares.iter().position(|share| {
            let here = left < *share;
            left = left.saturating_sub(*share);
            here
        });
        found.unwrap_or_default()
    }

    fn rows(&self, numbers: &[u64]) -> Vec<Given> {
        let mut rows: Vec<Given> = numbers.iter().map(|number| self.row(*number)).collect();
        if let Some(embedder) = &self.embedder {
            let texts: Vec<String> = rows
                .iter()
                .map(|row| format!("{}\n{}", row.episode.prompt, row.episode.answer))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let embedded = embedder.embed_passages(&texts).unwrap();
            for (row, embedding) in rows.iter_mut().zip(embedded) {
                row.embedding = Some(Embedding::into_vec(embedding));
            }
        }
        rows
    }

    fn row(&self, number: u64) -> Given {
        let team = self.team_of(number);
        let mut turn = self.synthetic.turn(number, ProjectId(1), "");
        let episode = turn.episodes.remove(0);
        let project = format!("project-{team}-{}", number / SESSION % 5);
        let mut content_hash = vec![0; 32];
        content_hash[..8].copy_from_slice(&number.to_be_bytes());
        Given {
            project_keys: vec![format!("url:github.com/acme/{project}")],
            project_name: project,
            session: turn.session.external_id,
            facets: serde_json::to_string(&episode.facets).unwrap(),
            uid: episode.uid.0.to_vec(),
            turn_uid: episode.turn_uid.0.to_vec(),
            content_hash,
            turn: (number % SESSION) as i32,
            git_branch: Some("main".to_owned()),
            sealed: None,
            model: Some(MODEL.clone()),
            embedding: self.embedder.is_none().then(|| self.vectors.of(number)),
            episode,
        }
    }

    /// A vector that no episode has, near those of some.
    fn asked(&self, number: u64) -> Vec<f32> {
        self.vectors.of((1 << 32) + number)
    }

    /// Terms of a prompt that no episode has.
    fn terms(&self, number: u64) -> Vec<String> {
        query_terms(&self.synthetic.prompt(number, WORDS), WORDS)
    }
}

/// The server with its teams, and who asks it.
struct Bench {
    admin: Client,
    writer: Client,
    reader: Client,
    /// The number of each team, the largest first.
    teams: Vec<i32>,
    source: Source,
}

impl Bench {
    /// Makes the schema, teams and members.
    fn set_up(url: &str, arguments: &Arguments) -> Self {
        let mut admin = Client::connect(url, NoTls).unwrap();
        for migration in SHARED_MIGRATIONS {
            admin.batch_execute(migration.sql).unwrap();
        }
        let synthetic = Synthetic::new();
        let vectors = Vectors::new(&synthetic);
        admin
            .query(REGISTER_MODEL, &[&*MODEL, &(vectors.dimension() as i32)])
            .unwrap();
        for login in LOGINS {
            // Roles outlive the database.
            admin.batch_execute(&format!("CREATE ROLE {login} LOGIN")).ok();
            admin.batch_execute(&format!("ALTER ROLE {login} PASSWORD 'scale'")).unwrap();
        }
        let names: Vec<String> = (0..arguments.teams).map(|number| format!("team-{number}")).collect();
        for name in &names {
            admin.query(ADD_TEAM, &[name, &false, &None::<Vec<u8>>]).unwrap();
            for login in LOGINS {
                admin.query(ADD_MEMBER, &[name, &login, &false]).unwrap();
            }
        }
        let [mut writer, mut reader] = LOGINS.map(|login| {
            let mut config: Config = url.parse().unwrap();
            config.user(login).password("scale").connect(NoTls).unwrap()
        });
        let mut teams = Vec::new();
        for name in &names {
            for (client, machine) in [&mut writer, &mut reader].into_iter().zip(MACHINES) {
                let row = client
                    .query_one(HELLO, &[&machine.as_slice(), &"scale", name, &CLIENT_VERSION])
                    .unwrap();
                let team: i32 = row.get("team_id");
                if teams.last() != Some(&team) {
                    teams.push(team);
                }
            }
        }
        let source = Source {
            synthetic,
            vectors,
            embedder: arguments.embed.then(|| BertEmbedder::embedded().unwrap()),
            teams: arguments.teams,
        };
        Self {
            admin,
            writer,
            reader,
            teams,
            source,
        }
    }

    /// Pushes a page as the daemon does. Returns what it took, the making of the rows left out.
    fn push(&mut self, team: usize, numbers: &[u64]) -> Duration {
        let rows = self.source.rows(numbers);
        let team = self.teams[team];
        let (taken, took) = timed(|| {
            let mut transaction = self.writer.transaction().unwrap();
            let mut copy = BinaryCopyInWriter::new(transaction.copy_in(COPY_INCOMING).unwrap(), &INCOMING);
            for row in &rows {
                copy.write(&row.columns(&team)).unwrap();
            }
            copy.finish().unwrap();
            let taken: i64 = transaction
                .query_one(PUSH, &[&team, &MACHINES[0].as_slice()])
                .unwrap()
                .get("taken");
            transaction.commit().unwrap();
            taken
        });
        assert_eq!(taken, rows.len() as i64);
        took
    }

    /// Pushes episodes by pages of one team each. Returns what each page took.
    fn push_all(&mut self, numbers: std::ops::Range<u64>) -> Vec<Duration> {
        let mut waiting: Vec<Vec<u64>> = vec![Vec::new(); self.teams.len()];
        let mut took = Vec::new();
        for number in numbers {
            let team = self.source.team_of(number);
            waiting[team].push(number);
            if waiting[team].len() == PAGE {
                let page = std::mem::take(&mut waiting[team]);
                took.push(self.push(team, &page));
            }
        }
        for (team, page) in waiting.into_iter().enumerate().filter(|(_, page)| !page.is_empty()) {
            took.push(self.push(team, &page));
        }
        took
    }

    /// Loads all: most without the index of the vectors, which is built then, the last beside it.
    fn load(&mut self, arguments: &Arguments, report: &mut Report) {
        let indexes = self.graphs();
        assert!(!indexes.is_empty(), "there is no index of vectors to build");
        for (name, _) in &indexes {
            self.admin.batch_execute(&format!("DROP INDEX {name}")).unwrap();
        }
        let first = arguments.episodes.saturating_sub(arguments.last);
        let pages = self.push_all(0..first);
        report.rate("push, without the index of vectors", first, pages.iter().sum());
        self.admin
            .batch_execute(&format!("SET maintenance_work_mem = '{}'", arguments.build_memory))
            .unwrap();
        let ((), built) = timed(|| {
            for (_, definition) in &indexes {
                self.admin.batch_execute(definition).unwrap();
            }
        });
        report.add(
            "build of the index of vectors (HNSW)",
            format!("{:.0} s", built.as_secs_f64()),
        );
        let pages = self.push_all(first..arguments.episodes);
        report.rate("push, with it", arguments.episodes - first, pages.iter().sum());
        report.times("a push of a page, with it", pages);
        let ((), vacuumed) = timed(|| {
            for table in ["episodes", "vectors"] {
                self.admin
                    .batch_execute(&format!("VACUUM (ANALYZE) remembrancer.{table}"))
                    .unwrap();
            }
        });
        report.add("vacuum and statistics", format!("{:.0} s", vacuumed.as_secs_f64()));
    }

    /// The indexes by graph that are no part of another, and what makes each.
    fn graphs(&mut self) -> Vec<(String, String)> {
        let graphs = "SELECT c.oid::regclass::text, pg_get_indexdef(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
            WHERE a.amname = 'hnsw' AND c.relnamespace = 'remembrancer'::regnamespace
                AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)";
        let rows = self.admin.query(graphs, &[]).unwrap();
        // The definition of an index over parts speaks of the whole alone.
        let whole = |definition: String| definition.replace(" ON ONLY ", " ON ");
        rows.iter().map(|row| (row.get(0), whole(row.get(1)))).collect()
    }

    /// Pulls the teams, the largest first, as a machine that has nothing yet.
    fn pull(&mut self, arguments: &Arguments, report: &mut Report) {
        let mut pulled = 0;
        let mut pages = Vec::new();
        'teams: for team in &self.teams {
            let mut after = 0_i64;
            loop {
                let machine = MACHINES[1].as_slice();
                let (rows, took) = timed(|| {
                    let page = PAGE as i32;
                    self.reader
                        .query(PULL, &[team, &machine, &after, &page, &*MODEL, &true])
                        .unwrap()
                });
                pages.push(took);
                pulled += rows.iter().filter(|row| row.get::<_, i16>("kind") == 0).count() as u64;
                if pulled >= arguments.pulled {
                    break 'teams;
                }
                match rows.last() {
                    Some(last) if last.get::<_, i16>("kind") != 3 => after = last.get("seq"),
                    _ => break,
                }
            }
        }
        report.rate("pull, with vectors", pulled, pages.iter().sum());
        report.times("a pull of a page", pages);
    }

    /// Searches the largest team, and all in turn.
    fn search(&mut self, arguments: &Arguments, report: &mut Report) {
        let all = self.teams.clone();
        for (of, teams) in [("in the largest team", &all[..1]), ("in each team in turn", &all[..])] {
            let (mut by_words, mut by_meaning) = (Vec::new(), Vec::new());
            for number in 0..arguments.queries {
                let team = teams[number as usize % teams.len()];
                let (terms, vector) = (self.source.terms(number), self.source.asked(number));
                by_words.push(timed(|| self.found(team, &terms, None)).1);
                by_meaning.push(timed(|| self.found(team, &[], Some(&vector))).1);
            }
            report.times(&format!("search by words {of}"), by_words);
            report.times(&format!("search by meaning {of}"), by_meaning);
        }
    }

    /// What the shared store finds.
    fn found(&mut self, team: i32, terms: &[String], embedding: Option<&[f32]>) -> Vec<Row> {
        let most = FOUND as i32;
        self.reader
            .query(SEARCH, &[&team, &terms, &embedding, &*MODEL, &most])
            .unwrap()
    }

    /// How many of the nearest that there are the graph finds, in the largest team and in the smallest.
    fn recall(&mut self, arguments: &Arguments, report: &mut Report) {
        let smallest = self.teams.len() - 1;
        for (of, team) in [("largest", 0), ("smallest", smallest)] {
            let team = self.teams[team];
            let exact = self.exact_statement();
            let (mut hits, mut there) = (0, 0);
            for number in 0..arguments.sample {
                let vector = self.source.asked(arguments.queries + number);
                let mut transaction = self.admin.transaction().unwrap();
                transaction.batch_execute("SET LOCAL enable_indexscan = off").unwrap();
                let rows = transaction.query(exact.as_str(), &[&team, &vector]).unwrap();
                transaction.rollback().unwrap();
                let nearest: BTreeSet<Vec<u8>> = rows.iter().map(|row| row.get(0)).collect();
                let found = self.found(team, &[], Some(&vector));
                hits += found
                    .iter()
                    .filter(|row| nearest.contains(&row.get::<_, Vec<u8>>("uid")))
                    .count();
                there += nearest.len();
            }
            let share = hits as f64 / there.max(1) as f64;
            report.add(
                format!("of the {FOUND} nearest in the {of} team, found"),
                format!("{share:.3} (of {} searches)", arguments.sample),
            );
        }
    }

    /// What gives the nearest of a team by comparing all, where no index is used.
    fn exact_statement(&mut self) -> String {
        let extension =
            "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";
        let home: String = self.admin.query_one(extension, &[]).unwrap().get(0);
        let model = "SELECT id FROM remembrancer.models WHERE name = $1";
        let model: i32 = self.admin.query_one(model, &[&*MODEL]).unwrap().get(0);
        format!(
            "SELECT v.uid FROM remembrancer.vectors v WHERE v.model = {model} AND v.team = $1
            ORDER BY v.embedding OPERATOR(\"{home}\".<=>) $2::real[]::\"{home}\".halfvec LIMIT {FOUND}"
        )
    }

    /// What it takes on the disk.
    fn sizes(&mut self, arguments: &Arguments, report: &mut Report) {
        let of_tables = "SELECT coalesce(sum(pg_table_size(relid)), 0)::bigint, coalesce(sum(pg_indexes_size(relid)), 0)::bigint
            FROM pg_partition_tree($1::text::regclass) WHERE isleaf";
        let of_indexes =
            "SELECT coalesce(sum(pg_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_am a ON a.oid = c.relam
            WHERE c.relkind = 'i' AND a.amname = $1 AND c.relnamespace = 'remembrancer'::regnamespace";
        let mut all = 0_i64;
        let add = |report: &mut Report, what: &str, bytes: i64| {
            let each = bytes as f64 / arguments.episodes as f64;
            report.add(what, format!("{:.0} MB, {each:.0} bytes an episode", bytes as f64 / 1e6));
        };
        for (table, rows, indexes) in [
            ("episodes", "texts and the words of each", "their indexes"),
            ("vectors", "vectors", "their indexes"),
        ] {
            let row = self.admin.query_one(of_tables, &[&format!("remembrancer.{table}")]).unwrap();
            let (heap, index): (i64, i64) = (row.get(0), row.get(1));
            add(report, rows, heap);
            add(report, &format!("{indexes} ({table})"), index);
            all += heap + index;
        }
        for (method, what) in [("gin", "of these, by words (GIN)"), ("hnsw", "of these, by meaning (HNSW)")] {
            let bytes = self.admin.query_one(of_indexes, &[&method]).unwrap().get(0);
            add(report, what, bytes);
        }
        add(report, "all together", all);
    }

    /// Under what it was measured.
    fn surroundings(&mut self) -> String {
        let version: String = self.admin.query_one("SELECT version()", &[]).unwrap().get(0);
        let extension = "SELECT extversion FROM pg_extension WHERE extname = 'vector'";
        let extension: String = self.admin.query_one(extension, &[]).unwrap().get(0);
        let names = [
            "shared_buffers",
            "maintenance_work_mem",
            "max_parallel_maintenance_workers",
            "fsync",
            "synchronous_commit",
        ];
        let settings: Vec<String> = names
            .iter()
            .map(|name| {
                let value: String = self.admin.query_one(format!("SHOW {name}").as_str(), &[]).unwrap().get(0);
                format!("{name} {value}")
            })
            .collect();
        format!("{version}; pgvector {extension}; {}", settings.join(", "))
    }
}
