//! The one time that Cursor tells: what heads a prompt, as in `<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>`.

use jiff::civil::DateTime;
use jiff::tz::Offset;

const TAG: (&str, &str) = ("<timestamp>", "</timestamp>");
/// After the day of the week.
const FORMAT: &str = "%b %d, %Y, %I:%M %p";

/// The time that heads a text, in ISO 8601. None where it names no offset: it is of a clock that isn't known.
pub(super) fn heading(text: &str) -> Option<String> {
    let (stamp, _) = text.trim_start().strip_prefix(TAG.0)?.split_once(TAG.1)?;
    let (local, zone) = stamp.trim().strip_suffix(')')?.rsplit_once("(UTC")?;
    let (_, local) = local.split_once(", ")?;
    let local = DateTime::strptime(FORMAT, local.trim()).ok()?;
    Some(offset(zone)?.to_timestamp(local).ok()?.to_string())
}

/// An offset as `+8`, `-7`, `+5:30` or nothing.
fn offset(zone: &str) -> Option<Offset> {
    if zone.is_empty() {
        return Some(Offset::UTC);
    }
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let sign = if hours.starts_with('-') { -1 } else { 1 };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    Offset::from_seconds(hours.checked_mul(3600)?.checked_add(sign * minutes.checked_mul(60)?)?).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::east(
        "<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\nx",
        Some("2026-09-03T18:21:00Z")
    )]
    #[case::west(
        "<timestamp>Wednesday, Jun 3, 2026, 7:30 PM (UTC-7)</timestamp>",
        Some("2026-06-04T02:30:00Z")
    )]
    #[case::half(
        "<timestamp>Sunday, Mar 1, 2026, 12:05 PM (UTC-3:30)</timestamp>",
        Some("2026-03-01T15:35:00Z")
    )]
    #[case::utc("<timestamp>Sunday, Mar 1, 2026, 10:05 AM (UTC)</timestamp>", Some("2026-03-01T10:05:00Z"))]
    #[case::no_offset("<timestamp>Sunday, Mar 1, 2026, 10:05 AM</timestamp>", None)]
    #[case::words("<timestamp>now (UTC)</timestamp>", None)]
    #[case::absent("Sunday, Mar 1, 2026", None)]
    fn a_heading_time_is_read(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(heading(text).as_deref(), expected);
    }
}
