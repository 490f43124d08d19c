//! The opening line of a session's recollection file, and the rule by which the hook takes an old file away.
//!
//! A path and a prompt's hash come in; the file is gone or rightly left. The daemon writes these files; the hook only removes them,
//! before it asks, so that a file never outlives its prompt.

#![expect(
    clippy::disallowed_methods,
    reason = "the hook links no fs-err; its errors are never shown, so they need no path"
)]

use std::fs::remove_file;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use crate::digest::{hex, sha256};
use crate::system::private_file;

/// Within this time a file for the same prompt belongs to an earlier firing of the hook for one message (TC-46).
pub const SAME_FIRING: Duration = Duration::from_secs(2);

/// What stands before the attributes of the opening line.
const OPENING: &str = "<remembrancer-recollections";

/// An opening line has under 100 bytes; no more than this is read to find it.
const MAX_OPENING_BYTES: u64 = 256;

/// Hashes the prompt of a session, as the prompt stands in the request (a prompt that was cut is hashed as cut).
pub fn prompt_hash(session: &str, prompt: &str) -> [u8; 32] {
    sha256(&[session.as_bytes(), prompt.as_bytes()])
}

/// Writes the first 16 hex digits of a [`prompt_hash`], as they stand in the opening line.
pub fn prompt_hash_hex(hash: &[u8; 32]) -> String {
    hex(&hash[..8])
}

/// The attributes of an opening line `<remembrancer-recollections prompt="<16 hex>" written="<RFC 3339>">`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// For which prompt the file was written: [`prompt_hash_hex`] of its hash.
    pub prompt: String,
    /// When it was written, in milliseconds since the Unix epoch, UTC.
    pub written_ms: i64,
}

impl Opening {
    /// Reads the first line of a recollection file; `None` if it is anything else. Further attributes are passed over.
    pub fn parse(line: &str) -> Option<Self> {
        let attributes = line.trim_end().strip_prefix(OPENING)?.strip_suffix('>')?;
        let prompt = attribute(attributes, "prompt")?;
        let is_hash = prompt.len() == 16 && prompt.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let written_ms = parse_rfc3339_utc(attribute(attributes, "written")?)?;
        is_hash.then(|| Self {
            prompt: prompt.to_owned(),
            written_ms,
        })
    }

    /// Whether a second firing at `now_ms` for the prompt with this hash should leave the file alone. A file from the future is
    /// not trusted, since the clock must have been set.
    fn is_of_same_firing(&self, hash: &[u8; 32], now_ms: i64) -> bool {
        let age_ms = now_ms.saturating_sub(self.written_ms);
        self.prompt == prompt_hash_hex(hash) && (0..SAME_FIRING.as_millis() as i64).contains(&age_ms)
    }
}

/// Removes the recollection file at `path`, unless it was written for the prompt with this `hash` less than [`SAME_FIRING`] before
/// `now_ms` (milliseconds since the Unix epoch). A file that is not there, or can't be removed, is passed over.
pub fn remove_stale(path: &Path, hash: &[u8; 32], now_ms: i64) {
    let Some(first_line) = first_line(path) else { return };
    if !Opening::parse(&first_line).is_some_and(|opening| opening.is_of_same_firing(hash, now_ms)) {
        remove_file(path).ok();
    }
}

/// `None` where there is no such file; what can't be read as text is read as far as it can.
fn first_line(path: &Path) -> Option<String> {
    let file = match private_file().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(_) => return Some(String::new()),
    };
    let mut bytes = Vec::new();
    file.take(MAX_OPENING_BYTES).read_to_end(&mut bytes).ok();
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().next().unwrap_or_default().to_owned())
}

/// The value of ` name="value"`.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let start = attributes.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = &attributes[start..];
    Some(&value[..value.find('"')?])
}

/// Reads `2026-11-28T03:32:50.123Z` into milliseconds since the Unix epoch. Only UTC (`Z`) is taken: the daemon writes nothing else.
fn parse_rfc3339_utc(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && (1..=9).contains(&fraction.len())
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !in_range {
        return None;
    }
    let millis = format!("{fraction:0<3}")[..3].parse::<i64>().ok()?;
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + millis)
}

/// Three unsigned numbers with a separator between each two.
fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from));
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar, for years from 1970 on. Years are counted from March, so that the
/// leap day is the last of its year (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = march_year / 4 - march_year / 100 + march_year / 400;
    march_year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const WRITTEN_MS: i64 = 1_795_836_770_500;

    fn file_for(prompt: &str) -> String {
        let hash = prompt_hash_hex(&prompt_hash("s1", prompt));
        format!(
            "<remembrancer-recollections prompt=\"{hash}\" written=\"2026-11-28T03:32:50.5Z\">\ntext\n</remembrancer-recollections>\n"
        )
    }

    #[rstest]
    #[case::epoch("1970-01-01T00:00:00Z", Some(0))]
    #[case::now("2026-11-28T03:32:50.5Z", Some(WRITTEN_MS))]
    #[case::nanoseconds("2026-11-28T03:32:50.500999999Z", Some(WRITTEN_MS))]
    #[case::leap_day("2024-02-29T12:00:00Z", Some(1_709_208_000_000))]
    #[case::new_year("2000-01-01T00:00:00.001Z", Some(946_684_800_001))]
    #[case::offset("2026-11-28T03:32:50+01:00", None)]
    #[case::month("2026-13-28T03:32:50Z", None)]
    #[case::cut("2026-11-28T03:32Z", None)]
    #[case::words("yesterday", None)]
    fn times(#[case] text: &str, #[case] expected: Option<i64>) {
        assert_eq!(parse_rfc3339_utc(text), expected);
    }

    #[rstest]
    #[case::no_attributes("<remembrancer-recollections>")]
    #[case::short_hash("<remembrancer-recollections prompt=\"ab\" written=\"2026-11-28T03:32:50Z\">")]
    #[case::no_time("<remembrancer-recollections prompt=\"0123456789abcdef\">")]
    #[case::unclosed("<remembrancer-recollections prompt=\"0123456789abcdef\" written=\"2026-11-28T03:32:50Z\"")]
    #[case::other_text("# notes")]
    fn other_lines_are_no_opening(#[case] line: &str) {
        assert_eq!(Opening::parse(line), None);
    }

    #[rstest]
    #[case::same_prompt_just_now("hello", WRITTEN_MS + 1_999, true)]
    #[case::same_prompt_later("hello", WRITTEN_MS + 2_000, false)]
    #[case::same_prompt_from_the_future("hello", WRITTEN_MS - 1, false)]
    #[case::other_prompt("goodbye", WRITTEN_MS + 10, false)]
    fn tc_46_only_a_second_firing_leaves_the_file(#[case] prompt: &str, #[case] now_ms: i64, #[case] stays: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude-code-s1.md");
        std::fs::write(&path, file_for("hello")).unwrap();
        remove_stale(&path, &prompt_hash("s1", prompt), now_ms);
        assert_eq!(path.exists(), stays);
    }

    #[test]
    fn a_file_without_an_opening_is_removed_and_no_file_is_no_matter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude-code-s1.md");
        for content in [&b""[..], b"plain words", &[0xff; 400]] {
            std::fs::write(&path, content).unwrap();
            remove_stale(&path, &prompt_hash("s1", "hello"), WRITTEN_MS);
            assert!(!path.exists());
        }
        remove_stale(&path, &prompt_hash("s1", "hello"), WRITTEN_MS);
    }

    #[test]
    fn tc_29_a_link_goes_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("claude-code-s1.md"), folder.path().join("victim"));
        std::fs::write(&victim, file_for("hello")).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        remove_stale(&path, &prompt_hash("s1", "hello"), WRITTEN_MS + 1);
        assert!(path.symlink_metadata().is_err() && victim.exists());
    }

    #[test]
    fn the_hash_binds_session_and_prompt() {
        assert_ne!(prompt_hash("s1", "x"), prompt_hash("s2", "x"));
        assert_eq!(prompt_hash_hex(&prompt_hash("s1", "x")).len(), 16);
    }

    proptest! {
        #[test]
        fn any_first_line_is_read_without_a_panic(line in "(<remembrancer-recollections)?.*") {
            Opening::parse(&line);
        }
    }
}
