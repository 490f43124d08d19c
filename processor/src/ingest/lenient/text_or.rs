//! What some agents write as a string and others as an object.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::{Text, ignore_values};

/// A string, or an object read as `T`; anything else is no string.
#[derive(Debug)]
pub(crate) enum TextOr<'a, T> {
    /// A string, if there is one.
    Text(Text<'a>),
    /// An object.
    Object(T),
}

impl<T> Default for TextOr<'_, T> {
    fn default() -> Self {
        Self::Text(Text::default())
    }
}

struct TextOrVisitor<'a, T>(PhantomData<(&'a (), T)>);

impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<'a, T> {
    type Value = TextOr<'a, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(TextOr::Text(Text(Some(Cow::Borrowed(text)))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOr::Text(Text(Some(Cow::Owned(text.to_owned())))))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Object)
    }

    ignore_values!(scalars of 'de);
    ignore_values!(lists of 'de);
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}
