//! Times as agents write them into [`UnixMillis`]. What is no time is none: the caller takes the time before it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use remembrancer_schema::UnixMillis;

/// Epoch numbers from here up are milliseconds, below seconds (this many seconds is the year 5138).
const MILLIS_FROM: i64 = 100_000_000_000;

/// Reads an ISO 8601 time (UTC where it names no offset), or an epoch number in seconds (perhaps with a fraction) or
/// milliseconds.
pub(crate) fn parse(text: &str) -> Option<UnixMillis> {
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
    fn tc_35_times(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(parse(text).map(|time| time.0), expected);
    }
}
