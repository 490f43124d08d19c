//! What the address of a view asks for: names and days as a form sends them come in, requests of the protocol go out. A member that is
//! empty is one that is not there, since a form sends all of its fields.

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use remembrancer_hooks::protocol::{Narrowing, SearchMode};
use serde::{Deserialize, Deserializer};

use super::memory::{Failure, FailureKind};

/// Which turns a list or a search is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Narrowed {
    #[serde(deserialize_with = "text")]
    pub(super) project: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) agent: Option<String>,
    /// The first day, as `2026-03-01`.
    #[serde(deserialize_with = "text")]
    pub(super) since: Option<String>,
    /// The last day.
    #[serde(deserialize_with = "text")]
    pub(super) until: Option<String>,
}

/// What stands between two blanks; nothing for an empty field.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}

impl Narrowed {
    /// Whether it leaves nothing out.
    pub(super) fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// What it comes to: days of this machine's clock, the last of them whole.
    ///
    /// # Errors
    /// Where a day is none.
    pub(super) fn narrowing(&self) -> Result<Narrowing, Failure> {
        let since = self.since.as_deref().map(|text| begin(text, 0)).transpose()?;
        let until = self.until.as_deref().map(|text| begin(text, 1)).transpose()?;
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(senseless("The first day is after the last: no time lies between them."));
        }
        Ok(Narrowing {
            project: self.project.clone(),
            agent: self.agent.clone(),
            since_ms: since,
            until_ms: until,
        })
    }

    /// Names and values for a link that asks for the same.
    pub(super) fn pairs(&self) -> Vec<(&'static str, &str)> {
        let members = [
            ("project", &self.project),
            ("agent", &self.agent),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let set = members
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)));
        set.collect()
    }
}

fn senseless(why: &str) -> Failure {
    Failure::new(FailureKind::Senseless, why)
}

/// When the day begins that is so many days after the one that is written.
fn begin(text: &str, days_after: i64) -> Result<i64, Failure> {
    let day = text
        .parse::<Date>()
        .ok()
        .and_then(|day| day.checked_add(days_after.days()).ok());
    let begin = day.and_then(|day| day.to_zoned(TimeZone::system()).ok());
    begin
        .map(|begin| begin.timestamp().as_millisecond())
        .ok_or_else(|| senseless(&format!("{text:?} is no day: one is written as 2026-03-01.")))
}

/// The modes, as a form names them and as they are called.
pub(super) const MODES: [(SearchMode, &str, &str); 3] = [
    (SearchMode::Hybrid, "hybrid", "Words and meaning"),
    (SearchMode::Lexical, "lexical", "Words"),
    (SearchMode::Semantic, "semantic", "Meaning"),
];

/// By what is searched.
pub(super) fn mode(text: Option<&str>) -> Result<SearchMode, Failure> {
    let text = text.unwrap_or("hybrid");
    let known = MODES.iter().find(|(_, name, _)| *name == text);
    known
        .map(|(mode, ..)| *mode)
        .ok_or_else(|| senseless(&format!("{text:?} is no mode: they are hybrid, lexical and semantic.")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn days(since: &str, until: &str) -> Result<Narrowing, Failure> {
        let narrowed = Narrowed {
            since: Some(since.to_owned()),
            until: Some(until.to_owned()),
            ..Narrowed::default()
        };
        narrowed.narrowing()
    }

    #[test]
    fn the_last_day_is_whole() {
        let one = days("2026-03-01", "2026-03-01").unwrap();
        let hours = (one.until_ms.unwrap() - one.since_ms.unwrap()) / 3_600_000;
        // A day may have an hour more or less.
        assert!((23..=25).contains(&hours), "{hours}");
    }

    #[rstest]
    #[case::no_day("yesterday", "2026-03-01")]
    #[case::no_such_day("2026-02-30", "2026-03-01")]
    #[case::the_wrong_way_round("2026-03-02", "2026-03-01")]
    #[case::beyond_all("2026-03-01", "9999-12-31")]
    fn what_is_no_time_is_refused(#[case] since: &str, #[case] until: &str) {
        assert_eq!(days(since, until).unwrap_err().kind, FailureKind::Senseless);
    }

    #[test]
    fn an_empty_field_asks_for_nothing() {
        let sent: Narrowed = serde_json::from_value(serde_json::json!({"project": " shop ", "agent": "", "since": " "})).unwrap();
        assert_eq!(sent.pairs(), [("project", "shop")]);
        assert!(!sent.is_open() && Narrowed::default().is_open());
    }

    #[test]
    fn a_mode_is_one_of_three() {
        assert_eq!(mode(None).unwrap(), SearchMode::Hybrid);
        assert_eq!(mode(Some("semantic")).unwrap(), SearchMode::Semantic);
        assert!(mode(Some("fuzzy")).is_err());
    }
}
