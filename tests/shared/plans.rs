//! How PostgreSQL carries out the hot queries, over twelve thousand rows of several teams: the statements are those of the
//! functions, as the server has them, and who explains them is who runs them.

use std::fmt::Write;

use postgres::Client;

use crate::store::{DIMENSION, Member, Store};

/// The variables of a page.
const PAGE: [(&str, &str); 7] = [
    ("in_team", "int"),
    ("in_machine", "bytea"),
    ("after", "bigint"),
    ("rows", "int"),
    ("now_at", "bigint"),
    ("model_id", "int"),
    ("up_to", "bigint"),
];

/// A large team, at number 1, among others.
fn scene() -> Option<(Store, Member)> {
    let mut store = Store::new()?;
    for name in ["one", "two", "three", "four"] {
        store.team(name);
    }
    let ann = store.member("one", "ann", "laptop");
    store
        .admin
        .batch_execute(
            "INSERT INTO remembrancer.episodes (team, uid, turn_uid, member, machine, seq, origin, importance, turn, part, created_at,
                 updated_at, project_keys, project_name, agent, session, importance_rule, content_hash, prompt, answer, facets)
             SELECT 1 + n % 4, decode(md5('u' || n), 'hex'), decode(md5('t' || n / 2), 'hex'), 1 + n % 2, decode(md5('m' || n % 5), 'hex'),
                 1 + n / 4, 0, 1, 0, 0, n, n, ARRAY['url:x'], 'x', 'claude-code', 's', 'r', decode(md5('h' || n), 'hex'),
                 'common word' || n % 500 || ' rare' || n, 'answer' || n % 50, '{}'
             FROM generate_series(0, 11999) n;
             UPDATE remembrancer.teams SET seq = 3000;
             INSERT INTO remembrancer.vectors (team, uid, model, embedding)
             SELECT team, uid, 1, ARRAY(SELECT sin(seq * axis + team)::real FROM generate_series(1, 8) axis) FROM remembrancer.episodes;
             ANALYZE remembrancer.episodes; ANALYZE remembrancer.vectors",
        )
        .unwrap();
    assert_eq!(DIMENSION, 8, "as many as are written there");
    Some((store, ann))
}

/// The text of a function.
fn source(store: &mut Store, function: &str) -> String {
    let sql = "SELECT prosrc FROM pg_proc WHERE pronamespace = 'remembrancer'::regnamespace AND proname = $1";
    store.admin.query_one(sql, &[&function]).unwrap().get(0)
}

/// What stands between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let after = text.split_once(from).unwrap_or_else(|| panic!("no {from:?}")).1;
    after.split_once(to).unwrap_or_else(|| panic!("no {to:?}")).0
}

/// A statement of a function with its variables as parameters.
fn with_parameters(sql: &str, variables: &[(&str, &str)]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut written = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(is_word) {
        written.push_str(&rest[..at]);
        let end = rest[at..]
            .find(|c: char| !is_word(c))
            .map_or(rest.len(), |length| at + length);
        let word = &rest[at..end];
        match variables.iter().position(|(name, _)| *name == word) {
            Some(place) => write!(written, "${}::{}", place + 1, variables[place].1).unwrap(),
            None => written.push_str(word),
        }
        rest = &rest[end..];
    }
    written + rest
}

fn explained(client: &mut Client, sql: &str) -> Vec<String> {
    let rows = client.query(format!("EXPLAIN (COSTS OFF) {sql}").as_str(), &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The plans of a statement for these values, and for any: a session that asks often uses the latter.
fn both_plans(client: &mut Client, sql: &str, values: &str) -> [Vec<String>; 2] {
    client.batch_execute(&format!("PREPARE looked_at AS {sql}")).unwrap();
    ["force_custom_plan", "force_generic_plan"].map(|mode| {
        client.batch_execute(&format!("SET plan_cache_mode = {mode}")).unwrap();
        explained(client, &format!("EXECUTE looked_at ({values})"))
    })
}

/// The parts of a table that a plan reads.
fn parts(plan: &[String], table: &str) -> Vec<String> {
    let start = format!(" on {table}_");
    let read = plan
        .iter()
        .filter(|line| line.contains(&start))
        .filter_map(|line| line.split(" on ").nth(1));
    let mut parts: Vec<String> = read.map(|rest| rest.split(' ').next().unwrap().to_owned()).collect();
    parts.sort();
    parts.dedup();
    parts
}

fn assert_line(plan: &[String], wanted: &[&str]) {
    let is_there = plan.iter().any(|line| wanted.iter().all(|word| line.contains(word)));
    assert!(is_there, "no line with {wanted:?}:\n{}", plan.join("\n"));
}

fn assert_no_scan(plan: &[String]) {
    let scans: Vec<&String> = plan.iter().filter(|line| line.contains("Seq Scan on")).collect();
    assert!(scans.is_empty(), "{scans:?}:\n{}", plan.join("\n"));
}

#[test]
fn a_page_is_a_range_of_one_index_of_the_team_s_part() {
    let Some((mut store, mut ann)) = scene() else { return };
    let text = source(&mut store, "pull");
    let query = between(&text, "END IF;\n    RETURN QUERY", ";\nEND");
    let query = with_parameters(query, &PAGE);
    // As the member, under the policies.
    for plan in both_plans(&mut ann.client, &query, "1, '', 2500, 200, 3000, 1, 22500") {
        assert_line(&plan, &["Index Scan using episodes_", "_team_seq_idx on episodes_"]);
        assert_line(&plan, &["Index Cond:", "team = ", "seq > "]);
        assert_line(&plan, &["Index Scan using idx_forgotten_seq on forgotten"]);
        assert_line(&plan, &["Index Scan using vectors_1_", "_pkey on vectors_1_"]);
        assert_eq!(parts(&plan, "episodes").len(), 1, "{}", plan.join("\n"));
        assert_eq!(parts(&plan, "vectors").len(), 1, "{}", plan.join("\n"));
        let large = plan
            .iter()
            .filter(|line| line.contains("Seq Scan on episodes") || line.contains("Seq Scan on vectors"));
        assert_eq!(large.count(), 0, "{}", plan.join("\n"));
    }
}

#[test]
fn a_page_of_marks_is_a_range_of_an_index_of_marks() {
    let Some((mut store, mut ann)) = scene() else { return };
    let text = source(&mut store, "pull");
    let query = between(&text, "RETURN QUERY", ";\n        RETURN;");
    let query = with_parameters(query, &PAGE[..5]);
    for plan in both_plans(&mut ann.client, &query, "1, '', 0, 200, 3000") {
        assert_line(&plan, &["Index Scan using episodes_", "_team_seq_idx1 on episodes_"]);
        assert_line(&plan, &["Index Cond:", "team = ", "seq > "]);
        assert_eq!(parts(&plan, "episodes").len(), 1, "{}", plan.join("\n"));
        let large = plan.iter().filter(|line| line.contains("Seq Scan on episodes"));
        assert_eq!(large.count(), 0, "{}", plan.join("\n"));
    }
    let name = "SELECT indexdef FROM pg_indexes WHERE indexname ~ '^episodes_[0-9]+_team_seq_idx1$' LIMIT 1";
    let marks: String = store.admin.query_one(name, &[]).unwrap().get(0);
    assert!(marks.ends_with("WHERE (kind = 1)"), "{marks}");
}

#[test]
fn a_push_looks_each_row_up_by_its_key_in_one_part() {
    let Some((mut store, _ann)) = scene() else { return };
    let text = source(&mut store, "push");
    let judged = between(&text, "content's hash are compared.", "INTO new_uids, told_anew, same_uids");
    let from = between(&text, "INTO new_uids, told_anew, same_uids", ";");
    let query = with_parameters(
        &format!("{judged}{from}"),
        &[("in_team", "int"), ("me", "int"), ("this", "xid8")],
    );
    store.admin.batch_execute("BEGIN; SET LOCAL ROLE remembrancer_owner").unwrap();
    for plan in both_plans(&mut store.admin, &query, "1, 1, pg_current_xact_id()") {
        assert_line(&plan, &["Index Scan using idx_incoming_xact on incoming"]);
        assert_line(&plan, &["Index Scan using episodes_", "_pkey on episodes_"]);
        assert_line(&plan, &["forgotten_pkey on forgotten"]);
        assert_eq!(
            (parts(&plan, "episodes").len(), parts(&plan, "vectors").len()),
            (1, 1),
            "{}",
            plan.join("\n")
        );
        let large = plan
            .iter()
            .filter(|line| line.contains("Seq Scan on episodes") || line.contains("Seq Scan on vectors"));
        assert_eq!(large.count(), 0, "{}", plan.join("\n"));
    }
    store.admin.batch_execute("ROLLBACK").unwrap();
}

#[test]
fn a_search_by_words_and_one_by_meaning_use_their_indexes_of_one_part() {
    let Some((mut store, _ann)) = scene() else { return };
    let text = source(&mut store, "search");
    store.admin.batch_execute("BEGIN; SET LOCAL ROLE remembrancer_owner").unwrap();
    let by_words = between(&text, "EXECUTE '", "' INTO");
    let by_words = by_words
        .replace("$1", "1")
        .replace("$2", "'word7 & rare1007'::tsquery")
        .replace("$3", "20");
    let plan = explained(&mut store.admin, &by_words);
    assert_line(&plan, &["Bitmap Index Scan on episodes_", "_words_idx"]);
    assert_no_scan(&plan);
    let home: String = store
        .admin
        .query_one("SELECT remembrancer.vector_schema()::text", &[])
        .unwrap()
        .get(0);
    let by_meaning = between(&text, "EXECUTE format('", "',");
    let by_meaning = by_meaning.replace("%1$s", "1").replace("%2$I", &home).replace("%3$s", "8");
    let by_meaning = by_meaning
        .replace("$1", "1")
        .replace("$2", "'[1,0,0,0,0,0,0,0]'")
        .replace("$3", "20");
    let plan = explained(&mut store.admin, &by_meaning);
    assert_line(&plan, &["Index Scan using vectors_1_", "_embedding_idx on vectors_1_"]);
    assert_line(&plan, &["Order By:", "<=>"]);
    assert_eq!(parts(&plan, "vectors").len(), 1, "{}", plan.join("\n"));
    assert_no_scan(&plan);
    store.admin.batch_execute("ROLLBACK").unwrap();
}

#[test]
fn words_become_parameters_and_parts_of_words_don_t() {
    let sql = with_parameters("a.rows, rows; rows_of(in_team)", &[("rows", "int"), ("in_team", "int")]);
    assert_eq!(sql, "a.$1::int, $1::int; rows_of($2::int)");
}
