//! The rows on a page of a damaged database, told by the file format alone: no schema is asked, and no tree is followed
//! to find them. In goes a page, out come records. What makes no sense is left out (<https://sqlite.org/fileformat2.html#b_tree_pages>).

use std::collections::HashSet;
use std::ops::Range;

use super::pages::{Pages, SIZE, word};

/// First bytes of the pages that hold records: a leaf of a table; a leaf and an inner page of an index or of a table without rowids.
const TABLE_LEAF: u8 = 13;
const INDEX_LEAF: u8 = 10;
const INDEX_INNER: u8 = 2;
/// Bytes of the file's header on its first page.
const FILE_HEADER: usize = 100;
/// Bytes of a record that may lie on a page of a table, and of an index; of a longer one at least [`LEAST`] do.
const MOST_OF_TABLE: usize = SIZE - 35;
const MOST_OF_INDEX: usize = (SIZE - 12) * 64 / 255 - 23;
const LEAST: usize = (SIZE - 12) * 32 / 255 - 23;
/// Bytes of a record on an overflow page.
const OVERFLOW: usize = SIZE - 4;

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
    /// A real number, which nothing here asks for.
    Other,
}

impl Value {
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn blob<const N: usize>(&self) -> Option<[u8; N]> {
        match self {
            Self::Blob(value) => value.as_slice().try_into().ok(),
            _ => None,
        }
    }
}

/// A row: the rowid where its table has one, and its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) id: Option<i64>,
    pub(super) values: Vec<Value>,
}

/// How many cells a page says that it has; none where it is no page of records.
pub(super) fn cells(number: u32, page: &[u8]) -> u16 {
    match Kind::of(number, page) {
        Some(_) => short(page, begin(number) + 3),
        None => 0,
    }
}

/// The row in a cell of a page; `None` where it can't be read whole.
pub(super) fn row(pages: &Pages, number: u32, page: &[u8], cell: u16) -> Option<Row> {
    let kind = Kind::of(number, page)?;
    let header = if kind == Kind::IndexInner { 12 } else { 8 };
    let mut at = usize::from(short(page, begin(number) + header + 2 * usize::from(cell)));
    if kind == Kind::IndexInner {
        at += 4;
    }
    let length = usize::try_from(varint(page, &mut at)?).ok()?;
    let id = match kind {
        Kind::TableLeaf => Some(varint(page, &mut at)? as i64),
        Kind::IndexLeaf | Kind::IndexInner => None,
    };
    let record = payload(pages, page, at, length, kind)?;
    Some(Row {
        id,
        values: values(&record)?,
    })
}

/// The pages of the tree of an index, or of a table without rowids, that begins at `root`: as many as can be reached.
pub(super) fn tree(pages: &Pages, root: u32) -> HashSet<u32> {
    let (mut reached, mut open) = (HashSet::new(), vec![root]);
    while let Some(number) = open.pop() {
        let Some(page) = pages.read(number) else { continue };
        let kind = Kind::of(number, &page);
        if !matches!(kind, Some(Kind::IndexLeaf | Kind::IndexInner)) || !reached.insert(number) {
            continue;
        }
        if kind == Some(Kind::IndexInner) {
            let cell = |cell: u16| usize::from(short(&page, begin(number) + 12 + 2 * usize::from(cell)));
            open.push(word(&page, begin(number) + 8));
            open.extend((0..cells(number, &page)).map(|number| word(&page, cell(number))));
        }
    }
    reached
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TableLeaf,
    IndexLeaf,
    IndexInner,
}

impl Kind {
    fn of(number: u32, page: &[u8]) -> Option<Self> {
        match *page.get(begin(number))? {
            TABLE_LEAF => Some(Self::TableLeaf),
            INDEX_LEAF => Some(Self::IndexLeaf),
            INDEX_INNER => Some(Self::IndexInner),
            _ => None,
        }
    }
}

/// Where the page's own header begins.
fn begin(number: u32) -> usize {
    if number == 1 { FILE_HEADER } else { 0 }
}

/// A record of `length` bytes that begins at `at` and may go on on overflow pages.
fn payload(pages: &Pages, page: &[u8], at: usize, length: usize, kind: Kind) -> Option<Vec<u8>> {
    let most = if kind == Kind::TableLeaf {
        MOST_OF_TABLE
    } else {
        MOST_OF_INDEX
    };
    if length > pages.count() as usize * SIZE {
        return None;
    }
    let here = match length {
        0..=MOST_OF_INDEX => length,
        _ if length <= most => length,
        _ => Some(LEAST + (length - LEAST) % OVERFLOW)
            .filter(|here| *here <= most)
            .unwrap_or(LEAST),
    };
    let mut record = page.get(at..at + here)?.to_vec();
    let mut next = word(page, at + here);
    while record.len() < length {
        let overflow = pages.read(next).filter(|_| next > 1)?;
        let rest = (length - record.len()).min(OVERFLOW);
        record.extend_from_slice(&overflow[4..4 + rest]);
        next = word(&overflow, 0);
    }
    Some(record)
}

fn values(record: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let header = usize::try_from(varint(record, &mut at)?).ok()?;
    let mut types = Vec::new();
    while at < header {
        types.push(varint(record, &mut at)?);
    }
    let mut values = Vec::with_capacity(types.len());
    for kind in types {
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let bytes = bytes(record, at..at.checked_add(length)?)?;
        at += length;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(bytes)),
            7 => Value::Other,
            8 | 9 => Value::Integer(kind as i64 - 8),
            _ if kind.is_multiple_of(2) => Value::Blob(bytes.to_vec()),
            _ => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
        });
    }
    Some(values)
}

fn bytes(record: &[u8], range: Range<usize>) -> Option<&[u8]> {
    record.get(range)
}

/// A big-endian integer of up to eight bytes, with its sign.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value: i64, byte| {
        (value << 8) | i64::from(*byte)
    })
}

fn short(page: &[u8], at: usize) -> u16 {
    page.get(at..at + 2).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]))
}

/// SQLite's variable-length integer: seven bits a byte, most significant first, and eight in the ninth.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if place == 8 {
            return Some((value << 8) | u64::from(byte));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
