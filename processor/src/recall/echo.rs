//! What of ours stands in a stored text: ingest cuts it out, so that memory never feeds on itself, and an audit looks for what an older
//! version, or a host that writes it in another form, let in.

use super::recollection::PREFACE_BEGINS;
use crate::fence::{FENCE_CLOSE, FENCE_OPEN_PREFIX};

/// Something of ours that stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Echo {
    /// A marker that fences recollections.
    Marker,
    /// The words before recollections.
    Preface,
}

impl Echo {
    /// What `text` holds of ours, if anything.
    pub fn of(text: &str) -> Option<Self> {
        if text.contains(FENCE_OPEN_PREFIX) || text.contains(FENCE_CLOSE) {
            return Some(Self::Marker);
        }
        text.contains(PREFACE_BEGINS).then_some(Self::Preface)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Preface => "preface",
        }
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::UnixMillis;

    use super::*;
    use crate::recall::{CAPS, Header, block};
    use crate::strip_fenced;

    #[test]
    fn what_is_shown_is_ours_and_what_ingest_leaves_of_it_is_not() {
        let header = Header {
            prompt_hash: "0".to_owned(),
            written: UnixMillis(0),
        };
        let (shown, _) = block(&header, &[], CAPS);
        assert_eq!(Echo::of(&shown), Some(Echo::Marker));
        assert_eq!(Echo::of(&strip_fenced(&shown)), None);
        let without_markers = shown.lines().filter(|line| !line.contains("remembrancer-recollections"));
        let without_markers = without_markers.collect::<Vec<_>>().join("\n");
        assert_eq!(Echo::of(&without_markers), Some(Echo::Preface));
        assert_eq!(Echo::of("why is the sky blue"), None);
        assert_eq!(Echo::of(FENCE_CLOSE).map(Echo::as_str), Some("marker"));
    }

    #[test]
    fn all_prefaces_begin_alike() {
        for preface in super::super::recollection::PREFACES {
            assert!(preface.starts_with(PREFACE_BEGINS), "{preface}");
        }
    }
}
