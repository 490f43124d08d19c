//! The lenient reader of JSON: what is one object for `serde_json` is one record with the same fields; all else is records and
//! problems in order, and nothing is passed over in silence.

use remembrancer_processor::ingest::testing::{SeenValue, values};
use serde_json::Value;

pub(super) fn run(data: &[u8]) {
    // The line reader gives no newline, and no line beyond its own.
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let seen = values(line);
    assert!(!seen.is_empty(), "a line gave nothing");
    let offsets: Vec<u64> = seen.iter().map(offset).collect();
    assert!(offsets.is_sorted(), "out of order: {offsets:?}");
    assert!(
        offsets.iter().all(|offset| *offset <= line.len() as u64),
        "{offsets:?} beyond {}",
        line.len()
    );
    if let Ok(value @ Value::Object(_)) = serde_json::from_slice::<Value>(line) {
        let [record] = seen.as_slice() else {
            panic!("one object gave {seen:?}");
        };
        let offset = line.iter().position(|byte| *byte == b'{').unwrap_or_default();
        assert_eq!(*record, expected(&value, offset as u64));
    }
}

fn offset(value: &SeenValue) -> u64 {
    match value {
        SeenValue::Record { offset, .. } | SeenValue::Problem { offset, .. } => *offset,
    }
}

fn expected(value: &Value, offset: u64) -> SeenValue {
    let inner = |value: &Value| value.get("text").and_then(as_text);
    SeenValue::Record {
        offset,
        text: as_text(&value["text"]),
        flag: value["flag"] == Value::Bool(true),
        present: !value["present"].is_null(),
        prose: prose(&value["prose"]),
        list: list(&value["list"]),
        either: match &value["either"] {
            Value::String(text) => Some(text.clone()),
            object @ Value::Object(_) => inner(object),
            _ => None,
        },
        inner: inner(&value["inner"]),
    }
}

/// A string, or the digits of a number.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number
            .as_u64()
            .map(|number| number.to_string())
            .or_else(|| number.as_i64().map(|number| number.to_string()))
            .or_else(|| number.as_f64().map(|number| number.to_string())),
        _ => None,
    }
}

fn prose(value: &Value) -> Vec<String> {
    let pieces: Vec<&Value> = match value {
        Value::Array(pieces) => pieces.iter().collect(),
        Value::String(_) | Value::Object(_) => vec![value],
        _ => Vec::new(),
    };
    let said = pieces.into_iter().filter_map(|piece| match piece {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => {
            let kind = object.get("type").and_then(as_text).unwrap_or_default();
            let thought = object.get("thought") == Some(&Value::Bool(true));
            let is_said = !thought && matches!(kind.as_str(), "" | "text" | "input_text" | "output_text");
            object.get("text").and_then(as_text).filter(|_| is_said)
        }
        _ => None,
    });
    said.filter(|text| !text.is_empty()).collect()
}

/// One that is no list is a list of one; of strings and objects, what they are as an item.
fn list(value: &Value) -> Vec<Option<String>> {
    match value {
        Value::Array(items) => items.iter().map(as_text).collect(),
        // An object with the text, which is no text itself.
        Value::String(_) | Value::Object(_) => vec![None],
        _ => Vec::new(),
    }
}
