//! Times as agents write them into [`UnixMillis`]. What is no time, or can't be one, is none: the caller takes the time before it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use remembrancer_schema::UnixMillis;

/// Epoch numbers from here up are milliseconds, below seconds (this many seconds is the year 5138).
const MILLIS_FROM: i64 = 100_000_000_000;

/// The first of January 2015: no agent wrote before it, and what is dated so stands for an unset clock or an empty field.
const EARLIEST: UnixMillis = UnixMillis(1_420_070_400_000);
/// How far ahead of now a time may be, in milliseconds: a day, for clocks and zones that are set wrong.
const AHEAD: i64 = 24 * 3_600_000;

/// The first of January 2026, before which this program was not: a clock that says less is not set, and bounds nothing.
const CLOCKS_FROM: UnixMillis = UnixMillis(1_767_225_600_000);

/// The latest time that something can have that was written by `now`.
pub(crate) fn latest(now: UnixMillis) -> UnixMillis {
    if now < CLOCKS_FROM {
        return UnixMillis(i64::MAX);
    }
    UnixMillis(now.0.saturating_add(AHEAD))
}

/// `at`, if something written by `now` can be of then: neither before agents were, nor more than a day ahead.
pub fn plausible_time(at: UnixMillis, now: UnixMillis) -> Option<UnixMillis> {
    (EARLIEST..=latest(now)).contains(&at).then_some(at)
}

/// Reads an ISO 8601 time (UTC where it names no offset), or an epoch number in seconds (perhaps with a fraction) or
/// milliseconds.
pub(crate) fn parse(text: &str) -> Option<UnixMillis> {
    read(text).and_then(|at| plausible(at.0))
}

/// A time that was read once, if it still counts as one.
pub(crate) fn plausible(millis: i64) -> Option<UnixMillis> {
    Some(UnixMillis(millis)).filter(|at| *at >= EARLIEST)
}

fn read(text: &str) -> Option<UnixMillis> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(UnixMillis(time.as_millisecond()));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if let Ok(number) = whole.parse::<i64>() {
        let millis = if number >= MILLIS_FROM {
            number
        } else {
            number.checked_mul(1000)?.checked_add(thousandths(fraction)?)?
        };
        return (number > 0).then_some(UnixMillis(millis));
    }
    let zoned = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(UnixMillis(zoned.timestamp().as_millisecond()))
}

/// The first three digits behind a decimal point as a number; none where there is anything but digits.
fn thousandths(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<3}")[..3].parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::iso("2026-01-02T03:04:05.678Z", Some(1_767_323_045_678))]
    #[case::offset("2026-01-02T04:04:05.678+01:00", Some(1_767_323_045_678))]
    #[case::no_offset("2026-01-02T03:04:05", Some(1_767_323_045_000))]
    #[case::epoch_millis("1767323045678", Some(1_767_323_045_678))]
    #[case::epoch_seconds("1767323045", Some(1_767_323_045_000))]
    #[case::fraction("1767323045.6789", Some(1_767_323_045_678))]
    #[case::short_fraction("1767323045.5", Some(1_767_323_045_500))]
    #[case::no_fraction("1767323045.x", None)]
    #[case::empty("", None)]
    #[case::words("yesterday", None)]
    #[case::far_off("99999-01-01T00:00:00Z", None)]
    #[case::zero("0", None)]
    #[case::epoch("1970-01-01T00:00:00Z", None)]
    #[case::before_it("1969-12-31T23:59:59Z", None)]
    #[case::before_agents("2014-12-31T23:59:59Z", None)]
    #[case::earliest("2015-01-01T00:00:00Z", Some(1_420_070_400_000))]
    #[case::small("12345", None)]
    #[case::end_of_time("9999-12-31T23:59:59Z", None)]
    fn tc_35_times(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(parse(text).map(|time| time.0), expected);
    }

    #[test]
    fn tc_35_a_clock_that_is_not_set_bounds_nothing() {
        let at = UnixMillis(1_767_323_045_678);
        assert_eq!(plausible_time(at, UnixMillis(0)), Some(at));
    }

    #[rstest]
    #[case::now(0, true)]
    #[case::a_day_ahead(24 * 3_600_000, true)]
    #[case::more(24 * 3_600_000 + 1, false)]
    #[case::end_of_numbers(i64::MAX - 1_767_323_045_678, false)]
    #[case::before_agents(-1_767_323_045_678, false)]
    fn tc_35_what_can_be_of_now(#[case] after: i64, #[case] expected: bool) {
        let now = UnixMillis(1_767_323_045_678);
        assert_eq!(plausible_time(UnixMillis(now.0 + after), now).is_some(), expected);
    }
}
