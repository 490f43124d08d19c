//! Each agent's parser, with all that reads a transcript before it and cuts episodes after it: any split into appends gives the
//! same turns, so does a restart anywhere, and places only move on.

use std::collections::BTreeMap;

use remembrancer_processor::ingest::{
    Advance, LineProblem, ResumePoint, Shape, SourceInfo, SourceReader, Turn, episodes, redact_folder,
};

use super::fixtures::{FIXTURES, pieces};
use super::input::Dice;

/// Bytes of what a parser takes over at a place, of which the store takes no more.
const LONGEST_STATE: usize = 16 * 1024;

/// The parser of the agent with this place in the table.
pub(super) fn run<const AGENT: usize>(data: &[u8]) {
    let Some((sort, content)) = data.split_first() else { return };
    let sorts = &FIXTURES[AGENT].sorts;
    let source = &sorts[usize::from(*sort) % sorts.len()];
    match source.shape {
        Shape::Lines => check_lines(&source.info, content),
        Shape::Archive => check_whole(&source.info, |reader| reader.archive(content), None),
        Shape::Document | Shape::Database(_) => {
            let end = content.iter().position(|byte| *byte == 0);
            let (content, rest) = content.split_at(end.unwrap_or(content.len()));
            let mut info = source.info.clone();
            info.context.pieces = rest.split_first().map(|(_, rest)| pieces(rest)).unwrap_or_default();
            check_whole(&info, |reader| reader.document(content), Some(content.len()));
        }
    }
}

/// What a reader gave from its beginning on.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    /// The last state of each turn, by ordinal.
    turns: BTreeMap<u32, Turn>,
    problems: Vec<LineProblem>,
    records: u64,
    read: ResumePoint,
    committed: ResumePoint,
    state: Option<String>,
}

impl Reading {
    fn from(place: ResumePoint) -> Self {
        Self {
            read: place,
            committed: place,
            ..Self::default()
        }
    }

    /// Adds what came of the bytes up to `end`.
    fn add(&mut self, advance: Advance, end: u64) {
        assert_eq!(advance.skipped as usize, advance.problems.len());
        assert!(
            advance.read.offset >= self.read.offset && advance.read.line >= self.read.line,
            "read went back"
        );
        assert!(advance.read.offset.0 <= end, "read to {} of {end}", advance.read.offset.0);
        assert!(
            advance.committed.offset <= advance.read.offset && advance.committed.line <= advance.read.line,
            "committed is beyond read: {:?}, {:?}",
            advance.committed,
            advance.read
        );
        for turn in &advance.turns {
            check_turn(turn);
        }
        self.turns.extend(advance.turns.into_iter().map(|turn| (turn.ordinal, turn)));
        self.problems.extend(advance.problems);
        self.records += advance.records;
        self.read = advance.read;
        self.committed = advance.committed;
        let length = advance.state.as_ref().map_or(0, String::len);
        assert!(length <= LONGEST_STATE, "a state of {length} bytes");
        self.state = advance.state;
    }
}

/// What a turn becomes is in order, and of it.
fn check_turn(turn: &Turn) {
    let rows = episodes(turn);
    for pair in rows.windows(2) {
        assert!(pair[0].part < pair[1].part, "parts out of order");
    }
    for row in rows {
        assert_eq!((row.turn_uid, row.turn), (turn.uid, turn.ordinal));
        assert!(
            !(row.prompt.is_empty() && row.answer.is_empty() && row.facets.is_empty()),
            "an empty episode"
        );
    }
}

fn read(mut reader: SourceReader, from: ResumePoint, chunks: &[&[u8]]) -> Reading {
    let mut reading = Reading::from(from);
    let mut end = from.offset.0;
    for chunk in chunks {
        reader.push(chunk);
        end += chunk.len() as u64;
        reading.add(reader.drain(), end);
    }
    reading
}

fn check_lines(info: &SourceInfo, content: &[u8]) {
    if content.is_empty() {
        // There is nothing to split.
        return;
    }
    let mut dice = Dice::of(content);
    let start = ResumePoint::default();
    let from_start = || SourceReader::new(info, start);
    let whole = read(from_start(), start, &[content]);
    let split = read(from_start(), start, &dice.split(content));
    assert_eq!(split, whole, "another split gives another reading");
    for _ in 0..2 {
        let cut = dice.below(content.len() + 1);
        let before = read(from_start(), start, &dice.split(&content[..cut]));
        let from = before.committed;
        let rest = &content[from.offset.0 as usize..];
        let reader = if let Some(state) = &before.state {
            SourceReader::resume(info, from, state).expect("a state that was written is read")
        } else {
            assert_eq!(from, start, "without a state only its start is to be read from");
            from_start()
        };
        let after = read(reader, from, &dice.split(rest));
        let mut turns = before.turns;
        turns.extend(after.turns);
        assert_eq!(
            stored(turns),
            stored(whole.turns.clone()),
            "a restart at {cut}, from {from:?}, gives other turns"
        );
        // Without another byte nothing was drained.
        if !rest.is_empty() {
            // Begun later, it knows of no reason to hold back what lies before.
            assert!(
                after.committed.offset >= whole.committed.offset,
                "a restart at {cut}, from {from:?}, ends before"
            );
            assert!(
                after.committed != whole.committed || after.state == whole.state,
                "a restart at {cut}, from {from:?}, takes over {:?}, not {:?}",
                after.state,
                whole.state
            );
            assert_eq!(
                after.read, whole.read,
                "a restart at {cut}, from {from:?}, reads to elsewhere"
            );
        }
    }
}

/// The turns as they are stored: of a folder that names a secret, a restart knows no more than that.
fn stored(mut turns: BTreeMap<u32, Turn>) -> BTreeMap<u32, Turn> {
    for folder in turns.values_mut().filter_map(|turn| turn.cwd.as_mut()) {
        *folder = redact_folder(folder).into_owned();
    }
    turns
}

/// Reads a document or an archive twice: it is the same, and all of it was read.
fn check_whole(info: &SourceInfo, push: impl Fn(&mut SourceReader), length: Option<usize>) {
    let read = || {
        let mut reader = SourceReader::new(info, ResumePoint::default());
        push(&mut reader);
        let advance = reader.drain();
        assert_eq!(advance.skipped as usize, advance.problems.len());
        if let Some(length) = length {
            assert_eq!(advance.read.offset.0, length as u64);
        }
        assert!(advance.committed.offset <= advance.read.offset);
        advance.turns.iter().for_each(check_turn);
        advance
    };
    assert_eq!(read(), read(), "another reading of the same gives another result");
}

#[cfg(test)]
mod tests {
    use remembrancer_processor::ingest::Agent;

    use super::*;

    #[test]
    fn every_agent_has_the_target_of_its_name() {
        let of_parsers = super::super::TARGETS
            .iter()
            .filter(|target| target.name.starts_with("parser_"));
        let names: Vec<&str> = of_parsers.map(|target| target.name).collect();
        let expected: Vec<String> = Agent::ALL
            .iter()
            .map(|agent| format!("parser_{}", agent.id().replace('-', "_")))
            .collect();
        assert_eq!(names, expected);
        assert!(FIXTURES.iter().map(|fixture| fixture.agent).eq(Agent::ALL.iter().copied()));
    }
}
