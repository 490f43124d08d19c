//! What some agents write as one string and others as a list, of strings or of typed pieces with a text, or as one such piece.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Text, ignore_values};

/// What a message says, or the words of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose<'a>(Vec<Piece<'a>>);

/// A string, or an object with a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Piece<'a> {
    /// `text`, `input_text`, `output_text`, `thinking`, `image`, …; empty where it has no type.
    kind: Text<'a>,
    text: Text<'a>,
    /// Whether it is marked as thought.
    thought: bool,
}

impl Prose<'_> {
    /// The texts, in order, without what was thought and what is no text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(|piece| !piece.thought && matches!(piece.kind.as_str(), "" | "text" | "input_text" | "output_text"))
            .filter_map(|piece| piece.text.filled())
    }

    /// Whether it holds no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts().next().is_none()
    }

    /// The texts as one, each from a new line on.
    pub(crate) fn joined(&self) -> Cow<'_, str> {
        join(&self.texts().collect::<Vec<_>>(), "\n")
    }

    /// The words as one command; of `["bash", "-lc", script]`, and of PowerShell's the same, the script.
    pub(crate) fn command(&self) -> Cow<'_, str> {
        let words: Vec<&str> = self.texts().collect();
        match words.as_slice() {
            [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => Cow::Borrowed(script),
            [_, .., flag, script] if flag.eq_ignore_ascii_case("-command") => Cow::Borrowed(script),
            _ => join(&words, " "),
        }
    }
}

impl<'a> From<&'a str> for Prose<'a> {
    fn from(text: &'a str) -> Self {
        Self(vec![Piece::said(Cow::Borrowed(text))])
    }
}

fn join<'a>(texts: &[&'a str], between: &str) -> Cow<'a, str> {
    match texts {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one),
        several => Cow::Owned(several.join(between)),
    }
}

struct ProseVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ProseVisitor<'a> {
    type Value = Prose<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Prose<'a>, E> {
        Ok(Prose(vec![Piece::said(Cow::Borrowed(text))]))
    }

    fn visit_str<E>(self, text: &str) -> Result<Prose<'a>, E> {
        Ok(Prose(vec![Piece::said(Cow::Owned(text.to_owned()))]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Prose<'a>, A::Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = seq.next_element()? {
            pieces.push(piece);
        }
        Ok(Prose(pieces))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Prose<'a>, A::Error> {
        Ok(Prose(vec![Piece::deserialize(MapAccessDeserializer::new(map))?]))
    }

    ignore_values!(scalars of 'de);
}

impl<'de: 'a, 'a> Deserialize<'de> for Prose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProseVisitor(PhantomData))
    }
}

impl<'a> Piece<'a> {
    fn said(text: Cow<'a, str>) -> Self {
        Self {
            text: Text(Some(text)),
            ..Self::default()
        }
    }
}

struct PieceVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for PieceVisitor<'a> {
    type Value = Piece<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Piece<'a>, E> {
        Ok(Piece::said(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Piece<'a>, E> {
        Ok(Piece::said(Cow::Owned(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Piece<'a>, A::Error> {
        let mut piece = Piece::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_str() {
                "type" => piece.kind = map.next_value()?,
                "text" => piece.text = map.next_value()?,
                "thought" => piece.thought = map.next_value::<super::Flag>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(piece)
    }

    ignore_values!(scalars of 'de);
    ignore_values!(lists of 'de);
}

impl<'de: 'a, 'a> Deserialize<'de> for Piece<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PieceVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::string(r#""hello""#, "hello")]
    #[case::escaped(r#""a\nb""#, "a\nb")]
    #[case::strings(r#"["a", "b"]"#, "a\nb")]
    #[case::pieces(
        r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"thinking","text":"no"},{"text":"b"}]"#,
        "a\nb"
    )]
    #[case::thought(r#"[{"text":"no","thought":true},{"text":"yes"}]"#, "yes")]
    #[case::input(r#"[{"type":"input_text","text":"a"},{"type":"output_text","text":"b"}]"#, "a\nb")]
    #[case::number("3", "")]
    #[case::null("null", "")]
    #[case::object(r#"{"type":"input_text","text":"a"}"#, "a")]
    #[case::no_text(r#"{"stdout":"a"}"#, "")]
    #[case::odd_pieces(r#"[1, null, [2], {"text":3}, "x"]"#, "3\nx")]
    fn texts_are_joined(#[case] json: &str, #[case] expected: &str) {
        assert_eq!(serde_json::from_str::<Prose<'_>>(json).unwrap().joined(), expected);
    }

    #[rstest]
    #[case::string(r#""cargo test""#, "cargo test")]
    #[case::words(r#"["cargo", "test", "--all"]"#, "cargo test --all")]
    #[case::shell(r#"["bash", "-lc", "cargo test && git push"]"#, "cargo test && git push")]
    #[case::power_shell(r#"["powershell.exe", "-NoProfile", "-Command", "npm test"]"#, "npm test")]
    fn a_command_is_its_words(#[case] json: &str, #[case] expected: &str) {
        assert_eq!(serde_json::from_str::<Prose<'_>>(json).unwrap().command(), expected);
    }
}
