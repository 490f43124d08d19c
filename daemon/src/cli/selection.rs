//! What part of the memory a command is about: the arguments that name it, and what they come to.

use std::path::PathBuf;

use clap::Args;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use remembrancer_hooks::protocol::ForgetTarget;
use remembrancer_schema::UnixMillis;

use super::error::{CliError, Kind};
use super::surroundings::Surroundings;

/// What narrows; several hold together.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Of the session with this id.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of the project with this name or root folder.
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What happened in or below this folder.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// What holds all these words.
    #[arg(long, value_name = "WORDS")]
    matching: Option<String>,
    /// Turns that began then or later: 2026-03-01 (from its first moment on), or 2026-03-01T14:30, in local time.
    #[arg(long, value_name = "DATE", value_parser = moment)]
    after: Option<UnixMillis>,
    /// Turns that began before then: 2026-03-01 (that day not among them), or 2026-03-01T14:30, in local time.
    #[arg(long, value_name = "DATE", value_parser = moment)]
    before: Option<UnixMillis>,
    /// Turns that began within this time until now, such as 30m, 2h, 3d or 1w.
    #[arg(long, value_name = "DURATION", value_parser = while_ago, conflicts_with_all = ["after", "before"])]
    last: Option<Span>,
}

impl Selection {
    /// What it names; `None` where nothing narrows it.
    ///
    /// # Errors
    /// Where no time lies between its times, a name is empty, or a path can't be told.
    pub(super) fn target(&self, surroundings: &Surroundings, now: UnixMillis) -> Result<Option<ForgetTarget>, CliError> {
        let path = self
            .path
            .as_deref()
            .map(|path| surroundings.as_in_transcripts(path))
            .transpose()?;
        let after = match &self.last {
            Some(span) => Some(before_now(span, now).map_err(|error| error.with_hint("use `--all`"))?),
            None => self.after,
        };
        if let (Some(after), Some(before)) = (after, self.before)
            && after >= before
        {
            return Err(CliError::new(
                Kind::Usage,
                "`--after` is not earlier than `--before`: no time lies between them",
            ));
        }
        let names = [
            ("--session", &self.session),
            ("--project", &self.project),
            ("--matching", &self.matching),
        ];
        if let Some((name, _)) = names
            .iter()
            .find(|(_, value)| value.as_deref().is_some_and(|value| value.trim().is_empty()))
        {
            return Err(CliError::new(Kind::Usage, format!("`{name}` names nothing")));
        }
        let targets = [
            self.session.clone().map(ForgetTarget::Session),
            self.project.clone().map(ForgetTarget::Project),
            path.map(ForgetTarget::Path),
            self.matching.clone().map(ForgetTarget::Matching),
            after.map(|at| ForgetTarget::After(at.0)),
            self.before.map(|at| ForgetTarget::Before(at.0)),
        ];
        Ok(all_of(targets.into_iter().flatten().collect()))
    }
}

/// What all of these name; nothing where there are none.
pub(crate) fn all_of(mut targets: Vec<ForgetTarget>) -> Option<ForgetTarget> {
    match targets.len() {
        0 | 1 => targets.pop(),
        _ => Some(ForgetTarget::AllOf(targets)),
    }
}

/// A date or a time as a person writes it, in the zone of this machine where it names none.
fn moment(text: &str) -> Result<UnixMillis, String> {
    let text = text.trim();
    let exact = text
        .parse::<Timestamp>()
        .or_else(|_| text.parse::<Zoned>().map(|zoned| zoned.timestamp()));
    let local = || {
        text.parse::<DateTime>()
            .and_then(|time| TimeZone::system().to_timestamp(time))
    };
    match exact.or_else(|_| local()) {
        Ok(at) => Ok(UnixMillis(at.as_millisecond())),
        Err(_) => Err("write a date such as 2026-03-01, or a time such as 2026-03-01T14:30 or 2026-03-01T14:30Z".to_owned()),
    }
}

/// A moment, or how long ago it was.
#[derive(Debug, Clone)]
pub(crate) enum When {
    /// At that moment.
    At(UnixMillis),
    /// So long before now.
    Ago(Span),
}

impl When {
    /// The moment, as seen from `now`.
    ///
    /// # Errors
    /// Where that is longer ago than any calendar tells.
    pub(crate) fn before(&self, now: UnixMillis) -> Result<UnixMillis, CliError> {
        match self {
            Self::At(at) => Ok(*at),
            Self::Ago(span) => before_now(span, now),
        }
    }
}

/// A date, a time, or how long ago, as a person writes it.
pub(crate) fn when(text: &str) -> Result<When, String> {
    let told = moment(text).map(When::At).or_else(|_| while_ago(text).map(When::Ago));
    told.map_err(|_| {
        "write a date such as 2026-03-01, a time such as 2026-03-01T14:30, or how long ago, such as 2h or 3d".to_owned()
    })
}

fn while_ago(text: &str) -> Result<Span, String> {
    match text.trim().parse::<Span>() {
        Ok(span) if span.is_positive() => Ok(span),
        _ => Err("write how long, such as 30m, 2h, 3d or 1w".to_owned()),
    }
}

/// The moment that lies `span` before `now`, by the calendar of this machine.
fn before_now(span: &Span, now: UnixMillis) -> Result<UnixMillis, CliError> {
    Timestamp::from_millisecond(now.0)
        .and_then(|now| now.to_zoned(TimeZone::system()).checked_sub(*span))
        .map(|then| UnixMillis(then.timestamp().as_millisecond()))
        .map_err(|_| CliError::new(Kind::Usage, "that is longer ago than any calendar tells"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::utc("2026-03-01T14:30Z", "2026-03-01T14:30:00Z")]
    #[case::with_an_offset("2026-03-01T14:30:05+02:00", "2026-03-01T12:30:05Z")]
    #[case::with_a_zone("2026-03-01T14:30[UTC]", "2026-03-01T14:30:00Z")]
    fn a_time_with_its_zone_is_that_moment(#[case] text: &str, #[case] expected: Timestamp) {
        assert_eq!(moment(text), Ok(UnixMillis(expected.as_millisecond())));
    }

    #[rstest]
    #[case::a_date("2026-03-01", "2026-03-01T00:00:00")]
    #[case::to_the_minute(" 2026-03-01T14:30 ", "2026-03-01T14:30:00")]
    #[case::with_a_blank("2026-03-01 14:30:05", "2026-03-01T14:30:05")]
    fn a_time_without_a_zone_is_local(#[case] text: &str, #[case] expected: DateTime) {
        let expected = TimeZone::system().to_timestamp(expected).unwrap();
        assert_eq!(moment(text), Ok(UnixMillis(expected.as_millisecond())));
    }

    #[rstest]
    #[case::empty("")]
    #[case::a_word("yesterday")]
    #[case::no_such_day("2026-02-30")]
    #[case::the_other_way_round("01.03.2026")]
    #[case::far_off("99999-01-01")]
    fn what_is_no_time_is_refused(#[case] text: &str) {
        assert!(moment(text).unwrap_err().contains("2026-03-01"));
    }

    #[rstest]
    #[case::hours("2h", 2)]
    #[case::days("3d", 72)]
    #[case::weeks("1w", 168)]
    #[case::in_words("1 day 2 hours", 26)]
    fn a_while_ago_is_counted_back(#[case] text: &str, #[case] hours: i64) {
        // Noon, far from any change of clocks.
        let now = "2026-01-20T12:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        let span = while_ago(text).unwrap();
        assert_eq!(
            before_now(&span, UnixMillis(now)).unwrap(),
            UnixMillis(now - hours * 3_600_000)
        );
    }

    #[rstest]
    #[case::a_date("2026-01-18T12:00Z", 48)]
    #[case::a_while("2d", 48)]
    fn a_moment_is_told_by_the_calendar_or_from_now(#[case] text: &str, #[case] hours: i64) {
        let now = "2026-01-20T12:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        let at = when(text).unwrap().before(UnixMillis(now)).unwrap();
        assert_eq!(at, UnixMillis(now - hours * 3_600_000));
        assert!(when("soon").unwrap_err().contains("3d"));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::no_unit("2")]
    #[case::none("0h")]
    #[case::backwards("-2h")]
    fn what_is_no_while_is_refused(#[case] text: &str) {
        assert!(while_ago(text).is_err());
    }

    #[test]
    fn longer_than_the_calendar_is_refused() {
        let span = while_ago("19000y").unwrap();
        assert!(before_now(&span, UnixMillis(0)).is_err());
    }
}
