//! The full-text index and the lengths against the texts: each visible episode has exactly the terms that its text gives, in their
//! order, and nothing else is in the index.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::Faults;
use crate::ids::EpisodeId;
use crate::lengths::{self, BLOCK};
use crate::migrate::meta;
use crate::write::{INDEX_ANALYSIS, indexed_columns, parse_facets};

/// The columns of the index, in their order.
const COLUMNS: [&str; 4] = ["prompt", "answer", "facets", "project"];

pub(super) fn check(db: &Connection, faults: &mut Faults) -> rusqlite::Result<()> {
    let indexed = indexed(db)?;
    let expected = expected(db)?;
    for id in indexed.keys().filter(|id| !expected.contains_key(id)) {
        faults.add("index", format!("a row for episode {id}, which is gone or hidden"));
    }
    // An index that older rules made, and that is being brought up to date, is compared by its rows alone.
    let noted = meta(db, INDEX_ANALYSIS)?;
    let is_current = noted.as_deref() == Some(crate::ANALYSIS_VERSION.to_string().as_str());
    // One that nobody noted is that of a store which is older than the index: its episodes are being indexed for the first time.
    let is_begun = noted.is_none();
    for (id, columns) in &expected {
        match indexed.get(id) {
            None if is_begun => {}
            None => faults.add("index", format!("no row for episode {id}")),
            Some(found) => {
                let differs = (0..COLUMNS.len()).find(|column| found[*column] != columns[*column]);
                if let Some(column) = differs.filter(|_| is_current) {
                    faults.add("index", format!("episode {id}: other terms than its {}", COLUMNS[column]));
                }
            }
        }
    }
    if !is_begun {
        check_rows(db, &expected, faults)?;
    }
    if is_current {
        check_lengths(db, &expected, faults)?;
    }
    Ok(())
}

/// What the index holds of each episode, column by column, put together again from its terms.
fn indexed(db: &Connection) -> rusqlite::Result<BTreeMap<EpisodeId, [String; 4]>> {
    db.execute_batch("CREATE VIRTUAL TABLE temp.audited_terms USING fts5vocab ('main', 'episodes_fts', 'instance')")?;
    let mut statement = db.prepare("SELECT doc, col, term FROM temp.audited_terms ORDER BY doc, col, offset")?;
    let mut rows = statement.query([])?;
    let mut found: BTreeMap<EpisodeId, [String; 4]> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let column = row.get_ref(1)?.as_str()?;
        let Some(column) = COLUMNS.iter().position(|known| *known == column) else {
            continue;
        };
        let text = &mut found.entry(row.get(0)?).or_default()[column];
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(row.get_ref(2)?.as_str()?);
    }
    drop(rows);
    drop(statement);
    db.execute_batch("DROP TABLE temp.audited_terms")?;
    Ok(found)
}

/// What it should hold: of every visible episode, what the writer would index.
fn expected(db: &Connection) -> rusqlite::Result<BTreeMap<EpisodeId, [String; 4]>> {
    let mut statement = db.prepare(
        "SELECT episodes.id, prompt, answer, facets, project_id
         FROM episodes JOIN episode_texts ON episode_texts.episode_id = episodes.id WHERE hidden = 0",
    )?;
    let mut rows = statement.query([])?;
    let mut expected = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let facets = parse_facets(row.get_ref(3)?.as_str()?)?;
        let columns = indexed_columns(row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?, &facets, row.get(4)?);
        expected.insert(row.get(0)?, columns);
    }
    Ok(expected)
}

/// FTS5's own record of its rows, which outlives the terms of a row that has none.
fn check_rows(db: &Connection, expected: &BTreeMap<EpisodeId, [String; 4]>, faults: &mut Faults) -> rusqlite::Result<()> {
    let mut statement = db.prepare("SELECT id FROM episodes_fts_docsize ORDER BY id")?;
    let rows: Vec<EpisodeId> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if !rows.iter().eq(expected.keys()) {
        let fault = format!(
            "{} rows recorded for {} visible episodes, or other ones",
            rows.len(),
            expected.len()
        );
        faults.add("index", fault);
    }
    Ok(())
}

fn check_lengths(db: &Connection, expected: &BTreeMap<EpisodeId, [String; 4]>, faults: &mut Faults) -> rusqlite::Result<()> {
    let last: i64 = db.query_row("SELECT coalesce(max(block), -1) FROM episode_lengths", [], |row| row.get(0))?;
    let last = last.max(expected.keys().last().map_or(-1, |id| id.0 / BLOCK as i64));
    let mut lengths = [0; BLOCK];
    for number in 0..=last {
        lengths::read_block(db, number, &mut lengths)?;
        for (place, length) in lengths.iter().enumerate() {
            let id = EpisodeId(number * BLOCK as i64 + place as i64);
            let terms = |columns: &[String; 4]| columns.iter().map(|text| text.split_ascii_whitespace().count()).sum();
            let wanted: usize = expected.get(&id).map_or(0, terms);
            if usize::from(*length) != wanted.min(usize::from(u16::MAX)) {
                faults.add("length", format!("episode {id} counts as {length} terms, and has {wanted}"));
            }
        }
    }
    Ok(())
}
