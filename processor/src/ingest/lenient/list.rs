//! Lists that some agents write only where there are several.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::ignore_values;

/// A list of objects. One object alone is a list of one, and so is a string: an object with that `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<List<T>, E> {
        let object = MapDeserializer::new(std::iter::once(("text", text)));
        Ok(List(vec![T::deserialize(object)?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<List<T>, A::Error> {
        Ok(List(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }

    ignore_values!(scalars of 'de);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::ingest::lenient::{Text, wire_struct};

    wire_struct! {
        /// An item.
        Item {
            "text" => text: Text<'a>,
        }
    }

    #[rstest]
    #[case::list(r#"[{"text":"a"},{"text":"b","more":[1]}]"#, &["a", "b"])]
    #[case::odd_items(r#"[1, null, {"text":"a"}, "b", [2]]"#, &["", "", "a", "", ""])]
    #[case::object(r#"{"text":"a"}"#, &["a"])]
    #[case::string(r#""a\nb""#, &["a\nb"])]
    #[case::empty("[]", &[])]
    #[case::number("3", &[])]
    #[case::null("null", &[])]
    fn what_is_one_is_a_list_of_one(#[case] json: &str, #[case] expected: &[&str]) {
        let List(items) = serde_json::from_str::<List<Item<'_>>>(json).unwrap();
        let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, expected);
    }
}
