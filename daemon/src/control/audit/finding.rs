//! One finding of an audit, and how episodes are named in it: by id, date, project, what was asked and who shared it, redacted as
//! everything that is shown.

use remembrancer_processor::ingest::redact;
use remembrancer_schema::{EpisodeId, EpisodeText, Reader};
use serde_json::{Value, json};

use super::super::{ControlError, date, first_line};
use super::{COPIES, forget_all};
use crate::whose::Sharer;

/// What was found of one kind.
#[derive(Debug)]
pub(super) struct Finding {
    /// Its name.
    pub(super) kind: &'static str,
    /// How many there are, in the unit of its kind.
    pub(super) count: u64,
    /// How many episodes there are beyond those that would do.
    pub(super) surplus: Option<u64>,
    /// Bytes in all.
    pub(super) bytes: Option<u64>,
    /// How many of which kind of secret.
    pub(super) kinds: Option<Value>,
    /// The first of them.
    pub(super) items: Vec<Value>,
    /// What mends all of them.
    pub(super) mend: Option<String>,
    /// Whether the look at it came to its end.
    pub(super) complete: bool,
}

impl Finding {
    pub(super) fn new(kind: &'static str, complete: bool) -> Self {
        Self {
            kind,
            count: 0,
            surplus: None,
            bytes: None,
            kinds: None,
            items: Vec::new(),
            mend: None,
            complete,
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "count": self.count,
            "surplus": self.surplus,
            "bytes": self.bytes,
            "kinds": self.kinds,
            "complete": self.complete,
            "mend": self.mend,
            "items": self.items,
        })
    }
}

/// Shows episodes of a store.
pub(super) struct Shown<'a> {
    pub(super) reader: &'a Reader,
}

impl Shown<'_> {
    /// These episodes, each with what `more` adds and the `command` that mends it.
    pub(super) fn items(
        &self,
        ids: &[EpisodeId],
        more: impl Fn(EpisodeId) -> Value,
        command: &str,
    ) -> Result<Vec<Value>, ControlError> {
        let texts = self.reader.texts_with_hidden(ids)?;
        let item = |text: &EpisodeText| {
            let mut item = named(text);
            if let (Value::Object(item), Value::Object(more)) = (&mut item, more(text.id)) {
                item.extend(more);
            }
            item["mend"] = format!("remembrancer {command} {}", text.uid.short()).into();
            item
        };
        Ok(texts.iter().map(item).collect())
    }

    /// The first of `ids` with the others as its copies; none where they are gone by now.
    pub(super) fn with_copies(&self, ids: &[EpisodeId], cosine: Option<f32>) -> Result<Option<Value>, ControlError> {
        let texts = self.reader.texts_with_hidden(ids)?;
        let Some((stays, copies)) = texts.split_first().filter(|(_, copies)| !copies.is_empty()) else {
            return Ok(None);
        };
        let copies: Vec<String> = copies.iter().take(COPIES).map(|text| text.uid.short()).collect();
        let mut item = named(stays);
        item["mend"] = forget_all(&copies).into();
        item["copies"] = copies.into();
        // Enough digits to tell them apart, and none that only arithmetic made.
        item["cosine"] = cosine.map(|cosine| (f64::from(cosine) * 1_000.0).round() / 1_000.0).into();
        Ok(Some(item))
    }
}

fn named(text: &EpisodeText) -> Value {
    json!({
        "id": text.uid.short(),
        "date": date(text.created_at),
        "project": text.project_name.as_deref().map(redact),
        "asked": first_line(&text.prompt),
        "shared_by": Sharer::of(text.shared_by.as_ref()),
    })
}
