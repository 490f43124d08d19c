//! The search over all that a team shares: by words, by meaning within one model, and how near to the exact answer it comes.

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::Type;
use remembrancer_schema::shared::{REGISTER_MODEL, SEARCH};

use crate::store::{DIMENSION, Episode, MODEL, Member, Store, id};

/// A hit: its name, its rank by words, its rank by meaning.
type Hit = (String, Option<i32>, Option<i32>);

fn search(member: &mut Member, terms: &[&str], vector: Option<&[f32]>, model: &str, most: i32) -> Vec<Hit> {
    let rows = member
        .client
        .query(SEARCH, &[&member.team, &terms, &vector, &model, &most])
        .unwrap();
    rows.iter()
        .map(|row| {
            let uid: Vec<u8> = row.get("uid");
            let name = String::from_utf8_lossy(&uid).trim_end_matches('\0').to_owned();
            (name, row.get("words_rank"), row.get("meaning_rank"))
        })
        .collect()
}

fn hit(name: &str, words: Option<i32>, meaning: Option<i32>) -> Hit {
    (name.to_owned(), words, meaning)
}

/// A team that shares a few episodes, and one that shares the same words.
fn scene() -> Option<(Store, Member, Member)> {
    let mut store = Store::new()?;
    let team = store.team("one");
    let elsewhere = store.team("two");
    let mut ann = store.member("one", "ann", "laptop");
    let rows = [
        Episode::of(team, "index").saying("the index of Postgres is slow").pointing(0),
        Episode::of(team, "vacuum").saying("when does Postgres vacuum").pointing(1),
        Episode::of(team, "queue").saying("a queue in Kafka").pointing(4),
    ];
    ann.push(&rows).unwrap();
    let mut eve = store.member("two", "eve", "cellar");
    eve.push(&[Episode::of(elsewhere, "theirs")
        .saying("the index of Postgres is slow")
        .pointing(0)])
        .unwrap();
    Some((store, ann, eve))
}

fn axis(number: usize) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSION];
    vector[number] = 1.0;
    vector
}

#[test]
fn all_words_come_first_and_then_any_of_them() {
    let Some((_store, mut ann, mut eve)) = scene() else { return };
    let found = search(&mut ann, &["postgres", "index"], None, MODEL, 10);
    assert_eq!(found, [hit("index", Some(1), None), hit("vacuum", Some(2), None)]);
    // As many as were wanted have all: no more are looked for.
    assert_eq!(
        search(&mut ann, &["postgres", "index"], None, MODEL, 1),
        [hit("index", Some(1), None)]
    );
    // Forms of a word are one word, and a word that says nothing asks for nothing.
    assert_eq!(
        search(&mut ann, &["queues", "the"], None, MODEL, 10),
        [hit("queue", Some(1), None)]
    );
    assert!(search(&mut ann, &["the", "of"], None, MODEL, 10).is_empty());
    assert!(search(&mut ann, &[], None, MODEL, 10).is_empty());
    assert_eq!(
        search(&mut eve, &["postgres"], None, MODEL, 10),
        [hit("theirs", Some(1), None)]
    );
}

#[test]
fn terms_are_words_whatever_stands_in_them() {
    let Some((_store, mut ann, _eve)) = scene() else { return };
    let long = "x".repeat(100_000);
    for term in [
        "'",
        "\\",
        "index'); DROP TABLE remembrancer.episodes; --",
        "a & | ! (b",
        "<->",
        "😀",
        ":*",
        &long,
        "%s %I $1",
    ] {
        search(&mut ann, &[term, "queue"], Some(&axis(0)), MODEL, 10);
    }
    assert_eq!(search(&mut ann, &["queue"], None, MODEL, 10).len(), 1);
}

#[test]
fn by_meaning_the_nearest_come_first_and_both_ranks_are_told() {
    let Some((_store, mut ann, _eve)) = scene() else { return };
    let found = search(&mut ann, &["kafka"], Some(&axis(0)), MODEL, 10);
    let place = |name: &str| found.iter().find(|hit| hit.0 == name).unwrap();
    assert_eq!(place("index").2, Some(1));
    assert_eq!((place("queue").1, place("index").1), (Some(1), None));
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn models_are_never_compared() {
    let Some((mut store, mut ann, _eve)) = scene() else { return };
    store
        .admin
        .query_one(REGISTER_MODEL, &[&"other", &(DIMENSION as i32)])
        .unwrap();
    let team = ann.team;
    ann.push(&[Episode::of(team, "foreign").with_vector("other", axis(0))])
        .unwrap();
    let found = search(&mut ann, &[], Some(&axis(0)), MODEL, 10);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|hit| hit.0 != "foreign"));
    assert_eq!(
        search(&mut ann, &[], Some(&axis(0)), "other", 10),
        [hit("foreign", None, Some(1))]
    );
    assert!(search(&mut ann, &[], Some(&axis(0)), "unheard of", 10).is_empty());
}

#[test]
fn what_is_withdrawn_or_forgotten_is_found_no_more() {
    let Some((_store, mut ann, _eve)) = scene() else { return };
    ann.withdraw(&["index"]).unwrap();
    ann.forget(&["vacuum"]).unwrap();
    let found = search(&mut ann, &["postgres"], Some(&axis(0)), MODEL, 10);
    assert_eq!(found, [hit("queue", None, Some(1))]);
}

/// Numbers that are the same each time: between -1 and 1, the sum of a few, so that most are near 0.
struct Noise(u64);

impl Noise {
    fn draw(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
        }
        sum / 4.0
    }

    /// A vector near another one, of length 1.
    fn near(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        let moved: Vec<f32> = centre.iter().map(|value| value + spread * self.draw()).collect();
        let length = moved.iter().map(|value| value * value).sum::<f32>().sqrt();
        moved.into_iter().map(|value| value / length).collect()
    }
}

const WIDE: usize = 64;
const CLUSTERS: usize = 150;
const VECTORS: usize = 6_000;
const ASKED: usize = 60;

#[test]
fn ten_neighbours_are_nearly_those_of_an_exact_search() {
    let Some(mut store) = Store::new() else { return };
    let (team, beside) = (store.team("one"), store.team("two"));
    let mut ann = store.member("one", "ann", "laptop");
    let model: i32 = store
        .admin
        .query_one(REGISTER_MODEL, &[&"wide", &(WIDE as i32)])
        .unwrap()
        .get(0);
    let mut noise = Noise(20_251_129);
    let centres: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| noise.near(&[0.0; WIDE], 1.0)).collect();
    let vectors: Vec<Vec<f32>> = (0..VECTORS)
        .map(|number| noise.near(&centres[number % CLUSTERS], 0.25))
        .collect();
    // The team has two of three; the others lie in the same graph or in another. Rows come as the superuser's, since only the vectors
    // count here.
    let team_of = |number: usize| if number % 3 == 2 { beside } else { team };
    store
        .admin
        .batch_execute("CREATE TEMP TABLE given (team int, uid bytea, embedding real[])")
        .unwrap();
    let writer = store.admin.copy_in("COPY given FROM STDIN (FORMAT binary)").unwrap();
    let mut writer = BinaryCopyInWriter::new(writer, &[Type::INT4, Type::BYTEA, Type::FLOAT4_ARRAY]);
    for (number, vector) in vectors.iter().enumerate() {
        writer.write(&[&team_of(number), &id(&number.to_string()), vector]).unwrap();
    }
    writer.finish().unwrap();
    store
        .admin
        .batch_execute(&format!(
            "INSERT INTO remembrancer.vectors (team, uid, model, embedding) SELECT team, uid, {model}, embedding FROM given;
             INSERT INTO remembrancer.episodes (team, uid, turn_uid, member, machine, seq, origin, importance, turn, part, created_at,
                 updated_at, project_keys, project_name, agent, session, importance_rule, content_hash, prompt, answer, facets)
             SELECT team, uid, uid, 1, uid, row_number() OVER (), 0, 1, 0, 0, 1, 1, '{{}}', '', '', '', '', '', '', '', '' FROM given;
             ANALYZE remembrancer.vectors; ANALYZE remembrancer.episodes"
        ))
        .unwrap();
    let mut agreed = 0;
    for asked in 0..ASKED {
        let query = noise.near(&centres[asked % CLUSTERS], 0.25);
        let found = search(&mut ann, &[], Some(&query), "wide", 10);
        let closeness = |number: usize| -> f32 { vectors[number].iter().zip(&query).map(|(one, other)| one * other).sum() };
        let mut exact: Vec<usize> = (0..VECTORS).filter(|number| team_of(*number) == team).collect();
        exact.sort_by(|one, other| closeness(*other).total_cmp(&closeness(*one)));
        assert_eq!(found.len(), 10);
        agreed += exact[..10]
            .iter()
            .filter(|number| found.iter().any(|hit| hit.0 == number.to_string()))
            .count();
    }
    let recall = agreed as f64 / (10 * ASKED) as f64;
    eprintln!("recall@10 by HNSW over {VECTORS} vectors of {WIDE} dimensions: {recall:.3}");
    assert!(recall >= 0.95, "{recall:.3}");
}
