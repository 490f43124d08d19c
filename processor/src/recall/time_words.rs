//! The time that a prompt speaks of: "yesterday", "last week", "three days ago", "in May", "on 2026-03-01".
//!
//! In goes a prompt and the time of asking, out comes the span that it names, if it names one. English only, in days of
//! UTC: this is a hint for ranking, never a filter. The words themselves are asked of no text (see `TermWeights`).

use std::sync::LazyLock;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};
use regex::{Captures, Regex};
use remembrancer_schema::UnixMillis;

/// A span of days, both ends within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    first: Date,
    last: Date,
}

impl Days {
    /// How many they are.
    pub(super) fn count(self) -> i64 {
        self.last.duration_since(self.first).as_hours() / 24 + 1
    }

    /// The first moment of them, and the first after them; none where no clock has it.
    pub(super) fn bounds(self) -> (Option<UnixMillis>, Option<UnixMillis>) {
        let begin = |date: Date| {
            let midnight = date.to_zoned(TimeZone::UTC).ok()?;
            Some(UnixMillis(midnight.timestamp().as_millisecond()))
        };
        (begin(self.first), self.last.tomorrow().ok().and_then(begin))
    }

    /// Whether `at` lies within.
    pub(super) fn contain(self, at: UnixMillis) -> bool {
        day_of(at).is_some_and(|day| self.first <= day && day <= self.last)
    }
}

/// What a prompt says of a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spoken {
    /// The days that are meant.
    pub(super) days: Days,
    /// The words that say so, in lower case.
    pub(super) words: String,
    /// The rest of the prompt, in lower case.
    pub(super) rest: String,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// How a prompt may name a time, tried in this order; each with what it means.
static RULES: LazyLock<Vec<(Regex, Meaning)>> = LazyLock::new(|| {
    let month = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    let until = month.replacen("month", "until", 1);
    let number = r"(?P<number>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?couple of|(?:a )?few|several)";
    let unit = r"(?P<unit>day|week|month|year)s?";
    let weekday = r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)";
    let rules: [(String, Meaning); 14] = [
        (r"\b(?P<year>20\d\d)-(?P<digits>\d\d)-(?P<day>\d\d)\b".to_owned(), iso_date),
        (
            format!(r"\b{month}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>20\d\d)\b)?"),
            month_and_day,
        ),
        (
            format!(r"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {month}\b(?:,? (?P<year>20\d\d)\b)?"),
            month_and_day,
        ),
        (
            format!(r"\b(?:from|between) {month} (?:to|and|until|till|through) {until}\b(?:,? (?P<year>20\d\d)\b)?"),
            months,
        ),
        (
            format!(r"\b(?:in|during|of|last) {month}\b(?:,? (?P<year>20\d\d)\b)?"),
            whole_month,
        ),
        (format!(r"\b{month},? (?P<year>20\d\d)\b"), whole_month),
        (r"\b(?:in|during|of) (?P<year>20\d\d)\b".to_owned(), whole_year),
        (format!(r"\b{number} {unit} ago\b"), ago),
        (format!(r"\b(?:past|last) {number} {unit}\b"), past),
        (
            r"\b(?:(?:in|over|during|within|for|of) the last|past) (?P<unit>week|month|year)\b".to_owned(),
            past,
        ),
        (
            r"\bsince the (?:start|beginning) of (?:this|the) (?P<unit>week|month|year)\b".to_owned(),
            since_its_start,
        ),
        (
            r"\b(?P<which>last|past|this) (?P<unit>week|month|year|weekend)\b".to_owned(),
            last_or_this,
        ),
        (format!(r"\b(?:last|on|this|past) {weekday}\b"), latest_weekday),
        (
            r"\b(?P<name>today|this morning|tonight|yesterday|last night)\b".to_owned(),
            near_day,
        ),
    ];
    rules
        .into_iter()
        .map(|(pattern, meaning)| (Regex::new(&pattern).expect("invariant: the pattern is well-formed"), meaning))
        .collect()
});

type Meaning = fn(&Captures<'_>, Date) -> Option<Days>;

/// The time that `prompt`, asked at `now`, speaks of; by the first rule that fits.
pub(super) fn spoken_of(prompt: &str, now: UnixMillis) -> Option<Spoken> {
    let today = day_of(now)?;
    let text = prompt.to_lowercase();
    RULES.iter().find_map(|(pattern, meaning)| {
        let captures = pattern.captures(&text)?;
        let days = meaning(&captures, today)?;
        let words = captures.get(0)?;
        Some(Spoken {
            days,
            words: words.as_str().to_owned(),
            rest: format!("{} {}", &text[..words.start()], &text[words.end()..]),
        })
    })
}

fn day_of(at: UnixMillis) -> Option<Date> {
    let timestamp = Timestamp::from_millisecond(at.0).ok()?;
    Some(timestamp.to_zoned(TimeZone::UTC).date())
}

fn days(first: Date, last: Date) -> Days {
    Days { first, last }
}

fn iso_date(found: &Captures<'_>, _: Date) -> Option<Days> {
    let date = Date::new(year(found)?, found["digits"].parse().ok()?, found["day"].parse().ok()?).ok()?;
    Some(days(date, date))
}

fn month_and_day(found: &Captures<'_>, today: Date) -> Option<Days> {
    // "Step 3 may fail": the verb comes without what makes a date of it.
    let whole = &found[0];
    let is_verb = &found["month"] == "may"
        && found.name("year").is_none()
        && !whole.contains(" of ")
        && !["st", "nd", "rd", "th"].iter().any(|end| {
            whole
                .split(' ')
                .any(|word| word.ends_with(end) && word.starts_with(|c: char| c.is_ascii_digit()))
        });
    if is_verb {
        return None;
    }
    let (month, day) = (month(found)?, found["day"].parse().ok()?);
    let date = latest(found, today, |year| Date::new(year, month, day).ok())?;
    Some(days(date, date))
}

fn whole_month(found: &Captures<'_>, today: Date) -> Option<Days> {
    let month = month(found)?;
    let first = latest(found, today, |year| Date::new(year, month, 1).ok())?;
    Some(days(first, first.last_of_month()))
}

/// "From July to October": the latest of which the first month has begun.
fn months(found: &Captures<'_>, today: Date) -> Option<Days> {
    let (from, until) = (month(found)?, month_called(found, "until")?);
    let first = latest(found, today, |year| Date::new(year, from, 1).ok())?;
    let year = if until < from {
        first.year().checked_add(1)?
    } else {
        first.year()
    };
    Some(days(first, Date::new(year, until, 1).ok()?.last_of_month()))
}

/// No agent wrote anything before; "batches of 2000 rows" and a key of 2048 bits are no years.
const FIRST_YEAR: i16 = 2015;

fn whole_year(found: &Captures<'_>, today: Date) -> Option<Days> {
    let year = year(found).filter(|year| (FIRST_YEAR..=today.year()).contains(year))?;
    let first = Date::new(year, 1, 1).ok()?;
    Some(days(first, first.last_of_year()))
}

/// "Three days ago" is that day; the larger the unit, the vaguer the word.
fn ago(found: &Captures<'_>, today: Date) -> Option<Days> {
    let middle = before(today, span(found)?)?;
    let slack = match &found["unit"] {
        "day" => 1,
        "week" => 4,
        "month" => 16,
        _ => 190,
    };
    Some(days(
        before(middle, slack.days())?,
        middle.checked_add(slack.days()).ok()?.min(today),
    ))
}

fn past(found: &Captures<'_>, today: Date) -> Option<Days> {
    Some(days(before(today, span(found)?)?, today))
}

/// "Since the start of the year".
fn since_its_start(found: &Captures<'_>, today: Date) -> Option<Days> {
    let first = match &found["unit"] {
        "week" => monday_of(today)?,
        "month" => today.first_of_month(),
        _ => today.first_of_year(),
    };
    Some(days(first, today))
}

fn monday_of(today: Date) -> Option<Date> {
    before(today, i64::from(today.weekday().to_monday_zero_offset()).days())
}

fn last_or_this(found: &Captures<'_>, today: Date) -> Option<Days> {
    let this = &found["which"] == "this";
    let monday = monday_of(today)?;
    let (first, last) = match &found["unit"] {
        "week" => (monday, monday.checked_add(6.days()).ok()?),
        "weekend" => (monday.checked_add(5.days()).ok()?, monday.checked_add(6.days()).ok()?),
        "month" => (today.first_of_month(), today.last_of_month()),
        _ => (today.first_of_year(), today.last_of_year()),
    };
    if this {
        return Some(days(first, last));
    }
    match &found["unit"] {
        "week" | "weekend" => Some(days(before(first, 7.days())?, before(last, 7.days())?)),
        "month" => {
            let last = before(first, 1.day())?;
            Some(days(last.first_of_month(), last))
        }
        _ => {
            let last = before(first, 1.day())?;
            Some(days(last.first_of_year(), last))
        }
    }
}

fn latest_weekday(found: &Captures<'_>, today: Date) -> Option<Days> {
    let place = WEEKDAYS.iter().position(|name| *name == &found["weekday"])?;
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(place).ok()?).ok()?;
    let date = today.nth_weekday(-1, weekday).ok()?;
    Some(days(date, date))
}

fn near_day(found: &Captures<'_>, today: Date) -> Option<Days> {
    let date = match &found["name"] {
        "yesterday" | "last night" => before(today, 1.day())?,
        _ => today,
    };
    Some(days(date, date))
}

fn before(date: Date, span: Span) -> Option<Date> {
    date.checked_sub(span).ok()
}

fn year(found: &Captures<'_>) -> Option<i16> {
    found.name("year")?.as_str().parse().ok()
}

fn month(found: &Captures<'_>) -> Option<i8> {
    month_called(found, "month")
}

/// The month, 1 to 12, that the group of this name has found.
fn month_called(found: &Captures<'_>, group: &str) -> Option<i8> {
    let name = found.name(group)?.as_str().get(..3)?;
    let place = MONTHS.iter().position(|month| *month == name)?;
    i8::try_from(place + 1).ok()
}

/// A date of the year that is named; of the latest year in which it isn't to come, where none is.
fn latest(found: &Captures<'_>, today: Date, in_year: impl Fn(i16) -> Option<Date>) -> Option<Date> {
    match year(found) {
        Some(year) => in_year(year),
        None => in_year(today.year())
            .filter(|date| *date <= today)
            .or_else(|| in_year(today.year() - 1)),
    }
}

fn span(found: &Captures<'_>) -> Option<Span> {
    let count = match found.name("number").map_or("a", |number| number.as_str()) {
        "a" | "an" => 1,
        "a couple of" | "couple of" => 2,
        "a few" | "few" | "several" => 3,
        word => match NUMBERS.iter().position(|number| *number == word) {
            Some(place) => i64::try_from(place).ok()? + 1,
            None => word.parse().ok()?,
        },
    };
    match &found["unit"] {
        "day" => Span::new().try_days(count).ok(),
        "week" => Span::new().try_weeks(count).ok(),
        "month" => Span::new().try_months(count).ok(),
        _ => Span::new().try_years(count).ok(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// A Thursday.
    const TODAY: &str = "2026-07-16";

    fn check(prompt: &str, expected: Option<(&str, &str)>) {
        let today: Date = TODAY.parse().unwrap();
        let now = UnixMillis(today.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond());
        let spoken = spoken_of(prompt, now).map(|spoken| (spoken.days.first.to_string(), spoken.days.last.to_string()));
        assert_eq!(
            spoken,
            expected.map(|(first, last)| (first.to_owned(), last.to_owned())),
            "{prompt}"
        );
    }

    #[rstest]
    #[case::yesterday("What did we change yesterday?", "2026-07-15", "2026-07-15")]
    #[case::last_week("the bug from last week", "2026-07-06", "2026-07-12")]
    #[case::this_week("what broke this week", "2026-07-13", "2026-07-19")]
    #[case::weekend("what I did last weekend", "2026-07-11", "2026-07-12")]
    #[case::last_month("the migration last month", "2026-06-01", "2026-06-30")]
    #[case::last_year("we tried that last year", "2025-01-01", "2025-12-31")]
    #[case::days_ago("fixed three days ago", "2026-07-12", "2026-07-14")]
    #[case::week_ago("about a week ago", "2026-07-05", "2026-07-13")]
    #[case::past_days("in the past 10 days", "2026-07-06", "2026-07-16")]
    #[case::past_week("the bug of the past week", "2026-07-09", "2026-07-16")]
    #[case::the_last_month("commits in the last month", "2026-06-16", "2026-07-16")]
    #[case::a_few("over the past few months", "2026-04-16", "2026-07-16")]
    #[case::since_the_start("since the start of the year", "2026-01-01", "2026-07-16")]
    #[case::since_the_start_of_the_week("since the beginning of this week", "2026-07-13", "2026-07-16")]
    #[case::months("from March to May", "2026-03-01", "2026-05-31")]
    #[case::months_over_the_year("between November and January", "2025-11-01", "2026-01-31")]
    #[case::months_of_a_year("from Jul until Oct 2024", "2024-07-01", "2024-10-31")]
    #[case::weekday("what we decided on monday", "2026-07-13", "2026-07-13")]
    #[case::same_weekday("since last thursday", "2026-07-09", "2026-07-09")]
    #[case::month("what happened in May", "2026-05-01", "2026-05-31")]
    #[case::month_to_come("what happened in December", "2025-12-01", "2025-12-31")]
    #[case::month_and_year("the talk of March 2024", "2024-03-01", "2024-03-31")]
    #[case::day_of_month("on May 7th, 2023", "2023-05-07", "2023-05-07")]
    #[case::day_first("the call of 7 June", "2026-06-07", "2026-06-07")]
    #[case::may("the call of May 7th", "2026-05-07", "2026-05-07")]
    #[case::iso("the log of 2026-03-01", "2026-03-01", "2026-03-01")]
    #[case::year("what changed in 2024", "2024-01-01", "2024-12-31")]
    fn a_time_is_understood(#[case] prompt: &str, #[case] first: &str, #[case] last: &str) {
        check(prompt, Some((first, last)));
    }

    #[test]
    fn days_have_a_length_and_bounds() {
        let of = |first: &str, last: &str| days(first.parse().unwrap(), last.parse().unwrap());
        assert_eq!(of("2026-07-16", "2026-07-16").count(), 1);
        assert_eq!(of("2024-02-01", "2024-03-01").count(), 30);
        let (since, until) = of("1970-01-02", "1970-01-03").bounds();
        assert_eq!(
            (since, until),
            (Some(UnixMillis(86_400_000)), Some(UnixMillis(3 * 86_400_000)))
        );
    }

    #[rstest]
    #[case::none("why does the linker complain")]
    #[case::the_verb("this may break the build")]
    #[case::the_verb_after_a_number("step 3 may fail")]
    #[case::since("since March it is slow")]
    #[case::a_port("listen on 2024")]
    #[case::rows("in batches of 2000 rows")]
    #[case::bits("an rsa key of 2048 bits")]
    #[case::no_such_day("2026-02-31")]
    #[case::the_last_one("the last commit")]
    fn other_words_are_no_time(#[case] prompt: &str) {
        check(prompt, None);
    }
}
