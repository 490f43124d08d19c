//! What a tool gave against the schema that it declared.

use serde_json::Value;

/// Where a value is not as a schema says, as far as ours say anything.
pub(super) fn mismatch(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Some(format!("{path}: the schema has no type")),
    };
    let is_kind = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    if !kinds.iter().any(is_kind) {
        return Some(format!("{path}: {value} is not of {kinds:?}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Some(format!("{path}: {value} is none of {words:?}"));
    }
    if let Some(members) = value.as_object() {
        let required = schema["required"].as_array().unwrap();
        if let Some(missing) = required.iter().find(|name| !members.contains_key(name.as_str().unwrap())) {
            return Some(format!("{path}: no {missing}"));
        }
        return members.iter().find_map(|(name, member)| match &schema["properties"][name] {
            Value::Null => Some(format!("{path}: {name} is unknown")),
            known => mismatch(member, known, &format!("{path}.{name}")),
        });
    }
    let mut items = value.as_array().into_iter().flatten().enumerate();
    items.find_map(|(at, item)| mismatch(item, &schema["items"], &format!("{path}[{at}]")))
}
