//! Moments as a person reads them, on this machine's clock. RFC 3339 comes in; what is none is shown as it is.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use maud::{Markup, html};

use super::Said;

/// How day and time are written.
const MOMENT: &str = "%-d %b %Y, %H:%M";

fn local(at: &str) -> Option<Zoned> {
    at.parse::<Timestamp>().ok().map(|at| at.to_zoned(TimeZone::system()))
}

/// The day, as a heading says it.
pub(super) fn day(at: &str) -> String {
    local(at).map_or_else(|| at.to_owned(), |at| at.strftime("%A, %-d %B %Y").to_string())
}

/// The day, as `2026-03-01`, by which days are told apart.
pub(super) fn date(at: &str) -> String {
    local(at).map_or_else(|| at.to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// The time of the day, where the day is known.
pub(super) fn clock(at: &str) -> Markup {
    time(at, "%H:%M")
}

/// Day and time.
pub(super) fn moment(at: &str) -> Markup {
    time(at, MOMENT)
}

/// Day and time, in plain words.
pub(super) fn told(at: &str) -> String {
    formed(at, MOMENT)
}

fn formed(at: &str, form: &str) -> String {
    local(at).map_or_else(|| at.to_owned(), |at| at.strftime(form).to_string())
}

fn time(at: &str, form: &str) -> Markup {
    html! { time datetime=(at) { (Said(&formed(at, form))) } }
}

/// How long something took, in milliseconds.
pub(super) fn millis(micros: u64) -> String {
    let millis = micros as f64 / 1_000.0;
    if millis < 10.0 {
        format!("{millis:.1} ms")
    } else {
        format!("{millis:.0} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_whole_and_what_is_none_as_it_is() {
        let told = moment("2026-03-01T12:00:00Z").into_string();
        assert!(
            told.starts_with("<time datetime=\"2026-03-01T12:00:00Z\">") && told.contains("2026, "),
            "{told}"
        );
        assert!(told.contains(&super::told("2026-03-01T12:00:00Z")), "{told}");
        assert_eq!((day("then"), super::told("then")), ("then".to_owned(), "then".to_owned()));
        assert_eq!((millis(1_250), millis(240_000)), ("1.2 ms".to_owned(), "240 ms".to_owned()));
    }
}
